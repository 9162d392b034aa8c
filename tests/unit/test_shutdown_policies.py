"""Policies that switch hosts off and on by themselves, on cases small enough to do by hand.

The hosts of power_runs take 5 s at 50 W to switch off, 10 s at 150 W to switch on, and draw 100 W
idle, 200 W computing, 10 W asleep.
"""

from __future__ import annotations

import pytest
from power_runs import run
from small_runs import job, starts

import noctule as nt
from noctule import timeseries
from noctule.errors import InputError


def changes(schedule):
    """Return when hosts were switched, and to what: -2 is off, -1 on, 2 asleep, 0 awake."""
    table = schedule.power_states[1:]
    return list(zip(table["time"], table["hosts"].map(str), table["state"], strict=True))


# Proportional shutdown


def test_a_part_of_the_hosts_is_off_until_a_job_cannot_do_without():
    jobs = [
        job("A", hosts=2, runtime=10, walltime=10),
        job("B", hosts=3, runtime=20, walltime=20, submit=20),
    ]
    schedule = run("proportional(rho=0.5)", jobs, n=4)
    # B lacks one host: the lowest of the reservation, which goes back when B has ended
    assert starts(schedule) == {"A": 0, "B": 30}
    assert changes(schedule) == [
        (0, "2-3", -2),
        (5, "2-3", 2),
        (20, "2", -1),
        (30, "2", 0),
        (50, "2", -2),
        (55, "2", 2),
    ]
    assert schedule.energy.spent.tolist() == [
        [2500, 6000, 0, 0],
        [2500, 6000, 0, 0],
        [0, 4000, 250 + 1500 + 250, 150],
        [0, 0, 250, 500],
    ]


def test_jobs_that_fit_into_the_part_wait_for_it():
    jobs = [
        job("A", hosts=2, runtime=10, walltime=30),
        job("B", hosts=1, runtime=5, walltime=5, submit=1),
    ]
    schedule = run("proportional(rho=0.5)", jobs, n=4)
    assert starts(schedule) == {"A": 0, "B": 10}
    assert changes(schedule) == [(0, "2-3", -2), (5, "2-3", 2)]


def test_woken_hosts_serve_other_jobs_until_the_first_one_starts():
    jobs = [
        job("A", hosts=1, runtime=100, walltime=100),
        job("B", hosts=3, runtime=10, walltime=10, submit=20),
        job("C", hosts=1, runtime=60, walltime=60, submit=21),
        job("D", hosts=1, runtime=90, walltime=90, submit=22),
    ]
    schedule = run("proportional(rho=0.5)", jobs, n=4)
    # host 2 is woken for B, whose shadow is 100; C ends before it, D would not
    assert starts(schedule) == {"A": 0, "C": 21, "B": 100, "D": 110}
    assert (20, "2", -1) in changes(schedule)
    assert str(schedule.jobs.set_index("job_id").loc["C", "hosts"]) == "1"


def test_hosts_out_of_the_reservation_sleep_too_when_they_are_idle_for_long():
    jobs = [job("A", hosts=2, runtime=10, walltime=10), job("B", submit=100, walltime=10)]
    schedule = run("proportional(rho=0.5, t_idle=25, period=10)", jobs, n=4)
    # idle since 10, found at the end of the fourth period, and woken for B
    assert changes(schedule)[2:] == [(40, "0-1", -2), (45, "0-1", 2), (100, "0", -1), (110, "0", 0)]
    assert starts(schedule) == {"A": 0, "B": 110}


# Inertial shutdown


def test_an_idle_system_is_switched_off_bit_by_bit_and_woken_by_a_job():
    jobs = [job("A", hosts=2, runtime=10, walltime=10, submit=100)]
    schedule = run("inertial(period=10)", jobs)
    # At 10 the type is ON, at 20 it turns, at 30 one host goes, at 40 two might. A wakes both. They
    # are busy at 110: one is marked, and goes at 120, when the next decision takes the other.
    assert changes(schedule) == [
        (30, "0", -2),
        (35, "0", 2),
        (40, "1", -2),
        (45, "1", 2),
        (100, "0-1", -1),
        (110, "0-1", 0),
        (120, "0", -2),
        (120, "1", -2),
        (125, "0", 2),
        (125, "1", 2),
    ]
    assert starts(schedule) == {"A": 110}


@pytest.mark.parametrize(("future", "seconds"), [("true", [100, 100]), ("false", [100, 110])])
def test_busy_hosts_are_marked_if_future_switches_are_allowed(future, seconds):
    jobs = [job("A", hosts=2, runtime=100, walltime=100), job("B", submit=150, walltime=10)]
    schedule = run(f"inertial(period=10, future_switches={future})", jobs)
    # A mark of 90 is executed when A ends, so that the decision of 100 may take two hosts more.
    # Without marks it is the first one that finds hosts to switch off.
    switched = [(time, hosts) for time, hosts, state in changes(schedule) if state == -2]
    assert switched[:2] == [(seconds[0], "0"), (seconds[1], "1")]


RISING = [
    job("A", runtime=100, walltime=100),
    job("B", runtime=50, walltime=50, submit=55),
]


@pytest.mark.parametrize("run_on_period", ["true", "false"])
def test_hosts_are_switched_on_when_the_horizon_rises(run_on_period):
    schedule = run(f"inertial(period=10, run_on_period={run_on_period})", RISING)
    # Host 1 is switched off at 30. B waits from 55 on for A's host, at 100, and its load is done at
    # 150. The mean of the horizon is 46.25 at 60: the type turns. At 70 it is 85: host 1 is woken.
    assert changes(schedule)[:4] == [(30, "1", -2), (35, "1", 2), (70, "1", -1), (80, "1", 0)]
    assert starts(schedule) == {"A": 0, "B": 80}


