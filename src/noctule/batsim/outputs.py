"""What the files of Batsim tell, whatever its version: rows of jobs and hosts, and sums.

Its oddities are kept: means are over all jobs, host-seconds end with each host's last change, a job
that took no time is said to have taken 10 microseconds, no jobs at all make `-nan`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import metadata
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from noctule.batsim.host_history import Change, ChangeKind, HostCensus, HostState
from noctule.batsim.witness import Witness
from noctule.record import Floats, JobState, has_ended
from noctule.saved.text import (
    FINAL_STATES,
    HOST_STATES_COLUMNS,
    JOBS_COLUMNS,
    csv_fields,
)
from noctule.schedule import Schedule
from noctule.workload import JobId

# what Batsim says of jobs that took no time
_NO_TIME = 1e-5
_HOST_STATES_ROW = "%g,%d,%d,%d,%d,%d\n"


def imitated(version: str) -> str:
    """Return a version of Batsim that is imitated, and by whom."""
    return f"{version}+noctule-{metadata.version('noctule')}"


@dataclass(frozen=True, slots=True)
class JobRows:
    """How rows of jobs.csv look: of jobs that ended, and of those that were rejected.

    `full_names` says whether profiles have the name of their workload before their own.
    """

    ended: str
    rejected: str
    full_names: bool = False


@dataclass(frozen=True, slots=True)
class BatsimOutcome:
    """What a run left, and what its files tell besides.

    Attributes:
        schedule: what happened; its jobs have full ids.
        witness: what the schedule does not tell.
        shares_hosts: whether several jobs may use one host.
        has_jobs: whether jobs.csv and the summary tell of jobs; they do not without a scheduler.
        dropped: ids of jobs that these do not tell of either.
        first_submission: when the first job was submitted: joules are summed up from then on.
        scheduling_seconds: waiting for the scheduler, by the clock on the wall.
        simulation_seconds: the whole run, by the same clock.
    """

    schedule: Schedule
    witness: Witness
    shares_hosts: bool = False
    has_jobs: bool = True
    dropped: Set[JobId] = frozenset()
    first_submission: float = 0.0
    scheduling_seconds: float = 0.0
    simulation_seconds: float = 0.0

    @property
    def told(self) -> npt.NDArray[np.bool_]:
        """Which rows of the record jobs.csv and the summary tell of."""
        if not self.has_jobs:
            return np.zeros(len(self.schedule), dtype=np.bool_)
        if not self.dropped:
            return np.ones(len(self.schedule), dtype=np.bool_)
        ids = self.schedule.column("job_id").tolist()
        return np.array([job_id not in self.dropped for job_id in ids], dtype=np.bool_)

    @property
    def n_hosts(self) -> int:
        """All hosts but the master: Batsim counts storages as computing machines."""
        platform = self.schedule.platform
        return platform.n_hosts + len(platform.storages)


def census_of(outcome: BatsimOutcome, changes: Sequence[Change], *, has_power: bool) -> HostCensus:
    """Return hosts as they begin, to follow them through all changes."""
    platform = outcome.schedule.platform
    asleep = [
        i
        for i, host in enumerate(platform.hosts)
        if any(host.kind.initial_state == state.sleep for state in host.kind.sleep_states)
    ]
    jobs = (ChangeKind.JOB_STARTED, ChangeKind.JOB_ENDED)
    return HostCensus(
        outcome.n_hosts,
        platform.n_hosts,
        asleep if has_power else (),
        only_jobs=not outcome.shares_hosts and all(change.kind in jobs for change in changes),
    )


# what happens to hosts without a row of its own
_SILENT = (ChangeKind.HOSTS_LEFT, ChangeKind.HOSTS_BACK, ChangeKind.SWITCHED)
_told = itemgetter(
    HostState.SLEEPING,
    HostState.SWITCHING_ON,
    HostState.SWITCHING_OFF,
    HostState.IDLE,
    HostState.COMPUTING,
)


def host_states_text(census: HostCensus, changes: Sequence[Change]) -> list[str]:
    """Follow all changes, and write down how many hosts do what after most of them."""
    rows = [",".join(HOST_STATES_COLUMNS) + "\n"]
    for change in changes:
        census.follow(change)
        if change.kind not in _SILENT:
            rows.append(_HOST_STATES_ROW % (change.time, *_told(census.counts)))
    return rows


@dataclass(frozen=True, slots=True)
class _Dates:
    """Dates of jobs as Batsim says them, and what follows from them."""

    start: Floats
    finish: Floats
    runtime: Floats
    waiting: Floats
    turnaround: Floats
    stretch: Floats


def _dates(schedule: Schedule) -> _Dates:
    record = schedule.record
    start, submit = record.start_time, record.submit_time
    runtime = record.finish_time - start
    runtime = np.where(runtime == 0, _NO_TIME, runtime)
    finish = start + runtime
    turnaround = finish - submit
    return _Dates(start, finish, runtime, start - submit, turnaround, turnaround / runtime)


def jobs_text(outcome: BatsimOutcome, rows: JobRows) -> Iterator[str]:
    """Yield jobs.csv in pieces."""
    yield ",".join(JOBS_COLUMNS) + "\n"
    schedule = outcome.schedule
    record = schedule.record
    dates = _dates(schedule)
    ids = [str(job_id).partition("!") for job_id in schedule.column("job_id").tolist()]
    walltime = schedule.column("walltime")
    energy = record.energy if schedule.counts_energy else np.full(len(record), -1.0)
    state = record.state.tolist()
    asked = zip(
        csv_fields([job for _, _, job in ids]),
        csv_fields([workload for workload, _, _ in ids]),
        csv_fields(
            [
                name if rows.full_names else name.rpartition("!")[2]
                for name in schedule.profile_names()
            ]
        ),
        record.submit_time.tolist(),
        schedule.column("n_hosts").tolist(),
        np.where(np.isinf(walltime), -1.0, walltime).tolist(),
        [code == JobState.COMPLETED for code in state],
        [FINAL_STATES[JobState(code)] for code in state],
        strict=True,
    )
    names = ("start", "runtime", "finish", "waiting", "turnaround", "stretch")
    told = zip(*(getattr(dates, name).tolist() for name in names), strict=True)
    rest = zip(
        asked,
        told,
        record.hosts_text(0, len(record)),
        energy.tolist(),
        record.metadata or [""] * len(record),
        (has_ended(record.state) & outcome.told).tolist(),
        ((record.state == JobState.REJECTED) & outcome.told).tolist(),
        strict=True,
    )
    for fields, times, hosts, joules, text, is_ended, is_rejected in rest:
        if is_ended:
            yield rows.ended % (*fields, *times, hosts, joules, text)
        elif is_rejected:
            yield rows.rejected % (*fields, text)


@dataclass(frozen=True, slots=True)
class Totals:
    """What a summary tells by its names: numbers, NaN where there are no jobs, and counts."""

    numbers: Mapping[str, float]
    counts: Mapping[str, int]


def totals_of(outcome: BatsimOutcome, census: HostCensus) -> Totals:
    """Sum up a run, once the census has followed all of it; power requests are not counted."""
    schedule, record = outcome.schedule, outcome.schedule.record
    ended = has_ended(record.state) & outcome.told
    dates = _dates(schedule)
    n_ended = int(np.count_nonzero(ended))
    n_success = int(np.count_nonzero((record.state == JobState.COMPLETED) & ended))
    n_rejected = int(np.count_nonzero((record.state == JobState.REJECTED) & outcome.told))
    n_jobs = n_ended + n_rejected
    numbers = {
        "consumed_joules": _joules(outcome),
        "makespan": _largest(dates.finish[ended]),
        "max_slowdown": _largest(dates.stretch[ended]),
        "max_turnaround_time": _largest(dates.turnaround[ended]),
        "max_waiting_time": _largest(dates.waiting[ended]),
        "mean_slowdown": _mean(dates.stretch[ended], n_jobs),
        "mean_turnaround_time": _mean(dates.turnaround[ended], n_jobs),
        "mean_waiting_time": _mean(dates.waiting[ended], n_jobs),
        "success_rate": n_success / n_jobs if n_jobs else math.nan,
        **{f"time_{state.name.lower()}": float(census.seconds[state]) for state in HostState},
    }
    counts = {
        "nb_computing_machines": outcome.n_hosts,
        "nb_jobs": n_jobs,
        "nb_jobs_finished": n_ended,
        "nb_jobs_killed": n_ended - n_success,
        "nb_jobs_rejected": n_rejected,
        "nb_jobs_success": n_success,
    }
    return Totals(numbers, counts)


def _joules(outcome: BatsimOutcome) -> float:
    """Return the energy between the first submission and the last end of a job."""
    record = outcome.schedule.record
    ends = np.flatnonzero(record.energy_why == ord("e"))
    if not (len(ends) and outcome.has_jobs):
        return 0.0
    dates = np.concatenate([[0.0], record.energy_time])
    joules = np.concatenate([[0.0], record.energy_joules])
    before = float(np.interp(outcome.first_submission, dates, joules))
    return float(record.energy_joules[ends[-1]]) - before


def _largest(values: Floats) -> float:
    return float(values.max(initial=0.0))


def _mean(values: npt.NDArray[np.float64], n: int) -> float:
    return math.fsum(values.tolist()) / n if n else math.nan
