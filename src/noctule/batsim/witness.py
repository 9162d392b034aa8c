"""A policy that lets another decide, and keeps what Batsim's files need and no schedule tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noctule.messages import (
    Decision,
    Event,
    HostsAvailable,
    HostsUnavailable,
    SetPowerState,
    StartJob,
)
from noctule.policy import Policy, View
from noctule.workload import JobId

if TYPE_CHECKING:
    from noctule._core import HostSet, Shortcut


@dataclass(frozen=True, slots=True)
class Availability:
    """Hosts that left or came back."""

    time: float
    hosts: HostSet
    is_back: bool


class Witness:
    """Sees what a policy is told and decides.

    Attributes:
        power_requests: for each request for a power state, in order, how many decisions came
            before.
        availabilities: which hosts left and came back, in order.
    """

    def __init__(self, policy: Policy) -> None:
        """Take the policy that decides."""
        self._n_decisions = 0
        self._starts: dict[JobId, int] = {}
        self.power_requests: list[int] = []
        self.availabilities: list[Availability] = []
        self._policy = policy

    @property
    def shortcut(self) -> Shortcut | None:
        """What decides in place of the policy, where it can."""
        return getattr(self._policy, "shortcut", None)

    @property
    def n_decisions(self) -> int:
        """Starts and requests for power states, so far."""
        self._hear_of_shortcut()
        return self._n_decisions

    @property
    def starts(self) -> Mapping[JobId, int]:
        """For each started job, how many decisions came before."""
        self._hear_of_shortcut()
        return self._starts

    def decide(self, view: View, events: Sequence[Event]) -> Iterable[Decision]:
        """Let the policy decide."""
        self._hear_of_shortcut()
        for event in events:
            if isinstance(event, HostsAvailable | HostsUnavailable):
                is_back = isinstance(event, HostsAvailable)
                self.availabilities.append(Availability(event.time, event.hosts, is_back))
        decisions = self._policy.decide(view, events) or ()
        if not isinstance(decisions, list):
            return self._noting(decisions)
        for decision in decisions:
            self._note(decision)
        return decisions

    def _noting(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """Note decisions one by one: what comes next may depend on what the last has done."""
        for decision in decisions:
            self._note(decision)
            yield decision

    def _note(self, decision: Decision) -> None:
        if isinstance(decision, StartJob):
            job = decision.job
            self._note_start(job if isinstance(job, str | int) else job.id)
        elif isinstance(decision, SetPowerState):
            self.power_requests.append(self._n_decisions)
            self._n_decisions += 1

    def _note_start(self, job_id: JobId) -> None:
        self._starts.setdefault(job_id, self._n_decisions)
        self._n_decisions += 1

    def _hear_of_shortcut(self) -> None:
        if self.shortcut is not None:
            for job_id in self.shortcut.take_started():
                self._note_start(job_id)
