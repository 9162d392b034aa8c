"""Figures of schedules: who ran where, how busy hosts were, what they drew, who waited how long.

Every function takes named schedules and returns a Matplotlib figure, for a notebook or for
`save_figure`. Colours are those of Okabe and Ito, and viridis: they can be told apart by all
readers. Large schedules are shown by exact means over short intervals, not by a cloud of lines.
"""

from __future__ import annotations

import importlib
import io
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule import metrics
from noctule.boxes import Boxes, boxes_of, occupancy
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.rates import NO_RATES, Rate, Rates
from noctule.record import STATE_WORDS, Floats
from noctule.schedule import Schedule
from noctule.timeseries import Steps, queue_length, span_of
from noctule.timeseries import power as power_over_time
from noctule.timeseries import utilisation as utilisation_over_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURINGS",
    "FIGURES",
    "FORMATS",
    "PALETTE",
    "Runs",
    "gantt",
    "power",
    "queue",
    "save_figure",
    "utilisation",
    "waits",
]

#: Schedules, each with the name that the picture gives it.
Runs = Sequence[tuple[str, Schedule]]

#: Okabe and Ito's colours, with a dark grey for black, and without yellow, which fades on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#444444")
# Large boxes of the dark grey would draw all eyes.
_BOX_PALETTE = PALETTE[:-1]
_STATE_COLOURS = {
    "completed": "#0072B2",
    "timed_out": "#E69F00",
    "killed": "#D55E00",
    "failed": "#CC79A7",
    "running": "#56B4E9",
}
_LINES = ("solid", "dashed", "dotted", "dashdot")
_OTHERS = "#bbbbbb"
_IDLE = "#f2f2f0"
_STYLE: Mapping[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "svg.hashsalt": "noctule",
    "pdf.fonttype": 42,
}
#: What pictures can be written as.
FORMATS = ("pdf", "png", "svg")
# A picture must not know when it was made: the same runs give the same bytes.
_METADATA: Mapping[str, Mapping[str, None]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {},
}

_WIDTH = 8.0
_MAX_BOXES = 5000
_MAX_LABELLED = 60
_MAX_STEPS = 800
_MAX_POINTS = 2000
_BINS = 400
_GRID = (200, 800)

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_UNITS = ((3 * _DAY, _DAY, "days"), (2 * _HOUR, _HOUR, "h"), (2 * _MINUTE, _MINUTE, "min"))
_WAIT_TICKS = (
    (1.0, "1 s"),
    (10.0, "10 s"),
    (_MINUTE, "1 min"),
    (10 * _MINUTE, "10 min"),
    (_HOUR, "1 h"),
    (6 * _HOUR, "6 h"),
    (_DAY, "1 day"),
    (7 * _DAY, "1 week"),
    (30 * _DAY, "30 days"),
    (365 * _DAY, "1 year"),
)
#: What the colours of a Gantt chart can tell apart.
COLOURINGS = ("job", "user", "state")


def gantt(runs: Runs, *, window: Window | None = None, colour: str = "job") -> Figure:
    """Show when which hosts ran which job, one panel a run.

    Colours tell jobs, users or states apart. A schedule of more than some thousand boxes is shown
    as a map of how much of the time the hosts of each cell were in use.
    """
    if colour not in COLOURINGS:
        expected = ", ".join(COLOURINGS)
        raise InputError(f"gantt: colour: got {colour!r}, expected one of {expected}")
    shown = window or common_span(runs)
    with figure_of(len(runs), 2.6) as (figure, panels):
        unit, label = time_unit(shown)
        image = None
        for axes, (name, schedule) in zip(panels, runs, strict=True):
            boxes = boxes_of(schedule, shown.start, shown.end)
            axes.set_title(name)
            axes.set_ylabel("host")
            axes.set_xlim(shown.start / unit, max(shown.end, shown.start + 1e-9) / unit)
            axes.set_ylim(0, schedule.platform.n_hosts)
            if len(boxes) > _MAX_BOXES:
                image = _draw_map(axes, schedule, boxes, shown, unit)
            else:
                _draw_boxes(axes, schedule, boxes, unit, colour)
        panels[-1].set_xlabel(label)
        if image is not None:
            figure.colorbar(image, ax=panels, label="share of the time in use", pad=0.01)
        return figure


