"""How many hosts were free over time, and how many would have been but for what they did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.record import RecordLike, host_states_of
from noctule.schedule import Schedule
from noctule.waits.queue import Counts

#: What hosts did that held no job: idle ones first, then what would come free the soonest.
KINDS = ("idle", "waking", "falling_asleep", "asleep", "down")


@dataclass(frozen=True, slots=True)
class HostSteps:
    """A number of hosts over time: `value[i]` from `time[i]` on, `before` until the first."""

    time: Floats
    value: Counts
    before: int

    def at(self, dates: npt.ArrayLike) -> Counts:
        """Return the values at some dates; at the date of a change, the one after it."""
        place = np.searchsorted(self.time, np.asarray(dates, dtype=np.float64), side="right")
        values: Counts = np.concatenate([[self.before], self.value])[place]
        return values


@dataclass(frozen=True, slots=True)
class IdleHosts:
    """Hosts that held no job, by what they did: dates, and a column for each of KINDS."""

    n_hosts: int
    time: Floats
    columns: tuple[Counts, ...]

    @classmethod
    def of(cls, schedule: Schedule) -> IdleHosts:
        """Take what a run has recorded; of changes at one instant the last counts.

        Batsim's file of host states has six digits of each date. Where jobs start at dates that it
        does not have, what is busy is worked out from the jobs instead.
        """
        record, n_hosts = schedule.record, schedule.platform.n_hosts
        time = record.host_state_time
        last = _last_of_each(time)
        columns = (
            _sum_of(record, "idle"),
            _sum_of(record, "switching_on"),
            _sum_of(record, "switching_off"),
            _sum_of(record, "sleeping"),
            _sum_of(record, "unavailable", "failed"),
        )
        recorded = cls(n_hosts, time[last], tuple(c[last] for c in columns))
        started = record.start_time[~np.isnan(record.start_time) & (record.n_hosts > 0)]
        if np.isin(started, recorded.time).all():
            return recorded
        dates, idle, _ = host_states_of(
            n_hosts, record.start_time, record.finish_time, record.n_hosts
        )
        return recorded._with_idle(dates, idle)

    def _with_idle(self, time: Floats, idle: npt.NDArray[np.uint32]) -> IdleHosts:
        """Return the same with another number of hosts that are not busy, whatever they do."""
        last = _last_of_each(time)
        not_busy = HostSteps(time[last], idle[last].astype(np.int64), self.n_hosts)
        dates = np.union1d(not_busy.time, self.time)
        others = [self.only(kind).at(dates) for kind in KINDS[1:]]
        left = not_busy.at(dates)
        columns = []
        for other in others:
            columns.append(np.minimum(other, left))
            left = left - columns[-1]
        return IdleHosts(self.n_hosts, dates, (left, *columns))

    @property
    def were_kept_idle(self) -> bool:
        """Whether any host was ever switched off, asleep or out of order."""
        return any(column.any() for column in self.columns[1:])

    def up_to(self, kind: str) -> HostSteps:
        """Return how many hosts did what `kind` says, or anything before it in KINDS."""
        chosen = self.columns[: KINDS.index(kind) + 1]
        return HostSteps(self.time, np.sum(chosen, axis=0, dtype=np.int64), self.n_hosts)

    def only(self, kind: str) -> HostSteps:
        """Return how many hosts did what `kind` says."""
        before = self.n_hosts if kind == KINDS[0] else 0
        return HostSteps(self.time, self.columns[KINDS.index(kind)], before)


def _last_of_each(time: Floats) -> npt.NDArray[np.intp]:
    """Return the places of the last of equal dates."""
    return np.flatnonzero(np.append(time[1:] > time[:-1], True)[: len(time)])


def _sum_of(record: RecordLike, *names: str) -> Counts:
    total = np.zeros(len(record.host_state_time), dtype=np.int64)
    for name in names:
        column = getattr(record, f"host_state_{name}")
        if len(column):
            total += column
    return total


def blocks_of(schedule: Schedule) -> tuple[Floats, Floats, npt.NDArray[np.uint32]] | None:
    """Return starts, finishes and first hosts, if every job had hosts side by side.

    None if some had not, if no job had more than one, or if nobody knows which they were.
    """
    record = schedule.record
    rows = np.flatnonzero(~np.isnan(record.start_time) & (record.n_hosts > 0))
    if not (record.n_hosts[rows] > 1).any():
        return None
    first = np.zeros(len(record), dtype=np.uint32)
    for row in rows.tolist():
        intervals = record.hosts(row).intervals()
        if len(intervals) != 1:
            return None
        first[row] = intervals[0][0]
    return record.start_time, record.finish_time, first
