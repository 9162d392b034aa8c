"""Units: what is drawn again when a study is imagined to be repeated.

Runs of one workload and seed on several platforms are not independent of each other: they are
averaged into one unit. If every workload has at least two seeds, the units are seeds and the
workloads are strata: fixed, and all of the same weight. Otherwise the units are workloads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

WORKLOAD = "workload"


@dataclass(frozen=True, eq=False, slots=True)
class Strata:
    """What follows from the sizes of strata alone.

    `weights` are those of the units in a mean, with the sum one; `parts` is what the square of each
    unit's residual adds to the variance of the mean.
    """

    sizes: Codes
    starts: Codes
    stratum: Codes
    weights: Floats
    parts: Floats


@lru_cache(maxsize=64)
def strata_of(sizes: tuple[int, ...]) -> Strata:
    """Return the strata of these sizes, which most metrics and comparisons of a table share."""
    each = np.asarray(sizes, np.intp)
    stratum = np.repeat(np.arange(len(each)), each)
    of_unit = each[stratum].astype(np.float64)
    weights = 1.0 / (of_unit * len(each))
    parts = weights**2 * of_unit / np.maximum(of_unit - 1.0, 1.0)
    return Strata(each, np.cumsum(each) - each, stratum, weights, parts)


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """Values of units, a row each, sorted by stratum; `sizes` says how many a stratum has."""

    values: Floats
    sizes: tuple[int, ...]
    unit: str = WORKLOAD
    _known: dict[str, Floats] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_finite(self) -> bool:
        """Whether no value is infinite or missing."""
        return bool(np.isfinite(self.values).all())

    def column(self, i: int) -> Units:
        """Return the same units with one column only."""
        return Units(self.values[:, [i]], self.sizes, self.unit)

    def means(self) -> Floats:
        """Return the mean of each column, with the same weight for every stratum."""
        if not len(self):
            return np.full(self.values.shape[1], np.nan)
        if "means" not in self._known:
            self._known["means"] = np.asarray(self._stratum_means().mean(axis=0), np.float64)
        return self._known["means"]

    def weights(self) -> Floats:
        """Return the weight of each unit in a mean; their sum is one."""
        return strata_of(self.sizes).weights

    def residuals(self) -> Floats:
        """Return the values less the mean of their stratum."""
        of_strata = self._stratum_means()
        if len(of_strata) == 1:
            return np.asarray(self.values - of_strata, np.float64)
        return np.asarray(self.values - of_strata[strata_of(self.sizes).stratum], np.float64)

    def covariance(self) -> Floats:
        """Return the covariance of the means of the columns."""
        residuals = self.residuals()
        weighted = residuals * strata_of(self.sizes).parts[:, None]
        # not a matrix product: those are rounded as libraries and threads happen to be
        return np.asarray(np.einsum("ij,ik->jk", weighted, residuals), np.float64)

    def freedom(self) -> float:
        """Return Satterthwaite's degrees of freedom of the mean of the first column."""
        strata = strata_of(self.sizes)
        sizes = strata.sizes
        squares = strata.parts * self.residuals()[:, 0] ** 2
        variance = np.add.reduceat(squares, strata.starts)
        whole = float(variance.sum())
        if whole <= 0.0:
            return float(len(self) - len(sizes))
        share = variance / whole
        return 1.0 / float(np.sum(share**2 / np.maximum(sizes - 1, 1)))

    def _stratum_means(self) -> Floats:
        if "strata" not in self._known:
            strata = strata_of(self.sizes)
            sums = np.add.reduceat(self.values, strata.starts, axis=0)
            self._known["strata"] = np.asarray(sums / strata.sizes[:, None], np.float64)
        return self._known["strata"]


@dataclass(frozen=True, eq=False, slots=True)
class _Layout:
    """How values become units: the cell of each, how many each has, and which cells are units."""

    unit: str
    place: Codes
    n_keys: Codes
    kept: npt.NDArray[np.bool_]
    sizes: tuple[int, ...]
    n_left_out: int


@dataclass(frozen=True, eq=False, slots=True)
class Design:
    """What the units of a set of runs are: for each key its workload, and the unit it is in."""

    unit: str
    workload: Codes
    member: Codes
    _layouts: dict[bytes, _Layout] = field(default_factory=dict, init=False)

    @property
    def by_workload(self) -> bool:
        """Whether whole workloads are drawn again."""
        return self.unit == WORKLOAD

    def units(self, keys: Codes, values: Floats) -> tuple[Units, int]:
        """Return the means of the keys of each unit, and how many keys had to be left out.

        Those are in the only unit of their workload, which says nothing about chance. If that is so
        in all workloads, they are the units.
        """
        layout = self._layouts.get(keys.tobytes())
        if layout is None:
            layout = self._layouts[keys.tobytes()] = self._layout(keys)
        n_cells = len(layout.n_keys)
        sums = [np.bincount(layout.place, column, n_cells) for column in values.T]
        means = np.stack(sums, axis=1) / layout.n_keys[:, None]
        return Units(means[layout.kept], layout.sizes, layout.unit), layout.n_left_out

    def _layout(self, keys: Codes) -> _Layout:
        """Return which keys make up which units; the same for all metrics that all keys have."""
        stratum = np.zeros(len(keys), np.intp) if self.by_workload else self.workload[keys]
        cells, place = _coded(stratum, self.member[keys])
        _, stratum_of_cell, sizes = np.unique(cells[:, 0], return_inverse=True, return_counts=True)
        alone = (sizes == 1)[stratum_of_cell]
        if self.by_workload or len(cells) == 1:
            alone = np.zeros(len(cells), np.bool_)
        elif alone.all():
            return Design(WORKLOAD, self.workload, self.workload)._layout(keys)
        n_keys = np.bincount(place, minlength=len(cells))
        kept = sizes[sizes > 1] if alone.any() else sizes
        n_alone = int(n_keys[alone].sum())
        return _Layout(self.unit, place, n_keys, ~alone, tuple(kept.tolist()), n_alone)


def design_of(
    keys: Codes, workload: Codes, replicates: Mapping[str, Codes], unit: str | None
) -> Design:
    """Choose what is drawn again, or check that the unit asked for can be."""
    names: Sequence[str] = [*replicates, WORKLOAD]
    if unit is not None and unit not in names:
        raise InputError(f"unit: got {unit!r}, expected one of {', '.join(names)}")
    for name, replicate in replicates.items():
        if unit in (None, name) and _is_repeated(workload[keys], replicate[keys]):
            return Design(name, workload, replicate)
    if unit not in (None, WORKLOAD):
        raise InputError(f"unit: a workload has one {unit} only, expected two in each")
    return Design(WORKLOAD, workload, workload)


def _is_repeated(workload: Codes, replicate: Codes) -> bool:
    cells, _ = _coded(workload, replicate)
    _, n_replicates = np.unique(cells[:, 0], return_counts=True)
    return len(n_replicates) > 0 and bool((n_replicates >= 2).all())


def _coded(outer: Codes, inner: Codes) -> tuple[Codes, Codes]:
    """Return the different pairs of codes, sorted, and the place of each one among them."""
    width = int(inner.max(initial=0)) + 1
    cells, place = np.unique(outer * width + inner, return_inverse=True)
    return np.stack([cells // width, cells % width], axis=1), place
