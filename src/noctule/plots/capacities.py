"""Where the capacity of a machine went over time: hosts in use, and why others were not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from noctule.capacity import PARTS, Capacity
from noctule.capacity import capacity as capacity_of
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.plots.over_time import sampled
from noctule.plots.panels import share_legend
from noctule.plots.runs import Runs, common_span, named
from noctule.plots.stretches import GROUNDS
from noctule.plots.style import PALETTE, figure_of, legend_above
from noctule.plots.texts import finish_time_axis, name_panel, time_unit
from noctule.record import Floats
from noctule.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHADES: Mapping[str, str] = {
    "busy": PALETTE[0],
    "empty_queue": "#e4e4e1",
    "fragmentation": PALETTE[3],
    "draining": PALETTE[1],
    "reserved": PALETTE[5],
    "switching": GROUNDS["switching on"],
    "off": GROUNDS["asleep"],
    "down": PALETTE[6],
}


def capacity(
    runs: Schedule | Runs,
    *,
    counted: Sequence[Capacity] = (),
    window: Window | None = None,
    columns: int = 2,
) -> Figure:
    """Show where the capacity of the machine went over time, one panel a run.

    `counted` are `noctule.capacity.capacity` of each run, where windows or workloads are known.
    """
    panes = named(runs)
    found = list(counted) or [capacity_of(schedule) for _, schedule in panes]
    if len(found) != len(panes):
        raise InputError(f"capacity: got {len(found)} counts for {len(panes)} runs")
    span = window or common_span(panes)
    with figure_of(len(panes), 1.6, columns=columns) as (figure, panels):
        for axes, (name, _), parts in zip(panels, panes, found, strict=True):
            draw_capacity(axes, parts, window=span)
            name_panel(axes, name, _told(parts, window))
        share_legend(figure, panels)
        return figure


def draw_capacity(
    axes: Axes, counted: Schedule | Capacity, *, window: Window | None = None
) -> None:
    """Show which share of the hosts was what over time, one part above the other.

    Of a Schedule the parts are counted without the windows of the run, of which it does not know.
    """
    parts = capacity_of(counted) if isinstance(counted, Schedule) else counted
    span = window or parts.window
    unit, _ = time_unit(span)
    below: Floats | None = None
    for part in PARTS:
        # all parts change at the same dates, and so have the same edges
        values, edges = sampled(parts.steps(part.name) / parts.n_hosts, span)
        base = np.zeros(len(values)) if below is None else below
        below = base + values
        if values.any():
            label = part.name.replace("_", " ")
            colour = _SHADES[part.name]
            axes.stairs(below, edges / unit, baseline=base, fill=True, color=colour, label=label)
    axes.set_ylim(0, 1)
    finish_time_axis(axes, span, "hosts")
    legend_above(axes)


def _told(parts: Capacity, window: Window | None) -> str:
    """Tell the share of what was lost while jobs waited."""
    totals = parts.totals(window)
    whole = math.fsum(totals.values())
    lost = totals["fragmentation"] + totals["draining"]
    return f"{lost / whole:.1%} lost while jobs waited" if whole > 0 else ""
