"""Proportional shutdown: a part of the hosts is off most of the time.

Hosts from rho x hosts on form the off reservation. Only a first job that asks for more hosts than
are left wakes some of them, as many as it lacks; they go back when they are free and no first job
needs them. Poquet's thesis (Grenoble 2017), section 7.4.2.
"""

from __future__ import annotations

import math

from noctule.policies.shutdown_easy import ShutdownEasy
from noctule.policies.shutdown_hosts import Hosts


class Proportional(ShutdownEasy):
    """EASY that keeps the hosts from rho on off."""

    def __init__(
        self,
        rho: float,
        *,
        period: float = 60,
        t_idle: float = math.inf,
        run_on_period: bool = True,
        order: str = "fcfs",
    ) -> None:
        """Take the share of hosts that are used most of the time, and what both kinds have."""
        super().__init__(period=period, t_idle=t_idle, run_on_period=run_on_period, order=order)
        self._rho = rho

    def begin(self, hosts: Hosts) -> None:
        """Switch the reservation off, before any job is looked at."""
        self._take_back(hosts, n_needed=0)

    def tidy_up(self, hosts: Hosts) -> None:
        """Take back what the first job does not need."""
        self._take_back(hosts, n_needed=self.first.n_hosts if self.first is not None else 0)

    def _take_back(self, hosts: Hosts, n_needed: int) -> None:
        n_regular = math.floor(self._rho * len(hosts.all) + 1e-9)
        n_due = len(hosts.all) - len(self.reserved) - max(n_regular, n_needed)
        highest = sorted((h for h in hosts.awake | hosts.off if h >= n_regular), reverse=True)
        back = set(highest[: max(n_due, 0)])
        self.reserved |= back & hosts.off
        hosts.off -= back
        hosts.switch_off(back & hosts.awake, reserve=True)
