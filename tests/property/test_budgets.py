"""Policies with an energy budget: native ones are the Python ones, and what always holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_workloads import difference, random_workload

import noctule as nt
from noctule.network import NumberedNames
from noctule.platform import HostKind, Hosts, PowerModel
from noctule.policies import EnergyBudget, Powercap, ReducePowercap
from noctule.policy import PolicySpec
from noctule.testing import check_schedule

TWINS = {"powercap": Powercap, "energy_budget": EnergyBudget, "reduce_powercap": ReducePowercap}
IDLE, COMPUTING = 100.0, 203.125  # as estimated; hosts draw less

names = st.sampled_from(list(TWINS))
seeds = st.integers(0, 10_000)


@st.composite
def policies(draw, least=0.3, most=1.05, name=None, **fixed):
    """Draw a policy with a budget, as a share of what hosts can draw: its name and parameters."""
    name = name or draw(names)
    start = draw(st.integers(0, 60))
    parameters = {
        "budget": draw(st.floats(least, most)),
        "budget_start": start,
        "budget_end": start + draw(st.integers(1, 120)),
        "idle_watts": IDLE,
        "computing_watts": COMPUTING,
        "allocation": draw(st.sampled_from(["first", "contiguous"])),
    }
    if name != "powercap":
        parameters["monitoring"] = draw(st.sampled_from([3, 10, 600]))
        parameters["reserve_above_rate"] = draw(st.booleans())
    return name, parameters | {key: fixed[key] for key in fixed.keys() & parameters.keys()}


def a_case(seed, n_hosts=7, energy="exact"):
    power = PowerModel(
        idle=95,
        computing=190,
        off=10,
        switch_off_seconds=2,
        switch_off_watts=100,
        switch_on_seconds=3,
        switch_on_watts=125,
    )
    platform = nt.Platform.homogeneous(n_hosts, power=power)
    workload = random_workload(seed, n_jobs=3 + seed % 25, n_hosts=n_hosts)
    return lambda policy: nt.simulate(platform, workload, policy, energy=energy)


@given(policies(), seeds, st.sampled_from(["off", "exact"]))
def test_native_policies_are_the_python_ones(policy, seed, energy):
    name, parameters = policy
    run = a_case(seed, energy=energy)

    native = run(PolicySpec(name, parameters))

    assert difference(native, run(TWINS[name](**parameters))) is None


@given(policies(least=IDLE / COMPUTING + 1e-6), seeds, st.sampled_from([float("inf"), 0, 5]))
def test_no_more_is_drawn_than_the_budget_if_it_covers_idle_hosts(policy, seed, t_idle):
    name, parameters = policy
    schedule = a_case(seed)(PolicySpec(name, parameters | {"t_idle": t_idle}))

    start, end = policy[1]["budget_start"], policy[1]["budget_end"]
    joules = policy[1]["budget"] * COMPUTING * 7 * (end - start)
    assert schedule.energy.joules(start, end) <= joules * (1 + 1e-9)
    assert list(schedule.notes) == []


@given(policies(most=0.99 * 95 / COMPUTING), seeds)  # what idle hosts really draw
def test_a_budget_below_idle_hosts_is_told_and_nothing_starts_on_credit(policy, seed):
    schedule = a_case(seed)(PolicySpec(*policy))

    begin, end = policy[1]["budget_start"], policy[1]["budget_end"]
    started, walltimes = schedule.column("start_time"), schedule.column("walltime")
    assert not ((started < end) & (started + walltimes > begin)).any()
    assert [note[:17] for note in schedule.notes] == ["the energy budget"]


@given(policies(budget=float("inf")), seeds)
def test_with_an_infinite_budget_they_are_easy(policy, seed):
    run = a_case(seed)
    easy = run(f"easy(allocation={policy[1]['allocation']})")
    assert difference(run(PolicySpec(*policy)), easy) is None


@given(policies(least=1, most=1e6, reserve_above_rate=True), seeds)
def test_all_that_hosts_can_draw_is_no_bound_where_only_the_excess_is_reserved(policy, seed):
    run = a_case(seed)
    easy = run(f"easy(allocation={policy[1]['allocation']})")
    assert difference(run(PolicySpec(*policy)), easy) is None


@given(policies(name="powercap"), seeds)
def test_a_power_cap_is_never_estimated_to_be_passed_by_jobs(policy, seed):
    schedule = a_case(seed)(PolicySpec(*policy))

    start, finish = schedule.column("start_time"), schedule.column("finish_time")
    rate = policy[1]["budget"] * COMPUTING * 7
    begin, end = policy[1]["budget_start"], policy[1]["budget_end"]
    for date in {begin, *start[(start >= begin) & (start < end)].tolist()}:
        held = int(np.sum(schedule.column("n_hosts")[(start <= date) & (date < finish)]))
        estimate = IDLE * (7 - held) + COMPUTING * held
        assert held == 0 or estimate <= rate * (1 + 1e-9)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("allocation", ["local", "best_effort_local", "best_effort_contiguous"])
def test_every_rule_of_allocation_is_kept_under_a_budget(name, allocation):
    for seed in range(40):
        zones = np.random.default_rng(seed).integers(0, 3, 12).astype(np.int32)
        kinds = [HostKind(zone=("all", f"zone{i}")) for i in range(3)]
        platform = nt.Platform(Hosts(NumberedNames("host", (range(12),)), kinds, zones))
        workload = random_workload(seed, n_jobs=30, n_hosts=4)
        easy = nt.simulate(platform, workload, f"easy(allocation={allocation})")
        parameters = {"budget": 1, "budget_start": 10, "budget_end": 60, "allocation": allocation}
        if name != "powercap":
            parameters["reserve_above_rate"] = True

        unbound = nt.simulate(platform, workload, PolicySpec(name, parameters))
        bound = nt.simulate(platform, workload, PolicySpec(name, parameters | {"budget": 0.7}))

        assert difference(unbound, easy) is None, seed
        assert check_schedule(bound) == []
        if allocation == "local":
            assert all(len({zones[h] for h in hosts}) == 1 for hosts in bound.column("hosts"))
