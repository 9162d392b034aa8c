"""Runs month by month against a first one: what they save, how busy they are and who waits.

A month is four weeks by default, and the first begins with the first submission. Only those are
looked at that lie wholly in all runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noctule import metrics
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.plots.panels import share_legend
from noctule.plots.runs import Runs, named
from noctule.plots.style import GUIDE, figure_of, ordered_shades
from noctule.plots.texts import DAY, duration, plain
from noctule.plots.tradeoffs import Point, draw_tradeoff
from noctule.record import Floats
from noctule.timeseries import power, utilisation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Days of a month.
DAYS = 28.0
_MOST_MONTHS = 100


@dataclass(frozen=True, slots=True)
class RunMonth:
    """A month of a run.

    Attributes:
        number: which month it is, from 1 on.
        utilisation: the mean share of the hosts that jobs held in it.
        energy: what all hosts drew in it, divided by what they drew then in the first run.
        mean_wait: the mean waiting time in seconds of jobs submitted in it that ended; NaN if
            there is none.
    """

    number: int
    utilisation: float
    energy: float
    mean_wait: float


def run_months(runs: Runs, *, days: float = DAYS) -> list[list[RunMonth]]:
    """Return the months of each run, which must have counted energy; the first is compared with."""
    panes = named(runs)
    if len(panes) < 2:
        raise InputError("months: got one run, expected the one to compare with and another")
    edges = _edges(panes, days * DAY)
    drawn = [power(schedule).integrals(edges) for _, schedule in panes]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [joules / drawn[0] for joules in drawn]
    found = []
    for (_, schedule), energy in zip(panes, shares, strict=True):
        busy = utilisation(schedule).means(edges)
        waits = [
            metrics.waiting_time(schedule, window=Window(start, np.nextafter(end, start)))
            for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        ]
        means = [math.fsum(some.tolist()) / len(some) if len(some) else math.nan for some in waits]
        numbers = zip(busy.tolist(), energy.tolist(), means, strict=True)
        found.append([RunMonth(i, *of_month) for i, of_month in enumerate(numbers, start=1)])
    return found


def months(runs: Runs, *, days: float = DAYS, columns: int = 2) -> Figure:
    """Show what runs save in each month, as `draw_months` does."""
    from matplotlib.ticker import MaxNLocator

    with figure_of(1, 2.8, columns=columns) as (figure, (axes,)):
        draw_months(axes, runs, days=days)
        bar = figure.colorbar(axes.collections[0], ax=axes, label="month", pad=0.01)
        bar.locator = MaxNLocator(integer=True)
        return figure


def draw_months(axes: Axes, runs: Runs, *, days: float = DAYS) -> None:
    """Show the energy of runs in each month against how busy they were then.

    A point is a month of a run. Energy is a share of that of the first run in the same month. After
    figure 7.6 of Poquet's thesis, "Simulation approach for resource management", 2017.
    """
    from matplotlib.colors import ListedColormap

    _, *compared = run_months(runs, days=days)
    shades = ordered_shades(len(compared[0]))
    points = [month for of_run in compared for month in of_run]
    axes.scatter(
        [month.utilisation for month in points],
        [month.energy for month in points],
        c=[month.number for month in points],
        s=18,
        cmap=ListedColormap(shades),
        vmin=0.5,
        vmax=len(shades) + 0.5,
        edgecolors="white",
        linewidths=0.4,
        zorder=3,
    )
    axes.axhline(1.0, color=GUIDE, linewidth=0.8, linestyle="dashed", zorder=1)
    axes.set_xlabel("utilisation in the month")
    axes.set_ylabel(f"energy / {plain(named(runs)[0][0])}'s")
    axes.margins(0.08)
    axes.grid(visible=True)


def month_tradeoffs(
    runs: Runs, *, numbers: Sequence[int] = (), days: float = DAYS, columns: int = 2
) -> Figure:
    """Show runs between waits and energy in some months, or in all, one panel a month."""
    found = run_months(runs, days=days)
    shown = list(numbers) or [month.number for month in found[0]]
    beside = min(len(shown), 2 * columns)
    rows = math.ceil(len(shown) / beside)
    with figure_of(rows, 1.9, columns=columns, side_by_side=beside, share_x=False) as (
        figure,
        panels,
    ):
        for i, (axes, number) in enumerate(zip(panels, shown, strict=False)):
            _draw_month(axes, runs, found, number)
            axes.set_xlabel(axes.get_xlabel().replace("waiting time", "wait"))
            if i % beside:
                axes.set_ylabel("")
        for axes in panels[len(shown) :]:
            axes.remove()
        share_legend(figure, panels[: len(shown)])
        return figure


def draw_month_tradeoff(axes: Axes, runs: Runs, number: int, *, days: float = DAYS) -> None:
    """Show runs between the mean waiting time and the energy of one month, which counts from 1.

    Energy is a share of that of the first run. Runs of one name look alike. After figure 7.7 of
    Poquet's thesis, "Simulation approach for resource management", 2017.
    """
    _draw_month(axes, runs, run_months(runs, days=days), number)


def _draw_month(axes: Axes, runs: Runs, found: Sequence[Sequence[RunMonth]], number: int) -> None:
    if not 1 <= number <= len(found[0]):
        raise InputError(f"month: got {number}, expected one of 1 to {len(found[0])}")
    names = [name for name, _ in named(runs)]
    of_month = [of_run[number - 1] for of_run in found]
    points = [
        Point(month.mean_wait, month.energy, name)
        for name, month in zip(names, of_month, strict=True)
    ]
    title = f"month {number}"
    if any(math.isfinite(point.x) and math.isfinite(point.y) for point in points):
        draw_tradeoff(
            axes, points, "mean_waiting_time", "joules", front=False, relative_to=names[0]
        )
    else:
        title += ": no job"
        axes.set_xticks([])
        axes.set_yticks([])
    axes.set_title(title, loc="left")


def _edges(runs: Runs, length: float) -> Floats:
    """Return when the months of all runs begin, and when the last one ends."""
    if not (math.isfinite(length) and length > 0):
        raise InputError(f"months: got {length / DAY:g} days, expected more than none")
    submissions = runs[0][1].record.submit_time
    start = float(submissions.min()) if len(submissions) else 0.0
    common = min(schedule.energy.end for _, schedule in runs) - start
    if common < length:
        raise InputError(
            f"months: all runs last {duration(max(common, 0.0))}, expected at least a month of "
            f"{length / DAY:g} days"
        )
    if common / length >= _MOST_MONTHS + 1:
        raise InputError(
            f"months: got months of {length / DAY:g} days in {duration(common)}, expected at most "
            f"{_MOST_MONTHS} of them"
        )
    return start + length * np.arange(int(common / length) + 1, dtype=np.float64)
