"""A schedule as commands for SimGrid: the same jobs, at the same dates, on the same hosts."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from noctule.errors import InputError
from noctule.platform import Host
from noctule.record import JobState
from noctule.schedule import Schedule
from noctule.simgrid.starts import Starts
from noctule.simgrid.steps import Place, number, steps_of
from noctule.workload import Job, Profile, Workload


@dataclass(frozen=True, slots=True)
class RunOfJobs:
    """A run that was done: what SimGrid needs to know of it.

    Attributes:
        schedule: what came out.
        workload: what went in.
        unit: flops that a unit of the workload's computations stands for.
        starts: what a policy in Python said of the jobs it started; None if it was a native one.
        launch_delay: seconds before each job, as the run was told.
        enforce_walltime: whether jobs were stopped at their walltimes.
        counts_energy: whether joules were counted, with SimGrid's billing.
    """

    schedule: Schedule
    workload: Workload
    unit: float
    starts: Starts | None = None
    launch_delay: float = 0.0
    enforce_walltime: bool = True
    counts_energy: bool = False


@dataclass(frozen=True, slots=True)
class Replay:
    """Commands, and the rows of the schedule whose ends can be compared: tasks are named so."""

    commands: list[str]
    rows: list[int]


def replay_of(run: RunOfJobs) -> Replay:
    """Return the commands that do again in SimGrid what was done here."""
    return _Replaying(run).replay()


def watched_hosts(schedule: Schedule) -> list[Host]:
    """Return the hosts whose joules were counted."""
    platform = schedule.platform
    return [host for host in (*platform.hosts, *platform.storages) if host.kind.powers]


class _Replaying:
    def __init__(self, run: RunOfJobs) -> None:
        self._run = run
        self._record = run.schedule.record
        platform = run.schedule.platform
        self._names = [*platform.hosts.names, *(host.name for host in platform.storages)]
        self._cores = {
            host.name: host.cores
            for host in (*platform.hosts, *platform.storages)
            if host.cores != 1
        }
        self._only_storage = platform.storages[0].name if len(platform.storages) == 1 else None
        for name in self._names:
            if not name.isprintable() or len(name.split()) != 1:
                raise InputError(
                    f"{platform.source or 'platform'}: host {name!r}: such a name cannot be "
                    "replayed in SimGrid, expected one without spaces"
                )

    def replay(self) -> Replay:
        """Return all commands; only jobs that ended can be compared."""
        record = self._record
        rows = np.flatnonzero(record.start_time >= 0)
        jobs = {row: self._job_command(row) for row in rows.tolist()}
        replayed = {row: command for row, command in jobs.items() if command is not None}
        commands = [*self._watching(replayed), *self._power_states(), *replayed.values()]
        return Replay(commands, [row for row in replayed if record.finish_time[row] >= 0])

    def _watching(self, replayed: Container[int]) -> Iterator[str]:
        """Yield what makes SimGrid bill when the run here did, besides at the ends of jobs."""
        if not self._run.counts_energy:
            return
        schedule, record = self._run.schedule, self._record
        names = [host.name for host in watched_hosts(schedule)]
        yield " ".join(["watch", str(len(names)), *names])
        dates = {schedule.end, *record.start_time.tolist(), *record.power_state_time.tolist()}
        finish = record.finish_time.tolist()
        dates.update(date for row, date in enumerate(finish) if row not in replayed)
        for date in sorted(date for date in dates if not math.isnan(date)):
            yield f"look {number(date)}"

    def _power_states(self) -> Iterator[str]:
        """Yield the changes of states in which hosts compute."""
        record, platform = self._record, self._run.schedule.platform
        changes = zip(
            record.power_state_time.tolist(),
            record.power_state_hosts,
            record.power_state_value.tolist(),
            strict=True,
        )
        for date, hosts, state in changes:
            if state < 0:
                raise InputError(
                    f"t={date:.15g} hosts {hosts}: were switched {'on' if state == -1 else 'off'}, "
                    "which cannot be replayed in SimGrid"
                )
            for host in map(platform.host, hosts):
                if date > 0 or state != host.kind.initial_state:
                    yield f"pstate {number(date)} {host.name} {state}"

    def _job_command(self, row: int) -> str | None:
        """Return the command of a job, or None if it did nothing on any host."""
        record, run = self._record, self._run
        hosts = [self._names[host] for host in record.hosts(row)]
        if not hosts:
            return None
        job, unit = self._job(row)
        begin = float(record.start_time[row]) + (run.launch_delay + job.launch_delay)
        walltime = self._walltime(row, job, begin)
        if walltime <= 0:
            return None
        profile, place = self._what_and_where(job, hosts, unit)
        try:
            steps = steps_of(profile, place)
        except InputError as error:
            source = run.workload.source or run.workload.name
            name = f"profile {job.profile_name!r}" if profile is job.profile else "its new profile"
            raise InputError(f"{source}: job {job.id}: {name}: {error}") from None
        words = ["job", str(row), number(begin), number(walltime), place.hosts[0], *steps]
        return " ".join(words)

    def _job(self, row: int) -> tuple[Job, float]:
        """Return a job, and the flops that a unit of its computations stands for."""
        position, workload = int(self._record.job[row]), self._run.workload
        if position < len(workload):
            return workload[position], self._run.unit
        assert self._run.starts is not None
        return self._run.starts.registered[position - len(workload)], 1.0

    def _walltime(self, row: int, job: Job, begin: float) -> float:
        """Return how long a job may run in SimGrid: as here, or until it was stopped here."""
        walltime = job.walltime if self._run.enforce_walltime else math.inf
        state = self._record.state[row]
        if state == JobState.KILLED:
            return min(walltime, float(self._record.finish_time[row]) - begin)
        if state == JobState.RUNNING:
            return min(walltime, self._run.schedule.end - begin)
        return walltime

    def _what_and_where(self, job: Job, hosts: Sequence[str], unit: float) -> tuple[Profile, Place]:
        starts = self._run.starts
        place = Place(
            hosts,
            only_storage=self._only_storage,
            unit=unit,
            ranks=[hosts[position] for position in job.rank_hosts],
            cores=self._cores,
        )
        decision = starts.decisions.get(str(job.id)) if starts is not None else None
        if decision is None:
            return job.profile, place
        if decision.mapping:
            place = replace(place, hosts=[hosts[position] for position in decision.mapping])
        if decision.storages:
            named = {label: self._names[host] for label, host in decision.storages.items()}
            place = replace(place, storages=named)
        if decision.profile is not None:
            return decision.profile, replace(place, unit=1.0)
        return job.profile, place
