"""Drawing units again (the bootstrap), and changing the signs of their differences.

The draws depend on the seed and on the number of units in each stratum, and on nothing else: a
comparison gives the same numbers whatever else is compared in the same call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from noctule.comparison.units import Floats, Units, strata_of

EXACT_UP_TO = 16
_CHUNK = 200_000
_COLUMNS = 256
_BOOTSTRAP, _SIGNS = 1, 2
_ROUNDING = 1e-12
_DIGITS, _SMALLEST = 53, -1074  # of a double: its bits, and the exponent of the least one
# draws of one design, as a page about a campaign needs them for each of its tables
_MOST_KEPT = 20_000_000

Counts = npt.NDArray[np.unsignedinteger]


def bootstrap_means(units: Units, n_draws: int, seed: int) -> Floats:
    """Return the means of the columns in studies drawn from these units, a row each.

    As many units are drawn from a stratum as it has. Their residuals are stretched by
    sqrt(n / (n - 1)), without which the spread of strata with few units comes out too small.
    """
    centre = units.means()
    size = strata_of(units.sizes).sizes[strata_of(units.sizes).stratum]
    stretch = np.sqrt(size / np.maximum(size - 1.0, 1.0))
    parts = _summed_exactly(units.residuals() * (stretch * units.weights())[:, None])
    means = np.empty((parts.shape[1], n_draws))
    first = 0
    for counts in _drawn_counts(units.sizes, n_draws, seed):
        end = first + len(counts)
        means[:, first:end] = (centre + counts.astype(np.float64) @ parts).T
        first = end
    return means.T


def _drawn_counts(sizes: tuple[int, ...], n_draws: int, seed: int) -> Iterable[Counts]:
    """Return how often each unit is drawn, a row a study; what is small is kept for the next."""
    if sum(sizes) * n_draws > _MOST_KEPT:
        return _draw_counts(sizes, n_draws, seed)
    return _kept_counts(sizes, n_draws, seed)


@lru_cache(maxsize=4)
def _kept_counts(sizes: tuple[int, ...], n_draws: int, seed: int) -> tuple[Counts, ...]:
    return tuple(_draw_counts(sizes, n_draws, seed))


def _draw_counts(sizes: tuple[int, ...], n_draws: int, seed: int) -> Iterator[Counts]:
    strata, n = strata_of(sizes), sum(sizes)
    size, start = strata.sizes[strata.stratum], strata.starts[strata.stratum]
    rng = np.random.default_rng([seed, _BOOTSTRAP, *sizes])
    for n_rows in _chunks(n_draws, n):
        drawn = (rng.random((n_rows, n)) * size).astype(np.intp) + start
        drawn += np.arange(n_rows)[:, None] * n
        counts = np.bincount(drawn.reshape(-1), minlength=n_rows * n).reshape(n_rows, n)
        yield counts.astype(np.min_scalar_type(max(sizes)))


def sign_flip_p_values(units: Units, n_draws: int, seed: int) -> tuple[Floats, bool]:
    """Return for each column how often chance alone gives a mean as far from zero; and if exactly.

    Under the hypothesis of no difference, the two runs of a pair might as well be exchanged. All
    exchanges are tried up to 16 units; beyond, `n_draws` random ones, and the observed one counts.
    """
    parts = _summed_exactly(units.values * units.weights()[:, None])
    whole = parts.sum(axis=0)
    bound = np.abs(whole) - _ROUNDING * np.abs(parts).sum(axis=0)
    exact = len(units) <= EXACT_UP_TO
    n_far = np.zeros(parts.shape[1])
    n_tried = 0
    for flipped in _flips(units, n_draws, seed, exact=exact):
        means = whole - 2.0 * (flipped.astype(np.float64) @ parts)
        n_far += np.count_nonzero(np.abs(means) >= bound, axis=0)
        n_tried += len(flipped)
    return (n_far / n_tried if exact else (n_far + 1.0) / (n_tried + 1.0)), exact


def _summed_exactly(parts: Floats) -> Floats:
    """Return the columns rounded so that no sum of as many of their values is ever rounded.

    Sums are then the same in any order: matrix products are done in as many orders as there are
    libraries, processors and threads.
    """
    largest = np.abs(parts).max(axis=0, initial=0.0)
    exponent = np.frexp(np.where(np.isfinite(largest), largest, 0.0))[1] + len(parts).bit_length()
    step = np.ldexp(1.0, np.maximum(exponent - _DIGITS, _SMALLEST))
    return np.asarray(np.rint(parts / step) * step, np.float64)


def in_batches(units: Sequence[Units]) -> Iterator[tuple[list[int], Units]]:
    """Put values with the same strata side by side, as one draw serves them all."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for i, each in enumerate(units):
        alike.setdefault(each.sizes, []).append(i)
    for sizes, members in alike.items():
        per_batch = max(1, _COLUMNS // units[members[0]].values.shape[1])
        for first in range(0, len(members), per_batch):
            batch = members[first : first + per_batch]
            yield batch, Units(np.concatenate([units[i].values for i in batch], axis=1), sizes)


def _flips(
    units: Units, n_draws: int, seed: int, *, exact: bool
) -> Iterator[np.ndarray[tuple[int, int], np.dtype[np.uint8]]]:
    """Yield rows that say which signs change; the last sign of all never needs to."""
    n = len(units)
    if exact:
        cases = np.arange(2 ** (n - 1), dtype=np.uint32)
        yield ((cases[:, None] >> np.arange(n, dtype=np.uint32)) & 1).astype(np.uint8)
        return
    rng = np.random.default_rng([seed, _SIGNS, n])
    width = (n + 7) // 8
    for n_rows in _chunks(n_draws, n):
        octets = np.frombuffer(rng.bytes(n_rows * width), np.uint8).reshape(n_rows, width)
        yield np.unpackbits(octets, axis=1, count=n)


def _chunks(n_draws: int, n_units: int) -> Iterator[int]:
    most = max(1, _CHUNK // n_units)
    for first in range(0, n_draws, most):
        yield min(most, n_draws - first)
