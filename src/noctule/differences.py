"""Two schedules of the same jobs, job by job: who starts, waits and ends how much later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.schedule import Schedule
from noctule.waits.causes import Cause
from noctule.waits.totals import WaitTotals, wait_totals
from noctule.windows import Windows

__all__ = ["QUANTITIES", "Differences", "Mover", "differences"]

#: What jobs are compared by, and the columns of a schedule that tell it.
QUANTITIES = {"start": "start_time", "wait": "waiting_time", "end": "finish_time"}

Rows = npt.NDArray[np.intp]
#: A job, by its workload and its id.
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Mover:
    """A job, and by how many seconds the other schedule has it later.

    `causes` are the seconds that it waited in either of them, by cause.
    """

    workload: str
    job_id: str
    start: float
    wait: float
    end: float
    causes: tuple[Mapping[Cause, float], Mapping[Cause, float]]


@dataclass(frozen=True)
class Differences:
    """The jobs of two schedules, matched by workload and id.

    Attributes:
        one: the schedule that is compared with,
        other: the one that is compared.
        rows_of_one: rows of the jobs that both have, in the order of `one`.
        rows_of_other: rows of the same jobs.
        only_in_one: jobs that the other has not.
        only_in_other: and the reverse.
    """

    one: Schedule
    other: Schedule
    rows_of_one: Rows
    rows_of_other: Rows
    only_in_one: tuple[Name, ...]
    only_in_other: tuple[Name, ...]
    windows: tuple[Windows | None, Windows | None] = (None, None)

    def __len__(self) -> int:
        """Return the number of jobs that both schedules have."""
        return len(self.rows_of_one)

    def of(self, quantity: str) -> Floats:
        """Return how many seconds more the other has: of the start, the wait or the end.

        NaN where one of the two has no such date.
        """
        if quantity not in QUANTITIES:
            raise InputError(f"differences: got {quantity!r}, expected {', '.join(QUANTITIES)}")
        column = QUANTITIES[quantity]
        before: Floats = self.one.column(column)[self.rows_of_one]
        after: Floats = self.other.column(column)[self.rows_of_other]
        return after - before

    def largest(self, n: int = 20, *, by: str = "wait") -> list[Mover]:
        """Return the jobs that moved most, the farthest first; no job that did not move."""
        moved = self.of(by)
        distance = np.where(np.isnan(moved), 0.0, np.abs(moved))
        order = np.argsort(-distance, kind="stable")[:n]
        return [self._mover(i) for i in order.tolist() if distance[i] > 0]

    @cached_property
    def _waits(self) -> tuple[WaitTotals, WaitTotals]:
        one, other = self.windows
        return wait_totals(self.one, windows=one), wait_totals(self.other, windows=other)

    @cached_property
    def _moved(self) -> tuple[Floats, ...]:
        return tuple(map(self.of, QUANTITIES))

    def _mover(self, place: int) -> Mover:
        row, of_other = int(self.rows_of_one[place]), int(self.rows_of_other[place])
        one, other = self._waits
        workload, job_id = _name(self.one, row)
        start, wait, end = (float(column[place]) for column in self._moved)
        causes = (one.of_row(row), other.of_row(of_other))
        return Mover(workload, job_id, start, wait, end, causes)


def differences(
    one: Schedule,
    other: Schedule,
    *,
    windows: tuple[Windows | None, Windows | None] = (None, None),
) -> Differences:
    """Match the jobs of two schedules by workload and id.

    Where both have a single workload its name does not matter. `windows` are those of the two runs,
    of which schedules do not know; they tell why jobs waited.
    """
    by_id = len(one.tables) == len(other.tables) == 1
    places = {name: row for row, name in enumerate(_names(other, by_id=by_id))}
    names = _names(one, by_id=by_id)
    pairs = [(row, places.pop(name)) for row, name in enumerate(names) if name in places]
    matched = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    alone = np.delete(np.arange(len(one)), matched[:, 0]).tolist()
    return Differences(
        one,
        other,
        matched[:, 0],
        matched[:, 1],
        tuple(_name(one, row) for row in alone),
        tuple(_name(other, row) for row in places.values()),
        windows,
    )


def _names(schedule: Schedule, *, by_id: bool) -> list[Name]:
    ids = map(str, schedule.column("job_id").tolist())
    workloads = [""] * len(schedule) if by_id else schedule.column("workload").tolist()
    return list(zip(workloads, ids, strict=True))


def _name(schedule: Schedule, row: int) -> Name:
    return str(schedule.column("workload")[row]), str(schedule.column("job_id")[row])
