"""Slurm: a site's configuration and accounting log, a model of its schedulers, and answers.

`read_settings` reads a slurm.conf, `read_site` a configuration with the jobs of its accounting;
`save_site` and `load_site` write and read the folder that they are kept in. `simulate_slurm` runs a
workload under a configuration. `backtest_site` compares the model with the record, `what_if` the
present with changes, and `explain_waits` says why jobs waited.
"""

from __future__ import annotations

from noctule.slurm.backtest import Backtest, ClassError, Unplaced, backtest_site
from noctule.slurm.clocks import Clocks
from noctule.slurm.conf import Conf, read_conf
from noctule.slurm.explain import explain_waits
from noctule.slurm.export import completion_text, sacct_text
from noctule.slurm.hostlist import compress_hosts, expand_hosts
from noctule.slurm.import_report import ImportReport
from noctule.slurm.model import Pass, SlurmModel, platform_of, simulate_slurm
from noctule.slurm.nodes import Node, NodeTable
from noctule.slurm.partitions import Partition
from noctule.slurm.recorded import Recorded
from noctule.slurm.requests import Request, Requests, SlurmDependency
from noctule.slurm.scheduler_work import Work
from noctule.slurm.settings import SlurmSettings, read_settings
from noctule.slurm.site import SiteExtras, SlurmSite
from noctule.slurm.site_files import load_site, save_site
from noctule.slurm.site_reading import ReadSite, SiteFiles, read_site
from noctule.slurm.wait_causes import Cause, Explanation, Interval
from noctule.slurm.whatif import Answer, Effect, JobChange, WhatIf, what_if

__all__ = [
    "Answer",
    "Backtest",
    "Cause",
    "ClassError",
    "Clocks",
    "Conf",
    "Effect",
    "Explanation",
    "ImportReport",
    "Interval",
    "JobChange",
    "Node",
    "NodeTable",
    "Partition",
    "Pass",
    "ReadSite",
    "Recorded",
    "Request",
    "Requests",
    "SiteExtras",
    "SiteFiles",
    "SlurmDependency",
    "SlurmModel",
    "SlurmSettings",
    "SlurmSite",
    "Unplaced",
    "WhatIf",
    "Work",
    "backtest_site",
    "completion_text",
    "compress_hosts",
    "expand_hosts",
    "explain_waits",
    "load_site",
    "platform_of",
    "read_conf",
    "read_settings",
    "read_site",
    "sacct_text",
    "save_site",
    "simulate_slurm",
    "what_if",
]
