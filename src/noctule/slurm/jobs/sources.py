"""Jobs for a Slurm, from wherever they come: accounting, logs, traces of BSC, workloads.

Columns of equal length; `site` makes a workload and requests of them.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

import numpy as np

from noctule.errors import InputError
from noctule.formats.headers import unix_start_time
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.recorded import Recorded
from noctule.slurm.jobs.requests import Requests
from noctule.slurm.jobs.sacct import SacctJob, sacct_jobs
from noctule.slurm.jobs.sacct_requests import sacct_requests, scheduler_of
from noctule.slurm.jobs.sacct_rows import SacctRows, read_sacct_rows
from noctule.workload import Workload


@dataclass(frozen=True, slots=True)
class SiteJobs:
    """Jobs in order of submission; times are seconds after `origin`, a date of the epoch."""

    ids: Sequence[str]
    submit: Sequence[float]
    runtime: Sequence[float]
    cancel: Sequence[float]
    fails: Sequence[bool]
    requests: Requests
    origin: int = 0
    recorded: Recorded | None = None

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.ids)

    def take(self, positions: Sequence[int]) -> SiteJobs:
        """Return some of the jobs."""
        return SiteJobs(
            ids=[self.ids[i] for i in positions],
            submit=[self.submit[i] for i in positions],
            runtime=[self.runtime[i] for i in positions],
            cancel=[self.cancel[i] for i in positions],
            fails=[self.fails[i] for i in positions],
            requests=self.requests.take(positions),
            origin=self.origin,
            recorded=None if self.recorded is None else self.recorded.take(positions),
        )


def jobs_from_sacct(
    paths: Sequence[str | os.PathLike[str]],
    settings: SlurmSettings,
    report: ImportReport,
    *,
    zone: tzinfo | None = None,
) -> SiteJobs:
    """Read what the export command printed, in one or more files."""
    with _uncollected():
        return _jobs_from_sacct(paths, settings, report, zone)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from looking for garbage among millions of new objects, of which none is."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _jobs_from_sacct(
    paths: Sequence[str | os.PathLike[str]],
    settings: SlurmSettings,
    report: ImportReport,
    zone: tzinfo | None,
) -> SiteJobs:
    tables = [read_sacct_rows(path, report, zone=zone) for path in paths]
    jobs = sacct_jobs(tables, report)
    if not jobs:
        raise InputError(f"{tables[0].source}: no job is left of {report.n_rows} rows")
    _tell_absent_columns(tables, report)
    origin = jobs[0].first.submit
    requests = sacct_requests(jobs, settings, origin, report, tables[0].source)
    if len(tables) > 1:
        begin = min((attempt.submit for attempt in tables[0].attempts), default=origin)
        requests = _with_given_starts(requests, jobs, settings, begin, report)
    return SiteJobs(
        ids=[job.id for job in jobs],
        submit=[float(job.first.submit - origin) for job in jobs],
        runtime=[float(job.runtime) for job in jobs],
        cancel=[math.inf if j.cancel is None else float(j.cancel - origin) for j in jobs],
        fails=[job.fails for job in jobs],
        requests=requests,
        origin=origin,
        recorded=_recorded(jobs, origin),
    )


def _with_given_starts(
    requests: Requests,
    jobs: Sequence[SacctJob],
    settings: SlurmSettings,
    begin: int,
    report: ImportReport,
) -> Requests:
    """Let jobs that ran before a date start when and where they did."""
    known = settings.node_table.index
    origin = jobs[0].first.submit
    started: list[float | None] = []
    nodes: list[str] = []
    for job in jobs:
        row = job.last
        is_given = (
            row.start is not None
            and row.start < begin
            and job.n_attempts == 1
            and bool(row.node_list)
            and all(name in known for name in expand_hosts(row.node_list))
        )
        started.append(float(row.start - origin) if is_given and row.start is not None else None)
        nodes.append(row.node_list if is_given else "")
    report.count("ran already: starts when and where it did", sum(map(bool, nodes)))
    return Requests(len(jobs), {**requests.told, "started": started, "started_on": nodes})


def _recorded(jobs: Sequence[SacctJob], origin: int) -> Recorded:
    def dates(times: Sequence[int | None]) -> list[float | None]:
        return [None if time is None else float(time - origin) for time in times]

    started = [job.cancel is None for job in jobs]
    return Recorded(
        start=dates([j.first.start if s else None for j, s in zip(jobs, started, strict=True)]),
        end=dates([job.last.end for job in jobs]),
        state=[job.last.state for job in jobs],
        nodes=[job.last.node_list for job in jobs],
        scheduler=[scheduler_of(job.last.flags) for job in jobs],
        priority=[job.last.priority for job in jobs],
        eligible=dates([job.first.eligible for job in jobs]),
        n_attempts=[job.n_attempts for job in jobs],
    )


def _tell_absent_columns(tables: Sequence[SacctRows], report: ImportReport) -> None:
    columns = set(tables[0].columns)
    for name, text in _WITHOUT.items():
        if name not in columns:
            report.absent.append(f"column {name}: {text}")


_WITHOUT = {
    "Eligible": "jobs can start as soon as they are submitted",
    "SubmitLine": "no dependencies, begin times or several partitions; whether nodes or CPUs, "
    "memory by node or by CPU, GPUs by node or by job were asked for is guessed",
    "ReqTRES": "GPUs and other resources that jobs asked for",
    "Timelimit": "limits: those of the partitions are taken",
    "QOS": "QOS of jobs",
    "Account": "accounts of jobs",
    "NodeList": "where jobs ran",
    "Flags": "whether the main scheduler or backfilling started a job",
    "Priority": "priorities of jobs",
    "Reservation": "reservations that jobs ran in",
    "Constraints": "features that jobs asked for",
}


def jobs_from_workload(workload: Workload, settings: SlurmSettings, *, unit: str) -> SiteJobs:
    """Take a log or a workload; its hosts are `nodes` or `cpus` of Slurm.

    Queues that are named like partitions are those; other jobs go to the default partition.
    """
    if unit not in ("nodes", "cpus"):
        raise InputError(f"unit: got {unit!r}, expected nodes or cpus")
    names = {partition.name for partition in settings.partitions}
    n_jobs = len(workload)
    hosts = workload.n_hosts.tolist()
    queues = [str(workload.label("queue", i)) for i in range(n_jobs)]
    columns: dict[str, Sequence[Any]] = {
        "partitions": [(queue,) if queue in names else () for queue in queues],
        "limit": [_minutes(seconds) for seconds in workload.walltime.tolist()],
        "user": _texts(workload, "user"),
        "account": _texts(workload, "group"),
    }
    if unit == "cpus":
        columns |= {"cpus": hosts, "tasks": hosts, "max_nodes": [None] * n_jobs}
    else:
        columns["min_nodes"] = hosts
    table = workload.table
    return SiteJobs(
        ids=[str(job_id) for job_id in workload.job_ids.tolist()],
        submit=workload.submit_time.tolist(),
        runtime=_runtimes(workload),
        cancel=[table.cancel_time(i) for i in range(len(workload))],
        fails=[False] * len(workload),
        requests=Requests(n_jobs, columns),
        origin=int(unix_start_time(workload.headers) or 0),
    )


def _minutes(seconds: float) -> int | None:
    return None if math.isinf(seconds) else max(1, math.ceil(seconds / 60))


def _texts(workload: Workload, label: str) -> list[str]:
    found = (workload.label(label, i) for i in range(len(workload)))
    return ["" if value is None else str(value) for value in found]


def _runtimes(workload: Workload) -> list[float]:
    unsupported = [i for i in range(len(workload)) if workload.table.kind[i] > 1]
    if unsupported:
        job_id = workload.table.job_id(unsupported[0])
        raise InputError(
            f"{workload.source or workload.name}: job {job_id}: what it does has no fixed "
            "duration, expected delays or computations"
        )
    speed = workload.reference_speed or 1.0
    amounts = np.where(
        workload.table.kind == 1, workload.table.amount / speed, workload.table.amount
    )
    runtimes: list[float] = amounts.tolist()
    return runtimes
