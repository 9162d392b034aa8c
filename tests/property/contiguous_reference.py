"""EASY and conservative backfilling on neighbouring hosts, as plainly as they can be written."""

from __future__ import annotations

from noctule.messages import CallAt, JobFinished, JobSubmitted, StartJob


def first_run(hosts: set[int], n: int) -> list[int] | None:
    """Return the lowest n neighbours among the hosts."""
    for first in sorted(hosts):
        run = list(range(first, first + n))
        if hosts.issuperset(run):
            return run
    return None


class ContiguousEasy:
    def decide(self, view, events):
        now, free = view.now, set(view.free)
        ends = [(job.expected_end, set(job.hosts)) for job in view.running]
        queue = list(view.waiting)

        def start(job, run):
            free.difference_update(run)
            ends.append((now + job.walltime, set(run)))
            return StartJob(job, run)

        while queue and (run := first_run(free, queue[0].n_hosts)):
            yield start(queue.pop(0), run)
        if not queue:
            return
        first = queue.pop(0)
        shadow, reserved = self._reserve(free, ends, first.n_hosts)
        for job in queue:
            in_time = now + job.walltime <= shadow
            run = first_run(free if in_time else free - reserved, job.n_hosts)
            if run:
                yield start(job, run)

    @staticmethod
    def _reserve(free, ends, n):
        for time in sorted({end for end, _ in ends}):
            then = free.union(*(hosts for end, hosts in ends if end <= time))
            run = first_run(then, n)
            if run:
                return time, set(run)
        raise AssertionError("a job that fits the platform fits once all others have ended")


class ContiguousConservative:
    def __init__(self):
        self._slots = {}  # job id -> (start, end, hosts)

    def decide(self, view, events):
        now = view.now
        queue = list(view.waiting)
        early = False
        for event in events:
            if isinstance(event, JobFinished):
                early |= now < self._slots.pop(event.job.id)[1]
        if early:
            for job in queue:
                held = self._slots.pop(job.id, None)
                if held is not None:
                    slot = self._earliest(view, job)
                    self._slots[job.id] = slot if slot[0] < held[0] else held
        for event in events:
            if isinstance(event, JobSubmitted):
                self._slots[event.job.id] = self._earliest(view, event.job)
        for job in queue:
            start, _, hosts = self._slots[job.id]
            if start <= now:
                yield StartJob(job, sorted(hosts))
        later = [self._slots[job.id][0] for job in queue if self._slots[job.id][0] > now]
        if later:
            yield CallAt(min(later))

    def _earliest(self, view, job):
        everything = set(range(view.n_hosts))
        ends = {end for _, end, _ in self._slots.values() if end > view.now}
        for start in sorted({view.now} | ends):
            end = start + job.walltime
            busy = [hosts for s, e, hosts in self._slots.values() if s < end and start < e]
            run = first_run(everything.difference(*busy), job.n_hosts)
            if run:
                return start, end, set(run)
        raise AssertionError("a job that fits the platform fits once all others have ended")
