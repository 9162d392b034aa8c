"""Schedules built by hand, for the tests of what is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noctule import HostSet, Platform, Schedule
from noctule.record import JobState, PlainJobs, PlainRecord, host_states_of


@dataclass(frozen=True)
class Row:
    """One job; a start or a finish that is NaN did not happen."""

    job_id: int | str
    submit: float
    start: float = math.nan
    finish: float = math.nan
    hosts: str = ""
    state: JobState = JobState.COMPLETED
    walltime: float = math.inf
    asked: int | None = None
    workload: str = "w0"
    profile: str = "p"

    @property
    def n_hosts(self) -> int:
        return len(HostSet(self.hosts)) if self.asked is None else self.asked


def rejected(job_id: int | str, submit: float, n_hosts: int = 1) -> Row:
    return Row(job_id, submit, state=JobState.REJECTED, asked=n_hosts)


def a_schedule(rows: Sequence[Row], n_hosts: int = 4) -> Schedule:
    """Make a Schedule of rows; those of one workload must stand together."""
    names = list(dict.fromkeys(row.workload for row in rows)) or ["w0"]
    tables = [a_table(name, [row for row in rows if row.workload == name]) for name in names]
    start = np.array([row.start for row in rows], dtype=np.float64)
    finish = np.array([row.finish for row in rows], dtype=np.float64)
    held = np.array([row.n_hosts for row in rows], dtype=np.uint32)
    record = PlainRecord(
        np.arange(len(rows), dtype=np.uint32),
        np.array([row.state for row in rows], dtype=np.uint8),
        held,
        np.array([row.submit for row in rows], dtype=np.float64),
        start,
        finish,
        [HostSet(row.hosts) for row in rows],
        *host_states_of(n_hosts, start, finish, held),
    )
    return Schedule(Platform.homogeneous(n_hosts), tables, record)


def a_table(name: str, rows: Sequence[Row]) -> PlainJobs:
    ids = [row.job_id for row in rows]
    numbers = all(isinstance(job_id, int) for job_id in ids)
    return PlainJobs(
        name,
        np.array(ids, dtype=np.int64 if numbers else object),
        np.array([row.n_hosts for row in rows], dtype=np.uint32),
        np.array([row.walltime for row in rows], dtype=np.float64),
        [row.profile for row in rows],
    )
