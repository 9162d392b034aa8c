"""Numbers of replays: lateness of a run and of its users, and a window free of edge effects."""

from __future__ import annotations

import math

import numpy as np
import pytest
from built_schedules import Row, rejected
from hypothesis import given
from hypothesis import strategies as st
from replayed_schedules import a_replay
from session_logs import a_log

import noctule as nt
from noctule import metrics
from noctule.metrics import METRICS, REPLAY, Window, steady_window, summary
from noctule.record import JobState
from noctule.user_metrics import COLUMNS, LATENESS_COLUMNS, per_user

DAY = 86_400.0
NAMES = [metric.name for metric in REPLAY]


def four_jobs(recorded=(100.0, 110.0, 120.0, 140.0), users=(1, 1, 2, None)):
    """Make a run in which jobs are late by 0, 4, -2 and 10 s; the second is rejected."""
    rows = [
        Row("A", 100.0, 100.0, 105.0, "0"),
        rejected("B", 114.0),
        Row("C", 118.0, 118.0, 130.0, "0"),
        Row("D", 150.0, 160.0, 170.0, "0"),
    ]
    return a_replay(rows, recorded, users)


def test_lateness_stands_behind_the_other_numbers():
    numbers = summary(four_jobs())
    assert list(numbers) == [metric.name for metric in METRICS] + NAMES
    assert numbers["mean_lateness"] == 3  # (0 + 4 - 2 + 10) / 4
    assert numbers["relative_lateness"] == 1 + 3 / 40
    assert numbers["additional_lateness"] == 2 * 3 / 3
    assert numbers["submission_stretch"] == 50 / 40


def test_runs_that_moved_nothing_have_no_lateness_among_their_numbers():
    schedule = four_jobs(recorded=None)
    assert list(summary(schedule)) == [metric.name for metric in METRICS]
    assert list(per_user(schedule).columns) == list(COLUMNS)
    assert metrics.lateness(schedule).tolist() == [0] * 4


def test_each_job_has_its_lateness():
    assert metrics.lateness(four_jobs()).tolist() == [0, 4, -2, 10]
    assert metrics.lateness(four_jobs(), window=Window(110, 120)).tolist() == [4, -2]


def test_warm_up_and_cool_down_leave_out_jobs_submitted_then():
    # the window is 110 to 145 of 100 to 170: B and C, recorded at 110 and 120
    numbers = summary(four_jobs(), warm_up=10, cool_down=25)
    assert numbers["mean_lateness"] == 1  # (4 - 2) / 2
    assert numbers["relative_lateness"] == 1 + 1 / 10
    assert numbers["submission_stretch"] == 4 / 10


def test_jobs_of_which_the_log_knows_nothing_are_left_out():
    numbers = summary(four_jobs(recorded=(100.0, math.nan, 120.0, 140.0)))
    assert numbers["n_jobs"] == 4
    assert numbers["mean_lateness"] == (0 - 2 + 10) / 3
    assert numbers["additional_lateness"] == 2 * (8 / 3) / 2


def test_one_job_has_a_mean_lateness_and_no_more():
    numbers = summary(a_replay([Row("A", 8.0, 8.0, 9.0, "0")], [5.0]))
    assert numbers["mean_lateness"] == 3
    assert all(math.isnan(numbers[name]) for name in NAMES[1:])


def test_no_job_has_no_lateness():
    numbers = summary(a_replay([], []))
    assert all(math.isnan(numbers[name]) for name in NAMES)


def test_users_have_their_own_lateness():
    table = per_user(four_jobs())
    assert list(table.columns) == [*COLUMNS, *LATENESS_COLUMNS]
    # user 1: 0 and 4 s over a period of 10 s, simulated in 14; user 2 and nobody: one job each
    assert table["mean_lateness"].tolist() == [2, -2, 10]
    assert table.loc[1, "relative_lateness"] == 1.2
    assert table.loc[1, "additional_lateness"] == 4
    assert table.loc[1, "submission_stretch"] == 1.4
    for name in LATENESS_COLUMNS[1:]:
        assert table[name].isna().tolist() == [False, True, True]


def test_a_user_of_whom_the_log_knows_no_job_has_no_lateness():
    table = per_user(four_jobs(recorded=(100.0, 110.0, math.nan, 140.0)))
    assert math.isnan(table.loc[2, "mean_lateness"])
    assert table.loc[2, "n_jobs"] == 1


@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([1, 2, "x", None])),
        min_size=1,
    )
)
def test_the_lateness_of_a_run_is_that_of_its_users(jobs):
    rows = [Row(i, submit, submit, submit + 1.0, "0") for i, (_, submit, _) in enumerate(jobs)]
    recorded, _, users = zip(*jobs, strict=True)
    schedule = a_replay(rows, recorded, users)
    table = per_user(schedule)
    late = summary(schedule)["mean_lateness"]
    assert np.average(table["mean_lateness"], weights=table["n_jobs"]) == pytest.approx(late)
    assert metrics.lateness(schedule).mean() == pytest.approx(late)