def utilisation(runs: Runs, *, window: Window | None = None) -> Figure:
    """Show the share of the hosts in use over time, one panel a run, and its mean.

    Without a window, the mean is that of `noctule.metrics`, over the run's own time.
    """
    shown = window or common_span(runs)
    with figure_of(len(runs), 1.8) as (figure, panels):
        for axes, (name, schedule) in zip(panels, runs, strict=True):
            mean = metrics.utilisation(schedule, window=window)
            axes.set_title(f"{name}: mean {mean:.3f}")
            _draw_steps(axes, utilisation_over_time(schedule), shown, filled=True)
            axes.axhline(mean, color="0.3", linewidth=0.8, linestyle="dashed")
            axes.set_ylim(0, 1.05)
            finish_time_axis(axes, shown, "hosts in use")
        return figure


def queue(runs: Runs, *, window: Window | None = None, unit: str = "jobs") -> Figure:
    """Show how many jobs were waiting over time, or how many hosts they asked for."""
    shown = window or common_span(runs)
    with figure_of(1, 3.0) as (figure, (axes,)):
        for i, (name, schedule) in enumerate(runs):
            _draw_steps(axes, queue_length(schedule, unit=unit), shown, i, name)
        axes.set_ylim(bottom=0)
        axes.locator_params(axis="y", integer=True)
        what = "waiting jobs" if unit == "jobs" else "hosts that waiting jobs ask for"
        finish_time_axis(axes, shown, what)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        return figure


def power(runs: Runs, *, window: Window | None = None, rates: Rates = NO_RATES) -> Figure:
    """Show the power of all hosts over time, one line a run, and the rates below it."""
    shown = window or common_span(runs)
    others = {
        label: rate
        for label, rate in (("g CO2 / kWh", rates.carbon), ("EUR / kWh", rates.price))
        if rate is not None
    }
    with figure_of(1 + len(others), 3.0 if not others else 2.0) as (figure, panels):
        first, *rest = panels
        for i, (name, schedule) in enumerate(runs):
            _draw_steps(first, power_over_time(schedule) / 1000.0, shown, i, name)
        first.set_ylim(bottom=0)
        finish_time_axis(first, shown, "kW")
        first.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        for axes, (label, rate) in zip(rest, others.items(), strict=True):
            _draw_steps(axes, _rate_steps(rate, shown), shown, len(PALETTE) - 1)
            if min(rate.value) >= 0:
                axes.set_ylim(bottom=0)
            finish_time_axis(axes, shown, label)
        return figure


def _rate_steps(rate: Rate, shown: Window) -> Steps:
    """Return a rate as it is, or by means over short intervals if it has many steps."""
    inside = rate.changes(shown.start, shown.end, _MAX_STEPS)
    edges = np.linspace(shown.start, shown.end, _BINS + 1)
    if inside is not None:
        edges = np.concatenate([[shown.start], inside, [shown.end]])
    return Steps(edges[:-1], rate.means(edges[:-1], edges[1:]))


def waits(runs: Runs, *, window: Window | None = None) -> Figure:
    """Show which share of the ended jobs waited at most so long, one line a run."""
    demand_runs(runs)
    with figure_of(1, 3.0) as (figure, (axes,)):
        longest = 10.0
        for i, (name, schedule) in enumerate(runs):
            waiting = np.sort(metrics.waiting_time(schedule, window=window))
            x, y = _distribution(waiting)
            longest = max(longest, float(x[-1])) if len(x) else longest
            mean = math.fsum(waiting.tolist()) / len(waiting) if len(waiting) else math.nan
            axes.step(x, y, where="post", label=f"{name} (mean {_duration(mean)})", **line_style(i))
        axes.set_xscale("log")
        axes.set_xlim(1.0, longest * 1.1)
        axes.set_ylim(0, 1.02)
        ticks = [(at, text) for at, text in _WAIT_TICKS if at <= longest * 1.1]
        axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks])
        axes.minorticks_off()
        axes.set_xlabel("waited at most (up to 1 s: at the left edge)")
        axes.set_ylabel("share of jobs")
        axes.grid(color="0.9")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        return figure


#: The pictures by name.
FIGURES: Mapping[str, Callable[..., Any]] = {
    "gantt": gantt,
    "utilisation": utilisation,
    "queue": queue,
    "waits": waits,
    "power": power,
}


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the name of a picture asks for."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InputError(f"{os.fspath(path)}: got no known ending, expected .{', .'.join(FORMATS)}")
    return suffix


