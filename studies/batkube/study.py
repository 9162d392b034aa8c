"""Batkube's three workloads under unmodified kube-schedulers, beside what was published.

`run(output, pages)` does the runs that are missing in `output`, writes the page, and tells whether
every claim of `plan.toml` holds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

import noctule as nt
from noctule.console import Table, plain_table
from noctule.errors import InputError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PLAN = tomllib.loads((HERE / "plan.toml").read_text())
PLAIN, CALIBRATED = "plain", "calibrated"
MEASURES = {"makespan": "makespan (s)", "wait": "mean wait (s)"}
VERDICTS = {True: "holds", False: "does not hold", None: "not judged"}
Plan = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A workload under a version of the scheduler, with delays or without."""

    name: str
    version: str
    variant: str

    @property
    def facts(self) -> Plan:
        """What the plan says about the workload."""
        facts: Plan = PLAN["case"][self.name]
        return facts

    @property
    def delays(self) -> Plan:
        """Hosts and delays that differ from Batkube's model."""
        delays: Plan = self.facts[CALIBRATED] if self.variant == CALIBRATED else {}
        return delays


#: Of each case, the measures of its runs, and the starts of all jobs in each.
Results = dict[Case, list["Measured"]]


@dataclass(frozen=True)
class Measured:
    """What came out of a run."""

    makespan: float
    wait: float
    starts: tuple[float, ...]


def run(output: Path, pages: Path) -> bool:
    schedulers = installed()
    if not schedulers:
        raise InputError(
            f"no kube-scheduler in {cache()}: tests/kube/install-kube-scheduler builds one"
        )
    found: Results = {}
    for name in PLAN["case"]:
        for version in schedulers:
            for variant in (PLAIN, CALIBRATED):
                case = Case(name, version, variant)
                found[case] = [
                    measured(case, folder) for folder in runs(case, schedulers[version], output)
                ]
    pages.mkdir(parents=True, exist_ok=True)
    (pages / "index.md").write_text(page(found))
    for variant in (PLAIN, CALIBRATED):
        print("\n".join([variant, *plain_table(table(found, variant)), ""]))
    for version in missing(found):
        print(f"kube-scheduler {version} is not installed: left out")
    judged = [(claim["says"], holds(claim, found)) for claim in PLAN["claim"]]
    for says, is_true in judged:
        print(f"{VERDICTS[is_true]}: {says}")
    print(f"{sum(map(len, found.values()))} runs; {output}; {pages / 'index.md'}")
    return all(is_true is not False for _, is_true in judged)


def cache() -> Path:
    """Return the folder in which tests/kube/install-kube-scheduler keeps schedulers."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "noctule" / "kube"
    return Path(os.environ.get("NOCTULE_KUBE") or usual)


def installed() -> dict[str, Path]:
    """Return the schedulers of the plan that are there, by version."""
    paths = {version: cache() / f"kube-scheduler-{version}" for version in PLAN["versions"]}
    return {version: path for version, path in paths.items() if path.is_file()}


def inputs() -> Path:
    """Return the folder of Batkube's workloads and platforms."""
    folder = Path(os.environ.get("NOCTULE_SHARED") or ROOT.parent / "shared") / "vectors/batkube"
    if not folder.is_dir():
        raise InputError(f"no {folder}; NOCTULE_SHARED names the folder of the shared data")
    return folder


def runs(case: Case, scheduler: Path, output: Path) -> Iterator[Path]:
    """Yield the folders of a case's runs, done where they are not there."""
    platform = _platform(case)
    for i in range(case.facts["repeats"][case.version]):
        folder = output / f"{case.name}-{case.version}-{case.variant}-{i}"
        if not (folder / "jobs.csv").is_file():
            words = [str(inputs() / "workloads" / case.facts["workload"])]
            words += ["--platform", str(platform), "--mode", "exact"]
            words += ["-o", str(folder), "--force", "--quiet"]
            for option in ("image_pull", "start_delay"):
                if option in case.delays:
                    words += [f"--{option.replace('_', '-')}", str(case.delays[option])]
            if "stop_delay" in case.delays:
                words += ["--epilogue-delay", str(case.delays["stop_delay"])]
            command = [sys.executable, "-m", "noctule", "kube", *words, "--", str(scheduler)]
            subprocess.run(command, check=True)
        yield folder


