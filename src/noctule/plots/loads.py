"""Heat maps of how busy a machine was: by the hour and the day, in a week, or by host."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.boxes import boxes_of, occupancy
from noctule.errors import InputError
from noctule.formats.local_time import LocalClock
from noctule.metrics import Window
from noctule.plots.runs import Runs, common_span, named
from noctule.plots.style import figure_of, use_colours
from noctule.plots.texts import DAY, HOUR, name_panel, time_unit
from noctule.record import Floats
from noctule.schedule import Schedule
from noctule.timeseries import utilisation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What the rows and columns of a heat map can be.
LOADS = ("day", "week", "host")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HEIGHTS = {"day": 1.3, "week": 1.5, "host": 1.7}
_MAX_DAYS = 4000
_CELLS = (60, 240)


def load(
    runs: Schedule | Runs,
    *,
    window: Window | None = None,
    by: str = "day",
    clock: LocalClock | None = None,
    columns: int = 2,
) -> Figure:
    """Show which share of the hosts was in use, as a heat map, one panel a run."""
    panes = named(runs)
    span = window or common_span(panes)
    _check(by)
    with figure_of(len(panes), _HEIGHTS[by], columns=columns) as (figure, panels):
        for axes, (name, schedule) in zip(panels, panes, strict=True):
            image = _draw(axes, schedule, span, by, clock)
            name_panel(axes, name)
            axes.label_outer()
        figure.colorbar(image, ax=panels, label="hosts in use", pad=0.01)
        return figure


def draw_load(
    axes: Axes,
    schedule: Schedule,
    *,
    window: Window | None = None,
    by: str = "day",
    clock: LocalClock | None = None,
) -> Any:
    """Show which share of the hosts was in use; return the image, for a colour bar.

    By "day", columns are days and rows their hours; by "week", rows are the days of the week, and
    cells the means of all weeks; by "host", columns are times and rows groups of hosts. Without
    the clock of the log, days and weeks begin at time 0.
    """
    _check(by)
    return _draw(axes, schedule, window or common_span(schedule), by, clock)


def _check(by: str) -> None:
    if by not in LOADS:
        raise InputError(f"load: by: got {by!r}, expected one of {', '.join(LOADS)}")


def _draw(axes: Axes, schedule: Schedule, span: Window, by: str, clock: LocalClock | None) -> Any:
    if by == "host":
        return _draw_hosts(axes, schedule, span)
    # what was not in the run's own time is left white
    own = common_span(schedule)
    known = Window(max(span.start, own.start), min(span.end, own.end))
    shift = 0.0 if clock is None else _shift(clock, span.start)
    first = math.floor((span.start + shift) / DAY)
    n_days = max(1, math.ceil((span.end + shift) / DAY) - first)
    if n_days > _MAX_DAYS:
        raise InputError(f"load: got {n_days} days, expected at most {_MAX_DAYS} (by host: any)")
    hours = _hours(schedule, known, first * DAY - shift, n_days)
    if by == "day":
        # by a calendar, the first day is day 0
        return _draw_days(axes, hours, first if clock is None else 0)
    return _draw_week(axes, hours, first, "" if clock is None else "local time")


def _shift(clock: LocalClock, time: float) -> float:
    """Return what is added to times so that days begin at multiples of a day, Mondays first."""
    place = int(np.searchsorted(clock.change, time, side="right")) - 1
    return float(clock.shift[place])


def _hours(schedule: Schedule, span: Window, start: float, n_days: int) -> npt.NDArray[np.float64]:
    """Return the share of the hosts in use in each hour of each day; NaN outside the span."""
    edges = start + HOUR * np.arange(24 * n_days + 1)
    low, high = np.maximum(edges[:-1], span.start), np.minimum(edges[1:], span.end)
    shown_part = np.maximum(high - low, 0.0)
    steps = utilisation(schedule)
    cuts = np.clip(edges, span.start, max(span.start, span.end))
    areas = steps.integrals(cuts) if span.length else np.zeros(len(shown_part))
    means = np.divide(areas, shown_part, out=np.full(len(areas), np.nan), where=shown_part > 0)
    cells: npt.NDArray[np.float64] = means.reshape(n_days, 24)
    return cells


def _draw_days(axes: Axes, hours: npt.NDArray[np.float64], first: int) -> Any:
    extent = (first, first + len(hours), 0, 24)
    image = _show(axes, hours.T, extent)
    axes.set_yticks([0, 6, 12, 18, 24])
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("day")
    axes.set_ylabel("hour of the day")
    return image


def _draw_week(axes: Axes, hours: npt.NDArray[np.float64], first: int, zone: str) -> Any:
    weekday = (first + np.arange(len(hours))) % 7
    cells = np.full((7, 24), np.nan)
    for day in range(7):
        rows = hours[weekday == day]
        known = ~np.isnan(rows)
        counts = known.sum(axis=0)
        sums = np.where(known, rows, 0.0).sum(axis=0)
        cells[day] = np.divide(sums, counts, out=np.full(24, np.nan), where=counts > 0)
    # the week reads from above
    image = _show(axes, cells[::-1], (0, 24, 0, 7))
    names = _DAYS if zone else [f"day {day}" for day in range(1, 8)]
    axes.set_yticks(np.arange(7) + 0.5, names[::-1])
    axes.tick_params(axis="y", length=0)
    axes.set_xticks(range(0, 25, 3))
    axes.set_xlabel("hour of the day" + (f" ({zone})" if zone else ""))
    return image


def _draw_hosts(axes: Axes, schedule: Schedule, span: Window) -> Any:
    n_hosts = schedule.platform.n_hosts
    unit, label = time_unit(span)
    edges: Floats = np.linspace(span.start, span.end, _CELLS[1] + 1)
    boxes = boxes_of(schedule, span.start, span.end)
    cells = occupancy(boxes, edges, n_hosts, min(n_hosts, _CELLS[0]))
    end = span.end if span.length else span.start + 1.0
    image = _show(axes, cells, (span.start / unit, end / unit, 0, n_hosts))
    axes.locator_params(axis="y", integer=True)
    axes.set_xlabel(label)
    axes.set_ylabel("host")
    return image


def _show(
    axes: Axes, cells: npt.NDArray[np.float64], extent: tuple[float, float, float, float]
) -> Any:
    axes.set_facecolor("white")
    return axes.imshow(
        cells,
        cmap=use_colours(),
        vmin=0.0,
        vmax=1.0,
        aspect="auto",
        origin="lower",
        extent=extent,
        interpolation="nearest",
    )
