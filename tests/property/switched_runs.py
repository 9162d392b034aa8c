"""Random runs on hosts with power states, whose policy switches hosts at random."""

from __future__ import annotations

import math

from hypothesis import strategies as st

import noctule as nt
from noctule.messages import CallAt, SetPowerState, StartJob
from noctule.platform import PowerModel
from noctule.workload import Compute, Delay, Request

N_HOSTS = 4
FULL, SLOW, ASLEEP = 0, 1, 2
POWER = PowerModel(
    idle=97.3,
    computing=213.1,
    epsilon=104.9,
    off=9.75,
    switch_off_seconds=6.1,
    switch_off_watts=101.0,
    switch_on_seconds=15.3,
    switch_on_watts=125.2,
    slower=((0.7, 81.7, 131.9),),
)
#: Idle and computing watts by the value of a power state; -1 and -2 are switching on and off.
WATTS = {
    FULL: (97.3, 213.1),
    SLOW: (81.7, 131.9),
    ASLEEP: (9.75, 9.75),
    -1: (125.2, 125.2),
    -2: (101.0, 101.0),
}

amounts = st.floats(0.5, 60)
jobs = st.lists(
    st.tuples(
        st.floats(0, 100),
        st.integers(1, 3),
        st.one_of(amounts.map(Compute), amounts.map(Delay)),
        st.one_of(st.just(math.inf), st.floats(1, 50)),
    ),
    min_size=1,
    max_size=8,
)
wishes = st.lists(
    st.tuples(st.integers(0, N_HOSTS - 1), st.sampled_from([FULL, SLOW, ASLEEP])), max_size=20
)


class Switching:
    """Brings a host to a state at each call, as long as there are wishes, and starts what fits."""

    def __init__(self, some):
        self.wishes = list(some)

    def decide(self, view, events):
        free = set(view.free)
        asleep = set(view.asleep)
        if self.wishes:
            host, state = self.wishes.pop()
            switching = state == ASLEEP or host in asleep
            can_sleep = state != ASLEEP or host in free
            if host not in view.switching and can_sleep:
                yield SetPowerState([host], state)
                free -= {host} if switching else set()
                asleep -= {host}
            yield CallAt(view.now + 1.7)
        elif asleep:
            yield SetPowerState(asleep, FULL)
        for job in view.waiting:
            if job.n_hosts <= len(free):
                chosen = sorted(free)[: job.n_hosts]
                free -= set(chosen)
                yield StartJob(job, chosen)


def simulated(rows, some, energy, **options):
    workload = nt.Workload.from_jobs(
        [nt.Job(i, t, Request(n), what, limit) for i, (t, n, what, limit) in enumerate(rows)]
    )
    platform = nt.Platform.homogeneous(N_HOSTS, power=POWER)
    return nt.simulate(platform, workload, Switching(some), energy=energy, **options)
