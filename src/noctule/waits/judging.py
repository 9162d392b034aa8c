"""Which cause a wait has at a moment: the rules, in one place, for one job and for all of them."""

from __future__ import annotations

import sys
from functools import cached_property

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.columns import Floats
from noctule.schedule import Schedule
from noctule.waits.causes import Cause
from noctule.waits.closings import Closings
from noctule.waits.hosts import HostSteps, IdleHosts, blocks_of
from noctule.waits.queue import Asked, Counts, Queue, Rows
from noctule.waits.stretches import OPEN, Access, Stretches, Zone, stretches_of
from noctule.windows import Windows
from noctule.workload import Workload

#: The causes that a schedule tells, in the order of the columns of totals.
CAUSES = (
    Cause.PRIORITY,
    Cause.BUSY,
    Cause.FRAGMENTED,
    Cause.RESERVATION,
    Cause.KEPT,
    Cause.TIMING,
    Cause.SWITCHING,
    Cause.OFF,
    Cause.DOWN,
    Cause.UNKNOWN,
)
CODES = {cause: code for code, cause in enumerate(CAUSES)}
#: What keeps hosts that would be enough, kind by kind of what they do.
BY_KIND = (("waking", Cause.SWITCHING), ("asleep", Cause.OFF), ("down", Cause.DOWN))
#: Where a job stands when a schedule may tell more than who is ahead.
DETAILED = (Zone.HEAD, Zone.EARLY, Zone.OWN)

Codes = npt.NDArray[np.uint8]


class TooManyCutsError(Exception):
    """Waits change their causes more often than was asked for."""


