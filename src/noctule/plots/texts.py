"""Words and numbers in figures: names from strangers, durations, and axes of time.

A name is shown as it is: it is no formula, and it is one line. Characters that the font does not
have become a square.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from noctule.metrics import Window

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
_UNITS = ((3 * DAY, DAY, "days"), (2 * HOUR, HOUR, "h"), (2 * MINUTE, MINUTE, "min"))
_TICKS = (
    (1e-3, "1 ms"),
    (1.0, "1 s"),
    (10.0, "10 s"),
    (MINUTE, "1 min"),
    (10 * MINUTE, "10 min"),
    (HOUR, "1 h"),
    (6 * HOUR, "6 h"),
    (DAY, "1 d"),
    (7 * DAY, "1 wk"),
    (30 * DAY, "30 d"),
    (365 * DAY, "1 yr"),
    (3650 * DAY, "10 yr"),
)
_LONGEST_NAME = 36
_NO_GLYPH = "□"
# what a letter of a title takes, in inches
_LETTER = 0.067


def plain(name: object, *, longest: int = _LONGEST_NAME) -> str:
    """Return a name as Matplotlib must be given it to write it as it is; long ones are cut."""
    glyphs = _glyphs()
    # a tab, a line's end and the like are one space
    words = "".join(c if c.isprintable() else " " for c in str(name)).split()
    text = "".join(c if ord(c) in glyphs else _NO_GLYPH for c in " ".join(words))
    if len(text) > longest:
        head = (longest - 1) * 2 // 3
        text = f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"
    # a label that begins with an underscore would be left out of legends
    return (" " + text if text.startswith("_") else text).replace("$", r"\$")


def name_panel(axes: Axes, name: object, told: str = "") -> None:
    """Give a panel a title: a name, cut so that it has room, and what is told of it."""
    room = int(axes.bbox.width / axes.figure.dpi / _LETTER) - len(told)
    text = plain(name, longest=max(room, 12))
    axes.set_title(": ".join(part for part in (text, told) if part), loc="left")


def duration(seconds: float) -> str:
    """Return a duration for a reader, as in 1.5 h."""
    if math.isnan(seconds):
        return "-"
    for least, unit, name in _UNITS:
        if seconds >= least:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"


def time_unit(window: Window) -> tuple[float, str]:
    """Return the seconds of the unit in which a stretch of time reads best, and a label."""
    seconds, name = unit_of(window.length)
    return seconds, f"time ({name})"


def unit_of(seconds: float) -> tuple[float, str]:
    """Return the seconds of the unit in which durations up to this read best, and its name."""
    found = ((unit, name) for least, unit, name in _UNITS if seconds >= least)
    return next(found, (1.0, "s"))


def limit_time(axes: Axes, window: Window) -> float:
    """Make the x axis that of a stretch of time; return the seconds of its unit."""
    unit, label = time_unit(window)
    # a stretch without length is shown as a second
    end = window.end if window.end > window.start else window.start + 1.0
    axes.set_xlim(window.start / unit, end / unit)
    axes.set_xlabel(label)
    return unit


def finish_time_axis(axes: Axes, window: Window, what: str) -> None:
    """Label an axis of time that is drawn in its own unit, and what the other one shows."""
    limit_time(axes, window)
    if axes.get_subplotspec() is not None:
        axes.label_outer()
    axes.set_ylabel(what)
    axes.grid(axis="y")


def count_from_zero(axes: Axes) -> None:
    """Let the y axis of a number of something begin at none, with whole numbers."""
    axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
    axes.locator_params(axis="y", integer=True)


def scale_durations(axis: Axis, shortest: float, longest: float) -> None:
    """Make a logarithmic axis of durations in seconds, with ticks that have names."""
    _make_logarithmic(axis)
    ticks = [(at, text) for at, text in _TICKS if shortest <= at <= longest]
    if not ticks:
        middle = math.sqrt(shortest * longest)
        ticks = [(middle, duration(middle))]
    axis.set_ticks([at for at, _ in ticks], labels=[text for _, text in ticks])
    axis.set_ticks([], minor=True)


def scale_numbers(axis: Axis, values: Iterable[float]) -> None:
    """Make a logarithmic axis of numbers, written out."""
    _make_logarithmic(axis)
    known = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
    if max(known) < 20 * min(known):
        # less than some tens apart: powers of ten would hardly be seen
        ticks = _round_numbers(min(known), max(known))
        axis.set_ticks(ticks, labels=[f"{tick:,g}".replace(",", " ") for tick in ticks])
    else:
        write_numbers(axis)
    axis.set_ticks([], minor=True)


def write_numbers(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis as they are, and not as powers of ten."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    axis.set_minor_formatter(NullFormatter())


def _make_logarithmic(axis: Axis) -> None:
    axes = axis.axes
    if axis is axes.xaxis:
        axes.set_xscale("log")
    else:
        axes.set_yscale("log")


def _round_numbers(least: float, most: float) -> list[float]:
    """Return some round numbers about so large: few if these are far apart, else more."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    found: list[float] = []
    for factors in ((1, 2, 5), (1, 2, 3, 4, 5, 6, 8)):
        numbers = [factor * 10.0**power for power in powers for factor in factors]
        found = [number for number in numbers if least / 1.3 <= number <= most * 1.3]
        if len(found) > 2:
            break
    return found or [least]


def _number(value: float) -> str:
    size = abs(value)
    text = f"{size:,.0f}".replace(",", " ") if 1 <= size < 1e7 else f"{size:g}"
    return f"−{text}" if value < 0 else text


@cache
def _glyphs() -> frozenset[int]:
    """Return the characters that the font of all figures has."""
    from matplotlib import font_manager

    path = font_manager.findfont("DejaVu Sans")
    return frozenset(font_manager.get_font(path).get_charmap())
