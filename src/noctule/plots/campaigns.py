"""Figures of campaigns: means and their intervals, by one parameter or along one, and clouds."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noctule.campaign.about import About, read_about
from noctule.campaign.grid import MAIN_AXES, matches
from noctule.campaign.results import DONE, load_results
from noctule.comparison import summarise
from noctule.errors import InputError
from noctule.plots.style import PALETTE, figure_of, legend_above, line_style, save_figure
from noctule.plots.texts import plain
from noctule.plots.tradeoffs import Point, scale_of
from noctule.printing.campaigns import axes_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Cloud", "campaign_points", "comparison", "curves", "draw_comparison", "draw_curves"]


def save_comparison(
    folder: str | os.PathLike[str],
    by: str,
    metric: str,
    path: str | os.PathLike[str],
    *,
    confidence: float = 0.95,
) -> None:
    """Write the picture of the means of a metric."""
    save_figure(comparison(folder, by, metric, confidence=confidence), path)


def comparison(
    folder: str | os.PathLike[str],
    by: str,
    metric: str,
    *,
    confidence: float = 0.95,
    columns: int = 2,
) -> Figure:
    """Draw the means of a metric with their intervals; the thick part is the normalised one."""
    told, table = _results(folder)
    _check(folder, table, [by, metric])
    n_levels = table[by].nunique()
    with figure_of(1, 0.4 + 0.3 * n_levels, columns=columns) as (figure, (axes,)):
        draw_comparison(axes, told, table, by, metric, confidence=confidence)
        return figure


def draw_comparison(
    axes: Axes, told: About, table: pd.DataFrame, by: str, metric: str, *, confidence: float = 0.95
) -> None:
    """Draw the means of a metric in a table of results, with their intervals."""
    levels = summarise(
        table, by, metric, axes=axes_of(told, table, by), confidence=confidence
    ).levels
    for row, level in enumerate(reversed(levels)):
        whole = [level.mean.low, level.mean.high]
        narrowed = [level.normalised.low, level.normalised.high]
        axes.plot(whole, [row, row], color=PALETTE[0], linewidth=1.2)
        axes.plot(narrowed, [row, row], color=PALETTE[0], linewidth=5, alpha=0.5)
        axes.plot([level.mean.value], [row], "o", color=PALETTE[0], markersize=4)
    axes.set_yticks(range(len(levels)), [plain(level.level) for level in reversed(levels)])
    axes.set_ylim(-0.6, len(levels) - 0.4)
    axes.set_xlabel(f"{metric} (mean, {confidence:.0%} interval)")
    axes.grid(axis="x")


def curves(
    folder: str | os.PathLike[str],
    along: str,
    metric: str,
    *,
    by: str | None = None,
    confidence: float = 0.95,
    columns: int = 2,
) -> Figure:
    """Draw the mean of a metric along a parameter, one line for each level of another."""
    told, table = _results(folder)
    _check(folder, table, [along, metric, *([by] if by else [])])
    with figure_of(1, 2.4, columns=columns) as (figure, (axes,)):
        draw_curves(axes, told, table, along, metric, by=by, confidence=confidence)
        return figure


def draw_curves(
    axes: Axes,
    told: About,
    table: pd.DataFrame,
    along: str,
    metric: str,
    *,
    by: str | None = None,
    confidence: float = 0.95,
) -> None:
    """Draw the mean of a metric along a parameter, with its interval as a band.

    So are figures 5.1 and 6.2 to 6.4 of Poquet's thesis, and figures 11 to 13 of Jokanovic,
    D'Amico, Corbalan 2018.
    """
    values = sorted(table[along].dropna().unique().tolist(), key=_order)
    numeric = all(isinstance(value, int | float) for value in values)
    place = {str(value): value if numeric else i for i, value in enumerate(values)}
    per, label = scale_of(metric, table[metric].dropna().tolist())
    groups = list(table.groupby(by, sort=False)) if by else [("", table)]
    for i, (name, rows) in enumerate(groups):
        axis_names = [axis for axis in axes_of(told, table, along) if axis != by]
        found = summarise(rows, along, metric, axes=axis_names, confidence=confidence).levels
        points = sorted((place[level.level], level.mean) for level in found)
        x = [at for at, _ in points]
        look = line_style(i)
        low, high = ([getattr(m, side) / per for _, m in points] for side in ("low", "high"))
        axes.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
        text = plain(name)
        means = [mean.value / per for _, mean in points]
        axes.plot(x, means, marker="o", label=text, markersize=3, **look)
    if not numeric:
        axes.set_xticks(range(len(values)), [plain(value, longest=16) for value in values])
    axes.set_xlabel(along)
    axes.set_ylabel(label)
    axes.grid(visible=True)
    legend_above(axes)


@dataclass(frozen=True, slots=True)
class Cloud:
    """Which runs of a campaign are points, and what tells them apart.

    Attributes:
        by: the column by which colours differ; runs without a value in it are left out.
        marks: the column by which shapes differ, likewise.
        only: columns, and the values or patterns of which runs must have one.
        relative_to: the policy whose runs the second metric is divided by, all else equal.
    """

    by: str = "policy"
    marks: str | None = None
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    relative_to: str | None = None


def campaign_points(
    folder: str | os.PathLike[str], x: str, y: str, cloud: Cloud | None = None
) -> list[Point]:
    """Return a point for each run of a campaign that is done, in the group of its level."""
    chosen = cloud or Cloud()
    told, table = _results(folder)
    axis_names = [chosen.by, *([chosen.marks] if chosen.marks else [])]
    _check(folder, table, [x, y, *axis_names, *chosen.only])
    if chosen.relative_to:
        same = [name for name in (*MAIN_AXES, *told.options) if name != "policy"]
        table = _relative(folder, table, y, chosen.relative_to, same)
    for axis, wanted in chosen.only.items():
        table = _having(folder, table, axis, wanted)
    table = table.dropna(subset=axis_names)
    columns = (table[name].tolist() for name in (x, y, chosen.by))
    marks = table[chosen.marks].tolist() if chosen.marks else [""] * len(table)
    return [
        Point(
            float(at),
            float(height),
            _level(chosen.by, group),
            mark=_level(chosen.marks or "", mark),
        )
        for at, height, group, mark in zip(*columns, marks, strict=True)
    ]


def _relative(
    folder: str | os.PathLike[str],
    table: pd.DataFrame,
    metric: str,
    policy: str,
    same: Sequence[str],
) -> pd.DataFrame:
    """Return a table in which a metric is divided by that of a policy's runs, all else equal."""
    keys = list(zip(*(table[name].astype(object).fillna("") for name in same), strict=True))
    policies, values = table["policy"].tolist(), table[metric].tolist()
    whole = {
        key: value for key, one, value in zip(keys, policies, values, strict=True) if one == policy
    }
    for key in keys:
        if key not in whole:
            told = zip(same, key, strict=True)
            where = ", ".join(f"{name} {value}" for name, value in told if value != "")
            raise InputError(f"{folder}: no run of policy {policy} with {where}, expected one")
    shares = [
        value / whole[key] if whole[key] else math.nan
        for key, value in zip(keys, values, strict=True)
    ]
    return table.assign(**{metric: shares})


