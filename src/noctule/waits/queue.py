"""The jobs that waited: from when to when, and who stood before whom.

A schedule does not tell priorities. Who was submitted earlier and left the queue no later was
ahead, whatever the order of the queue; of others it cannot be said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.columns import Floats
from noctule.parts import Parts
from noctule.record import JobState
from noctule.schedule import Schedule
from noctule.workload import Workload

Rows = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the workload of a schedule says of its jobs.

    `place` is where it has them, -1 if it does not know them; `job` numbers all of them.
    """

    workload: Workload | None
    place: Rows
    job: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, schedule: Schedule, workload: Workload | None = None) -> Asked:
        """Find the jobs of a schedule in the workload it was made of, or in one that is given."""
        first = schedule.tables[0] if schedule.tables else None
        if isinstance(first, Workload):
            job = schedule.record.job.astype(np.intp)
            return cls(first, np.where(job < len(first), job, -1), schedule.record.job)
        if workload is None:
            return cls(None, np.full(len(schedule), -1, dtype=np.intp), schedule.record.job)
        places = {str(job_id): i for i, job_id in enumerate(workload.job_ids.tolist())}
        ids = schedule.column("job_id").tolist()
        found = [places.get(str(job_id), -1) for job_id in ids]
        return cls(workload, np.array(found, dtype=np.intp), schedule.record.job)

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Which of the jobs that are submitted at one date come first: as in the workload."""
        n_known = 0 if self.workload is None else len(self.workload)
        others = n_known + self.job.astype(np.int64)
        return np.where(self.place >= 0, self.place, others)

    def cancel_dates(self, schedule: Schedule) -> Floats:
        """Return when users give up; NaN where that is not known."""
        if self.workload is None:
            return np.full(len(schedule), math.nan)
        dates = np.append(Parts.of(self.workload).cancel_time, math.nan)[self.place]
        dates = np.where(np.isinf(dates), math.nan, dates)
        if schedule.moves_submissions:  # users wait for as long as they would have
            recorded: Floats = schedule.column("recorded_submit_time")
            dates = dates + (schedule.record.submit_time - recorded)
        return dates


def left_dates(schedule: Schedule, asked: Asked) -> Floats:
    """Return when each job left the queue: when it started, or was cancelled.

    Jobs that still wait leave at the end of the run. NaN where the date is not known: jobs that
    were rejected, and cancelled ones whose workload is not at hand.
    """
    record = schedule.record
    left = record.start_time.copy()
    left[record.state == JobState.WAITING] = schedule.end
    cancelled = record.state == JobState.CANCELLED
    if cancelled.any():
        dates = asked.cancel_dates(schedule)
        left[cancelled] = np.maximum(dates, record.submit_time)[cancelled]
    return left


@dataclass(frozen=True, slots=True)
class Queue:
    """The jobs that waited, in the order of their submissions.

    Attributes:
        row: their rows in the schedule.
        own: their reservations; -1 for all others, who compete for the hosts.
        start: infinite if it never came.
        ahead_until: until when somebody was ahead who came earlier and left no later.
        head_from: from when on nobody waited who came earlier.
    """

    row: Rows
    own: Rows
    submit: Floats
    left: Floats
    start: Floats
    needed: Counts
    walltime: Floats
    ahead_until: Floats
    head_from: Floats

    @classmethod
    def of(cls, schedule: Schedule, own: Rows, asked: Asked) -> Queue:
        """Find the jobs that waited; `own` is the reservation of each row."""
        record = schedule.record
        left = left_dates(schedule, asked)
        rows = np.flatnonzero(left > record.submit_time)
        rows = rows[np.lexsort((asked.order[rows], record.submit_time[rows]))]
        start = record.start_time[rows]
        left, own = left[rows], own[rows]
        competes = own < 0
        ahead_until = np.full(len(rows), -math.inf)
        head_from = np.full(len(rows), -math.inf)
        ahead_until[competes] = _core.ahead_until(left[competes])
        latest = np.maximum.accumulate(left[competes])
        head_from[competes] = np.concatenate([[-math.inf], latest])[:-1]
        return cls(
            row=rows,
            own=own,
            submit=record.submit_time[rows],
            left=left,
            start=np.where(np.isnan(start), math.inf, start),
            needed=schedule.column("n_hosts")[rows].astype(np.int64),
            walltime=schedule.column("walltime")[rows],
            ahead_until=ahead_until,
            head_from=head_from,
        )

    def __len__(self) -> int:
        """Return the number of jobs that waited."""
        return len(self.row)

    def first_start(self, dates: Floats) -> Floats:
        """Return the earliest start to come of the competitors that wait at each date."""
        return self._least(dates, self.start)

    def last_leave(self, dates: Floats) -> Floats:
        """Return when the last of the competitors that wait at each date leaves."""
        return -self._least(dates, -self.left)

    def _least(self, dates: Floats, value: Floats) -> Floats:
        competes = self.own < 0
        order = np.argsort(dates, kind="stable")
        found = np.empty(len(dates))
        columns = (self.submit[competes], self.left[competes], value[competes])
        found[order] = _core.least_waiting(dates[order], *columns)
        return found

    def waiting_at(self, date: float) -> Rows:
        """Return the places of the competitors that wait at a date."""
        waits = (self.own < 0) & (self.submit <= date) & (date < self.left)
        return np.flatnonzero(waits)
