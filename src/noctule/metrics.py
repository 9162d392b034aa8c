"""Numbers that sum up a Schedule; pure functions, each with the jobs that it counts.

Means and the like are taken over the jobs that *ended*: they ran, and completed, timed out, failed
or were killed. Rejected and cancelled jobs never ran; they are counted apart and in no mean, and
neither are jobs still waiting or running when a run was stopped early.

Warm-up and cool-down narrow the window on which a schedule is looked at: only jobs submitted in it
are counted, and hosts are looked at during it alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.errors import InputError
from noctule.lateness import summed_up
from noctule.offline_ceiling import offline_ceiling
from noctule.rates import NO_RATES, Rates, amounts_of
from noctule.record import Floats, JobState, has_ended, is_attempt
from noctule.saved.power_text import switches_between
from noctule.schedule import Schedule

__all__ = [
    "ATTEMPTS",
    "COUNTS",
    "ENERGY",
    "FAMILIES",
    "FOOTPRINT",
    "HELD",
    "METRICS",
    "OFFLINE",
    "REPLAY",
    "STATISTICS",
    "THRESHOLD",
    "TOTALS",
    "Metric",
    "Window",
    "bounded_slowdown",
    "compare",
    "lateness",
    "makespan",
    "offline",
    "slowdown",
    "steady_window",
    "summary",
    "throughput",
    "turnaround_time",
    "utilisation",
    "waiting_time",
    "window_of",
]

#: Metrics by their names.
Numbers = dict[str, float | int]
#: Seconds below which a runtime counts as this long in a bounded slowdown.
THRESHOLD = 10.0
#: Where the steady window begins, in seconds after the first recorded submission.
WARMED_UP = 14 * 86_400.0
#: Where it ends, as a part of the recorded submission period.
STEADY_UNTIL = 0.75


@dataclass(frozen=True, slots=True)
class Metric:
    """The definition of one number, or of a family of statistics of the same quantity."""

    name: str
    unit: str
    description: str


#: Numbers of jobs.
COUNTS = (
    Metric("n_jobs", "jobs", "all jobs submitted in the window, whatever became of them"),
    Metric("n_ended", "jobs", "jobs that ran and ended: completed, timed out, killed or failed"),
    Metric("n_completed", "jobs", "jobs that ended by themselves, with success"),
    Metric("n_timed_out", "jobs", "jobs that were stopped at their walltime"),
    Metric("n_killed", "jobs", "jobs that the policy killed while they ran"),
    Metric("n_failed", "jobs", "jobs that ended by themselves, with a failure"),
    Metric("n_rejected", "jobs", "jobs that were refused, or larger than the platform"),
    Metric("n_cancelled", "jobs", "jobs whose user gave up before they were started"),
    Metric("n_running", "jobs", "jobs that were running when the run was stopped"),
    Metric("n_waiting", "jobs", "jobs that were waiting when the run was stopped"),
    Metric("n_zero_runtime", "jobs", "ended jobs whose runtime is zero: they have no slowdown"),
)
#: Numbers about the whole schedule.
TOTALS = (
    Metric(
        "makespan",
        "s",
        "latest finish less first submission, over all ended jobs, whatever the window "
        "(Batsim's own makespan is the latest finish)",
    ),
    Metric(
        "utilisation",
        "",
        "host-seconds that jobs held between their start and their finish in the window, divided "
        "by the host-seconds there are in it; running jobs count, epilogues do not",
    ),
    Metric("throughput", "jobs/s", "jobs that ended in the window, divided by its length"),
)
#: Quantities of which each job has one, and `summary` statistics.
FAMILIES = (
    Metric("waiting_time", "s", "start less submission, of ended jobs"),
    Metric("turnaround_time", "s", "finish less submission, of ended jobs"),
    Metric("slowdown", "", "turnaround time / runtime, of ended jobs with a runtime above zero"),
    Metric(
        "bounded_slowdown",
        "",
        "max(1, turnaround time / max(runtime, threshold)), of ended jobs; the threshold is 10 s "
        "by default",
    ),
)
#: Numbers of runs that counted energy; others have none of them.
ENERGY = (
    Metric("joules", "J", "energy that all hosts drew in the window"),
    Metric("mean_power", "W", "joules divided by the length of the window"),
    Metric("joules_per_job", "J", "joules divided by n_completed"),
    Metric(
        "n_switches",
        "hosts",
        "hosts for which power states were asked for in the window, once a request (Batsim's "
        "nb_machine_switches)",
    ),
    Metric(
        "n_switch_groups",
        "",
        "requests for power states in the window, on one host or on many (Batsim's "
        "nb_grouped_switches)",
    ),
)
#: Numbers that take a while, of runs that counted energy; only where they are asked for.
OFFLINE = (
    Metric(
        "offline_saving",
        "J",
        "what hosts that stay on could have saved in the window by sleeping between jobs, had "
        "somebody known the schedule",
    ),
)
#: Numbers of runs that counted energy, of which rates are known.
FOOTPRINT = (
    Metric(
        "co2_kg", "kg", "carbon dioxide of all hosts in the window: power times carbon intensity"
    ),
    Metric("cost_eur", "EUR", "price of what all hosts drew in the window"),
)
#: Numbers of runs in which jobs may be interrupted; others have none of them.
ATTEMPTS = (
    Metric("n_resubmitted", "jobs", "jobs that are a further attempt of another, as 17#2 of 17"),
    Metric(
        "lost_node_seconds",
        "s",
        "host-seconds that ended jobs held and that were lost by an interruption, or spent on "
        "launches, checkpoints and restarts",
    ),
    Metric("goodput", "", "share of the host-seconds held by ended jobs that was not lost"),
)
#: Numbers of runs in which jobs held hosts before they started; others have none of them.
HELD = (
    Metric("held_node_seconds", "s", "host-seconds that jobs held before they started"),
    Metric("occupancy", "", "utilisation, were these host-seconds counted as well"),
)
#: Numbers of runs that moved the submissions of a log; others have none of them.
REPLAY = (
    Metric(
        "mean_lateness",
        "s",
        "simulated less recorded submission, mean over the jobs submitted in the window",
    ),
    Metric(
        "relative_lateness", "", "1 + mean lateness / length of their recorded submission period"
    ),
    Metric(
        "additional_lateness",
        "s",
        "what each further job adds, were it the same for all: 2 x mean lateness / (jobs - 1)",
    ),
    Metric(
        "submission_stretch",
        "",
        "length of their simulated submission period / that of the recorded one",
    ),
    Metric(
        "steady_throughput", "jobs/s", "jobs that ended in the steady window, divided by its length"
    ),
    Metric(
        "steady_utilisation",
        "",
        "host-seconds that jobs held in the steady window, divided by those there are in it",
    ),
)
#: The statistics of each of these.
STATISTICS = ("mean", "median", "p90", "p95", "p99", "max")

#: Every number of `summary`, in its order.
METRICS = (
    *COUNTS,
    *TOTALS,
    *(
        Metric(f"{statistic}_{family.name}", family.unit, f"{statistic} of {family.name}")
        for family in FAMILIES
        for statistic in STATISTICS
    ),
)

_COUNTS_OF_STATES = tuple(f"n_{state.word}" for state in JobState)
_COUNT_NAMES = tuple(metric.name for metric in COUNTS)
_OTHER_NAMES = tuple(metric.name for metric in METRICS[len(COUNTS) :])


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of simulated time, both ends included."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds in the window; zero if its end comes before its start."""
        return max(0.0, self.end - self.start)


