"""Conservative backfilling: every waiting job holds a reservation, and none is ever delayed.

A new job takes the earliest slot that disturbs nobody. When a job ends before its walltime, the
plan is compressed: one pass in the order of the queue, each job moving earlier if it can, never
later.

Mu'alem and Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noctule.messages import (
    CallAt,
    Decision,
    Event,
    JobCancelled,
    JobFinished,
    JobSubmitted,
    StartJob,
)
from noctule.policies.orders import Order
from noctule.policy import Timeline, View, ViewJob


class Conservative:
    """Keep a plan with a slot for every job, and start jobs when theirs begins."""

    def __init__(self, order: str = "fcfs") -> None:
        """Take an order by name or as an expression."""
        self._order = Order.compile(order)
        self._plan: Timeline | None = None
        self._starts: dict[int | str, float] = {}  # of waiting and running jobs

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        """Update the plan, then start the jobs whose time has come."""
        now = view.now
        if self._plan is None:
            self._plan = Timeline(now, view.n_hosts)
        plan = self._plan
        plan.advance(now)
        room = False
        for event in events:
            match event:
                case JobSubmitted(job=job):
                    self._starts[job.id] = plan.earliest(job.n_hosts, job.walltime)
                    end = self._starts[job.id] + job.walltime
                    plan.take(job.n_hosts, self._starts[job.id], end)
                case JobFinished(job=job) | JobCancelled(job=job):
                    start = self._starts.pop(job.id)
                    end = start + job.walltime
                    plan.give(job.n_hosts, max(now, start), end)
                    room |= now < end
        queue = self._order.sort(view)
        if room:
            self._compress(plan, queue)
        later = [self._starts[job.id] for job in queue if self._starts[job.id] > now]
        yield from (StartJob(job) for job in queue if self._starts[job.id] <= now)
        if later:
            yield CallAt(min(later), "next reservation")

    def _compress(self, plan: Timeline, queue: list[ViewJob]) -> None:
        for job in queue:
            start = self._starts[job.id]
            plan.give(job.n_hosts, start, start + job.walltime)
            self._starts[job.id] = plan.earliest(job.n_hosts, job.walltime)
            plan.take(job.n_hosts, self._starts[job.id], self._starts[job.id] + job.walltime)
