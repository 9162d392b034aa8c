"""Run a study and print published figures beside ours.

    python studies/run.py NAME [--workers N] [--logs DIR] [-o DIR]

A study is a folder here with `campaign.toml` and, where a paper printed figures, `published.toml`,
where it says what is better than what, `claims.toml`. One with a `report.py` has a page of its own
under docs/studies, which `report(results, folder)` writes. A study may have further campaigns,
`campaign-PART.toml`: then `report_campaigns(folders, folder)` gets where the results of each are.
One that is no campaign has a `study.py` whose `run(output, pages)` does it all. The exit code is 1
if one of our figures differs by more than the study allows, or if a claim does not hold.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from noctule.campaign import Campaign, LocalWorkers, load_results, run_campaign
from noctule.comparison import Comparison, compare
from noctule.console import Table, plain_table
from noctule.errors import NoctuleError

HERE = Path(__file__).parent
PAGES = HERE.parent / "docs" / "studies"
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "days": 86_400.0, "": 1.0}


@dataclass(frozen=True)
class Figure:
    """A figure as it was printed, ours, and how far apart they may be."""

    label: str
    metric: str
    printed: Decimal
    ours: float
    tolerance: float | None

    @property
    def difference(self) -> float:
        return self.ours - float(self.printed)

    @property
    def agrees(self) -> bool:
        if self.tolerance is not None:
            return abs(self.difference) <= self.tolerance * float(self.printed)
        # to the printed digits
        exponent = self.printed.as_tuple().exponent
        assert isinstance(exponent, int)
        return abs(self.difference) <= 0.5 * 10.0**exponent * (1 + 1e-9)

    @property
    def cells(self) -> list[str]:
        share = self.difference / float(self.printed) if self.printed else 0.0
        allowed = "digits" if self.tolerance is None else f"{self.tolerance:.0%}"
        verdict = "ok" if self.agrees else "DIFFERS"
        ours = f"{self.ours:.3f}"
        return [self.label, self.metric, str(self.printed), ours, f"{share:+.2%}", allowed, verdict]


def figures(published: Mapping[str, Any], results: pd.DataFrame) -> Iterator[Figure]:
    unit = UNITS[published.get("unit", "")]
    for row in published["row"]:
        runs = results[results["bound"] == ""]
        for column, value in row["runs"].items():
            runs = runs[runs[column] == value]
        if runs.empty:
            raise SystemExit(f"{row['label']}: no run with {row['runs']}")
        for metric, printed in row["figures"].items():
            ours = float(runs[metric].mean()) / unit
            yield Figure(
                row["label"], metric, printed, ours, _tolerance(row.get("tolerance"), metric)
            )


def _tolerance(tolerances: Mapping[str, Decimal] | None, metric: str) -> float | None:
    return None if tolerances is None else float(tolerances[metric])


def report(published: Mapping[str, Any], results: pd.DataFrame) -> bool:
    found = list(figures(published, results))
    unit = published.get("unit", "")
    headers = ["row", "metric", f"published ({unit})", "ours", "difference", "allowed", ""]
    print(published["source"])
    print("\n".join(plain_table(Table(headers, [figure.cells for figure in found]))))
    for row in published["row"]:
        if "why" in row:
            print(f"{row['label']}: {row['why']}")
    return all(figure.agrees for figure in found)


def report_claims(claims: Mapping[str, Any], results: pd.DataFrame) -> bool:
    """Print differences along a parameter, and whether each claim holds; all must."""
    print(claims["source"])
    for name, runs in claims["experiments"].items():
        chosen = _matching(results, runs)
        if chosen.empty:
            raise SystemExit(f"{name}: no run with {runs}")
        print(f"\n{name}: {claims['metric']} beside {claims['baseline']}")
        print("\n".join(plain_table(_along(claims, chosen))))
    rows, hold = [], True
    for claim in claims["claim"]:
        for name in claim["experiments"]:
            found = _compared(claims, _matching(results, claims["experiments"][name]), claim)
            holds = found.significant and found.difference.value < 0
            hold &= holds
            rows.append([name, claim["better"], claim["worse"], _relative(found), _verdict(holds)])
    headers = ["experiment", "better", "than", "difference (95 %)", ""]
    print("\n" + "\n".join(plain_table(Table(headers, rows, of_numbers=False))))
    return hold


def _verdict(holds: bool) -> str:
    return "ok" if holds else "DOES NOT HOLD"


def _matching(results: pd.DataFrame, runs: Mapping[str, str]) -> pd.DataFrame:
    """Return the runs whose columns match patterns."""
    chosen = results[(results["bound"] == "") & (results["status"] == "done")]
    for column, pattern in runs.items():
        chosen = chosen[[fnmatchcase(str(value), pattern) for value in chosen[column]]]
    return chosen


def _axes(claims: Mapping[str, Any]) -> list[str]:
    return ["workload", "platform", "policy", "seed", claims["along"]]


def _compared(
    claims: Mapping[str, Any], runs: pd.DataFrame, claim: Mapping[str, Any]
) -> Comparison:
    runs = runs[runs[claims["along"]] >= claims["from"]]
    runs = runs[runs["policy"].isin([claim["better"], claim["worse"]])]
    answer = compare(
        runs, "policy", claims["metric"], baseline=claim["worse"], axes=_axes(claims), unit="seed"
    )
    return answer.comparisons[0]


def _along(claims: Mapping[str, Any], runs: pd.DataFrame) -> Table:
    """Return the mean of the baseline, and what the others differ by, along the parameter."""
    along, baseline, metric = claims["along"], claims["baseline"], claims["metric"]
    shown = runs[runs[along].isin(claims["shown"])]
    answer = compare(
        shown, "policy", metric, baseline=baseline, within=along, axes=_axes(claims), unit="seed"
    )
    levels = list(dict.fromkeys(found.level for found in answer.comparisons))
    cells = {(found.within[along], found.level): found for found in answer.comparisons}
    rows = []
    for value in sorted(shown[along].unique().tolist()):
        first = cells[value, levels[0]]
        mean = first.reference_mean / UNITS[claims["unit"]]
        rows.append([f"{value:g}", f"{mean:.2f}", *(_relative(cells[value, n]) for n in levels)])
    return Table([along.rpartition(".")[2], f"{baseline} ({claims['unit']})", *levels], rows)


def _relative(found: Comparison) -> str:
    if found.relative is None:
        return "-"
    low, high = found.relative.low, found.relative.high
    return f"{found.relative.value:+.1f} % ({low:+.1f} to {high:+.1f})"


def overview(results: pd.DataFrame) -> None:
    names = ["makespan", "mean_waiting_time", "mean_slowdown", "mean_bounded_slowdown"]
    axes = ["workload", "platform", "policy"]
    axes += [name for name in ("launch_delay", "epilogue_delay") if name in results.columns]
    means = results.groupby(axes, sort=False)[names].mean().reset_index()
    rows = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in row] for row in means.values]
    print("\n".join(plain_table(Table([*axes, *names], rows))))


def _studies() -> Iterator[Path]:
    for name in ("campaign.toml", "study.py"):
        yield from HERE.glob(f"*/{name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted({p.parent.name for p in _studies()}))
    parser.add_argument("--workers", type=int)
    parser.add_argument("--logs", help="folder with logs of the Parallel Workloads Archive")
    parser.add_argument("-o", "--output", help="folder of the results (out/studies/NAME)")
    parser.add_argument("--pages", type=Path, default=PAGES, help="folder of reports")
    options = parser.parse_args()
    output = Path(options.output or Path("out") / "studies" / options.name)
    try:
        return 0 if do_study(HERE / options.name, output, options) else 1
    except NoctuleError as error:
        print(f"study {options.name}: {error}", file=sys.stderr)
        return 3


def do_study(folder: Path, output: Path, options: argparse.Namespace) -> bool:
    pages = options.pages / folder.name
    if (folder / "study.py").exists():
        sys.path.insert(0, str(folder))  # it may have further modules
        return bool(runpy.run_path(str(folder / "study.py"))["run"](output, pages))
    outputs = {
        path.stem: output.with_name(f"{output.name}-{path.stem}")
        for path in sorted(folder.glob("campaign-*.toml"))
    }
    outputs["campaign"] = output
    n_failed = 0
    for stem, where in outputs.items():
        campaign = Campaign.load(folder / f"{stem}.toml", logs=options.logs)
        tally = run_campaign(campaign, where, LocalWorkers(options.workers))
        print(f"{tally.n_runs} runs, {tally.n_failed} failed; {where}")
        n_failed += tally.n_failed
    return told(folder, outputs, pages) and not n_failed


def told(folder: Path, outputs: Mapping[str, Path], pages: Path) -> bool:
    """Print or write what came out; whether it is as the study expects."""
    results = load_results(outputs["campaign"])
    if (folder / "report.py").exists():
        write = runpy.run_path(str(folder / "report.py"))
        pages.mkdir(parents=True, exist_ok=True)
        if len(outputs) > 1:
            return bool(write["report_campaigns"](outputs, pages))
        return bool(write["report"](results, pages))
    if (folder / "claims.toml").exists():
        return report_claims(tomllib.loads((folder / "claims.toml").read_text()), results)
    path = folder / "published.toml"
    if path.exists():
        return report(tomllib.loads(path.read_text(), parse_float=Decimal), results)
    overview(results)
    return True


if __name__ == "__main__":
    sys.exit(main())
