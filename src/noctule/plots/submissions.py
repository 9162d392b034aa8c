"""Figures of when users submit, and of how replays with feedback move the jobs of a log.

Every function draws named schedules into a Matplotlib Axes; `noctule.plots.replays` puts them
together. What was recorded is grey, where a run moved it.

After figures 2, 3, 7, 8 and 10 of Madon, Da Costa, Pierson, "Replay with feedback", Future
Generation Computer Systems 2024.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.formats.local_time import HOURS, LocalClock
from noctule.metrics import Window, lateness
from noctule.plots.runs import Runs, named
from noctule.plots.style import PALETTE, legend_above, line_style
from noctule.plots.texts import finish_time_axis, plain, time_unit
from noctule.record import Floats, has_ended
from noctule.schedule import Schedule
from noctule.user_metrics import coded_users

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "draw_arrivals",
    "draw_cumulative",
    "draw_differences",
    "draw_submissions",
    "draw_week",
    "submission_span",
]

_HOUR, _DAY, _WEEK = 3600.0, 86_400.0, 604_800.0
_LOG = "0.82"
_MAX_POINTS = 300
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def draw_submissions(axes: Axes, runs: Runs, *, window: Window | None = None) -> None:
    """Show how many jobs a day were submitted over time, one line a run (figure 2).

    They are counted by the week, in stretches of less than two months by the day, and in those of
    less than a week by the hour. Without a window, all of them are shown.
    """
    shown = window or submission_span(runs)
    width = next((w for w, least in ((_WEEK, 8 * _WEEK), (_DAY, _WEEK)) if shown.length > least), 0)
    width = width or _HOUR
    n_bins = max(1, math.ceil(shown.length / width))
    edges = shown.start + width * np.arange(n_bins + 1)
    unit, _ = time_unit(shown)

    def a_day(dates: Floats) -> Floats:
        counts, _ = np.histogram(dates, edges)
        return counts / (width / _DAY)

    log = _log_of(runs)
    if log is not None:
        axes.stairs(a_day(log), edges / unit, fill=True, color=_LOG, label="log")
    for i, (name, schedule) in enumerate(runs):
        dates = schedule.column("submit_time")
        axes.stairs(a_day(dates), edges / unit, baseline=None, label=plain(name), **line_style(i))
    finish_time_axis(axes, shown, "submissions a day")
    axes.set_ylim(bottom=0)
    legend_above(axes)


def draw_cumulative(
    axes: Axes, runs: Runs, *, what: str = "submitted", window: Window | None = None
) -> None:
    """Show how many jobs were submitted, or finished, up to each date (figure 3)."""
    if what not in ("submitted", "finished"):
        raise InputError(f"cumulative: what: got {what!r}, expected 'submitted' or 'finished'")
    lines = [(name, _dates(schedule, what)) for name, schedule in runs]
    shown = window or _span([*(dates for _, dates in lines), *_known_log(runs)])
    unit, _ = time_unit(shown)
    log = _log_of(runs)
    if log is not None and what == "submitted":
        axes.plot(*_counted(log, unit), color=_LOG, linewidth=4, label="log")
    for i, (name, dates) in enumerate(lines):
        axes.plot(*_counted(dates, unit), label=plain(name), **line_style(i))
    finish_time_axis(axes, shown, f"jobs {what}")
    axes.set_ylim(bottom=0)
    legend_above(axes)


def draw_differences(axes: Axes, runs: Runs, *, reference: str | None = None) -> None:
    """Show how much later each run submitted its jobs than the log, or another run (figure 7)."""
    runs = named(runs)
    if reference is None:
        rows = [(name, lateness(schedule)) for name, schedule in runs]
        label = "later than in the log (days)"
    else:
        others = dict(runs)
        if reference not in others:
            known = ", ".join(others)
            raise InputError(f"differences: no run {reference!r}, expected one of {known}")
        other = others.pop(reference)
        rows = [(name, _later(schedule, other)) for name, schedule in others.items()]
        label = f"later than with {plain(reference)} (days)"
    spreads(axes, [(name, values / _DAY) for name, values in rows])
    axes.set_xlabel(label)


def draw_week(axes: Axes, runs: Runs, *, clock: LocalClock | None = None) -> None:
    """Show how many jobs were submitted in each hour of the week, in the mean (figure 8).

    Without the clock of the log, weeks begin at time 0.
    """
    runs = named(runs)
    log = _log_of(runs)
    if log is not None:
        axes.stairs(_by_hour(log, clock), fill=True, color=_LOG, label="log")
    for i, (name, schedule) in enumerate(runs):
        hours = _by_hour(schedule.column("submit_time"), clock)
        axes.stairs(hours, baseline=None, label=plain(name), **line_style(i))
    days = _DAYS if clock is not None else [f"day {day}" for day in range(1, 8)]
    axes.set_xticks(range(0, HOURS, 24), days)
    axes.set_xlim(0, HOURS)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("submissions an hour")
    axes.grid(axis="x")
    legend_above(axes)


def draw_arrivals(axes: Axes, runs: Runs, *, window: Window | None = None) -> None:
    """Show when each user submitted for the first time, one row a run (figure 10).

    The coloured lines are the first and the last submission of the log.
    """
    shown = window or submission_span(runs)
    unit, _ = time_unit(shown)
    for row, (name, schedule) in enumerate(reversed(runs)):
        first = _first_submissions(name, schedule)
        axes.vlines(first / unit, row - 0.35, row + 0.35, color=PALETTE[0], linewidth=0.7)
    for log in _known_log(runs):
        if len(log):
            ends = np.array([log.min(), log.max()]) / unit
            axes.vlines(ends, -0.5, len(runs) - 0.5, color=PALETTE[3], linewidth=1.5)
    finish_time_axis(axes, shown, "")
    axes.set_yticks(range(len(runs)), [plain(name) for name, _ in reversed(runs)])
    axes.set_ylim(-0.6, len(runs) - 0.4)
    axes.margins(x=0.01)


def spreads(axes: Axes, rows: Sequence[tuple[str, Floats]]) -> None:
    """Show the distributions of some values, one row each: from the 10th to the 90th percentile.

    The box goes from the first quartile to the third, the mark is the median. Values that are no
    numbers are left out.
    """
    for row, (_, values) in enumerate(reversed(rows)):
        known = values[np.isfinite(values)]
        if not len(known):
            continue
        p10, p25, median, p75, p90 = np.percentile(known, [10, 25, 50, 75, 90]).tolist()
        axes.plot([p10, p90], [row, row], color=PALETTE[0], linewidth=1.2)
        axes.plot([p25, p75], [row, row], color=PALETTE[0], linewidth=6, alpha=0.5)
        axes.plot([median], [row], "|", color=PALETTE[3], markersize=10)
    axes.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(rows)), [plain(name) for name, _ in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.grid(axis="x")


def _dates(schedule: Schedule, what: str) -> Floats:
    dates: Floats = schedule.column("submit_time")
    if what == "finished":
        dates = schedule.column("finish_time")[has_ended(schedule.record.state)]
    return dates


def _counted(dates: Floats, unit: float) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return points of how many dates have passed, few enough to draw."""
    ordered = np.sort(dates) / unit
    rank = np.unique(np.linspace(0, len(ordered) - 1, _MAX_POINTS).round().astype(np.intp))
    rank = rank[rank >= 0]
    return ordered[rank], rank + 1


