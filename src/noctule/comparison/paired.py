"""Paired comparisons: two levels of an axis on the same workloads, seeds and everything else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from noctule.comparison.arguments import REPLICATES, Precision, precision_of, question_of
from noctule.comparison.axes import Value
from noctule.comparison.corrections import holm, level_of_the_rest
from noctule.comparison.effects import cohens_dz, rank_biserial, units_needed
from noctule.comparison.intervals import Estimate, mean_estimate, reach_of, relative_estimate
from noctule.comparison.objectives import Objective, objective_of
from noctule.comparison.pairing import Pairs, not_compared, pairs_of
from noctule.comparison.resampling import bootstrap_means, in_batches, sign_flip_p_values
from noctule.comparison.results_table import read
from noctule.comparison.units import Units
from noctule.comparison.verdicts import Outcome, verdict

if TYPE_CHECKING:
    import pandas as pd

_FLIPS = 9999


@dataclass(frozen=True, slots=True)
class Comparison:
    """A level against a reference, on one metric.

    Differences are level less reference; `relative` is in per cent of the reference, and None where
    that has no meaning. What could not be computed is NaN. `n_needed` is the number of units for a
    power of 80 %, if the difference is not significant.
    """

    metric: str
    within: Mapping[str, Value]
    level: str
    reference: str
    verdict: str
    significant: bool
    mean: float
    reference_mean: float
    difference: Estimate
    relative: Estimate | None
    p_value: float
    p_corrected: float
    cohens_dz: float
    rank_biserial: float
    n_needed: float
    n_pairs: int
    n_unpaired: int
    n_missing: int
    n_units: int
    unit: str
    interval: str
    test: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All comparisons of one question; p-values are corrected for their number."""

    comparisons: tuple[Comparison, ...]
    confidence: float
    notes: tuple[str, ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One sentence a comparison."""
        return tuple(comparison.verdict for comparison in self.comparisons)

    def as_table(self) -> pd.DataFrame:
        """Return a row a comparison, with a column for each one that results are kept apart by."""
        import pandas as pd

        return pd.DataFrame([_row(comparison) for comparison in self.comparisons])


def compare(
    table: pd.DataFrame,
    by: str | Sequence[str],
    metric: str | Sequence[str],
    *,
    baseline: str | None = None,
    within: str | Sequence[str] = (),
    axes: Sequence[str] | None = None,
    replicates: str | Sequence[str] = REPLICATES,
    unit: str | None = None,
    objectives: Mapping[str, Objective] | None = None,
    confidence: float = 0.95,
    n_draws: int = 4999,
    seed: int = 1,
) -> Comparisons:
    """Compare all levels of an axis with each other, or each with the baseline, in pairs of runs.

    Two runs are a pair if they agree in all other axes. Columns that are no metrics are axes;
    `axes` names them where there are others. Results are kept apart by the columns of `within`. The
    unit that is drawn again is a seed if each workload has two or more, otherwise a workload;
    `unit` chooses it. `objectives` says what is better for metrics that Noctule does not know.

    Without a baseline, the better level of a pair is compared with the worse.
    """
    precision = precision_of(confidence, n_draws, seed)
    own = dict(objectives or {})
    question = question_of(by, metric, within=within, axes=axes, replicates=replicates, unit=unit)
    results = read(table, question, other_metrics=tuple(own))
    directions = {name: own.get(name, objective_of(name)) for name in question.metrics}
    pairs = pairs_of(results, directions, baseline)
    findings = _findings(pairs, precision, _n_flips(pairs, precision))
    comparisons = _judged(pairs, findings, directions, precision)
    return Comparisons(comparisons, confidence, not_compared(results, baseline))


def compare_each(
    table: pd.DataFrame,
    by: str,
    metrics: Sequence[str],
    *,
    within: Sequence[str] = (),
    axes: Sequence[str] | None = None,
    confidence: float = 0.95,
    n_draws: int = 4999,
    seed: int = 1,
) -> dict[str, Comparisons]:
    """Compare all levels of an axis, metric by metric: what `compare` says of each one alone.

    Metrics of which no two runs are a pair are left out.
    """
    precision = precision_of(confidence, n_draws, seed)
    question = question_of(by, metrics, within=within, axes=axes, replicates=REPLICATES, unit=None)
    results = read(table, question)
    directions = {name: objective_of(name) for name in question.metrics}
    of_metric: dict[str, list[Pairs]] = {name: [] for name in question.metrics}
    for two in pairs_of(results, directions, None):
        of_metric[two.metric].append(two)
    alike: dict[int, list[str]] = {}
    for name, pairs in of_metric.items():
        if any(two.n_pairs or two.n_infinite for two in pairs):
            alike.setdefault(_n_flips(pairs, precision), []).append(name)
    found: dict[str, Comparisons] = {}
    for n_flips, names in alike.items():
        # draws do not depend on what else is drawn: metrics share them
        findings = iter(_findings([p for n in names for p in of_metric[n]], precision, n_flips))
        for name in names:
            pairs = of_metric[name]
            judged = _judged(pairs, [next(findings) for _ in pairs], directions, precision)
            found[name] = Comparisons(judged, confidence, not_compared(results, None))
    return {name: found[name] for name in question.metrics if name in found}


def _judged(
    pairs: Sequence[Pairs],
    findings: Sequence[_Finding],
    directions: Mapping[str, Objective],
    precision: Precision,
) -> tuple[Comparison, ...]:
    """Correct p-values for their number, and say what was found."""
    corrected = holm([finding.p_value for finding in findings])
    alpha_left = level_of_the_rest(corrected, precision.alpha)
    comparisons = []
    for two, finding, p_corrected in zip(pairs, findings, corrected, strict=True):
        outcome = _outcome(two, finding, p_corrected, precision.alpha, alpha_left)
        sentence = verdict(two, directions[two.metric], outcome)
        comparisons.append(_comparison(two, finding, outcome, sentence))
    return tuple(comparisons)


def _n_flips(pairs: Sequence[Pairs], precision: Precision) -> int:
    """Return enough for the smallest p-value there is to stay significant after the correction."""
    n_tested = sum(two.are_testable for two in pairs)
    return max(precision.n_draws, _FLIPS, math.ceil(2 * n_tested / precision.alpha))


@dataclass(frozen=True, slots=True)
class _Finding:
    """What the draws say about one pair of levels."""

    difference: Estimate
    relative: Estimate | None = None
    p_value: float = math.nan
    interval: str = "none"
    test: str = "none"


def _findings(pairs: Sequence[Pairs], precision: Precision, n_flips: int) -> list[_Finding]:
    """Return intervals and p-values; pairs with the same strata share their draws."""
    findings = [_untested(two) for two in pairs]
    tested = [i for i, two in enumerate(pairs) if two.are_testable]
    columns = [Units(pairs[i].units.values[:, :2], pairs[i].units.sizes) for i in tested]
    for batch, together in in_batches(columns):
        reaches = [reach_of(columns[member], precision.confidence) for member in batch]
        n_draws = precision.n_draws if any(reach.by_bootstrap for reach in reaches) else 0
        draws = bootstrap_means(together, n_draws, precision.seed)
        alone = Units(together.values[:, ::2], together.sizes)
        p_values, exact = sign_flip_p_values(alone, n_flips, precision.seed)
        for place, (member, reach) in enumerate(zip(batch, reaches, strict=True)):
            units = columns[member]
            ours = draws[:, 2 * place], draws[:, 2 * place + 1]
            findings[tested[member]] = _Finding(
                mean_estimate(units, ours[0], reach),
                relative_estimate(units, *ours, reach),
                float(p_values[place]),
                "bootstrap" if reach.by_bootstrap else "Student",
                "exact" if exact else "Monte Carlo",
            )
    return findings


def _untested(pairs: Pairs) -> _Finding:
    """Return what can be said without any draw."""
    if pairs.n_infinite or not len(pairs.units):
        return _Finding(Estimate(math.nan, math.nan, math.nan))
    difference, reference, _ = pairs.units.means().tolist()
    end = 0.0 if pairs.are_identical and len(pairs.units) > 1 else math.nan
    relative = Estimate(100.0 * difference / reference, end, end) if reference > 0.0 else None
    p_value = 1.0 if pairs.are_identical and len(pairs.units) > 1 else math.nan
    return _Finding(Estimate(difference, end, end), relative, p_value)


def _outcome(
    pairs: Pairs, finding: _Finding, p_corrected: float, alpha: float, alpha_left: float
) -> Outcome:
    """Judge: a difference is real if the test says so and the interval that is shown agrees."""
    relative = finding.relative
    in_per_cent = relative is not None and relative.has_interval
    shown = relative if relative is not None and in_per_cent else finding.difference
    significant = p_corrected <= alpha and shown.excludes_zero
    effect = n_needed = math.nan
    if pairs.are_testable:
        effect = cohens_dz(pairs.units.column(0))
        if not significant:
            n_needed = units_needed(effect, alpha_left, len(pairs.units))
    return Outcome(shown, in_per_cent, significant, n_needed, p_corrected, effect)


def _comparison(pairs: Pairs, finding: _Finding, outcome: Outcome, sentence: str) -> Comparison:
    measured = bool(len(pairs.units)) and not pairs.n_infinite
    means = pairs.units.means().tolist() if measured else [math.nan] * 3
    return Comparison(
        metric=pairs.metric,
        within=pairs.group.within,
        level=pairs.level,
        reference=pairs.reference,
        verdict=sentence,
        significant=outcome.significant,
        mean=means[2],
        reference_mean=means[1],
        difference=finding.difference,
        relative=finding.relative,
        p_value=finding.p_value,
        p_corrected=outcome.p_corrected,
        cohens_dz=outcome.effect,
        rank_biserial=rank_biserial(pairs.units.values[:, 0]) if measured else math.nan,
        n_needed=outcome.n_needed,
        n_pairs=pairs.n_pairs,
        n_unpaired=pairs.n_unpaired,
        n_missing=pairs.n_missing,
        n_units=len(pairs.units),
        unit=pairs.units.unit,
        interval=finding.interval,
        test=finding.test,
        notes=pairs.notes,
    )


def _row(comparison: Comparison) -> dict[str, object]:
    relative = comparison.relative or Estimate(math.nan, math.nan, math.nan)
    estimates = {"difference": comparison.difference, "relative": relative}
    row: dict[str, object] = dict(comparison.within)
    for field in fields(comparison):
        value = getattr(comparison, field.name)
        if field.name in estimates:
            estimate = estimates[field.name]
            row[field.name] = estimate.value
            row[f"{field.name}_low"], row[f"{field.name}_high"] = estimate.low, estimate.high
        elif field.name == "notes":
            row[field.name] = "; ".join(value)
        elif field.name != "within":
            row[field.name] = value
    return row
