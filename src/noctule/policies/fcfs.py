"""First come, first served: the first job that does not fit holds back all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noctule.messages import Decision, Event, StartJob
from noctule.policy import View


class Fcfs:
    """Start jobs in order of submission."""

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:  # noqa: ARG002
        """Start the first jobs, as long as they fit."""
        n_free = view.n_free
        for job in view.waiting:
            if job.n_hosts > n_free:
                break
            n_free -= job.n_hosts
            yield StartJob(job)