def _platform(case: Case) -> Path:
    if "platform" in case.delays:
        return HERE / str(case.delays["platform"])
    return inputs() / "platforms" / case.facts["platform"]


def measured(case: Case, folder: Path) -> Measured:
    """Return the measures of a run, as the paper has them.

    A wait ends when the container runs; a job ends when that has been reported.
    """
    schedule = nt.Schedule.load(folder)
    workload = nt.load_workload(inputs() / "workloads" / case.facts["workload"])
    durations = {str(job.id): job.profile.duration for job in workload}
    ids = [str(job_id) for job_id in schedule.column("job_id").tolist()]
    finish = schedule.column("finish_time")
    starts = finish - np.array([durations[job_id] for job_id in ids])
    return Measured(
        makespan=float(finish.max()) + case.delays.get("stop_delay", 0.0),
        wait=float((starts - schedule.column("submit_time")).mean()),
        starts=tuple(start for _, start in sorted(zip(ids, starts.tolist(), strict=True))),
    )


def missing(found: Results) -> list[str]:
    """Return the versions of the plan that were not run."""
    there = {case.version for case in found}
    return [version for version in PLAN["versions"] if version not in there]


def holds(claim: Plan, found: Results) -> bool | None:
    """Tell whether a claim holds under every version that was run; None if none was."""
    cases = [c for c in found if (c.name, c.variant) == (claim["of"], claim["variant"])]
    cases = [case for case in cases if case.version in claim.get("versions", PLAN["versions"])]
    if not cases:
        return None
    if claim["measure"] == "starts":
        return all(len({run.starts for run in found[case]}) == 1 for case in cases)
    means = [fmean(getattr(run, claim["measure"]) for run in found[case]) for case in cases]
    return all(claim["at_least"] <= mean <= claim["at_most"] for mean in means)


def table(found: Results, variant: str) -> Table:
    """Return published figures beside ours: means, and standard deviations over runs."""
    versions = list(dict.fromkeys(case.version for case in found))
    headers = ["", "", "emulated cluster", "Batkube", *(f"kube-scheduler {v}" for v in versions)]
    rows = []
    for name, facts in PLAN["case"].items():
        for measure, title in MEASURES.items():
            cells = [_printed(facts[who][measure]) for who in ("emulated", "batkube")]
            for version in versions:
                values = [getattr(r, measure) for r in found[Case(name, version, variant)]]
                cells.append(_shown(values))
            rows.append([name if measure == "makespan" else "", title, *cells])
    return Table(headers, rows)


def _printed(figures: Sequence[float]) -> str:
    return " ± ".join(str(figure) for figure in figures)


def _shown(values: Sequence[float]) -> str:
    spread = stdev(values) if len(values) > 1 else 0.0
    around = f" ± {spread:.1f}" if spread < 10 else f" ± {spread:.0f}"
    return f"{fmean(values):.1f}" + (around if spread >= 0.05 else "")


def page(found: Results) -> str:
    """Return the page with its tables."""
    parts = {
        "plain": "\n".join(_markdown(table(found, PLAIN))),
        "calibrated": "\n".join(_markdown(table(found, CALIBRATED))),
        "delays": "\n".join(_delays()),
        "claims": "\n".join(_claims(found)),
        "missing": "".join(
            f"kube-scheduler {version} was not installed when this page was written.\n\n"
            for version in missing(found)
        ),
    }
    text = (HERE / "page.md").read_text()
    for mark, part in parts.items():
        text = text.replace(f"{{{{{mark}}}}}", part)
    return text


def _markdown(of: Table) -> Iterator[str]:
    yield f"| {' | '.join(of.headers)} |"
    yield "|---" * len(of.headers) + "|"
    for row in of.rows:
        yield f"| {' | '.join(row)} |"


def _delays() -> Iterator[str]:
    yield "| | hosts | first pull on a host | from binding to running | from end to report |"
    yield "|---|---|---|---|---|"
    for name, facts in PLAN["case"].items():
        told = facts[CALIBRATED]
        seconds = (f"{told[key]} s" for key in ("image_pull", "start_delay", "stop_delay"))
        yield f"| {name} | {told['hosts']} | {' | '.join(seconds)} |"


def _claims(found: Results) -> Iterator[str]:
    yield "| claim | |"
    yield "|---|---|"
    for claim in PLAN["claim"]:
        yield f"| {claim['says']} | {VERDICTS[holds(claim, found)]} |"
