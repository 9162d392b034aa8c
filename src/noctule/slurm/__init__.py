"""Slurm: a site's configuration and accounting log, a model of its schedulers, and answers.

`read_settings` reads a slurm.conf, `read_site` a configuration with the jobs of its accounting;
`save_site` and `load_site` write and read the folder that they are kept in. `simulate_slurm` runs a
workload under a configuration. `backtest_site` compares the model with the record, `what_if` the
present with changes, and `explain_waits` says why jobs waited.
"""

from __future__ import annotations

from noctule.slurm.answers.backtest import Backtest, ClassError, Unplaced, backtest_site
from noctule.slurm.answers.scheduler_work import Work
from noctule.slurm.answers.waits.explain import explain_waits
from noctule.slurm.answers.whatif import Answer, Effect, JobChange, WhatIf, what_if
from noctule.slurm.conf.associations import Association, Associations, Qos
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.lines import Conf, read_conf
from noctule.slurm.conf.nodes import Node, NodeTable
from noctule.slurm.conf.partitions import Partition
from noctule.slurm.conf.settings import SlurmSettings, read_settings
from noctule.slurm.conf.topology import Switch, Topology
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.recorded import Recorded
from noctule.slurm.jobs.requests import Request, Requests, SlurmDependency
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import Pass, SlurmModel, platform_of, simulate_slurm
from noctule.slurm.site.boots import Boots
from noctule.slurm.site.export import completion_text, sacct_text
from noctule.slurm.site.folder import load_site, save_site
from noctule.slurm.site.reading import ReadSite, SiteFiles, read_site
from noctule.slurm.site.site import SiteExtras, SlurmSite
from noctule.waits.causes import Cause, Explanation, Interval

__all__ = [
    "Answer",
    "Association",
    "Associations",
    "Backtest",
    "Boots",
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
    "Qos",
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
    "Switch",
    "Topology",
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
