"""Replays a recorded schedule under the rules of FCFS and of EASY backfilling.

At each instant the queue and the running jobs are what the record says; the textbook's pass over
the queue is then compared with what was started. A pass follows the record, so that one mistake
is not reported again as its consequences.

Where events within `tolerance` are one instant, a policy may have been called several times in
it, and compared dates that are a little off: a violation is reported only if no such call, and no
such date, explains the record.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from noctule.testing.observed import Observed, Violation, seconds

OVERTAKEN = "job overtaken"
DELAYED = "first job delayed by a backfilled one"
LEFT_WAITING = "job left waiting"


Broken = tuple[str, int, str]  # a rule, a job, what it did


class What(IntEnum):
    """Kinds of events, in their order within one instant."""

    FINISH = 0  # the job ends; its hosts may stay in an epilogue
    FREE = 1
    LEAVE = 2
    SUBMIT = 3
    START = 4


class Recorded(NamedTuple):
    """Something that happened to a job."""

    time: float
    what: What
    job: int


def instants(jobs: Observed, tolerance: float) -> Iterator[list[Recorded]]:
    """Yield the events of each instant, in order of time."""
    waits = jobs.leave_time > jobs.submit_time
    started = np.isfinite(jobs.start_time)
    in_epilogue = started & (jobs.free_time > jobs.finish_time)
    columns = (
        (What.FINISH, jobs.finish_time, in_epilogue),
        (What.FREE, jobs.free_time, started & np.isfinite(jobs.free_time)),
        (What.LEAVE, jobs.leave_time, waits & np.isfinite(jobs.leave_time)),
        (What.SUBMIT, jobs.submit_time, waits),
        (What.START, jobs.start_time, started),
    )
    rows = [np.flatnonzero(mask) for _, _, mask in columns]
    time = np.concatenate([dates[row] for (_, dates, _), row in zip(columns, rows, strict=True)])
    what = np.repeat([int(kind) for kind, _, _ in columns], [len(row) for row in rows])
    job = np.concatenate(rows)
    order = np.lexsort((job, what, time))
    time, what, job = time[order], what[order], job[order]
    cuts = np.flatnonzero(time[1:] - time[:-1] > tolerance) + 1
    bounds = [0, *cuts.tolist(), len(time)] if len(time) else []
    events = list(zip(time.tolist(), map(What, what.tolist()), job.tolist(), strict=True))
    for first, last in pairwise(bounds):
        yield [Recorded(*event) for event in events[first:last]]


@dataclass(slots=True)
class State:
    """Who waits, what is free, and when running jobs should end: (date, job), sorted."""

    n_free: int
    queue: list[int] = field(default_factory=list)
    ends: list[tuple[float, int]] = field(default_factory=list)
    end_of: dict[int, float] = field(default_factory=dict)

    def copy(self) -> State:
        """Return a state of its own."""
        return State(self.n_free, list(self.queue), list(self.ends), dict(self.end_of))

    def redate(self, job: int, end: float) -> None:
        """Expect a running job's hosts at another date."""
        del self.ends[bisect_left(self.ends, (self.end_of[job], job))]
        insort(self.ends, (end, job))
        self.end_of[job] = end

    def release(self, job: int, size: int) -> None:
        """Take back the hosts of a job."""
        del self.ends[bisect_left(self.ends, (self.end_of.pop(job), job))]
        self.n_free += size

    def leave(self, job: int) -> None:
        """Take a job out of the queue, if it is there."""
        position = bisect_left(self.queue, job)
        if position < len(self.queue) and self.queue[position] == job:
            del self.queue[position]

    def start(self, job: int, size: int, end: float) -> None:
        """Move a job from the queue to the running ones."""
        self.leave(job)
        self.n_free -= size
        insort(self.ends, (end, job))
        self.end_of[job] = end


class Reservation(NamedTuple):
    """When the first job fits, and the hosts it then leaves: at least and at most."""

    shadow: float
    least_extra: float
    most_extra: float


NEVER = Reservation(math.nan, -math.inf, math.inf)  # nothing follows from a job that never fits


