"""Waits in stretches during which the same jobs stand ahead and the same hosts are closed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.waits.closings import Closings
from noctule.waits.queue import Queue, Rows


class Zone(IntEnum):
    """Where a job stands."""

    #: Somebody waits who came earlier and leaves no later.
    BEHIND = 0
    #: Whoever came earlier and still waits leaves later.
    BESIDE = 1
    #: Nobody waits who came earlier.
    HEAD = 2
    #: Its reservation has not begun.
    EARLY = 3
    #: Its reservation holds, or is over.
    OWN = 4


#: What is free to whom: the own reservation or None, and the windows that are closed.
Access = tuple[int | None, frozenset[int]]
OPEN: Access = (None, frozenset())


@dataclass(frozen=True, slots=True)
class Stretches:
    """Rows of stretches; `job` is a place in the queue, `access` one of `accesses`."""

    job: Rows
    begin: Floats
    end: Floats
    zone: npt.NDArray[np.uint8]
    access: Rows
    accesses: tuple[Access, ...]

    def __len__(self) -> int:
        """Return the number of stretches."""
        return len(self.job)

    def chosen(self, which: npt.NDArray[np.bool_] | Rows) -> Stretches:
        """Return some of the rows."""
        return Stretches(
            self.job[which],
            self.begin[which],
            self.end[which],
            self.zone[which],
            self.access[which],
            self.accesses,
        )

    def in_order(self) -> Stretches:
        """Return the rows by job, then by date."""
        return self.chosen(np.lexsort((self.begin, self.job)))

    def n_inside(self, dates: Floats) -> int:
        """Return how many of some ascending dates lie inside of stretches."""
        first, last = self._places(dates)
        return int((last - first).sum())

    def inside(self, dates: Floats) -> tuple[Rows, Floats]:
        """Return ascending dates with the places of all stretches that they lie inside of."""
        first, last = self._places(dates)
        n_inside = last - first
        rows = np.repeat(np.arange(len(self)), n_inside)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(n_inside) - n_inside, n_inside)
        return rows, dates[np.repeat(first, n_inside) + number]

    def _places(self, dates: Floats) -> tuple[Rows, Rows]:
        first = np.searchsorted(dates, self.begin, side="right")
        return first, np.maximum(np.searchsorted(dates, self.end, side="left"), first)

    def cut_at(self, rows: Rows, dates: Floats) -> Stretches:
        """Cut each of some stretches at a date inside of it."""
        order = np.lexsort((dates, rows))
        rows, dates = rows[order], dates[order]
        kept = np.append(True, (rows[1:] != rows[:-1]) | (dates[1:] != dates[:-1]))[: len(rows)]
        rows, dates = rows[kept], dates[kept]
        n_pieces = np.bincount(rows, minlength=len(self)) + 1
        pieces = self.chosen(np.repeat(np.arange(len(self)), n_pieces))
        last = np.cumsum(n_pieces) - 1
        begin, end = pieces.begin.copy(), pieces.end.copy()
        begin[np.delete(np.arange(len(pieces)), last - n_pieces + 1)] = dates
        end[np.delete(np.arange(len(pieces)), last)] = dates
        return Stretches(pieces.job, begin, end, pieces.zone, pieces.access, pieces.accesses)


def stretches_of(queue: Queue, closings: Closings, jobs: Rows) -> Stretches:
    """Take the waits of some jobs of a queue apart."""
    competing = jobs[queue.own[jobs] < 0]
    submit, left = queue.submit[competing], queue.left[competing]
    behind = np.clip(queue.ahead_until[competing], submit, left)
    beside = np.clip(queue.head_from[competing], behind, left)
    edges = (submit, behind, beside, left)
    zones = (Zone.BEHIND, Zone.BESIDE, Zone.HEAD)
    found = [_rows(competing, edges[i], edges[i + 1], zone, OPEN) for i, zone in enumerate(zones)]
    for number in np.unique(queue.own[jobs]).tolist():
        if number >= 0:
            found += _of_reservation(queue, closings, jobs[queue.own[jobs] == number], number)
    whole = _joined(found)
    for number in range(len(closings.windows)):
        whole = _closed(whole, queue, closings, number)
    return whole.in_order()


def _of_reservation(queue: Queue, closings: Closings, jobs: Rows, number: int) -> list[Stretches]:
    """Return the stretches before a reservation begins and after."""
    submit, left = queue.submit[jobs], queue.left[jobs]
    began = np.clip(closings.windows[number].start, submit, left)
    own: Access = (number, frozenset())
    return [
        _rows(jobs, submit, began, Zone.EARLY, own),
        _rows(jobs, began, left, Zone.OWN, own),
    ]


def _rows(jobs: Rows, begin: Floats, end: Floats, zone: Zone, access: Access) -> Stretches:
    kept = begin < end
    n = int(kept.sum())
    zones, accesses = np.full(n, zone, dtype=np.uint8), np.zeros(n, dtype=np.intp)
    return Stretches(jobs[kept], begin[kept], end[kept], zones, accesses, (access,))


def _closed(whole: Stretches, queue: Queue, closings: Closings, number: int) -> Stretches:
    """Cut stretches where a window closes its hosts, and where it ends."""
    window = closings.windows[number]
    from_date = np.maximum(window.start - queue.walltime[whole.job], window.announced)
    competes = whole.zone <= Zone.HEAD
    meets = competes & (from_date < whole.end) & (whole.begin < window.end)
    if not meets.any():
        return whole
    met = whole.chosen(meets)
    begin = np.clip(from_date[meets], met.begin, met.end)
    end = np.clip(window.end, begin, met.end)

    def part(first: Floats, last: Floats, change: Callable[[Access], Access]) -> Stretches:
        accesses = tuple(map(change, met.accesses))
        kept = first < last
        one = Stretches(met.job, first, last, met.zone, met.access, accesses)
        return one.chosen(kept)

    def same(access: Access) -> Access:
        return access

    def narrower(access: Access) -> Access:
        return access[0], access[1] | {number}

    parts = (part(met.begin, begin, same), part(begin, end, narrower), part(end, met.end, same))
    return _joined([whole.chosen(~meets), *parts])


def _joined(parts: list[Stretches]) -> Stretches:
    """Put stretches together; they have the accesses that somebody has, not all that could be."""
    places: dict[Access, int] = {}
    columns = []
    for part in parts:
        numbers, which = np.unique(part.access, return_inverse=True)
        used = [places.setdefault(part.accesses[n], len(places)) for n in numbers.tolist()]
        columns.append(np.array(used, dtype=np.intp)[which])
    return Stretches(
        np.concatenate([part.job for part in parts]),
        np.concatenate([part.begin for part in parts]),
        np.concatenate([part.end for part in parts]),
        np.concatenate([part.zone for part in parts]),
        np.concatenate(columns),
        tuple(places),
    )
