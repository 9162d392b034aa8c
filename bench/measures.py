"""The table that all benchmarks print: what was measured, as a ratio to a unit of the same run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """One line; `bound` is the most, or with `least` the least, that is allowed."""

    what: str
    ours: str
    unit: str
    ratio: float
    bound: float
    least: bool = False

    @property
    def holds(self) -> bool:
        if math.isinf(self.bound):
            return True
        return self.ratio >= self.bound if self.least else self.ratio <= self.bound

    def __str__(self) -> str:
        ratio = "" if math.isnan(self.ratio) else f"{self.ratio:.2f}"
        sign = "≥" if self.least else ""
        bound = "" if math.isinf(self.bound) else f"{sign}{self.bound:.1f}"
        mark = "" if self.holds else "  missed"
        line = f"{self.what:50} {self.ours:>14}  {self.unit:32} {ratio:>6} {bound:>6}{mark}"
        return line.rstrip()


def report(measures: Iterable[Measure]) -> int:
    """Print each measure as it comes; return the exit code, 1 if a bound is missed."""
    print(f"{'what':50} {'ours':>14}  {'unit, in the same run':32} {'ratio':>6} {'bound':>6}")
    missed = 0
    for measure in measures:
        print(measure, flush=True)
        missed += not measure.holds
    return 1 if missed else 0
