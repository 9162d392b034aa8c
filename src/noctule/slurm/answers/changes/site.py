"""A site after changes: its configuration, its nodes or its load are not what they are.

A change is a text such as `SchedulerParameters.bf_interval=60; nodes+20%`: parts between semicolons
are made together, in this order: keys of slurm.conf, numbers of nodes, load.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from noctule.errors import InputError
from noctule.parts import Parts
from noctule.slurm.answers.changes.conf import changed_conf, changed_settings, is_conf_change
from noctule.slurm.answers.changes.extras import moved_extras
from noctule.slurm.answers.changes.machine import load_change, loaded, nodes_change, resized
from noctule.slurm.conf.hostlist import compress_hosts, expand_hosts
from noctule.slurm.conf.lines import Conf
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.sources import SiteJobs
from noctule.slurm.site.site import SlurmSite, import_site

_EXPECTED = "KEY=VALUE, nodes+20%, nodes-4 or load*1.1"


@dataclass(frozen=True, slots=True)
class ChangedSite:
    """A site after a change, how many jobs can never start there by reason, and what to say."""

    site: SlurmSite
    dropped: Mapping[str, int]
    notes: tuple[str, ...]


def changed_site(site: SlurmSite, conf: Conf, text: str) -> ChangedSite:
    """Return a site after a change; `conf` are the lines of its configuration."""
    where = f"--set {text.strip()}"
    parts = [part.strip() for part in text.split(";") if part.strip()]
    if not parts:
        raise InputError(f"--set: got nothing, expected {_EXPECTED}")
    settings, copies, gone = site.settings, dict[str, str](), frozenset[str]()
    keys = [part for part in parts if _kind(part, len(settings.nodes), where) == "key"]
    if keys:
        for part in keys:
            conf = changed_conf(conf, part, f"--set {part}")
        settings = changed_settings(conf)
    jobs = _jobs_of(site)
    for part in parts:
        count = nodes_change(part, len(settings.nodes), where)
        factor = load_change(part, where)
        if count is not None:
            result = resized(settings, count, where)
            settings, gone = result.settings, gone | result.gone
            copies |= {new: copies.get(like, like) for new, like in result.copies.items()}
        elif factor is not None:
            jobs = loaded(jobs, factor)
    report = ImportReport()
    jobs = _without_gone(jobs, gone, report)
    extras = moved_extras(site, settings, copies)
    changed = import_site(settings, jobs, report, extras=extras, name=site.workload.name)
    notes = []
    if keys == parts and settings == site.settings:
        notes.append(f"{where}: the model sees no difference to the present configuration")
    dropped = {reason: tally.count for reason, tally in report.dropped.items()}
    return ChangedSite(changed, dropped, tuple(notes))


def _kind(part: str, n_nodes: int, where: str) -> str:
    if nodes_change(part, n_nodes, where) is not None or load_change(part, where) is not None:
        return "machine"
    if not is_conf_change(part):
        raise InputError(f"{where}: got {part!r}, expected {_EXPECTED}")
    return "key"


def _jobs_of(site: SlurmSite) -> SiteJobs:
    parts = Parts.of(site.workload)
    return SiteJobs(
        ids=[str(job_id) for job_id in parts.job_ids.tolist()],
        submit=parts.submit_time.tolist(),
        runtime=parts.amount.tolist(),
        cancel=parts.cancel_time.tolist(),
        fails=parts.failing.astype(bool).tolist(),
        requests=site.requests,
        origin=site.origin,
        recorded=site.recorded,
    )


def _without_gone(jobs: SiteJobs, gone: frozenset[str], report: ImportReport) -> SiteJobs:
    """Drop jobs that asked for nodes which are gone; nobody need exclude them any more."""
    if not gone:
        return jobs
    kept = []
    for i, names in enumerate(jobs.requests.column("required_nodes")):
        if names and gone.intersection(expand_hosts(names)):
            report.drop("can never start: asks for a node that is gone")
        else:
            kept.append(i)
    jobs = jobs.take(kept)
    excluded = [
        compress_hosts(name for name in expand_hosts(names) if name not in gone) if names else ""
        for names in jobs.requests.column("excluded_nodes")
    ]
    requests = type(jobs.requests)(len(jobs), {**jobs.requests.told, "excluded_nodes": excluded})
    return dataclasses.replace(jobs, requests=requests)
