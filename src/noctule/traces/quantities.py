"""Numbers as people write them: seconds, `7d`, 2024-02-29 or 2024-02-29T12:00; and exact sums."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy.typing as npt

from noctule.errors import InputError
from noctule.formats.headers import Headers, time_of_date

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([smhdw]?)")
_POSITIONS = re.compile(r"(-?[0-9]+)?:(-?[0-9]+)?")
_RANGE = re.compile(r"([0-9]+)-([0-9]+)")


def total(values: npt.NDArray[Any]) -> float:
    """Add up exactly: the same on every machine, whatever the order of the additions."""
    try:
        return math.fsum(values.tolist())
    except OverflowError:
        return math.inf


def duration_of(text: str, *, where: str) -> float:
    """Read a positive duration: seconds, or a number with s, m, h, d or w behind it."""
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(f"{where}: got {text!r}, expected a positive duration such as 3600 or 7d")
    return seconds


def time_of(text: str, headers: Headers, *, where: str) -> float:
    """Read a time of a log: seconds as in the log, or a date, in the log's time zone."""
    try:
        seconds = float(text)
    except ValueError:
        return time_of_date(text, headers, where)
    if not math.isfinite(seconds):
        raise InputError(f"{where}: got {text!r}, expected seconds or a date")
    return seconds


def ids_in(texts: Iterable[str], *, where: str) -> list[str]:
    """Read ids that are separated by commas; `3-7` is all whole numbers from 3 to 7."""
    found: list[str] = []
    for text in texts:
        for item in text.split(","):
            match = _RANGE.fullmatch(item.strip())
            if match is None:
                found.append(item.strip())
            else:
                found += map(str, _numbers(int(match[1]), int(match[2]), where))
    if "" in found:
        raise InputError(f"{where}: got an empty item, expected such as 3,7-20")
    return found


def positions_in(text: str, *, where: str) -> slice:
    """Read positions as in Python: `100:200`, `:1000`, `-50:`."""
    match = _POSITIONS.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{where}: got {text!r}, expected such as 100:200 or :1000")
    first, last = (int(end) if end else None for end in match.groups())
    return slice(first, last)


def range_of(text: str, *, where: str) -> tuple[float, float]:
    """Read a range of numbers >= 0: `0.8:0.95`, `0.8:`, `:0.5`."""
    first, colon, last = text.partition(":")
    try:
        least = float(first) if first.strip() else 0.0
        most = float(last) if last.strip() else math.inf
    except ValueError:
        least = most = math.nan
    if not colon or not 0 <= least <= most:
        raise InputError(f"{where}: got {text!r}, expected such as 0.8:0.95 or 0.8:")
    return least, most


def _numbers(first: int, last: int, where: str) -> range:
    if last < first:
        raise InputError(f"{where}: got {first}-{last}, expected the smaller number first")
    if last - first >= 100_000_000:
        raise InputError(f"{where}: got {first}-{last}, expected a shorter range")
    return range(first, last + 1)
