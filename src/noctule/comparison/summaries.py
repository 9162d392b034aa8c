"""What each level of an axis gives: means, with intervals of two kinds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noctule.comparison.arguments import REPLICATES, Precision, precision_of, question_of
from noctule.comparison.axes import Value
from noctule.comparison.intervals import Estimate, mean_estimate, reach_of
from noctule.comparison.normalisation import normalised
from noctule.comparison.resampling import bootstrap_means, in_batches
from noctule.comparison.results_table import Group, ResultsTable, name_of, read
from noctule.comparison.units import Floats, Units

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class LevelSummary:
    """One metric of the runs of one level.

    `mean` has the interval of a mean. `normalised` is the mean over the units that have all levels,
    with the interval that is left when the differences between units are taken out.
    """

    metric: str
    within: Mapping[str, Value]
    level: str
    n: int
    n_left_out: int
    n_units: int
    unit: str
    mean: Estimate
    normalised: Estimate
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Summaries:
    """The summary of every level, metric by metric."""

    levels: tuple[LevelSummary, ...]
    confidence: float
    notes: tuple[str, ...]

    def as_table(self) -> pd.DataFrame:
        """Return a row a level, with a column for each column that results are kept apart by."""
        import pandas as pd

        return pd.DataFrame([_row(summary) for summary in self.levels])


def summarise(
    table: pd.DataFrame,
    by: str | Sequence[str],
    metric: str | Sequence[str],
    *,
    within: str | Sequence[str] = (),
    axes: Sequence[str] | None = None,
    replicates: str | Sequence[str] = REPLICATES,
    unit: str | None = None,
    confidence: float = 0.95,
    n_draws: int = 4999,
    seed: int = 1,
) -> Summaries:
    """Return means of metrics for each level of an axis, with confidence intervals.

    Columns that are no metrics are axes; `axes` names them where there are others. Results are kept
    apart by the columns of `within`. The unit that is drawn again is a seed if each workload has
    two or more, otherwise a workload; `unit` chooses it.
    """
    precision = precision_of(confidence, n_draws, seed)
    question = question_of(by, metric, within=within, axes=axes, replicates=replicates, unit=unit)
    results = read(table, question)
    drafts = [
        draft
        for name in results.question.metrics
        for group in results.groups
        for draft in _drafts(results, name, group)
    ]
    means = _estimates([draft.units for draft in drafts], precision)
    shifted = _estimates([draft.normalised for draft in drafts], precision)
    summaries = [d.summary(m, s) for d, m, s in zip(drafts, means, shifted, strict=True)]
    notes = [note for draft in drafts for note in draft.notes]
    return Summaries(tuple(summaries), confidence, tuple(notes))


@dataclass(frozen=True, eq=False, slots=True)
class _Draft:
    """A level before its intervals are known."""

    metric: str
    group: Group
    level: str
    values: Floats
    n_missing: int
    n_alone: int
    units: Units
    normalised: Units

    @property
    def notes(self) -> list[str]:
        where = f"{self.level}, {name_of(self.group)}" if self.group.within else self.level
        notes = []
        if self.n_missing:
            notes.append(f"{where}: {self.n_missing} left out, without {self.metric}")
        if self.n_alone:
            unit = self.units.unit
            notes.append(f"{where}: {self.n_alone} left out, of the only {unit} of a workload")
        return notes

    def summary(self, mean: Estimate, shifted: Estimate) -> LevelSummary:
        return LevelSummary(
            self.metric,
            self.group.within,
            self.level,
            len(self.values) - self.n_alone,
            self.n_missing + self.n_alone,
            len(self.units),
            self.units.unit,
            mean,
            shifted,
            min(self.values.tolist(), default=math.nan),
            max(self.values.tolist(), default=math.nan),
        )


def _drafts(results: ResultsTable, metric: str, group: Group) -> list[_Draft]:
    """Return the units of each level that has a run in the group."""
    present = results.present[group.keys]
    here = np.flatnonzero(present.any(axis=0))
    values = results.values(metric, group)[:, here]
    design = results.design(metric, group, here.tolist())
    complete = np.flatnonzero(np.isfinite(values).all(axis=1))
    of_all = normalised(design.units(group.keys[complete], values[complete])[0])
    drafts = []
    for i, level in enumerate(here):
        measured = np.flatnonzero(~np.isnan(values[:, i]))
        column = values[measured, i]
        units, n_alone = design.units(group.keys[measured], column[:, None])
        n_missing = int(np.count_nonzero(present[:, level])) - len(measured)
        shifted = Units(of_all.values[:, [i]], of_all.sizes, of_all.unit)
        drafts.append(
            _Draft(metric, group, results.levels[level], column, n_missing, n_alone, units, shifted)
        )
    return drafts


def _estimates(columns: Sequence[Units], precision: Precision) -> list[Estimate]:
    """Return the mean of each column with its interval, if it can have one."""
    estimates = [_without_interval(units) for units in columns]
    drawn = [i for i, units in enumerate(columns) if len(units) > 1 and units.is_finite]
    for batch, together in in_batches([columns[i] for i in drawn]):
        ours = [columns[drawn[member]] for member in batch]
        reaches = [reach_of(units, precision.confidence) for units in ours]
        n_draws = precision.n_draws if any(reach.by_bootstrap for reach in reaches) else 0
        draws = bootstrap_means(together, n_draws, precision.seed)
        for place, member in enumerate(batch):
            estimate = mean_estimate(ours[place], draws[:, place], reaches[place])
            estimates[drawn[member]] = estimate
    return estimates


def _without_interval(units: Units) -> Estimate:
    column = units.values[:, 0]
    if units.is_finite and len(units):
        return Estimate(float(units.means()[0]), math.nan, math.nan)
    signs = np.unique(np.sign(column[~np.isfinite(column)]))
    return Estimate(float(signs[0]) * math.inf if len(signs) == 1 else math.nan, math.nan, math.nan)


def _row(summary: LevelSummary) -> dict[str, object]:
    return {
        **summary.within,
        "metric": summary.metric,
        "level": summary.level,
        "n": summary.n,
        "mean": summary.mean.value,
        "low": summary.mean.low,
        "high": summary.mean.high,
        "normalised_mean": summary.normalised.value,
        "normalised_low": summary.normalised.low,
        "normalised_high": summary.normalised.high,
        "minimum": summary.minimum,
        "maximum": summary.maximum,
        "unit": summary.unit,
        "n_units": summary.n_units,
        "n_left_out": summary.n_left_out,
    }
