"""The offline ceiling: what sleeping in the gaps between jobs could save, by hand and by search.

The hosts of power_runs take 5 s at 50 W to switch off, 10 s at 150 W to switch on, and draw 100 W
idle and 10 W asleep: 15 s asleep cost 1750 J, each second more 10 J, so that 17.78 s idle are as
dear.
"""

from __future__ import annotations

import pytest
from power_runs import POWER, run
from small_runs import job

import noctule as nt
from noctule.errors import InputError
from noctule.offline_ceiling import offline_ceiling


def test_hosts_sleep_in_gaps_that_are_long_enough():
    jobs = [job("A", runtime=10), job("B", submit=26, runtime=1), job("C", submit=57, runtime=1)]
    schedule = run("fcfs", jobs, n=1)
    found = offline_ceiling(schedule)
    # 16 s from 10 to 26 are better spent idle; 30 s from 27 to 57 are not: 250 + 1500 + 15 x 10
    assert found.awake_joules == 1600 + 3000
    assert found.least_joules == 1600 + 1900
    assert found.n_sleeps == 1
    assert found.saved_joules == 1100


def test_nobody_wakes_hosts_after_their_last_job():
    jobs = [job("A", runtime=10), job("B", runtime=30)]
    schedule = run("fcfs", jobs, n=3)
    # host 0 has 20 s after A: 250 J to switch off, 15 s at 10 W; host 2 has 30 s
    found = offline_ceiling(schedule)
    assert found.least_joules == (250 + 150) + (250 + 250)
    assert found.n_sleeps == 2


def test_a_window_counts_what_lies_in_it():
    schedule = run("fcfs", [job("A", runtime=10), job("B", submit=100, runtime=10)], n=1)
    found = offline_ceiling(schedule, 20, 60)
    assert (found.awake_joules, found.least_joules) == (4000, 250 + 350)


def test_hosts_that_cannot_sleep_save_nothing():
    platform = nt.Platform.homogeneous(2, power=nt.platform.PowerModel(idle=100, computing=200))
    workload = nt.Workload.from_jobs([job("A", runtime=10)])
    found = offline_ceiling(nt.simulate(platform, workload, "fcfs", energy="exact"))
    assert found.saved_joules == 0
    assert found.awake_joules == 1000


def test_a_platform_without_watts_is_refused():
    schedule = nt.simulate(nt.Platform.homogeneous(2), nt.Workload.from_jobs([job("A")]), "fcfs")
    with pytest.raises(InputError, match="the platform tells no watts"):
        offline_ceiling(schedule)


@pytest.mark.parametrize("policy", ["easy(t_idle=0)", "easy(t_idle=15)", "energy_bf", "sleeper"])
def test_no_policy_spends_less_than_the_ceiling_leaves(policy):
    jobs = [
        job(str(i), hosts=1 + i % 3, runtime=7 + 5 * (i % 4), submit=13 * i + 40 * (i // 4))
        for i in range(20)
    ]
    schedule = run(policy, jobs, n=4)
    assert POWER.off == 10
    least = offline_ceiling(schedule).least_joules + schedule.energy.by_spending["computing"]
    assert least <= schedule.energy.joules()
