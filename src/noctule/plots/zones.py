"""A picture of the zones of a platform: boxes inside boxes, and the routes between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noctule.errors import InputError
from noctule.network import Cluster, Zone
from noctule.platform import HostKind, Platform
from noctule.printing.platforms import kinds_by_name, zone_facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# inches
_LINE, _CHARACTER, _MARGIN, _GAP = 0.19, 0.078, 0.12, 0.35
# boxes inside a box, from the outermost on: more would not be looked at
_MOST_INSIDE = (12, 8, 4)
_LONGEST = 48
# leaves, then zones from the outermost on
_FILLS = ("#cfe3f1", "#f7f7f5", "#ececea", "#e0e0de")
_EDGE, _ROUTE = "#555555", "#D55E00"


@dataclass(frozen=True, slots=True)
class Box:
    """A zone as a box: its size, its text, the boxes in it and where, and pairs that are joined."""

    name: str
    width: float
    height: float
    lines: Sequence[str]
    inside: Sequence[tuple[float, float, Box]] = ()
    joined: Sequence[tuple[int, int]] = ()


def zones_figure(platform: Platform) -> Figure:
    """Draw the zones of a platform."""
    if not platform.network.zones:
        raise InputError(f"{platform.source or 'platform'}: no zone is described, nothing to draw")
    from matplotlib.figure import Figure

    kinds = kinds_by_name(platform)
    boxes = _limited([lay_out(zone, kinds) for zone in platform.network.zones], _MOST_INSIDE[0])
    width = max(box.width for box in boxes) + 2 * _MARGIN
    height = sum(box.height for box in boxes) + (len(boxes) + 1) * _MARGIN
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    top = _MARGIN
    for box in boxes:
        _draw(axes, box, _MARGIN, top, 1)
        top += box.height + _MARGIN
    return figure


def lay_out(zone: Zone | Cluster, kinds: Mapping[str, HostKind], depth: int = 0) -> Box:
    """Return the box of a zone, with those of the zones in it side by side in rows."""
    facts = zone_facts(zone, kinds)
    lines = [_cut(text) for text in (facts.name, facts.kind, *facts.facts)]
    width = 2 * _MARGIN + _CHARACTER * max(map(len, lines))
    height = 2 * _MARGIN + _LINE * len(lines)
    if not facts.zones or depth == len(_MOST_INSIDE):
        return Box(zone.name, width, height, lines)
    most = _MOST_INSIDE[depth]
    shown = [lay_out(inner, kinds, depth + 1) for inner in facts.zones[:most]]
    children = _limited([*shown, *(_text_box("") for _ in facts.zones[most:])], most)
    inside, right, bottom = _in_rows(children, height)
    return Box(zone.name, max(width, right), bottom, lines, inside, _joined(zone, children))


def _limited(boxes: Sequence[Box], most: int) -> list[Box]:
    """Return boxes of which all above a number are one that says how many they are."""
    left_out = len(boxes) - most
    return [*boxes[:most], *([_text_box(f"... and {left_out} more")] if left_out > 0 else [])]


def _text_box(text: str) -> Box:
    return Box("", 2 * _MARGIN + _CHARACTER * len(text), 2 * _MARGIN + _LINE, [text])


def _in_rows(
    children: Sequence[Box], top: float
) -> tuple[list[tuple[float, float, Box]], float, float]:
    """Place boxes in rows below `top`; return them, and how far they reach."""
    n_columns = math.ceil(math.sqrt(len(children)))
    placed, right = [], 0.0
    for start in range(0, len(children), n_columns):
        row = children[start : start + n_columns]
        left = _MARGIN
        for box in row:
            placed.append((left, top, box))
            left += box.width + _GAP
        right = max(right, left - _GAP + _MARGIN)
        top += max(box.height for box in row) + _GAP
    return placed, right, top - _GAP + _MARGIN


def _joined(zone: Zone | Cluster, children: Sequence[Box]) -> list[tuple[int, int]]:
    position = {box.name: i for i, box in enumerate(children)}
    routes = zone.routes if isinstance(zone, Zone) else ()
    pairs = {
        (min(ends), max(ends)): None
        for route in routes
        if route.src in position and route.dst in position
        for ends in [(position[route.src], position[route.dst])]
    }
    return list(pairs)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _draw(axes: Axes, box: Box, left: float, top: float, depth: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    fill = _FILLS[min(depth, len(_FILLS) - 1)] if box.inside else _FILLS[0]
    patch = FancyBboxPatch(
        (left, top),
        box.width,
        box.height,
        boxstyle="round,pad=0,rounding_size=0.06",
        facecolor=fill,
        edgecolor=_EDGE,
        linewidth=0.8,
        zorder=2 * depth,
    )
    axes.add_patch(patch)
    for i, line in enumerate(box.lines):
        y = top + _MARGIN + _LINE * (i + 0.5)
        weight = "bold" if i == 0 else "normal"
        axes.text(
            left + _MARGIN,
            y,
            line,
            va="center",
            fontsize=9,
            weight=weight,
            zorder=2 * depth + 2,
            parse_math=False,
        )
    for a, b in box.joined:
        ends = [
            (left + x + inner.width / 2, top + y + inner.height / 2)
            for x, y, inner in (box.inside[a], box.inside[b])
        ]
        xs, ys = zip(*ends, strict=True)
        axes.plot(xs, ys, color=_ROUTE, linewidth=1.5, zorder=2 * depth + 1)
    for x, y, inner in box.inside:
        _draw(axes, inner, left + x, top + y, depth + 1)
