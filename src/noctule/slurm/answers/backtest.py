"""A site's log replayed under its present configuration: simulated against recorded waits.

What the model gets wrong here it gets wrong in every answer about changes too. The error of a class
of jobs is the root mean square, over phases of the clocks, of the difference between the simulated
and the recorded mean wait: what is systematic and what is chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.slurm.answers.job_classes import JobClass, job_classes
from noctule.slurm.model.site_run import Mode, SiteRun, run_phases
from noctule.slurm.site.hosts import Capacity, partitions_of
from noctule.slurm.site.site import SlurmSite


@dataclass(frozen=True, slots=True)
class ClassError:
    """A class of jobs: recorded and simulated waits in seconds, over phases of the clocks.

    Attributes:
        n_jobs: that started in the record and in every phase.
        recorded_mean: of the waits; so is `recorded_median`.
        simulated_mean: mean over phases; so is `simulated_median`.
        spread: standard deviation over phases of the simulated mean; not a number of one phase.
        error: simulated less recorded mean.
        rms_error: root mean square of the error over phases.
        start_error: sum of absolute differences of starts over that of recorded waits, mean over
            phases.
    """

    kind: str
    name: str
    n_jobs: int
    recorded_mean: float
    recorded_median: float
    simulated_mean: float
    simulated_median: float
    spread: float
    error: float
    rms_error: float
    start_error: float


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A job that started in the record but not in the model."""

    job_id: str
    n_phases: int
    reason: str


@dataclass(frozen=True, slots=True)
class Backtest:
    """What the model makes of a record; `n_only_simulated` jobs started in the model alone."""

    n_phases: int
    seed: int
    classes: tuple[ClassError, ...]
    unplaced: tuple[Unplaced, ...]
    n_only_simulated: int
    notes: tuple[str, ...] = ()

    def errors(self) -> Mapping[tuple[str, str], float]:
        """Return the error of each class of jobs, by kind and name."""
        return {(one.kind, one.name): one.rms_error for one in self.classes}


def backtest_site(
    site: SlurmSite, *, n_phases: int = 8, seed: int = 1, mode: Mode = "slurm"
) -> Backtest:
    """Replay the record of a site under its present configuration, once for each phase.

    With `mode` "bsc" once, as BSC's simulator would.
    """
    if site.recorded is None:
        raise InputError(
            f"{site.workload.name}: the jobs have no recorded starts, expected rows of sacct"
        )
    runs = list(run_phases(site, n_phases=n_phases, seed=seed, mode=mode))
    return compare_runs(site, runs, seed=seed)


def compare_runs(site: SlurmSite, runs: Sequence[SiteRun], *, seed: int) -> Backtest:
    """Compare runs of the present configuration with the record."""
    assert site.recorded is not None
    recorded = np.array([math.nan if s is None else s for s in site.recorded.start], dtype=float)
    given = [date is not None for date in site.requests.column("started")]
    recorded[given] = math.nan  # which the model did not decide
    simulated = np.array([run.start for run in runs])
    never = np.isnan(simulated)
    has_both = ~np.isnan(recorded) & ~never.any(axis=0)
    waits = waits_of(site, recorded)
    simulated_waits = np.array([waits_of(site, start) for start in simulated])
    classes = [_without(one, has_both) for one in job_classes(site)]
    lost = np.flatnonzero(~np.isnan(recorded) & never.any(axis=0))
    return Backtest(
        n_phases=len(runs),
        seed=seed,
        classes=tuple(_error(one, waits, simulated_waits) for one in classes if len(one.jobs)),
        unplaced=tuple(_unplaced(site, runs, never, job) for job in lost.tolist()),
        n_only_simulated=int((np.isnan(recorded) & ~never.all(axis=0)).sum()),
        notes=runs[0].notes,
    )


def waits_of(site: SlurmSite, start: Floats) -> Floats:
    """Return waits in whole seconds, as Slurm accounts for them."""
    return np.asarray(np.floor(start) - np.floor(site.workload.submit_time))


def _without(one: JobClass, kept: Any) -> JobClass:
    return JobClass(one.kind, one.name, one.jobs[kept[one.jobs]])


def _error(one: JobClass, recorded: Floats, simulated: Floats) -> ClassError:
    truth, waits = recorded[one.jobs], simulated[:, one.jobs]
    means = waits.mean(axis=1)
    differences = means - truth.mean()
    apart = np.abs(waits - truth).sum(axis=1).mean()
    return ClassError(
        kind=one.kind,
        name=one.name,
        n_jobs=len(one.jobs),
        recorded_mean=float(truth.mean()),
        recorded_median=float(np.median(truth)),
        simulated_mean=float(means.mean()),
        simulated_median=float(np.median(waits, axis=1).mean()),
        spread=float(means.std(ddof=1)) if len(means) > 1 else math.nan,
        error=float(differences.mean()),
        rms_error=float(np.sqrt(np.mean(differences**2))),
        start_error=float(apart / truth.sum()) if truth.sum() else (0.0 if not apart else math.nan),
    )


def _unplaced(site: SlurmSite, runs: Sequence[SiteRun], never: Any, job: int) -> Unplaced:
    missing = np.flatnonzero(never[:, job])
    reason = why_not_started(site, runs[int(missing[0])], job)
    return Unplaced(str(site.workload.job_ids[job]), len(missing), reason)


def why_not_started(site: SlurmSite, run: SiteRun, job: int) -> str:
    """Say why the model never started a job."""
    request = site.requests[job]
    if run.state[job] == "cancelled":
        return "left the queue at the date of its cancellation"
    if request.held and request.release is None:
        return "held, and no date of release is known"
    reasons = [
        Capacity(site.settings, partition).why_never(request)
        for partition in partitions_of(site.settings, request.partitions)
    ]
    if reasons and all(reasons):
        return f"asks for {reasons[0]}"
    if request.dependencies:
        return f"waits for {','.join(map(str, request.dependencies))}, which is never met"
    if run.state[job] == "rejected":
        return f"refused: {'; '.join(run.notes) or 'no node can ever meet its request'}"
    return "still waiting when nothing could happen any more"


def class_rows(classes: Iterable[ClassError]) -> list[dict[str, Any]]:
    """Return classes as rows of a table for programs."""
    return [{name: getattr(one, name) for name in ClassError.__slots__} for one in classes]
