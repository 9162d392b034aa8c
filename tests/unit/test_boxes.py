"""Rectangles of time and hosts: where jobs ran, and how full a grid of them is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected
from hypothesis import given
from hypothesis import strategies as st

import noctule as nt
from noctule.boxes import Boxes, boxes_of, occupancy
from noctule.errors import InputError
from noctule.record import JobState


def rectangles(boxes):
    columns = (boxes.left, boxes.right, boxes.bottom, boxes.top, boxes.row)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_job_has_a_box_for_each_run_of_hosts():
    schedule = a_schedule([Row("A", 0.0, 1.0, 5.0, "0-1 3"), rejected("R", 0.0)])
    assert rectangles(boxes_of(schedule, 0.0, 9.0)) == [(1, 5, 0, 2, 0), (1, 5, 3, 4, 0)]


def test_boxes_are_cut_off_at_the_edges_of_the_picture():
    schedule = a_schedule(
        [
            Row("A", 0.0, 0.0, 5.0, "0"),
            Row("B", 0.0, 5.0, 9.0, "0"),
            Row("C", 0.0, 9.0, 12.0, "0"),
            Row("N", 0.0, 4.0, math.nan, "1", JobState.RUNNING),
        ]
    )
    # A ends where the picture begins, C begins where it ends, N still runs
    assert rectangles(boxes_of(schedule, 5.0, 9.0)) == [(5, 9, 0, 1, 1), (5, 9, 1, 2, 3)]


def test_corners_go_round():
    boxes = boxes_of(a_schedule([Row("A", 0.0, 1.0, 5.0, "2-3")]), 0.0, 9.0)
    assert boxes.corners().tolist() == [[[1, 2], [5, 2], [5, 4], [1, 4]]]


def test_a_schedule_without_hosts_is_refused(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "job_id,submission_time,starting_time,finish_time,n_hosts\n1,0,1,2,3\n"
    )
    schedule = nt.Schedule.from_jobs_csv(tmp_path / "jobs.csv", 4)
    with pytest.raises(InputError) as error:
        boxes_of(schedule, 0.0, 9.0)
    assert str(error.value) == (
        "gantt: got a schedule that does not tell hosts, expected their ids"
    )


def test_a_cell_is_as_full_as_the_box_covers_it():
    # Cells of 10 s x 2 hosts. The box covers half of the first host row's first column, all of its
    # second; of the second row one of two hosts.
    schedule = a_schedule([Row("A", 0.0, 5.0, 20.0, "0-2")])
    cells = occupancy(boxes_of(schedule, 0.0, 30.0), np.linspace(0, 30, 4), 4, 2)
    assert cells.tolist() == [[0.5, 1.0, 0.0], [0.25, 0.5, 0.0]]


def test_hosts_that_are_shared_are_full_and_no_more():
    schedule = a_schedule([Row("A", 0.0, 0.0, 10.0, "0"), Row("B", 0.0, 0.0, 10.0, "0")])
    assert occupancy(boxes_of(schedule, 0.0, 10.0), np.array([0.0, 10.0]), 4, 4)[0, 0] == 1


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(0, 9), st.integers(1, 6)),
        max_size=8,
    ),
    st.integers(1, 7),
    st.integers(1, 7),
)
def test_the_grid_agrees_with_counting_small_squares(rows, n_columns, n_rows):
    # ten hosts, sixty seconds, boxes at whole numbers; they may overlap, so the sum is compared
    boxes = Boxes(
        *(
            np.array([row[i] for row in fixed], dtype=float)
            for i, fixed in enumerate([[*map(_corners, rows)]] * 4)
        ),
        np.arange(len(rows)),
    )
    cells = occupancy(boxes, np.linspace(0, 60, n_columns + 1), 10, n_rows)
    fine = np.zeros((10, 60))
    for left, right, bottom, top in map(_corners, rows):
        fine[bottom:top, left:right] += 1
    if fine.max(initial=0) <= 1:
        assert cells.mean() * 600 == pytest.approx(fine.sum(), abs=1e-9)
    if n_columns in (1, 2, 3, 4, 5, 6) and n_rows in (1, 2, 5):
        coarse = fine.reshape(n_rows, 10 // n_rows, n_columns, 60 // n_columns).mean(axis=(1, 3))
        assert cells == pytest.approx(np.minimum(coarse, 1), abs=1e-9)


def _corners(row):
    left, length, bottom, height = row
    return left, min(left + length, 60), bottom, min(bottom + height, 10)
