"""A site's files as one thing to simulate: platform, workload, requests, and a report.

`import_site` takes a configuration and jobs from any source; jobs that could never start are left
out, and the report says which limit kept each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from noctule.columns import KIND_DELAY, Columns, id_column
from noctule.errors import InputError
from noctule.external_events import ExternalEvents
from noctule.platform import Platform
from noctule.slurm.conf.associations import Associations
from noctule.slurm.conf.gres import GresDevice
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.conf.topology import Topology
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.recorded import Recorded
from noctule.slurm.jobs.request_checks import known_dependencies, known_requests
from noctule.slurm.jobs.requests import NO_LIMIT, Request, Requests
from noctule.slurm.jobs.sources import SiteJobs
from noctule.slurm.site.boots import USUAL_BOOTS, Boots
from noctule.slurm.site.extras import Usage
from noctule.slurm.site.hosts import Capacity, partitions_of, platform_of
from noctule.windows import Windows
from noctule.workload import Workload


@dataclass(frozen=True, slots=True)
class SiteExtras:
    """What optional files tell; None where there was no such file.

    `boots` are those of nodes that power saving has switched off.
    """

    associations: Associations | None = None
    topology: Topology | None = None
    gres: tuple[GresDevice, ...] | None = None
    outages: ExternalEvents | None = None
    reservations: Windows | None = None
    usage: tuple[Usage, ...] | None = None
    boots: Boots = USUAL_BOOTS


@dataclass(frozen=True, slots=True)
class SlurmSite:
    """All that a model of a site's Slurm needs; columns are in the order of the workload.

    `origin` is the date of time 0, in seconds of the epoch; `recorded` is what really happened,
    where the jobs come from accounting.
    """

    settings: SlurmSettings
    platform: Platform
    workload: Workload
    requests: Requests
    origin: int = 0
    recorded: Recorded | None = None
    extras: SiteExtras = field(default_factory=SiteExtras)

    def partition_of(self, request: Request) -> str:
        """Return the first partition that a job asked for, or the default one."""
        if request.partitions:
            return request.partitions[0]
        default = self.settings.default_partition
        return default.name if default else ""


def import_site(
    settings: SlurmSettings,
    jobs: SiteJobs,
    report: ImportReport,
    *,
    extras: SiteExtras | None = None,
    name: str = "slurm",
) -> SlurmSite:
    """Make a platform and a workload of a configuration and jobs."""
    extras = extras or SiteExtras()
    jobs = replace(jobs, requests=known_requests(jobs.requests, settings, jobs.ids, report))
    kept, n_hosts, limits = _possible(settings, jobs, report)
    if len(kept) < len(jobs):
        jobs = jobs.take(kept)
    if not len(jobs):
        raise InputError(f"{settings.files[0]}: none of the jobs can ever start")
    requests = known_dependencies(_with_limits(jobs.requests, limits), jobs.ids, report)
    report.n_jobs = len(jobs)
    report.notes += [*settings.notes, *map(str, settings.unused)]
    report.absent += _absent(extras)
    workload = _workload(settings, jobs, requests, n_hosts, name)
    return SlurmSite(
        settings, platform_of(settings), workload, requests, jobs.origin, jobs.recorded, extras
    )


def _possible(
    settings: SlurmSettings, jobs: SiteJobs, report: ImportReport
) -> tuple[list[int], list[int], dict[int, int]]:
    """Return the jobs that can start, their hosts, and the limits that had to be lowered."""
    judge = _Judge(settings)
    ran = [False] * len(jobs)
    if jobs.recorded is not None:
        ran = [start is not None for start in jobs.recorded.start]
    kept: list[int] = []
    n_hosts: list[int] = []
    limits: dict[int, int] = {}
    columns = [jobs.requests.column(name) for name in _JUDGED]
    for i, key in enumerate(zip(ran, *columns, strict=True)):
        verdict = judge.verdict(key)
        if verdict.why:
            report.drop(f"can never start: {verdict.why}", f"job {jobs.ids[i]}")
            continue
        if verdict.limit is not None:
            limits[len(kept)] = verdict.limit
            rule = "limit over MaxTime of a job that ran: taken as MaxTime"
            report.apply(rule, f"job {jobs.ids[i]}")
        kept.append(i)
        n_hosts.append(verdict.n_hosts)
    return kept, n_hosts, limits


# the fields that decide whether a job can ever start
_JUDGED = (
    "partitions",
    "min_nodes",
    "max_nodes",
    "tasks",
    "cpus_per_task",
    "cpus",
    "memory_mb",
    "memory_is_per_cpu",
    "exclusive",
    "limit",
)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """How many hosts a job gets, the limit it is left if that is lower, or why it never starts."""

    n_hosts: int = 0
    limit: int | None = None
    why: str = ""


class _Judge:
    """Says of requests whether they can ever be met; of those that are alike once."""

    def __init__(self, settings: SlurmSettings) -> None:
        self.settings = settings
        self.capacities = {p.name: Capacity(settings, p) for p in settings.partitions}
        self.known: dict[tuple[Any, ...], _Verdict] = {}

    def verdict(self, key: tuple[Any, ...]) -> _Verdict:
        known = self.known.get(key)
        if known is None:
            request = Request(**dict(zip(_JUDGED, key[1:], strict=True)))
            known = self.known[key] = self._judged(request, ran=key[0])
        return known

    def _judged(self, request: Request, *, ran: bool) -> _Verdict:
        found = partitions_of(self.settings, request.partitions)
        asked, chosen, why = _choose(request, [self.capacities[p.name] for p in found], ran=ran)
        if chosen is None:
            return _Verdict(why=why or _unknown_partition(request))
        limit = None if asked is request else asked.limit
        return _Verdict(chosen.hosts_wanted(asked), limit)


def _choose(
    request: Request, capacities: Sequence[Capacity], *, ran: bool
) -> tuple[Request, Capacity | None, str]:
    """Return the first partition where a job can start, or why it can in none.

    The limit of a job that ran is that of its end: an operator may have raised it meanwhile.
    """
    why = ""
    for capacity in capacities:
        asked = request
        most = capacity.partition.max_time
        if ran and most is not None and (request.limit or 0) > most:
            asked = replace(request, limit=most)
        reason = capacity.why_never(asked)
        if not reason:
            return asked, capacity, ""
        why = why or f"asks for {reason}"
    return request, None, why


def _unknown_partition(request: Request) -> str:
    if not request.partitions:
        return "names no partition, and none is the default"
    return f"partition {','.join(request.partitions)} is not in slurm.conf"


def _with_limits(requests: Requests, limits: Mapping[int, int]) -> Requests:
    if not limits:
        return requests
    column = list(requests.column("limit"))
    for i, limit in limits.items():
        column[i] = limit
    return Requests(len(requests), {**requests.told, "limit": column})


def _workload(
    settings: SlurmSettings,
    jobs: SiteJobs,
    requests: Requests,
    n_hosts: Sequence[int],
    name: str,
) -> Workload:
    defaults = {p.name: p.default_time for p in settings.partitions}
    first = settings.default_partition
    names = [
        partitions[0] if partitions else (first.name if first else "")
        for partitions in requests.column("partitions")
    ]
    limits = [
        defaults.get(partition) if limit is None else limit
        for limit, partition in zip(requests.column("limit"), names, strict=True)
    ]
    walltime = [math.inf if m is None or m == NO_LIMIT else m * 60.0 for m in limits]
    columns = Columns(
        job_ids=id_column(list(jobs.ids)),
        submit_time=list(jobs.submit),
        n_hosts=list(n_hosts),
        amount=list(jobs.runtime),
        walltime=walltime,
        kind=np.full(len(jobs), KIND_DELAY, dtype=np.uint8),
        failing=list(jobs.fails),
        cancel_time=list(jobs.cancel) if any(map(math.isfinite, jobs.cancel)) else None,
    )
    labels = {
        "user": list(requests.column("user")),
        "group": list(requests.column("account")),
        "queue": names,
    }
    return Workload(
        columns,
        name=name,
        labels={label: c for label, c in labels.items() if any(c)},
        headers={"UnixStartTime": jobs.origin} if jobs.origin else None,
    )


def _absent(extras: SiteExtras) -> list[str]:
    told = {
        "accounts and QOS (sacctmgr dump, --associations): no limits, no fair share": (
            extras.associations
        ),
        "outages (sacctmgr show event, --events): nodes never fail": extras.outages,
        "reservations (sacctmgr show reservation, --reservations): there are none": (
            extras.reservations
        ),
        "usage at the start (sshare, --usage): nobody has used anything": extras.usage,
    }
    return [text for text, found in told.items() if found is None]
