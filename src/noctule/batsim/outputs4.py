"""The files that Batsim 4 leaves: same names, columns, rows and numbers.

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

from noctule.batsim.host_history import (
    Change,
    ChangeKind,
    HostCensus,
    HostState,
    host_changes,
)
from noctule.batsim.paje import paje_text
from noctule.batsim.witness import Witness
from noctule.power_files import (
    ENERGY_FILE,
    POWER_STATES_FILE,
    energy_text,
    mean_watts_of,
    power_states_text,
    switching_of,
)
from noctule.record import Floats, JobState, has_ended
from noctule.schedule import Schedule
from noctule.schedule_files import (
    FINAL_STATES,
    HOST_STATES_COLUMNS,
    HOST_STATES_FILE,
    JOBS_COLUMNS,
    JOBS_FILE,
    SCHEDULE_FILE,
    csv_fields,
    schedule_text,
)
from noctule.workload import JobId

TRACE_FILE = "schedule.trace"
#: All files that Batsim may write; its prefix and an underscore come before.
OUTPUT_FILES = (
    JOBS_FILE,
    SCHEDULE_FILE,
    HOST_STATES_FILE,
    POWER_STATES_FILE,
    ENERGY_FILE,
    TRACE_FILE,
)
_EMULATED_VERSION = "v4.2.1"
# what Batsim says of jobs that took no time
_NO_TIME = 1e-5
_ENDED_ROW = '%s,%s,%s,%f,%d,%f,%d,%s,%f,%f,%f,%f,%f,%f,%s,%f,"%s"\n'
_HOST_STATES_ROW = "%g,%d,%d,%d,%d,%d\n"
_REJECTED_ROW = '%s,%s,%s,%f,%d,%f,%d,%s,,,,,,,,,"%s"\n'


def version_text() -> str:
    """Return the version of Batsim that is imitated, and by whom."""
    return f"{_EMULATED_VERSION}+noctule-{metadata.version('noctule')}"


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


def output_texts(
    outcome: BatsimOutcome, *, trace_host_states: bool = True, trace_schedule: bool = True
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name, without prefix, and the text, in pieces, of each file."""
    schedule, record = outcome.schedule, outcome.schedule.record
    changes = host_changes(schedule, outcome.witness)
    census = _census(outcome, changes)
    rows = _host_states(census, changes)
    yield JOBS_FILE, _jobs_text(outcome)
    yield SCHEDULE_FILE, iter([schedule_text(_totals(outcome, census))])
    if trace_host_states:
        yield HOST_STATES_FILE, iter(rows)
    if schedule.counts_energy:
        watts = mean_watts_of(record.energy_time, record.energy_joules)
        yield ENERGY_FILE, energy_text(record, watts)
        yield POWER_STATES_FILE, power_states_text(record, schedule.platform.n_hosts)
    if trace_schedule:
        yield TRACE_FILE, paje_text(schedule, changes)


def _census(outcome: BatsimOutcome, changes: Sequence[Change]) -> HostCensus:
    platform = outcome.schedule.platform
    asleep = [
        i
        for i, host in enumerate(platform.hosts)
        if any(host.kind.initial_state == state.sleep for state in host.kind.sleep_states)
    ]
    has_power = len(outcome.schedule.record.power_state_time) > 0
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


def _host_states(census: HostCensus, changes: Sequence[Change]) -> list[str]:
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


def _jobs_text(outcome: BatsimOutcome) -> Iterator[str]:
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
        csv_fields([name.rpartition("!")[2] for name in schedule.profile_names()]),
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
            yield _ENDED_ROW % (*fields, *times, hosts, joules, text)
        elif is_rejected:
            yield _REJECTED_ROW % (*fields, text)


def _totals(outcome: BatsimOutcome, census: HostCensus) -> Mapping[str, str]:
    schedule, record = outcome.schedule, outcome.schedule.record
    ended = has_ended(record.state) & outcome.told
    dates = _dates(schedule)
    n_ended = int(np.count_nonzero(ended))
    n_success = int(np.count_nonzero((record.state == JobState.COMPLETED) & ended))
    n_rejected = int(np.count_nonzero((record.state == JobState.REJECTED) & outcome.told))
    n_jobs = n_ended + n_rejected
    switching = switching_of(record, schedule.platform.hosts)
    numbers = {
        "consumed_joules": _joules(outcome),
        "makespan": _largest(dates.finish[ended]),
        "max_slowdown": _largest(dates.stretch[ended]),
        "max_turnaround_time": _largest(dates.turnaround[ended]),
        "max_waiting_time": _largest(dates.waiting[ended]),
        "mean_slowdown": _mean(dates.stretch[ended], n_jobs),
        "mean_turnaround_time": _mean(dates.turnaround[ended], n_jobs),
        "mean_waiting_time": _mean(dates.waiting[ended], n_jobs),
        "scheduling_time": outcome.scheduling_seconds,
        "simulation_time": outcome.simulation_seconds,
        "success_rate": n_success / n_jobs if n_jobs else math.nan,
        **{f"time_{state.name.lower()}": float(census.seconds[state]) for state in HostState},
    }
    counts = {
        "nb_computing_machines": outcome.n_hosts,
        "nb_grouped_switches": switching.n_requests,
        "nb_jobs": n_jobs,
        "nb_jobs_finished": n_ended,
        "nb_jobs_killed": n_ended - n_success,
        "nb_jobs_rejected": n_rejected,
        "nb_jobs_success": n_success,
        "nb_machine_switches": switching.n_switched,
    }
    return (
        {"batsim_version": version_text()}
        | {name: "-nan" if math.isnan(x) else f"{x:f}" for name, x in numbers.items()}
        | {name: str(value) for name, value in counts.items()}
    )


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
