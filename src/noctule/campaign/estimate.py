"""How long a campaign will take, judged by a few of its runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import fmean

from noctule.campaign.execution import Outcome, Runner
from noctule.campaign.local import PolicyProcess, ProcessEnded
from noctule.campaign.plan import Plan, PlannedRun
from noctule.campaign.store import Store

_MOST_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Some runs that were done to see how long they take; nothing of them is kept."""

    n_runs: int
    n_recorded: int
    n_samples: int
    mean_s: float
    n_workers: int
    errors: tuple[str, ...] = ()

    @property
    def total_s(self) -> float:
        """Seconds that the runs still to be done take with all workers."""
        return self.mean_s * (self.n_runs - self.n_recorded) / self.n_workers


def estimate(plan: Plan, n_samples: int, n_workers: int, *, store: Store | None = None) -> Estimate:
    """Do runs that lie evenly in the plan, for some seconds at most."""
    n_recorded = _n_recorded(plan, store)
    step = max(len(plan) // max(n_samples, 1), 1)
    chosen = {step // 2 + i * step for i in range(n_samples)}
    runner, process = Runner(), PolicyProcess()
    seconds: list[float] = []
    errors: list[str] = []
    began = time.monotonic()
    try:
        for i, run in enumerate(plan):
            if i in chosen and time.monotonic() - began < _MOST_SECONDS:
                outcome = _outcome(run, runner, process)
                seconds.append(outcome.seconds)
                errors += [outcome.error] if outcome.error else []
    finally:
        process.end()
    mean = fmean(seconds) if seconds else float("nan")
    return Estimate(len(plan), n_recorded, len(seconds), mean, n_workers, tuple(errors))


def _outcome(run: PlannedRun, runner: Runner, process: PolicyProcess) -> Outcome:
    if run.is_native:
        return runner.execute(run.spec)
    try:
        return process.execute(run.spec)
    except ProcessEnded as end:
        return Outcome(error=str(end))


def _n_recorded(plan: Plan, store: Store | None) -> int:
    if store is None:
        return 0
    return sum(1 for run in plan if store.numbers(run.spec.key) is not None)
