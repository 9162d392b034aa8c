"""Builders that hide what does not matter."""

from __future__ import annotations

import math

from noctule.testing import a_job, a_workload, finish_times, run, run_case, start_times, states
from noctule.testing.cases import cases
from noctule.workload import Compute, Dependency


def test_a_job_asks_for_exactly_what_it_needs():
    job = a_job("A", hosts=3, runtime=100)

    assert job.request.n_hosts == 3
    assert job.profile == Compute(100)
    assert job.walltime == 100


def test_a_job_can_ask_for_more_and_follow_others():
    job = a_job("B", runtime=5, walltime=math.inf, after=["A", Dependency("C", 2)])

    assert job.walltime == math.inf
    assert job.dependencies == (Dependency("A"), Dependency("C", 2))


def test_a_workload_holds_the_jobs_in_order_of_submission():
    workload = a_workload(a_job("late", submit=5), a_job("early"), name="mine")

    assert [job.id for job in workload] == ["early", "late"]
    assert workload.name == "mine"


def test_run_starts_jobs_and_tells_their_dates():
    # 4 hosts: A holds 3 until 100, B wants all 4 so waits for 100, C needs 1 for 50
    jobs = [a_job("A", hosts=3, runtime=100), a_job("B", hosts=4), a_job("C", runtime=50)]

    schedule = run("easy", hosts=4, jobs=jobs)

    assert start_times(schedule) == {"A": 0, "C": 0, "B": 100}
    assert finish_times(schedule) == {"A": 100, "C": 50, "B": 110}


def test_run_passes_options_on():
    schedule = run("fcfs", hosts=1, jobs=[a_job("A", runtime=10)], launch_delay=3)

    assert finish_times(schedule) == {"A": 13}


def test_jobs_that_never_start_have_no_dates():
    schedule = run("fcfs", hosts=2, jobs=[a_job("A", hosts=3), a_job("B")])

    assert start_times(schedule) == {"B": 0}
    assert states(schedule) == {"A": "rejected", "B": "completed"}


def test_a_case_runs_with_its_own_policy_or_another():
    case = next(case for case in cases("easy") if case.name == "a short job passes")

    assert start_times(run_case(case)) == case.expected
    assert start_times(run_case(case, "fcfs")) == case.trapped
