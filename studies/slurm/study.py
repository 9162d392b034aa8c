"""The four use cases of the paper on BSC's Slurm simulator, beside what it says about them.

`run(output, pages)` does the runs that are missing in `output`, writes the page with its pictures,
and tells whether every claim of `claims.toml` holds, or has its reason there why not.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import plan
import runs
from matplotlib.figure import Figure
from runs import PRESENT, Results, Run

from noctule.console import Table, plain_table
from noctule.plots import PALETTE, save_figure

HERE = Path(__file__).parent
TITLES = {
    "wait": "mean wait (s)",
    "response": "mean response (s)",
    "slowdown": "mean slowdown",
    "days": "days simulated",
    "utilisation": "utilisation",
    "backfilled": "backfilled jobs",
    "backfill_passes": "backfill passes",
    "backfill_tests": "jobs tested by backfilling",
}
#: Who ran what; the claims are judged by the first, which is what the paper did.
GROUPS = {
    "BSC's steps, Cirne": ("bsc", "cirne"),
    "BSC's steps, Lublin": ("bsc", "lublin"),
    "Slurm's clocks, Cirne": ("slurm", "cirne"),
}
JUDGED = next(iter(GROUPS))
#: Of table I, the log with ANL's arrival pattern.
PUBLISHED = {"wait": "31457", "response": "40067", "slowdown": "932", "days": "4.4"}
PICTURES = dict(zip(plan.CASES, ("interval", "queue", "size"), strict=True))
Claim = Mapping[str, Any]


def run(output: Path, pages: Path) -> bool:
    n_workers = os.cpu_count() or 1
    loads = runs.loads_of(plan.WORKLOADS, output / "loads.json", n_workers)
    found = runs.results(list(plan.planned()), loads, output / "results.csv", n_workers)
    claims = tomllib.loads((HERE / "claims.toml").read_text())["claim"]
    pages.mkdir(parents=True, exist_ok=True)
    (pages / "index.md").write_text(page(found, loads, claims))
    for title, name in PICTURES.items():
        save_figure(picture(title, found), pages / f"{name}.svg")
    rows = [[c["section"], *_judgement(c, found)] for c in claims]
    print("\n".join(plain_table(Table(["section", "measure", "paper", *GROUPS, ""], rows))))
    print(f"{len(found)} runs; {output}; {pages / 'index.md'}")
    return all(holds(claim, found) or "why" in claim for claim in claims)


def page(found: Results, loads: Mapping[str, float], claims: Sequence[Claim]) -> str:
    """Return the page with its tables."""
    parts = {
        "n_workloads": str(len(plan.WORKLOADS)),
        "n_phases": str(plan.N_PHASES),
        "present": "\n".join(_present(found, loads)),
        "claims": "\n".join(_claims(claims, found)),
        "reasons": "\n".join(_reasons(claims, found)),
        **{name: "\n".join(_case(title, found)) for title, name in PICTURES.items()},
    }
    text = (HERE / "page.md").read_text()
    for mark, part in parts.items():
        text = text.replace(f"{{{{{mark}}}}}", part)
    return text


def runs_of(group: str, change: str, found: Results) -> list[Run]:
    """Return the runs of a group after a change."""
    mode, model = GROUPS[group]
    return [
        r for r in found if (r.mode, r.change) == (mode, change) and r.workload.startswith(model)
    ]


def mean(group: str, change: str, measure: str, found: Results) -> float | None:
    """Return a mean over the runs of a group, or None where there are none."""
    return _mean([found[run][measure] for run in runs_of(group, change, found)])


def difference(group: str, change: str, measure: str, found: Results) -> float | None:
    """Return by what share a measure differs from the present, as a mean over pairs of runs."""
    pairs = [
        (found[run][measure], found[Run(run.workload, run.mode, run.phase, PRESENT)][measure])
        for run in runs_of(group, change, found)
    ]
    return _mean([new / old - 1 for new, old in pairs])


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def differences(claim: Claim, group: str, found: Results) -> list[float]:
    """Return what a claim is about: its measures after its changes."""
    all_of_them = [
        difference(group, change, measure, found)
        for change in claim["changes"]
        for measure in claim["measures"]
    ]
    return [value for value in all_of_them if value is not None]


def holds(claim: Claim, found: Results, group: str = JUDGED) -> bool:
    """Tell whether a claim holds."""
    values = differences(claim, group, found)
    return bool(values) and claim["at_least"] <= min(values) <= max(values) <= claim["at_most"]


def draws_that_hold(claim: Claim, found: Results) -> tuple[int, int]:
    """Return for how many workloads a claim holds by itself, and of how many."""
    names = sorted({run.workload for run in runs_of(JUDGED, PRESENT, found)})
    alone = [{run: found[run] for run in found if run.workload == name} for name in names]
    return sum(holds(claim, some) for some in alone), len(names)


def _judgement(claim: Claim, found: Results) -> list[str]:
    cells = []
    for group in GROUPS:
        shown = [f"{value:+.0%}" for value in differences(claim, group, found)]
        if max(map(abs, differences(claim, group, found)), default=1.0) < 0.1:
            shown = [f"{value:+.1%}" for value in differences(claim, group, found)]
        cells.append(" ".join(shown) or "-")
    n_holding, n_draws = draws_that_hold(claim, found)
    verdict = "holds" if holds(claim, found) else "does not hold"
    verdict += f"; {n_holding} of {n_draws} draws alone"
    return [", ".join(claim["measures"]), claim["published"], *cells, verdict]


def _claims(claims: Sequence[Claim], found: Results) -> Iterator[str]:
    yield f"| the paper says | judged by | published | {' | '.join(GROUPS)} | |"
    yield "|---" * (len(GROUPS) + 4) + "|"
    for claim in claims:
        _, published, *cells = _judgement(claim, found)
        says = f'{claim["section"]}: "{claim["says"]}"'
        yield f"| {says} | {claim['judged']} | {published} | {' | '.join(cells)} |"


def _reasons(claims: Sequence[Claim], found: Results) -> Iterator[str]:
    for claim in claims:
        if not holds(claim, found):
            yield f"- {claim['section']}, {claim['judged']}: {claim.get('why', 'not known')}"


def _present(found: Results, loads: Mapping[str, float]) -> Iterator[str]:
    measures = ("wait", "response", "slowdown", "days", "utilisation", "backfilled")
    yield "| | load | " + " | ".join(TITLES[name] for name in measures) + " |"
    yield "|---" * (len(measures) + 2) + "|"
    yield "| published | | " + " | ".join(PUBLISHED.get(name, "") for name in measures) + " |"
    for run in sorted(r for r in found if r.change == PRESENT):
        phase = f", phase {run.phase}" if run.mode == "slurm" else ""
        cells = [_number(found[run][name]) for name in measures]
        label = f"`{run.workload}`, {run.mode}{phase}"
        yield f"| {label} | {loads[run.workload]:.2f} | " + " | ".join(cells) + " |"


def _case(title: str, found: Results) -> Iterator[str]:
    measures = ("wait", "response", "slowdown", "backfilled", "backfill_tests")
    for group in GROUPS:
        changes = [change for change in plan.CASES[title] if runs_of(group, change, found)]
        if len(changes) < 2:
            continue
        yield f"| {group} | " + " | ".join(TITLES[name] for name in measures) + " |"
        yield "|---" * (len(measures) + 1) + "|"
        for change in changes:
            cells = [_cell(group, change, measure, found) for measure in measures]
            yield f"| {_short(change)} | " + " | ".join(cells) + " |"
        yield ""


def _cell(group: str, change: str, measure: str, found: Results) -> str:
    value, share = mean(group, change, measure, found), difference(group, change, measure, found)
    assert value is not None
    assert share is not None
    return _number(value) + ("" if change == PRESENT else f" ({share:+.1%})")


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _short(change: str) -> str:
    return change.removeprefix("SchedulerParameters.")


def picture(title: str, found: Results) -> Figure:
    """Draw how measures differ from the present over a use case."""
    made = Figure(figsize=(8.0, 3.2), layout="constrained")
    metrics, work = made.subplots(1, 2)
    changes = plan.CASES[title]
    for axes, names in (
        (metrics, ("wait", "response", "slowdown")),
        (work, ("backfilled", "backfill_tests")),
    ):
        for group, style in zip(GROUPS, ("-", "--", ":"), strict=True):
            for i, name in enumerate(names):
                at = [j for j, change in enumerate(changes) if runs_of(group, change, found)]
                values = [difference(group, changes[j], name, found) for j in at]
                label = TITLES[name] if style == "-" else None
                axes.plot(at, values, style, color=PALETTE[i], marker="o", ms=3, label=label)
        axes.set_xticks(range(len(changes)), [_tick(change) for change in changes], fontsize=8)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}")
        axes.grid(color="0.92")
        axes.tick_params(labelsize=8)
        axes.legend(fontsize=8, frameon=False)
    metrics.set_title("against the present: waits", fontsize=9, loc="left")
    work.set_title("work of backfilling", fontsize=9, loc="left")
    return made


def _tick(change: str) -> str:
    return change.rpartition("=")[2].removeprefix("nodes")
