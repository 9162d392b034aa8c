"""The runs of the study: workloads like the paper's, each change of each of them, in both modes.

Two numbers of the paper's table I (its ANL log) make the workloads: the mean duration of a job,
which is its mean response less its mean wait, and the mean wait, to which the load is set in the
mode of its simulator, before anything else is run. The rest is prediction.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import noctule as nt
from noctule import synthetic
from noctule.slurm.answers.changes.site import changed_site
from noctule.slurm.answers.scheduler_work import work_of
from noctule.slurm.conf.lines import Conf, read_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.sources import jobs_from_workload
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.site_run import run_site
from noctule.slurm.site.site import SlurmSite, import_site
from noctule.synthetic.lublin import BATCH
from noctule.traces import scale_load, scale_runtimes
from noctule.traces.scaling import factor_to_load

HERE = Path(__file__).parent
N_JOBS, N_NODES, LARGEST_JOB = 5000, 3456, 128
MEAN_WAIT, MEAN_DURATION = 31_457.0, 40_067.0 - 31_457.0
PRESENT = "present"
MEASURES = (
    *("wait", "response", "slowdown", "days", "utilisation"),
    *("backfilled", "backfill_passes", "backfill_tests"),
)
_KEYS = ("workload", "mode", "phase", "change")
_CLOSE = 0.03


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """One run: a workload, under whose clocks, with which phases, after which change."""

    workload: str
    mode: str
    phase: int
    change: str


Results = Mapping[Run, Mapping[str, float]]


def drawn(workload: str) -> nt.Workload:
    """Draw the jobs of a workload, named by model, pattern and seed."""
    model, pattern, seed = workload.split("-")
    if model == "lublin":
        # interactive jobs of a few seconds are no load for such a machine
        return synthetic.lublin(
            N_JOBS,
            seed=int(seed),
            n_hosts=LARGEST_JOB,
            streams=(BATCH,),
            walltimes=synthetic.UniformWalltimes(2.0),
            profiles="delay",
        )
    fitted = synthetic.coefficients_of(pattern)
    # sizes as the model has them, up to the largest; the paper's jobs are not cancelled
    sizes = synthetic.LogUniform(0.7, fitted.n_hosts, 1.0, fitted.n_hosts)
    said = replace(fitted, sizes=sizes, cancelled=0.0, cancellation=None)
    return synthetic.cirne(
        N_JOBS,
        seed=int(seed),
        coefficients=said,
        n_hosts=N_NODES,
        largest=LARGEST_JOB,
        profiles="delay",
    )


@cache
def conf() -> Conf:
    """Read the configuration."""
    return read_conf(HERE / "slurm.conf")


@cache
def site_of(workload: str, load: float) -> SlurmSite:
    """Return the machine with the jobs of a workload, of the paper's mean duration.

    The load is the work of all jobs over what the machine does while they come.
    """
    settings = settings_from(conf())
    jobs = drawn(workload)
    mean = float(np.mean(jobs.table.amount))
    jobs = scale_runtimes(jobs, MEAN_DURATION / mean, whole_seconds=True)
    jobs = scale_load(jobs, factor_to_load(jobs, load, N_NODES), whole_seconds=True)
    return import_site(settings, jobs_from_workload(jobs, settings, unit="nodes"), ImportReport())


def calibrated(workload: str) -> float:
    """Return the load with which jobs wait as long as in the paper, to within three per cent."""
    low, high = 0.5, 8.0
    while True:
        load = (low * high) ** 0.5
        wait = measured(Run(workload, "bsc", 0, PRESENT), load)["wait"]
        if abs(wait / MEAN_WAIT - 1) < _CLOSE or high / low < 1 + _CLOSE / 10:
            return load
        low, high = (load, high) if wait < MEAN_WAIT else (low, load)


def measured(run: Run, load: float) -> dict[str, float]:
    """Do a run."""
    site = site_of(run.workload, load)
    if run.change != PRESENT:
        site = changed_site(site, conf(), run.change).site
    clocks = Clocks.bsc() if run.mode == "bsc" else Clocks.drawn(run.phase, site.settings)
    found = run_site(site, clocks)
    submit, start, end = site.workload.submit_time, found.start, found.end
    work = work_of(site, found)
    return {
        "wait": float(np.mean(start - submit)),
        "response": float(np.mean(end - submit)),
        "slowdown": float(np.mean((end - submit) / np.maximum(1.0, end - start))),
        "days": float(end.max() - submit.min()) / 86_400,
        **{name: getattr(work, name) for name in MEASURES if hasattr(work, name)},
    }


def loads_of(workloads: Sequence[str], path: Path, n_workers: int) -> dict[str, float]:
    """Return the load of each workload; those that the table at a path lacks are added to it."""
    known: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
    missing = [name for name in workloads if name not in known]
    if missing:
        with ProcessPoolExecutor(n_workers) as workers:
            known |= dict(zip(missing, workers.map(calibrated, missing), strict=True))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(known, indent=2) + "\n")
    return known


def results(runs: Sequence[Run], loads: Mapping[str, float], path: Path, n_workers: int) -> Results:
    """Do the runs that the table at a path lacks, add them to it, and return all."""
    known = dict(_read(path))
    missing = [run for run in runs if run not in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file, ProcessPoolExecutor(n_workers) as workers:
        writer = csv.DictWriter(file, [*_KEYS, *MEASURES], lineterminator="\n")
        if not known:
            writer.writeheader()
        tasks = {workers.submit(measured, run, loads[run.workload]): run for run in missing}
        for task in as_completed(tasks):
            run = tasks[task]
            known[run] = task.result()
            writer.writerow({**{key: getattr(run, key) for key in _KEYS}, **known[run]})
            file.flush()
    return {run: known[run] for run in runs}


def _read(path: Path) -> Iterator[tuple[Run, dict[str, float]]]:
    if not path.exists():
        return
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            run = Run(row["workload"], row["mode"], int(row["phase"]), row["change"])
            yield run, {name: float(row[name]) for name in MEASURES}
