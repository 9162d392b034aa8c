"""The readers of Slurm's files, each as a function of a file."""

from __future__ import annotations

from pathlib import Path

from noctule.compression import read_bytes
from noctule.slurm.conf.associations import read_associations
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.lines import parse_conf, read_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.bsc import read_bsc
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.sacct_rows import text_lines
from noctule.slurm.jobs.sources import jobs_from_sacct
from noctule.slurm.jobs.stamps import find_zone
from noctule.slurm.site.anonymous.conf import anonymous_conf
from noctule.slurm.site.anonymous.files import anonymous_dump, anonymous_sacct
from noctule.slurm.site.anonymous.names import Names
from noctule.slurm.site.folder import conf_text
from noctule.slurm.site.site import import_site

_CONF = (
    "NodeName=n[1-4] CPUs=8 RealMemory=16000\nPartitionName=main Nodes=ALL Default=YES\n"
    "PartitionName=large Nodes=n[1-2] MaxTime=1-0\n"
)
_NAMES = Names(b"a key for tests that is no secret", ["n1", "n2", "n3", "n4"])


def slurm_conf(path: Path, _: int) -> None:
    """Read a slurm.conf, write it without its comments and read it again."""
    conf = read_conf(path)
    settings = settings_from(conf)
    again = settings_from(parse_conf("".join(conf_text(conf))))
    assert again == settings
    for _line in anonymous_conf(conf, _NAMES):
        pass


def slurm_hosts(path: Path, _: int) -> None:
    """Read a list of hosts, write it and read it again."""
    names = expand_hosts(read_bytes(path).decode(errors="replace"), str(path))
    if len(names) < 10_000:
        # commas, brackets and spaces around names have a meaning of their own
        plain = [name for name in names if name == name.strip()]
        assert expand_hosts(compress_hosts(plain), "written") == plain


def sacct(path: Path, way: int) -> None:
    """Read rows of sacct as a site's jobs, and without their names."""
    settings = settings_from(parse_conf(_CONF))
    report = ImportReport()
    zone = find_zone("Europe/Paris", "zone") if way % 2 else None
    import_site(settings, jobs_from_sacct([path], settings, report, zone=zone), report)
    assert report.lines()
    for _line in anonymous_sacct(text_lines(path), _NAMES):
        pass


def slurm_dump(path: Path, _: int) -> None:
    """Read accounts and users, with and without their names."""
    read_associations(path)
    for _line in anonymous_dump(read_bytes(path).decode(errors="replace"), _NAMES):
        pass


def bsc_trace(path: Path, _: int) -> None:
    """Read a trace of BSC's simulator."""
    settings = settings_from(parse_conf(_CONF))
    report = ImportReport()
    import_site(settings, read_bsc(path, report), report)
