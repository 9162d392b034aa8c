"""The data of a campaign's page: every metric by every parameter, verdicts, and all runs.

Means, intervals and verdicts are those of `noctule campaign show`, for each metric as if it was
asked for alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from noctule.campaign.about import About, read_about
from noctule.campaign.execution import TRIMMED
from noctule.campaign.grid import MAIN_AXES
from noctule.campaign.methods import methods_paragraph
from noctule.campaign.results import DONE, FAILED, load_results
from noctule.campaign.store import JOBS_FILE, Store
from noctule.comparison import Comparison, LevelSummary, compare_each, objective_of, summarise
from noctule.comparison.axes import axis_of, shown
from noctule.errors import InputError
from noctule.printing.campaigns import ALL_METRICS, axes_of, bound_means, verdict_text
from noctule.report.content import FORMAT
from noctule.report.packing import PackedColumn, Packer, scale_of

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
# more cannot be told apart, and would fill the page
_MOST_CELLS = 400
_MOST_COMPARISONS = 300
_FEWEST_DRAWS = 100
_KEY = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class CampaignResults:
    """What a campaign is and what has come out of it: a row a run, as `load_results` gives them.

    `kept` are the keys of runs whose jobs were kept, `pages` the addresses of the pages about runs
    by their keys, and `folder` is what the commands that a page names call the campaign.
    """

    folder: str
    about: About
    table: pd.DataFrame
    kept: frozenset[str] = frozenset()
    pages: Mapping[str, str] = field(default_factory=dict)

    @property
    def done(self) -> pd.DataFrame:
        """The runs that are compared: done, and no bounds."""
        return self.table[(self.table["bound"] == "") & (self.table["status"] == DONE)]


def load_campaign(folder: str | os.PathLike[str]) -> CampaignResults:
    """Read the folder of a campaign."""
    about, table = read_about(Path(folder)), load_results(folder)
    for name in (*MAIN_AXES, "bound", "status", "error", "key"):
        if name not in table.columns:
            raise InputError(f"{folder}: no column {name} in its results, expected one")
    if not len(table):
        raise InputError(f"{folder}: its results have no run, expected at least one")
    return CampaignResults(os.fspath(folder), about, table, kept_keys(folder, table))


def kept_keys(folder: str | os.PathLike[str], table: pd.DataFrame) -> frozenset[str]:
    """Return the keys of the runs whose jobs are in the folder of a campaign."""
    store = Store(Path(folder))
    keys = (key for key in set(table["key"].tolist()) if is_key(key))
    return frozenset(key for key in keys if (store.place(key) / JOBS_FILE).is_file())


def is_key(name: object) -> bool:
    """Tell whether something is the key of a run, and no way out of a folder."""
    return isinstance(name, str) and _KEY.fullmatch(name) is not None


def campaign_content(campaign: CampaignResults, packer: Packer, title: str) -> dict[str, Any]:
    """Return the data of the page, as JSON can hold it; the columns' texts go to the packer."""
    about, done = campaign.about, campaign.done
    metrics = [name for name in _metrics(campaign.table) if _is_measured(done, name)]
    notes = _status_notes(campaign.table)
    parameters = _parameters(about, done) if metrics else []
    tables = list(_tables(campaign, metrics, parameters, packer, notes))
    known = {table["by"] for table in tables}
    return {
        "format": FORMAT,
        "title": title,
        "version": metadata.version("noctule"),
        "name": about.name,
        "folder": campaign.folder,
        "confidence": CONFIDENCE,
        "metrics": [_metric(name) for name in metrics],
        "parameters": [told for told in parameters if told["name"] in known],
        "tables": tables,
        "runs": _runs(campaign, packer),
        "axes": [*MAIN_AXES, *_others(about, campaign.table)],
        "notes": list(dict.fromkeys(notes)),
        "methods": methods_paragraph(about),
        "text": about.text,
        "about": msgspec.to_builtins(about),
    }


def _metrics(table: pd.DataFrame) -> list[str]:
    names = {metric.name for metric in ALL_METRICS}
    return [name for name in table.columns if name in names]


def _is_measured(done: pd.DataFrame, name: str) -> bool:
    return bool(done[name].notna().any())


def _metric(name: str) -> dict[str, Any]:
    objective = objective_of(name)
    described = next(metric for metric in ALL_METRICS if metric.name == name)
    return {
        "name": name,
        "unit": described.unit,
        "better": objective.better,
        "description": described.description,
    }


def _others(about: About, table: pd.DataFrame) -> list[str]:
    return [name for name in axes_of(about, table, "") if name not in MAIN_AXES]


