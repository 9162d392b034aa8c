"""Values of options that Batsim 4 and 5 read alike."""

from __future__ import annotations

import math
import re

from noctule.batsim.options import BatsimError, Given
from noctule.units import shown

ROLES = ("master", "storage", "compute_node")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def whole_number(
    given: Given, name: str, default: int, *, least: int = 0, most: int = 2**31 - 1
) -> int:
    """Return a whole number within limits."""
    text = given.one(name, str(default))
    if not (_WHOLE.fullmatch(text) and least <= int(text) <= most):
        raise BatsimError(
            f"{name}: got {shown(text)}, expected a whole number from {least} to {most}"
        )
    return int(text)


def timeout_of(given: Given) -> float | None:
    """Return how long a scheduler may be silent; None for ever."""
    if "--timeout" not in given:
        return None
    text = given.one("--timeout", "")
    seconds = number_of(text)
    if not seconds > 0:
        raise BatsimError(f"--timeout: got {shown(text)}, expected seconds, more than 0")
    return seconds


def number_of(text: str) -> float:
    """Return a finite number, or NaN."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and text.isascii() else math.nan


def simgrid_options_of(given: Given) -> dict[str, str]:
    """Return options of SimGrid by name."""
    options = {}
    for text in given.all("--sg-cfg"):
        name, colon, value = text.partition(":")
        if not (name and colon):
            raise BatsimError(f"--sg-cfg: got {shown(text)}, expected an option as in name:value")
        options[name] = value
    return options
