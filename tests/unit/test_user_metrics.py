"""Tables by user: hand-computed rows, and sums that agree with the whole schedule."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected

import noctule as nt
from noctule import metrics
from noctule.record import JobState, PlainJobs
from noctule.user_metrics import COLUMNS, per_user

NIGHT = Path(__file__).parents[2] / "examples" / "night.swf"


def a_schedule_of(users, rows):
    plain = a_schedule(rows)
    (table,) = plain.tables
    with_users = PlainJobs(
        table.name, table.job_ids, table.n_hosts, table.walltime, table.profile_names, users
    )
    return nt.Schedule(plain.platform, [with_users], plain.record)


def test_a_row_a_user():
    schedule = a_schedule_of(
        ["bo", 3, "bo", None, 3],
        [
            Row("A", 0.0, 0.0, 20.0, "0-1"),
            Row("B", 0.0, 10.0, 14.0, "2-3"),
            Row("C", 0.0, 20.0, 20.0, "0"),
            Row("D", 0.0, 5.0, 10.0, "2"),
            rejected("E", 0.0),
        ],
    )
    table = per_user(schedule)
    assert list(table.columns) == list(COLUMNS)
    assert table.index.tolist() == [3, "bo", None]
    assert table.index.name == "user"
    assert table["n_jobs"].tolist() == [2, 2, 1]
    assert table["n_ended"].tolist() == [1, 2, 1]
    # B: 2 x 4; A: 2 x 20 and C: 0; D: 5
    assert table["host_seconds"].tolist() == [8, 40, 5]
    assert table["share"].tolist() == [8 / 53, 40 / 53, 5 / 53]
    assert table["mean_waiting_time"].tolist() == [10, 10, 5]
    assert table["max_waiting_time"].tolist() == [10, 20, 5]
    assert table["mean_turnaround_time"].tolist() == [14, 20, 10]
    # B: 14 / 4; A: 1, C has no runtime; D: 10 / 5
    assert table["mean_slowdown"].tolist() == [3.5, 1, 2]
    # B: 14 / 10; A: 1 and C: 20 / 10; D: 10 / 10
    assert table["mean_bounded_slowdown"].tolist() == [1.4, 1.5, 1]
    assert per_user(schedule, threshold=5.0)["mean_bounded_slowdown"].tolist() == [2.8, 2.5, 2]


def test_a_user_of_whose_jobs_none_ended_has_no_means():
    schedule = a_schedule_of(
        [1, 2], [Row("A", 0.0, 0.0, 5.0, "0"), Row("B", 0.0, state=JobState.WAITING, asked=1)]
    )
    row = per_user(schedule).loc[2]
    assert (row["n_jobs"], row["n_ended"], row["host_seconds"], row["share"]) == (1, 0, 0, 0)
    assert all(math.isnan(row[name]) for name in COLUMNS if "mean" in name or "max" in name)


def test_no_jobs_give_no_rows():
    assert len(per_user(a_schedule([]))) == 0


def test_the_users_together_are_the_schedule():
    workload = nt.load_workload(NIGHT)
    schedule = nt.simulate(nt.Platform.homogeneous(128), workload, "easy")
    table = per_user(schedule)
    assert table["n_jobs"].sum() == len(schedule)
    assert table["share"].sum() == pytest.approx(1)
    weighted = np.average(table["mean_waiting_time"], weights=table["n_ended"])
    assert weighted == pytest.approx(metrics.summary(schedule)["mean_waiting_time"])
    assert table.index.tolist() == sorted(table.index.tolist())
