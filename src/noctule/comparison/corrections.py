"""Holm's correction: many comparisons at once, and still few false alarms in all of them together.

Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
6, 1979. It holds whatever the dependence between the comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number; those that are NaN were not tested."""
    tested = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected = [math.nan] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        corrected[i] = largest
    return corrected


def level_of_the_rest(corrected: Sequence[float], alpha: float) -> float:
    """Return the p-value that the best of those without significance would have had to reach."""
    n_left = sum(1 for p in corrected if p > alpha)
    return alpha / max(n_left, 1)
