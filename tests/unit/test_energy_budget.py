"""Policies with an energy budget, on cases small enough for a pencil.

Hosts draw 100 W when idle and 200 W when computing, which is also what the policies estimate: with
four hosts, k of which compute, 400 + 100 k watts.
"""

from __future__ import annotations

import math

import power_runs
import pytest
from small_runs import hosts_of, job, starts

import noctule as nt
from noctule.errors import InputError
from noctule.platform import PowerModel
from noctule.policies import EnergyBudget, Powercap, ReducePowercap, make_policy
from noctule.policy import PolicySpec

TWINS = {"powercap": Powercap, "energy_budget": EnergyBudget, "reduce_powercap": ReducePowercap}
WATTS = {"idle_watts": 100, "computing_watts": 200}


def a_run(name, jobs, *, python=False, hosts=4, idle=100, energy="exact", **parameters):
    """Run a policy by name, native or in Python."""
    given = WATTS | parameters
    policy = TWINS[name](**given) if python else PolicySpec(name, given)
    platform = nt.Platform.homogeneous(hosts, power=PowerModel(idle=idle, computing=200, off=10))
    return nt.simulate(platform, nt.Workload.from_jobs(jobs), policy, energy=energy)


@pytest.fixture(params=[False, True], ids=["native", "python"])
def python(request):
    return request.param


def exactly(name, *, submit=0, hosts=1, lasting=10):
    return job(name, submit=submit, hosts=hosts, runtime=lasting, walltime=lasting)


@pytest.mark.parametrize(
    ("name", "expected", "joules"),
    [
        # 50 s at 500 W, 20 s at 800 W, 30 s at 400 W
        ("energy_budget", {"A": 0, "B": 50, "C": 100}, 53_000),
        ("reduce_powercap", {"A": 0, "B": 50, "C": 100}, 53_000),
        # 50 s at 500 W, 50 s at 400 W
        ("powercap", {"A": 0, "B": 100, "C": 120}, 45_000),
    ],
)
def test_energy_saved_during_a_job_lets_the_next_exceed_the_rate(name, expected, joules, python):
    # figure 6.1: 600 J a second. A leaves 100 of them for 50 s, 5000 J; B needs 200 more, 4000 J.
    jobs = [exactly("A", lasting=50), exactly("B", hosts=4, lasting=20), exactly("C", submit=100)]
    window = {"joules": 60_000, "budget_start": 0, "budget_end": 100}

    schedule = a_run(name, jobs, python=python, **window)

    assert starts(schedule) == expected
    assert schedule.energy.joules(0, 100) == pytest.approx(joules)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 4000 J are saved at 20, and B reserves 400 W for 5 s. C needs 200 W more than the rate for
        # 5 s: 1000 J of the 2000 J that are left.
        ("energy_budget", {"A": 20, "B": 50, "C": 20}),
        # Until 50, 2000 J / 30 s are put aside: 533 W for all, where C would make it 800 W. When B
        # has ended, C is the first job and spends what was saved.
        ("reduce_powercap", {"A": 20, "B": 50, "C": 55}),
        # B and C each draw more than the rate.
        ("powercap", {"A": 20, "B": 100, "C": 105}),
    ],
)
def test_a_short_job_passes_the_first_one_by_energy_or_by_power(name, expected, python):
    jobs = [
        exactly("A", submit=20, lasting=30),
        exactly("B", submit=20, hosts=4, lasting=5),
        exactly("C", submit=20, hosts=3, lasting=5),
    ]
    window = {"joules": 60_000, "budget_start": 0, "budget_end": 100}

    assert starts(a_run(name, jobs, python=python, **window)) == expected


def test_a_job_that_would_take_the_energy_of_the_first_one_does_not_pass_it(python):
    # as above, but B reserves 400 W for 10 s: all of the 4000 J
    jobs = [
        exactly("A", submit=20, lasting=30),
        exactly("B", submit=20, hosts=4, lasting=10),
        exactly("C", submit=20, hosts=3, lasting=5),
    ]
    window = {"joules": 60_000, "budget_start": 0, "budget_end": 100}

    schedule = a_run("energy_budget", jobs, python=python, **window)

    assert starts(schedule) == {"A": 20, "B": 50, "C": 60}


def test_reserving_only_what_is_above_the_rate_leaves_more_to_the_others(python):
    # of B's 400 W, 200 are above the rate: 2000 J, and C may spend the other 2000 J
    jobs = [
        exactly("A", submit=20, lasting=30),
        exactly("B", submit=20, hosts=4, lasting=10),
        exactly("C", submit=20, hosts=3, lasting=5),
    ]
    window = {"joules": 60_000, "budget_start": 0, "budget_end": 100, "reserve_above_rate": True}

    schedule = a_run("energy_budget", jobs, python=python, **window)

    assert starts(schedule) == {"A": 20, "B": 50, "C": 20}


