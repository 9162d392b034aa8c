"""The present configuration of a site against changes, with what the model can tell apart.

All configurations run with the same seeds of phases, so that effects are differences of pairs. An
effect is believed if it exceeds both the error of its class of jobs in the backtest and twice its
own standard error over phases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from noctule.columns import Floats
from noctule.slurm.answers.backtest import Backtest, compare_runs, waits_of
from noctule.slurm.answers.changes.site import ChangedSite, changed_site
from noctule.slurm.answers.job_classes import JobClass, job_classes
from noctule.slurm.answers.scheduler_work import Work, mean_work, work_of
from noctule.slurm.answers.waits.explain import Explainer
from noctule.slurm.answers.waits.lifetimes import simulated_lifetimes
from noctule.slurm.conf.lines import Conf
from noctule.slurm.model.site_run import Mode, run_phases
from noctule.slurm.site.site import SlurmSite

#: Called with what is being run.
Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does to the mean wait of a class of jobs, in seconds; means over phases.

    Attributes:
        n_jobs: that start in every run of both configurations.
        effect: changed less present.
        spread: standard deviation of the effect over phases; not a number of one phase.
        error: of the class in the backtest; not a number without a record.
        is_distinguishable: whether the effect is larger than what the model gets wrong.
    """

    kind: str
    name: str
    n_jobs: int
    present: float
    changed: float
    effect: float
    spread: float
    error: float
    is_distinguishable: bool


@dataclass(frozen=True, slots=True)
class JobChange:
    """A job that a change moves: waits and what each cause adds to them, as means over phases."""

    job_id: str
    present: float
    changed: float
    causes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Answer:
    """One change against the present.

    `n_lost` jobs start at present and not after the change, `dropped` of them by the reason that
    their request can never be met.
    """

    change: str
    effects: tuple[Effect, ...]
    work: Work
    jobs: tuple[JobChange, ...]
    n_lost: int
    dropped: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Changes against the present; `backtest` is None where the jobs have no record.

    `notes` are about the present; those of an answer are what a change adds to them.
    """

    n_phases: int
    seed: int
    backtest: Backtest | None
    present: Work
    answers: tuple[Answer, ...]
    notes: tuple[str, ...] = ()


def what_if(
    site: SlurmSite,
    conf: Conf,
    changes: Sequence[str],
    *,
    n_phases: int = 8,
    seed: int = 1,
    n_jobs: int = 10,
    mode: Mode = "slurm",
    say: Say | None = None,
) -> WhatIf:
    """Compare a site with itself after each of some changes; `n_jobs` that move most are told.

    With `mode` "bsc" as BSC's simulator would, which has no phases.
    """
    n_phases = n_phases if mode == "slurm" else 1
    changed = [changed_site(site, conf, text) for text in changes]
    if say is not None:
        say(f"present configuration, runs: {n_phases}")
    present = _Ensemble(site, n_phases, seed, mode)
    tested = None if site.recorded is None else compare_runs(site, present.runs, seed=seed)
    answers = []
    for text, one in zip(changes, changed, strict=True):
        if say is not None:
            say(f"{text}, runs: {n_phases}")
        ensemble = _Ensemble(one.site, n_phases, seed, mode)
        answers.append(_answer(text, present, ensemble, made=one, tested=tested, n_jobs=n_jobs))
    return WhatIf(n_phases, seed, tested, present.work(), tuple(answers), present.notes)


class _Ensemble:
    """Runs of one configuration; their waits can be explained."""

    def __init__(self, site: SlurmSite, n_phases: int, seed: int, mode: Mode) -> None:
        self.site = site
        has_limits = site.extras.associations is not None  # nothing else needs reasons
        phases = run_phases(
            site,
            n_phases=n_phases,
            seed=seed,
            mode=mode,
            keep_passes=True,
            keep_reasons=has_limits,
        )
        self.runs = list(phases)
        self.notes = self.runs[0].notes
        self._explainers: list[Explainer] = []

    def waits(self) -> Floats:
        """Return waits by phase and job."""
        return np.array([waits_of(self.site, run.start) for run in self.runs])

    def work(self) -> Work:
        return mean_work([work_of(self.site, run) for run in self.runs])

    def causes(self, job: int) -> Mapping[str, float]:
        """Return the seconds of each cause of a job's wait, as means over phases."""
        if not self._explainers:
            lives = map(simulated_lifetimes, self.runs)
            self._explainers = [Explainer(self.site, one) for one in lives]
        found: dict[str, float] = {}
        for explainer in self._explainers:
            for cause, seconds in explainer.explain(job).totals().items():
                found[cause.value] = found.get(cause.value, 0.0) + seconds / len(self.runs)
        return found


