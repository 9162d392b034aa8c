"""EASY with a reservation on hosts, as batsched's easy_bf has it, and not on numbers of hosts.

The first waiting job reserves the lowest of the hosts that are free at its shadow time. A later job
takes the lowest free hosts if it ends by then, otherwise the lowest that are not reserved.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence

from noctule import HostSet
from noctule.messages import Event, JobFinished, JobSubmitted, StartJob
from noctule.policy import View, ViewJob


class ConcreteEasy:
    """Backfill around hosts that are reserved for the first job; sets of hosts are bits."""

    def __init__(self) -> None:
        self._free = -1
        self._queue: list[ViewJob] = []
        self._held: dict[object, tuple[float, int]] = {}
        self._ends: list[tuple[float, int]] = []

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[StartJob]:
        """Start the first jobs, then those that leave the reserved hosts alone."""
        if self._free < 0:
            self._free = (1 << view.n_hosts) - 1
        for event in events:
            if isinstance(event, JobSubmitted):
                self._queue.append(event.job)
            elif isinstance(event, JobFinished):
                end = self._held.pop(event.job.id)
                self._ends.remove(end)
                self._free |= end[1]
        while self._queue and self._queue[0].n_hosts <= self._free.bit_count():
            yield self._start(view.now, self._queue.pop(0), self._free)
        if self._queue and self._free:
            yield from self._backfill(view.now)

    def _backfill(self, now: float) -> Iterator[StartJob]:
        shadow, reserved = self._reservation(self._queue[0].n_hosts)
        waiting = self._queue[:1]
        for job in self._queue[1:]:
            usable = self._free if now + job.walltime <= shadow else self._free & ~reserved
            if job.n_hosts <= usable.bit_count():
                yield self._start(now, job, usable)
            else:
                waiting.append(job)
        self._queue = waiting

    def _reservation(self, n_hosts: int) -> tuple[float, int]:
        available, shadow = self._free, float("inf")
        for end, hosts in self._ends:
            if end > shadow:
                break
            available |= hosts
            if available.bit_count() >= n_hosts:
                shadow = end
        return shadow, _lowest(available, n_hosts)

    def _start(self, now: float, job: ViewJob, usable: int) -> StartJob:
        hosts = _lowest(usable, job.n_hosts)
        self._free &= ~hosts
        end = now + job.walltime, hosts
        self._held[job.id] = end
        insort(self._ends, end)
        return StartJob(job, HostSet([i for i in range(hosts.bit_length()) if hosts >> i & 1]))


def _lowest(hosts: int, n: int) -> int:
    """Return the lowest of some hosts."""
    found = 0
    for _ in range(n):
        lowest = hosts & -hosts
        found |= lowest
        hosts ^= lowest
    return found
