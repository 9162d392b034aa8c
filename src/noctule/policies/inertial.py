"""Inertial shutdown: the off reservation follows how responsive the system is.

At the end of each period the mean of the liquid load horizon is compared with that of the period
before. While it falls hosts are switched off, while it rises they are switched on, each time some
more than the last time; where it turns, nothing is done but to note it. A horizon that reaches the
upper bound switches hosts on, whatever was before. Poquet's thesis (Grenoble 2017), section 7.4.3,
algorithm 3.
"""

from __future__ import annotations

import math

from noctule.policies.shutdown_easy import ShutdownEasy
from noctule.policies.shutdown_hosts import Hosts


class Horizon:
    """How far the waiting load reaches if it is poured over the hosts that are, or come, free.

    While nothing happens it falls, along straight lines: what is free and unused is lost.
    """

    def __init__(self) -> None:
        """Begin without a load."""
        self._now = self._load = self._end = 0.0
        self._coming: list[tuple[float, int]] = []

    def restart(
        self, now: float, load: float, n_free: int, coming: list[tuple[float, int]]
    ) -> None:
        """Take a load in host-seconds, hosts that are free, and (date, hosts) that come free."""
        self._now, self._load = now, load
        self._coming = [*sorted(coming), (math.inf, 0)]
        self._n_now, self._next_now = n_free, 0
        self._pass_steps()
        self._n_end, self._next_end = self._n_now, self._next_now
        self._end, left = now, load
        while self._end < math.inf:
            step, n_coming = self._coming[self._next_end]
            if self._n_end > 0 and left <= self._n_end * (step - self._end):
                self._end += left / self._n_end
                break
            left -= self._n_end * (step - self._end) if self._n_end else 0.0
            self._end = step
            if step < math.inf:
                self._n_end += n_coming
                self._next_end += 1

    def advance(self, now: float) -> float:
        """Go on to a date; return the integral of the horizon, which bends where hosts come."""
        if self._load == 0 or self._end == math.inf:
            integral = math.inf if self._load and now > self._now else 0.0
            self._now = now
            return integral
        integral = 0.0
        while self._now < now:
            speed = self._n_now / self._n_end
            stop = min(now, self._coming[self._next_now][0])
            step, n_coming = self._coming[self._next_end]
            passing = self._now + (step - self._end) / speed if speed > 0 else math.inf
            passes_step = passing < stop
            stop = passing if passes_step else stop
            moved = step if passes_step else self._end + speed * (stop - self._now)
            integral += ((self._end - self._now) + (moved - stop)) / 2 * (stop - self._now)
            self._end, self._now = moved, stop
            if passes_step:
                self._n_end += n_coming
                self._next_end += 1
            self._pass_steps()
        return integral

    def _pass_steps(self) -> None:
        while self._coming[self._next_now][0] <= self._now:
            self._n_now += self._coming[self._next_now][1]
            self._next_now += 1


class Inertial(ShutdownEasy):
    """EASY that switches hosts off and on as the load falls and rises."""

    def __init__(
        self,
        *,
        upper_bound: float = 10_000,
        growth: str = "increment",
        future_switches: bool = True,
        period: float = 60,
        t_idle: float = math.inf,
        run_on_period: bool = True,
        order: str = "fcfs",
    ) -> None:
        """Take what algorithm 3 does, and what both kinds of shutdown have."""
        super().__init__(period=period, t_idle=t_idle, run_on_period=run_on_period, order=order)
        self._upper_bound = upper_bound
        self._growth = growth
        self._future_switches = future_switches
        self._horizon = Horizon()
        self._integral = 0.0
        self._before = 0.0
        self._is_first = True
        self._switches_on = True
        self._n_switched = 0
        self._to_wake: set[int] = set()

    def observe_time(self, now: float) -> None:
        """Add up the horizon."""
        self._integral += self._horizon.advance(now)

    def observe_state(self, hosts: Hosts) -> None:
        """Look at the horizon as it is now."""
        coming = self.releases(hosts) + hosts.coming()
        self._horizon.restart(hosts.now, self.load, len(hosts.awake), coming)

    def prepare(self, hosts: Hosts) -> None:
        """Switch hosts on that were still being switched off when that was decided."""
        asleep = (self._to_wake & self.reserved) - hosts.switching_off
        hosts.wake(asleep)
        self._n_switched += len(asleep)
        self._to_wake &= self.reserved

    def end_period(self, hosts: Hosts) -> None:
        """Take the periodic decision."""
        mean, self._integral = self._integral / self.period, 0.0
        before, self._before = self._before, mean
        n_switched = self._n_switched + self.n_executed_marks
        self._n_switched = self.n_executed_marks = 0
        self.marks.clear()
        self._to_wake.clear()
        skips, self._is_first, self.woke_for_first = (
            self._is_first or self.woke_for_first,
            False,
            False,
        )
        if skips:
            return
        if mean >= self._upper_bound:
            if not self._switches_on:
                self._switches_on, n_switched = True, 0
            before = 0.0
        if mean > before if self._switches_on else mean <= before:
            grown = 2 * n_switched if self._growth == "double" else n_switched + 1
            decide = self._switch_on if self._switches_on else self._reserve
            decide(hosts, max(grown, 1))
        else:
            self._switches_on = not self._switches_on

    def _switch_on(self, hosts: Hosts, n_due: int) -> None:
        asleep = self.reserved - hosts.switching_off
        chosen = set(sorted(self.reserved if self._future_switches else asleep)[:n_due])
        hosts.wake(chosen & asleep)
        self._n_switched += len(chosen & asleep)
        self._to_wake = chosen - asleep

    def _reserve(self, hosts: Hosts, n_due: int) -> None:
        kept = self.kept(hosts)
        n_awake = len(hosts.awake - kept)
        if self._future_switches:
            n_awake = len(hosts.awake) + sum(len(held) for _, held in hosts.running.values())
            n_awake -= self.first.n_hosts if self.first is not None else 0
        n_due = max(min(n_due, n_awake), 0)
        stolen = set(sorted(hosts.off - kept)[:n_due])
        awake = set(sorted(hosts.awake - kept)[: n_due - len(stolen)])
        self._n_switched += len(awake)
        if self._future_switches:
            self._mark(hosts, kept, n_due - len(stolen) - len(awake))
        self.reserved |= stolen
        hosts.off -= stolen
        hosts.switch_off(awake, reserve=True)

    def _mark(self, hosts: Hosts, kept: set[int], n_due: int) -> None:
        """Choose busy hosts to be switched off: soonest free first, then lowest."""
        on_their_way = hosts.switching_on | hosts.switching_off
        busy = sorted(
            (end, host, job.id)
            for job, (end, held) in hosts.running.items()
            for host in held - kept - on_their_way
        )
        jobs = {job.id: job for job in hosts.running}
        for _, host, job_id in busy[:n_due]:
            self.marks.setdefault(jobs[job_id], set()).add(host)
