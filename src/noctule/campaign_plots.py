"""The picture of a comparison: means and their intervals, one line for each value of an axis."""

from __future__ import annotations

import os
from pathlib import Path

from noctule.campaign.about import read_about
from noctule.campaign.results import DONE, load_results
from noctule.campaign_reports import axes_of
from noctule.comparison import summarise
from noctule.plots import PALETTE, figure_of, save_figure


def save_comparison(
    folder: str | os.PathLike[str],
    by: str,
    metric: str,
    path: str | os.PathLike[str],
    *,
    confidence: float = 0.95,
) -> None:
    """Draw the means of a metric with their intervals; the thick part is the normalised one."""
    everything = load_results(folder)
    table = everything[(everything["bound"] == "") & (everything["status"] == DONE)]
    columns = axes_of(read_about(Path(folder)), table, by)
    levels = summarise(table, by, metric, axes=columns, confidence=confidence).levels
    with figure_of(1, 0.6 + 0.4 * len(levels)) as (figure, (axes,)):
        for row, level in enumerate(reversed(levels)):
            plain = [level.mean.low, level.mean.high]
            narrowed = [level.normalised.low, level.normalised.high]
            axes.plot(plain, [row, row], color=PALETTE[0], linewidth=1.5)
            axes.plot(narrowed, [row, row], color=PALETTE[0], linewidth=5, alpha=0.5)
            axes.plot([level.mean.value], [row], "o", color=PALETTE[0])
        axes.set_yticks(range(len(levels)), [level.level for level in reversed(levels)])
        axes.set_ylim(-0.6, len(levels) - 0.4)
        axes.set_xlabel(f"{metric} (mean, {confidence:.0%} interval)")
        axes.grid(axis="x", alpha=0.3)
    save_figure(figure, path)
