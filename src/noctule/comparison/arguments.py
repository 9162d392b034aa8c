"""What callers may ask for, checked at the door."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from noctule.errors import InputError

REPLICATES = ("seed", "shake")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a table: which columns are compared, of which metrics, apart from which."""

    by: tuple[str, ...]
    metrics: tuple[str, ...]
    within: tuple[str, ...] = ()
    axes: tuple[str, ...] | None = None
    replicates: tuple[str, ...] = REPLICATES
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Precision:
    """How sure intervals and tests must be, and how many draws they are made from."""

    confidence: float
    n_draws: int
    seed: int

    @property
    def alpha(self) -> float:
        """How often a test may find a difference where there is none."""
        return 1.0 - self.confidence


def question_of(
    by: str | Sequence[str],
    metric: str | Sequence[str],
    *,
    within: str | Sequence[str],
    axes: Sequence[str] | None,
    replicates: str | Sequence[str],
    unit: str | None,
) -> Question:
    """Take single names for sequences of one."""
    return Question(
        _names(by),
        _names(metric),
        _names(within),
        None if axes is None else _names(axes),
        _names(replicates),
        unit,
    )


def precision_of(confidence: float, n_draws: int, seed: int) -> Precision:
    """Check the numbers that say how results are computed."""
    if not (math.isfinite(confidence) and 0.0 < confidence < 1.0):
        raise InputError(f"confidence: got {confidence}, expected a number between 0 and 1")
    return Precision(confidence, _whole("n_draws", n_draws, 100), _whole("seed", seed, 0))


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))


def _whole(what: str, value: int, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(f"{what}: got {value!r}, expected a whole number >= {least}")
    return number
