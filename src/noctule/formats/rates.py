"""Series of what a kilowatt-hour emits or costs: CSV with the columns time and value.

Times are seconds of the run, or dates where the workload tells which date its time 0 is. A last
line with `repeat` instead of a value says when the series begins again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from noctule.errors import InputError
from noctule.formats.headers import Headers, time_of_date
from noctule.rates import Rate, Rates
from noctule.saved.reading import CsvTable

__all__ = ["load_rate", "load_rates"]

_COLUMNS = ("time", "value")
REPEAT = "repeat"
_NEGATIVE = "price"


def rate_file(given: str | float | None) -> str | None:
    """Return the file that a FILE or NUMBER names; None for a number, or nothing."""
    return given if isinstance(given, str) and _number(given) is None else None


def load_rates(
    carbon: str | float | None = None,
    price: str | float | None = None,
    headers: Headers | None = None,
) -> Rates:
    """Return both rates, each from a file or a number; `headers` are those of the workload."""
    return Rates(
        None if carbon is None else load_rate(carbon, "carbon", headers),
        None if price is None else load_rate(price, "price", headers),
    )


def load_rate(
    given: str | os.PathLike[str] | float, what: str = "price", headers: Headers | None = None
) -> Rate:
    """Return the rate that a file, or a number, tells; only a price may be below zero.

    Dates in the file are those of a workload with these headers (UnixStartTime).
    """
    number = None if isinstance(given, os.PathLike) else _number(given)
    if number is None:
        return _read(CsvTable(Path(str(given))), what, headers or {})
    if not _is_value(number, what):
        raise InputError(f"{what}: got {given!r}, expected {_expected(what)}")
    return Rate.constant(number)


def _read(table: CsvTable, what: str, headers: Headers) -> Rate:
    if tuple(table.header) != _COLUMNS:
        found, expected = ",".join(table.header), ",".join(_COLUMNS)
        raise InputError(f"{table.path}: line 1: got {found!r}, expected {expected}")
    times, values = (list(table.required((name,))[1]) for name in _COLUMNS)
    repeats = bool(values) and values[-1] == REPEAT
    if len(values) <= repeats:
        raise InputError(f"{table.path}: line 1: got no line of values behind it, expected one")
    dates = _dates(table, times, headers)
    for row, (before, date) in enumerate(pairwise(dates), 1):
        if not before < date:
            raise table.error(row, "time", repr(times[row]), f"a later time than {times[row - 1]}")
    period = dates[-1] - dates[0] if repeats else None
    n_steps = len(dates) - repeats
    return Rate(
        tuple(dates[:n_steps]),
        _values(table, values[:n_steps], what),
        period,
        source=str(table.path),
        last_line=table.line(len(dates) - 1),
    )


def _dates(table: CsvTable, texts: Sequence[str], headers: Headers) -> list[float]:
    """Return seconds of the run; a file has either numbers or dates."""
    numbers = [_number(text) for text in texts]
    if numbers[0] is None:
        return [_date(table, row, text, headers) for row, text in enumerate(texts)]
    for row, number in enumerate(numbers):
        if number is None or not math.isfinite(number):
            raise table.error(row, "time", repr(texts[row]), "seconds, as in the first line")
    return [number for number in numbers if number is not None]


def _date(table: CsvTable, row: int, text: str, headers: Headers) -> float:
    try:
        return time_of_date(text, headers, "time")
    except InputError as error:
        raise InputError(f"{table.path}: line {table.line(row)}: {error}") from None


def _values(table: CsvTable, texts: Sequence[str], what: str) -> tuple[float, ...]:
    found = []
    for row, text in enumerate(texts):
        number = _number(text)
        if number is None or not _is_value(number, what):
            expected = _expected(what)
            if text == REPEAT:
                expected += f"; {REPEAT} stands on the last line"
            raise table.error(row, "value", repr(text), expected)
        found.append(number)
    return tuple(found)


def _is_value(number: float, what: str) -> bool:
    return math.isfinite(number) and (number >= 0 or what == _NEGATIVE)


def _expected(what: str) -> str:
    return "a number" if what == _NEGATIVE else "a number >= 0"


def _number(text: str | float) -> float | None:
    try:
        return float(text)
    except (ValueError, OverflowError):
        return None
