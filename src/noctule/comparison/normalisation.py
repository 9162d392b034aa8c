"""Intervals without the differences between workloads, which say nothing about policies.

Cousineau's normalisation shifts each unit to the mean of all: only what levels do to it is left.
That makes residuals too small by sqrt((n - 1) / n) for n levels; Morey's correction undoes it.

Morey, "Confidence intervals from normalized data: a correction to Cousineau (2005)", Tutorials in
Quantitative Methods for Psychology 4, 2008; used for traces in Poquet's thesis (2017), 6.5.3.
"""

from __future__ import annotations

import math

import numpy as np

from noctule.comparison.units import Units


def normalised(units: Units) -> Units:
    """Return units with a column a level around the same means, without what levels share."""
    n_levels = units.values.shape[1]
    if n_levels < 2:
        return Units(np.full_like(units.values, math.nan), units.sizes, units.unit)
    shifted = units.values - units.values.mean(axis=1, keepdims=True)
    around = shifted - (units.weights()[:, None] * shifted).sum(axis=0)
    corrected = around * math.sqrt(n_levels / (n_levels - 1))
    return Units(units.means() + corrected, units.sizes, units.unit)
