"""An energy budget: joules released bit by bit between two dates, and what is left of them.

What was spent is estimated by the number of hosts that jobs hold, and set right whenever it is
measured. The forecast of what will be left has every running job run to its walltime: then the
watts only ever fall, and jobs are tested where they do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from noctule.errors import InputError

Held = tuple[float, int]  # until when a job holds hosts, and how many

_PRECISION = 1e-9  # joules and watts that are equal but for rounding are not a debt


@dataclass(frozen=True, slots=True)
class Budget:
    """Joules from one date to another, and the estimated watts of a host."""

    joules: float
    start: float
    end: float
    idle_watts: float = 100.0
    computing_watts: float = 203.12

    @property
    def rate(self) -> float:
        """Joules released a second."""
        return self.joules / (self.end - self.start)

    def watts(self, n_hosts: int, n_held: float) -> float:
        """Estimate what hosts draw of which jobs hold some."""
        return self.idle_watts * n_hosts + self.extra_watts(n_held)

    def extra_watts(self, n_held: float) -> float:
        """Estimate what jobs add to that of idle hosts."""
        return (self.computing_watts - self.idle_watts) * n_held

    def floor(self, n_hosts: int) -> float:
        """Estimate what idle hosts would draw between the two dates."""
        return self.idle_watts * n_hosts * (self.end - self.start)

    def seconds_inside(self, start: float, walltime: float) -> float:
        """Return the seconds of a job that lie between the two dates."""
        return max(0.0, min(start + walltime, self.end) - max(start, self.start))

    def is_outside(self, start: float, walltime: float) -> bool:
        """Tell whether no part of a job lies between the two dates."""
        return start >= self.end or start + walltime <= self.start


def refuse_bad_budget(
    where: str,
    *,
    budget: float | None,
    joules: float | None,
    start: float,
    end: float,
    idle_watts: float,
    computing_watts: float,
    monitoring: float,
) -> None:
    """Refuse what is no budget; a share of all that hosts can draw, or joules, must be given."""
    if (budget is None) == (joules is None):
        found = "both" if joules is not None else "neither"
        raise InputError(
            f"{where}: got {found} of budget and joules, expected budget (of what all hosts draw "
            "when they compute: 0.6 is 60 %) or joules"
        )
    for name, value in (("budget", budget), ("joules", joules), ("monitoring", monitoring)):
        if value is not None and not value > 0:
            raise InputError(f"{where}: {name}: got {value!r}, expected a positive number")
    if not 0 <= start < math.inf:
        raise InputError(f"{where}: budget_start: got {start!r}, expected a date from 0 on")
    if not start < end < math.inf:
        raise InputError(
            f"{where}: budget_end: got {end!r}, expected a date after budget_start, {start!r}"
        )
    if not 0 <= idle_watts < computing_watts < math.inf:
        raise InputError(
            f"{where}: computing_watts: got {computing_watts!r}, "
            f"expected more than idle_watts, {idle_watts!r}"
        )


class Counter:
    """Energy released since the budget began, less what was spent since; negative is a debt."""

    def __init__(self, budget: Budget) -> None:
        """Begin with nothing."""
        self.available = 0.0
        self.measured = math.nan
        self._budget = budget
        self._now = 0.0
        self._watts = 0.0
        self._joules_at_start = math.nan

    def advance(self, now: float) -> None:
        """Go on to a date, at the watts told last."""
        begin, end = self._budget.start, self._budget.end
        since, until = (min(max(time, begin), end) for time in (self._now, now))
        self.available += (self._budget.rate - self._watts) * (until - since)
        self._now = now

    def draw(self, watts: float) -> None:
        """Tell the estimated watts from now on."""
        self._watts = watts

    def measure(self, now: float, joules: float) -> None:
        """Tell the joules spent since the run began; first when the budget begins."""
        if math.isnan(self._joules_at_start):
            self._joules_at_start = joules
        self.measured = joules - self._joules_at_start
        self.available = self._budget.rate * (now - self._budget.start) - self.measured


class Forecast:
    """What will be left if all jobs run to their walltimes: points, and straight lines between."""

    def __init__(
        self, budget: Budget, n_hosts: int, now: float, available: float, held: Iterable[Held]
    ) -> None:
        """Look ahead from now, or from the beginning of the budget, to its end."""
        self._budget = budget
        self._n_hosts = n_hosts
        self._begin = max(now, budget.start)
        self._available = available
        self._held = [(end, n) for end, n in held if end > self._begin]

    def add(self, end: float, n_hosts: int) -> None:
        """Take in a job that was started now."""
        if end > self._begin:
            self._held.append((end, n_hosts))

    def watts_left(self, time: float) -> float:
        """Return the watts that may be added at a date before the rate is reached."""
        n_held = sum(n for end, n in self._held if end > max(time, self._begin))
        return self._budget.rate - self._budget.watts(self._n_hosts, n_held)

    def balance(self, time: float) -> float:
        """Return the joules that will be left at a date."""
        balance = self._available
        for since, until in pairwise(sorted({*self._dates(until=time), time})):
            balance += self.watts_left(since) * (until - since)
        return balance

    def affords(self, start: float, n_hosts: int, walltime: float, reserved: float = 0.0) -> bool:
        """Tell whether a job leaves no debt until it, and those that run, have ended."""
        if self._budget.is_outside(start, walltime):
            return True
        watts = self._budget.extra_watts(n_hosts)
        begin, end = max(start, self._begin), min(start + walltime, self._budget.end)
        last = min(max([end, *(date for date, _ in self._held)]), self._budget.end)
        tested = {begin, end, last, *(date for date in self._dates(until=last) if date > begin)}
        return all(
            self.balance(time) - watts * (min(time, end) - begin) - reserved
            >= -_PRECISION * self._budget.joules
            for time in tested
        )

    def first_affordable(self, start: float, n_hosts: int, walltime: float) -> float:
        """Return the first date from this one on at which a job is affordable, or the end.

        At each date the job must have drawn no more than what is there; if it will have run for
        its whole walltime by then, that is all it draws.
        """
        budget = self._budget
        if self.affords(start, n_hosts, walltime):
            return start
        if budget.rate < budget.watts(self._n_hosts, 0):
            return budget.end  # the balance never grows
        watts = budget.extra_watts(n_hosts)
        whole = watts * walltime
        asked = [max(start, self._begin)]
        dates = sorted({*self._dates(until=budget.end), budget.end})
        for since, until in pairwise(dates):
            first, last = self.balance(since), self.balance(until)
            reached = [(since, first), (until, last)]
            reached += [
                (since + (level - first) / self.watts_left(since), level)
                for level in (0.0, whole)
                if first < level < last
            ]
            asked += [
                time - max(balance, 0.0) / watts for time, balance in reached if balance <= whole
            ]
        return min(max(asked), budget.end)

    def keeps_rate(self, start: float, n_hosts: int, walltime: float, less: float = 0.0) -> bool:
        """Tell whether watts stay so much below the rate with a job that starts at a date."""
        budget = self._budget
        left = self.watts_left(start) - less - budget.extra_watts(n_hosts)
        return budget.is_outside(start, walltime) or left >= -_PRECISION * budget.rate

    def first_below_rate(self, start: float, n_hosts: int, walltime: float) -> float:
        """Return the first date from this one on at which that is so, or the end."""
        later = [date for date in self._dates(until=self._budget.end) if date > start]
        for date in (start, *sorted(later)):
            if self.keeps_rate(date, n_hosts, walltime):
                return date
        return self._budget.end

    def _dates(self, until: float) -> set[float]:
        """Return the beginning, and when jobs end, before a date or at it."""
        return {self._begin, *(end for end, _ in self._held if end <= until)}
