"""Figures of one panel a run, with one legend for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from noctule.metrics import Window
from noctule.plots.runs import Runs, common_span, named
from noctule.plots.style import figure_of, fitting_columns
from noctule.plots.texts import name_panel
from noctule.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def in_panels(
    runs: Schedule | Runs,
    draw: Callable[..., None],
    height: float,
    window: Window | None,
    columns: int,
) -> Figure:
    """Draw each run in a panel of its own over their common time."""
    panes = named(runs)
    span = window or common_span(panes)
    with figure_of(len(panes), height, columns=columns) as (figure, panels):
        for axes, (name, schedule) in zip(panels, panes, strict=True):
            draw(axes, schedule, window=span)
            name_panel(axes, name)
        share_legend(figure, panels)
        return figure


def share_legend(figure: Figure, panels: list[Axes]) -> None:
    """Put one legend above all panels instead of one in each."""
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
        legend = axes.get_legend()
        if legend is not None:
            legend.remove()
    if entries:
        n_columns = fitting_columns(list(entries), figure.get_figwidth())
        figure.legend(
            list(entries.values()), list(entries), loc="outside upper center", ncols=n_columns
        )