# the steady window


def a_hundred_days(late=0.0, *, moved=True):
    """Make a job a day for 101 days, each of 12 h on one host of four, submitted late."""
    rows = [Row(i, i * DAY + late, i * DAY + late, (i + 0.5) * DAY + late, "0") for i in range(101)]
    return a_replay(rows, [i * DAY for i in range(101)] if moved else None)


def test_the_steady_window_goes_from_two_weeks_to_three_quarters_of_the_log():
    window = steady_window(a_hundred_days())
    assert (window.start, window.end) == (14 * DAY, 75 * DAY)


def test_it_is_the_same_for_all_replays_of_a_log():
    assert steady_window(a_hundred_days(late=9 * DAY)) == steady_window(a_hundred_days())


def test_where_nothing_was_moved_the_submissions_are_the_log():
    assert steady_window(a_hundred_days(moved=False)) == Window(14 * DAY, 75 * DAY)


def test_throughput_and_utilisation_of_the_steady_window():
    numbers = summary(a_hundred_days())
    # 61 jobs end in 61 days, half of the time one host of four is in use
    assert numbers["steady_throughput"] == 61 / (61 * DAY)
    assert numbers["steady_utilisation"] == pytest.approx(0.125)


def test_a_window_of_a_length_must_end_before_the_log_does():
    schedule = a_hundred_days()
    assert steady_window(schedule, length=30 * DAY) == Window(14 * DAY, 44 * DAY)
    assert steady_window(schedule, length=86 * DAY).end == 100 * DAY
    assert math.isnan(steady_window(schedule, length=87 * DAY).end)


def test_a_short_log_has_no_steady_window():
    numbers = summary(four_jobs())
    assert math.isnan(numbers["steady_throughput"])
    assert math.isnan(numbers["steady_utilisation"])
    assert math.isnan(steady_window(a_replay([], [])).start)


def test_jobs_that_wait_when_a_run_is_stopped_have_been_submitted():
    rows = [
        Row("A", 0.0, 0.0, 5.0, "0"),
        Row("B", 6.0, state=JobState.WAITING, asked=1),
    ]
    assert summary(a_replay(rows, [0.0, 2.0]))["mean_lateness"] == 2


# in files


@pytest.mark.parametrize("users", [[3, None, 12, 3], ["bo", "a,b", None, '"'], [1, "x", 2, 3]])
def test_csv_files_keep_users_and_recorded_dates_of_replays(users, tmp_path):
    schedule = four_jobs(users=users)
    schedule.save(tmp_path)
    again = nt.Schedule.load(tmp_path)
    texts = [str(user) if user is not None and "x" in users else user for user in users]
    assert again.column("user").tolist() == texts
    assert summary(again) == pytest.approx(summary(schedule), nan_ok=True)
    before = (tmp_path / "jobs.csv").read_bytes()
    again.save(tmp_path)
    assert (tmp_path / "jobs.csv").read_bytes() == before


def test_csv_files_of_other_runs_have_the_columns_of_batsim(tmp_path):
    four_jobs(recorded=None).save(tmp_path)
    header = (tmp_path / "jobs.csv").read_text().partition("\n")[0]
    assert header.endswith(",consumed_energy,metadata")


def test_jobs_in_parquet_are_read_alone(tmp_path):
    pytest.importorskip("pyarrow")
    schedule = four_jobs()
    schedule.save(tmp_path, parquet=True)
    (tmp_path / "host_states.parquet").unlink()
    again = nt.Schedule.from_jobs_parquet(tmp_path / "jobs.parquet")
    assert summary(again) == pytest.approx(summary(schedule), nan_ok=True)
    assert again.platform.n_hosts == 4
    assert (
        again.record.host_state_computing.tolist() == schedule.record.host_state_computing.tolist()
    )


# of real replays


def test_a_replay_tells_its_lateness():
    # in minutes: jobs of 10 on hosts of half the speed end 10 later each, and users think as before
    log = a_log((0, 10, 1), (15, 25, 1), (40, 50, 1), (5, 15, 2))
    platform = nt.Platform.homogeneous(1000, 0.5)
    replay = nt.Feedback(threshold=0)
    schedule = nt.simulate(platform, log, "easy", replay=replay, enforce_walltime=False)
    numbers = summary(schedule)
    # user 1 is late by 0, 10 and 20, user 2 is not
    assert numbers["mean_lateness"] == 30 / 4 * 60
    assert numbers["relative_lateness"] == 1 + 7.5 / 40
    assert numbers["additional_lateness"] == 2 * 450 / 3
    assert numbers["submission_stretch"] == 60 / 40
    assert per_user(schedule)["mean_lateness"].tolist() == [600, 0]


def test_rigid_replay_is_never_late():
    log = a_log((0, 10, 1), (15, 25, 1))
    schedule = nt.simulate(nt.Platform.homogeneous(1000, 0.5), log, "easy", replay="rigid")
    assert metrics.lateness(schedule).tolist() == [0, 0]
    assert "mean_lateness" not in summary(schedule)
