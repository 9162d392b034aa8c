"""The offline ceiling: the most that sleeping could have saved, with jobs where and when they were.

Who knows the schedule beforehand can let each host sleep in each of its gaps between jobs, where
the gap is long enough to go to sleep and to wake, and where that is cheaper than to stay idle. In
the last gap of a host there is nothing to wake for. No policy can spend less on the same schedule;
one that moves jobs may.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.errors import InputError
from noctule.platform import HostKind
from noctule.record import Floats
from noctule.schedule import Schedule

__all__ = ["OfflineCeiling", "offline_ceiling"]


@dataclass(frozen=True, slots=True)
class OfflineCeiling:
    """What the gaps between jobs cost.

    Attributes:
        awake_joules: if all hosts stay on.
        least_joules: if each sleeps wherever that pays.
        n_sleeps: how often hosts go to sleep then.
    """

    awake_joules: float
    least_joules: float
    n_sleeps: int

    @property
    def saved_joules(self) -> float:
        """The most that sleeping saves."""
        return self.awake_joules - self.least_joules


def offline_ceiling(
    schedule: Schedule, begin: float = 0.0, end: float | None = None
) -> OfflineCeiling:
    """Return what the gaps of hosts cost at least, from a date to another; by default, in the run.

    Hosts begin awake. Epilogues, failures and unavailable times count as gaps.
    """
    last = schedule.end if end is None else end
    hosts, begins, ends = _gaps(schedule, begin, last)
    kind_of = schedule.platform.hosts.kind_of[hosts]
    awake, least, n_sleeps = [0.0], [0.0], 0
    for number, kind in enumerate(schedule.platform.hosts.kinds):
        gaps = kind_of == number
        lengths = ends[gaps] - begins[gaps]
        idle, sleeping = _costs(kind, lengths, ends[gaps] >= last)
        awake.append(math.fsum(idle.tolist()))
        least.append(math.fsum(np.minimum(idle, sleeping).tolist()))
        n_sleeps += int(np.count_nonzero(sleeping < idle))
    return OfflineCeiling(math.fsum(awake), math.fsum(least), n_sleeps)


def _gaps(
    schedule: Schedule, begin: float, end: float
) -> tuple[npt.NDArray[np.uint32], Floats, Floats]:
    record, n_hosts = schedule.record, schedule.platform.n_hosts
    if isinstance(record, _core.Record):
        return _core.host_gaps(record, n_hosts, begin, end)
    sets = list(schedule.column("hosts"))
    return _core.host_gaps(sets, record.start_time, record.finish_time, n_hosts, begin, end)


def _costs(
    kind: HostKind, lengths: Floats, is_last: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the joules of gaps that are spent idle, and asleep; infinite where that cannot be."""
    if not kind.powers:
        raise InputError(
            "offline ceiling: the platform tells no watts, expected those of its hosts"
        )
    idle: Floats = kind.powers[kind.initial_state].idle * lengths
    if not kind.sleep_states:
        return idle, np.full(len(lengths), math.inf)
    state = kind.sleep_states[0]
    off_seconds, off_joules = _switch(kind, state.switching_off)
    on_seconds, on_joules = _switch(kind, state.switching_on)
    asleep = lengths - off_seconds - np.where(is_last, 0.0, on_seconds)
    switching = off_joules + np.where(is_last, 0.0, on_joules)
    sleeping = switching + kind.powers[state.sleep].idle * asleep
    return idle, np.where(asleep >= 0, sleeping, math.inf)


def _switch(kind: HostKind, state: int) -> tuple[float, float]:
    """Return the seconds and the joules of a switch, which keeps one core busy."""
    seconds = 1.0 / kind.speeds[state]
    watts = kind.powers[state]
    return seconds, seconds * (watts.epsilon + (watts.computing - watts.epsilon) / kind.cores)
