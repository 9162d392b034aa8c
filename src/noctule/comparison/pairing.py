"""Pairs: runs of two levels that agree in all other axes, and the units that they make up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from noctule.comparison.objectives import Objective
from noctule.comparison.results_table import Group, ResultsTable, name_of
from noctule.comparison.units import Floats, Units
from noctule.errors import InputError


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """What two levels have to show for one metric.

    The columns of `units` are the difference (level less reference), the reference and the level.
    """

    metric: str
    group: Group
    level: str
    reference: str
    differences: Floats
    units: Units
    n_unpaired: int
    n_missing: int
    n_alone: int
    n_infinite: int

    @property
    def n_pairs(self) -> int:
        """How many pairs the units are made of."""
        return len(self.differences) - self.n_alone

    @property
    def are_identical(self) -> bool:
        """Whether there are pairs, and none has a difference."""
        return self.n_pairs > 0 and not self.n_infinite and not self.differences.any()

    @property
    def are_testable(self) -> bool:
        """Whether a difference can be told from chance."""
        return len(self.units) > 1 and not self.n_infinite and not self.are_identical

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in words."""
        unit = self.units.unit
        return tuple(
            f"{n} {'run is' if n == 1 else 'runs are'} left out: {why}"
            for n, why in (
                (self.n_unpaired, "without a partner"),
                (self.n_missing, f"without {self.metric}"),
                (2 * self.n_alone, f"of the only {unit} of a workload"),
            )
            if n
        )


def pairs_of(
    results: ResultsTable, objectives: Mapping[str, Objective], baseline: str | None
) -> list[Pairs]:
    """Return all pairs of levels, or those with the baseline, metric by metric, group by group."""
    if len(results.levels) < 2:
        by = ", ".join(results.question.by)
        raise InputError(f"{by}: got one level ({results.levels[0]}), expected at least two")
    if baseline is not None and baseline not in results.levels:
        known = ", ".join(results.levels)
        raise InputError(f"baseline: got {baseline!r}, expected one of {known}")
    found = [
        _oriented(_paired(results, metric, group, two), objectives[metric], baseline)
        for metric in results.question.metrics
        for group in results.groups
        for two in _compared(results, group, baseline)
    ]
    if not any(pairs.n_pairs or pairs.n_infinite for pairs in found):
        raise InputError(_without_partners(results))
    return found


def not_compared(results: ResultsTable, baseline: str | None) -> tuple[str, ...]:
    """Name the groups that hold nothing to compare."""
    wanted = "two levels" if baseline is None else f"{baseline} and another level"
    return tuple(
        f"{name_of(group)}: nothing is compared, without runs of {wanted}"
        for group in results.groups
        if not any(_compared(results, group, baseline))
    )


def _compared(
    results: ResultsTable, group: Group, baseline: str | None
) -> Iterator[tuple[int, int]]:
    """Yield the level and the reference of each comparison between levels that have runs."""
    here = np.flatnonzero(results.present[group.keys].any(axis=0)).tolist()
    if baseline is None:
        yield from combinations(here, 2)
        return
    reference = results.levels.index(baseline)
    if reference in here:
        yield from ((level, reference) for level in here if level != reference)


def _oriented(pairs: Pairs, objective: Objective, baseline: str | None) -> Pairs:
    """Without a baseline, compare the better level with the worse."""
    if baseline is not None or pairs.n_infinite or not len(pairs.units):
        return pairs
    difference = float(pairs.units.means()[0])
    if difference <= 0.0 if objective.better == "smaller" else difference >= 0.0:
        return pairs
    units = pairs.units
    swapped = np.stack([-units.values[:, 0], units.values[:, 2], units.values[:, 1]], axis=1)
    return replace(
        pairs,
        level=pairs.reference,
        reference=pairs.level,
        differences=-pairs.differences,
        units=Units(swapped, units.sizes, units.unit),
    )


def _paired(results: ResultsTable, metric: str, group: Group, two: tuple[int, int]) -> Pairs:
    values = results.values(metric, group)[:, two]
    present = results.present[group.keys][:, two]
    measured = ~np.isnan(values)
    both = measured.all(axis=1)
    finite = np.isfinite(values).all(axis=1)
    n_both = int(np.count_nonzero(both))
    level, reference = values[finite, 0], values[finite, 1]
    columns = np.stack([level - reference, reference, level], axis=1)
    design = results.design(metric, group, two)
    units, n_alone = design.units(group.keys[finite], columns)
    return Pairs(
        metric,
        group,
        results.levels[two[0]],
        results.levels[two[1]],
        level - reference,
        units,
        n_unpaired=int(np.count_nonzero(measured)) - 2 * n_both,
        n_missing=int(np.count_nonzero(present & ~measured)),
        n_alone=n_alone,
        n_infinite=n_both - int(np.count_nonzero(finite)),
    )


def _without_partners(results: ResultsTable) -> str:
    """Say that nothing can be compared, and which axis may be none."""
    n_runs = int(results.present.sum())
    if all(np.isnan(values).all() for values in results.metrics.values()):
        return (
            f"{', '.join(results.question.metrics)}: got no number in {n_runs} runs, expected some"
        )
    names = ", ".join(results.n_values)
    own = [name for name, n in results.n_values.items() if n == n_runs > 1]
    hint = f"; {own[0]} is another one in each run" if own else ""
    return (
        f"table: none of {n_runs} runs has a partner, expected pairs with the same {names}{hint} "
        "(axes= names the columns that must agree)"
    )
