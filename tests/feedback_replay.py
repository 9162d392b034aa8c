"""Replay with feedback in its most naive version: one loop, textbook EASY, hosts that are numbers.

Algorithm 1 of Madon, Da Costa and Pierson: a session starts when all those that it depends on have
ended in the simulation and their think times have passed; its jobs follow at recorded distances.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from noctule.sessions import SessionGraph, Sessions
from noctule.workload import Workload

FINISH, SUBMIT = 0, 1

# KTH-SP2 with EASY: minutes that end a session, hosts, speed, and then, in days, makespan, mean
# wait, longest wait and mean lateness.
KTH_FIGURES = [
    # of an independent reference with textbook EASY, to the printed digit
    (0, 100, 1, (365.13, 0.060, 5.11, -3.46)),
    (60, 100, 1, (364.98, 0.074, 6.11, -4.46)),
    # published, for another EASY
    (0, 100, 2, (332.57, 0.01, 1.82, -12.40)),
    (60, 100, 2, (332.61, 0.01, 1.44, -13.31)),
    (0, 200, 1, (332.63, 0.00, 0.81, -8.65)),
    (60, 200, 1, (332.65, 0.00, 0.56, -9.32)),
]


@dataclass
class Replayed:
    """Dates of the jobs of a record, one row a job."""

    submit: np.ndarray
    start: np.ndarray
    finish: np.ndarray


class Users:
    """Submits the jobs of sessions as others end."""

    def __init__(self, sessions: Sessions, graph: SessionGraph) -> None:
        self.graph = graph
        self.recorded = sessions.record.submit_time.tolist()
        self.group = graph.group_of_jobs().tolist()
        self.unfinished = graph.n_jobs.tolist()
        self.missing = graph.n_dependencies.tolist()
        self.begin = [0.0] * len(graph)
        first, dependents, think_times = (array.tolist() for array in graph.dependents())
        self.thoughts = [
            list(zip(dependents[begin:end], think_times[begin:end], strict=True))
            for begin, end in pairwise(first)
        ]

    def first(self) -> list[tuple[float, int]]:
        """Return date and row of the jobs that hang on the root."""
        starts = self.graph.start_time.tolist()
        roots = [group for group, n in enumerate(self.missing) if not n]
        return [job for group in roots for job in self._jobs(group, starts[group])]

    def finished(self, row: int, now: float) -> list[tuple[float, int]]:
        """Return the jobs that follow from the end of one."""
        ended = self.group[row]
        self.unfinished[ended] -= 1
        if self.unfinished[ended]:
            return []
        released = []
        for group, think_time in self.thoughts[ended]:
            self.begin[group] = max(self.begin[group], now + think_time)
            self.missing[group] -= 1
            if not self.missing[group]:
                released += self._jobs(group, self.begin[group])
        return released

    def _jobs(self, group: int, start: float) -> list[tuple[float, int]]:
        rows = self.graph.jobs_of(group).tolist()
        return [(start + (self.recorded[row] - self.recorded[rows[0]]), row) for row in rows]


def replay_with_responses(
    sessions: Sessions, response: Callable[[int], float], graph: SessionGraph | None = None
) -> Replayed:
    """Replay on a machine that ends each job so many seconds after its submission."""
    users = Users(sessions, graph or sessions.graph)
    submit, finish = np.full((2, len(sessions.record)), math.nan)
    events = [(date, SUBMIT, row) for date, row in users.first()]
    heapq.heapify(events)
    while events:
        now, kind, row = heapq.heappop(events)
        if kind == SUBMIT:
            submit[row] = now
            heapq.heappush(events, (now + response(row), FINISH, row))
            continue
        finish[row] = now
        for date, other in users.finished(row, now):
            heapq.heappush(events, (date, SUBMIT, other))
    return Replayed(submit, submit, finish)


def replay_with_easy(
    workload: Workload, sessions: Sessions, *, n_hosts: int, speed: float = 1.0
) -> Replayed:
    """Replay on so many hosts under EASY backfilling; larger jobs are rejected, and so finished."""
    users = Users(sessions, sessions.graph)
    machine = Easy(workload, n_hosts, speed)
    submit = np.full(len(workload), math.nan)
    machine.events = [(date, SUBMIT, row) for date, row in users.first()]
    heapq.heapify(machine.events)
    while machine.events:
        now = machine.events[0][0]
        while machine.events and machine.events[0][0] == now:
            _, kind, row = heapq.heappop(machine.events)
            if kind == SUBMIT:
                submit[row] = now
            if machine.takes(kind, row):
                for date, other in users.finished(row, now):
                    heapq.heappush(machine.events, (date, SUBMIT, other))
        machine.schedule(now)
    return Replayed(submit, np.array(machine.start), np.array(machine.finish))


class Easy:
    """The first waiting job has a reservation, others may pass if they do not delay it."""

    def __init__(self, workload: Workload, n_hosts: int, speed: float) -> None:
        self.size = workload.n_hosts.tolist()
        self.walltime = workload.walltime.tolist()
        self.runtime = (workload.table.amount / speed).tolist()
        self.n_hosts = self.free = n_hosts
        self.start = [math.nan] * len(workload)
        self.finish = [math.nan] * len(workload)
        self.queue: list[int] = []
        self.expected_end: dict[int, float] = {}
        self.events: list[tuple[float, int, int]] = []

    def takes(self, kind: int, row: int) -> bool:
        """Take an event; tell whether the job is done with."""
        if kind == FINISH:
            del self.expected_end[row]
            self.free += self.size[row]
            return True
        if self.size[row] > self.n_hosts:
            return True
        self.queue.append(row)
        return False

    def schedule(self, now: float) -> None:
        while self.queue and self.size[self.queue[0]] <= self.free:
            self._begin(self.queue.pop(0), now)
        if not self.queue or not self.free:
            return
        shadow, extra = self._reservation()
        left = self.queue[:1]
        for row in self.queue[1:]:
            in_time = now + self.walltime[row] <= shadow
            if self.size[row] <= self.free and (in_time or self.size[row] <= extra):
                extra -= 0 if in_time else self.size[row]
                self._begin(row, now)
            else:
                left.append(row)
        self.queue = left

    def _reservation(self) -> tuple[float, int]:
        """Return when the first waiting job can start, and the hosts that it leaves then."""
        available, shadow = self.free, math.inf
        for end, row in sorted((end, row) for row, end in self.expected_end.items()):
            if end > shadow:
                break
            available += self.size[row]
            if available >= self.size[self.queue[0]]:
                shadow = min(shadow, end)
        return shadow, available - self.size[self.queue[0]]

    def _begin(self, row: int, now: float) -> None:
        self.free -= self.size[row]
        self.start[row] = now
        self.finish[row] = now + self.runtime[row]
        self.expected_end[row] = now + self.walltime[row]
        heapq.heappush(self.events, (self.finish[row], FINISH, row))
