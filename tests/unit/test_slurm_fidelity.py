"""Deviations of a simulated schedule from a real one, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from slurm_sets import EPOCH, write_set

from noctule.slurm.truth.fidelity import Means, SimulatedStart, deviation, means, spread, true_means
from noctule.slurm.truth.sets import read_truth


@pytest.fixture
def jobs(tmp_path):
    """Waits 3, 37, 24; run times 35, 20, 19 in whole seconds."""
    return read_truth(write_set(tmp_path)).jobs


def starts(*dates: tuple[float, float, str]) -> list[SimulatedStart]:
    return [
        SimulatedStart(i, EPOCH + start, EPOCH + end, nodes)
        for i, (start, end, nodes) in enumerate(dates, start=1)
    ]


AS_IT_WAS = ((5.5, 40.6, "n[1-3]"), (43.7, 63.8, "n[1-2]"), (31.25, 50.35, "n4"))


def test_means_are_of_whole_seconds_and_slowdowns_are_not_bounded():
    # 0.9 -> 2.1 -> 2.9 is submitted at 0, starts and ends at 2: response 2, run time at least 1
    assert means([(0.9, 2.1, 2.9), (10.0, 10.5, 14.0)]) == Means(
        wait=(2 + 0) / 2, response=(2 + 4) / 2, slowdown=(2 / 1 + 4 / 4) / 2
    )


def test_the_means_of_a_set_are_those_of_its_rows(jobs):
    found = true_means(jobs)
    assert found.wait == pytest.approx((3 + 37 + 24) / 3)
    assert found.response == pytest.approx((38 + 57 + 43) / 3)
    assert found.slowdown == pytest.approx((38 / 35 + 57 / 20 + 43 / 19) / 3)


def test_the_same_schedule_deviates_by_nothing(jobs):
    found = deviation(jobs, starts(*AS_IT_WAS))
    assert found.relative == Means(0, 0, 0)
    assert (found.n_exact_starts, found.n_close_starts, found.n_exact_nodes) == (3, 3, 3)
    assert found.start_error == 0


def test_run_times_are_given_in_whole_seconds_whatever_the_fractions_of_the_starts(jobs):
    # all start in the same seconds as they did; the second job ends in the second before
    earlier = starts((5.3, 40.4, "n[1-3]"), (43.5, 62.9, "n[1-2]"), (31.05, 50.15, "n4"))
    assert deviation(jobs, earlier).relative == Means(0, 0, 0)


def test_the_end_of_a_job_at_its_limit_is_the_models(jobs):
    limited = [replace(jobs[0], state="TIMEOUT"), *jobs[1:]]
    # job 1 runs for 65 s, not 35: responses 68, 57 and 43
    found = deviation(limited, starts((5.5, 70.6, "n[1-3]"), *AS_IT_WAS[1:]))
    assert found.means.wait == pytest.approx((3 + 37 + 24) / 3)
    assert found.means.response == pytest.approx((68 + 57 + 43) / 3)
    assert found.means.slowdown == pytest.approx((68 / 65 + 57 / 20 + 43 / 19) / 3)


def test_errors_that_cancel_in_the_mean_do_not_in_the_sum(jobs):
    # job 1 starts 8 s later, job 2 as much earlier, on other nodes: means as before, 16 s of 64
    shifted = starts((13.5, 48.6, "n[1-3]"), (35.7, 55.8, "n[3-4]"), AS_IT_WAS[2])
    found = deviation(jobs, shifted)
    assert found.relative.wait == 0
    assert (found.n_exact_starts, found.n_close_starts, found.n_exact_nodes) == (1, 1, 2)
    assert found.start_error == pytest.approx(16 / 64)


def test_starts_within_three_seconds_are_counted_apart(jobs):
    late = starts(AS_IT_WAS[0], (46.7, 66.8, "n[1-2]"), (35.25, 54.35, "n4"))
    found = deviation(jobs, late)
    assert (found.n_exact_starts, found.n_close_starts) == (1, 2)


def test_node_lists_are_sets_however_they_are_written(jobs):
    found = deviation(jobs, starts((5.5, 40.6, "n3,n[1-2]"), *AS_IT_WAS[1:]))
    assert found.n_exact_nodes == 3


def test_an_ensemble_has_a_mean_a_spread_and_the_truths_distance_in_it(jobs):
    # waits 64, 67 and 76 in all against 64: relative 0, 3/64 and 12/64; their mean is 5/64
    second = starts((8.5, 43.6, "n[1-3]"), *AS_IT_WAS[1:])
    third = starts((17.5, 52.6, "n[1-3]"), *AS_IT_WAS[1:])
    found = spread(jobs, [starts(*AS_IT_WAS), second, third])
    sd = math.sqrt(((0 - 5) ** 2 + (3 - 5) ** 2 + (12 - 5) ** 2) / 2) / 64
    assert found.means.wait == pytest.approx(5 / 64)
    assert found.deviation.wait == pytest.approx(sd)
    assert found.distance.wait == pytest.approx(5 / 64 / sd)
    assert found.start_error == pytest.approx((0 + 3 + 12) / 3 / 64)


def test_one_run_has_no_spread(jobs):
    found = spread(jobs, [starts((8.5, 43.6, "n[1-3]"), *AS_IT_WAS[1:])])
    assert math.isnan(found.deviation.wait)
    assert math.isnan(found.distance.wait)


def test_waits_of_nothing_have_no_spread(jobs):
    at_once = [replace(job, start=job.submit) for job in jobs]
    late = [starts((8.5, 43.6, "n[1-3]"), *AS_IT_WAS[1:]), starts(*AS_IT_WAS)]
    assert math.isnan(spread(at_once, late).deviation.wait)