def window_of(schedule: Schedule, *, warm_up: float = 0.0, cool_down: float = 0.0) -> Window:
    """Return the time from the first submission to the latest finish, less what is cut off.

    Both are taken over ended jobs; without any, the window is not a number.
    """
    _check_cuts(warm_up, cool_down)
    ended = has_ended(schedule.record.state)
    if not ended.any():
        return Window(math.nan, math.nan)
    start = float(schedule.column("submit_time")[ended].min())
    end = float(schedule.column("finish_time")[ended].max())
    return Window(start + warm_up, end - cool_down)


def makespan(schedule: Schedule) -> float:
    """Return the latest finish less the first submission, over ended jobs."""
    window = window_of(schedule)
    return window.end - window.start


def waiting_time(schedule: Schedule, *, window: Window | None = None) -> Floats:
    """Return start less submission of each ended job."""
    return schedule.column("waiting_time")[_ended(schedule, window)]


def turnaround_time(schedule: Schedule, *, window: Window | None = None) -> Floats:
    """Return finish less submission of each ended job."""
    return schedule.column("turnaround_time")[_ended(schedule, window)]


def slowdown(schedule: Schedule, *, window: Window | None = None) -> Floats:
    """Return turnaround / runtime of each ended job with a runtime above zero."""
    rows = _ended(schedule, window) & (schedule.column("runtime") > 0)
    turnaround: Floats = schedule.column("turnaround_time")[rows]
    runtime: Floats = schedule.column("runtime")[rows]
    return turnaround / runtime