def folder_names(directories: Sequence[str]) -> list[str]:
    """Return the last parts of the paths, or all of them if two have the same."""
    names = [Path(directory).resolve().name for directory in directories]
    return names if len(set(names)) == len(names) else list(directories)


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float = 150) -> None:
    """Write a figure as .pdf, .png or .svg; a picture that is there is replaced."""
    suffix = check_format(path)
    data = io.BytesIO()
    with _matplotlib().rc_context(dict(_STYLE)):
        figure.savefig(data, format=suffix, dpi=dpi, metadata=dict(_METADATA[suffix]))
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data.getvalue())
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def figure_of(
    n_panels: int, height: float, *, shared: bool = True
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give a figure with panels one above the other, in our style, with one or many x axes."""
    with _matplotlib().rc_context(dict(_STYLE)):
        from matplotlib.figure import Figure

        size = (_WIDTH, 0.6 + height * n_panels)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(n_panels, 1, sharex=shared, squeeze=False)
        yield figure, panels[:, 0].tolist()


def demand_runs(runs: Runs) -> None:
    """Refuse a picture of nothing."""
    if not runs:
        raise InputError("picture: got no run, expected at least one")


def common_span(runs: Runs) -> Window:
    """Return the stretch of time in which something happened in any run."""
    demand_runs(runs)
    spans = [span_of(schedule) for _, schedule in runs]
    return Window(min(start for start, _ in spans), max(end for _, end in spans))


def time_unit(window: Window) -> tuple[float, str]:
    """Return the seconds of the unit in which a stretch of time reads best, and a label."""
    for least, seconds, name in _UNITS:
        if window.length >= least:
            return seconds, f"time ({name})"
    return 1.0, "time (s)"


def _draw_map(axes: Axes, schedule: Schedule, boxes: Boxes, shown: Window, unit: float) -> Any:
    n_hosts = schedule.platform.n_hosts
    n_rows = min(n_hosts, _GRID[0])
    edges = np.linspace(shown.start, shown.end, _GRID[1] + 1)
    cells = occupancy(boxes, edges, n_hosts, n_rows)
    return axes.imshow(
        cells,
        cmap="viridis",
        vmin=0.0,
        vmax=1.0,
        aspect="auto",
        origin="lower",
        extent=(shown.start / unit, shown.end / unit, 0, n_hosts),
    )


def _draw_boxes(axes: Axes, schedule: Schedule, boxes: Boxes, unit: float, colour: str) -> None:
    from matplotlib.collections import PolyCollection

    axes.set_facecolor(_IDLE)
    colours, legend = _colours(schedule, boxes, colour)
    corners = boxes.corners()
    corners[:, :, 0] /= unit
    # many boxes would be all edge
    edge = 0.5 if len(boxes) <= 300 else 0.1
    axes.add_collection(
        PolyCollection(
            list(corners), facecolors=colours, edgecolors="white", linewidths=edge, closed=True
        )
    )
    if len(np.unique(boxes.row)) <= _MAX_LABELLED and colour == "job":
        _label(axes, schedule, boxes, unit)
    if legend:
        from matplotlib.patches import Patch

        handles = [Patch(color=shade, label=text) for text, shade in legend.items()]
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _colours(schedule: Schedule, boxes: Boxes, colour: str) -> tuple[list[str], dict[str, str]]:
    """Return the colour of each box, and what the colours mean where it must be told."""
    if colour == "job":
        # by turns in the order of their starts, so that neighbours mostly differ
        rows, job = np.unique(boxes.row, return_inverse=True)
        order = np.argsort(schedule.record.start_time[rows], kind="stable")
        turn = np.argsort(order, kind="stable")
        return [_BOX_PALETTE[i % len(_BOX_PALETTE)] for i in turn[job].tolist()], {}
    if colour == "state":
        words = [STATE_WORDS[code] for code in schedule.record.state[boxes.row].tolist()]
        present = [word for word in _STATE_COLOURS if word in words]
        legend = {word: _STATE_COLOURS[word] for word in present}
        return [_STATE_COLOURS.get(word, _OTHERS) for word in words], legend
    users = schedule.column("user")[boxes.row].tolist()
    if users and all(user is None for user in users):
        raise InputError(
            "gantt: colour: got 'user' for a schedule that does not tell users, "
            "expected 'job' or 'state'"
        )
    area = (boxes.right - boxes.left) * (boxes.top - boxes.bottom)
    totals: dict[Any, float] = {}
    for user, part in zip(users, area.tolist(), strict=True):
        totals[user] = totals.get(user, 0.0) + part
    largest = sorted(totals, key=lambda user: (-totals[user], str(user)))[: len(_BOX_PALETTE)]
    shades = dict(zip(largest, _BOX_PALETTE, strict=False))
    legend = {f"user {user}": shade for user, shade in shades.items()}
    if len(totals) > len(shades):
        legend["others"] = _OTHERS
    return [shades.get(user, _OTHERS) for user in users], legend


def _label(axes: Axes, schedule: Schedule, boxes: Boxes, unit: float) -> None:
    """Write the ids of jobs into their largest boxes, where there is room."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = (boxes.right - boxes.left) / unit, boxes.top - boxes.bottom
    ids = schedule.column("job_id")
    for row in np.unique(boxes.row).tolist():
        mine = np.flatnonzero(boxes.row == row)
        i = int(mine[np.argmax((width * height)[mine])])
        text = str(ids[row])
        # a digit is about a hundredth of a panel wide, a line a fifteenth of it high
        roomy = width[i] > 0.012 * (len(text) + 1) * (right - left)
        if roomy and height[i] > 0.07 * (top - bottom):
            x = boxes.left[i] / unit + width[i] / 2
            y = boxes.bottom[i] + height[i] / 2
            axes.text(x, y, text, ha="center", va="center", fontsize=7, clip_on=True)


def _draw_steps(
    axes: Axes, steps: Steps, shown: Window, i: int = 0, label: str = "", *, filled: bool = False
) -> None:
    """Draw a step function as it is, or by means over short intervals if it has many steps."""
    unit, _ = time_unit(shown)
    inside = (steps.time > shown.start) & (steps.time < shown.end)
    if np.count_nonzero(inside) <= _MAX_STEPS:
        edges = np.concatenate([[shown.start], steps.time[inside], [shown.end]])
        values = steps.at(edges[:-1])
    else:
        edges = np.linspace(shown.start, shown.end, _BINS + 1)
        values = steps.means(edges)
    if filled:
        axes.stairs(values, edges / unit, fill=True, color=PALETTE[i], alpha=0.8)
    else:
        axes.stairs(values, edges / unit, baseline=None, label=label, **line_style(i))


def finish_time_axis(axes: Axes, shown: Window, what: str) -> None:
    """Label an axis of time that is drawn in its own unit, and what the other one shows."""
    unit, label = time_unit(shown)
    axes.set_xlim(shown.start / unit, max(shown.end, shown.start + 1e-9) / unit)
    axes.set_xlabel(label)
    axes.label_outer()
    axes.set_ylabel(what)
    axes.grid(axis="y", color="0.9")
    axes.set_axisbelow(True)


def line_style(i: int) -> dict[str, Any]:
    """Return how the i-th line looks; when the colours are used up, other dashes follow."""
    style = _LINES[i // len(PALETTE) % len(_LINES)]
    return {"color": PALETTE[i % len(PALETTE)], "linestyle": style, "linewidth": 1.2}


def _distribution(values: Floats) -> tuple[Floats, Floats]:
    """Return points of the distribution of sorted values, few enough to draw."""
    n = len(values)
    if not n:
        return np.empty(0), np.empty(0)
    rank: npt.NDArray[np.intp] = np.unique(np.linspace(0, n - 1, _MAX_POINTS).round().astype(int))
    x = np.concatenate([[1.0], np.maximum(values[rank], 1.0)])
    y = np.concatenate([[0.0], (rank + 1.0) / n])
    return x, y


def _duration(seconds: float) -> str:
    if math.isnan(seconds):
        return "-"
    for least, unit, name in _UNITS:
        if seconds >= least:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"


def _matplotlib() -> Any:
    """Import the library, which is only installed if asked for."""
    try:
        return importlib.import_module("matplotlib")
    except ImportError:
        raise InputError(
            "pictures: matplotlib is not installed, expected it from pip install 'noctule[plots]'"
        ) from None
