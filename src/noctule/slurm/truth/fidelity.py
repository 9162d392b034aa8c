"""How far a simulated schedule is from what a real Slurm did: means, starts and node lists.

wait = start - submit, response = end - submit, slowdown = response / run time (at least one
second), of whole seconds as Slurm accounts for them. Run times are given, also in seconds: only
where a time limit ended a job, the model's end counts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.truth.sets import TruthJob


@dataclass(frozen=True, slots=True)
class Means:
    """Means over jobs; waits and responses in seconds."""

    wait: float
    response: float
    slowdown: float


_CLOSE = 3  # seconds between starts
NAMES = tuple(field.name for field in fields(Means))


@dataclass(frozen=True, slots=True)
class SimulatedStart:
    """Where and when the model starts and ends a job; dates are epoch seconds."""

    job_id: int
    start: float
    end: float
    nodes: str


Starts = Sequence[SimulatedStart]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One simulated schedule against the truth.

    `relative` are the deviations of the means, (model - truth) / truth; `start_error` is the sum of
    |difference of starts| over the sum of waits, in which errors cannot cancel.
    """

    means: Means
    relative: Means
    n_exact_starts: int
    n_close_starts: int
    n_exact_nodes: int
    start_error: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Many simulated schedules against the truth: relative to its means, but for `distance`.

    `distance` is |truth - mean| in standard deviations; not a number where they are all equal.
    """

    means: Means
    deviation: Means
    distance: Means
    start_error: float


def means(dates: Sequence[tuple[float, float, float]]) -> Means:
    """Return the means of (submit, start, end)."""
    whole = [tuple(math.floor(date) for date in job) for job in dates]
    n = len(whole)
    return Means(
        wait=sum(start - submit for submit, start, _ in whole) / n,
        response=sum(end - submit for submit, _, end in whole) / n,
        slowdown=sum((end - submit) / max(1, end - start) for submit, start, end in whole) / n,
    )


def true_means(jobs: Sequence[TruthJob]) -> Means:
    """Return the means of what happened."""
    return means([(job.submit, job.start, job.end) for job in jobs])


def deviation(jobs: Sequence[TruthJob], starts: Starts) -> Deviation:
    """Compare one schedule with what happened; jobs are matched by number."""
    by_number: Mapping[int, SimulatedStart] = {start.job_id: start for start in starts}
    pairs = [(job, by_number[job.job_id]) for job in jobs]
    found = means([(job.submit, model.start, _end(job, model)) for job, model in pairs])
    differences = [abs(math.floor(model.start) - job.start) for job, model in pairs]
    return Deviation(
        means=found,
        relative=_relative(found, true_means(jobs)),
        n_exact_starts=sum(difference == 0 for difference in differences),
        n_close_starts=sum(difference <= _CLOSE for difference in differences),
        n_exact_nodes=sum(_same_hosts(model.nodes, job.nodes) for job, model in pairs),
        start_error=_ratio(sum(differences), sum(job.wait for job in jobs)),
    )


def _end(job: TruthJob, model: SimulatedStart) -> float:
    return model.end if job.is_timed_out else math.floor(model.start) + job.end - job.start


def spread(jobs: Sequence[TruthJob], runs: Sequence[Starts]) -> Spread:
    """Compare many schedules with what happened."""
    each = [deviation(jobs, starts) for starts in runs]

    def values(name: str) -> list[float]:
        return [getattr(one.relative, name) for one in each]

    sd = {name: _deviation_of(values(name)) for name in NAMES}
    mean = {name: statistics.fmean(values(name)) for name in NAMES}
    return Spread(
        means=Means(**mean),
        deviation=Means(**sd),
        distance=Means(**{name: _ratio(abs(mean[name]), sd[name]) for name in NAMES}),
        start_error=statistics.fmean(one.start_error for one in each),
    )


def _deviation_of(values: Sequence[float]) -> float:
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return math.nan
    return statistics.stdev(values)


def _same_hosts(one: str, other: str) -> bool:
    return one == other or set(expand_hosts(one)) == set(expand_hosts(other))


def _relative(model: Means, truth: Means) -> Means:
    def ratio(name: str) -> float:
        return _ratio(getattr(model, name) - getattr(truth, name), getattr(truth, name))

    return Means(*map(ratio, NAMES))


def _ratio(part: float, whole: float) -> float:
    """Return a ratio; nothing of nothing is nothing."""
    if part == 0:
        return 0.0
    return part / whole if whole else math.nan
