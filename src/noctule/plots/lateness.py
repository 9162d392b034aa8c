"""Figures of how late users were, of what that depends on, and of the rebound.

Every function draws into a Matplotlib Axes; `noctule.plots.replays` puts them together.

After figures 4, 5, 6, 9 and 11 of Madon, Da Costa, Pierson, "Replay with feedback", Future
Generation Computer Systems 2024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noctule import metrics
from noctule.errors import InputError
from noctule.lateness import Lateness, additional_lateness
from noctule.metrics import steady_window
from noctule.plots.runs import Runs, named
from noctule.plots.style import PALETTE, legend_above, line_style
from noctule.plots.submissions import spreads
from noctule.plots.texts import plain, scale_numbers, write_numbers
from noctule.schedule import Schedule
from noctule.sessions import Sessions, session_stats
from noctule.user_metrics import lateness_of_users

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MONTH",
    "draw_lateness_spread",
    "draw_rebound",
    "draw_scaling",
    "draw_session_graphs",
    "draw_user_lateness",
]

_DAY = 86_400.0
#: Seconds of a month, of which steady windows last some.
MONTH = 30 * _DAY


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a user's lateness is told in, and below which values its axis is linear."""

    label: str
    unit: float
    linear: float


# What is drawn of users.
_MEASURES: Mapping[str, _Measure] = {
    "mean_lateness": _Measure("mean lateness (days)", _DAY, 0.01),
    "additional_lateness": _Measure("additional lateness (s)", 1.0, 10.0),
}
_REBOUNDS = {"throughput": "jobs a day", "utilisation": "hosts in use"}
_GRAPHS = {"longest_path": "longest path (sessions)", "arity": "sessions that depend on one"}


def draw_user_lateness(axes: Axes, runs: Runs, *, measure: str = "mean_lateness") -> None:
    """Show how late each user was, beside how many jobs she submitted (figures 4 and 5).

    Both axes are logarithmic, that of the lateness to both sides of zero.
    """
    told = _measure(measure)
    everybody = [(name, _users(name, schedule)) for name, schedule in named(runs)]
    scale_numbers(axes.xaxis, [user.n_jobs for _, users in everybody for user in users])
    axes.set_yscale("symlog", linthresh=told.linear)
    write_numbers(axes.yaxis)
    for i, (name, users) in enumerate(everybody):
        n_jobs = [user.n_jobs for user in users]
        late = [getattr(user, measure) / told.unit for user in users]
        colour = PALETTE[i % len(PALETTE)]
        axes.plot(n_jobs, late, "o", markersize=3, alpha=0.6, color=colour, label=plain(name))
    axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set_xlabel("jobs of the user")
    axes.set_ylabel(told.label)
    legend_above(axes)


def draw_lateness_spread(axes: Axes, runs: Runs, *, measure: str = "additional_lateness") -> None:
    """Show the distribution of users' lateness, one row a run (figure 5c)."""
    told = _measure(measure)
    runs = named(runs)
    rows = [
        (name, np.array([getattr(user, measure) for user in _users(name, schedule)]) / told.unit)
        for name, schedule in runs
    ]
    spreads(axes, rows)
    axes.set_xscale("symlog", linthresh=told.linear)
    write_numbers(axes.xaxis)
    axes.set_xlabel(f"{told.label} of users")


def draw_session_graphs(
    axes: Axes, sessions: Sequence[tuple[str, Sessions]], *, measure: str = "longest_path"
) -> None:
    """Show which share of the users has a path, or an arity, of at most so much (figure 6)."""
    if measure not in _GRAPHS:
        raise InputError(
            f"session_graphs: measure: got {measure!r}, expected one of {', '.join(_GRAPHS)}"
        )
    for i, (name, found) in enumerate(sessions):
        values = sorted(getattr(user, measure) for user in session_stats(found).users)
        shares = np.arange(1, len(values) + 1) / len(values)
        axes.step(values, shares, where="post", label=plain(name), **line_style(i))
    axes.set_xscale("symlog" if measure == "arity" else "log")
    write_numbers(axes.xaxis)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(_GRAPHS[measure])
    axes.set_ylabel("share of users")
    axes.grid(visible=True)
    legend_above(axes)


def draw_rebound(
    axes: Axes,
    runs: Runs,
    *,
    measure: str = "throughput",
    lengths: Sequence[float | None] = (None,),
) -> None:
    """Show throughput or utilisation in windows free of edge effects, as bars (figure 9).

    `lengths` are those of the windows, in seconds; None is that of `metrics.steady_window`. A log
    that is too short for a window has no bar.
    """
    if measure not in _REBOUNDS:
        raise InputError(f"rebound: measure: got {measure!r}, expected throughput or utilisation")
    runs = named(runs)
    heights = [[_in_window(s, measure, length) for _, s in runs] for length in lengths]
    if all(math.isnan(height) for bars in heights for height in bars):
        raise InputError(
            "rebound: got logs that are too short for a window free of edge effects, expected some "
            "that last longer"
        )
    width = 0.8 / len(lengths)
    for i, (length, bars) in enumerate(zip(lengths, heights, strict=True)):
        at = np.arange(len(runs)) + (i - (len(lengths) - 1) / 2) * width
        label = "steady window" if length is None else f"{length / MONTH:g} months"
        axes.bar(at, bars, width, color=PALETTE[i % len(PALETTE)], label=label)
    axes.set_xticks(range(len(runs)), [plain(name) for name, _ in runs], rotation=30, ha="right")
    axes.set_ylabel(_REBOUNDS[measure])
    axes.grid(axis="y")
    legend_above(axes)


def draw_scaling(axes: Axes, series: Mapping[str, Sequence[Schedule | tuple[int, float]]]) -> None:
    """Show the additional lateness of ever longer parts of a log, one line a series (figure 11).

    A series has a run of each part, or what is drawn of it: its jobs and their additional lateness.
    """
    for i, (name, parts) in enumerate(series.items()):
        points = [_point(part) if isinstance(part, Schedule) else part for part in parts]
        sizes, late = zip(*sorted(points), strict=True)
        axes.plot(sizes, late, marker="o", markersize=3, label=plain(name), **line_style(i))
    axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("first jobs of the log")
    axes.set_ylabel("additional lateness (s)")
    axes.grid(axis="y")
    legend_above(axes)


def _measure(name: str) -> _Measure:
    if name not in _MEASURES:
        raise InputError(f"measure: got {name!r}, expected one of {', '.join(_MEASURES)}")
    return _MEASURES[name]


def _users(name: str, schedule: Schedule) -> list[Lateness]:
    users = lateness_of_users(schedule)
    users.pop(None, None)
    if not users:
        raise InputError(f"{name}: no job has a user, expected a run that tells them")
    return list(users.values())


def _point(schedule: Schedule) -> tuple[int, float]:
    late = metrics.lateness(schedule)
    return len(schedule), additional_lateness(np.zeros(len(late)), late)


def _in_window(schedule: Schedule, measure: str, length: float | None) -> float:
    window = steady_window(schedule, length=length)
    if measure == "throughput":
        return metrics.throughput(schedule, window=window) * _DAY
    return metrics.utilisation(schedule, window=window)