def bounded_slowdown(
    schedule: Schedule, *, threshold: float = THRESHOLD, window: Window | None = None
) -> Floats:
    """Return max(1, turnaround / max(runtime, threshold)) of each ended job."""
    _check_threshold(threshold)
    rows = _ended(schedule, window)
    turnaround: Floats = schedule.column("turnaround_time")[rows]
    runtime: Floats = np.maximum(schedule.column("runtime")[rows], threshold)
    return np.maximum(turnaround / runtime, 1.0)


def utilisation(schedule: Schedule, *, window: Window | None = None) -> float:
    """Return the share of the host-seconds in the window that jobs held."""
    window = window or window_of(schedule)
    record = schedule.record
    started = ~np.isnan(record.start_time)
    start = np.maximum(record.start_time[started], window.start)
    finish = record.finish_time[started]
    end = np.minimum(np.where(np.isnan(finish), window.end, finish), window.end)
    held = record.n_hosts[started] * np.maximum(end - start, 0.0)
    return _ratio(_sum(held), schedule.platform.n_hosts * window.length)


def throughput(schedule: Schedule, *, window: Window | None = None) -> float:
    """Return how many jobs ended in the window per second of it."""
    window = window or window_of(schedule)
    finish = schedule.column("finish_time")[has_ended(schedule.record.state)]
    n_ended = np.count_nonzero((finish >= window.start) & (finish <= window.end))
    return _ratio(int(n_ended), window.length)


def lateness(schedule: Schedule, *, window: Window | None = None) -> Floats:
    """Return simulated less recorded submission of each job of which the log knows."""
    rows, recorded = _replayed(schedule, window)
    submit: Floats = schedule.column("submit_time")[rows]
    return submit - recorded


def steady_window(schedule: Schedule, *, length: float | None = None) -> Window:
    """Return a stretch of the recorded submission period that is free of edge effects.

    It begins two weeks after the first submission, when the machine has filled up, and lasts for
    `length` seconds, or to three quarters of the period: behind that, users of another machine run
    out of recorded jobs, earlier or later than the log does. Recorded dates make it the same for
    all replays of a log. It is not a number if nothing is left, or if it would outlast the period.
    """
    _, dates = _replayed(schedule, None)
    if not len(dates):
        return Window(math.nan, math.nan)
    first, last = float(dates.min()), float(dates.max())
    start = first + WARMED_UP
    end = first + STEADY_UNTIL * (last - first) if length is None else start + length
    return Window(start, end) if start < end <= last else Window(math.nan, math.nan)


def summary(
    schedule: Schedule,
    *,
    warm_up: float = 0.0,
    cool_down: float = 0.0,
    threshold: float = THRESHOLD,
    rates: Rates = NO_RATES,
) -> dict[str, float | int]:
    """Return every number of METRICS, in that order; NaN where there is nothing to measure.

    Those of ATTEMPTS follow if jobs may have been interrupted, those of HELD if they held hosts
    before they started, those of REPLAY if submissions were moved, those of ENERGY if it was
    counted, and those of FOOTPRINT as far as rates tell them.
    """
    _check_cuts(warm_up, cool_down)
    _check_threshold(threshold)
    record = schedule.record
    of_state, n_zero_runtime, totals, families = _core.summarise(
        record.state,
        record.n_hosts,
        record.submit_time,
        record.start_time,
        record.finish_time,
        *(schedule.printed(name) for name in ("waiting_time", "turnaround_time", "runtime")),
        n_hosts_of_platform=schedule.platform.n_hosts,
        warm_up=warm_up,
        cool_down=cool_down,
        threshold=threshold,
    )
    numbers = named(of_state, n_zero_runtime, totals, families)
    window = window_of(schedule, warm_up=warm_up, cool_down=cool_down)
    if len(record.useful_time):
        numbers |= _attempts(schedule, window)
    if schedule.held is not None:
        numbers |= _held(schedule, window, numbers["utilisation"])
    if schedule.moves_submissions:
        numbers |= _replay(schedule, window if warm_up or cool_down else None)
    if schedule.counts_energy:
        if window.end >= window.start:
            numbers |= _energy(schedule, window, int(numbers["n_completed"]))
            numbers |= amounts_of(schedule.energy, rates, window.start, window.end)
        else:  # nothing ended, or all was cut off
            unknown = (*(metric.name for metric in ENERGY), *rates.by_amount)
            numbers |= dict.fromkeys(unknown, math.nan)
    return numbers


def offline(schedule: Schedule, *, warm_up: float = 0.0, cool_down: float = 0.0) -> Numbers:
    """Return every number of OFFLINE; NaN where there is nothing to measure."""
    window = window_of(schedule, warm_up=warm_up, cool_down=cool_down)
    if not window.end >= window.start:
        return {metric.name: math.nan for metric in OFFLINE}
    return {"offline_saving": offline_ceiling(schedule, window.start, window.end).saved_joules}


