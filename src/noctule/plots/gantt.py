"""Gantt charts: which hosts ran which job, when, and what they did without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.boxes import Boxes, boxes_of, occupancy
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.plots.classes import CLASSES, SHADES, Classes, Codes, classes_of, turns
from noctule.plots.runs import Runs, common_span, named
from noctule.plots.stretches import (
    GROUNDS,
    Stretch,
    draw_stretches,
    power_boxes,
    stretch_handles,
)
from noctule.plots.style import IDLE, figure_of, fitting_columns, is_dark, use_colours
from noctule.plots.texts import finish_time_axis, limit_time, name_panel, plain, time_unit
from noctule.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What the colours of a Gantt chart can tell apart.
COLOURINGS = ("job", *CLASSES)

# more would be a grey noise, and a file that nobody can open
_MAX_BOXES = 5000
_MAX_LABELLED = 60
# rows and columns of a map
_GRID = (400, 1200)
# what a letter takes, in inches
_LETTER_WIDTH, _LETTER_HEIGHT = 0.068, 0.11


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn, for a legend: classes and grounds with their shades, or a map of use."""

    shades: dict[str, str] = field(default_factory=dict)
    use: Any = None


def gantt(
    runs: Schedule | Runs,
    *,
    window: Window | None = None,
    colour: str = "job",
    stretches: Sequence[Sequence[Stretch]] = (),
    columns: int = 2,
) -> Figure:
    """Show when which hosts ran which job, one panel a run, as `draw_gantt` does.

    `stretches` are those of each run.
    """
    panes = named(runs)
    span = window or common_span(panes)
    classes = _classes(colour, [schedule for _, schedule in panes])
    told = list(stretches) or [()] * len(panes)
    with figure_of(len(panes), 2.3, columns=columns) as (figure, panels):
        shades: dict[str, str] = {}
        maps = []
        for axes, (name, schedule), some in zip(panels, panes, told, strict=True):
            drawn = _draw(axes, schedule, span, classes, some)
            shades |= drawn.shades
            maps += [drawn.use] if drawn.use is not None else []
            name_panel(axes, name)
            axes.label_outer()
        _explain(figure, shades, [stretch for some in told for stretch in some])
        if maps:
            figure.colorbar(maps[-1], ax=panels, label="share of the time in use", pad=0.01)
        return figure


def draw_gantt(
    axes: Axes,
    schedule: Schedule,
    *,
    window: Window | None = None,
    colour: str = "job",
    stretches: Sequence[Stretch] = (),
) -> None:
    """Show when which hosts ran which job: a box for each run of neighbouring hosts.

    Colours are one of COLOURINGS. A schedule of more than some thousand boxes becomes a map, in
    which colours are mixed by exact shares, or, for jobs, tell how much of the time the hosts of
    each cell were in use. Where hosts had power states the ground tells them.
    """
    span = window or common_span(schedule)
    drawn = _draw(axes, schedule, span, _classes(colour, [schedule]), stretches)
    handles = [*_patches(drawn.shades), *stretch_handles(stretches)]
    if handles:
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _classes(colour: str, schedules: Sequence[Schedule]) -> Classes:
    if colour == "job":
        return Classes((), SHADES, turns)
    if colour not in CLASSES:
        expected = ", ".join(COLOURINGS)
        raise InputError(f"gantt: colour: got {colour!r}, expected one of {expected}")
    return classes_of(colour, schedules)


@dataclass(frozen=True, slots=True)
class _Chart:
    """What is on a chart: jobs in their classes, and what hosts without jobs did."""

    schedule: Schedule
    span: Window
    classes: Classes
    boxes: Boxes
    grounds: Mapping[str, Boxes]

    @property
    def n_hosts(self) -> int:
        return self.schedule.platform.n_hosts

    def codes(self) -> Codes:
        """Return the class of each box."""
        return self.classes.code(self.schedule)[self.boxes.row]


def _draw(
    axes: Axes, schedule: Schedule, span: Window, classes: Classes, stretches: Sequence[Stretch]
) -> Drawn:
    boxes = boxes_of(schedule, span.start, span.end)
    chart = _Chart(schedule, span, classes, boxes, power_boxes(schedule, span))
    finish_time_axis(axes, span, "host")
    axes.grid(visible=False)
    axes.set_ylim(0, chart.n_hosts)
    axes.locator_params(axis="y", integer=True)
    axes.set_facecolor(IDLE)
    unit = limit_time(axes, span)
    if len(boxes) + sum(map(len, chart.grounds.values())) <= _MAX_BOXES:
        drawn = _draw_boxes(axes, chart, unit)
    elif classes.labels or chart.grounds:
        drawn = _draw_mixture(axes, chart)
    else:
        cells = _cells(boxes, chart)
        drawn = Drawn(use=_show(axes, cells, chart, cmap=use_colours(), vmin=0.0, vmax=1.0))
    draw_stretches(axes, stretches, span, unit)
    return drawn


