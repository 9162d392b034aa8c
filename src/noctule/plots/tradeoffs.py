"""Clouds of runs between two metrics, and the front of those that no other beats in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noctule import metrics
from noctule.comparison.objectives import objective_of
from noctule.errors import InputError
from noctule.plots.runs import Runs, named
from noctule.plots.style import GUIDE, OTHERS, PALETTE, figure_of, legend_above
from noctule.plots.texts import plain, unit_of
from noctule.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_MOST_GROUPS = len(PALETTE) - 1
_JOULES = ((3.6e9, "MWh"), (3.6e6, "kWh"), (1.0, "J"))


@dataclass(frozen=True, slots=True)
class Point:
    """A run between two metrics.

    Points of one group have one colour, those of one mark one shape, and those with a name bear it.
    Where no point has a mark, groups have shapes, too.
    """

    x: float
    y: float
    group: str = ""
    name: str = ""
    mark: str = ""


def tradeoff(
    points: Sequence[Point],
    x: str,
    y: str,
    *,
    front: bool = True,
    relative_to: str = "",
    columns: int = 2,
) -> Figure:
    """Show runs between two metrics, as `draw_tradeoff` does."""
    with figure_of(1, 2.8, columns=columns) as (figure, (axes,)):
        draw_tradeoff(axes, points, x, y, front=front, relative_to=relative_to)
        return figure


def points_of(runs: Schedule | Runs, x: str, y: str) -> list[Point]:
    """Return a point a run, each a group of its own or, if they are many, with its name."""
    panes = named(runs)
    found = []
    for name, schedule in panes:
        numbers = metrics.summary(schedule)
        for metric in (x, y):
            if metric not in numbers:
                known = ", ".join(numbers)
                raise InputError(f"{name}: no metric {metric}, expected one of {known}")
        group = {"group": name} if len(panes) <= _MOST_GROUPS else {"name": name}
        found.append(Point(float(numbers[x]), float(numbers[y]), **group))
    return found


def draw_tradeoff(
    axes: Axes,
    points: Sequence[Point],
    x: str,
    y: str,
    *,
    front: bool = True,
    relative_to: str = "",
) -> None:
    """Show runs between two metrics, and the front of those that no other beats in both.

    Whether less or more of a metric is better is told by `noctule.comparison`. `relative_to` says
    that the second one is a share of that of another run, and of which.
    """
    known = [p for p in points if math.isfinite(p.x) and math.isfinite(p.y)]
    if not known:
        raise InputError(f"tradeoff: no run has both {x} and {y}, expected at least one")
    per_x, label_x = scale_of(x, [point.x for point in known])
    per_y, label_y = scale_of(y, [point.y for point in known])
    if relative_to:
        per_y, label_y = 1.0, f"{_words(y)} / {plain(relative_to, longest=24)}'s"
    _draw_cloud(axes, known, per_x, per_y)
    if front:
        best = pareto_front(known, x, y)
        if len(best) > 1:
            xs, ys = [p.x / per_x for p in best], [p.y / per_y for p in best]
            axes.plot(xs, ys, "--", color=GUIDE, linewidth=1.0, zorder=2, label="front")
    for point in known:
        if point.name:
            at = (point.x / per_x, point.y / per_y)
            text = plain(point.name, longest=24)
            axes.annotate(text, at, (3, 3), textcoords="offset points", fontsize=6.5)
    axes.set_xlabel(label_x)
    axes.set_ylabel(label_y)
    axes.margins(0.08)
    axes.grid(visible=True)
    legend_above(axes)


def _draw_cloud(axes: Axes, points: Sequence[Point], per_x: float, per_y: float) -> None:
    groups, marks = ({getattr(p, side): None for p in points} for side in ("group", "mark"))
    if len(marks) > len(_MARKERS):
        raise InputError(f"tradeoff: got {len(marks)} marks, expected at most {len(_MARKERS)}")
    look: dict[str, Any] = {
        "markersize": 5 if len(points) <= 50 else 3,
        "markeredgecolor": "white",
        "markeredgewidth": 0.4,
        "alpha": 0.9,
    }
    are_marked = list(marks) != [""]
    for i, group in enumerate(groups):
        colour = PALETTE[i] if i < _MOST_GROUPS else OTHERS
        for j, mark in enumerate(marks):
            mine = [point for point in points if (point.group, point.mark) == (group, mark)]
            axes.plot(
                [point.x / per_x for point in mine],
                [point.y / per_y for point in mine],
                _MARKERS[j if are_marked else i % len(_MARKERS)],
                color=colour,
                label=plain(group) if j == 0 else None,
                zorder=3,
                **look,
            )
    if are_marked:
        for mark, shape in zip(marks, _MARKERS, strict=False):
            axes.plot([], [], shape, color=GUIDE, label=plain(mark), **look)


def pareto_front(points: Sequence[Point], x: str, y: str) -> list[Point]:
    """Return the points than which none is better in one metric and as good in the other.

    They are in the order of the first metric, the best first.
    """
    sign_x, sign_y = (-1.0 if _is_larger_better(metric) else 1.0 for metric in (x, y))
    front: list[Point] = []
    least = math.inf
    for point in sorted(points, key=lambda p: (sign_x * p.x, sign_y * p.y)):
        if sign_y * point.y < least:
            front.append(point)
            least = sign_y * point.y
    return front


def _is_larger_better(metric: str) -> bool:
    return objective_of(metric).better == "larger"


def scale_of(metric: str, values: Sequence[float]) -> tuple[float, str]:
    """Return what values are divided by, and the label of their axis."""
    unit, most = objective_of(metric).unit, max(map(abs, values))
    per, name = 1.0, unit
    if unit == "s":
        per, name = unit_of(most)
    elif unit == "J":
        per, name = next((one for one in _JOULES if most >= one[0]), _JOULES[-1])
    elif unit == "W" and most >= 2000:
        per, name = 1000.0, "kW"
    return per, f"{_words(metric)} ({name})" if name else _words(metric)


def _words(metric: str) -> str:
    return metric.replace("joules", "energy").replace("_", " ")
