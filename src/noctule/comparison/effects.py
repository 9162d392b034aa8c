"""How large a difference is, beside whether it is real; and how many pairs would show it."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from noctule.comparison.units import Floats, Units

POWER = 0.8
_ROUNDING = 1e-12


def cohens_dz(units: Units) -> float:
    """Return the mean of the differences over their spread within strata; infinite without any."""
    (mean,) = units.means().tolist()
    spread = math.sqrt(float(units.covariance()[0, 0]) * len(units))
    if spread <= _ROUNDING * abs(mean):
        return math.copysign(math.inf, mean) if mean else 0.0
    return float(mean / spread)


def rank_biserial(differences: Floats) -> float:
    """Return by how much the ranks of positive differences outweigh the others', from -1 to 1.

    Differences of zero are left out, equal ones share their rank (Kerby, Comprehensive Psychology
    3, 2014).
    """
    signed = differences[differences != 0.0]
    if not len(signed):
        return 0.0
    _, place, count = np.unique(np.abs(signed), return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2.0)[place]
    return float(np.sum(rank * np.sign(signed)) / np.sum(rank))


def units_needed(effect: float, alpha: float, n_units: int) -> float:
    """Return how many units would show an effect in four of five studies; infinite without one.

    That is the normal approximation to the paired t-test with its correction for small samples, and
    no less than what a sign-flip test needs to reach `alpha` at all.
    """
    if effect == 0.0:
        return math.inf
    least = math.ceil(1.0 - math.log2(alpha))
    two_sided = NormalDist().inv_cdf(1.0 - alpha / 2.0)
    wanted = two_sided + NormalDist().inv_cdf(POWER)
    needed = (wanted / effect) ** 2 + two_sided**2 / 2.0
    return max(float(math.ceil(needed)), float(least), n_units + 1.0)
