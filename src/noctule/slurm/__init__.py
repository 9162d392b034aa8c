"""Slurm: a site's configuration and accounting log, read and written.

`read_settings` reads a slurm.conf, `read_site` a configuration with the jobs of its accounting;
`save_site` and `load_site` write and read the folder that they are kept in.
"""

from __future__ import annotations

from noctule.slurm.export import completion_text, sacct_text
from noctule.slurm.hostlist import compress_hosts, expand_hosts
from noctule.slurm.import_report import ImportReport
from noctule.slurm.recorded import Recorded
from noctule.slurm.requests import Request, Requests, SlurmDependency
from noctule.slurm.settings import SlurmSettings, read_settings
from noctule.slurm.site import SiteExtras, SlurmSite
from noctule.slurm.site_files import load_site, save_site
from noctule.slurm.site_reading import ReadSite, SiteFiles, read_site

__all__ = [
    "ImportReport",
    "ReadSite",
    "Recorded",
    "Request",
    "Requests",
    "SiteExtras",
    "SiteFiles",
    "SlurmDependency",
    "SlurmSettings",
    "SlurmSite",
    "completion_text",
    "compress_hosts",
    "expand_hosts",
    "load_site",
    "read_settings",
    "read_site",
    "sacct_text",
    "save_site",
]