def _answer(
    text: str,
    present: _Ensemble,
    changed: _Ensemble,
    *,
    made: ChangedSite,
    tested: Backtest | None,
    n_jobs: int,
) -> Answer:
    before, after = (
        present.waits(),
        np.full((len(changed.runs), len(present.site.workload)), np.nan),
    )
    new_position = {str(j): i for i, j in enumerate(changed.site.workload.job_ids.tolist())}
    ids = [str(job_id) for job_id in present.site.workload.job_ids.tolist()]
    old = [i for i, job_id in enumerate(ids) if job_id in new_position]
    new = [new_position[ids[i]] for i in old]
    after[:, old] = changed.waits()[:, new]
    in_both = ~np.isnan(before).any(axis=0) & ~np.isnan(after).any(axis=0)
    lost = ~np.isnan(before).any(axis=0) & np.isnan(after).any(axis=0)
    errors = {} if tested is None else tested.errors()
    classes = [
        JobClass(one.kind, one.name, one.jobs[in_both[one.jobs]])
        for one in job_classes(present.site)
    ]
    return Answer(
        change=text,
        effects=tuple(
            _effect(one, before, after, errors.get((one.kind, one.name), math.nan))
            for one in classes
            if len(one.jobs)
        ),
        work=changed.work(),
        jobs=_most_changed(
            present, changed, before, after, new_position=new_position, n_jobs=n_jobs
        ),
        n_lost=int(lost.sum()),
        dropped=made.dropped,
        notes=(*made.notes, *(note for note in changed.runs[0].notes if note not in present.notes)),
    )


def _effect(one: JobClass, before: Floats, after: Floats, error: float) -> Effect:
    old, new = before[:, one.jobs].mean(axis=1), after[:, one.jobs].mean(axis=1)
    effects = new - old
    effect = float(effects.mean())
    spread = float(effects.std(ddof=1)) if len(effects) > 1 else math.nan
    chance = 0.0 if math.isnan(spread) else 2 * spread / math.sqrt(len(effects))
    least = max(chance, 0.0 if math.isnan(error) else error)
    return Effect(
        kind=one.kind,
        name=one.name,
        n_jobs=len(one.jobs),
        present=float(old.mean()),
        changed=float(new.mean()),
        effect=effect,
        spread=spread,
        error=error,
        is_distinguishable=abs(effect) > least,
    )


def _most_changed(
    present: _Ensemble,
    changed: _Ensemble,
    before: Floats,
    after: Floats,
    *,
    new_position: Mapping[str, int],
    n_jobs: int,
) -> tuple[JobChange, ...]:
    old, new = before.mean(axis=0), after.mean(axis=0)
    change = np.nan_to_num(np.abs(new - old), nan=0.0)
    most = sorted(np.flatnonzero(change).tolist(), key=lambda i: (-change[i], i))[:n_jobs]
    found = []
    for job in most:
        job_id = str(present.site.workload.job_ids[job])
        causes = dict(changed.causes(new_position[job_id]))
        for cause, seconds in present.causes(job).items():
            causes[cause] = causes.get(cause, 0.0) - seconds
        found.append(JobChange(job_id, float(old[job]), float(new[job]), causes))
    return tuple(found)
