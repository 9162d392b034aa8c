"""Where the capacity of a machine went: host-seconds in which jobs ran, and why others were lost.

At each moment every host is counted once, so that the parts sum to all hosts, and over time to
hosts x seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.columns import Floats
from noctule.metrics import Metric, Window
from noctule.schedule import Schedule
from noctule.timeseries import Steps, span_of
from noctule.waits.closings import Closings
from noctule.waits.hosts import KINDS, IdleHosts
from noctule.waits.queue import Asked, Counts, Queue
from noctule.windows import Windows
from noctule.workload import Workload

__all__ = ["PARTS", "Capacity", "capacity", "lost_capacity"]

#: What hosts can be counted as.
PARTS = (
    Metric("busy", "s", "host-seconds in which hosts held jobs, or were in their epilogues"),
    Metric("empty_queue", "s", "idle, and no job waited"),
    Metric("fragmentation", "s", "idle while jobs waited, each of which needed more hosts"),
    Metric(
        "draining",
        "s",
        "idle while a job waited that needed no more hosts: they were kept for others, or nobody "
        "started it",
    ),
    Metric("reserved", "s", "idle in a reservation, which kept them for its jobs"),
    Metric("switching", "s", "being switched on or off"),
    Metric("off", "s", "switched off or asleep"),
    Metric("down", "s", "failed, unavailable or in maintenance, whatever they did"),
)
_NAMES = tuple(part.name for part in PARTS)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many hosts were what: from `time[i]` on `hosts[i, k]` of them were the k-th of PARTS."""

    n_hosts: int
    time: Floats
    hosts: npt.NDArray[np.uint32]
    window: Window

    def steps(self, part: str) -> Steps:
        """Return how many hosts were one of PARTS, over time."""
        return Steps(self.time, self.hosts[:, _NAMES.index(part)].astype(np.float64))

    def totals(self, window: Window | None = None) -> dict[str, float]:
        """Return the host-seconds of each of PARTS in a window; without one, of the whole run."""
        window = window or self.window
        if not window.length > 0:
            return dict.fromkeys(_NAMES, math.nan if math.isnan(window.start) else 0.0)
        inside = (self.time > window.start) & (self.time < window.end)
        cuts = np.concatenate([[window.start], self.time[inside], [window.end]])
        hosts = self._at(cuts[:-1])
        seconds = np.diff(cuts)
        return {name: math.fsum((hosts[:, k] * seconds).tolist()) for k, name in enumerate(_NAMES)}

    def _at(self, dates: Floats) -> npt.NDArray[np.uint32]:
        place = np.searchsorted(self.time, dates, side="right")
        before = np.zeros((1, len(_NAMES)), dtype=np.uint32)
        before[0, _NAMES.index("empty_queue")] = self.n_hosts
        found: npt.NDArray[np.uint32] = np.concatenate([before, self.hosts])[place]
        return found


def capacity(
    schedule: Schedule, *, windows: Windows | None = None, workload: Workload | None = None
) -> Capacity:
    """Count what hosts did, over time.

    `windows` are those of the run, of which a schedule does not know: without them, hosts that a
    reservation keeps count as draining, or as whatever else idle hosts do. The `workload` tells a
    schedule that was read from files when users gave up: without it, cancelled jobs never waited.
    """
    closings = Closings(schedule, windows)
    asked = Asked.of(schedule, workload)
    queue = Queue.of(schedule, closings.reservations(asked), asked)
    idle_hosts = IdleHosts.of(schedule)
    competes = queue.own < 0
    submit, left = queue.submit[competes], queue.left[competes]
    reservations = closings.reserved(0.0, schedule.end)
    edges = [np.concatenate([[a, b], kept.time]) for a, b, kept in reservations]
    time = np.unique(np.concatenate([idle_hosts.time, submit, left, *edges]))
    found = {kind: idle_hosts.only(kind).at(time) for kind in KINDS}
    reserved = np.zeros(len(time), dtype=np.int64)
    for begin, end, kept in reservations:
        reserved += np.where((begin <= time) & (time < end), kept.at(time), 0)
    reserved = np.minimum(reserved, found["idle"])
    idle = found["idle"] - reserved
    needed = queue.needed[competes].astype(np.float64)
    least = _core.least_waiting(time, submit, left, needed)
    parts = _split(idle, least)
    idle_in_some_way = np.sum(list(found.values()), axis=0, dtype=np.int64)
    parts |= {
        "reserved": reserved,
        "switching": found["waking"] + found["falling_asleep"],
        "off": found["asleep"],
        "down": found["down"],
        "busy": np.full(len(time), idle_hosts.n_hosts) - idle_in_some_way,
    }
    hosts = np.stack([parts[name] for name in _NAMES], axis=1).astype(np.uint32)
    return Capacity(idle_hosts.n_hosts, time, hosts, Window(*span_of(schedule)))


def lost_capacity(
    schedule: Schedule,
    *,
    window: Window | None = None,
    windows: Windows | None = None,
    workload: Workload | None = None,
) -> dict[str, float]:
    """Return the host-seconds of each of PARTS in a window; without one, of the whole run.

    A run lasts from its first submission to its latest finish.
    """
    return capacity(schedule, windows=windows, workload=workload).totals(window)


def _split(idle: Counts, least: Floats) -> dict[str, Counts]:
    """Say what kept hosts idle, given how many the most modest of the waiting jobs needs."""
    is_empty, fits = np.isinf(least), least <= idle
    return {
        "empty_queue": np.where(is_empty, idle, 0),
        "fragmentation": np.where(~is_empty & ~fits, idle, 0),
        "draining": np.where(fits, idle, 0),
    }