class QueueReplay:
    """The pass of a policy over the queue, against what was started, instant by instant."""

    def __init__(self, jobs: Observed, tolerance: float, *, backfills: bool) -> None:
        """Begin with an empty platform."""
        self._jobs = jobs
        self._tolerance = tolerance
        self._slack = 2 * tolerance  # two dates are compared, each a little off
        self._backfills = backfills
        self._state = State(jobs.n_hosts)
        self._said: set[int] = set()  # jobs left waiting: each is named once
        self._size: list[int] = jobs.size.tolist()
        self._walltime: list[float] = jobs.walltime.tolist()
        self._start: list[float] = jobs.start_time.tolist()

    def run(self) -> Iterator[Violation]:
        """Yield what the record breaks."""
        for events in instants(self._jobs, self._tolerance):
            for rule, job, message in self._judge(events):
                if rule == LEFT_WAITING:
                    self._said.add(job)
                time = events[-1].time if rule == LEFT_WAITING else self._start[job]
                job_id = self._jobs.job_id[job]
                yield Violation(rule, job_id, time, f"job {job_id}: {message}")

    def _judge(self, events: list[Recorded]) -> list[Broken]:
        starts = {event.job for event in events if event.what is What.START}
        # a job that starts and ends in one instant frees its hosts after it
        at_once = [e for e in events if e.what <= What.FREE and e.job in starts]
        causes = [e for e in events if e.what is not What.START and e not in at_once]
        now = events[-1].time
        before = self._state.copy() if self._tolerance and len(causes) > 1 else None
        broken = self._passes(self._state, [causes], set(starts), now)
        if broken and before is not None and self._is_explained(before, causes, starts, now):
            broken = []
        self._apply(self._state, at_once)
        return broken

    def _is_explained(
        self, before: State, causes: list[Recorded], starts: set[int], now: float
    ) -> bool:
        """Tell whether the policy was called more than once within the instant."""
        ways = [[causes[:k], causes[k:]] for k in range(1, len(causes))]
        ways.append([[cause] for cause in causes])
        return any(not self._passes(before.copy(), way, set(starts), now) for way in ways)

    def _passes(
        self, state: State, calls: Sequence[list[Recorded]], pending: set[int], now: float
    ) -> list[Broken]:
        """Return what is broken if the policy was called so; `pending` is what was started."""
        broken: list[Broken] = []
        for k, causes in enumerate(calls):
            self._apply(state, causes)
            if not state.queue:
                continue
            # while no host comes free, those who could not start still cannot
            quiet = not pending and all(event.what is What.SUBMIT for event in causes)
            among = [event.job for event in causes] if quiet else None
            broken += self._pass(state, pending, now, among, is_last=k == len(calls) - 1)
        for job in pending:
            self._begin(state, job)
        return broken

    def _pass(
        self,
        state: State,
        pending: set[int],
        now: float,
        among: list[int] | None,
        *,
        is_last: bool,
    ) -> Iterator[Broken]:
        """Go through the queue once; jobs found started leave `pending`."""
        size = self._size
        queue = state.queue
        while queue and queue[0] in pending and (is_last or size[queue[0]] <= state.n_free):
            pending.discard(queue[0])
            self._begin(state, queue[0])
        if not queue or (not pending and state.n_free <= 0):
            return
        first = queue[0]
        if size[first] <= state.n_free and first not in self._said:
            message = (
                f"is first in the queue at {seconds(now)} and needs {size[first]} "
                f"of {state.n_free} free hosts, but does not start"
            )
            yield LEFT_WAITING, first, message
        if self._backfills:
            candidates = queue[1:] if among is None else [j for j in among if j != first]
            yield from self._candidates(state, pending, now, candidates, is_last=is_last)
        elif is_last:
            for job in sorted(pending.intersection(queue)):
                message = (
                    f"started at {seconds(self._start[job])} ahead of job "
                    f"{self._jobs.job_id[first]}, which is first in the queue"
                )
                yield OVERTAKEN, job, message

    def _candidates(
        self,
        state: State,
        pending: set[int],
        now: float,
        candidates: Iterable[int],
        *,
        is_last: bool,
    ) -> Iterator[Broken]:
        """Try the jobs behind the first one."""
        first = state.queue[0]
        begun: list[int] = []
        n_free = state.n_free
        reservation: Reservation | None = None
        for job in candidates:
            size, started = self._size[job], job in pending
            if size > n_free and not started:
                continue
            if reservation is None:
                reservation = self._reservation(state, now, self._size[first])
            end = (self._start[job] if started else now) + self._walltime[job]
            if started:
                passes = end <= reservation.shadow + self._slack or size <= reservation.most_extra
                if not passes and not is_last:
                    continue
                if not passes:
                    yield DELAYED, job, self._delay(job, first, end, reservation)
                begun.append(job)
                n_free -= size
                reservation = self._shrunk(reservation, size, end)
            elif job not in self._said:
                in_time = end <= reservation.shadow - self._slack
                if in_time or size <= reservation.least_extra:
                    yield LEFT_WAITING, job, self._chance(job, first, now, n_free, reservation)
        for job in begun:
            pending.discard(job)
            self._begin(state, job)

    def _reservation(self, state: State, now: float, need: int) -> Reservation:
        n_free, shadow, reached = state.n_free, now, 0
        while n_free < need and reached < len(state.ends):
            end, job = state.ends[reached]
            n_free += self._size[job]
            shadow = max(now, end)
            reached += 1
        if n_free < need:
            return NEVER
        tied = n_free
        for end, job in state.ends[reached:]:
            if end > shadow + self._slack:
                break
            tied += self._size[job]
        if not self._slack:
            return Reservation(shadow, tied - need, tied - need)
        before = state.ends[reached - 2][0] if reached > 1 else -math.inf
        is_alone = tied == n_free and before < shadow - self._slack
        return Reservation(shadow, n_free - need if is_alone else 0, tied - need)

    def _shrunk(self, reservation: Reservation, size: int, end: float) -> Reservation:
        shadow, least, most = reservation
        if end > shadow + self._slack:
            return Reservation(shadow, least - size, most - size)
        if end > shadow - self._slack:
            return Reservation(shadow, least - size if self._slack else least, most)
        return reservation

    def _delay(self, job: int, first: int, end: float, reservation: Reservation) -> str:
        return (
            f"started at {seconds(self._start[job])} and delays job {self._jobs.job_id[first]}, "
            f"first in the queue: it may end at {seconds(end)}, after the shadow "
            f"{seconds(reservation.shadow)}, and needs {self._size[job]} hosts "
            f"of {reservation.most_extra:g} extra"
        )

    def _chance(
        self, job: int, first: int, now: float, n_free: int, reservation: Reservation
    ) -> str:
        end = now + self._walltime[job]
        if end <= reservation.shadow - self._slack:
            why = f"would end at {seconds(end)}, by the shadow {seconds(reservation.shadow)}"
        else:
            why = f"needs no more than the {reservation.least_extra:g} extra hosts"
        return (
            f"EASY would start it at {seconds(now)}: it needs {self._size[job]} of {n_free} free "
            f"hosts and {why}, so job {self._jobs.job_id[first]} is not delayed"
        )

    def _begin(self, state: State, job: int) -> None:
        state.start(job, self._size[job], self._start[job] + self._walltime[job])

    def _apply(self, state: State, events: Iterable[Recorded]) -> None:
        for time, what, job in events:
            if what is What.SUBMIT:
                if job not in state.end_of and self._start[job] >= time:
                    insort(state.queue, job)
            elif what is What.LEAVE:
                state.leave(job)
            elif job in state.end_of:
                if what is What.FINISH:
                    state.redate(job, time)
                else:
                    state.release(job, self._size[job])


def replay_fcfs(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    """Yield the jobs that were overtaken, and those left waiting though first and fitting."""
    return QueueReplay(jobs, tolerance, backfills=False).run()


def replay_easy(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    """Yield where a schedule is not that of textbook EASY: none is found if and only if it is."""
    return QueueReplay(jobs, tolerance, backfills=True).run()
