"""Runs in which users react, for the tests of replay models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import noctule as nt
from noctule.messages import CallAt, JobSubmitted, StartJob

PLENTY = 1000


class RecordedWaits:
    """Starts every job as long after its submission as it waited in the record."""

    def __init__(self, workload: nt.Workload) -> None:
        waits = [workload.extra(i).get("wait_time", 0) for i in range(len(workload))]
        self._wait = dict(zip(workload.job_ids.tolist(), waits, strict=True))
        self._due: dict[Any, float] = {}

    def decide(self, view, events):
        for event in events:
            if isinstance(event, JobSubmitted):
                self._due[event.job.id] = event.time + self._wait[event.job.id]
        ready = [job for job, date in self._due.items() if date <= view.now]
        for job in ready:
            del self._due[job]
            yield StartJob(job)
        if self._due:
            yield CallAt(min(self._due.values()))


def replayed(
    log: nt.Workload, replay: Any, policy: Any = "fcfs", *, hosts: int = PLENTY, **options: Any
) -> nt.Schedule:
    """Replay a log; nothing is stopped at its walltime."""
    platform = nt.Platform.homogeneous(hosts)
    return nt.simulate(platform, log, policy, replay=replay, enforce_walltime=False, **options)


def submissions(schedule: nt.Schedule, unit: float = 60) -> list[float]:
    """Dates of submission in minutes, by job."""
    order = np.argsort(schedule.column("job_id"))
    dates: list[float] = (schedule.column("submit_time")[order] / unit).tolist()
    return dates


def by_id(schedule: nt.Schedule, column: str) -> Mapping[Any, Any]:
    pairs = zip(schedule.column("job_id").tolist(), schedule.column(column).tolist(), strict=True)
    return dict(pairs)
