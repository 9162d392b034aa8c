"""Where hosts are shared, those are free that no job is on, however allocations overlap."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

import noctule as nt
from noctule.messages import StartJob
from noctule.workload import Delay, Request

N_HOSTS = 70  # more than a word of bits


class OnRandomHosts:
    """Starts every job when it comes, on runs of hosts that may be taken."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def hosts(self, n: int) -> nt.HostSet:
        first = self.random.randrange(N_HOSTS - n + 1)
        if self.random.random() < 0.5:
            return nt.HostSet(range(first, first + n))
        return nt.HostSet(self.random.sample(range(N_HOSTS), n))

    def decide(self, view, events):
        taken = {host for job in view.running for host in job.hosts}
        assert set(view.free) == set(range(N_HOSTS)) - taken
        assert view.n_free == N_HOSTS - len(taken)
        return [StartJob(job, self.hosts(job.n_hosts)) for job in view.waiting]


@given(
    seed=st.integers(0, 10**6),
    jobs=st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 20), st.integers(1, N_HOSTS)),
        min_size=1,
        max_size=15,
    ),
)
@settings(max_examples=60, deadline=None)
def test_hosts_are_free_that_no_job_is_on(seed, jobs):
    workload = nt.Workload.from_jobs(
        nt.Job(str(i), submit, Request(n_hosts), Delay(seconds))
        for i, (submit, seconds, n_hosts) in enumerate(jobs)
    )
    policy = OnRandomHosts(seed)
    platform = nt.Platform.homogeneous(N_HOSTS)
    schedule = nt.simulate(platform, workload, policy, share_hosts=True)
    assert len(schedule) == len(jobs)
    assert schedule.host_states["n_computing"].iloc[-1] == 0
