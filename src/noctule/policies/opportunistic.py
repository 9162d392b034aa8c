"""Opportunistic shutdown for any policy in Python: hosts that stay idle for too long go to sleep.

Jobs that need them wake them, by the option `wake_for_jobs`, which a policy with this module asks
for. Poquet's thesis (Grenoble 2017), section 7.3.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from noctule.errors import InputError
from noctule.messages import CallAt, Decision, Event, SetPowerState, StartJob, TimerFired
from noctule.policy import Policy, View

_TAG = "opportunistic shutdown"


class Opportunistic:
    """A policy, with hosts switched off that were idle for `t_idle` seconds.

    The policy within does not hear the timer; it may name hosts for its jobs, or leave that.
    """

    wakes_hosts = True

    def __init__(self, policy: Policy | type, t_idle: float = math.inf) -> None:
        """Take a policy, or the class of one that needs no parameters."""
        if not t_idle >= 0:
            raise InputError(f"t_idle: got {t_idle}, expected a number of at least 0")
        self._policy: Policy = policy() if isinstance(policy, type) else policy
        self._t_idle = t_idle
        self._idle_since: dict[int, float] = {}

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        """Let the policy decide, then switch off those of the hosts left that are due."""
        idle = set(view.free) - set(view.asleep) - set(view.switching)
        others = [event for event in events if not _is_ours(event)]
        if others or not events:
            for decision in self._policy.decide(view, others) or ():
                yield decision
                if isinstance(decision, StartJob):
                    idle -= self._taken(view, decision, idle)
        self._idle_since = {host: self._idle_since.get(host, view.now) for host in idle}
        due = {host: since + self._t_idle for host, since in self._idle_since.items()}
        tired = sorted(host for host in idle if due[host] <= view.now)
        for state, hosts in groupby(sorted(tired, key=view.sleep_state), view.sleep_state):
            yield SetPowerState(list(hosts), state)
        later = [date for date in due.values() if view.now < date < math.inf]
        if later:
            yield CallAt(min(later), _TAG)

    def _taken(self, view: View, start: StartJob, idle: set[int]) -> set[int]:
        if start.hosts is not None:
            return set(start.hosts)
        job = view.job(start.job) if isinstance(start.job, int | str) else start.job
        return set(sorted(idle)[: job.n_hosts])


def _is_ours(event: Event) -> bool:
    return isinstance(event, TimerFired) and event.tag == _TAG
