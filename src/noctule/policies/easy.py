"""EASY backfilling: the first waiting job gets a reservation, the others may pass it.

The shadow is the first instant at which the first job fits if running jobs end at their walltimes;
the extra hosts are those free at that instant, less what the first job needs. A later job passes if
it fits now and either ends by the shadow, or uses no more than the extra hosts.

Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noctule.messages import Decision, Event, StartJob
from noctule.policies.orders import Order
from noctule.policy import View


class Easy:
    """Backfill around a reservation for the first job."""

    def __init__(self, order: str = "fcfs") -> None:
        """Take an order by name or as an expression."""
        self._order = Order.compile(order)

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:  # noqa: ARG002
        """Start the first jobs, then those that may pass the first one that does not fit."""
        now, n_free = view.now, view.n_free
        if n_free == 0:
            return
        queue = self._order.sort(view)
        timeline = view.timeline()
        while queue and queue[0].n_hosts <= n_free:
            job = queue.pop(0)
            n_free -= job.n_hosts
            timeline.take(job.n_hosts, now, now + job.walltime)
            yield StartJob(job)
        if not queue:
            return
        first = queue.pop(0)
        shadow = timeline.earliest(first.n_hosts, 0)
        extra = timeline.n_free_at(shadow) - first.n_hosts
        for job in queue:
            in_time = now + job.walltime <= shadow
            if job.n_hosts <= n_free and (in_time or job.n_hosts <= extra):
                n_free -= job.n_hosts
                if not in_time:
                    extra -= job.n_hosts
                yield StartJob(job)
