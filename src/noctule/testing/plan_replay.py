"""Replays a recorded schedule under the rules of conservative backfilling and of planning afresh.

Conservative backfilling has a memory, the plan: once a schedule leaves it, nobody can know which
plan was followed from then on. So its replay names the jobs of the first instant that is not as
planned, and stops. Planning afresh has none, and every instant is judged.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from noctule.testing.observed import Observed, Violation, seconds
from noctule.testing.queue_replay import Recorded, What, instants

NOT_AS_PLANNED = "start not as planned"


class Plan:
    """Free hosts over future time: `free[i]` from `times[i]` to the next of them."""

    def __init__(self, now: float, n_hosts: int) -> None:
        """Begin with everything free."""
        self._times = [now]
        self._free = [n_hosts]

    def advance(self, now: float) -> None:
        """Forget the past."""
        current = bisect_right(self._times, now) - 1
        if current >= 0:
            del self._times[:current], self._free[:current]
            self._times[0] = now

    def add(self, n_hosts: int, start: float, end: float) -> None:
        """Free hosts from start to end, or take them if the number is negative."""
        if start >= end:
            return
        first = self._cut(max(start, self._times[0]))
        last = len(self._times) if end == math.inf else self._cut(max(end, self._times[0]))
        for i in range(first, last):
            self._free[i] += n_hosts

    def earliest(self, n_hosts: int, walltime: float, slack: float) -> float:
        """Return the first instant from which so many hosts are free for so long."""
        return self._find(n_hosts, walltime, math.inf, slack)

    def earlier(self, n_hosts: int, walltime: float, start: float, slack: float) -> float:
        """Return where a job planned at `start` can move, at best; `start` if it cannot."""
        return self._find(n_hosts, walltime, start, slack)

    def _find(self, n_hosts: int, walltime: float, limit: float, slack: float) -> float:
        start = self._times[0]
        for i, n_free in enumerate(self._free):
            if start >= limit:
                return limit
            end = self._times[i + 1] if i + 1 < len(self._times) else math.inf
            if n_free < n_hosts:
                start = end
            elif end >= min(start + walltime, limit) - slack:
                return start
        return limit

    def _cut(self, time: float) -> int:
        i = bisect_right(self._times, time) - 1
        if self._times[i] != time:
            i += 1
            self._times.insert(i, time)
            self._free.insert(i, self._free[i - 1])
        return i


class PlanReplay:
    """Reservations for all waiting jobs, against what was started."""

    def __init__(self, jobs: Observed, tolerance: float, *, afresh: bool) -> None:
        """Begin with an empty platform; `afresh` drops all reservations when a job ends early."""
        self._jobs = jobs
        self._tolerance = tolerance
        self._slack = 2 * tolerance  # two dates are compared, each a little off
        self._afresh = afresh
        self._plan = Plan(-math.inf, jobs.n_hosts)
        self._planned: dict[int, float] = {}  # of waiting jobs, in the order of the queue
        self._expected: dict[int, float] = {}  # ends of running jobs
        self._size: list[int] = jobs.size.tolist()
        self._walltime: list[float] = jobs.walltime.tolist()

    def run(self) -> Iterator[Violation]:
        """Yield what the record breaks."""
        for events in instants(self._jobs, self._tolerance):
            found = [*self._missed(events[0].time), *self._judge(events)]
            yield from found
            if found and not self._afresh:
                return
            if found:
                self._plan_afresh(events[-1].time)

    def _missed(self, now: float) -> Iterator[Violation]:
        """Yield jobs whose reservation began before this instant, where nothing was recorded."""
        for job, planned in self._planned.items():
            if planned < now - self._slack:
                yield self._violation(job, planned, "does not start")

    def _judge(self, events: list[Recorded]) -> list[Violation]:
        now = events[-1].time
        starts = [event.job for event in events if event.what is What.START]
        causes = [event for event in events if event.what is not What.START]
        at_once = [e for e in causes if e.what <= What.FREE and e.job in starts]
        self._update(now, [cause for cause in causes if cause not in at_once])
        due = [job for job, planned in self._planned.items() if planned <= now + self._slack]
        broken = [self._violation(job, now, "does not start") for job in due if job not in starts]
        broken += [self._violation(job, now, "starts") for job in starts if job not in due]
        for job in starts:
            self._begin(job)
        self._update(now, at_once)
        return broken

    def _update(self, now: float, causes: Iterable[Recorded]) -> None:
        """Follow what happened: ends first, then those who join the queue."""
        self._plan.advance(now)
        room = False
        submitted = []
        for _, what, job in causes:
            if what is What.SUBMIT:
                if job not in self._expected:
                    submitted.append(job)
            elif what is What.LEAVE and job in self._planned:
                start = self._planned.pop(job)
                self._plan.add(self._size[job], start, start + self._walltime[job])
                room = True
            elif what is What.FREE and job in self._expected:
                end = self._expected.pop(job)
                self._plan.add(self._size[job], now, end)
                room |= end > now + self._slack
        if room and self._afresh:
            self._plan_afresh(now)
        elif room:
            self._compress()
        for job in submitted:
            self._place(job)

    def _compress(self) -> None:
        for job, planned in self._planned.items():
            size, walltime = self._size[job], self._walltime[job]
            start = self._plan.earlier(size, walltime, planned, self._slack)
            if start < planned:
                self._plan.add(size, planned, planned + walltime)
                self._plan.add(-size, start, start + walltime)
                self._planned[job] = start

    def _plan_afresh(self, now: float) -> None:
        self._plan = Plan(now, self._jobs.n_hosts)
        for job, end in self._expected.items():
            self._plan.add(-self._size[job], now, end)
        for job in list(self._planned):
            self._place(job)

    def _place(self, job: int) -> None:
        size, walltime = self._size[job], self._walltime[job]
        start = self._plan.earliest(size, walltime, self._slack)
        self._plan.add(-size, start, start + walltime)
        self._planned[job] = start

    def _begin(self, job: int) -> None:
        size, walltime = self._size[job], self._walltime[job]
        start = float(self._jobs.start_time[job])
        planned = self._planned.pop(job, None)
        if planned is not None:
            self._plan.add(size, planned, planned + walltime)
        self._plan.add(-size, start, start + walltime)
        self._expected[job] = start + walltime

    def _violation(self, job: int, time: float, what: str) -> Violation:
        job_id = self._jobs.job_id[job]
        planned = self._planned.get(job)
        plan = "never" if planned is None else seconds(planned)
        message = f"job {job_id}: {what} at {seconds(time)}, its reservation begins at {plan}"
        return Violation(NOT_AS_PLANNED, job_id, time, message)


def replay_conservative(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    """Yield who leaves the plan first: nobody, if the schedule is that of the textbook."""
    return PlanReplay(jobs, tolerance, afresh=False).run()


def replay_replanning(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    """Yield where a schedule is not that of planning afresh."""
    return PlanReplay(jobs, tolerance, afresh=True).run()
