"""Independent schedulers on counts of hosts, slow and plain, and the mistakes that others make.

Nothing here comes from the package: a conformance case, or a policy, that agrees with these was
worked out twice. Jobs are rows (id, submit, hosts, runtime, walltime); a result is {id: start}.
"""

from __future__ import annotations

import math

INF = math.inf


class Loop:
    """A clock, a queue and running jobs; `decide` is called once an instant."""

    def __init__(self, hosts, jobs, mistake=""):
        self.hosts, self.mistakes = hosts, set(mistake.split(" + "))
        coming = list(jobs) if "unsorted" in self.mistakes else sorted(jobs, key=lambda j: j[1])
        if "sorted ids" in self.mistakes:
            coming = sorted(jobs, key=lambda j: (j[1], j[0]))
        if "oversized blocks" not in self.mistakes:
            coming = [j for j in coming if j[2] <= hosts]
        self.coming, self.queue, self.running, self.starts = coming, [], {}, {}
        self.now, self.wake, self.ended, self.arrived = 0, INF, [], []

    @property
    def free(self):
        return self.hosts - sum(job[2] for job, _ in self.running.values())

    def start(self, job):
        held = job[4] if "held to walltime" in self.mistakes else min(job[3], job[4])
        self.running[job[0]] = (job, self.now + held)
        self.queue.remove(job)
        self.starts[job[0]] = self.now

    def run(self):
        while True:
            ends = min((end for _, end in self.running.values()), default=INF)
            arrival = self.coming[0][1] if self.coming else INF
            instant = min(ends, max(arrival, self.now), max(self.wake, self.now))
            if instant == INF:
                return self.starts
            self.now, self.wake = instant, INF
            self.step()

    def step(self):
        ended = [name for name, (_, end) in self.running.items() if end <= self.now]
        if "ends one by one" in self.mistakes:
            ended = ended[:1]
        arrivals = [job for job in self.coming if job[1] <= self.now]
        if "unsorted" in self.mistakes:  # an arrival waits for those before it in the file
            arrivals = self.coming[: 1 if self.coming and self.coming[0][1] <= self.now else 0]
        if "submissions first" in self.mistakes and arrivals:
            ended = []
        self.ended = [(self.starts[name], self.running.pop(name)[0]) for name in ended]
        self.arrived = arrivals
        self.coming = [job for job in self.coming if job not in arrivals]
        self.queue += arrivals
        self.decide()


class Fcfs(Loop):
    """Strictly in order."""

    key = staticmethod(lambda _: 0)

    def decide(self):
        self.queue.sort(key=self.key)
        while self.queue and self.fits(self.queue[0]):
            self.start(self.queue[0])
            if "one start" in self.mistakes:
                break
        if "overtaking" in self.mistakes:
            for job in list(self.queue):
                if job[2] <= self.free:
                    self.start(job)

    def fits(self, job):
        return (
            job[2] < self.free
            or (job[2] == self.free and "strict fit" not in self.mistakes)
            or (job[2] == self.free == self.hosts)
        )


class Filler(Loop):
    """Whatever fits, in order."""

    def decide(self):
        order = list(self.queue)
        if "largest first" in self.mistakes:
            order.sort(key=lambda job: -job[2])
        for job in order:
            if job[2] <= self.free:
                self.start(job)
            elif "stops" in self.mistakes:
                break


class Easy(Fcfs):
    """A reservation for the first job, computed again at every call."""

    promise = None  # mistakes only: (first job, shadow, extra)

    def length(self, job):
        return job[3] if "true runtimes" in self.mistakes else job[4]

    def reservation(self, first):
        ends = [(self.starts[j[0]] + self.length(j), j[2], j) for j, _ in self.running.values()]
        shadow = next(
            (
                t
                for t in sorted({self.now} | {end for end, _, _ in ends if end > self.now})
                if self.free + sum(q for end, q, _ in ends if end <= t) >= first[2]
            ),
            -INF,
        )
        counted = [q for end, q, _ in ends if end <= shadow]
        if self.mistakes & {"ties not counted", "sorted by limit"}:
            by_limit = "sorted by limit" in self.mistakes
            counted, free = [], self.free
            for end, q, _ in sorted(ends, key=lambda e: e[2][4] if by_limit else e[0]):
                counted.append(q)
                if free + sum(counted) >= first[2]:
                    shadow = end
                    break
        return shadow, self.free + sum(counted) - first[2]

    def decide(self):
        before = len(self.running)
        if not self.keeps_appointment():
            super().decide()
        if not self.queue or self.skips(before):
            return
        first, candidates = self.queue[0], self.queue[1:]
        shadow, extra = self.remembered(first, *self.reservation(first))
        if "smallest candidate" in self.mistakes:
            candidates.sort(key=lambda job: job[2])
        if "one candidate" in self.mistakes:
            candidates = candidates[:1]
        for job in candidates:
            if job[2] <= self.free:
                extra = self.consider(job, shadow, extra)
        self.promise = (first, shadow, extra)

    def keeps_appointment(self):
        waits = self.promise and self.queue and self.queue[0] == self.promise[0]
        if "appointment" not in self.mistakes or not waits or self.now >= self.promise[1]:
            return False
        self.wake = self.promise[1]
        return True

    def remembered(self, first, shadow, extra):
        if self.promise and self.promise[0] == first:
            if self.mistakes & {"fixed reservation", "appointment"}:
                return max(self.promise[1], self.now), self.promise[2]
            if "extra carried over" in self.mistakes:
                return shadow, self.promise[2]
        return shadow, extra

    def skips(self, before):
        return (
            "no backfilling" in self.mistakes
            or ("queue > 2" in self.mistakes and len(self.queue) <= 2)
            or ("submissions only" in self.mistakes and not self.arrived)
            or ("not after a start" in self.mistakes and len(self.running) > before)
        )

    def consider(self, job, shadow, extra):
        end = self.now + self.length(job)
        in_time = end < shadow if "before the shadow" in self.mistakes else end <= shadow
        by_extra = job[2] <= extra and "no extra" not in self.mistakes
        if in_time or by_extra or "unprotected" in self.mistakes:
            self.start(job)
            if "extra kept" not in self.mistakes and (
                not in_time or "extra always" in self.mistakes
            ):
                return extra - job[2]
        return extra


