"""FCFS, filler and EASY around windows of time: what the native policies do where there are some.

No job starts on a host that a window will close before its walltime is over, and the jobs of a
reservation run inside it, in a queue of their own. Everything is planned by name of hosts. EASY's
first job reserves hosts, those that are busy now before those that are free, and anew after each
start: where no window is near, that is the same as counting hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from noctule.messages import Decision, Event, StartJob
from noctule.policies.orders import Order
from noctule.policy import View, ViewJob

Hosts = frozenset[int]


class HostPlan:
    """Which hosts are taken when: by jobs until their walltimes, by windows, or for ever."""

    def __init__(self, view: View) -> None:
        """Begin with what runs now, and with hosts that nobody knows the return of."""
        self._now = view.now
        self._all = frozenset(range(view.n_hosts))
        self._windows = view.windows
        self._taken: list[tuple[Hosts, float, float]] = [(frozenset(view.lost), self._now, inf)]
        for job in view.running:
            self.take(frozenset(job.hosts), self._now, job.expected_end)

    def take(self, hosts: Hosts, start: float, end: float) -> None:
        """Take hosts from a date to another."""
        self._taken.append((hosts, start, end))

    def give(self, hosts: Hosts, start: float, end: float) -> None:
        """Give back what was taken."""
        self._taken.remove((hosts, start, end))

    def open_to(self, job: ViewJob, start: float) -> set[int]:
        """Return the hosts that a job can have from a date on, for as long as it may run."""
        end = start + job.walltime
        own = job.reservation
        hosts = set(self._all)
        if own is not None:
            known = any(window.name == own.name for window in self._windows)
            inside = known and start >= own.start and end <= own.end
            hosts = set(own.hosts) if inside else set()
        for taken, since, until in self._taken:
            if since < end and until > start:
                hosts -= taken
        for window in self._windows:
            closes = own is None or window.name != own.name
            if closes and window.start < end and window.end > start:
                hosts -= set(window.hosts)
        return hosts

    def earliest(self, job: ViewJob, shunned: set[int]) -> tuple[Hosts, float]:
        """Return the first hosts and date at which a job fits; those not shunned come first."""
        starts = {self._now, *(until for _, _, until in self._taken)}
        starts |= {window.end for window in self._windows}
        if job.reservation is not None:
            starts.add(job.reservation.start)
        for start in sorted(date for date in starts if self._now <= date < inf):
            hosts = self.open_to(job, start)
            if len(hosts) >= job.n_hosts:
                chosen = sorted(hosts, key=lambda host: (host in shunned, host))
                return frozenset(chosen[: job.n_hosts]), start
        return frozenset(), inf


class _AroundWindows:
    """Serve the queue of each reservation, and that of all other jobs."""

    #: Whether jobs may pass the first one that cannot start, and whether it reserves hosts.
    passes = False
    reserves = False

    def __init__(self, order: str = "fcfs") -> None:
        """Take an order by name or as an expression."""
        self._order = Order.compile(order)

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:  # noqa: ARG002
        """Start what may start, queue by queue."""
        plan = HostPlan(view)
        lanes: dict[str | None, list[ViewJob]] = {}
        for job in self._order.sort(view):
            own = job.reservation
            lanes.setdefault(None if own is None else own.name, []).append(job)
        yield from self._serve(view.now, lanes.get(None, []), plan, set(view.free))
        for window in view.windows:
            free = set(view.free_in(window))
            yield from self._serve(view.now, lanes.get(window.name, []), plan, free)

    def _serve(
        self, now: float, queue: list[ViewJob], plan: HostPlan, free: set[int]
    ) -> Iterator[Decision]:
        first: ViewJob | None = None
        held: tuple[Hosts, float] = frozenset(), inf
        for job in queue:
            hosts = sorted(plan.open_to(job, now) & free)[: job.n_hosts]
            if len(hosts) == job.n_hosts:
                free -= set(hosts)
                plan.take(frozenset(hosts), now, now + job.walltime)
                yield StartJob(job, hosts)
            elif not self.passes:
                return
            elif first is None:
                first = job
            else:
                continue
            if self.reserves and first is not None:
                held = self._reserve(plan, first, held, free)

    def _reserve(
        self, plan: HostPlan, job: ViewJob, held: tuple[Hosts, float], free: set[int]
    ) -> tuple[Hosts, float]:
        """Give back what the first job holds, and take the earliest place instead."""
        hosts, start = held
        if hosts:
            plan.give(hosts, start, start + job.walltime)
        hosts, start = plan.earliest(job, free)
        if hosts:
            plan.take(hosts, start, start + job.walltime)
        return hosts, start


class FcfsAroundWindows(_AroundWindows):
    """The first job that does not fit holds back all others of its queue."""


class FillerAroundWindows(_AroundWindows):
    """Every job that fits starts."""

    passes = True


class EasyAroundWindows(_AroundWindows):
    """The first job that does not fit reserves hosts, and others may pass it."""

    passes = True
    reserves = True