def _parameters(about: About, done: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the axes with two levels or more; seeds repeat runs. Of one level, the policy."""
    told: list[dict[str, Any]] = []
    for name in ("policy", "workload", "platform", *_others(about, done)):
        if name not in done.columns:
            continue
        values = axis_of(done, name).values
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        place = {shown(value): value for value in values} if numbers else None
        told.append({"name": name, "n_levels": len(values), "numbers": place})
    several = [one for one in told if one["n_levels"] > 1]
    return several or told[:1]


def _tables(
    campaign: CampaignResults,
    metrics: Sequence[str],
    parameters: Sequence[Mapping[str, Any]],
    packer: Packer,
    notes: list[str],
) -> Iterator[dict[str, Any]]:
    """Yield means and verdicts by each parameter, and by it within each other one."""
    n_levels = {told["name"]: told["n_levels"] for told in parameters}
    for by, n in n_levels.items():
        if n > _MOST_CELLS:
            notes.append(f"{by} has {n} levels: a page shows up to {_MOST_CELLS}.")
        for within, n_groups in (("", 1), *n_levels.items()):
            if within.partition(".")[0] == by.partition(".")[0] or n * n_groups > _MOST_CELLS:
                continue
            try:
                is_compared = 1 < n <= (2 * _MOST_COMPARISONS / n_groups) ** 0.5
                yield _table(campaign, metrics, (by, within), packer, is_compared=is_compared)
            except InputError as error:
                # of the parameters of a policy, the levels of the policy tell as much
                if not within and "." not in by:
                    notes.append(f"Nothing is compared by {by}: {error}.")
                if not within:
                    break


def _table(
    campaign: CampaignResults,
    metrics: Sequence[str],
    by_within: tuple[str, str],
    packer: Packer,
    *,
    is_compared: bool,
) -> dict[str, Any]:
    by, within = by_within
    done, about = campaign.done, campaign.about
    shared: dict[str, Any] = {
        "within": [within] if within else [],
        "axes": axes_of(about, done, by),
        "confidence": CONFIDENCE,
    }
    summaries = summarise(done, by, metrics, **shared)
    levels = list(dict.fromkeys(one.level for one in summaries.levels))
    trimmed: Sequence[LevelSummary] = ()
    if about.measures.trims:
        # only their means are shown, which do not depend on draws
        names = [f"{TRIMMED}{name}" for name in metrics]
        trimmed = summarise(done, by, names, **shared, n_draws=_FEWEST_DRAWS).levels
    comparisons: list[Comparison] = []
    if is_compared:
        # means can be shown where no two runs are a pair
        with suppress(InputError):
            found = compare_each(done, by, metrics, **shared)
            comparisons = [one for each in found.values() for one in each.comparisons]
    bounds = [] if within else list(bound_means(campaign.table, by, metrics))
    return {
        "by": by,
        "within": within,
        "levels": levels,
        "groups": list(dict.fromkeys(_group(one.within) for one in summaries.levels)),
        "means": _packed(packer, map(_mean_row, summaries.levels, _padded(trimmed, summaries))),
        "comparisons": _packed(packer, map(_comparison_row, comparisons)),
        "bounds": _packed(packer, (one._asdict() for one in bounds)),
        "notes": list(dict.fromkeys(summaries.notes)),
    }


def _padded(trimmed: Sequence[LevelSummary], whole: Any) -> Iterable[LevelSummary | None]:
    return trimmed or [None] * len(whole.levels)


def _group(within: Mapping[str, Any]) -> str:
    return ", ".join(shown(value) for value in within.values())


def _mean_row(one: LevelSummary, trimmed: LevelSummary | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "metric": one.metric,
        "group": _group(one.within),
        "level": one.level,
        "n": one.n,
        "n_left_out": one.n_left_out,
        "mean": one.mean.value,
        "low": one.mean.low,
        "high": one.mean.high,
        "normalised_low": one.normalised.low,
        "normalised_high": one.normalised.high,
        "minimum": one.minimum,
        "maximum": one.maximum,
        "n_units": one.n_units,
        "unit": one.unit,
    }
    return row if trimmed is None else row | {"trimmed": trimmed.mean.value}


def _comparison_row(one: Comparison) -> dict[str, Any]:
    relative = one.relative
    return {
        "metric": one.metric,
        "group": _group(one.within),
        "verdict": verdict_text(one),
        "level": one.level,
        "reference": one.reference,
        "significant": int(one.significant),
        "difference": one.difference.value,
        "low": one.difference.low,
        "high": one.difference.high,
        "relative": np.nan if relative is None else relative.value,
        "relative_low": np.nan if relative is None else relative.low,
        "relative_high": np.nan if relative is None else relative.high,
        "p_value": one.p_value,
        "p_corrected": one.p_corrected,
        "cohens_dz": one.cohens_dz,
        "n_pairs": one.n_pairs,
        "test": one.test,
        "notes": "; ".join(one.notes),
    }


def _packed(packer: Packer, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Pack rows that have the same columns."""
    told = list(rows)
    names = list(told[0]) if told else []
    columns = {name: _column([row[name] for row in told], packer) for name in names}
    return {"n": len(told), "columns": columns}


def _column(values: Sequence[Any], packer: Packer) -> PackedColumn:
    """Pack texts, truth values among them, or numbers; what is missing is NaN or nobody's code."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        numbers = np.asarray(values, dtype=np.float64)
        return packer.numbers(numbers, scale=scale_of(numbers))
    return packer.codes([None if value is None else str(value) for value in values])


def _runs(campaign: CampaignResults, packer: Packer) -> dict[str, Any]:
    """Pack all runs: parameters, what became of them, and every metric."""
    table = campaign.table
    columns: dict[str, Any] = {}
    for name in (*MAIN_AXES, *_others(campaign.about, table), "bound", "status", "error", "key"):
        axis = axis_of(table, name)
        columns[name] = _column([axis.values[code] for code in axis.codes.tolist()], packer)
    columns["kept"] = _column([int(key in campaign.kept) for key in table["key"]], packer)
    columns["page"] = _column([campaign.pages.get(key) for key in table["key"]], packer)
    known = _metrics(table)
    trimmed = [f"{TRIMMED}{name}" for name in known if f"{TRIMMED}{name}" in table.columns]
    for name in (*known, *trimmed):
        numbers = table[name].to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isnan(numbers).all():
            columns[name] = packer.numbers(numbers, scale=scale_of(numbers))
    return {"n": len(table), "columns": columns}


def _status_notes(table: pd.DataFrame) -> list[str]:
    counts = table["status"].value_counts()
    n_done = int(counts.get(DONE, 0))
    notes = []
    for status, n in counts.items():
        if status != DONE:
            word = "have failed" if status == FAILED else "are missing"
            notes.append(f"{n} of {len(table)} runs {word}: they are left out of all means.")
    if not n_done:
        notes.append("No run is done: there is nothing to compare yet.")
    return notes