class NamedEasy(Easy):
    """EASY as batsched has it: the first job's reservation is for the hosts with the lowest ids."""

    def __init__(self, hosts, jobs):
        super().__init__(hosts, jobs)
        self.held, self.reserved = {}, set()

    def free_hosts(self):
        busy = {h for name in self.running for h in self.held[name]}
        return [h for h in range(self.hosts) if h not in busy]

    def start(self, job):
        if job[0] not in self.held:
            self.held[job[0]] = self.free_hosts()[: job[2]]
        super().start(job)

    def reservation(self, first):
        shadow, extra = super().reservation(first)
        ending = [j[0] for j, _ in self.running.values() if self.starts[j[0]] + j[4] <= shadow]
        there = {h for name in ending for h in self.held[name]}.union(self.free_hosts())
        self.reserved = set(sorted(there)[: first[2]])
        return shadow, extra

    def consider(self, job, shadow, extra):
        hosts = self.free_hosts()
        if self.now + job[4] > shadow:
            hosts = [h for h in hosts if h not in self.reserved]
        if len(hosts) >= job[2]:
            self.held[job[0]] = hosts[: job[2]]
            self.start(job)
        return extra


class Conservative(Loop):
    """A reservation for everyone; compressed in one pass when a job ends early."""

    def __init__(self, hosts, jobs, mistake=""):
        super().__init__(hosts, jobs, mistake)
        self.promised, self.compressed = {}, False

    def length(self, job):
        return job[3] if "true runtimes" in self.mistakes else job[4]

    def busy(self, without=None):
        """Return (from, to, hosts) of what runs, and of reservations but one."""
        held = [
            (self.starts[j[0]], self.starts[j[0]] + self.length(j), j[2])
            for j, _ in self.running.values()
        ]
        planned = [
            (self.promised[j[0]], self.promised[j[0]] + self.length(j), j[2])
            for j in self.queue
            if j[0] in self.promised and j[0] != without
        ]
        return held + planned

    def earliest(self, job):
        busy = self.busy(without=job[0])
        for t in sorted({self.now} | {end for _, end, _ in busy if end > self.now}):
            end = t if "beginning only" in self.mistakes else t + self.length(job)
            if "longer hole" in self.mistakes:
                end += 1
            inside = [t] + [begin for begin, _, _ in busy if t < begin < end]
            if all(self.load(busy, u) + job[2] <= self.hosts for u in inside):
                return t
        raise AssertionError("a job that fits the platform fits the plan some day")

    @staticmethod
    def load(busy, u):
        return sum(q for begin, end, q in busy if begin <= u < end)

    def compress(self):
        order = list(self.queue)
        if "last first" in self.mistakes:
            order.reverse()
        for job in order:
            t = self.earliest(job)
            stuck = t >= self.promised[job[0]]
            self.promised[job[0]] = min(t, self.promised[job[0]])
            if stuck and "stops" in self.mistakes:
                break

    def ended_early(self):
        return any(self.now < began + self.length(job) for began, job in self.ended)

    def decide(self):
        newcomers = [job for job in self.queue if job[0] not in self.promised]
        if "afresh" in self.mistakes:
            self.promised, newcomers = {}, list(self.queue)
        early = self.wants_compression()
        if early and "newcomer first" not in self.mistakes:
            self.queue = [job for job in self.queue if job not in newcomers]
            for _ in range(9 if "passes" in self.mistakes else 1):
                self.compress()
            self.compressed = True
            self.queue += newcomers
        for job in newcomers:
            self.promised[job[0]] = self.earliest(job)
        if early and "newcomer first" in self.mistakes:
            self.compress()
        for job in [job for job in self.queue if self.promised[job[0]] <= self.now]:
            if job[2] <= self.free:
                self.start(job)
        if "no clock" not in self.mistakes:
            due = [self.promised[j[0]] for j in self.queue]
            self.wake = min((t for t in due if t > self.now), default=INF)

    def wants_compression(self):
        if self.mistakes & {"never moved", "afresh"}:
            return False
        if "once" in self.mistakes and self.compressed:
            return False
        return self.ended_early() or "every event" in self.mistakes


class Replanning(Conservative):
    """All reservations are dropped at every call, and made again in queue order."""

    def __init__(self, hosts, jobs, mistake=""):
        super().__init__(hosts, jobs, mistake)
        self.mistakes.add("afresh")


def sorted_by_walltime(policy):
    """Return a policy whose queue is sorted by walltime."""
    return type("ShortestRequest", (policy,), {"key": staticmethod(lambda job: job[4])})


def sorted_by_runtime(policy):
    """Return a policy whose queue is sorted by what nobody can know."""
    return type("ShortestRuntime", (policy,), {"key": staticmethod(lambda job: job[3])})
