"""How a schedule went over time: jobs, busy hosts and power, as step functions.

A value holds from its date up to the next one; what happens at one instant shows as one change.
Jobs that were rejected or cancelled are counted nowhere: when they left is not recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.errors import InputError
from noctule.metrics import window_of
from noctule.record import Floats, JobState
from noctule.saved.power_text import SWITCHED_ON
from noctule.schedule import Schedule

__all__ = [
    "SERIES",
    "Steps",
    "busy_hosts",
    "load_horizon",
    "power",
    "queue_length",
    "running_jobs",
    "span_of",
    "steps_of",
    "utilisation",
]


@dataclass(frozen=True, slots=True)
class Steps:
    """A step function of time: `value[i]` from `time[i]` on, zero before the first date."""

    time: Floats
    value: Floats

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.time)

    def at(self, time: npt.ArrayLike) -> Floats:
        """Return the values at some dates; at the date of a change, the one after it."""
        index = np.searchsorted(self.time, np.asarray(time, dtype=np.float64), side="right")
        found: Floats = np.concatenate([[0.0], self.value])[index]
        return found

    def integral(self, start: float, end: float) -> float:
        """Return the area under the function between two dates."""
        total = self.integrals(np.array([start, end]))
        return float(total[0])

    def integrals(self, edges: npt.ArrayLike) -> Floats:
        """Return the area between each two neighbours of ascending dates."""
        dates = np.asarray(edges, dtype=np.float64)
        inside = self.time[(self.time > dates[0]) & (self.time < dates[-1])]
        cuts = np.union1d(dates, inside)
        areas = self.at(cuts[:-1]) * np.diff(cuts)
        begins = np.searchsorted(cuts, dates)
        return np.array(
            [
                math.fsum(areas[first:last].tolist())
                for first, last in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
            ]
        )

    def mean(self, start: float, end: float) -> float:
        """Return the mean value between two dates; NaN if they are the same."""
        return self.integral(start, end) / (end - start) if end > start else math.nan

    def means(self, edges: npt.ArrayLike) -> Floats:
        """Return the mean value between each two neighbours of ascending dates."""
        means: Floats = self.integrals(edges) / np.diff(np.asarray(edges, dtype=np.float64))
        return means

    def maxima(self, edges: npt.ArrayLike) -> Floats:
        """Return the largest value between each two neighbours of ascending dates."""
        dates = np.asarray(edges, dtype=np.float64)
        cuts = np.union1d(dates, self.time[(self.time > dates[0]) & (self.time < dates[-1])])
        values = self.at(cuts[:-1])
        largest: Floats = np.maximum.reduceat(values, np.searchsorted(cuts, dates[:-1]))
        return largest

    def __truediv__(self, whole: float) -> Steps:
        """Return every value divided by a number."""
        return Steps(self.time, self.value / whole)


def steps_of(
    begin: Floats, end: Floats, weight: npt.ArrayLike | None = None, *, most: float = math.inf
) -> Steps:
    """Count how many intervals hold at each instant, each by its weight.

    An interval without a begin does not count, one without an end stays for ever; at equal dates
    ends and begins make one change. Values beyond `most` are cut off.
    """
    weights = np.ones(len(begin)) if weight is None else np.asarray(weight, dtype=np.float64)
    begun = ~np.isnan(begin)
    ended = begun & ~np.isnan(end)
    time = np.concatenate([end[ended], begin[begun]])
    change = np.concatenate([-weights[ended], weights[begun]])
    dates, place = np.unique(time, return_inverse=True)
    changes = np.bincount(place, weights=change, minlength=len(dates))
    # a change of nothing is none; the weights are whole, so that the sums are exact
    kept = changes != 0
    return Steps(dates[kept], np.minimum(np.cumsum(changes)[kept], most))


def queue_length(schedule: Schedule, *, unit: str = "jobs") -> Steps:
    """Return how many jobs were waiting, or with unit="hosts" how many hosts they asked for."""
    waited = ~np.isin(schedule.record.state, (JobState.REJECTED, JobState.CANCELLED))
    submit = np.where(waited, schedule.column("submit_time"), math.nan)
    return steps_of(submit, schedule.column("start_time"), _weights(schedule, unit))


def running_jobs(schedule: Schedule) -> Steps:
    """Return how many jobs were running."""
    return steps_of(schedule.column("start_time"), schedule.column("finish_time"))


def busy_hosts(schedule: Schedule) -> Steps:
    """Return how many hosts jobs held between their starts and their finishes.

    Hosts that jobs share count once a job, but never more than there are. Epilogues do not count.
    """
    record = schedule.record
    most = schedule.platform.n_hosts
    return steps_of(record.start_time, record.finish_time, record.n_hosts, most=most)


def utilisation(schedule: Schedule) -> Steps:
    """Return the share of the hosts that jobs held."""
    return busy_hosts(schedule) / schedule.platform.n_hosts


def power(schedule: Schedule) -> Steps:
    """Return the watts of all hosts, in a run that counted energy."""
    time, watts = schedule.energy.steps
    return Steps(np.append(time, schedule.energy.end), np.append(watts, 0.0))


def load_horizon(schedule: Schedule) -> Steps:
    """Return the liquid load horizon: how many seconds the waiting load would take as a liquid.

    The load is hosts x walltime of all waiting jobs, poured over the hosts that are idle, come free
    at the walltimes of running jobs, or are being switched on; hosts that are off take none.
    Between two events the horizon falls along straight lines: a step is its exact mean there, so
    that means and integrals between events are exact, too. It is infinite where nobody knows when
    hosts come free.
    """
    record = schedule.record
    waited = ~np.isin(record.state, (JobState.REJECTED, JobState.CANCELLED))
    submit = np.where(waited, record.submit_time, math.nan)
    waking = _switched_on(schedule)
    time, mean = _core.load_history(
        submit,
        record.start_time,
        record.finish_time,
        np.ascontiguousarray(schedule.column("walltime"), dtype=np.float64),
        record.n_hosts,
        record.host_state_time,
        record.host_state_idle,
        np.array([begin for begin, _, _ in waking], dtype=np.float64),
        np.array([end for _, end, _ in waking], dtype=np.float64),
        np.array([n for _, _, n in waking], dtype=np.uint32),
    )
    return Steps(time, mean)


def _switched_on(schedule: Schedule) -> list[tuple[float, float, int]]:
    """Return when hosts began to be switched on, when they were awake, and how many."""
    record = schedule.record
    begun: dict[str, float] = {}
    switches = []
    rows = zip(
        record.power_state_time.tolist(),
        record.power_state_value.tolist(),
        record.power_state_hosts,
        strict=True,
    )
    for time, value, hosts in rows:
        if value == SWITCHED_ON:
            begun[str(hosts)] = time
        elif value >= 0 and (begin := begun.pop(str(hosts), None)) is not None:
            switches.append((begin, time, len(hosts)))
    return switches


#: The series by name.
SERIES: Mapping[str, Callable[[Schedule], Steps]] = {
    "queue_length": queue_length,
    "running_jobs": running_jobs,
    "busy_hosts": busy_hosts,
    "utilisation": utilisation,
    "power": power,
    "load_horizon": load_horizon,
}


def span_of(schedule: Schedule) -> tuple[float, float]:
    """Return the dates between which something happened: first submission and latest finish.

    Without an ended job: the first and the last date of anything.
    """
    window = window_of(schedule)
    if not math.isnan(window.start):
        return window.start, window.end
    dates = np.concatenate([schedule.column("submit_time"), schedule.column("start_time")])
    if not len(dates):
        return 0.0, 0.0
    return float(np.nanmin(dates)), float(np.nanmax(dates))


def _weights(schedule: Schedule, unit: str) -> npt.NDArray[np.uint32] | None:
    if unit == "jobs":
        return None
    if unit == "hosts":
        column: npt.NDArray[np.uint32] = schedule.column("n_hosts")
        return column
    raise InputError(f"queue_length: unit: got {unit!r}, expected 'jobs' or 'hosts'")
