"""Amounts as Kubernetes writes them: "500m", "2Gi", "1e3", and the whole numbers it counts in.

Everything is exact. As in Kubernetes, what is finer than a billionth is rounded up to one, and a
scheduler counts CPUs in thousandths and all else in units, rounded up too.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from noctule.errors import InputError
from noctule.units import shown

#: The resource that is counted in thousandths.
CPU = "cpu"

_QUANTITY = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:([eE][+-]?[0-9]{1,3})|([A-Za-z]*))")
_DECIMAL = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
}
_BINARY = {f"{letter}i": Fraction(1024**i) for i, letter in enumerate("KMGTPE", start=1)}
_FACTORS = _DECIMAL | _BINARY
_BILLION = 10**9
_LONGEST = 64


def parse(value: Any, where: str = "quantity") -> Fraction:
    """Return the exact value of a quantity, given as text or as a number.

    A float counts as the decimal that it prints as: 0.1 is one tenth.
    """
    found = None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        found = _value(value if isinstance(value, str) else repr(value))
    if found is None:
        got = shown(value) if isinstance(value, str) else shown(repr(value))
        raise InputError(
            f"{where}: got {got}, expected a Kubernetes quantity such as 500m, 2 or 4Gi"
        )
    return Fraction(math.ceil(found * _BILLION), _BILLION)


def written(value: Fraction | int, *, binary: bool = False) -> str:
    """Return the canonical text: a whole number and the largest suffix that keeps it whole.

    With `binary`, the suffixes are Ki, Mi, ... where the amount is a whole number of 1024 or more.
    """
    exact = Fraction(value)
    in_binary = binary and exact.denominator == 1 and abs(exact) >= 1024
    factors = {"": Fraction(1), **_BINARY} if in_binary else _DECIMAL
    for suffix, factor in reversed(factors.items()):
        number = exact / factor
        if number.denominator == 1 and (number or not suffix):
            return f"{number.numerator}{suffix}"
    raise InputError(f"quantity: got {value}, expected a whole number of billionths")


def counted(resource: str, amount: Fraction | int) -> int:
    """Return what a scheduler counts: thousandths of CPUs, units of anything else, rounded up."""
    return math.ceil(amount * 1000 if resource == CPU else amount)


def text_of_count(resource: str, count: int) -> str:
    """Return the quantity of what `counted` gave, for messages."""
    if resource == CPU:
        return written(Fraction(count, 1000))
    return written(count, binary=resource in ("memory", "ephemeral-storage"))


def _value(text: str) -> Fraction | None:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    sign, number, exponent, suffix = match.groups()
    factor = _FACTORS.get(suffix or "")
    if factor is None:
        return None
    return Fraction(f"{sign}{number}{exponent or ''}") * factor