def test_a_job_that_outlasts_the_reservation_leaves_the_first_one_its_watts(python):
    # 700 W: three hosts. A has two until 20, B needs two; C would keep one beyond 20, but with B
    # and C there is one to spare; D would take that one.
    jobs = [
        exactly("A", hosts=2, lasting=20),
        exactly("B", hosts=2, lasting=20),
        exactly("C", lasting=30),
        exactly("D", lasting=25),
        exactly("E", hosts=1, lasting=10),
    ]
    window = {"joules": 70_000, "budget_start": 0, "budget_end": 100}

    schedule = a_run("powercap", jobs, python=python, **window)

    assert starts(schedule) == {"A": 0, "B": 20, "C": 0, "D": 30, "E": 40}


@pytest.mark.parametrize(("period", "start"), [(10, 10), (20, 20), (15, 15)])
def test_what_is_measured_replaces_what_was_estimated(period, start, python):
    # 500 J a second, of which idle hosts are estimated to draw 400 but draw 200: 3000 J, which the
    # job needs beyond the rate, are there after 10 s, but seen when they are measured
    window = {"joules": 50_000, "budget_start": 0, "budget_end": 100, "monitoring": period}
    jobs = [exactly("A", hosts=4)]

    schedule = a_run("energy_budget", jobs, python=python, idle=50, **window)

    assert starts(schedule) == {"A": start}


def test_where_nobody_counts_energy_the_estimates_stand(python):
    # as above: 100 J a second are saved, 3000 J at 30
    window = {"joules": 50_000, "budget_start": 0, "budget_end": 100, "monitoring": 10}
    jobs = [exactly("A", hosts=4)]

    schedule = a_run("energy_budget", jobs, python=python, energy="off", **window)

    assert starts(schedule) == {"A": 30}


def test_before_the_budget_only_the_part_of_a_job_inside_it_counts(python):
    # 600 J a second from 50 on. A ends when that begins. B would draw 700 W inside and has saved
    # nothing: 200 J a second are saved from 50 on, and 6000 J, for its 60 s, are there at 80.
    window = {"joules": 60_000, "budget_start": 50, "budget_end": 150, "monitoring": 10}

    before = a_run("energy_budget", [exactly("A", hosts=4, lasting=50)], python=python, **window)
    inside = a_run("energy_budget", [exactly("B", hosts=3, lasting=60)], python=python, **window)

    assert starts(before) == {"A": 0}
    assert starts(inside) == {"B": 80}


def test_a_job_does_not_spend_what_running_ones_will_need(python):
    # 500 J a second, 100 above idle hosts. At 50 there are 5000 J: A's two hosts need 100 a second
    # more than the rate, all of it until 100. B's 1000 J would be there when it ends, at 60, but be
    # missing at 100.
    jobs = [
        exactly("A", submit=50, hosts=2, lasting=50),
        exactly("B", submit=50, lasting=10),
    ]
    window = {"joules": 50_000, "budget_start": 0, "budget_end": 100, "monitoring": 50}

    schedule = a_run("energy_budget", jobs, python=python, **window)

    assert starts(schedule) == {"A": 50, "B": 100}
    assert schedule.energy.joules(0, 100) == pytest.approx(50_000)


@pytest.mark.parametrize("name", TWINS)
def test_a_budget_below_what_idle_hosts_draw_is_told_and_starts_nothing(name, python):
    # two hosts: 20000 J from 10 to 110. A would reach in, B ends before.
    jobs = [exactly("A", lasting=20), exactly("B", lasting=5)]
    window = {"joules": 15_000, "budget_start": 10, "budget_end": 110}

    schedule = a_run(name, jobs, hosts=2, python=python, **window)

    assert starts(schedule) == {"A": 110, "B": 0}
    assert list(schedule.notes) == [
        "the energy budget of 15000 J is less than the 20000 J that idle hosts are estimated to "
        "draw; 5000 J were overdrawn"
    ]


def test_a_budget_that_covers_idle_hosts_is_nothing_to_tell(python):
    window = {"joules": 40_000, "budget_start": 0, "budget_end": 100}
    schedule = a_run("powercap", [exactly("A")], python=python, **window)
    assert starts(schedule) == {"A": 100}
    assert list(schedule.notes) == []


def test_a_share_is_of_what_all_hosts_draw_when_they_compute(python):
    # 75 % of 800 W: two hosts compute
    jobs = [exactly(name) for name in "ABC"]
    window = {"budget": 0.75, "budget_start": 0, "budget_end": 100}
    assert starts(a_run("powercap", jobs, python=python, **window)) == {"A": 0, "B": 0, "C": 10}


def test_jobs_on_neighbours_wait_for_a_run_of_hosts(python):
    # A and B have hosts 0 and 1. C needs three in a row: 1 to 3, when B has ended; D passes on 2.
    jobs = [
        exactly("A", lasting=40),
        exactly("B", submit=1, lasting=19),
        exactly("C", submit=2, hosts=3, lasting=10),
        exactly("D", submit=3, lasting=5),
    ]
    window = {"budget": 1, "budget_start": 0, "budget_end": 100, "reserve_above_rate": True}

    schedule = a_run("energy_budget", jobs, python=python, allocation="contiguous", **window)

    assert starts(schedule) == {"A": 0, "B": 1, "C": 20, "D": 3}
    assert hosts_of(schedule) == {"A": "0", "B": "1", "C": "1-3", "D": "2"}


