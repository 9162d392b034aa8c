"""Whatever a scheduler asks for, no node is over-committed, and all that is held is released."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.kube.gangs import Away, Evicted, Gangs, Ready, Recreated, State
from noctule.kube.refusals import Refusal

NODES = {f"n{i}": {"cpu": 1000 * (1 + i % 2), "gpu": i, "pods": 3} for i in range(3)}
REQUESTS = [{"cpu": 500, "pods": 1}, {"cpu": 1000, "pods": 1}, {"gpu": 1, "pods": 1}, {"pods": 1}]

requests = st.sampled_from(REQUESTS)
actions = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), st.integers(1, 4), requests),
        st.tuples(st.just("bind"), st.integers(0, 30), st.integers(0, 3)),
        st.tuples(st.just("delete"), st.integers(0, 30), st.sampled_from([None, 0, 3])),
        st.tuples(st.just("end"), st.integers(0, 30), st.none()),
        st.tuples(st.just("wait"), st.integers(1, 20), st.none()),
        st.tuples(st.just("lose"), st.integers(0, 2), st.none()),
        st.tuples(st.just("restore"), st.integers(0, 2), st.none()),
    ),
    max_size=60,
)


class Caller:
    """Does what a bridge does, and counts what is on the nodes by itself."""

    def __init__(self, requeue: bool) -> None:
        self.gangs = Gangs(NODES, timeout=15.0, back_off=4.0, requeue=requeue)
        self.now = 0.0
        self.n_jobs = 0
        self.pods: dict[str, tuple[int, dict[str, int]]] = {}  # those that exist
        self.of_jobs: dict[int, list[str]] = {}
        self.requests: dict[int, dict[str, int]] = {}
        self.places: dict[str, tuple[str, float]] = {}
        self.held = 0.0
        self.started: set[int] = set()

    def submit(self, n_pods, asked):
        job, self.n_jobs = self.n_jobs, self.n_jobs + 1
        self.of_jobs[job] = [f"{job}-{i}" for i in range(n_pods)]
        self.requests[job] = asked
        self.gangs.submit(job, self.of_jobs[job], asked, grace=5.0)
        self.pods.update(dict.fromkeys(self.of_jobs[job], (job, asked)))

    def bind(self, pod, node):
        if not self.pods:
            return
        name = list(self.pods)[pod % len(self.pods)]
        outcome = self.gangs.bind(name, f"n{node}", self.now)
        if isinstance(outcome, Refusal):
            assert outcome.message.startswith(f"pod {name}: cannot be bound to n{node}")
            return
        self.places[name] = (f"n{node}", self.now)
        if isinstance(outcome, Ready):
            self.started.add(outcome.job_id)
            of_job = self.of_jobs[outcome.job_id]
            assert outcome.nodes == tuple(self.places[pod][0] for pod in of_job)
            self.held += sum(self.now - self.places[pod][1] for pod in of_job)

    def delete(self, pod, grace):
        if self.pods:
            self.follow(self.gangs.delete(list(self.pods)[pod % len(self.pods)], self.now, grace))

    def end(self, job, _):
        running = [job for job in self.gangs_now() if self.gangs.state(job) is State.RUNNING]
        if running:
            job = running[job % len(running)]
            self.gangs.end(job, self.now)
            self.gone(job)

    def wait(self, seconds, _):
        self.now += seconds
        while (deadline := self.gangs.next_deadline()) is not None and deadline <= self.now:
            outcomes = self.gangs.expired(self.now)
            assert outcomes
            for outcome in outcomes:
                self.follow(outcome)

    def lose(self, node, _):
        for outcome in self.gangs.lose_node(f"n{node}", self.now):
            self.follow(outcome)

    def restore(self, node, _):
        self.gangs.restore_node(f"n{node}")

    def follow(self, outcome):
        if isinstance(outcome, Away | Evicted):
            self.gone(outcome.job_id)
        elif isinstance(outcome, Recreated):
            job = outcome.job_id
            self.pods.update(dict.fromkeys(self.of_jobs[job], (job, self.requests[job])))

    def gone(self, job):
        for pod in self.of_jobs[job]:
            self.pods.pop(pod)
            place = self.places.pop(pod, None)
            if place is not None and job not in self.started:
                self.held += self.now - place[1]

    def gangs_now(self):
        return [job for job in range(self.n_jobs) if job in self.gangs]

    def check(self):
        for node, capacity in NODES.items():
            used = dict.fromkeys(capacity, 0)
            for pod, (at, _) in self.places.items():
                if at == node:
                    for name, count in self.pods[pod][1].items():
                        used[name] += count
            assert all(used[name] <= capacity[name] for name in used)
            assert self.gangs.free(node) == {name: capacity[name] - used[name] for name in used}


@settings(max_examples=60)
@given(actions, st.booleans())
def test_nodes_are_never_over_committed_and_all_that_was_held_is_billed_and_released(
    steps, requeue
):
    caller = Caller(requeue)
    for name, first, second in steps:
        getattr(caller, name)(first, second)
        caller.check()
        caller.gangs.deadlocked()
    for job in caller.gangs_now():
        caller.gangs.end(job, caller.now)
        if job not in caller.started:
            caller.held += sum(
                caller.now - caller.places[pod][1]
                for pod in caller.of_jobs[job]
                if pod in caller.places
            )
    assert all(caller.gangs.free(node) == capacity for node, capacity in NODES.items())
    assert sum(hold.end - hold.begin for hold in caller.gangs.holds) == caller.held
    assert sum(map(caller.gangs.held_by, range(caller.n_jobs))) == caller.held


def can_all_start(jobs, free):
    """Try all orders in which jobs could start and end, and all places of their missing Pods."""
    if not jobs:
        return True
    for i, (held, n_missing, asked) in enumerate(jobs):
        if can_place(n_missing, asked, free):
            after = {node: dict(amounts) for node, amounts in free.items()}
            for node in held:
                for name, count in asked.items():
                    after[node][name] += count
            if can_all_start(jobs[:i] + jobs[i + 1 :], after):
                return True
    return False


def can_place(n_missing, asked, free):
    if n_missing == 0:
        return True
    for node, amounts in free.items():
        left = {name: amounts.get(name, 0) - asked.get(name, 0) for name in {*amounts, *asked}}
        if min(left.values()) >= 0 and can_place(n_missing - 1, asked, {**free, node: left}):
            return True
    return False


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(2, 4), requests), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=8),
)
def test_a_deadlock_is_found_where_no_order_of_starts_helps(jobs, bindings):
    gangs = Gangs(NODES)
    held = {job: [] for job in range(len(jobs))}
    for job, (n_pods, asked) in enumerate(jobs):
        gangs.submit(job, [f"{job}-{i}" for i in range(n_pods)], asked)
    for job, node in bindings:
        # the last Pod of each job stays unbound
        if job < len(jobs) and len(held[job]) < jobs[job][0] - 1:
            bound = gangs.bind(f"{job}-{len(held[job])}", f"n{node}", 0.0)
            if not isinstance(bound, Refusal):
                held[job].append(f"n{node}")
    partial = [
        (held[job], n_pods - len(held[job]), asked)
        for job, (n_pods, asked) in enumerate(jobs)
        if held[job]
    ]
    free = {node: dict(gangs.free(node)) for node in NODES}
    assert (gangs.deadlocked() is None) == can_all_start(partial, free)
