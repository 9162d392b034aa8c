"""FCFS that lets hosts sleep while nobody waits, and wakes them for the first job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noctule import HostSet, View
from noctule.messages import Decision, Event, JobFinished, SetPowerState, StartJob

AWAKE, ASLEEP = 0, 3


class Sleeper:
    """Keep awake what is needed."""

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        """Start jobs in order; wake hosts for the next, or let those of ended jobs sleep."""
        n_free = view.n_free
        waiting = list(view.waiting)
        while waiting and waiting[0].n_hosts <= n_free:
            n_free -= waiting[0].n_hosts
            yield StartJob(waiting.pop(0))
        if waiting:
            missing = waiting[0].n_hosts - n_free - len(view.switching)
            sleepers = HostSet(list(view.asleep)[: max(missing, 0)])
            if sleepers:
                yield SetPowerState(sleepers, AWAKE)
        elif n_free == view.n_free:
            for event in events:
                if isinstance(event, JobFinished):
                    yield SetPowerState(event.job.hosts, ASLEEP)
