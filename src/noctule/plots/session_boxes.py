"""A picture of one user's sessions: boxes over time, and lines to what each waited for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from noctule.columns import Floats
from noctule.plots.style import PALETTE, figure_of
from noctule.plots.texts import plain, unit_of
from noctule.sessions import Sessions
from noctule.sessions.graph import SessionGraph
from noctule.workload import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# more would not be looked at
_MOST_SESSIONS = 80
_BOX, _PATH, _LINE = "#cfe3f1", PALETTE[3], "#888888"
_HEIGHT = 0.6


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the shown sessions of a user are: when, and in which of the lanes below each other."""

    graph: SessionGraph
    shown: range
    starts: Floats
    ends: Floats
    lanes: Sequence[int]
    unit: str

    @property
    def length(self) -> float:
        return float(self.ends.max() - self.starts.min())

    def has_room(self, text: str, width: float) -> bool:
        # a small digit is about half a hundredth of the picture wide
        return width > 0.005 * (len(text) + 2) * self.length


def sessions_figure(sessions: Sessions, user: Label) -> Figure:
    """Draw the first sessions of a user, from submission to end, and think times between them.

    The longest path is in colour. Boxes have the number of the session and, in brackets, that of
    its jobs, where there is room. A session without a line to the left hangs on the root.
    """
    mine = sessions.of_user(user)
    layout = _laid_out(sessions, mine[:_MOST_SESSIONS])
    path = longest_path(sessions.graph, mine)
    with figure_of(1, 0.45 * (max(layout.lanes) + 1) + 1.0) as (figure, (axes,)):
        _draw_boxes(axes, layout, set(path))
        _draw_thoughts(axes, layout, set(pairwise(path)))
        axes.set_title(_title(sessions, user, mine, len(path)))
        axes.set_xlabel(f"time ({layout.unit})")
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.margins(x=0.02)
        axes.autoscale_view(scaley=False)
    return figure


def longest_path(graph: SessionGraph, groups: range) -> list[int]:
    """Return the groups of a longest path, the first of those that are as long."""
    depths = graph.depths()
    if not groups:
        return []
    here = groups.start + int(np.argmax(depths[groups.start : groups.stop]))
    path = [here]
    while graph.dependencies_of(here).size:
        dependencies = graph.dependencies_of(here)
        here = int(min(dependencies[depths[dependencies] == depths[here] - 1]))
        path.append(here)
    return path[::-1]


def _title(sessions: Sessions, user: Label, mine: range, length: int) -> str:
    graph = sessions.graph
    n_jobs = int(graph.n_jobs[mine.start : mine.stop].sum())
    arity = int(graph.n_dependents[mine.start : mine.stop].max())
    whose = "nobody" if user is None else f"user {plain(user)}"
    part = f", the first {_MOST_SESSIONS} shown" if len(mine) > _MOST_SESSIONS else ""
    return (
        f"{whose}: {n_jobs} jobs in {len(mine)} sessions{part}; "
        f"longest path {length}, arity {arity}"
    )


def _laid_out(sessions: Sessions, shown: range) -> _Layout:
    graph = sessions.graph
    starts = graph.start_time[shown.start : shown.stop]
    ends = graph.end_time[shown.start : shown.stop]
    last_jobs = graph.jobs[graph.first_job[shown.start + 1 : shown.stop + 1] - 1]
    # of a session whose end is not known, the submissions are shown
    ends = np.where(np.isfinite(ends), ends, sessions.record.submit_time[last_jobs])
    length = float(ends.max() - starts.min())
    unit, name = unit_of(length)
    return _Layout(graph, shown, starts / unit, ends / unit, _lanes(starts, ends), name)


def _lanes(starts: Floats, ends: Floats) -> list[int]:
    """Return a lane for each session, so that no two in a lane overlap."""
    free: list[float] = []
    lanes = []
    gap = float(ends.max() - starts.min()) / 200
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        lane = next((i for i, until in enumerate(free) if until <= start), len(free))
        free[lane : lane + 1] = [max(end, start + gap)]
        lanes.append(lane)
    return lanes


def _draw_boxes(axes: Axes, layout: _Layout, path: set[int]) -> None:
    from matplotlib.patches import Rectangle

    shown, least = layout.shown, layout.length / 300
    for group, start, end, lane in zip(
        shown, layout.starts.tolist(), layout.ends.tolist(), layout.lanes, strict=True
    ):
        edge = _PATH if group in path else _LINE
        corner, width = (start, -lane - _HEIGHT / 2), max(end - start, least)
        axes.add_patch(Rectangle(corner, width, _HEIGHT, facecolor=_BOX, edgecolor=edge, zorder=2))
        name = f"{group - shown.start + 1} ({layout.graph.n_jobs[group]})"
        if layout.has_room(name, width):
            axes.text(start + width / 2, -lane, name, ha="center", va="center", fontsize=6)
    axes.set_ylim(-max(layout.lanes) - 0.8, 0.8)


def _draw_thoughts(axes: Axes, layout: _Layout, steps: set[tuple[int, int]]) -> None:
    graph, shown, lanes = layout.graph, layout.shown, layout.lanes
    for group in shown:
        begin = int(graph.first_dependency[group])
        for edge, other in enumerate(graph.dependencies_of(group).tolist(), start=begin):
            i, j = other - shown.start, group - shown.start
            on_path = (other, group) in steps
            colour = _PATH if on_path else _LINE
            xs, ys = (layout.ends[i], layout.starts[j]), (-lanes[i], -lanes[j])
            axes.plot(xs, ys, color=colour, linewidth=1.2 if on_path else 0.7, zorder=1)
            text = _duration(float(graph.think_time[edge]))
            if layout.has_room(text, xs[1] - xs[0]):
                x, y = (xs[0] + xs[1]) / 2, (ys[0] + ys[1]) / 2
                axes.text(x, y, text, ha="center", va="bottom", fontsize=6, color=colour)


def _duration(seconds: float) -> str:
    for unit, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"
