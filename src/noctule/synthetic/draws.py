"""Random numbers made of uniform doubles alone, so that a seed means the same everywhere.

NumPy promises the stream of its bit generators, not that of its distributions: a new version may
draw other gamma variates from the same seed. Here everything comes from `Generator.random`. What
is left to the machine is the last bit of a logarithm or a power; the models round their results
to whole seconds, which hides it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats, shown
from noctule.errors import InputError

Seed = int | np.random.Generator
Positions = npt.NDArray[np.intp]

_SMALLEST = 2.0**-53
_ROUNDS = 1000


def generator(seed: Seed) -> np.random.Generator:
    """Return a PCG64 generator of a seed, or the generator that was given."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed: got {seed!r}, expected a whole number >= 0 or a NumPy Generator")
    return np.random.Generator(np.random.PCG64(int(seed)))


def uniform(rng: np.random.Generator, n: int) -> Floats:
    """Draw from the open interval (0, 1)."""
    return np.clip(rng.random(n), _SMALLEST, 1.0 - _SMALLEST)


def exponential(rng: np.random.Generator, n: int) -> Floats:
    """Draw from the exponential distribution of mean 1."""
    return -np.log(uniform(rng, n))


def normal(rng: np.random.Generator, n: int) -> Floats:
    """Draw from the standard normal distribution, by inversion: one uniform each."""
    quantile = NormalDist().inv_cdf
    return np.fromiter(map(quantile, uniform(rng, n).tolist()), dtype=np.float64, count=n)


def weibull(rng: np.random.Generator, shape: float, n: int) -> Floats:
    """Draw from the Weibull distribution of scale 1."""
    return np.power(exponential(rng, n), 1.0 / shape)


def gamma(rng: np.random.Generator, shape: float, n: int) -> Floats:
    """Draw from the gamma distribution of scale 1.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000.
    """
    if shape < 1:
        # a variate of shape + 1 times a power of a uniform one, as in the paper's section 6
        return gamma(rng, shape + 1.0, n) * np.power(uniform(rng, n), 1.0 / shape)
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)

    def candidates(positions: Positions) -> Floats:
        x = normal(rng, len(positions))
        log_u = np.log(uniform(rng, len(positions)))
        v = np.maximum(1.0 + c * x, 0.0) ** 3
        with np.errstate(divide="ignore"):
            accepted = log_u < 0.5 * x * x + d - d * v + d * np.log(v)
        return np.where(accepted, d * v, np.nan)

    return redrawn(n, candidates, lambda values: ~np.isnan(values))


def gamma_cdf(shape: float, x: float) -> float:
    """Return the probability that a gamma variate of scale 1 is at most x, by its series."""
    if x <= 0:
        return 0.0
    term = total = 1.0 / shape
    k = shape
    while term > total * 1e-17:
        k += 1.0
        term *= x / k
        total += term
    return total * math.exp(shape * math.log(x) - x - math.lgamma(shape))


def redrawn(
    n: int,
    draw: Callable[[Positions], Floats],
    good: Callable[[Floats], npt.NDArray[np.bool_]],
    *,
    what: str = "a value in range",
) -> Floats:
    """Draw n values, and those that are not good again until all are.

    `draw` gets the positions it draws for.
    """
    values = draw(np.arange(n))
    for _ in range(_ROUNDS):
        bad = np.flatnonzero(~good(values))
        if not len(bad):
            return values
        values[bad] = draw(bad)
    raise InputError(f"{what}: not drawn in {_ROUNDS} attempts, expected it to be likelier")


def chosen(
    rng: np.random.Generator, values: Floats, n: int, weights: Floats | None = None
) -> Floats:
    """Draw from a list of values, by their weights if there are any."""
    u = rng.random(n)
    if weights is None:
        index = (u * len(values)).astype(np.intp)
    else:
        edges = np.cumsum(weights)
        index = np.minimum(np.searchsorted(edges, u * edges[-1], side="right"), len(values) - 1)
    drawn: Floats = values[index]
    return drawn


def positive(where: str, value: float) -> float:
    """Return a number above zero, or refuse it."""
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{where}: got {shown(value)}, expected a positive number")
    return float(value)


def count(where: str, value: object) -> int:
    """Return a whole number of at least 1, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{where}: got {value!r}, expected a whole number >= 1")
    return int(value)
