"""The inputs of a run, as Batsim's command line names them: platform, workloads, events, workflows.

Hosts have Batsim's ids, jobs their full ids: `w0!1` is job 1 of the first workload.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from noctule.batsim.arguments4 import BatsimRun
from noctule.batsim.arguments5 import Batsim5Run
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.external_events import ExternalEvents
from noctule.formats.batsim import BatsimFile, read_batsim_file
from noctule.formats.batsim_events import read_batsim_events
from noctule.formats.dax import Workflow, read_dax
from noctule.formats.platforms import load_platform
from noctule.platform import Platform
from noctule.remote.batsim_workload import BatsimWorkload
from noctule.workload import Job, JobId, Workload

# of SimGrid 3.34, which Batsim 4 is built on; SimGrid 4 has others
_SIMGRID_DEFAULTS = {"network/loopback-bw": "498000000", "network/loopback-lat": "0.000015"}


@dataclass(frozen=True, slots=True)
class StartedWorkflow:
    """A workflow, its name, and when its first tasks are submitted."""

    name: str
    start: float
    workflow: Workflow


@dataclass(frozen=True, slots=True)
class BatsimInputs:
    """All that a run simulates.

    Attributes:
        platform: with as many compute hosts as are offered.
        workload: the jobs of all workloads.
        submitters: ids of the jobs of each workload.
        events: the external events of each file.
        workflows: those that start at once, then those with a date.
        told: workloads and workflows as the scheduler is told of them.
    """

    platform: Platform
    workload: Workload
    submitters: Sequence[Sequence[JobId]]
    events: Sequence[ExternalEvents]
    workflows: Sequence[StartedWorkflow]
    told: Sequence[BatsimWorkload]


def load_inputs(run: BatsimRun) -> BatsimInputs:
    """Read all that a command line of Batsim 4 names."""
    files = read_workloads(run.workloads)
    flows = [
        BatsimWorkload(flow.name, os.path.abspath(flow.path), {}, {})  # noqa: PTH100
        for flow in run.workflows
    ]
    platform = read_platform(
        run, files, host_order="lexicographic", simgrid_defaults=_SIMGRID_DEFAULTS
    )
    return BatsimInputs(
        platform=platform,
        workload=joined(run.workloads, files, at_once=not run.has_scheduler),
        submitters=[[job.id for job in file.jobs] for file in files],
        events=[_events(run, path) for path in run.events],
        workflows=[
            StartedWorkflow(flow.name, flow.start, _workflow(flow.path)) for flow in run.workflows
        ],
        told=[*as_told(run.workloads, files), *flows],
    )


def read_workloads(paths: Sequence[str]) -> list[BatsimFile]:
    """Read workloads, of which the first is called w0."""
    return [
        read_batsim_file(read_bytes(path), source=path, name=f"w{i}", full_names=True)
        for i, path in enumerate(paths)
    ]


def as_told(paths: Sequence[str], files: Sequence[BatsimFile]) -> list[BatsimWorkload]:
    """Return workloads as a scheduler is told of them."""
    return [
        BatsimWorkload(
            name=f"w{i}",
            path=os.path.abspath(path),  # noqa: PTH100  (links stay, as in Batsim)
            jobs={str(job.id): raw for job, raw in zip(file.jobs, file.raw_jobs, strict=True)},
            profiles=file.raw_profiles,
        )
        for i, (path, file) in enumerate(zip(paths, files, strict=True))
    ]


def _workflow(path: str) -> Workflow:
    return read_dax(read_bytes(path), source=path)


def _events(run: BatsimRun, path: str) -> ExternalEvents:
    forward = run.forward_unknown_events
    events = read_batsim_events(read_bytes(path), source=path, forward_unknown=forward)
    return ExternalEvents.from_events(events, source=path)


def read_platform(
    run: BatsimRun | Batsim5Run,
    files: Sequence[BatsimFile],
    *,
    host_order: str,
    simgrid_defaults: Mapping[str, str],
) -> Platform:
    """Read a platform, and keep as many of its hosts as are offered."""
    platform = load_platform(
        run.platform,
        host_order=host_order,
        master_host=run.master_host,
        roles=run.roles,
    )
    options = {**simgrid_defaults, **platform.network.options, **run.simgrid_options}
    platform = replace(platform, network=replace(platform.network, options=options))
    limits = [run.mmax] if run.mmax else []
    if run.mmax_workload and files:
        limits.append(max(int(file.headers["nb_res"]) for file in files))
    if not limits:
        return platform
    if min(limits) > platform.n_hosts:
        raise InputError(
            f"{run.platform}: got {platform.n_hosts} compute hosts, expected at least "
            f"{min(limits)}, as --mmax or --mmax-workload asks"
        )
    return platform.with_first_hosts(min(limits))


def joined(paths: Sequence[str], files: Sequence[BatsimFile], *, at_once: bool = False) -> Workload:
    """Join workloads: by date, then by the place on the command line, then by id as text."""
    jobs: list[Job] = [job for file in files for job in file.jobs]
    if at_once:
        jobs = [replace(job, submit_time=0.0) for job in jobs]
    elif len(files) > 1:
        jobs.sort(key=lambda job: job.submit_time)
    return Workload.from_jobs(
        jobs,
        profiles={name: profile for file in files for name, profile in file.profiles.items()},
        source=", ".join(paths) or None,
    )
