"""Opportunistic shutdown: idle hosts are switched off under any queue policy, and jobs wake them.

The hosts of power_runs take 5 s at 50 W to switch off, 10 s at 150 W to switch on, and draw 100 W
idle, 200 W computing, 10 W asleep.
"""

from __future__ import annotations

import math

import pytest
from power_runs import hosts, run
from small_runs import job, starts

import noctule as nt
from noctule.errors import DecisionError, InputError
from noctule.policies import Easy, Opportunistic

QUEUE_POLICIES = ["conservative", "easy", "fcfs", "filler", "replanning"]
TWO_JOBS = [job("A", runtime=10), job("B", hosts=2, runtime=20, submit=50)]


def changes(schedule):
    """Return when hosts were switched, and to what: -2 is off, -1 on."""
    table = schedule.power_states[1:]
    return list(zip(table["time"], table["hosts"].map(str), table["state"], strict=True))


@pytest.mark.parametrize("policy", QUEUE_POLICIES)
def test_hosts_that_were_idle_for_too_long_sleep_until_a_job_needs_them(policy):
    schedule = run(f"{policy}(t_idle=20)", TWO_JOBS)
    assert starts(schedule) == {"A": 0, "B": 60}
    assert changes(schedule) == [
        (20, "1", -2),
        (25, "1", 2),
        (30, "0", -2),
        (35, "0", 2),
        (50, "0-1", -1),
        (60, "0-1", 0),
    ]
    # idle, computing, switching (5 x 50 + 10 x 150), sleeping (15 s and 25 s)
    assert schedule.energy.spent.tolist() == [[2000, 6000, 1750, 150], [2000, 4000, 1750, 250]]
    assert schedule.end == 80


def test_without_patience_hosts_are_off_as_soon_as_no_job_takes_them():
    jobs = [job("A", runtime=10), job("B", runtime=10, submit=10), job("C", submit=100)]
    schedule = run("easy(t_idle=0)", jobs)
    # B takes host 0 at the very instant that A leaves it, and host 1 sleeps from the beginning on
    assert changes(schedule)[:4] == [(0, "1", -2), (5, "1", 2), (20, "0", -2), (25, "0", 2)]
    assert starts(schedule) == {"A": 0, "B": 10, "C": 110}


def test_a_job_at_the_last_instant_finds_its_host_awake():
    schedule = run("fcfs(t_idle=20)", [job("A", runtime=5, submit=20)], n=1)
    assert starts(schedule) == {"A": 20}
    assert changes(schedule) == []


def test_hosts_that_are_being_switched_off_are_switched_on_as_soon_as_they_are_off():
    schedule = run("fcfs(t_idle=20)", [job("A", runtime=5, submit=21)], n=1)
    assert changes(schedule) == [(20, "0", -2), (25, "0", 2), (25, "0", -1), (35, "0", 0)]
    assert starts(schedule) == {"A": 35}


def test_infinite_patience_is_the_policy_without_the_module():
    jobs = [job("A", runtime=10), job("B", hosts=2, runtime=20, submit=500)]
    schedule = run("easy(t_idle=inf)", jobs)
    assert changes(schedule) == []
    assert starts(schedule) == {"A": 0, "B": 500}


def test_idleness_begins_anew_when_a_job_has_used_the_host():
    jobs = [job("A", runtime=5, submit=15), job("B", submit=100)]
    schedule = run("fcfs(t_idle=20)", jobs, n=1)
    assert changes(schedule)[0] == (40, "0", -2)


def test_hosts_in_an_epilogue_are_not_idle():
    jobs = [job("A", runtime=5), job("B", submit=100)]
    schedule = run("fcfs(t_idle=20)", jobs, n=1, epilogue_delay=7)
    assert changes(schedule)[0] == (5 + 7 + 20, "0", -2)


@pytest.mark.parametrize("t_idle", [0, 3, 20, 60])
def test_the_module_for_python_policies_gives_the_same_run(t_idle):
    jobs = [
        job(str(i), hosts=1 + i % 3, runtime=7 + 5 * (i % 4), submit=13 * i + 40 * (i // 4))
        for i in range(20)
    ]
    native = run(f"easy(t_idle={t_idle})", jobs, n=4)
    python = run(Opportunistic(Easy, t_idle), jobs, n=4)
    assert starts(native) == starts(python)
    assert changes(native) == changes(python)
    assert native.energy.joules() == pytest.approx(python.energy.joules(), rel=1e-12)


def test_the_module_asks_for_hosts_that_sleep():
    with pytest.raises(DecisionError, match="counts no energy"):
        nt.simulate(hosts(1), nt.Workload.from_jobs([job("A", submit=9)]), "fcfs(t_idle=1)")
    platform = nt.Platform.homogeneous(1, power=nt.platform.PowerModel(idle=1, computing=2))
    with pytest.raises(DecisionError, match="no power state to sleep in"):
        nt.simulate(
            platform,
            nt.Workload.from_jobs([job("A", submit=9)]),
            "fcfs(t_idle=1)",
            energy="exact",
        )


@pytest.mark.parametrize("t_idle", [-1, math.nan])
def test_patience_is_not_negative(t_idle):
    with pytest.raises(InputError, match=r"t_idle: got .*, expected a number of at least 0"):
        run(nt.policy.PolicySpec("easy", {"t_idle": t_idle}), TWO_JOBS)
    with pytest.raises(InputError, match=r"t_idle: got .*, expected a number of at least 0"):
        Opportunistic(Easy, t_idle)
