"""Reads all files of a site: its configuration, its jobs in any form, and what is optional."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.slurm.conf.associations import read_associations, read_qos
from noctule.slurm.conf.gres import GresDevice, read_gres_conf
from noctule.slurm.conf.lines import Conf, read_conf
from noctule.slurm.conf.settings import SlurmSettings, settings_from
from noctule.slurm.conf.topology import read_topology
from noctule.slurm.jobs.bsc import is_bsc_trace, read_bsc
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.sacct_rows import text_lines
from noctule.slurm.jobs.sources import SiteJobs, jobs_from_sacct, jobs_from_workload
from noctule.slurm.jobs.stamps import Stamps
from noctule.slurm.site.extras import SiteMap, read_outages, read_reservations, read_usage
from noctule.slurm.site.site import SiteExtras, SlurmSite, import_site


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """Where the files of a site are; those that are None are not there.

    `running` are further rows of accounting: jobs that ran already when those of `jobs` begin.
    """

    conf: str
    jobs: str
    running: str | None = None
    associations: str | None = None
    qos: str | None = None
    topology: str | None = None
    gres: str | None = None
    events: str | None = None
    reservations: str | None = None
    usage: str | None = None


@dataclass(frozen=True, slots=True)
class ReadSite:
    """A site with the lines of its configuration, the report, and files to keep beside it."""

    site: SlurmSite
    conf: Conf
    report: ImportReport
    copies: Mapping[str, bytes]


def read_site(
    files: SiteFiles, *, zone: tzinfo | None = None, processors: str | None = None
) -> ReadSite:
    """Read a site; `processors` says what those of a log are: "cpus" or "nodes" of Slurm."""
    conf = read_conf(files.conf)
    settings = settings_from(conf)
    report = ImportReport()
    jobs = read_jobs(files, settings, report, zone=zone, processors=processors)
    extras = _extras(files, settings, jobs, report, zone)
    site = import_site(settings, jobs, report, extras=extras)
    return ReadSite(site, conf, report, _copies(files))


def read_jobs(
    files: SiteFiles,
    settings: SlurmSettings,
    report: ImportReport,
    *,
    zone: tzinfo | None = None,
    processors: str | None = None,
) -> SiteJobs:
    """Read jobs as their file has them: rows of sacct, a trace of BSC, a log or a workload."""
    first = next(text_lines(files.jobs), "")
    if "|" in first and "JobID" in first:
        paths = [files.jobs] if files.running is None else [files.jobs, files.running]
        jobs = jobs_from_sacct(paths, settings, report, zone=zone)
        if files.running is None:
            report.absent.append("jobs running at the start (--running): the machine begins empty")
        return jobs
    if files.running is not None:
        raise InputError(f"{files.running}: only rows of sacct tell which jobs ran already")
    if is_bsc_trace(files.jobs):
        return read_bsc(files.jobs, report)
    is_log = first.lstrip()[:1] not in ("{", "[")
    workload = load_workload(files.jobs, walltime_factor=None if is_log else 1)
    # a log counts processors; the hosts of a workload are those of the platform
    usual = "nodes" if settings.select.is_linear and not is_log else "cpus"
    unit = processors or usual
    report.n_rows = len(workload)
    for rule in workload.reading:
        report.count(rule.rule, rule.n_jobs)
    report.notes.append(f"{files.jobs}: processors of jobs are taken as {unit} of Slurm")
    return jobs_from_workload(workload, settings, unit=unit)


def _extras(
    files: SiteFiles,
    settings: SlurmSettings,
    jobs: SiteJobs,
    report: ImportReport,
    zone: tzinfo | None,
) -> SiteExtras:
    table = settings.node_table
    site = SiteMap(settings, jobs.origin, Stamps(zone))
    associations = None
    if files.associations is not None:
        associations = read_associations(files.associations)
        if files.qos is not None:
            associations = associations.with_qos(read_qos(files.qos))
    elif files.qos is not None:
        raise InputError(f"{files.qos}: QOS are used with accounts, expected --associations too")
    topology = None if files.topology is None else read_topology(files.topology, table)
    if topology is not None:
        report.notes += topology.notes
    gres = None if files.gres is None else read_gres_conf(files.gres)
    if gres is not None:
        report.notes += _gres_notes(files.gres or "", gres, settings)
    return SiteExtras(
        associations=associations,
        topology=topology,
        gres=gres,
        outages=None if files.events is None else read_outages(files.events, site, report),
        reservations=None
        if files.reservations is None
        else read_reservations(files.reservations, site, report, jobs_in=_jobs_in(jobs)),
        usage=None if files.usage is None else read_usage(files.usage),
    )


def _jobs_in(jobs: SiteJobs) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for job_id, names in zip(jobs.ids, jobs.requests.column("reservation"), strict=True):
        for name in filter(None, names.split(",")):
            found.setdefault(name, []).append(job_id)
    return found


def _gres_notes(path: str, devices: Sequence[GresDevice], settings: SlurmSettings) -> list[str]:
    """Say where gres.conf has fewer devices than slurm.conf: Slurm drains such nodes."""
    notes = []
    for node in settings.nodes:
        for gres in node.gres:
            told = [
                device.count
                for device in devices
                if device.name == gres.name
                and (not device.nodes or node.name in device.nodes)
                and (not gres.kind or not device.kind or device.kind == gres.kind)
            ]
            if told and sum(told) < gres.count:
                notes.append(
                    f"{path}: node {node.name}: {sum(told)} of {gres.name}, "
                    f"slurm.conf has {gres.count}: Slurm would drain it"
                )
    return notes


def _copies(files: SiteFiles) -> dict[str, bytes]:
    names = ("associations", "qos", "topology", "gres")
    paths = {name: getattr(files, name) for name in names}
    return {name: read_bytes(Path(os.fspath(path))) for name, path in paths.items() if path}