def test_the_upper_bound_switches_hosts_on_at_once():
    schedule = run("inertial(period=10, upper_bound=40)", RISING)
    # the mean of 46.25 at 60 is beyond it
    assert changes(schedule)[2] == (60, "1", -1)
    assert starts(schedule) == {"A": 0, "B": 70}


def test_idle_hosts_that_sleep_already_are_stolen():
    jobs = [job("A", runtime=100, walltime=100), job("B", submit=95, walltime=20)]
    schedule = run("inertial(period=10, t_idle=5)", jobs)
    # Host 1 sleeps from 10 on, for idleness; at 30 it is reserved, without a switch. So B does not
    # wake it, which would take until 105, but waits for the end of A.
    assert changes(schedule)[:2] == [(10, "1", -2), (15, "1", 2)]
    assert starts(schedule) == {"A": 0, "B": 100}
    assert starts(run("proportional(rho=1, t_idle=5, period=10)", jobs))["B"] == 105


# Batsched's family


def test_idle_sleeper_looks_at_idle_hosts_when_periods_end():
    jobs = [job("A", runtime=10, submit=3), job("B", hosts=2, runtime=20, submit=50)]
    schedule = run("idle_sleeper", jobs)
    # periods begin with the first job
    assert changes(schedule) == [(33, "0-1", -2), (38, "0-1", 2), (50, "0-1", -1), (60, "0-1", 0)]
    assert starts(schedule) == {"A": 3, "B": 60}


def test_idle_sleeper_has_patience():
    jobs = [job("A", runtime=10, submit=3), job("B", hosts=2, runtime=20, submit=90)]
    schedule = run("idle_sleeper(t_idle=40)", jobs)
    # at 63 host 1 was idle for 63 s, host 0 for 50 s
    assert changes(schedule)[:2] == [(63, "0-1", -2), (68, "0-1", 2)]
    at_events = run("idle_sleeper(t_idle=40, at_events=true)", [*jobs, job("C", submit=45)])
    assert changes(at_events)[0] == (45, "1", -2)


def test_energy_bf_keeps_hosts_awake_for_the_first_job_only():
    jobs = [
        job("A", runtime=10, walltime=10),
        job("B", runtime=20, walltime=20),
        job("C", hosts=2, runtime=10, walltime=10),
    ]
    schedule = run("energy_bf", jobs, n=3)
    # C takes hosts 0 and 2 at 10; host 2 is idle until then, but kept for it
    assert starts(schedule) == {"A": 0, "B": 0, "C": 10}
    assert changes(schedule)[0] == (20, "0-2", -2)
    without = run("energy_bf", jobs[:2], n=3)
    assert changes(without)[0] == (0, "2", -2)


def test_sleeper_runs_one_job_and_lets_all_other_hosts_sleep():
    jobs = [job("A", runtime=10), job("B", hosts=2, runtime=20, submit=1), job("C", submit=2)]
    schedule = run("sleeper", jobs, n=3)
    # all hosts begin to go to sleep before A is looked at
    assert starts(schedule) == {"A": 15, "B": 35, "C": 55}
    assert changes(schedule) == [
        (0, "0-2", -2),
        (5, "0-2", 2),
        (5, "0", -1),
        (15, "0", 0),
        (25, "1", -1),
        (35, "1", 0),
        (55, "1", -2),
        (60, "1", 2),
        (65, "0", -2),
        (70, "0", 2),
    ]


# The estimator


def test_the_load_horizon_over_time():
    schedule = run("inertial(period=10)", RISING)
    horizon = timeseries.load_horizon(schedule)
    # From 55 on the load is done at 150, 50 s after A. From 70 on host 1 is awaited at 80: 20 s of
    # it alone and 15 s of both, and the load is done at 115.
    assert horizon.mean(55, 70) == 150 - 62.5
    assert horizon.mean(70, 80) == 115 - 75
    assert horizon.at([54, 80, 100]).tolist() == [0, 0, 0]


def test_the_load_horizon_of_jobs_that_wait_for_ever_is_infinite():
    jobs = [job("A", runtime=9), job("B", runtime=5, walltime=5, submit=1)]
    schedule = run("fcfs", jobs, n=1)
    assert timeseries.load_horizon(schedule).at([0.5, 2, 9]).tolist() == [0, float("inf"), 0]


# Bad parameters


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("proportional", r"rho: not given, expected a number from 0 to 1"),
        ("proportional(rho=1.5)", r"rho: got 1.5, expected a number from 0 to 1"),
        ("inertial(period=0)", r"period: got 0, expected a number of at least 1"),
        ("inertial(growth=triple)", r"growth: got 'triple', expected increment or double"),
        ("inertial(future_switches=2)", r"future_switches: got 2, expected true or false"),
        ("inertial(allocation=contiguous)", r"allocation: got another rule than first"),
        ("easy(rho=1)", r"unknown parameter rho; known: order, allocation, t_idle"),
    ],
)
def test_parameters_that_mean_nothing(policy, message):
    with pytest.raises(InputError, match=message):
        run(policy, [job("A")])


def test_hosts_that_cannot_sleep_cannot_be_reserved():
    workload = nt.Workload.from_jobs([job("A")])
    with pytest.raises(nt.errors.DecisionError, match="counts no energy"):
        nt.simulate(nt.Platform.homogeneous(4), workload, "proportional(rho=0.5)")
