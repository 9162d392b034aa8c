"""What another policy, or another machine, changes for each job."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noctule.differences import differences
from noctule.errors import InputError
from noctule.metrics import Window
from noctule.plots.runs import Runs, common_span, named
from noctule.plots.style import GUIDE, OTHERS, PALETTE, figure_of
from noctule.plots.texts import DAY, HOUR, MINUTE, duration, finish_time_axis, plain, time_unit
from noctule.record import Floats
from noctule.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TICKS = (
    (MINUTE, "1 min"),
    (HOUR, "1 h"),
    (DAY, "1 d"),
    (30 * DAY, "30 d"),
    (600 * DAY, "600 d"),
)
_RASTERISED = 1000


def changes(
    runs: Runs, *, what: str = "start", window: Window | None = None, columns: int = 2
) -> Figure:
    """Show how much earlier or later each job came than in the first run, one panel a run."""
    panes = named(runs)
    if len(panes) < 2:
        raise InputError("changes: got one run, expected the one to compare with and another")
    (name_before, before), *others = panes
    span = window or _submissions(before)
    with figure_of(len(others), 1.9, columns=columns, share_y=True) as (figure, panels):
        for axes, (name, after) in zip(panels, others, strict=True):
            draw_changes(axes, before, after, what=what, window=span)
            told = axes.get_title(loc="left")
            told = told if columns == 2 else f"\n{told}"
            axes.set_title(f"{plain(name)} against {plain(name_before)}: {told}", loc="left")
            axes.label_outer()
        return figure


def draw_changes(
    axes: Axes,
    before: Schedule,
    after: Schedule,
    *,
    what: str = "start",
    window: Window | None = None,
) -> None:
    """Show how much earlier or later each job came in a schedule than in another.

    Jobs stand at their submissions in the first schedule; those that have the date in both are
    shown. The axis is linear up to a minute, and logarithmic beyond it.
    """
    found = differences(before, after)
    later = found.of(what)
    known = np.isfinite(later)
    submit, later = before.record.submit_time[found.rows_of_one][known], later[known]
    if not len(later):
        raise InputError(
            "changes: the two runs have no job that ran in both, expected runs of one workload"
        )
    span = window or _submissions(before)
    inside = (submit >= span.start) & (submit <= span.end)
    submit, later = submit[inside], later[inside]
    unit, _ = time_unit(span)
    axes.set_yscale("symlog", linthresh=MINUTE, linscale=0.8)
    axes.axhline(0, color=GUIDE, linewidth=0.8, zorder=1)
    for chosen, colour in (
        (later == 0, OTHERS),
        (later < 0, PALETTE[0]),
        (later > 0, PALETTE[3]),
    ):
        look: dict[str, Any] = {
            "markersize": 2.2,
            "alpha": 0.5,
            "markeredgewidth": 0,
            "color": colour,
        }
        rasterized = len(later) > _RASTERISED
        axes.plot(submit[chosen] / unit, later[chosen], "o", rasterized=rasterized, **look)
    _label_axes(axes, span, later, what)
    axes.set_title(_told(later, what), loc="left")


def _submissions(schedule: Schedule) -> Window:
    dates = schedule.record.submit_time
    if not len(dates):
        return common_span(schedule)
    return Window(float(dates.min()), float(dates.max()))


def _label_axes(axes: Axes, span: Window, later: Floats, what: str) -> None:
    finish_time_axis(axes, span, f"{what}: earlier | later")
    _, label = time_unit(span)
    axes.set_xlabel(label.replace("time", "submitted"))
    ticks = [(-at, f"−{text}") for at, text in reversed(_TICKS)]
    ticks += [(0.0, "0"), *((at, f"+{text}") for at, text in _TICKS)]
    low, high = (float(np.min(later, initial=-MINUTE)), float(np.max(later, initial=MINUTE)))
    # an axis that is shared has room for the panels before
    low, high = min(2.0 * low, axes.get_ylim()[0]), max(2.0 * high, axes.get_ylim()[1])
    chosen = [(at, text) for at, text in ticks if low <= at <= high]
    axes.set_yticks([at for at, _ in chosen], [text for _, text in chosen])
    axes.set_yticks([], minor=True)
    axes.set_ylim(low, high)


def _told(later: Floats, what: str) -> str:
    if not len(later):
        return "no job"
    earlier, behind = (later < 0).mean(), (later > 0).mean()
    mean = math.fsum(later.tolist()) / len(later)
    sign = "−" if mean < 0 else "+" if mean > 0 else ""
    longer = {"start": ("earlier", "later"), "end": ("earlier", "later")}.get(
        what, ("shorter", "longer")
    )
    shares = f"{earlier:.0%} {longer[0]}, {behind:.0%} {longer[1]}"
    return f"{shares}, mean {sign}{duration(abs(mean))}"
