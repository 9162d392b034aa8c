"""Student's distribution, for any number of degrees of freedom above zero."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_PRECISION = 1e-11
_TERMS = 10_000
_LARGE = 1e7
_TINY = 1e-300


def student_tail(t: float, freedom: float) -> float:
    """Return the probability of a value above t >= 0."""
    if freedom > _LARGE:
        return NormalDist().cdf(-t)
    return 0.5 * _incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)


@cache
def student_quantile(tail: float, freedom: float) -> float:
    """Return the value above which there is a tail of at most one half."""
    high = 1.0
    while student_tail(high, freedom) > tail:
        high *= 2.0
    low = 0.0
    t = 0.5 * high
    # Newton's steps, or halves where those would leave the bracket
    while high - low > _PRECISION * high:
        excess = student_tail(t, freedom) - tail
        if excess > 0.0:
            low = t
        else:
            high = t
        step = excess / _density(t, freedom)
        if abs(step) <= _PRECISION * t:
            return t + step
        t = t + step if low < t + step < high else 0.5 * (low + high)
    return 0.5 * (low + high)


def _density(t: float, freedom: float) -> float:
    log_front = math.lgamma(0.5 * (freedom + 1.0)) - math.lgamma(0.5 * freedom)
    log_front -= 0.5 * math.log(freedom * math.pi)
    return math.exp(log_front - 0.5 * (freedom + 1.0) * math.log1p(t * t / freedom))


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction."""
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _continued_fraction(x, a, b) / a
    return 1.0 - front * _continued_fraction(1.0 - x, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the fraction from its front (Lentz), until a term changes nothing."""
    numerator = 1.0
    denominator = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    result = denominator
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        before = result
        for term in (even, odd):
            below, numerator = 1.0 + term * denominator, 1.0 + term / numerator
            if not (abs(below) > _TINY and abs(numerator) > _TINY):
                below, numerator = _away_from_zero(below), _away_from_zero(numerator)
            denominator = 1.0 / below
            result *= numerator * denominator
        if abs(result - before) <= 1e-15 * abs(result):
            break
    return result


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
