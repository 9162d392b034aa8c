"""How a policy starts jobs, beyond what a schedule tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from noctule.messages import Decision, Event, RegisterJob, StartJob
from noctule.policy import Policy, View
from noctule.workload import Job


class Starts:
    """A policy that lets another decide, and keeps what it says of the jobs that it starts.

    Attributes:
        decisions: the decision that started each job, by its id as text.
        registered: the jobs that the policy has registered, in order.
    """

    def __init__(self, policy: Policy) -> None:
        """Take the policy that decides."""
        self.decisions: dict[str, StartJob] = {}
        self.registered: list[Job] = []
        self._policy = policy

    @classmethod
    def of(cls, policy: Policy) -> Starts:
        """Return what watches a policy, under the policy's own name: errors tell the type."""
        named: type[Starts] = type(type(policy).__name__, (cls,), {})
        return named(policy)

    def decide(self, view: View, events: Sequence[Event]) -> Iterable[Decision]:
        """Let the policy decide."""
        return self._noting(self._policy.decide(view, events) or ())

    def _noting(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """Note decisions one by one: what comes next may depend on what the last has done."""
        for decision in decisions:
            if isinstance(decision, StartJob):
                job = decision.job
                job_id = job if isinstance(job, str | int) else job.id
                self.decisions[str(job_id)] = decision
            elif isinstance(decision, RegisterJob):
                self.registered.append(decision.job)
            yield decision