def _having(
    folder: str | os.PathLike[str], table: pd.DataFrame, axis: str, wanted: Sequence[str]
) -> pd.DataFrame:
    """Return the runs that have one of some values."""
    kept = [any(_is(value, text) for text in wanted) for value in table[axis].tolist()]
    if not any(kept):
        levels = sorted(table[axis].dropna().unique().tolist(), key=_order)
        some = ", ".join(map(str, levels[:6])) or "none"
        got = " or ".join(wanted)
        raise InputError(f"{folder}: no run left with {axis} {got}, expected one of {some}")
    return table[kept]


def _is(value: Any, text: str) -> bool:
    """Tell whether a value is what a text says; of texts, whether it fits the pattern."""
    if isinstance(value, str):
        return matches(value, text)
    if isinstance(value, bool):
        return str(value).lower() == text.lower()
    try:
        return bool(value == float(text))
    except ValueError:
        return False


def _level(axis: str, value: object) -> str:
    """Return what a level is called in a legend: of numbers, with the name of their parameter."""
    if isinstance(value, str):
        return value
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{axis.rpartition('.')[2]} {number}"


def _results(folder: str | os.PathLike[str]) -> tuple[About, pd.DataFrame]:
    everything = load_results(folder)
    table = everything[(everything["bound"] == "") & (everything["status"] == DONE)]
    return read_about(Path(folder)), table


def _check(folder: str | os.PathLike[str], table: pd.DataFrame, names: Sequence[str]) -> None:
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise InputError(f"{folder}: no column {name}, expected one of {known}")
    if not len(table):
        raise InputError(f"{folder}: no run is done, expected at least one")


def _order(value: object) -> tuple[bool, object]:
    return (isinstance(value, str), value)
