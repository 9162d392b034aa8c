"""Proportional and inertial shutdown: natives and Python twins, identities, what never happens."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_workloads import difference, random_workload

import noctule as nt
from noctule.platform import PowerModel
from noctule.policies import Fcfs, Filler, Inertial, Opportunistic, Proportional

POWER = PowerModel(
    idle=100,
    computing=200,
    off=10,
    switch_off_seconds=5,
    switch_off_watts=50,
    switch_on_seconds=10,
    switch_on_watts=150,
)


def platform(n_hosts: int) -> nt.Platform:
    return nt.Platform.homogeneous(n_hosts, power=POWER)


def spaced(seed: int, n_jobs: int, n_hosts: int) -> nt.Workload:
    """Return random jobs, with pauses in which hosts can be switched off."""
    return random_workload(seed, n_jobs=n_jobs, n_hosts=n_hosts, load=(0.2, 0.6, 1.5)[seed % 3])


def power_changes(schedule: nt.Schedule) -> list[tuple[float, str, int]]:
    table = schedule.power_states
    return list(zip(table["time"], table["hosts"].map(str), table["state"], strict=True))


def spec(name: str, **parameters: float | str | bool) -> nt.policy.PolicySpec:
    return nt.policy.PolicySpec(name, parameters)


def assert_same_runs(native: nt.Schedule, python: nt.Schedule) -> None:
    assert power_changes(native) == power_changes(python)
    assert difference(native, python) is None
    assert native.energy.joules() == pytest.approx(python.energy.joules(), rel=1e-12)


@pytest.mark.parametrize(("name", "policy"), [("fcfs", Fcfs), ("filler", Filler)])
def test_opportunistic_shutdown_is_the_same_in_python(name, policy):
    for seed in range(150):
        n_hosts = (3, 7, 16)[seed % 3]
        jobs, t_idle = spaced(seed, 5 + seed % 30, n_hosts), (0, 4, 15, 60)[seed % 4]
        native = nt.simulate(platform(n_hosts), jobs, spec(name, t_idle=t_idle), energy="exact")
        python = nt.simulate(platform(n_hosts), jobs, Opportunistic(policy, t_idle), energy="exact")
        assert_same_runs(native, python)


def test_proportional_shutdown_is_the_same_in_python():
    choices = itertools.cycle(
        itertools.product((1.0, 0.75, 0.5, 0.2), (0, 4, 15, math.inf), (7, 20), (True, False))
    )
    for seed, (rho, t_idle, period, run_on_period) in zip(range(200), choices, strict=False):
        n_hosts = (3, 7, 16)[seed % 3]
        jobs = spaced(seed, 5 + seed % 30, n_hosts)
        parameters = {"t_idle": t_idle, "period": period, "run_on_period": run_on_period}
        policy = spec("proportional", rho=rho, **parameters)
        native = nt.simulate(platform(n_hosts), jobs, policy, energy="exact")
        python = nt.simulate(
            platform(n_hosts), jobs, Proportional(rho, **parameters), energy="exact"
        )
        assert_same_runs(native, python)


def test_inertial_shutdown_is_the_same_in_python():
    choices = itertools.cycle(
        itertools.product(
            (0, 10, 50, 1e4), ("increment", "double"), (True, False), (0, 4, 15, math.inf), (7, 3)
        )
    )
    for seed, (bound, growth, future, t_idle, period) in zip(range(300), choices, strict=False):
        n_hosts = (3, 7, 16)[seed % 3]
        jobs = spaced(seed, 5 + seed % 30, n_hosts)
        parameters = {
            "upper_bound": bound,
            "growth": growth,
            "future_switches": future,
            "t_idle": t_idle,
            "period": period,
            "run_on_period": seed % 2 == 0,
        }
        native = nt.simulate(
            platform(n_hosts), jobs, spec("inertial", **parameters), energy="exact"
        )
        python = nt.simulate(platform(n_hosts), jobs, Inertial(**parameters), energy="exact")
        assert_same_runs(native, python)


runs = st.tuples(st.integers(0, 10_000), st.integers(1, 40), st.sampled_from([2, 5, 12]))
orders = st.sampled_from(["fcfs", "sjf", "largest", "smallest_area"])


@given(runs, orders, st.booleans(), st.sampled_from([1, 7, 30]))
def test_without_reasons_to_switch_both_are_easy(run, order, run_on_period, period):
    seed, n_jobs, n_hosts = run
    jobs = spaced(seed, n_jobs, n_hosts)
    easy = nt.simulate(platform(n_hosts), jobs, spec("easy", order=order))
    shared = {"order": order, "period": period, "run_on_period": run_on_period}
    for same in (
        spec("proportional", rho=1, **shared),
        spec("inertial", upper_bound=0, **shared),
    ):
        # hosts need not even have power states
        assert difference(easy, nt.simulate(platform(n_hosts), jobs, same)) is None
        counted = nt.simulate(platform(n_hosts), jobs, same, energy="exact")
        assert difference(easy, counted) is None
        assert len(counted.power_states) == 1


class Watched(Inertial):
    """Inertial shutdown that notes when the first job is to start, at every call."""

    def __init__(self, **parameters) -> None:
        super().__init__(**parameters)
        self.promised: dict[int, float] = {}

    def observe_state(self, hosts) -> None:
        super().observe_state(hosts)
        for job in hosts.running:
            if job.id in self.promised:
                assert hosts.now <= self.promised.pop(job.id)
        if self.first is not None:
            shadow, _ = self._shadow(hosts, self.first.n_hosts)
            assert shadow <= self.promised.get(self.first.id, math.inf)
            self.promised = {self.first.id: shadow}


@given(runs, st.sampled_from([5, 40, 1e4]), st.booleans(), st.sampled_from([1, 3, 7]))
def test_switching_off_never_delays_the_first_job(run, bound, future, period):
    seed, n_jobs, n_hosts = run
    policy = Watched(upper_bound=bound, future_switches=future, period=period)
    jobs = spaced(seed, n_jobs, n_hosts)
    nt.simulate(platform(n_hosts), jobs, policy, energy="exact")


policies = st.one_of(
    st.builds(
        lambda t_idle: spec("easy", t_idle=t_idle),
        st.sampled_from([0, 3, 20]),
    ),
    st.builds(
        lambda rho, t_idle, period, run: spec(
            "proportional", rho=rho, t_idle=t_idle, period=period, run_on_period=run
        ),
        st.sampled_from([0.1, 0.5, 0.8, 1]),
        st.sampled_from([0, 3, 20, math.inf]),
        st.sampled_from([1, 7, 30]),
        st.booleans(),
    ),
    st.builds(
        lambda bound, growth, future, t_idle, period: spec(
            "inertial",
            upper_bound=bound,
            growth=growth,
            future_switches=future,
            t_idle=t_idle,
            period=period,
        ),
        st.sampled_from([0, 5, 40, 1e4]),
        st.sampled_from(["increment", "double"]),
        st.booleans(),
        st.sampled_from([0, 3, 20, math.inf]),
        st.sampled_from([1, 7, 30]),
    ),
    st.sampled_from([spec("sleeper"), spec("energy_bf"), spec("idle_sleeper", period=7)]),
)


def awake_times(schedule: nt.Schedule, host: int) -> list[tuple[float, float]]:
    """Return from when to when a host was awake."""
    spans, since = [], None
    for time, hosts, state in power_changes(schedule):
        if host in nt.HostSet(hosts):
            if state == 0:
                since = time
            elif since is not None:
                spans.append((since, time))
                since = None
    return spans if since is None else [*spans, (since, math.inf)]


@given(runs, policies)
def test_jobs_run_on_hosts_that_are_awake_and_the_parts_of_the_ledger_sum(run, policy):
    seed, n_jobs, n_hosts = run
    schedule = nt.simulate(platform(n_hosts), spaced(seed, n_jobs, n_hosts), policy, energy="exact")
    assert (schedule.column("state") == "completed").sum() + (
        schedule.column("state") == "timed_out"
    ).sum() == n_jobs
    spans = [awake_times(schedule, host) for host in range(n_hosts)]
    for hosts, start, finish in zip(
        schedule.column("hosts"),
        schedule.column("start_time").tolist(),
        schedule.column("finish_time").tolist(),
        strict=True,
    ):
        for host in hosts:
            assert any(begin <= start and finish <= end for begin, end in spans[host])
    parts = math.fsum(schedule.energy.by_spending.values())
    assert parts == pytest.approx(schedule.energy.joules(), rel=1e-9)
    busy = float(np.sum(schedule.column("runtime") * schedule.record.n_hosts))
    assert schedule.energy.by_spending["computing"] == pytest.approx(busy * 200, rel=1e-9)
