"""EASY backfilling with an energy budget between two dates: powercap, energyBud and reducePC.

Energy is released at a constant rate. Under a power cap, no job starts that would bring the
estimated watts above it. With a budget, what is not spent is saved, and a job may spend it: it
starts only if that leaves no debt at any time, with all jobs running to their walltimes. The first
job that cannot start reserves hosts and energy, from the first date on at which it finds both, and
others pass it with what it leaves over: of the energy that is there (energyBud), or of the rate,
less what must be put aside until the first job starts (reducePC).

Before and after, jobs are limited in nothing but the part of them that reaches in.

Poquet, "Approche par la simulation pour la gestion de ressources", thesis, Grenoble 2017, ch. 6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from noctule.errors import InputError
from noctule.messages import CallAt, Decision, Event
from noctule.policies.budget import Budget, Counter, Forecast, refuse_bad_budget
from noctule.policies.orders import Order
from noctule.policies.places import AnyHosts, Neighbours
from noctule.policy import View, ViewJob

_PLACES: dict[str, type[AnyHosts] | type[Neighbours]] = {
    "first": AnyHosts,
    "contiguous": Neighbours,
}


class _BudgetPolicy(ABC):
    """What the three have in common: the clock of the budget, its counter and its forecast."""

    def __init__(
        self,
        *,
        budget_start: float,
        budget_end: float,
        budget: float | None = None,
        joules: float | None = None,
        idle_watts: float = 100.0,
        computing_watts: float = 203.12,
        monitoring: float = 600.0,
        reserve_above_rate: bool = False,
        order: str = "fcfs",
        allocation: str = "first",
    ) -> None:
        """Take the budget, and an order by name or as an expression.

        Joules are measured every `monitoring` seconds. The first job reserves the energy of its
        hosts above that of idle ones or, with `reserve_above_rate`, what is above the rate.
        """
        refuse_bad_budget(
            f"policy {type(self).__name__}",
            budget=budget,
            joules=joules,
            start=budget_start,
            end=budget_end,
            idle_watts=idle_watts,
            computing_watts=computing_watts,
            monitoring=monitoring,
        )
        if allocation not in _PLACES:
            raise InputError(f"allocation: got {allocation!r}, expected {' or '.join(_PLACES)}")
        self._order = Order.compile(order)
        self._places = _PLACES[allocation]
        self._budget = Budget(joules or 0.0, budget_start, budget_end, idle_watts, computing_watts)
        self._share = budget
        self._monitoring = monitoring
        self._reserve_above_rate = reserve_above_rate
        self._reserved_from = 0.0  # by the first job
        self._reserved_watts = 0.0  # while it runs in the window
        self._reserved_seconds = 0.0
        self._counter: Counter | None = None
        self._n_hosts = 0
        self._n_measured = 0
        self._next_measurement = budget_start

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:  # noqa: ARG002
        """Start the first jobs, then those that may pass the first one that must wait."""
        counter = self._begun_counter(view)
        counter.advance(view.now)
        yield from self._measure(view, counter)
        held = [(end, n) for end, n in view.releases()]
        forecast = Forecast(self._budget, self._n_hosts, view.now, counter.available, held)
        is_limited = self._is_finite and view.now < self._budget.end
        for started, decision in self._schedule(view, forecast if is_limited else None):
            held.append((math.inf, started.n_hosts))
            yield decision
        counter.draw(self._budget.watts(self._n_hosts, sum(n for _, n in held)))

    def warnings(self) -> list[str]:
        """Tell that idle hosts would draw more than the budget, and how much was drawn."""
        budget, floor = self._budget, self._budget.floor(self._n_hosts)
        if self._counter is None or budget.joules >= floor:
            return []
        told = (
            f"the energy budget of {budget.joules:.6g} J is less than the {floor:.6g} J that idle "
            "hosts are estimated to draw"
        )
        overdrawn = self._counter.measured - budget.joules
        return [told + (f"; {overdrawn:.6g} J were overdrawn" if overdrawn > 0 else "")]

    @property
    def _is_finite(self) -> bool:
        return self._budget.joules < math.inf

    def _begun_counter(self, view: View) -> Counter:
        if self._counter is None:
            budget = self._budget
            self._n_hosts = view.n_hosts
            if self._share is not None:
                joules = self._share * budget.computing_watts * view.n_hosts
                joules *= budget.end - budget.start
                watts = budget.idle_watts, budget.computing_watts
                self._budget = Budget(joules, budget.start, budget.end, *watts)
            self._counter = Counter(self._budget)
        return self._counter

    def _measure(self, view: View, counter: Counter) -> Iterator[Decision]:
        """Measure what was spent if it is time, and ask to be called for the next time."""
        if not self._is_finite or self._next_measurement == math.inf:
            return
        if view.now >= self._next_measurement:
            if not math.isnan(view.energy):
                counter.measure(view.now, view.energy)
            self._n_measured += 1
            budget = self._budget
            due = min(budget.start + self._n_measured * self._monitoring, budget.end)
            self._next_measurement = due if view.now < budget.end else math.inf
        if self._next_measurement < math.inf:
            yield CallAt(self._next_measurement, "measurement")

    def _schedule(
        self, view: View, forecast: Forecast | None
    ) -> Iterator[tuple[ViewJob, Decision]]:
        """Yield the jobs to start; without a forecast nothing is limited."""
        places = self._places(view)
        queue = self._order.sort(view)
        now = view.now
        while queue and (forecast is None or self._admits(forecast, now, queue[0])):
            started = places.start(queue[0])
            if started is None:
                break
            if forecast:
                forecast.add(now + queue[0].walltime, queue[0].n_hosts)
            yield queue.pop(0), started
        if not queue:
            return
        first = queue.pop(0)
        shadow = places.reserve(first, now)
        if forecast:
            shadow = places.reserve(first, self._reserve(forecast, now, first, shadow))
        for job in queue:
            if forecast and not self._lets_pass(forecast, now, job):
                continue
            started = places.start_early(job, shadow)
            if started is not None:
                if forecast:
                    forecast.add(now + job.walltime, job.n_hosts)
                yield job, started

    @abstractmethod
    def _admits(self, forecast: Forecast, now: float, job: ViewJob) -> bool:
        """Tell whether the first job may start now."""

    @abstractmethod
    def _reserve(self, forecast: Forecast, now: float, job: ViewJob, start: float) -> float:
        """Reserve energy for the first job from a date on; return the date at which it is there."""

    @abstractmethod
    def _lets_pass(self, forecast: Forecast, now: float, job: ViewJob) -> bool:
        """Tell whether a job may start before the first one."""


class Powercap(_BudgetPolicy):
    """Never estimate more watts than the rate at which the budget is spent evenly."""

    def _admits(self, forecast: Forecast, now: float, job: ViewJob) -> bool:
        return forecast.keeps_rate(now, job.n_hosts, job.walltime)

    def _reserve(self, forecast: Forecast, now: float, job: ViewJob, start: float) -> float:  # noqa: ARG002
        budget = self._budget
        date = forecast.first_below_rate(start, job.n_hosts, job.walltime)
        inside = budget.seconds_inside(date, job.walltime) > 0
        self._reserved_from = max(date, budget.start)
        self._reserved_watts = budget.extra_watts(job.n_hosts) if inside else 0.0
        return date

    def _lets_pass(self, forecast: Forecast, now: float, job: ViewJob) -> bool:
        date, watts = self._reserved_from, self._reserved_watts
        return self._admits(forecast, now, job) and (
            watts == 0
            or now + job.walltime <= date
            or forecast.keeps_rate(date, job.n_hosts, job.walltime, watts)
        )


class EnergyBudget(_BudgetPolicy):
    """Spend what was saved; passing jobs leave the first one the energy that it reserves."""

    def _admits(self, forecast: Forecast, now: float, job: ViewJob) -> bool:
        return forecast.affords(now, job.n_hosts, job.walltime)

    def _reserve(self, forecast: Forecast, now: float, job: ViewJob, start: float) -> float:  # noqa: ARG002
        budget = self._budget
        date = forecast.first_affordable(start, job.n_hosts, job.walltime)
        watts = budget.extra_watts(job.n_hosts) if date < budget.end else 0.0
        if self._reserve_above_rate:
            watts = min(max(watts - forecast.watts_left(date), 0.0), watts)
        self._reserved_from = date
        self._reserved_watts = watts
        self._reserved_seconds = budget.seconds_inside(date, job.walltime)
        return date

    def _lets_pass(self, forecast: Forecast, now: float, job: ViewJob) -> bool:
        reserved = self._reserved_watts * self._reserved_seconds
        return forecast.affords(now, job.n_hosts, job.walltime, reserved)


class ReducePowercap(EnergyBudget):
    """Let the first job spend what was saved; others pass it under a reduced cap."""

    def _lets_pass(self, forecast: Forecast, now: float, job: ViewJob) -> bool:
        # In debt nobody passes, even below the rate.
        return forecast.affords(now, job.n_hosts, job.walltime) and forecast.keeps_rate(
            now, job.n_hosts, job.walltime, self._watts_put_aside(now)
        )

    def _watts_put_aside(self, now: float) -> float:
        """Return what the first job needs until it starts, or from the beginning of the window."""
        seconds = self._reserved_from - max(now, self._budget.start)
        reserved = self._reserved_watts * self._reserved_seconds
        return reserved / seconds if seconds > 0 else self._reserved_watts
