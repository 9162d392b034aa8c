"""How long jobs waited: distributions, of all jobs or of classes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noctule import metrics
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.plots.classes import CLASSES, Classes, classes_of
from noctule.plots.panels import share_legend
from noctule.plots.runs import Runs, named
from noctule.plots.style import figure_of, legend_above, line_style
from noctule.plots.texts import duration, name_panel, plain, scale_durations
from noctule.record import Floats, has_ended
from noctule.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Classes of which waits can be shown apart.
WAIT_CLASSES = tuple(kind for kind in CLASSES if kind != "wait")
_MAX_POINTS = 2000
_SHORTEST = 10.0


def waits(
    runs: Schedule | Runs,
    *,
    window: Window | None = None,
    by: str | None = None,
    columns: int = 2,
) -> Figure:
    """Show which share of the ended jobs waited at most so long.

    There is one line a run or, `by` one of WAIT_CLASSES, one panel a run and one line a class.
    """
    panes = named(runs)
    if by is None:
        with figure_of(1, 2.4, columns=columns) as (figure, (axes,)):
            draw_waits(axes, panes, window=window)
            return figure
    classes = _classes(by, panes)
    side_by_side = 2 if len(panes) > 1 and columns == 2 else 1
    n_rows = math.ceil(len(panes) / side_by_side)
    with figure_of(n_rows, 2.1, side_by_side=side_by_side, share_y=True, columns=columns) as (
        figure,
        panels,
    ):
        longest = max(_longest(metrics.waiting_time(s, window=window)) for _, s in panes)
        for axes, (name, schedule) in zip(panels, panes, strict=False):
            _draw_classes(axes, schedule, classes, window, longest)
            name_panel(axes, name)
            axes.label_outer()
        for axes in panels[len(panes) :]:
            axes.set_axis_off()
        share_legend(figure, panels)
        return figure


def draw_waits(
    axes: Axes, runs: Schedule | Runs, *, window: Window | None = None, by: str | None = None
) -> None:
    """Show which share of the ended jobs waited at most so long, one line a run.

    `by` one of WAIT_CLASSES, there is one line a class instead, of one schedule.
    """
    panes = named(runs)
    if by is not None:
        if len(panes) > 1:
            raise InputError(
                f"waits: by: got {len(panes)} runs, expected one in a panel of classes"
            )
        ((_, schedule),) = panes
        longest = _longest(metrics.waiting_time(schedule, window=window))
        _draw_classes(axes, schedule, _classes(by, panes), window, longest)
        legend_above(axes)
        return
    longest = _SHORTEST
    for i, (name, schedule) in enumerate(panes):
        waiting = np.sort(metrics.waiting_time(schedule, window=window))
        longest = max(longest, _longest(waiting))
        mean = math.fsum(waiting.tolist()) / len(waiting) if len(waiting) else math.nan
        told = f"mean {duration(mean)}"
        label = f"{plain(name)} ({told})" if name else told
        axes.step(*_distribution(waiting), where="post", label=label, **line_style(i))
    _finish(axes, longest)
    legend_above(axes)


def _classes(by: str, panes: Runs) -> Classes:
    if by not in WAIT_CLASSES:
        raise InputError(f"waits: by: got {by!r}, expected one of {', '.join(WAIT_CLASSES)}")
    return classes_of(by, [schedule for _, schedule in panes])


def _draw_classes(
    axes: Axes, schedule: Schedule, classes: Classes, window: Window | None, longest: float
) -> None:
    counted = has_ended(schedule.record.state)
    if window is not None:
        submit = schedule.record.submit_time
        counted &= (submit >= window.start) & (submit <= window.end)
    code = np.where(counted, classes.code(schedule), -1)
    for i, (label, shade) in enumerate(zip(classes.labels, classes.shades, strict=True)):
        waiting = np.sort(schedule.column("waiting_time")[code == i])
        if len(waiting):
            look = line_style(i) | {"color": shade}
            axes.step(*_distribution(waiting), where="post", label=label, **look)
    _finish(axes, longest)


def _longest(waiting: Floats) -> float:
    return max(_SHORTEST, float(waiting.max())) if len(waiting) else _SHORTEST


def _finish(axes: Axes, longest: float) -> None:
    scale_durations(axes.xaxis, 1.0, longest * 1.1)
    axes.set_xlim(1.0, longest * 1.1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("waited at most (up to 1 s: at the left edge)")
    axes.set_ylabel("share of jobs")
    axes.grid(visible=True)


def _distribution(values: Floats) -> tuple[Floats, Floats]:
    """Return points of the distribution of sorted values, few enough to draw."""
    n = len(values)
    if not n:
        return np.empty(0), np.empty(0)
    rank: npt.NDArray[np.intp] = np.unique(np.linspace(0, n - 1, _MAX_POINTS).round().astype(int))
    x = np.concatenate([[1.0], np.maximum(values[rank], 1.0)])
    y = np.concatenate([[0.0], (rank + 1.0) / n])
    return x, y
