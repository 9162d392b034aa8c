"""Metrics: hand-computed numbers, which jobs they count, and what their documentation says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected

from noctule import Platform, Schedule, load_workload, metrics, simulate, synthetic
from noctule.errors import InputError
from noctule.metrics import METRICS, Window
from noctule.record import JobState


@pytest.fixture
def schedule() -> Schedule:
    """Four hosts; three jobs that ended, one of each kind that did not.

    A: submitted 10, ran [10, 30] on 2 hosts      waiting 0, turnaround 20, slowdown 1
    B: submitted 10, ran [30, 34] on 4 hosts      waiting 20, turnaround 24, slowdown 6
    C: submitted 20, ran [34, 74] on 1 host       waiting 14, turnaround 54, slowdown 1.35
    """
    return a_schedule(
        [
            Row("A", 10.0, 10.0, 30.0, "0-1"),
            Row("B", 10.0, 30.0, 34.0, "0-3", JobState.TIMED_OUT),
            rejected("R", 0.0, n_hosts=9),
            Row("X", 15.0, state=JobState.CANCELLED, asked=1),
            Row("C", 20.0, 34.0, 74.0, "0", JobState.KILLED),
            Row("N", 30.0, 54.0, math.nan, "1-2", JobState.RUNNING),
            Row("W", 40.0, state=JobState.WAITING, asked=1),
        ]
    )


def test_means_are_over_jobs_that_ended(schedule: Schedule) -> None:
    assert metrics.waiting_time(schedule).tolist() == [0.0, 20.0, 14.0]
    assert metrics.turnaround_time(schedule).tolist() == [20.0, 24.0, 54.0]
    assert metrics.slowdown(schedule).tolist() == [1.0, 6.0, 1.35]


def test_bounded_slowdown_takes_short_jobs_for_longer_ones(schedule: Schedule) -> None:
    # B ran for 4 s, taken for 10: 24 / 10; with a threshold of 30, A: max(1, 20 / 30), B: 24 / 30
    assert metrics.bounded_slowdown(schedule).tolist() == [1.0, 2.4, 1.35]
    assert metrics.bounded_slowdown(schedule, threshold=30.0).tolist() == [1.0, 1.0, 1.35]


def test_makespan_goes_from_the_first_submission_to_the_latest_finish(schedule: Schedule) -> None:
    # of ended jobs: the rejected one was submitted at 0
    assert metrics.makespan(schedule) == 64.0


def test_utilisation_counts_what_ran_in_the_window(schedule: Schedule) -> None:
    # window [10, 74]: A 2 x 20, B 4 x 4, C 1 x 40, N, still running, 2 x 20; of 4 x 64
    assert metrics.utilisation(schedule) == 136 / 256
    # window [20, 40]: A 2 x 10, B 4 x 4, C 1 x 6; of 4 x 20
    assert metrics.utilisation(schedule, window=Window(20.0, 40.0)) == 42 / 80


def test_throughput_counts_jobs_that_ended_in_the_window(schedule: Schedule) -> None:
    assert metrics.throughput(schedule) == 3 / 64
    assert metrics.throughput(schedule, window=Window(30.0, 40.0)) == 2 / 10


def test_summary_has_every_metric_in_order_as_plain_numbers(schedule: Schedule) -> None:
    summary = metrics.summary(schedule)
    assert list(summary) == [metric.name for metric in METRICS]
    assert all(type(value) in (int, float) for value in summary.values())


def test_summary_counts_jobs_by_what_became_of_them(schedule: Schedule) -> None:
    summary = metrics.summary(schedule)
    counts = {name: value for name, value in summary.items() if name.startswith("n_")}
    assert counts == {
        "n_jobs": 7,
        "n_ended": 3,
        "n_completed": 1,
        "n_timed_out": 1,
        "n_killed": 1,
        "n_failed": 0,
        "n_rejected": 1,
        "n_cancelled": 1,
        "n_running": 1,
        "n_waiting": 1,
        "n_zero_runtime": 0,
    }


def test_summary_has_mean_median_percentiles_and_maximum(schedule: Schedule) -> None:
    summary = metrics.summary(schedule)
    assert summary["mean_waiting_time"] == 34 / 3
    assert summary["median_waiting_time"] == 14.0
    # between 14 (half) and 20 (whole): 14 + 0.8 x 6, 0.9 x 6, 0.98 x 6
    assert summary["p90_waiting_time"] == pytest.approx(18.8)
    assert summary["p95_waiting_time"] == pytest.approx(19.4)
    assert summary["p99_waiting_time"] == pytest.approx(19.88)
    assert summary["max_waiting_time"] == 20.0
    assert summary["mean_slowdown"] == pytest.approx((1 + 6 + 1.35) / 3)


def test_warm_up_and_cool_down_narrow_the_window(schedule: Schedule) -> None:
    # [10 + 5, 74 - 40] = [15, 34]: X, C, N are submitted in it, A and B end in it
    summary = metrics.summary(schedule, warm_up=5.0, cool_down=40.0)
    assert (summary["n_jobs"], summary["n_ended"], summary["n_cancelled"]) == (3, 1, 1)
    assert summary["mean_waiting_time"] == 14.0
    assert summary["throughput"] == 2 / 19
    assert summary["utilisation"] == (2 * 15 + 4 * 4) / (4 * 19)
    assert summary["makespan"] == 64.0


def test_an_empty_window_has_counts_and_no_numbers(schedule: Schedule) -> None:
    summary = metrics.summary(schedule, warm_up=60.0, cool_down=60.0)
    assert summary["n_jobs"] == 0
    assert math.isnan(summary["mean_waiting_time"])
    assert math.isnan(summary["utilisation"])


def test_without_ended_jobs_there_are_counts_and_no_numbers() -> None:
    summary = metrics.summary(a_schedule([rejected(1, 0.0)]))
    assert (summary["n_jobs"], summary["n_rejected"], summary["n_ended"]) == (1, 1, 0)
    for name in ("makespan", "utilisation", "throughput", "max_slowdown", "mean_waiting_time"):
        assert math.isnan(summary[name])


def test_a_runtime_of_zero_has_no_slowdown_but_a_bounded_one() -> None:
    schedule = a_schedule([Row(1, 0.0, 5.0, 5.0, "0"), Row(2, 0.0, 5.0, 15.0, "1")])
    summary = metrics.summary(schedule)
    assert summary["n_zero_runtime"] == 1
    assert summary["max_slowdown"] == 1.5
    assert metrics.bounded_slowdown(schedule).tolist() == [1.0, 1.5]


def test_sums_are_exact_whatever_the_order() -> None:
    waits = [1e16, 1.0, 1.0, 1e16 + 2]
    rows = [Row(i, 0.0, wait, 3e16, "0") for i, wait in enumerate(waits)]
    forward = metrics.summary(a_schedule(rows))["mean_waiting_time"]
    assert forward == metrics.summary(a_schedule(rows[::-1]))["mean_waiting_time"] == 5e15 + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warm_up": -1.0}, "metrics: warm_up: got -1.0, expected a number >= 0"),
        ({"cool_down": math.nan}, "metrics: cool_down: got nan, expected a number >= 0"),
        ({"threshold": 0.0}, "metrics: threshold: got 0.0, expected a positive number"),
    ],
)
def test_cuts_and_thresholds_must_be_numbers(
    schedule: Schedule, options: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        metrics.summary(schedule, **options)
    assert str(caught.value) == message


def test_compare_sums_up_each_schedule_in_the_same_way(schedule: Schedule) -> None:
    other = a_schedule([Row(1, 0.0, 5.0, 6.0, "0")])
    compared = metrics.compare([("one", schedule), ("two", other)], threshold=30.0)
    assert [name for name, _ in compared] == ["one", "two"]
    assert compared[0][1]["max_bounded_slowdown"] == 1.35
    assert compared[1][1]["mean_waiting_time"] == 5.0


def test_summary_of_a_saved_schedule_is_that_of_the_schedule(
    schedule: Schedule, tmp_path: Path
) -> None:
    schedule.save(tmp_path)
    loaded = metrics.summary(Schedule.load(tmp_path))
    np.testing.assert_array_equal(list(loaded.values()), list(metrics.summary(schedule).values()))


@pytest.mark.parametrize(
    ("policy", "mean", "maximum"),
    [("easy", 6858.3640, 262_194.0), ("fcfs", 390_091.9867, 1_018_341.0)],
)
def test_kth_gives_the_figures_of_an_independent_loop(
    shared: Path, policy: str, mean: float, maximum: float
) -> None:
    log = shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz"
    workload = load_workload(log, processors="allocated", walltime_factor=1)
    summary = metrics.summary(simulate(Platform.homogeneous(100), workload, policy))
    assert summary["n_jobs"] == summary["n_completed"] == 28_467
    assert round(summary["mean_waiting_time"], 4) == mean
    assert summary["max_waiting_time"] == maximum


@pytest.mark.parametrize(
    ("policy", "makespan", "mean", "maximum"),
    [("easy", 332.91, 0.07, 4.07), ("fcfs", 333.10, 4.51, 11.79)],
)
def test_kth_as_the_papers_read_it_gives_their_days(
    shared: Path, policy: str, makespan: float, mean: float, maximum: float
) -> None:
    log = shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz"
    workload = load_workload(log, processors="requested", walltime_factor=2)
    summary = metrics.summary(simulate(Platform.homogeneous(100), workload, policy))
    days = [summary[n] / 86_400 for n in ("makespan", "mean_waiting_time", "max_waiting_time")]
    assert [round(value, 2) for value in days] == [makespan, mean, maximum]


def test_the_summary_is_what_the_plain_functions_give():
    # the summary is worked out in one native pass, the others with NumPy
    platform = Platform.homogeneous(32)
    for seed in range(20):
        workload = synthetic.lublin(50 + seed, seed=seed, n_hosts=40)
        schedule = simulate(platform, workload, "easy", until=20_000.0 * seed)
        for cuts in ({}, {"warm_up": 5000.0}, {"warm_up": 5000.0, "cool_down": 7000.0}):
            window = metrics.window_of(schedule, **cuts)
            summary = metrics.summary(schedule, **cuts)
            families = {
                "waiting_time": metrics.waiting_time(schedule, window=window),
                "turnaround_time": metrics.turnaround_time(schedule, window=window),
                "slowdown": metrics.slowdown(schedule, window=window),
                "bounded_slowdown": metrics.bounded_slowdown(schedule, window=window),
            }
            for name, values in families.items():
                if len(values):
                    assert summary[f"mean_{name}"] == math.fsum(values) / len(values)
                    for share in (90, 95, 99):
                        assert summary[f"p{share}_{name}"] == np.percentile(values, share)
                    assert summary[f"median_{name}"] == np.percentile(values, 50)
                    assert summary[f"max_{name}"] == max(values)
                else:
                    assert math.isnan(summary[f"mean_{name}"])
            for name in ("utilisation", "throughput"):
                value = getattr(metrics, name)(schedule, window=window)
                assert summary[name] == pytest.approx(value, rel=0, abs=0, nan_ok=True)