def _attempts(schedule: Schedule, window: Window) -> Numbers:
    rows = _ended(schedule, window)
    record = schedule.record
    held = record.n_hosts[rows] * schedule.column("runtime")[rows]
    useful = _sum(record.n_hosts[rows] * record.useful_time[rows])
    ids = schedule.column("job_id")[_submitted(schedule, window)].tolist()
    return {
        "n_resubmitted": sum(map(is_attempt, ids)),
        "lost_node_seconds": _sum(held) - useful,
        "goodput": _ratio(useful, _sum(held)),
    }


def _held(schedule: Schedule, window: Window, utilised: float) -> Numbers:
    held = _sum(schedule.column("held_node_seconds")[_submitted(schedule, window)])
    share = _ratio(held, schedule.platform.n_hosts * window.length)
    return {"held_node_seconds": held, "occupancy": utilised + share}


def _replay(schedule: Schedule, window: Window | None) -> Numbers:
    rows, recorded = _replayed(schedule, window)
    found = summed_up(recorded, schedule.column("submit_time")[rows])
    steady = steady_window(schedule)
    return {
        "mean_lateness": found.mean_lateness,
        "relative_lateness": found.relative_lateness,
        "additional_lateness": found.additional_lateness,
        "submission_stretch": found.submission_stretch,
        "steady_throughput": throughput(schedule, window=steady),
        "steady_utilisation": utilisation(schedule, window=steady),
    }


def _energy(schedule: Schedule, window: Window, n_completed: int) -> Numbers:
    dates = window.start, window.end
    joules = schedule.energy.joules(*dates)
    n_groups, n_switches = switches_between(schedule.record, schedule.platform.n_hosts, *dates)
    return {
        "joules": joules,
        "mean_power": _ratio(joules, window.length),
        "joules_per_job": _ratio(joules, n_completed),
        "n_switches": n_switches,
        "n_switch_groups": n_groups,
    }


def named(
    of_state: Sequence[int],
    n_zero_runtime: int,
    totals: Sequence[float],
    families: Sequence[Sequence[float]],
) -> Numbers:
    """Return what the core has summed up under the names of METRICS."""
    special = {
        "n_jobs": sum(of_state),
        "n_ended": sum(of_state[JobState.COMPLETED : JobState.FAILED + 1]),
        "n_zero_runtime": n_zero_runtime,
    }
    counts = special | dict(zip(_COUNTS_OF_STATES, of_state, strict=True))
    numbers: Numbers = {name: counts[name] for name in _COUNT_NAMES}
    others = itertools.chain(totals, *families)
    return numbers | dict(zip(_OTHER_NAMES, others, strict=True))


def compare(
    schedules: Iterable[tuple[str, Schedule]],
    *,
    warm_up: float = 0.0,
    cool_down: float = 0.0,
    threshold: float = THRESHOLD,
    rates: Rates = NO_RATES,
) -> list[tuple[str, dict[str, float | int]]]:
    """Return the summary of each named schedule, cut and bounded in the same way."""
    cuts = {"warm_up": warm_up, "cool_down": cool_down}
    return [
        (name, summary(schedule, **cuts, threshold=threshold, rates=rates))
        for name, schedule in schedules
    ]


def _check_cuts(warm_up: float, cool_down: float) -> None:
    for name, value in (("warm_up", warm_up), ("cool_down", cool_down)):
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"metrics: {name}: got {value}, expected a number >= 0")


def _check_threshold(threshold: float) -> None:
    if not (math.isfinite(threshold) and threshold > 0):
        raise InputError(f"metrics: threshold: got {threshold}, expected a positive number")


def _ended(schedule: Schedule, window: Window | None) -> npt.NDArray[np.bool_]:
    return has_ended(schedule.record.state) & _submitted(schedule, window)


def _submitted(schedule: Schedule, window: Window | None) -> npt.NDArray[np.bool_]:
    if window is None:
        return np.full(len(schedule), True)
    submit = schedule.column("submit_time")
    return (submit >= window.start) & (submit <= window.end)


def _replayed(schedule: Schedule, window: Window | None) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Return which jobs of the log were submitted in the window, and when the log has them."""
    recorded: Floats = schedule.column("recorded_submit_time")
    rows = _submitted(schedule, window) & ~np.isnan(recorded)
    return rows, recorded[rows]


def _sum(values: Floats) -> float:
    """Add up exactly: the same on every machine, whatever the order of the additions."""
    try:
        return math.fsum(values.tolist())
    except OverflowError:
        return math.inf


def _ratio(amount: float, whole: float) -> float:
    return amount / whole if whole > 0 else math.nan
