"""Conservative backfilling: every waiting job holds a reservation, and none is ever delayed.

A new job takes the earliest slot that disturbs nobody. When a job ends before its walltime, the
plan is compressed: one pass in the order of the queue, each job moving earlier if it can, never
later. (The native version also makes a new plan where launch and epilogue delays upset this one.)

Mu'alem and Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from noctule.messages import (
    CallAt,
    Decision,
    Event,
    JobCancelled,
    JobFinished,
    JobSubmitted,
    SimulationStarted,
    StartJob,
)
from noctule.policies.orders import Order
from noctule.policy import Timeline, View, ViewJob


class Conservative:
    """Keep a plan with a slot for every job, and start jobs when theirs begins."""

    def __init__(self, order: str = "fcfs") -> None:
        """Take an order by name or as an expression."""
        self._order = Order.compile(order)
        self._plan = Timeline(0, 0)
        self._starts: dict[int | str, float] = {}  # of waiting and running jobs
        self._gone: set[int | str] = set()  # cancelled at the instant of their submission

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        """Update the plan, then start the jobs whose time has come."""
        now = view.now
        if isinstance(events[0], SimulationStarted):
            self._plan = Timeline(now, view.n_hosts)
            self._starts.clear()
        self._plan.advance(now)
        queue = self._order.sort(view)
        # Ends come before submissions: the plan is compressed before newcomers find a place.
        if self._make_room(self._plan, now, events):
            self._compress(self._plan, [job for job in queue if job.id in self._starts])
        for event in events:
            if isinstance(event, JobSubmitted) and event.job.id not in self._gone:
                self._place(self._plan, event.job)
        n_free = view.n_free
        for job in queue:
            # Hosts may be late, in an epilogue: the job is then waited for.
            if self._starts[job.id] <= now and job.n_hosts <= n_free:
                n_free -= job.n_hosts
                yield StartJob(job)
        next_start = min((s for job in queue if (s := self._starts[job.id]) > now), default=inf)
        if next_start < inf:
            yield CallAt(next_start, "next reservation")

    def _make_room(self, plan: Timeline, now: float, events: Sequence[Event]) -> bool:
        """Take ended and cancelled jobs out of the plan; return whether that left room in it."""
        room = False
        self._gone.clear()
        for event in events:
            if isinstance(event, JobFinished | JobCancelled):
                job = event.job
                start = self._starts.pop(job.id, None)
                if start is None:
                    self._gone.add(job.id)
                    continue
                plan.give(job.n_hosts, max(now, start), start + job.walltime)
                room |= now < start + job.walltime
        return room

    def _place(self, plan: Timeline, job: ViewJob) -> None:
        start = plan.earliest(job.n_hosts, job.walltime)
        plan.take(job.n_hosts, start, start + job.walltime)
        self._starts[job.id] = start

    def _compress(self, plan: Timeline, queue: list[ViewJob]) -> None:
        for job in queue:
            start = self._starts[job.id]
            plan.give(job.n_hosts, start, start + job.walltime)
            self._place(plan, job)
