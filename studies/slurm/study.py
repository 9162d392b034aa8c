"""The four use cases of the paper on BSC's Slurm simulator, with workloads of Lublin's model.

`run(output, pages)` runs what is missing into `output/results.csv`, writes the page, and tells
whether each claim came out as `claims.toml` says.
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from noctule.slurm.answers.changes.machine import loaded
from noctule.slurm.answers.changes.site import changed_site
from noctule.slurm.answers.scheduler_work import work_of
from noctule.slurm.conf.lines import Conf, read_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.sources import jobs_from_workload
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.site_run import run_site
from noctule.slurm.site.site import SlurmSite, import_site
from noctule.synthetic import lublin
from noctule.synthetic.estimates import UniformWalltimes

HERE = Path(__file__).parent
N_JOBS, LARGEST_JOB = 5000, 128
SEEDS = (1, 2)
#: Node-seconds of the jobs over those of the machine between the first and the last submission.
OFFERED_LOAD = 1.2
PRESENT = "present"
CASES: Mapping[str, Sequence[str]] = {
    "Backfill interval": [
        *(f"SchedulerParameters.bf_interval={s}" for s in (7, 15)),
        PRESENT,
        *(f"SchedulerParameters.bf_interval={s}" for s in (45, 60, 90)),
    ],
    "Jobs that a backfill pass tests": [
        *(f"SchedulerParameters.bf_max_job_test={n}" for n in (20, 40, 60, 80, 100)),
        PRESENT,
    ],
    "System size": [
        *("nodes-25%", "nodes-12.5%", PRESENT),
        *("nodes+12.5%", "nodes+25%"),
    ],
    "Load": ["load*0.8", "load*0.9", PRESENT, "load*1.1", "load*1.2"],
}
MEASURES = {
    "wait": "mean wait (s)",
    "response": "mean response (s)",
    "slowdown": "mean slowdown",
    "utilisation": "utilisation",
    "backfilled": "backfilled jobs",
    "backfill_passes": "backfill passes",
    "backfill_tests": "jobs tested by backfilling",
}
Results = Mapping[tuple[int, str], Mapping[str, float]]


def run(output: Path, pages: Path) -> bool:
    results = dict(_results(output))
    findings = [_finding(claim, results) for claim in _claims()]
    pages.mkdir(parents=True, exist_ok=True)
    text = (HERE / "page.md").read_text()
    tables = {f"{{{{{title}}}}}": "\n".join(_table(title, results)) for title in CASES}
    tables["{{n}}"] = str(len(SEEDS))
    tables["{{claims}}"] = "\n".join(_claim_table(findings))
    for mark, table in tables.items():
        text = text.replace(mark, table)
    (pages / "index.md").write_text(text)
    for claim, value, holds in findings:
        print(f"{claim['says']}: {value:+.1%}, {'holds' if holds else 'does not hold'}")
    print(f"{len(results)} runs; {output}; {pages / 'index.md'}")
    return all(holds == claim["expected"] for claim, _, holds in findings)


def site_of(seed: int, conf: Conf) -> SlurmSite:
    """Draw the jobs of a workload, and let them come fast enough for the machine."""
    settings = settings_from(conf)
    estimates = UniformWalltimes(2.0)
    drawn = lublin(N_JOBS, seed=seed, n_hosts=LARGEST_JOB, walltimes=estimates, profiles="delay")
    jobs = jobs_from_workload(drawn, settings, unit="nodes")
    area = float(np.dot(drawn.n_hosts, jobs.runtime))
    offered = area / (jobs.submit[-1] - jobs.submit[0]) / len(settings.nodes)
    return import_site(settings, loaded(jobs, OFFERED_LOAD / offered), ImportReport())


def measured(site: SlurmSite, seed: int) -> dict[str, float]:
    """Run a site once; its phases are drawn by the number of its workload."""
    found = run_site(site, Clocks.drawn(seed, site.settings))
    submit, start, end = site.workload.submit_time, found.start, found.end
    work = work_of(site, found)
    return {
        "wait": float(np.mean(start - submit)),
        "response": float(np.mean(end - submit)),
        "slowdown": float(np.mean((end - submit) / np.maximum(1.0, end - start))),
        **{name: getattr(work, name) for name in MEASURES if hasattr(work, name)},
    }


def _results(output: Path) -> Iterator[tuple[tuple[int, str], dict[str, float]]]:
    """Yield what each change does to each workload; runs that are there already are read."""
    output.mkdir(parents=True, exist_ok=True)
    path = output / "results.csv"
    known: dict[tuple[int, str], dict[str, float]] = {}
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                known[int(row["seed"]), row["change"]] = {n: float(row[n]) for n in MEASURES}
    conf = read_conf(HERE / "slurm.conf")
    changes = list(dict.fromkeys(change for case in CASES.values() for change in case))
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, ["seed", "change", *MEASURES], lineterminator="\n")
        if not known:
            writer.writeheader()
        for seed in SEEDS:
            site = site_of(seed, conf)
            for change in changes:
                key = (seed, change)
                if key not in known:
                    one = site if change == PRESENT else changed_site(site, conf, change).site
                    known[key] = measured(one, seed)
                    writer.writerow({"seed": seed, "change": change, **known[key]})
                    file.flush()
                yield key, known[key]


def _claims() -> list[Mapping[str, Any]]:
    with (HERE / "claims.toml").open("rb") as file:
        claims: list[Mapping[str, Any]] = tomllib.load(file)["claim"]
    return claims


def _ratio(results: Results, measure: str, change: str, than: str) -> float:
    """Return by what share a measure differs, as the mean over workloads."""
    pairs = [(results[seed, change][measure], results[seed, than][measure]) for seed in SEEDS]
    return fmean(new / old - 1 if old else (math.inf if new else 0.0) for new, old in pairs)


def _finding(claim: Mapping[str, Any], results: Results) -> tuple[Mapping[str, Any], float, bool]:
    value = _ratio(results, claim["measure"], claim["change"], claim.get("than", PRESENT))
    return claim, value, claim["at_least"] <= value <= claim["at_most"]


def _table(title: str, results: Results) -> Iterator[str]:
    yield f"| {title} | " + " | ".join(MEASURES.values()) + " |"
    yield "|---" * (1 + len(MEASURES)) + "|"
    for change in CASES[title]:
        cells = []
        for measure in MEASURES:
            mean = fmean(results[seed, change][measure] for seed in SEEDS)
            digits = 3 if measure == "utilisation" else 0 if mean >= 1000 else 1
            share = (
                "" if change == PRESENT else f" ({_ratio(results, measure, change, PRESENT):+.0%})"
            )
            cells.append(f"{mean:.{digits}f}{share}")
        yield f"| {change.removeprefix('SchedulerParameters.')} | " + " | ".join(cells) + " |"


def _claim_table(findings: Sequence[tuple[Mapping[str, Any], float, bool]]) -> Iterator[str]:
    yield "| the paper says | here | |"
    yield "|---|---|---|"
    for claim, value, holds in findings:
        yield f"| {claim['says']} | {value:+.1%} | {'holds' if holds else 'does not hold'} |"
