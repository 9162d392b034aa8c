"""EASY backfilling on hosts that are switched off and on: what two kinds of shutdown share.

Hosts that were idle for too long are switched off, but any job may use them, and wakes them. Those
of the off reservation are out of reach of all jobs but the first one, and of this one unless all
other hosts are too few for it. A busy host may be marked: it is switched off, and reserved, as soon
as it is free. Poquet's thesis (Grenoble 2017), section 7.4.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from noctule.messages import CallAt, Decision, Event, TimerFired
from noctule.policies.orders import Order
from noctule.policies.shutdown_hosts import Hosts, Switches
from noctule.policy import View, ViewJob


class ShutdownEasy:
    """EASY with an off reservation, marks and opportunistic shutdown."""

    wakes_hosts = True

    def __init__(
        self,
        *,
        period: float = 60,
        t_idle: float = math.inf,
        run_on_period: bool = True,
        order: str = "fcfs",
    ) -> None:
        """Take what both kinds of shutdown have."""
        self._order = Order.compile(order)
        self.period = period
        self._t_idle = t_idle
        self._run_on_period = run_on_period
        self._n_periods = 0
        self._queue: list[ViewJob] = []
        self._switches = Switches()
        self._idle_since: dict[int, float] = {}
        self.reserved: set[int] = set()
        self.marks: dict[ViewJob, set[int]] = {}
        self.n_executed_marks = 0
        self.woke_for_first = False

    def begin(self, hosts: Hosts) -> None:
        """Do what a kind of shutdown does at the first call."""

    def end_period(self, hosts: Hosts) -> None:
        """Do what it does when a period ends."""

    def prepare(self, hosts: Hosts) -> None:
        """Do what it does before jobs are started."""

    def tidy_up(self, hosts: Hosts) -> None:
        """Do what it does after that."""

    def observe_time(self, now: float) -> None:
        """Take note that time has passed."""

    def observe_state(self, hosts: Hosts) -> None:
        """Take note of what has been decided."""

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        """Start jobs, switch hosts, and ask for a call when the period ends."""
        self.observe_time(view.now)
        hosts = Hosts(view, self.reserved, self._switches)
        self._queue = self._order.sort(view)
        self._idle_since = {host: self._idle_since.get(host, view.now) for host in hosts.awake}
        is_period = any(isinstance(event, TimerFired) for event in events)
        if self._n_periods == 0:
            self.begin(hosts)
        self._execute_marks(hosts)
        if not is_period or len(events) > 1:
            self.prepare(hosts)
            self._run_jobs(hosts)
        if is_period:
            self.end_period(hosts)
            if self._run_on_period:
                self._run_jobs(hosts)
        self.tidy_up(hosts)
        self._test_idleness(hosts)
        self._idle_since = {host: self._idle_since[host] for host in hosts.awake}
        self.observe_state(hosts)
        yield from hosts.decisions
        if is_period or self._n_periods == 0:
            self._n_periods += 1
            yield CallAt(self._n_periods * self.period)

    @property
    def first(self) -> ViewJob | None:
        """The first waiting job, which no reservation may delay."""
        return self._queue[0] if self._queue else None

    @property
    def load(self) -> float:
        """Hosts x walltime of all waiting jobs."""
        return math.fsum(job.n_hosts * job.walltime for job in self._queue)

    def releases(self, hosts: Hosts) -> list[tuple[float, int]]:
        """Return when running jobs give hosts back that are not marked, sorted."""
        return sorted(
            (max(end, hosts.now), len(held - self.marks.get(job, set())))
            for job, (end, held) in hosts.running.items()
        )

    def kept(self, hosts: Hosts) -> set[int]:
        """Return the hosts that the first job will get at its shadow; all if that is never."""
        if self.first is None:
            return set()
        shadow, _ = self._shadow(hosts, self.first.n_hosts)
        if shadow == math.inf:
            return hosts.all
        coming = {
            host
            for job, (end, held) in hosts.running.items()
            if end <= shadow
            for host in held - self.marks.get(job, set())
        }
        free_then = sorted(hosts.awake | coming) + sorted(hosts.waking | hosts.off)
        return set(free_then[: self.first.n_hosts])

    def _execute_marks(self, hosts: Hosts) -> None:
        for job in [job for job in self.marks if job not in hosts.running]:
            freed = self.marks.pop(job) & hosts.awake
            self.n_executed_marks += len(freed)
            hosts.switch_off(freed, reserve=True)

    def _run_jobs(self, hosts: Hosts) -> None:
        while self.first is not None:
            if self.first.n_hosts > hosts.n_usable:
                self._make_room(hosts, self.first.n_hosts)
            if self.first.n_hosts > hosts.n_usable:
                self._backfill(hosts)
                return
            hosts.start(self._queue.pop(0))

    def _make_room(self, hosts: Hosts, n: int) -> None:
        """Give the first job what it cannot do without: marked hosts, then reserved ones."""
        within_reach = hosts.n_usable + sum(n_coming for _, n_coming in self.releases(hosts))
        if within_reach >= n:
            return
        within_reach += sum(len(marked) for marked in self.marks.values())
        self.marks.clear()
        n_lacking = max(n - within_reach, 0)
        self.woke_for_first |= n_lacking > 0 and len(self.reserved) > 0
        asleep = sorted(self.reserved - hosts.switching_off)[:n_lacking]
        hosts.wake(asleep)
        for host in sorted(self.reserved)[: n_lacking - len(asleep)]:
            self.reserved.remove(host)
            hosts.off.add(host)

    def _shadow(self, hosts: Hosts, n: int) -> tuple[float, int]:
        available = hosts.n_usable
        shadow = hosts.now if available >= n else math.inf
        for end, n_coming in self.releases(hosts):
            if available >= n and (end > shadow or shadow == hosts.now):
                break
            available += n_coming
            if available >= n:
                shadow = end
        return shadow, max(available - n, 0)

    def _backfill(self, hosts: Hosts) -> None:
        shadow, extra = self._shadow(hosts, self._queue[0].n_hosts)
        for job in self._queue[1:]:
            if job.n_hosts > hosts.n_usable:
                continue
            in_time = hosts.ready_date(job.n_hosts) + job.walltime <= shadow
            if in_time or job.n_hosts <= extra:
                hosts.start(job)
                self._queue.remove(job)
                extra -= 0 if in_time else job.n_hosts

    def _test_idleness(self, hosts: Hosts) -> None:
        if not hosts.switching_on:
            due = {h for h in hosts.awake if self._idle_since[h] + self._t_idle <= hosts.now}
            hosts.switch_off(due - self.kept(hosts), reserve=False)
