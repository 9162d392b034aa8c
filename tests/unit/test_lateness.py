"""Lateness: how far submissions moved."""

from __future__ import annotations

import math

import pytest
from trace_files import refusal

from noctule.lateness import (
    additional_lateness,
    lateness,
    lateness_by_user,
    mean_lateness,
    relative_lateness,
    submission_stretch,
    summed_up,
)

# four jobs, submitted 0, 10, 20 and 40 s after the first: lateness 0, 4, -2, 10
RECORDED = [100, 110, 120, 140]
SIMULATED = [100, 114, 118, 150]


def test_lateness_is_the_simulated_less_the_recorded_submission():
    assert lateness(RECORDED, SIMULATED).tolist() == [0, 4, -2, 10]


def test_mean_lateness_is_in_seconds():
    assert mean_lateness(RECORDED, SIMULATED) == 3  # (0 + 4 - 2 + 10) / 4


def test_relative_lateness_is_1_plus_the_part_of_the_recorded_period():
    assert relative_lateness(RECORDED, SIMULATED) == 1 + 3 / 40


def test_additional_lateness_is_what_each_further_job_adds():
    assert additional_lateness(RECORDED, SIMULATED) == 2 * 3 / (4 - 1)


def test_a_constant_addition_is_the_additional_lateness():
    # job i is late by 7 i
    recorded = [10 * i for i in range(6)]
    assert additional_lateness(recorded, [17 * i for i in range(6)]) == 7


def test_the_stretch_compares_the_lengths_of_the_submission_periods():
    assert submission_stretch(RECORDED, SIMULATED) == 50 / 40


def test_the_order_of_the_jobs_does_not_matter():
    backwards = summed_up(RECORDED[::-1], SIMULATED[::-1])
    assert backwards == summed_up(RECORDED, SIMULATED)


def test_jobs_that_were_never_submitted_are_left_out():
    # without the last: lateness 0, 4, -2 over a period of 20 s
    numbers = summed_up(RECORDED, [100, 114, 118, math.nan])
    assert (numbers.n_jobs, numbers.mean_lateness) == (3, 2 / 3)
    assert numbers.relative_lateness == 1 + 2 / 3 / 20
    assert lateness([0, 1], [5, math.nan])[0] == 5


def test_one_job_has_a_mean_and_nothing_else():
    numbers = summed_up([5], [8])
    assert (numbers.n_jobs, numbers.mean_lateness) == (1, 3)
    assert math.isnan(numbers.relative_lateness)
    assert math.isnan(numbers.additional_lateness)
    assert math.isnan(numbers.submission_stretch)


def test_no_job_has_nothing():
    assert summed_up([5], [math.nan]).n_jobs == 0
    assert math.isnan(mean_lateness([], []))


def test_users_have_numbers_of_their_own():
    # user 0 has the first and the last job, user 2 one, nobody one
    by_user = lateness_by_user([0, 2, -1, 0], RECORDED, SIMULATED)
    assert list(by_user) == [-1, 0, 2]
    assert by_user[0] == summed_up([100, 140], [100, 150])
    assert by_user[0].mean_lateness == 5
    assert by_user[-1].mean_lateness == -2


def test_sums_are_exact():
    recorded = [1e15, 0.1, 0.2]
    assert mean_lateness(recorded, [1e15, 0.1, 0.5]) == pytest.approx(0.1, rel=1e-12)


def test_dates_that_do_not_belong_together_are_refused():
    assert (
        refusal(lateness, [1, 2], [1]) == "simulated: got 1 dates, expected one of each of 2 jobs"
    )
    assert refusal(summed_up, [math.nan], [1]) == (
        "recorded: got a date that is none, expected one of every job"
    )
    assert refusal(lateness_by_user, [0], [1, 2], [1, 2]) == "users: got 1 values, expected 2"
