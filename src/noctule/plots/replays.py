"""Whole figures of replays: panels of what `submissions` and `lateness` draw.

A figure has one panel a group of runs, or one for each part of it and group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from noctule.errors import InputError
from noctule.metrics import Window
from noctule.plots.lateness import (
    draw_lateness_spread,
    draw_rebound,
    draw_scaling,
    draw_session_graphs,
    draw_user_lateness,
)
from noctule.plots.panels import share_legend
from noctule.plots.runs import Runs, common_span
from noctule.plots.style import figure_of
from noctule.plots.submissions import (
    draw_arrivals,
    draw_cumulative,
    draw_differences,
    draw_submissions,
    draw_week,
    submission_span,
)
from noctule.plots.texts import name_panel
from noctule.sessions import Sessions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "Groups", "Kind", "figure", "session_figure"]

#: Runs that share a panel, with its title; one group may have none.
Groups = Sequence[tuple[str, Runs]]
Draw = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A figure: what it shows, how its panels are drawn and how high they are, in inches.

    `number` is that of the figure in the article. Kinds `over` submissions or whole runs have a
    common axis of time.
    """

    number: str
    shows: str
    draws: tuple[Draw, ...]
    height: float
    row_height: float = 0.0
    over: Callable[[Runs], Window] | None = None


def _scaling(axes: Axes, runs: Runs) -> None:
    """Draw runs of one name as one line."""
    names = dict.fromkeys(name for name, _ in runs)
    draw_scaling(axes, {name: [run for other, run in runs if other == name] for name in names})


#: The figures by name.
FIGURES: Mapping[str, Kind] = {
    "submissions": Kind(
        "2",
        "how many jobs a day were submitted over time",
        (draw_submissions,),
        2.0,
        over=submission_span,
    ),
    "cumulative": Kind(
        "3",
        "how many jobs were submitted, and how many finished, up to each date",
        (partial(draw_cumulative, what="submitted"), partial(draw_cumulative, what="finished")),
        2.0,
        over=common_span,
    ),
    "mean-lateness": Kind(
        "4",
        "the mean lateness of each user, beside the number of her jobs",
        (partial(draw_user_lateness, measure="mean_lateness"),),
        2.6,
    ),
    "additional-lateness": Kind(
        "5",
        "the additional lateness of each user, beside the number of her jobs",
        (partial(draw_user_lateness, measure="additional_lateness"),),
        2.6,
    ),
    "lateness-spread": Kind(
        "5c", "the distribution of users' additional lateness", (draw_lateness_spread,), 0.5, 0.3
    ),
    "differences": Kind(
        "7",
        "how much later jobs were submitted than in the log, or in another run",
        (draw_differences,),
        0.5,
        0.3,
    ),
    "week": Kind("8", "submissions in each hour of the week", (draw_week,), 1.8),
    "rebound": Kind(
        "9",
        "throughput and utilisation in windows free of edge effects",
        (partial(draw_rebound, measure="throughput"), partial(draw_rebound, measure="utilisation")),
        2.0,
    ),
    "arrivals": Kind(
        "10",
        "when each user submitted for the first time",
        (draw_arrivals,),
        0.5,
        0.4,
        submission_span,
    ),
    "scaling": Kind("11", "the additional lateness of ever longer parts of a log", (_scaling,), 3),
}


def figure(kind: str, groups: Groups, *, columns: int = 2, **options: Any) -> Figure:
    """Draw one of FIGURES; options are those of the functions that draw its panels."""
    if kind not in FIGURES:
        raise InputError(f"picture: got {kind!r}, expected one of {', '.join(FIGURES)}")
    if not groups:
        raise InputError("picture: got no run, expected at least one")
    told = FIGURES[kind]
    most = max(len(runs) for _, runs in groups)
    height = told.height + told.row_height * most
    if told.over is not None and "window" not in options:
        options["window"] = told.over([run for _, runs in groups for run in runs])
    with figure_of(len(groups) * len(told.draws), height, columns=columns) as (drawn, panels):
        rest = iter(panels)
        for title, runs in groups:
            for draw in told.draws:
                axes = next(rest)
                draw(axes, runs, **options)
                name_panel(axes, title)
        _place_legends(drawn, panels)
        return drawn


def session_figure(sessions: Sequence[tuple[str, Sessions]], *, columns: int = 2) -> Figure:
    """Draw how long the paths of users' graphs are, and how wide (figure 6)."""
    if not sessions:
        raise InputError("picture: got no sessions, expected at least those of one cut")
    side_by_side = 2 if columns == 2 else 1
    with figure_of(
        2 // side_by_side, 2.2, side_by_side=side_by_side, share_x=False, columns=columns
    ) as (drawn, panels):
        for axes, measure in zip(panels, ("longest_path", "arity"), strict=True):
            draw_session_graphs(axes, sessions, measure=measure)
        share_legend(drawn, panels)
        return drawn


def _place_legends(figure: Figure, panels: list[Axes]) -> None:
    """Have one legend if it is the same for all panels; else put each beside its panel."""
    if len({tuple(axes.get_legend_handles_labels()[1]) for axes in panels}) == 1:
        share_legend(figure, panels)
        return
    for axes in panels:
        if axes.get_legend() is not None:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