def _draw_boxes(axes: Axes, chart: _Chart, unit: float) -> Drawn:
    """Draw each box, on the grounds of hosts without jobs."""
    boxes, classes = chart.boxes, chart.classes
    for name, ground in chart.grounds.items():
        _add(axes, ground, unit, GROUNDS[name], edge=0.0)
    code = chart.codes()
    # many boxes would be all edge
    edge = 0.5 if len(boxes) <= 300 else 0.1
    _add(axes, boxes, unit, [classes.shades[i] for i in code.tolist()], edge=edge)
    if not classes.labels and len(np.unique(boxes.row)) <= _MAX_LABELLED:
        _label(axes, chart, unit)
    present = np.unique(code).tolist() if classes.labels else []
    told = {classes.labels[i]: classes.shades[i] for i in present}
    return Drawn(told | {name: GROUNDS[name] for name in chart.grounds})


def _add(axes: Axes, boxes: Boxes, unit: float, shades: str | list[str], *, edge: float) -> None:
    from matplotlib.collections import PolyCollection

    corners = boxes.corners()
    corners[:, :, 0] /= unit
    edges = "white" if edge else "face"
    axes.add_collection(
        PolyCollection(
            list(corners), facecolors=shades, edgecolors=edges, linewidths=edge, closed=True
        )
    )


def _draw_mixture(axes: Axes, chart: _Chart) -> Drawn:
    """Draw a map in which each cell has the mean colour of what its hosts did meanwhile."""
    from matplotlib.colors import to_rgb

    layers = {name: (GROUNDS[name], ground) for name, ground in chart.grounds.items()}
    labels, shades = chart.classes.labels, chart.classes.shades
    if labels:
        code = chart.codes()
        for i in np.unique(code).tolist():
            layers[labels[i]] = (shades[i], chart.boxes.where(code == i))
    else:
        layers["in use"] = (SHADES[0], chart.boxes)
    cells: Any = 0.0
    idle: Any = 1.0
    for shade, boxes in layers.values():
        share = _cells(boxes, chart)
        cells = cells + share[:, :, None] * np.array(to_rgb(shade))
        idle = idle - share
    cells = cells + np.maximum(idle, 0.0)[:, :, None] * np.array(to_rgb(IDLE))
    _show(axes, np.clip(cells, 0.0, 1.0), chart)
    return Drawn({name: shade for name, (shade, _) in layers.items()})


def _cells(boxes: Boxes, chart: _Chart) -> npt.NDArray[np.float64]:
    edges = np.linspace(chart.span.start, chart.span.end, _GRID[1] + 1)
    return occupancy(boxes, edges, chart.n_hosts, min(chart.n_hosts, _GRID[0]))


def _show(axes: Axes, cells: npt.NDArray[np.float64], chart: _Chart, **colours: Any) -> Any:
    unit, _ = time_unit(chart.span)
    extent = (chart.span.start / unit, chart.span.end / unit, 0, chart.n_hosts)
    return axes.imshow(cells, aspect="auto", origin="lower", extent=extent, **colours)


def _label(axes: Axes, chart: _Chart, unit: float) -> None:
    """Write the ids of jobs into their largest boxes, where there is room."""
    boxes, code = chart.boxes, chart.codes()
    size = axes.bbox.width / axes.figure.dpi, axes.bbox.height / axes.figure.dpi
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = (boxes.right - boxes.left) / unit, boxes.top - boxes.bottom
    ids = chart.schedule.column("job_id")
    for row in np.unique(boxes.row).tolist():
        mine = np.flatnonzero(boxes.row == row)
        i = int(mine[np.argmax((width * height)[mine])])
        text = plain(ids[row], longest=12)
        has_width = width[i] / (right - left) * size[0] > _LETTER_WIDTH * (len(text) + 0.5)
        if has_width and height[i] / (top - bottom) * size[1] > _LETTER_HEIGHT:
            x = boxes.left[i] / unit + width[i] / 2
            y = boxes.bottom[i] + height[i] / 2
            colour = "white" if is_dark(chart.classes.shades[code[i]]) else "black"
            place: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": True}
            axes.text(x, y, text, fontsize=6.5, color=colour, **place)


def _patches(shades: Mapping[str, str]) -> list[Any]:
    from matplotlib.patches import Patch

    return [Patch(color=shade, label=text) for text, shade in shades.items()]


def _explain(figure: Figure, shades: Mapping[str, str], stretches: Sequence[Stretch]) -> None:
    """Put what colours and hatches mean below all panels."""
    handles = [*_patches(shades), *stretch_handles(stretches)]
    if handles:
        labels = [str(handle.get_label()) for handle in handles]
        n_columns = fitting_columns(labels, figure.get_figwidth())
        figure.legend(handles=handles, loc="outside lower center", ncols=n_columns)
