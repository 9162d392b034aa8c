"""Figures of schedules, of what happens over time, of jobs, and of several runs.

Each figure has two functions. One draws a schedule, or what the figure compares, into a Matplotlib
Axes, for figures of your own: `draw_gantt(axes, schedule)`. The other makes a whole figure of one
or several named runs, for a notebook or for `save_figure`: `gantt(runs)`. Nothing global is
changed, and pyplot is not needed.

Large schedules are shown by exact means over short intervals, by maps or by densities, not by a
cloud of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from noctule.plots.capacities import capacity, draw_capacity
from noctule.plots.changes import changes, draw_changes
from noctule.plots.gantt import COLOURINGS, draw_gantt, gantt
from noctule.plots.loads import LOADS, draw_load, load
from noctule.plots.months import (
    RunMonth,
    draw_month_tradeoff,
    draw_months,
    month_tradeoffs,
    months,
    run_months,
)
from noctule.plots.over_time import (
    demand,
    draw_demand,
    draw_energy,
    draw_horizon,
    draw_ladder,
    draw_power,
    draw_queue,
    draw_utilisation,
    energy,
    horizon,
    ladder,
    power,
    queue,
    utilisation,
)
from noctule.plots.runs import Runs
from noctule.plots.slowdowns import AGAINST, draw_slowdown, slowdown
from noctule.plots.stretches import Stretch, stretches_of
from noctule.plots.style import FORMATS, PALETTE, WIDTHS, save_figure, style
from noctule.plots.tradeoffs import Point, draw_tradeoff, pareto_front, points_of, tradeoff
from noctule.plots.waits import WAIT_CLASSES, draw_waits, waits

__all__ = [
    "AGAINST",
    "COLOURINGS",
    "FIGURES",
    "FORMATS",
    "LOADS",
    "PALETTE",
    "WAIT_CLASSES",
    "WIDTHS",
    "Point",
    "RunMonth",
    "Runs",
    "Stretch",
    "capacity",
    "changes",
    "demand",
    "draw_capacity",
    "draw_changes",
    "draw_demand",
    "draw_energy",
    "draw_gantt",
    "draw_horizon",
    "draw_ladder",
    "draw_load",
    "draw_month_tradeoff",
    "draw_months",
    "draw_power",
    "draw_queue",
    "draw_slowdown",
    "draw_tradeoff",
    "draw_utilisation",
    "draw_waits",
    "energy",
    "gantt",
    "horizon",
    "ladder",
    "load",
    "month_tradeoffs",
    "months",
    "pareto_front",
    "points_of",
    "power",
    "queue",
    "run_months",
    "save_figure",
    "slowdown",
    "stretches_of",
    "style",
    "tradeoff",
    "utilisation",
    "waits",
]

#: The figures of one run or several, by name.
FIGURES: Mapping[str, Callable[..., Any]] = {
    "gantt": gantt,
    "utilisation": utilisation,
    "queue": queue,
    "demand": demand,
    "horizon": horizon,
    "ladder": ladder,
    "capacity": capacity,
    "load": load,
    "waits": waits,
    "slowdown": slowdown,
    "power": power,
    "energy": energy,
}
