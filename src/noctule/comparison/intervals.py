"""Confidence intervals of means, differences and relative differences.

Percentile intervals of the bootstrap, widened for small samples: the two percentiles are those that
make a normal sample give Student's interval (Hesterberg, "What teachers should know about the
bootstrap", The American Statistician 69, 2015). With fewer than five degrees of freedom, too few
different studies can be drawn: there it is Student's interval itself, and for a ratio Fieller's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from noctule.comparison.student import student_quantile
from noctule.comparison.units import Floats, Units

LEAST_FREEDOM = 5.0
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the interval that holds the true one with the confidence asked for."""

    value: float
    low: float
    high: float

    @property
    def has_interval(self) -> bool:
        """Whether the interval has two ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def excludes_zero(self) -> bool:
        """Whether zero is outside of the interval; no if there is none."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, slots=True)
class Reach:
    """How far an interval goes: Student's quantile, and whether draws can say how far that is."""

    quantile: float
    freedom: float

    @property
    def by_bootstrap(self) -> bool:
        """Whether the interval is one of the bootstrap."""
        return self.freedom >= LEAST_FREEDOM - _ROUNDING

    @property
    def tail(self) -> float:
        """The share of the draws beyond each end."""
        return NormalDist().cdf(-self.quantile)


def reach_of(units: Units, confidence: float) -> Reach:
    """Return how far the intervals of these units go; the first column decides."""
    freedom = units.freedom()
    return Reach(student_quantile((1.0 - confidence) / 2.0, freedom), freedom)


def mean_estimate(units: Units, draws: Floats, reach: Reach) -> Estimate:
    """Return the mean of the first column; `draws` are its means in drawn studies."""
    mean = float(units.means()[0])
    if len(units) < 2:
        return Estimate(mean, math.nan, math.nan)
    if not reach.by_bootstrap:
        half = reach.quantile * math.sqrt(float(units.covariance()[0, 0]))
        return Estimate(mean, mean - half, mean + half)
    return Estimate(mean, *_percentiles(draws, reach.tail))


def relative_estimate(
    units: Units, draws: Floats, reference_draws: Floats, reach: Reach
) -> Estimate | None:
    """Return the difference (first column) in per cent of the reference (second column).

    It is None unless the mean of the reference is positive, and without an interval if that is so
    near to zero that the interval would not end.
    """
    difference, reference = units.means().tolist()
    if not (math.isfinite(reference) and reference > 0.0 and math.isfinite(difference)):
        return None
    value = 100.0 * difference / reference
    if len(units) < 2:
        return Estimate(value, math.nan, math.nan)
    if not reach.by_bootstrap:
        ends = _fieller(units, reach.quantile)
    else:
        ends = _percentiles(_ratios(draws, reference_draws), reach.tail)
    if ends is None or not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
        return Estimate(value, math.nan, math.nan)
    return Estimate(value, 100.0 * ends[0], 100.0 * ends[1])


def _ratios(draws: Floats, reference_draws: Floats) -> Floats:
    """Return drawn differences over their references, infinite unless those are positive."""
    positive = reference_draws > 0.0
    if positive.all():
        return np.asarray(draws / reference_draws, np.float64)
    ratio = np.where(positive, draws, np.copysign(math.inf, draws))
    return np.divide(ratio, reference_draws, out=ratio, where=positive)


def _percentiles(draws: Floats, tail: float) -> tuple[float, float]:
    """Return the ends of the middle part of the draws, each one of the draws."""
    low = math.floor(tail * (len(draws) - 1))
    high = len(draws) - 1 - low
    # one at a time: NumPy has a faster way for one place than for several
    return float(np.partition(draws, low)[low]), float(np.partition(draws, high)[high])


def _fieller(units: Units, quantile: float) -> tuple[float, float] | None:
    """Solve (difference - x reference)^2 = quantile^2 variance for x; None without two ends."""
    difference, reference = units.means().tolist()
    variance = quantile**2 * units.covariance()
    a = reference**2 - float(variance[1, 1])
    b = difference * reference - float(variance[0, 1])
    c = difference**2 - float(variance[0, 0])
    inside = b * b - a * c
    if a <= 0.0 or inside < 0.0:
        return None
    root = math.sqrt(inside)
    return (b - root) / a, (b + root) / a
