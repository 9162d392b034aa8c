"""What a policy sees when it runs as a program of its own: the View, rebuilt from messages.

`ServedView` and `ServedJob` are to a served policy what `View` and `ViewJob` are in process. What
messages do not tell raises an AttributeError that says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

from noctule._core import HostSet
from noctule.errors import DecisionError
from noctule.policy import Timeline, ViewWindow
from noctule.remote.served_hosts import ServedHosts
from noctule.workload import JobId, Label

Progress = list[tuple[str, int, float]]

WAITING, RUNNING = "waiting", "running"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a job asks for, and what else its submitter says of it."""

    id: JobId
    submit_time: float
    n_hosts: int
    walltime: float = math.inf
    user: Label = None
    group: Label = None
    queue: Label = None
    extra: Mapping[str, Any] | None = None
    moldable: bool = False


class ServedJob:
    """A job as a policy may know it."""

    __slots__ = ("_asked", "_hosts", "_number", "_progress", "_start_time", "_state")

    def __init__(self, asked: Asked, number: int) -> None:
        """Make a waiting job; jobs are numbered as they are submitted."""
        self._asked = asked
        self._number = number
        self._state = WAITING
        self._start_time = math.nan
        self._hosts = HostSet()
        self._progress: Progress | None = None

    @property
    def id(self) -> JobId:
        """The id that messages give it, as in `w0!12`."""
        return self._asked.id

    @property
    def submit_time(self) -> float:
        """Date of the submission."""
        return self._asked.submit_time

    @property
    def walltime(self) -> float:
        """Asked time limit; infinite where there is none."""
        return self._asked.walltime

    @property
    def n_hosts(self) -> int:
        """Asked number of hosts."""
        return self._asked.n_hosts

    @property
    def user(self) -> Label:
        """Who submitted it."""
        return self._asked.user

    @property
    def group(self) -> Label:
        """The group of its user."""
        return self._asked.group

    @property
    def queue(self) -> Label:
        """The queue it was submitted to."""
        return self._asked.queue

    @property
    def extra(self) -> Mapping[str, Any]:
        """Fields of the workload that Noctule does not use."""
        return self._asked.extra or {}

    @property
    def start_time(self) -> float:
        """Date of the start; NaN before it."""
        return self._start_time

    @property
    def expected_end(self) -> float:
        """start_time + walltime."""
        return self._start_time + self._asked.walltime

    @property
    def hosts(self) -> HostSet:
        """Hosts that the job holds, or held."""
        return self._hosts

    @property
    def progress(self) -> Progress:
        """How far a killed job had come: (profile, part, done), from the whole to its parts."""
        if self._progress is None:
            raise AttributeError(f"job {self.id}: messages tell the progress of killed jobs only")
        return self._progress

    @property
    def reservation(self) -> None:
        """No window: messages do not tell of any."""

    @property
    def runtime(self) -> NoReturn:
        """Unknown: messages do not tell it."""
        raise AttributeError("a policy does not know runtimes, and no message tells them")

    def __repr__(self) -> str:
        """Show what the job asks for."""
        return f"<job {self.id}: {self.n_hosts} hosts, walltime {self.walltime:.15g}>"


class ServedJobs:
    """Jobs of the view, oldest first."""

    __slots__ = ("_jobs",)

    def __init__(self, jobs: Mapping[JobId, ServedJob]) -> None:
        """Show the values of a mapping that goes on changing between calls."""
        self._jobs = jobs

    def __len__(self) -> int:
        """Count them."""
        return len(self._jobs)

    def __iter__(self) -> Iterator[ServedJob]:
        """Go through them, oldest first."""
        return iter(self._jobs.values())

    def __getitem__(self, position: int) -> ServedJob:
        """Return one job; takes as long as iterating up to it."""
        if not 0 <= position < len(self._jobs):
            raise IndexError("no such job in the list")
        return next(islice(self._jobs.values(), position, None))


class ServedCluster:
    """All that is known of the simulated machine and its jobs: what views show."""

    def __init__(
        self, now: float, hosts: ServedHosts, *, submissions_ended: bool, registration_open: bool
    ) -> None:
        """Begin without jobs, but perhaps with some to come."""
        self.now = now
        self.hosts = hosts
        self.submissions_ended = submissions_ended
        self.registration_open = registration_open
        self.jobs: dict[JobId, ServedJob] = {}
        self.waiting: dict[JobId, ServedJob] = {}
        self.running: dict[JobId, ServedJob] = {}
        self.killed: set[JobId] = set()  # running jobs that have been asked to end

    @property
    def may_end(self) -> bool:
        """Whether nothing more will happen by itself."""
        has_jobs = self.waiting or self.running
        return self.submissions_ended and not (has_jobs or self.registration_open)

    def submit(self, asked: Asked) -> ServedJob:
        """Add a job to the queue."""
        job = ServedJob(asked, len(self.jobs))
        self.jobs[asked.id] = self.waiting[asked.id] = job
        return job

    def start(self, job: ServedJob, hosts: HostSet, date: float) -> None:
        """Let a waiting job hold hosts, or none."""
        del self.waiting[job.id]
        self.running[job.id] = job
        job._state, job._start_time, job._hosts = RUNNING, date, hosts
        self.hosts.take(hosts)

    def end(self, job: ServedJob, state: str) -> None:
        """Take a job out of the queue, or off its hosts."""
        job._state = state
        if self.waiting.pop(job.id, None) is None:
            del self.running[job.id]
            self.killed.discard(job.id)
            self.hosts.give(job.hosts, (other.hosts for other in self.running.values()))

    def tell_progress(self, job: ServedJob, progress: Progress) -> None:
        """Keep how far a killed job had come."""
        job._progress = progress

    def is_moldable(self, job: ServedJob) -> bool:
        """Tell whether a job can run on any number of hosts."""
        return job._asked.moldable

    def state(self, job: ServedJob) -> str:
        """Return the state of a job, in our words."""
        return job._state

    def releases(self) -> list[tuple[float, int]]:
        """Return what running jobs will give back at their walltimes, sorted."""
        now = self.now
        ends = sorted((job.expected_end, job._number, job) for job in self.running.values())
        return [(max(end, now), job.n_hosts) for end, _, job in ends]


