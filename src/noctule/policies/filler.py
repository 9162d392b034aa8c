"""Filler: every job that fits starts; nothing is held back for anyone, so large jobs can starve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noctule.messages import Decision, Event, StartJob
from noctule.policies.orders import Order
from noctule.policy import View


class Filler:
    """Start whatever fits, in the order of the queue."""

    def __init__(self, order: str = "fcfs") -> None:
        """Take an order by name or as an expression."""
        self._order = Order.compile(order)

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:  # noqa: ARG002
        """Start every job that fits into what is left."""
        n_free = view.n_free
        for job in self._order.sort(view):
            if job.n_hosts <= n_free:
                n_free -= job.n_hosts
                yield StartJob(job)
