"""Whatever a scheduler asks for, no node is over-committed, and all that is held is released."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.kube.gangs import Away, Evicted, Gangs, Ready, Recreated, Refusal, State

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


@settings(max_examples=150)
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
