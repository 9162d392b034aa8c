"""What happened over time: hosts in use, waiting jobs, watts and joules, and ladders of jobs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noctule import metrics
from noctule.metrics import Window
from noctule.plots.panels import in_panels
from noctule.plots.runs import Runs, common_span, named
from noctule.plots.style import GUIDE, PALETTE, figure_of, legend_above, line_style
from noctule.plots.texts import (
    count_from_zero,
    finish_time_axis,
    name_panel,
    plain,
    time_unit,
    unit_of,
)
from noctule.rates import NO_RATES, Rate, Rates
from noctule.record import Floats, JobState, has_ended
from noctule.schedule import Schedule
from noctule.timeseries import Steps, busy_hosts, load_horizon, queue_length, steps_of
from noctule.timeseries import power as power_over_time
from noctule.timeseries import utilisation as utilisation_over_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_STEPS = 800
_BINS = 400
_MAX_POINTS = 600
_JOULES = ((3.6e9, "MWh"), (3.6e6, "kWh"), (3.6e3, "Wh"), (1.0, "J"))
_WAITING, _RUNNING = "#f6d8a6", "#bcd7ea"


def utilisation(runs: Schedule | Runs, *, window: Window | None = None, columns: int = 2) -> Figure:
    """Show the share of the hosts in use over time, one panel a run, and its mean."""
    panes = named(runs)
    span = window or common_span(panes)
    with figure_of(len(panes), 1.3, columns=columns) as (figure, panels):
        for axes, (name, schedule) in zip(panels, panes, strict=True):
            draw_utilisation(axes, schedule, window=window, span=span)
            name_panel(axes, name, axes.get_title(loc="left"))
        return figure


def draw_utilisation(
    axes: Axes, schedule: Schedule, *, window: Window | None = None, span: Window | None = None
) -> None:
    """Show the share of the hosts in use over time, and its mean.

    Without a window, the mean is that of `noctule.metrics`, over the run's own time; what is shown
    is the `span`, or the run's time.
    """
    span = window or span or common_span(schedule)
    mean = metrics.utilisation(schedule, window=window)
    values, edges = sampled(utilisation_over_time(schedule), span)
    unit, _ = time_unit(span)
    axes.stairs(values, edges / unit, fill=True, color=PALETTE[0], alpha=0.8)
    axes.axhline(mean, color=GUIDE, linewidth=0.9, linestyle="dashed")
    axes.set_title("no job ended" if math.isnan(mean) else f"mean {mean:.3f}", loc="left")
    axes.set_ylim(0, 1.05)
    finish_time_axis(axes, span, "hosts in use")


def queue(
    runs: Schedule | Runs,
    *,
    window: Window | None = None,
    unit: str = "jobs",
    columns: int = 2,
) -> Figure:
    """Show how many jobs were waiting over time, or how many hosts they asked for."""
    with figure_of(1, 2.2, columns=columns) as (figure, (axes,)):
        draw_queue(axes, runs, window=window, unit=unit)
        return figure


def draw_queue(
    axes: Axes, runs: Schedule | Runs, *, window: Window | None = None, unit: str = "jobs"
) -> None:
    """Show how many jobs were waiting over time, or how many hosts they asked for."""
    what = "waiting jobs" if unit == "jobs" else "hosts that waiting jobs ask for"
    _draw_lines(axes, runs, lambda schedule: queue_length(schedule, unit=unit), window, what)
    count_from_zero(axes)


def power(
    runs: Schedule | Runs,
    *,
    window: Window | None = None,
    rates: Rates = NO_RATES,
    columns: int = 2,
) -> Figure:
    """Show the power of all hosts over time, one line a run, and the rates below it."""
    panes = named(runs)
    span = window or common_span(panes)
    others = {
        label: rate
        for label, rate in (("g CO2 / kWh", rates.carbon), ("EUR / kWh", rates.price))
        if rate is not None
    }
    with figure_of(1 + len(others), 1.5 if others else 2.2, columns=columns) as (figure, panels):
        first, *rest = panels
        draw_power(first, panes, window=span)
        first.label_outer()
        for axes, (label, rate) in zip(rest, others.items(), strict=True):
            _draw_rate(axes, rate, span, label)
        return figure


def draw_power(axes: Axes, runs: Schedule | Runs, *, window: Window | None = None) -> None:
    """Show the power of all hosts over time, one line a run."""
    _draw_lines(axes, runs, lambda schedule: power_over_time(schedule) / 1000.0, window, "kW")


def _draw_rate(axes: Axes, rate: Rate, span: Window, label: str) -> None:
    """Draw a rate as it is, or by means over short intervals if it has many steps."""
    inside = rate.changes(span.start, span.end, _MAX_STEPS)
    edges = np.linspace(span.start, span.end, _BINS + 1)
    if inside is not None:
        edges = np.concatenate([[span.start], inside, [span.end]])
    unit, _ = time_unit(span)
    values = rate.means(edges[:-1], edges[1:])
    axes.stairs(values, edges / unit, baseline=None, color=PALETTE[-1], linewidth=1.0)
    if min(rate.value) >= 0:
        axes.set_ylim(bottom=0)
    finish_time_axis(axes, span, label)


def energy(runs: Schedule | Runs, *, window: Window | None = None, columns: int = 2) -> Figure:
    """Show how much all hosts had drawn up to each date, one line a run."""
    with figure_of(1, 2.2, columns=columns) as (figure, (axes,)):
        draw_energy(axes, runs, window=window)
        return figure


def draw_energy(axes: Axes, runs: Schedule | Runs, *, window: Window | None = None) -> None:
    """Show how much all hosts had drawn since the first date shown, one line a run."""
    panes = named(runs)
    span = window or common_span(panes)
    unit, _ = time_unit(span)
    edges = np.linspace(span.start, span.end, _BINS + 1)
    drawn = [np.append(0.0, power_over_time(s).integrals(edges).cumsum()) for _, s in panes]
    most = max(float(joules[-1]) for joules in drawn)
    joules, name = next((one for one in _JOULES if most >= 2 * one[0]), _JOULES[-1])
    for i, ((label, schedule), values) in enumerate(zip(panes, drawn, strict=True)):
        # a run that is over draws nothing more
        there = edges <= max(schedule.energy.end, span.start)
        axes.plot(edges[there] / unit, values[there] / joules, label=plain(label), **line_style(i))
    axes.set_ylim(bottom=0)
    finish_time_axis(axes, span, f"energy ({name})")
    legend_above(axes)


def demand(runs: Schedule | Runs, *, window: Window | None = None, columns: int = 2) -> Figure:
    """Show what was asked of the machine over time, one panel a run."""
    return in_panels(runs, draw_demand, 1.5, window, columns)


def draw_demand(axes: Axes, schedule: Schedule, *, window: Window | None = None) -> None:
    """Show the hosts in use and those asked for besides over time, and how many there are.

    After figure 6 of Jokanovic, D'Amico, Corbalan, "Evaluating SLURM simulator with real-machine
    SLURM and vice versa", PMBS 2018.
    """
    span = window or common_span(schedule)
    unit, _ = time_unit(span)
    record = schedule.record
    waited = ~np.isin(record.state, (JobState.REJECTED, JobState.CANCELLED))
    asked = np.where(waited, record.submit_time, math.nan)
    wanted = steps_of(asked, record.finish_time, schedule.column("n_hosts"))
    for steps, label, colour in (
        (wanted, "in use or waited for", _WAITING),
        (busy_hosts(schedule), "in use", PALETTE[0]),
    ):
        values, edges = sampled(steps, span)
        axes.stairs(values, edges / unit, fill=True, color=colour, label=label)
    n_hosts = schedule.platform.n_hosts
    axes.axhline(n_hosts, color=GUIDE, linewidth=0.9, linestyle="dashed", label="all")
    axes.set_ylim(bottom=0)
    finish_time_axis(axes, span, "hosts")
    legend_above(axes)


def horizon(runs: Schedule | Runs, *, window: Window | None = None, columns: int = 2) -> Figure:
    """Show how long the waiting load would take as a liquid, over time, one line a run."""
    with figure_of(1, 2.2, columns=columns) as (figure, (axes,)):
        draw_horizon(axes, runs, window=window)
        return figure


def draw_horizon(axes: Axes, runs: Schedule | Runs, *, window: Window | None = None) -> None:
    """Show the liquid load horizon over time, one line a run.

    After figure 7.1 of Poquet's thesis, "Simulation approach for resource management", 2017. Where
    nobody knows when hosts come free it is infinite, and not drawn.
    """
    panes = named(runs)
    steps = [load_horizon(schedule) for _, schedule in panes]
    finite = [float(np.max(s.value[np.isfinite(s.value)], initial=0.0)) for s in steps]
    seconds, name = unit_of(max(finite))
    found = iter(steps)
    _draw_lines(axes, panes, lambda _: next(found) / seconds, window, f"load horizon ({name})")


def ladder(runs: Schedule | Runs, *, window: Window | None = None, columns: int = 2) -> Figure:
    """Show how many jobs had been submitted, started and ended over time, one panel a run."""
    return in_panels(runs, draw_ladder, 1.7, window, columns)


def draw_ladder(axes: Axes, schedule: Schedule, *, window: Window | None = None) -> None:
    """Show how many jobs had been submitted, started and ended up to each date.

    Between the lines are, from above, the jobs that wait and those that run. Jobs that never ran
    are left out.
    """
    span = window or common_span(schedule)
    unit, _ = time_unit(span)
    record = schedule.record
    waited = ~np.isin(record.state, (JobState.REJECTED, JobState.CANCELLED))
    started = ~np.isnan(record.start_time)
    dates = {
        "submitted": record.submit_time[waited],
        "started": record.start_time[started],
        "ended": record.finish_time[has_ended(record.state)],
    }
    edges = _dates_shown(list(dates.values()), span)
    counts = [np.searchsorted(np.sort(some), edges, side="right") for some in dates.values()]
    for above, below, shade in (*zip(counts, counts[1:], (_WAITING, _RUNNING), strict=False),):
        axes.fill_between(edges / unit, below, above, step="post", color=shade, linewidth=0)
    for i, (label, values) in enumerate(zip(dates, counts, strict=True)):
        look = line_style((1, 0, 6)[i])
        axes.step(edges / unit, values, where="post", label=label, **look)
    count_from_zero(axes)
    finish_time_axis(axes, span, "jobs")
    legend_above(axes)


def _dates_shown(dates: list[Floats], span: Window) -> Floats:
    """Return the dates at which something changes, or equal steps if there are many."""
    inside = np.unique(np.concatenate(dates))
    inside = inside[(inside > span.start) & (inside < span.end)]
    if len(inside) > _MAX_POINTS:
        return np.linspace(span.start, span.end, _MAX_POINTS)
    return np.concatenate([[span.start], inside, [span.end]])


def _draw_lines(
    axes: Axes,
    runs: Schedule | Runs,
    series: Callable[[Schedule], Steps],
    window: Window | None,
    what: str,
) -> None:
    """Draw a step function of each run as a line."""
    panes = named(runs)
    span = window or common_span(panes)
    unit, _ = time_unit(span)
    for i, (name, schedule) in enumerate(panes):
        values, edges = sampled(series(schedule), span)
        axes.stairs(values, edges / unit, baseline=None, label=plain(name), **line_style(i))
    axes.set_ylim(bottom=0)
    finish_time_axis(axes, span, what)
    legend_above(axes)


def sampled(steps: Steps, span: Window) -> tuple[Floats, npt.NDArray[np.float64]]:
    """Return a step function as it is, or its means over short intervals if it has many steps."""
    inside = (steps.time > span.start) & (steps.time < span.end)
    if np.count_nonzero(inside) <= _MAX_STEPS:
        edges = np.concatenate([[span.start], steps.time[inside], [span.end]])
        return steps.at(edges[:-1]), edges
    edges = np.linspace(span.start, span.end, _BINS + 1)
    return steps.means(edges), edges