def _log_of(runs: Runs) -> Floats | None:
    """Return the recorded submissions of the first run that moved them."""
    return next(iter(_known_log(runs)), None)


def _known_log(runs: Runs) -> list[Floats]:
    moved = (schedule for _, schedule in runs if schedule.moves_submissions)
    known = (schedule.column("recorded_submit_time") for schedule in moved)
    return [dates[~np.isnan(dates)] for dates in known][:1]


def submission_span(runs: Runs) -> Window:
    """Return the time from the first to the last submission, of the runs and of their log."""
    runs = named(runs)
    dates = [schedule.column("submit_time") for _, schedule in runs]
    return _span([*dates, *_known_log(runs)])


def _span(series: Sequence[Floats]) -> Window:
    some = [dates for dates in series if len(dates)]
    if not some:
        raise InputError("picture: got no job, expected runs with some")
    return Window(min(float(d.min()) for d in some), max(float(d.max()) for d in some))


def _later(schedule: Schedule, other: Schedule) -> Floats:
    """Return how much later jobs were submitted than the same ones in another run."""
    before = dict(zip(_keys(other), other.column("submit_time").tolist(), strict=True))
    known = [before.get(key, math.nan) for key in _keys(schedule)]
    late: Floats = schedule.column("submit_time") - np.array(known, dtype=np.float64)
    return late


def _keys(schedule: Schedule) -> list[tuple[str, str]]:
    workloads, ids = schedule.column("workload").tolist(), schedule.column("job_id").tolist()
    return list(zip(workloads, map(str, ids), strict=True))


def _by_hour(dates: Floats, clock: LocalClock | None) -> Floats:
    """Return the mean number of dates in each hour of the week."""
    if not len(dates):
        return np.zeros(HOURS)
    hours = (dates % _WEEK // _HOUR).astype(int) if clock is None else clock.hours_of_week(dates)
    n_weeks = max(1.0, float(dates.max() - dates.min()) / _WEEK)
    return np.bincount(hours, minlength=HOURS) / n_weeks


def _first_submissions(name: str, schedule: Schedule) -> Floats:
    users, code = coded_users(schedule.column("user"))
    first: Floats = np.full(len(users), math.inf)
    np.minimum.at(first, code, schedule.column("submit_time"))
    known: list[Any] = [i for i, user in enumerate(users) if user is not None]
    if not known:
        raise InputError(f"{name}: no job has a user, expected a run that tells them")
    return first[known]
