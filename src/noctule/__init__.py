"""Noctule: a laboratory for batch schedulers.

    import noctule as nt
    workload = nt.load_workload("kth.swf", processors="requested", walltime_factor=2)
    schedule = nt.simulate(nt.Platform.homogeneous(100), workload, "easy")
    nt.metrics.summary(schedule)["mean_waiting_time"]

A log goes in, a policy decides, a schedule comes out. The names below are the public ones; they are
imported when they are first used, so that `import noctule` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noctule import archive as archive
    from noctule import metrics as metrics
    from noctule import plots as plots
    from noctule import sessions as sessions
    from noctule import synthetic as synthetic
    from noctule import timeseries as timeseries
    from noctule import traces as traces
    from noctule._core import HostSet as HostSet
    from noctule.campaign import Campaign as Campaign
    from noctule.formats import load_workload as load_workload
    from noctule.formats.platforms import load_platform as load_platform
    from noctule.formats.saving import save_workload as save_workload
    from noctule.platform import Platform as Platform
    from noctule.policy import Policy as Policy
    from noctule.policy import View as View
    from noctule.replay import Adjusted as Adjusted
    from noctule.replay import DistributionBased as DistributionBased
    from noctule.replay import Feedback as Feedback
    from noctule.replay import Fluid as Fluid
    from noctule.replay import Resampling as Resampling
    from noctule.replay import Rigid as Rigid
    from noctule.schedule import Schedule as Schedule
    from noctule.simulation import Simulation as Simulation
    from noctule.simulation import simulate as simulate
    from noctule.workload import Job as Job
    from noctule.workload import Workload as Workload

_HOME = {
    "Adjusted": "noctule.replay",
    "Campaign": "noctule.campaign",
    "DistributionBased": "noctule.replay",
    "Feedback": "noctule.replay",
    "Fluid": "noctule.replay",
    "HostSet": "noctule._core",
    "Job": "noctule.workload",
    "Platform": "noctule.platform",
    "Policy": "noctule.policy",
    "Resampling": "noctule.replay",
    "Rigid": "noctule.replay",
    "Schedule": "noctule.schedule",
    "Simulation": "noctule.simulation",
    "View": "noctule.policy",
    "Workload": "noctule.workload",
    "load_platform": "noctule.formats.platforms",
    "load_workload": "noctule.formats",
    "save_workload": "noctule.formats.saving",
    "simulate": "noctule.simulation",
}
_MODULES = ("archive", "metrics", "plots", "sessions", "synthetic", "timeseries", "traces")

__all__ = [
    "Adjusted",
    "Campaign",
    "DistributionBased",
    "Feedback",
    "Fluid",
    "HostSet",
    "Job",
    "Platform",
    "Policy",
    "Resampling",
    "Rigid",
    "Schedule",
    "Simulation",
    "View",
    "Workload",
    "archive",
    "load_platform",
    "load_workload",
    "metrics",
    "plots",
    "save_workload",
    "sessions",
    "simulate",
    "synthetic",
    "timeseries",
    "traces",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _MODULES:
        return importlib.import_module(f"noctule.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'noctule' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
