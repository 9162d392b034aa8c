"""Why a job waited: when, for which cause, and for whom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from noctule.errors import InputError
from noctule.record import JobState, attempted_id
from noctule.schedule import Schedule
from noctule.waits.causes import Cause, Explanation, Interval, merged
from noctule.waits.judging import CAUSES, Judge
from noctule.waits.queue import Rows
from noctule.waits.stretches import Stretches
from noctule.waits.totals import WaitTotals, totals_of
from noctule.windows import Windows
from noctule.workload import Workload

# Of jobs that somebody waited for.
_MOST_NAMED = 3


def explain(
    schedule: Schedule,
    job_id: int | str,
    *,
    windows: Windows | None = None,
    workload: Workload | None = None,
) -> Explanation:
    """Say why a job waited: intervals that follow each other, from its submission to its start.

    A job that never started is explained until it left the queue, where that is known. `windows`
    are those of the run, of which a schedule does not know; the `workload` tells one that was read
    from files when users gave up, who they are, and what jobs depended on. `Waits` explains several
    jobs faster.
    """
    return Waits(schedule, windows=windows, workload=workload).explain(job_id)


class Waits:
    """The waits of all jobs of a schedule, explained when asked for."""

    def __init__(
        self,
        schedule: Schedule,
        *,
        windows: Windows | None = None,
        workload: Workload | None = None,
    ) -> None:
        """Look at a schedule and, where they are known, the windows and the workload of its run."""
        self.schedule = schedule
        self._judge = Judge(schedule, windows, workload)
        self._place = {row: i for i, row in enumerate(self._judge.queue.row.tolist())}

    @cached_property
    def totals(self) -> WaitTotals:
        """The seconds of each job and cause."""
        return totals_of(self._judge)

    @cached_property
    def _rows_of(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        ids, workloads = (self.schedule.column(name).tolist() for name in ("job_id", "workload"))
        for row, (job_id, workload) in enumerate(zip(ids, workloads, strict=True)):
            rows.setdefault(str(job_id), []).append(row)
            rows.setdefault(f"{workload}!{job_id}", []).append(row)
        return rows

    @cached_property
    def _ids_are_unique(self) -> bool:
        return len(set(map(str, self.schedule.column("job_id").tolist()))) == len(self.schedule)

    def name(self, row: int) -> str:
        """Return the id of a job, with its workload where ids alone do not tell."""
        job_id = str(self.schedule.column("job_id")[row])
        workload = self.schedule.column("workload")[row]
        return job_id if self._ids_are_unique else f"{workload}!{job_id}"

    def row(self, job_id: int | str) -> int:
        """Return the row of a job by its id, or by workload!id."""
        rows = self._rows_of.get(str(job_id), [])
        if len(rows) != 1:
            what = "several workloads have" if rows else "there is no such job"
            expected = (
                f"one of {', '.join(map(self.name, rows[:3]))}" if rows else "the id of a job"
            )
            raise InputError(f"job {str(job_id)!r}: {what}, expected {expected}")
        return rows[0]

    def attempts(self, job_id: int | str) -> list[int]:
        """Return the rows of a job and of its further attempts, by their submissions."""
        first = self.row(job_id)
        wanted = self.name(first)
        ids = self.schedule.column("job_id").tolist()
        rows = [
            row
            for row, other in enumerate(ids)
            if "#" in str(other) and attempted_id(self.name(row)) == wanted
        ]
        submit = self.schedule.record.submit_time
        return sorted({first, *rows}, key=lambda row: (float(submit[row]), row))

    def explain(self, job_id: int | str) -> Explanation:
        """Explain the wait of a job by its id."""
        return self.explain_row(self.row(job_id))

    def explain_row(self, row: int) -> Explanation:
        """Explain the wait of a job by its row in the schedule."""
        record = self.schedule.record
        submit, start = float(record.submit_time[row]), float(record.start_time[row])
        intervals: tuple[Interval, ...] = ()
        if row in self._place:
            intervals = merged(self._intervals(self._place[row]))
        return Explanation(
            job_id=self.name(row),
            submit=submit,
            start=None if math.isnan(start) else start,
            end_of_wait=intervals[-1].end if intervals else submit,
            intervals=intervals,
            before=tuple(self._before(row)),
        )

    def notes(self, rows: Iterable[int]) -> Iterator[str]:
        """Say what the explanations of some jobs leave open."""
        for row in rows:
            state = self.schedule.record.state[row]
            if state in (JobState.REJECTED, JobState.CANCELLED) and row not in self._place:
                word = JobState(state).word
                yield f"job {self.name(row)} was {word}, and when it left the queue is not recorded"

    def _intervals(self, job: int) -> Iterator[Interval]:
        judge = self._judge
        pieces = judge.pieces(judge.stretches(np.array([job], dtype=np.intp)))
        codes = judge.causes(pieces)
        changes = (codes[1:] != codes[:-1]) | (pieces.access[1:] != pieces.access[:-1])
        first = np.flatnonzero(np.append(True, changes)).tolist()
        for begin, end in zip(first, [*first[1:], len(pieces)], strict=True):
            yield self._interval(job, pieces, slice(begin, end), CAUSES[codes[begin]])

    def _interval(self, job: int, pieces: Stretches, which: slice, cause: Cause) -> Interval:
        begin, end = float(pieces.begin[which][0]), float(pieces.end[which][-1])
        access = pieces.accesses[pieces.access[which][0]]
        detail, rows = "", []
        if cause is Cause.PRIORITY:
            rows = self._ahead(job, begin)
        elif cause is Cause.KEPT:
            rows = self._ahead(job, begin) or self._first_to_start(job, begin)
        elif cause is Cause.BUSY:
            rows = self._holders(begin, end)
        elif cause is Cause.RESERVATION:
            own, closed = access
            detail = self._judge.closings.names(closed if own is None else [own])
        elif cause is Cause.TIMING:
            detail = "enough hosts were free, and nobody waited ahead"
        return Interval(begin, end, cause, detail, tuple(map(self.name, rows)))

    def _ahead(self, job: int, date: float) -> list[int]:
        """Return who came earlier and waits, those first that leave no later than the job."""
        queue = self._judge.queue
        waiting = queue.waiting_at(date)
        earlier = waiting[waiting < job]
        leaves_later = queue.left[earlier] > queue.left[job]
        in_order = np.concatenate([earlier[~leaves_later], earlier[leaves_later]])
        return self._rows(in_order)

    def _first_to_start(self, job: int, date: float) -> list[int]:
        queue = self._judge.queue
        waiting = queue.waiting_at(date)
        overtaking = waiting[queue.start[waiting] < queue.left[job]]
        return self._rows(overtaking[np.argsort(queue.start[overtaking], kind="stable")])

    def _rows(self, places: Rows) -> list[int]:
        rows: list[int] = self._judge.queue.row[places[:_MOST_NAMED]].tolist()
        return rows

    def _holders(self, begin: float, end: float) -> list[int]:
        """Return the jobs that held most host-seconds between two dates."""
        record = self.schedule.record
        finish = np.where(np.isnan(record.finish_time), math.inf, record.finish_time)
        seconds = np.minimum(finish, end) - np.maximum(record.start_time, begin)
        held = np.nan_to_num(seconds, nan=0.0).clip(min=0.0) * record.n_hosts
        largest = np.argsort(-held, kind="stable")[:_MOST_NAMED]
        return [row for row in largest.tolist() if held[row] > 0]

    def _before(self, row: int) -> Iterator[Interval]:
        """Yield what the submission of a job waited for, as far as is known."""
        submit = float(self.schedule.record.submit_time[row])
        workload, place = self._judge.asked.workload, int(self._judge.asked.place[row])
        if workload is not None and place >= 0:
            asked = float(workload.submit_time[place])
            names = tuple(str(d.job_id) for d in workload[place].dependencies)
            if names and asked < submit and not self.schedule.moves_submissions:
                yield Interval(asked, submit, Cause.DEPENDENCY, "", names)
        if self.schedule.moves_submissions:
            recorded = float(self.schedule.column("recorded_submit_time")[row])
            if recorded < submit:
                detail = "its user submitted it later than in the log"
                yield Interval(recorded, submit, Cause.NOT_ELIGIBLE, detail)