def a_run_with_shutdown(name, jobs, **parameters):
    """Run with hosts that go to sleep as soon as they are idle, inside of the budget's time.

    Switching off takes 5 s at 50 W, switching on 10 s at 150 W; 10 W are drawn asleep.
    """
    policy = PolicySpec(name, WATTS | {"t_idle": 0} | parameters)
    workload = nt.Workload.from_jobs(jobs)
    return nt.simulate(power_runs.hosts(4), workload, policy, energy="exact")


def test_hosts_sleep_while_the_budget_lasts_and_jobs_wake_them():
    # A has host 0 until 50; it wakes for B from 60 to 70, and for C, when the budget is over
    jobs = [exactly("A", lasting=50), exactly("B", submit=60), exactly("C", submit=100)]
    window = {"joules": 60_000, "budget_start": 0, "budget_end": 100}

    schedule = a_run_with_shutdown("powercap", jobs, **window)

    assert starts(schedule) == {"A": 0, "B": 70, "C": 110}
    others = 3 * (5 * 50 + 95 * 10)
    first = 50 * 200 + 5 * 50 + 5 * 10 + 10 * 150 + 10 * 200 + 5 * 50 + 15 * 10
    assert schedule.energy.joules(0, 100) == pytest.approx(others + first)
    assert schedule.energy.joules(120, 121) == 0  # the run is over: nobody goes to sleep again


def test_what_sleeping_hosts_save_starts_jobs_below_the_idle_floor():
    # 300 J a second. Asleep at 5, hosts have drawn 1000 J, then 40 W. A job of 10 s may take 25 s
    # with hosts that must be switched off and on, at 200 W more than the rate: 5000 J. There are
    # 1800 J at 10, 4400 J at 20, 7000 J at 30, and its host is awake at 40.
    window = {"joules": 30_000, "budget_start": 0, "budget_end": 100, "monitoring": 10}

    schedule = a_run_with_shutdown("energy_budget", [exactly("A")], **window)

    assert starts(schedule) == {"A": 40}
    assert list(schedule.notes) == [
        "the energy budget of 30000 J is less than the 40000 J that idle hosts are estimated to "
        "draw"
    ]


WHERE = "policy energy_budget"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "budget_start=0, budget_end=9",
            "got neither of budget and joules, expected budget (of what all hosts draw when they "
            "compute: 0.6 is 60 %) or joules",
        ),
        (
            "budget=0.5, joules=3, budget_start=0, budget_end=9",
            "got both of budget and joules, expected budget (of what all hosts draw when they "
            "compute: 0.6 is 60 %) or joules",
        ),
        (
            "budget=0, budget_start=0, budget_end=9",
            "budget: got 0.0, expected a positive number",
        ),
        (
            "joules=0, budget_start=0, budget_end=9",
            "joules: got 0.0, expected a positive number",
        ),
        ("joules=1, budget_end=9", "budget_start: not given, expected a number of at least 0"),
        (
            "joules=1, budget_start=9, budget_end=9",
            "budget_end: got 9.0, expected a date after budget_start, 9.0",
        ),
        (
            "joules=1, budget_start=9, budget_end=inf",
            "budget_end: got inf, expected a date after budget_start, 9.0",
        ),
        (
            "joules=1, budget_start=inf, budget_end=inf",
            "budget_start: got inf, expected a date from 0 on",
        ),
        (
            "joules=1, budget_start=0, budget_end=9, monitoring=0",
            "monitoring: got 0.0, expected a positive number",
        ),
        (
            "joules=1, budget_start=0, budget_end=9, idle_watts=300",
            "computing_watts: got 203.12, expected more than idle_watts, 300.0",
        ),
        (
            "joules=-1, budget_start=0, budget_end=9",
            "joules: got -1, expected a number of at least 0",
        ),
        (
            "joules=nan, budget_start=0, budget_end=9",
            "joules: got nan, expected a number of at least 0",
        ),
    ],
)
def test_what_is_no_budget_is_refused_in_a_sentence(text, message):
    with pytest.raises(InputError) as refused:
        make_policy(f"energy_budget({text})")
    assert str(refused.value) == f"{WHERE}: {message}"


def test_a_python_policy_refuses_the_same():
    with pytest.raises(InputError, match="budget_end: got 3, expected a date after budget_start"):
        Powercap(joules=1.0, budget_start=5, budget_end=3)
    with pytest.raises(InputError, match="allocation: got 'local', expected first or contiguous"):
        Powercap(joules=1.0, budget_start=5, budget_end=9, allocation="local")


def test_an_infinite_budget_limits_nothing(python):
    window = {"joules": math.inf, "budget_start": 0, "budget_end": 100}
    jobs = [exactly(name, hosts=4) for name in "AB"]
    schedule = a_run("energy_budget", jobs, python=python, **window)
    assert starts(schedule) == {"A": 0, "B": 10}
