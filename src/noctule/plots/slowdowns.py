"""Slowdowns of jobs against what the jobs were like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule import metrics
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.plots.panels import share_legend
from noctule.plots.runs import Runs, named
from noctule.plots.style import PALETTE, figure_of, legend_above
from noctule.plots.texts import name_panel, scale_durations, scale_numbers
from noctule.record import Floats, has_ended
from noctule.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What slowdowns can be shown against.
AGAINST = {"size": "hosts of the job", "runtime": "runtime"}
# above, the density of points is shown
_MAX_POINTS = 3000
_N_CLASSES = 12
_LEAST_IN_CLASS = 10
_GRID = 45


def slowdown(
    runs: Schedule | Runs,
    *,
    window: Window | None = None,
    threshold: float = metrics.THRESHOLD,
    columns: int = 2,
) -> Figure:
    """Show the bounded slowdown of each job against its size and its runtime, one row a run."""
    panes = named(runs)
    side_by_side = len(AGAINST) if columns == 2 else 1
    n_rows = len(panes) * len(AGAINST) // side_by_side
    with figure_of(n_rows, 2.0, side_by_side=side_by_side, share_x=False, columns=columns) as (
        figure,
        panels,
    ):
        rest = iter(panels)
        for name, schedule in panes:
            for against in AGAINST:
                axes = next(rest)
                draw_slowdown(axes, schedule, against=against, window=window, threshold=threshold)
                if against == "size" or side_by_side == 1:
                    name_panel(axes, name)
                else:
                    axes.set_ylabel("")
        highest = max(axes.get_ylim()[1] for axes in panels)
        for axes in panels:
            axes.set_ylim(top=highest)
        share_legend(figure, panels)
        return figure


def draw_slowdown(
    axes: Axes,
    schedule: Schedule,
    *,
    against: str = "size",
    window: Window | None = None,
    threshold: float = metrics.THRESHOLD,
) -> None:
    """Show the bounded slowdown of each ended job against its size or its runtime.

    The line is the median of jobs that are about alike, the band is from their 10th to their 90th
    percentile. Many jobs are shown by their density, darker where there are more.
    """
    if against not in AGAINST:
        raise InputError(f"slowdown: against: got {against!r}, expected {' or '.join(AGAINST)}")
    slow = metrics.bounded_slowdown(schedule, threshold=threshold, window=window)
    counted = has_ended(schedule.record.state)
    if window is not None:
        submit = schedule.record.submit_time
        counted &= (submit >= window.start) & (submit <= window.end)
    column = schedule.column("n_hosts" if against == "size" else "runtime")[counted]
    x = np.maximum(column.astype(np.float64), 1.0)
    least, most = (float(x.min()), float(x.max())) if len(x) else (1.0, 10.0)
    worst = max(float(slow.max()) if len(slow) else 1.0, 10.0)
    if against == "size":
        scale_numbers(axes.xaxis, [least, most])
    else:
        scale_durations(axes.xaxis, least / 1.25, most * 1.25)
    axes.set_xlim(least / 1.25, most * 1.25)
    scale_numbers(axes.yaxis, [1.0, worst])
    axes.set_ylim(0.9, worst * 1.3)
    _draw_points(axes, x, slow)
    _draw_medians(axes, x, slow)
    axes.set_xlabel(AGAINST[against])
    axes.set_ylabel("bounded slowdown")
    axes.grid(visible=True)
    legend_above(axes)


def _draw_points(axes: Axes, x: Floats, y: Floats) -> None:
    if len(x) <= _MAX_POINTS:
        look: dict[str, Any] = {
            "markersize": 2.5 if len(x) > 100 else 4.0,
            "alpha": 0.35,
            "markeredgewidth": 0,
            "color": PALETTE[0],
        }
        axes.plot(x, y, "o", rasterized=len(x) > 500, **look)
        return
    from matplotlib import colormaps

    across = np.geomspace(float(x.min()) / 1.25, float(x.max()) * 1.25, _GRID + 1)
    up = np.geomspace(0.9, max(float(y.max()), 10.0) * 1.3, _GRID + 1)
    counts, _, _ = np.histogram2d(x, y, bins=[across, up])
    shares = np.log1p(np.where(counts > 0, counts, np.nan))
    axes.pcolormesh(across, up, shares.T, cmap=colormaps["Blues"], vmin=-1.0, rasterized=True)


def _draw_medians(axes: Axes, x: Floats, y: Floats) -> None:
    """Draw median and percentiles of classes of equal width on a logarithmic axis."""
    if len(x) < _LEAST_IN_CLASS:
        return
    edges = np.geomspace(float(x.min()), float(x.max()) * 1.001, _N_CLASSES + 1)
    code: npt.NDArray[np.intp] = np.searchsorted(edges, x, side="right")
    rows = []
    for i in np.unique(code).tolist():
        mine = code == i
        if np.count_nonzero(mine) >= _LEAST_IN_CLASS:
            middle = float(np.exp(np.log(x[mine]).mean()))
            rows.append([middle, *np.percentile(y[mine], [10, 50, 90]).tolist()])
    if rows:
        middle, low, median, high = np.array(rows).T
        axes.fill_between(middle, low, high, color=PALETTE[3], alpha=0.18, linewidth=0)
        axes.plot(middle, median, "o-", color=PALETTE[3], markersize=2.5, label="median")
