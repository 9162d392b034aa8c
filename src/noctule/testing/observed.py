"""A schedule as the checks look at it: plain columns, the jobs in the order of the queue."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.workload import Workload

if TYPE_CHECKING:
    from noctule.schedule import Schedule

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a schedule breaks: which, by which job, when.

    Where a rule is broken more often than there is room to say, the last violation of that rule
    stands for the others: it has no job and no time, and `n` counts them.
    """

    rule: str
    job_id: int | str | None
    time: float | None
    message: str
    n: int = 1


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds that the run added to every job, before its profile and after its end."""

    launch: float = 0.0
    epilogue: float = 0.0


@dataclass(frozen=True, slots=True)
class Observed:
    """Jobs in the order in which they joined the queue.

    Dates are infinite where something did not happen. `row` is the job's row in the schedule;
    `free_time` is when its hosts could be used again; `leave_time` when it left the queue without
    a start, minus infinity if it never waited in it (refused at once, or nobody knows).
    `runtime` is without the delay of its launch.
    """

    n_hosts: int
    row: npt.NDArray[np.intp]
    job_id: list[int | str]
    submit_time: Floats
    start_time: Floats
    finish_time: Floats
    free_time: Floats
    leave_time: Floats
    runtime: Floats
    walltime: Floats
    size: npt.NDArray[np.int64]
    state: list[str]

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.job_id)

    @classmethod
    def of(cls, schedule: Schedule, delays: Delays) -> Observed:
        """Read the columns of a schedule."""
        submit = schedule.column("submit_time")
        ids = schedule.column("job_id")
        row = np.lexsort((_queue_rank(schedule, ids), submit))

        def dates(name: str) -> Floats:
            column = schedule.column(name)[row]
            return np.where(np.isnan(column), math.inf, column)

        launch = _own(schedule, "launch_delay", 0.0)[row] + delays.launch
        epilogue = _own(schedule, "epilogue_delay", 0.0)[row] + delays.epilogue
        state = schedule.column("state")[row].tolist()
        cancel = _own(schedule, "cancel_time", -math.inf)[row]
        return cls(
            n_hosts=schedule.platform.n_hosts,
            row=row,
            job_id=ids[row].tolist(),
            submit_time=submit[row],
            start_time=dates("start_time"),
            finish_time=dates("finish_time"),
            free_time=dates("finish_time") + epilogue,
            leave_time=_leave_times(state, cancel),
            runtime=schedule.column("runtime")[row] - launch,
            walltime=schedule.column("walltime")[row],
            size=schedule.column("n_hosts")[row].astype(np.int64),
            state=state,
        )


def seconds(time: float) -> str:
    """Write a date to the microsecond, without idle zeros."""
    return f"{time:.6f}".rstrip("0").rstrip(".") if math.isfinite(time) else str(time)


def _queue_rank(schedule: Schedule, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return what orders jobs that were submitted together.

    A Workload knows its order; a file does not, so there the ids decide, numbers within them
    taken as numbers.
    """
    if isinstance(schedule.tables[0], Workload):
        return schedule.record.job
    if ids.dtype.kind in "iu":
        return ids
    parts = [[_natural(part) for part in re.split(r"(\d+)", str(job_id))] for job_id in ids]
    rank = np.empty(len(ids), dtype=np.intp)
    rank[sorted(range(len(ids)), key=parts.__getitem__)] = np.arange(len(ids))
    return rank


def _natural(part: str) -> tuple[int, int, str]:
    return (0, int(part), "") if part.isdecimal() else (1, 0, part)


def _own(schedule: Schedule, name: str, default: float) -> Floats:
    """Return a number that a Workload keeps for each job, where the schedule has a Workload."""
    values = []
    for table in schedule.tables:
        read: Callable[[int], float] | None = None
        if isinstance(table, Workload):
            read = getattr(table.table, name)
        n = len(table)
        column = np.full(n, default) if read is None else np.fromiter(map(read, range(n)), float, n)
        values.append(column)
    return np.asarray(np.concatenate(values)[schedule.record.job], dtype=np.float64)


def _leave_times(state: list[str], cancel: Floats) -> Floats:
    leave = np.full(len(state), math.inf)
    for i, word in enumerate(state):
        if word == "rejected":
            leave[i] = -math.inf
        elif word == "cancelled":
            leave[i] = cancel[i]
    return leave
