"""Where backfilling may put jobs: on any hosts, or on neighbours.

Each keeps the reservation of the first job in its own terms, and puts another job where it does not
delay that one: anywhere if it ends by the shadow, otherwise off what is reserved.
"""

from __future__ import annotations

from math import inf

from noctule.messages import StartJob
from noctule.policy import View, ViewJob


class AnyHosts:
    """Jobs take the lowest free hosts; plans are made on numbers of hosts."""

    def __init__(self, view: View) -> None:
        """Look at the hosts that are free, and will be."""
        self._now = view.now
        self._n_free = view.n_free
        self._extra = 0
        self._ends = list(view.releases())

    def start(self, job: ViewJob) -> StartJob | None:
        """Start the first job if there are hosts for it."""
        if job.n_hosts > self._n_free:
            return None
        self._n_free -= job.n_hosts
        self._ends.append((self._now + job.walltime, job.n_hosts))
        return StartJob(job)

    def reserve(self, job: ViewJob, start: float) -> float:
        """Reserve hosts for the first job, from the first date on at which there are enough."""
        for date in (start, *sorted(end for end, _ in self._ends if end > start)):
            n_free = self._n_free + sum(n for end, n in self._ends if end <= date)
            if n_free >= job.n_hosts:
                self._extra = n_free - job.n_hosts
                return date
        return inf

    def start_early(self, job: ViewJob, shadow: float) -> StartJob | None:
        """Start a job before the first one if that does not delay it."""
        in_time = self._now + job.walltime <= shadow
        if not in_time and job.n_hosts > self._extra:
            return None
        started = self.start(job)
        if started and not in_time:
            self._extra -= job.n_hosts
        return started


class Neighbours:
    """Jobs take the lowest run of hosts that is long enough, and so do plans."""

    def __init__(self, view: View) -> None:
        """Look at the hosts that are free, and will be."""
        self._now = view.now
        self._free = set(view.free)
        self._reserved: set[int] = set()
        self._ends = [(job.expected_end, set(job.hosts or ())) for job in view.running]

    def start(self, job: ViewJob) -> StartJob | None:
        """Start the first job if there are hosts for it."""
        return self._start_among(self._free, job)

    def reserve(self, job: ViewJob, start: float) -> float:
        """Reserve hosts for the first job, from the first date on at which there are enough."""
        for date in (start, *sorted(end for end, _ in self._ends if end > start)):
            then = self._free.union(*(hosts for end, hosts in self._ends if end <= date))
            run = _first_run(then, job.n_hosts)
            if run:
                self._reserved = set(run)
                return date
        return inf

    def start_early(self, job: ViewJob, shadow: float) -> StartJob | None:
        """Start a job before the first one if that does not delay it."""
        in_time = self._now + job.walltime <= shadow
        return self._start_among(self._free if in_time else self._free - self._reserved, job)

    def _start_among(self, hosts: set[int], job: ViewJob) -> StartJob | None:
        run = _first_run(hosts, job.n_hosts)
        if run is None:
            return None
        self._free.difference_update(run)
        self._ends.append((self._now + job.walltime, set(run)))
        return StartJob(job, run)


def _first_run(hosts: set[int], n: int) -> list[int] | None:
    for first in sorted(hosts):
        run = list(range(first, first + n))
        if hosts.issuperset(run):
            return run
    return None
