"""Verdicts: what a comparison says, in one plain sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from noctule.comparison.intervals import Estimate
from noctule.comparison.objectives import Objective
from noctule.comparison.pairing import Pairs
from noctule.comparison.units import WORKLOAD

OUT_OF_REACH = 10_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found about two levels; `shown` is the difference, in per cent where it can be."""

    shown: Estimate
    in_per_cent: bool
    significant: bool
    n_needed: float
    p_corrected: float
    effect: float


def verdict(pairs: Pairs, objective: Objective, outcome: Outcome) -> str:
    """Say which level is better and by how much, or why that cannot be said."""
    n = pairs.n_pairs
    if pairs.n_infinite:
        some = f"{pairs.n_infinite} of {n + pairs.n_infinite}"
        return f"no difference can be given: {pairs.metric} is infinite in {some} pairs"
    if not n:
        return f"no pairs: no run of {pairs.level} has a partner among those of {pairs.reference}"
    if pairs.are_identical:
        return "identical on the only pair" if n == 1 else f"identical on all {n} pairs"
    if len(pairs.units) == 1:
        only = "one pair" if n == 1 else f"{n} pairs of one {WORKLOAD} and seed"
        return f"{only}: no interval can be given; use shake or seeds"
    if not outcome.significant:
        return f"no significant difference with {_units(pairs)}; {_needed(pairs, outcome.n_needed)}"
    word = _word(objective, outcome.shown.value)
    unit = "%" if outcome.in_per_cent else objective.unit
    amount = f"{in_words(outcome.shown)} {unit}".rstrip()
    return f"{pairs.level} {word} than {pairs.reference} by {amount}"


def in_words(estimate: Estimate) -> str:
    """Write how far an interval that excludes zero is from it: `8 to 12`, `0.71 to 0.75`."""
    near, far = sorted((abs(estimate.low), abs(estimate.high)))
    width = far - near
    if width <= 1e-9 * far:
        return _rounded(far, 2 - _magnitude(far))
    decimals = -_magnitude(width / 3.0)
    if far < 1000.0:
        decimals = max(decimals, 0)
    near_decimals = decimals if near >= 10.0**-decimals else -_magnitude(near)
    low, high = _rounded(near, near_decimals), _rounded(far, decimals)
    return high if low == high else f"{low} to {high}"


def _word(objective: Objective, difference: float) -> str:
    if objective.better is None:
        return "larger" if difference > 0.0 else "smaller"
    return "better" if (difference > 0.0) == (objective.better == "larger") else "worse"


def _units(pairs: Pairs) -> str:
    sizes = pairs.units.sizes
    unit = pairs.units.unit
    few, many = min(sizes), max(sizes)
    count = f"{many} {unit}s" if few == many else f"{few} to {many} {unit}s"
    return count if len(sizes) == 1 else f"{count} of each of {len(sizes)} {WORKLOAD}s"


def _needed(pairs: Pairs, n_units: float) -> str:
    n = n_units / len(pairs.units.sizes)
    if n > OUT_OF_REACH:
        return f"more than {OUT_OF_REACH} would be needed"
    return f"about {about(math.ceil(n))} would be needed"


def about(n: int) -> int:
    """Round up to two digits: what is known of the effect does not give more."""
    step = int(10 ** max(0, len(str(n)) - 2))
    return -(-n // step) * step


def _magnitude(number: float) -> int:
    return math.floor(math.log10(number))


def _rounded(number: float, decimals: int) -> str:
    if number >= 1e6:
        return f"{number:.{max(0, _magnitude(number) + decimals)}e}"
    return f"{round(number, decimals):.{max(0, decimals)}f}"
