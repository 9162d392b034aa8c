"""What the commands of campaigns found, as sentences, tables and data."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from noctule.campaign.about import About, read_about
from noctule.campaign.description import Campaign
from noctule.campaign.execution import TRIMMED
from noctule.campaign.grid import MAIN_AXES
from noctule.campaign.methods import methods_paragraph
from noctule.campaign.plan import Plan
from noctule.campaign.results import DONE, load_results
from noctule.comparison import Comparison, Estimate, compare, summarise
from noctule.console import Result, Table, number_text
from noctule.errors import InputError
from noctule.metrics import ATTEMPTS, ENERGY, FOOTPRINT, METRICS, OFFLINE, REPLAY
from noctule.printing.campaign_progress import duration_text

if TYPE_CHECKING:
    import pandas as pd

    from noctule.campaign import Tally
    from noctule.campaign.estimate import Estimate as TimeEstimate


#: Every metric that a campaign may have measured.
ALL_METRICS = (*METRICS, *ATTEMPTS, *REPLAY, *ENERGY, *FOOTPRINT, *OFFLINE)
_WORDS = ("better", "worse", "larger", "smaller")


def plan_result(plan: Plan, guess: TimeEstimate) -> Result:
    """Return what a campaign consists of, and how long it may take."""
    campaign = plan.campaign
    rows = [[axis, str(len(names)), _some(names)] for axis, names in _axes(campaign)]
    lines = ["", f"{len(plan)} runs{_of_bounds(campaign)}"]
    if guess.n_recorded:
        lines.append(f"{guess.n_recorded} of them are recorded already")
    if guess.n_samples:
        lines.append(
            f"about {duration_text(guess.total_s)} with {guess.n_workers} workers, "
            f"by {guess.n_samples} runs of {duration_text(guess.mean_s)} on average"
        )
    lines += [f"a sample failed: {error}" for error in guess.errors[:3]]
    data = {
        "campaign": campaign.name,
        "axes": {axis: [str(name) for name in names] for axis, names in _axes(campaign)},
        "n_runs": len(plan),
        "n_recorded": guess.n_recorded,
        "estimate_s": guess.total_s if guess.n_samples else None,
        "n_samples": guess.n_samples,
        "errors": list(guess.errors),
    }
    return Result(data, Table(["axis", "values", ""], rows, of_numbers=False), lines)


def _axes(campaign: Campaign) -> list[tuple[str, Sequence[object]]]:
    axes: list[tuple[str, Sequence[object]]] = [
        ("workload", list(campaign.workloads)),
        ("seed", campaign.seeds),
        ("platform", list(campaign.platforms)),
        ("policy", list(campaign.policies)),
    ]
    axes += [(name, list(values)) for name, values in campaign.options.items()]
    return [(name, values) for name, values in axes if values]


def _some(names: Sequence[object]) -> str:
    shown = ", ".join(map(str, names[:4]))
    return shown if len(names) <= 4 else f"{shown}, ... {names[-1]}"


def _of_bounds(campaign: Campaign) -> str:
    return f", with bounds ({', '.join(campaign.bounds)})" if campaign.bounds else ""


def run_notes(tally: Tally, output: str) -> Iterator[str]:
    """Say what a campaign did, and what went wrong."""
    yield (
        f"{tally.n_done} runs in {duration_text(tally.elapsed_s)}"
        f"{f', {tally.n_found} were there already' if tally.n_found else ''}"
    )
    if tally.n_failed:
        yield f"{tally.n_failed} runs failed, the last one with: {tally.last_failure}"
        yield "what has failed is not done again without --retry-failed"
    yield f"{output}: written"


def tally_result(tally: Tally, output: str) -> Result:
    """Return how a campaign ended."""
    numbers = {
        "n_runs": tally.n_runs,
        "n_found": tally.n_found,
        "n_done": tally.n_done,
        "n_failed": tally.n_failed,
    }
    table = Table(["runs", "found", "done", "failed"], [[str(n) for n in numbers.values()]])
    return Result({"output": output, **numbers, "elapsed_s": tally.elapsed_s}, table)


def show_result(
    folder: str | os.PathLike[str],
    by: str,
    metrics: Sequence[str],
    *,
    confidence: float = 0.95,
    baseline: str | None = None,
    within: Sequence[str] = (),
) -> Result:
    """Return means with intervals for each value of an axis, bounds, and verdicts."""
    told = read_about(Path(folder))
    everything = load_results(folder)
    table = everything[(everything["bound"] == "") & (everything["status"] == DONE)]
    _check_metrics(metrics)
    if table.empty:
        raise InputError(f"{folder}: no run is done: {_why_none(everything)}")
    shared: dict[str, Any] = {
        "within": list(within),
        "axes": axes_of(told, table, by),
        "confidence": confidence,
    }
    summaries = summarise(table, by, metrics, **shared)
    headers = [by, "metric", "n", "mean", f"{confidence:.0%} interval", "normalised"]
    rows = [
        [_level(one.level, one.within), one.metric, str(one.n), *_cells(one.mean, one.normalised)]
        for one in summaries.levels
    ]
    rows += _bound_rows(everything, by, metrics)
    data: dict[str, Any] = {
        "by": by,
        "confidence": confidence,
        "levels": [asdict(one) for one in summaries.levels],
        "trimmed": [],
        "comparisons": [],
        "notes": [*summaries.notes, *_status_notes(everything)],
    }
    if told.measures.trims:
        trimmed = summarise(table, by, [f"{TRIMMED}{name}" for name in metrics], **shared)
        data["trimmed"] = [asdict(one) for one in trimmed.levels]
        headers.append("trimmed mean")
        cells = [number_text(one.mean.value) for one in trimmed.levels]
        rows = [[*row, cell] for row, cell in zip_longest(rows, cells, fillvalue="")]
    lines = [""]
    if table[by].nunique() > 1:
        found = compare(table, by, metrics, baseline=baseline, **shared)
        data["comparisons"] = [asdict(one) for one in found.comparisons]
        data["notes"] += found.notes
        lines += [
            f"{one.metric}{_level('', one.within)}: {verdict_text(one)}"
            for one in found.comparisons
        ]
    lines += [f"note: {note}" for note in dict.fromkeys(data["notes"])]
    return Result(data, Table(headers, rows), lines)


def axes_of(told: About, table: pd.DataFrame, by: str) -> list[str]:
    """Return the columns that tell runs apart; without the label that a parameter is a part of."""
    varied = [name for name in table.columns if name.partition(".")[0] in MAIN_AXES and "." in name]
    main = [name for name in MAIN_AXES if not by.startswith(f"{name}.")]
    return [*main, *told.options, *varied]


def _check_metrics(metrics: Sequence[str]) -> None:
    known = {metric.name for metric in ALL_METRICS}
    for name in metrics:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise InputError(f"--metric {name}: unknown, expected one of noctule's metrics{hint}")


def _why_none(table: pd.DataFrame) -> str:
    errors = table["error"][table["error"] != ""]
    counts = ", ".join(_status_notes(table)) or "there is none"
    return f"{counts}; the first error is: {errors.iloc[0]}" if len(errors) else counts


def verdict_text(found: Comparison) -> str:
    """Return a verdict; name the two that are compared where the sentence does not."""
    if any(found.verdict.startswith(f"{found.level} {word} than ") for word in _WORDS):
        return found.verdict
    return f"{found.level} and {found.reference}: {found.verdict}"


def _cells(mean: Estimate, normalised: Estimate) -> list[str]:
    return [number_text(mean.value), _interval(mean), _interval(normalised)]


def _interval(estimate: Estimate) -> str:
    return f"{number_text(estimate.low)} to {number_text(estimate.high)}"


def _level(level: str, within: Mapping[str, Any]) -> str:
    apart = ", ".join(f"{name}={value}" for name, value in within.items())
    return f"{level} [{apart}]" if apart else level


class BoundMean(NamedTuple):
    """The mean of the runs that bound those of a level."""

    bound: str
    level: str
    metric: str
    n: int
    mean: float


def bound_means(table: pd.DataFrame, by: str, metrics: Sequence[str]) -> Iterator[BoundMean]:
    """Yield the means of the runs that bound the others."""
    bounds = table[(table["bound"] != "") & (table["status"] == DONE)]
    for bound, runs in bounds.groupby("bound", sort=True):
        levels = runs[by].astype(object).where(runs[by].notna(), "any")
        for level, part in runs.groupby(levels, sort=False):
            for name in metrics:
                mean = float(part[name].mean())
                yield BoundMean(str(bound), str(level), name, len(part), mean)


def _bound_rows(table: pd.DataFrame, by: str, metrics: Sequence[str]) -> list[list[str]]:
    return [
        [f"{one.level} ({one.bound})", one.metric, str(one.n), number_text(one.mean), "", ""]
        for one in bound_means(table, by, metrics)
    ]


def _status_notes(table: pd.DataFrame) -> list[str]:
    left_out = table[table["status"] != DONE]
    return [
        f"{n} runs {status}: left out" for status, n in left_out["status"].value_counts().items()
    ]


def methods_result(folder: str | os.PathLike[str]) -> Result:
    """Return a paragraph for the methods section of a paper."""
    paragraph = methods_paragraph(read_about(Path(folder)))
    return Result({"methods": paragraph}, lines=[paragraph])