class ServedView:
    """The policy's read-only picture of the platform and its jobs."""

    def __init__(self, cluster: ServedCluster) -> None:
        """Show what is known of a cluster."""
        self._cluster = cluster
        self._waiting = ServedJobs(cluster.waiting)
        self._running = ServedJobs(cluster.running)

    @property
    def now(self) -> float:
        """The date, to the microsecond that messages tell."""
        return self._cluster.now

    @property
    def n_hosts(self) -> int:
        """Number of hosts of the platform."""
        return self._cluster.hosts.n_hosts

    @property
    def n_free(self) -> int:
        """Number of free hosts."""
        return len(self._cluster.hosts.free)

    @property
    def free(self) -> HostSet:
        """Free hosts."""
        return self._cluster.hosts.free

    @property
    def groups(self) -> NoReturn:
        """Unknown: messages do not tell it."""
        raise AttributeError("view.groups: no message tells which hosts lie close together")

    @property
    def completing(self) -> HostSet:
        """No hosts: the end of a job is told once its hosts are free."""
        return HostSet()

    @property
    def asleep(self) -> HostSet:
        """Hosts in a power state in which they sleep."""
        return self._cluster.hosts.asleep

    @property
    def switching(self) -> HostSet:
        """Hosts that are being switched on or off."""
        return self._cluster.hosts.switching

    @property
    def failed(self) -> HostSet:
        """No hosts: messages tell which are unavailable, not why."""
        return HostSet()

    @property
    def unavailable(self) -> HostSet:
        """Hosts that external events have taken away."""
        return self._cluster.hosts.unavailable

    @property
    def lost(self) -> HostSet:
        """Hosts that nobody knows the return of: those that are unavailable."""
        return self.unavailable

    @property
    def windows(self) -> list[ViewWindow]:
        """No windows: messages do not tell of any."""
        return []

    def free_in(self, window: ViewWindow) -> NoReturn:
        """Refuse: there is no window whose hosts could be free."""
        raise IndexError(f"the run has no window {window.name}")

    def power_state(self, host: int) -> int:
        """Return the power state of a host; 0 until another one is told."""
        return self._cluster.hosts.power_state(host)

    @property
    def wakes_hosts(self) -> bool:
        """No: Batsim's jobs do not wake hosts."""
        return False

    def sleep_state(self, host: int) -> NoReturn:
        """Unknown: no message tells it."""
        _refuse("sleep_state", host)

    def computing_state(self, host: int) -> NoReturn:
        """Unknown: no message tells it."""
        _refuse("computing_state", host)

    def switch_off_seconds(self, host: int) -> NoReturn:
        """Unknown: no message tells it."""
        _refuse("switch_off_seconds", host)

    def switch_on_seconds(self, host: int) -> NoReturn:
        """Unknown: no message tells it."""
        _refuse("switch_on_seconds", host)

    @property
    def energy(self) -> NoReturn:
        """Unknown: messages tell it to those who ask."""
        raise AttributeError("view.energy: messages tell it only as an answer to AskEnergy")

    def host_energy(self, host: int) -> NoReturn:
        """Unknown: no message tells it."""
        _refuse("host_energy", host)

    @property
    def waiting(self) -> ServedJobs:
        """Waiting jobs, in order of submission."""
        return self._waiting

    @property
    def running(self) -> ServedJobs:
        """Running jobs, in order of start."""
        return self._running

    def releases(self) -> list[tuple[float, int]]:
        """Return (date, hosts) of what running jobs will give back, at their walltimes, sorted."""
        return self._cluster.releases()

    def job(self, job_id: JobId) -> ServedJob:
        """Return the job with this id."""
        found = self._cluster.jobs.get(job_id)
        if found is None:
            raise DecisionError(f"t={self.now:.15g} view.job({job_id!r}): no job has this id")
        return found

    def timeline(self) -> Timeline:
        """Return the hosts that will be free if running jobs end at their walltimes."""
        timeline = Timeline(self.now, self.n_free)
        for time, n_hosts in self.releases():
            timeline.give(n_hosts, time)
        return timeline


def _refuse(name: str, host: int) -> NoReturn:
    raise AttributeError(f"view.{name}({host}): messages do not tell it")