class Judge:
    """Says why jobs of a schedule did not start."""

    def __init__(
        self, schedule: Schedule, windows: Windows | None, workload: Workload | None
    ) -> None:
        """Put jobs, hosts and windows in order."""
        self.schedule = schedule
        self.asked = Asked.of(schedule, workload)
        self.closings = Closings(schedule, windows)
        own = self.closings.reservations(self.asked)
        self.queue = Queue.of(schedule, own, self.asked)
        self.idle = IdleHosts.of(schedule)
        self._free: dict[Access, HostSteps] = {OPEN: self.idle.up_to("idle")}

    def stretches(self, jobs: Rows | None = None) -> Stretches:
        """Take the waits of some jobs of the queue apart, or of all."""
        every = np.arange(len(self.queue), dtype=np.intp)
        return stretches_of(self.queue, self.closings, every if jobs is None else jobs)

    def free(self, access: Access) -> HostSteps:
        """Return how many hosts were free for those with some access."""
        if access not in self._free:
            own, closed = access
            self._free[access] = self._open_hosts(closed) if own is None else self._own_hosts(own)
        return self._free[access]

    def _own_hosts(self, own: int) -> HostSteps:
        window = self.closings.windows[own]
        return self.closings.idle_in([own], window.start, window.end)

    def _open_hosts(self, closed: frozenset[int]) -> HostSteps:
        """Return how many hosts were idle and not in windows, while all of these close theirs."""
        windows = [self.closings.windows[number] for number in closed]
        longest = float(self.queue.walltime.max(initial=0.0))
        begin = max(max(w.announced, w.start - longest) for w in windows)
        kept = self.closings.idle_in(closed, begin, min(w.end for w in windows))
        idle = self._free[OPEN]
        time = np.union1d(kept.time, idle.time)
        return HostSteps(time, np.maximum(idle.at(time) - kept.at(time), 0), idle.before)

    def pieces(self, stretches: Stretches, most: int = sys.maxsize) -> Stretches:
        """Cut stretches wherever a cause may change; more cuts than `most` are an error."""
        pieces = stretches.cut_at(*self._turns(stretches, most))
        detailed = np.flatnonzero(self._in_detail(pieces, self._free_at(pieces)))
        if not len(detailed):
            return pieces
        chosen = pieces.chosen(detailed)
        if chosen.n_inside(self._dates) > most:
            raise TooManyCutsError
        rows, dates = chosen.inside(self._dates)
        return pieces.cut_at(detailed[rows], dates)

    def _turns(self, stretches: Stretches, most: int) -> tuple[Rows, Floats]:
        """Return in which stretches, and when, enough hosts come free or are enough no longer."""
        every = np.arange(len(stretches), dtype=np.intp)
        parts = [(every, self._free[OPEN])]
        if self.idle.were_kept_idle:
            parts += [(every, self.idle.up_to(kind)) for kind, _ in BY_KIND]
        for number, access in enumerate(stretches.accesses):
            if access != OPEN:
                parts.append((np.flatnonzero(stretches.access == number), self.free(access)))
        found: list[tuple[Rows, Floats]] = []
        for rows, steps in parts:
            begin, end = stretches.begin[rows], stretches.end[rows]
            needed = self.queue.needed[stretches.job[rows]]
            function = (steps.time, steps.value, steps.before)
            place, dates = _core.turns_of(*function, begin, end, needed, most)
            most -= len(dates)
            if not most:
                raise TooManyCutsError
            found.append((rows[place], dates))
        columns = zip(*found, strict=True)
        rows, dates = (np.concatenate(column) for column in columns)
        return rows, dates

    @cached_property
    def _dates(self) -> Floats:
        """All dates at which jobs come, start, end and leave, and hosts change."""
        record, queue = self.schedule.record, self.queue
        columns = (record.start_time, record.finish_time, queue.submit, queue.left, self.idle.time)
        dates = np.unique(np.concatenate(columns))
        return dates[~np.isnan(dates)]

    def causes(self, pieces: Stretches) -> Codes:
        """Return the cause of each piece; those of a job must follow each other."""
        needed = self.queue.needed[pieces.job]
        found = np.full(len(pieces), CODES[Cause.BUSY], dtype=np.uint8)
        competes = pieces.zone <= Zone.HEAD
        for kind, cause in reversed(BY_KIND):
            enough = self.idle.up_to(kind).at(pieces.begin) >= needed
            found[competes & enough] = CODES[cause]
        found[pieces.zone == Zone.BEHIND] = CODES[Cause.PRIORITY]
        open_hosts = self._free[OPEN].at(pieces.begin)
        found[competes & (open_hosts >= needed)] = CODES[Cause.RESERVATION]
        free = self._free_at(pieces)
        found[free >= needed] = CODES[Cause.KEPT]
        found[pieces.zone == Zone.EARLY] = CODES[Cause.RESERVATION]
        in_detail = self._in_detail(pieces, free)
        if in_detail.any():
            rows = np.flatnonzero(in_detail)
            found[rows] = self._first_in_line(pieces.chosen(rows))
            self._tell_timing(pieces, found)
        return found

    def _free_at(self, pieces: Stretches) -> Counts:
        free = np.zeros(len(pieces), dtype=np.int64)
        for number, access in enumerate(pieces.accesses):
            rows = pieces.access == number
            if rows.any():
                free[rows] = self.free(access).at(pieces.begin[rows])
        return free

    def _in_detail(self, pieces: Stretches, free: Counts) -> npt.NDArray[np.bool_]:
        """Tell where more is asked than who is ahead: first in line, and enough hosts are free."""
        first = np.isin(pieces.zone, (Zone.HEAD, Zone.OWN))
        return first & (free >= self.queue.needed[pieces.job])

    def _first_in_line(self, pieces: Stretches) -> Codes:
        """Say what was left against jobs with enough hosts, and nobody who came earlier."""
        found = np.full(len(pieces), CODES[Cause.UNKNOWN], dtype=np.uint8)
        fragmented = self._largest_blocks(pieces.begin) < self.queue.needed[pieces.job]
        found[fragmented] = CODES[Cause.FRAGMENTED]
        is_head = pieces.zone == Zone.HEAD
        overtaken = self.queue.first_start(pieces.begin) < self.queue.left[pieces.job]
        found[is_head & overtaken] = CODES[Cause.KEPT]
        return found

    @cached_property
    def _blocks(self) -> tuple[Floats, Floats, npt.NDArray[np.uint32]] | None:
        return blocks_of(self.schedule)

    def _largest_blocks(self, dates: Floats) -> Counts:
        """Return the most free hosts side by side; all hosts where jobs need no such ones."""
        n_hosts = self.schedule.platform.n_hosts
        if self._blocks is None:
            return np.full(len(dates), np.iinfo(np.int64).max)
        order = np.argsort(dates, kind="stable")
        found = np.empty(len(dates), dtype=np.int64)
        held = self.schedule.record.n_hosts
        found[order] = _core.largest_free_block(dates[order], *self._blocks, held, n_hosts)
        return found

    def _tell_timing(self, pieces: Stretches, found: Codes) -> None:
        """Call what nothing explains pass timing where it lasts until the start.

        Not where somebody waits who leaves later: hosts may have been kept for them.
        """
        queue, unknown = self.queue, found == CODES[Cause.UNKNOWN]
        rows = np.flatnonzero(unknown & (pieces.zone == Zone.HEAD))
        alone = np.zeros(len(pieces), dtype=bool)
        alone[rows] = queue.last_leave(pieces.begin[rows]) <= queue.left[pieces.job[rows]]
        first = np.flatnonzero(np.append(True, pieces.job[1:] != pieces.job[:-1]))
        place = np.arange(len(pieces))
        last_other = np.maximum.reduceat(np.where(alone, -1, place), first)
        n_pieces = np.diff(np.append(first, len(pieces)))
        started = np.isfinite(queue.start[pieces.job])
        found[alone & started & (place > np.repeat(last_other, n_pieces))] = CODES[Cause.TIMING]
