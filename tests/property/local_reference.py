"""Policies that keep jobs in one group of hosts, as plainly as they can be written."""

from __future__ import annotations

from noctule.messages import CallAt, JobFinished, JobSubmitted, RejectJob, StartJob
from noctule.policies import Conservative, Easy, Fcfs, Filler


def first_run(free: set[int], n: int) -> list[int] | None:
    """Return the lowest n neighbours among the free hosts."""
    for first in sorted(free):
        run = list(range(first, first + n))
        if free.issuperset(run):
            return run
    return None


def first_group(free: set[int], groups: list[set[int]], n: int) -> list[int] | None:
    """Return the n lowest free hosts of the first group that has so many."""
    for group in groups:
        if len(free & group) >= n:
            return sorted(free & group)[:n]
    return None


class BestEffort:
    """What another policy starts, on the hosts of a rule if it finds some, else on the first."""

    def __init__(self, policy, rule: str):
        self._policy, self._rule = policy, rule

    def decide(self, view, events):
        free, groups = set(view.free), [set(group) for group in view.groups]
        for decision in self._policy.decide(view, events):
            if not isinstance(decision, StartJob):
                yield decision
                continue
            n = decision.job.n_hosts
            hosts = first_group(free, groups, n) if self._rule == "local" else first_run(free, n)
            hosts = hosts or sorted(free)[:n]
            free.difference_update(hosts)
            yield StartJob(decision.job, hosts)


BEST_EFFORT = {"fcfs": Fcfs, "easy": Easy, "conservative": Conservative, "filler": Filler}


class Local:
    """What the others have in common: groups, and the refusal of jobs that fit into none."""

    def decide(self, view, events):
        self.groups = [set(group) for group in view.groups]
        most = max(map(len, self.groups))
        self.now, self.free = view.now, set(view.free)
        self.queue = [job for job in view.waiting if job.n_hosts <= most]
        for job in view.waiting:
            if job.n_hosts > most:
                yield RejectJob(job)
        yield from self.plan(view, [e for e in events if getattr(e, "job", None) in self.queue])

    def start(self, job, hosts):
        self.free.difference_update(hosts)
        return StartJob(job, hosts)


class LocalFcfs(Local):
    def plan(self, view, events):
        for job in self.queue:
            hosts = first_group(self.free, self.groups, job.n_hosts)
            if not hosts:
                return
            yield self.start(job, hosts)


class LocalFiller(Local):
    def plan(self, view, events):
        for job in self.queue:
            hosts = first_group(self.free, self.groups, job.n_hosts)
            if hosts:
                yield self.start(job, hosts)


class LocalEasy(Local):
    def plan(self, view, events):
        ends = [(job.expected_end, set(job.hosts)) for job in view.running]
        queue = self.queue
        while queue and (hosts := first_group(self.free, self.groups, queue[0].n_hosts)):
            ends.append((self.now + queue[0].walltime, set(hosts)))
            yield self.start(queue.pop(0), hosts)
        if not queue:
            return
        shadow, reserved, extra = self._reserve(ends, queue.pop(0).n_hosts)
        for job in queue:
            in_time = self.now + job.walltime <= shadow
            allowed = [
                group
                for group in self.groups
                if in_time or group != reserved or job.n_hosts <= extra
            ]
            hosts = first_group(self.free, allowed, job.n_hosts)
            if hosts:
                if not in_time and reserved.issuperset(hosts):
                    extra -= job.n_hosts
                yield self.start(job, hosts)

    def _reserve(self, ends, n):
        for time in sorted({end for end, _ in ends}):
            then = self.free.union(*(hosts for end, hosts in ends if end <= time))
            for group in self.groups:
                if len(then & group) >= n:
                    return time, group, len(then & group) - n
        raise AssertionError("a job that fits a group fits once all others have ended")


class LocalConservative(Local):
    def __init__(self):
        self._slots = {}  # job id -> (start, end, number of a group, n_hosts)

    def decide(self, view, events):
        self._early = False
        for event in events:
            if isinstance(event, JobFinished):
                self._early |= view.now < self._slots.pop(event.job.id)[1]
        return super().decide(view, events)

    def plan(self, view, events):
        if self._early:
            for job in self.queue:
                held = self._slots.pop(job.id, None)
                if held is not None:
                    slot = self._earliest(job)
                    self._slots[job.id] = slot if slot[0] < held[0] else held
        for event in events:
            if isinstance(event, JobSubmitted):
                self._slots[event.job.id] = self._earliest(event.job)
        for job in self.queue:
            start, _, group, n = self._slots[job.id]
            if start <= self.now:
                yield self.start(job, sorted(self.free & self.groups[group])[:n])
        starts = [self._slots[job.id][0] for job in self.queue]
        if any(start > self.now for start in starts):
            yield CallAt(min(start for start in starts if start > self.now))

    def _earliest(self, job):
        ends = {end for _, end, _, _ in self._slots.values() if end > self.now}
        for start in sorted({self.now} | ends):
            for group, hosts in enumerate(self.groups):
                if self._peak(group, start, start + job.walltime) + job.n_hosts <= len(hosts):
                    return start, start + job.walltime, group, job.n_hosts
        raise AssertionError("a job that fits a group fits once all others have ended")

    def _peak(self, group, begin, end):
        """Return the most hosts of a group that are promised at one instant."""
        slots = [slot for slot in self._slots.values() if slot[2] == group]
        instants = {begin} | {slot[0] for slot in slots if begin < slot[0] < end}
        return max(sum(n for s, e, _, n in slots if s <= t < e) for t in instants)


LOCAL = {
    "fcfs": LocalFcfs,
    "easy": LocalEasy,
    "conservative": LocalConservative,
    "filler": LocalFiller,
}
