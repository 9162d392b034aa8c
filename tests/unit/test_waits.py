"""Why jobs waited, from schedules built or simulated by hand: what each moment is judged to be."""

from __future__ import annotations

import math

import numpy as np
import power_runs
import pytest
from built_schedules import Row, a_schedule, rejected
from small_runs import job, run

from noctule import HostSet, Schedule
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.record import JobState
from noctule.waits import Cause, Waits, explain, wait_intervals, wait_totals
from noctule.windows import Maintenance, Reservation, Windows


def told(schedule: Schedule, job_id: int | str, **known) -> list[tuple]:
    """Return (begin, end, cause, jobs) of a job, after checking it against the totals of all."""
    waits = Waits(schedule, **known)
    found = waits.explain(job_id)
    row = waits.row(job_id)
    of_all = wait_totals(schedule, **known).of_row(row)
    assert of_all == {cause: seconds for cause, seconds in found.totals().items() if seconds}
    dates = [found.submit, *(one.end for one in found.intervals)]
    assert dates[:-1] == [one.begin for one in found.intervals]
    assert found.end_of_wait == dates[-1]
    return [(one.begin, one.end, one.cause, one.jobs) for one in found.intervals]


def test_a_job_that_starts_at_once_waited_for_nothing():
    schedule = a_schedule([Row("a", 3, 3, 9, "0-3")])
    assert told(schedule, "a") == []
    assert explain(schedule, "a").wait == 0


def test_the_first_in_line_waits_for_hosts_and_the_next_for_the_first():
    schedule = run(
        "fcfs", [job("a", hosts=3), job("b", hosts=2, submit=1), job("c", hosts=3, submit=2)]
    )
    assert told(schedule, "b") == [(1, 10, Cause.BUSY, ("a",))]
    # c is behind b until 10, and then itself the first
    assert told(schedule, "c") == [
        (2, 10, Cause.PRIORITY, ("b",)),
        (10, 20, Cause.BUSY, ("b",)),
    ]


def test_hosts_may_be_free_and_kept_for_the_job_ahead():
    jobs = [
        job("a", hosts=3, walltime=10),
        job("b", hosts=4, submit=1, walltime=10),
        job("c", submit=2, walltime=20),
    ]
    schedule = run("easy", jobs)
    # one host is free until 10, but c would delay b; then b has all of them
    assert told(schedule, "c") == [
        (2, 10, Cause.KEPT, ("b",)),
        (10, 20, Cause.BUSY, ("b",)),
    ]


def test_whoever_is_overtaken_was_not_surely_ahead():
    rows = [
        Row("a", 0, 0, 10, "0-2"),
        Row("d", 0, 0, 30, "3"),
        Row("b", 1, 30, 40, "0-3"),
        Row("c", 2, 10, 20, "0-1"),
    ]
    assert told(a_schedule(rows), "c") == [(2, 10, Cause.BUSY, ("a", "d"))]


def test_free_hosts_may_be_kept_for_a_job_that_is_overtaken_in_the_end():
    rows = [
        Row("a", 0, 0, 10, "0-1"),
        Row("b", 1, 20, 30, "0-3"),
        Row("c", 2, 10, 20, "0-1"),
    ]
    assert told(a_schedule(rows), "c") == [(2, 10, Cause.KEPT, ("b",))]


def test_free_hosts_may_be_kept_for_a_job_that_came_later_and_starts_first():
    rows = [
        Row("a", 0, 0, 10, "0-1"),
        Row("old", 1, 20, 30, "0-1"),
        Row("new", 4, 10, 20, "0-3"),
    ]
    # until new comes, nothing is known against old
    assert told(a_schedule(rows), "old") == [
        (1, 4, Cause.UNKNOWN, ()),
        (4, 10, Cause.KEPT, ("new",)),
        (10, 20, Cause.BUSY, ("new",)),
    ]


def test_a_job_alone_with_enough_hosts_waits_for_a_pass():
    rows = [Row("a", 0, 0, 10, "0-3"), Row("b", 2, 30, 40, "0")]
    assert told(a_schedule(rows), "b") == [
        (2, 10, Cause.BUSY, ("a",)),
        (10, 30, Cause.TIMING, ()),
    ]


def test_that_it_was_a_pass_is_not_claimed_while_others_wait_on():
    rows = [Row("a", 0, 5, 40, "0"), Row("b", 2, 30, 40, "1")]
    assert told(a_schedule(rows), "a") == [(0, 5, Cause.UNKNOWN, ())]


def test_free_hosts_that_do_not_lie_side_by_side_are_fragments():
    rows = [
        Row("a", 0, 0, 10, "0"),
        Row("b", 0, 0, 20, "2"),
        Row("c", 1, 10, 30, "0-1"),
    ]
    assert told(a_schedule(rows, n_hosts=4), "c") == [(1, 10, Cause.FRAGMENTED, ())]
    scattered = [*rows, Row("d", 40, 40, 50, "0 2")]
    assert told(a_schedule(scattered, n_hosts=4), "c") == [(1, 10, Cause.TIMING, ())]


WINDOWS = Windows(
    [
        Maintenance(HostSet("0-1"), 20, 30, name="repair"),
        Reservation(HostSet("2-3"), 5, 15, jobs=["r"], name="course"),
    ]
)


def test_windows_keep_hosts_from_jobs_that_would_run_into_them():
    jobs = [job("a"), job("r", hosts=2, walltime=5, runtime=5)]
    schedule = run("easy", jobs, windows=WINDOWS)
    # a has no walltime: until 15 each host is closed to it by one window or the other
    assert told(schedule, "a", windows=WINDOWS) == [(0, 15, Cause.RESERVATION, ())]
    found = explain(schedule, "a", windows=WINDOWS)
    assert found.intervals[0].detail == "repair, course"
    assert told(schedule, "r", windows=WINDOWS) == [(0, 5, Cause.RESERVATION, ())]
    assert explain(schedule, "r", windows=WINDOWS).intervals[0].detail == "course"


def test_many_windows_that_are_known_early_are_told_one_by_one():
    repairs = [(100 * i, 100 * i + 50) for i in range(1, 31)]
    windows = Windows([Maintenance(HostSet("0-3"), *dates, announced=0) for dates in repairs])
    # a has no walltime, so it starts after the last; all sets of windows are too many to look at
    schedule = run("easy", [job("a")], windows=windows)
    begins = [0, *(end for _, end in repairs)]
    expected = []
    for begin, (start, end) in zip(begins, repairs, strict=False):
        expected += [(begin, start, Cause.RESERVATION, ()), (start, end, Cause.DOWN, ())]
    assert told(schedule, "a", windows=windows) == expected


def test_of_windows_that_are_not_told_nothing_is_known():
    schedule = run("easy", [job("a"), job("r", submit=5, walltime=5, runtime=5)], windows=WINDOWS)
    assert told(schedule, "a") == [(0, 15, Cause.TIMING, ())]


def test_jobs_of_a_reservation_wait_for_each_other_in_it():
    jobs = [job(name, hosts=2, walltime=5, runtime=5) for name in ("r", "s")]
    windows = Windows([Reservation(HostSet("2-3"), 5, 15, jobs=["r", "s"], name="course")])
    schedule = run("easy", jobs, windows=windows)
    assert told(schedule, "s", windows=windows) == [
        (0, 5, Cause.RESERVATION, ()),
        (5, 10, Cause.BUSY, ("r",)),
    ]


def test_a_job_for_a_reservation_is_not_ahead_of_others():
    jobs = [
        job("r", walltime=5, runtime=5),
        job("a", hosts=4, submit=1, walltime=10),
        job("b", hosts=4, submit=2, walltime=10),
    ]
    windows = Windows([Reservation(HostSet("3"), 40, 50, jobs=["r"], name="course")])
    schedule = run("easy", jobs, windows=windows)
    assert told(schedule, "b", windows=windows) == [(2, 11, Cause.BUSY, ("a",))]


def test_hosts_may_have_to_be_switched_on():
    schedule = power_runs.night_and_day()
    assert told(schedule, "B") == [(50, 60, Cause.SWITCHING, ())]


def test_hosts_may_be_out_of_order():
    events = ExternalEvents.from_events(
        [
            ExternalEvent(5, "unavailable", HostSet("0-1")),
            ExternalEvent(25, "available", HostSet("0-1")),
        ]
    )
    schedule = run("fcfs", [job("a", hosts=3, submit=6), job("b", hosts=2)], external_events=events)
    assert told(schedule, "a") == [(6, 25, Cause.DOWN, ())]


def test_a_job_that_still_waits_is_explained_to_the_end_of_the_run():
    schedule = run("fcfs", [job("a", hosts=3, runtime=50), job("b", hosts=2, submit=1)], until=12)
    assert told(schedule, "b") == [(1, 12, Cause.BUSY, ("a",))]
    assert explain(schedule, "b").start is None


def test_a_cancelled_job_is_explained_until_its_user_gave_up(tmp_path):
    schedule = run("fcfs", [job("a", hosts=3), job("b", hosts=2, submit=1, cancel=4)])
    assert told(schedule, "b") == [(1, 4, Cause.BUSY, ("a",))]
    schedule.save(tmp_path)
    waits = Waits(Schedule.load(tmp_path))
    row = waits.row("b")
    assert waits.explain_row(row).intervals == ()
    assert list(waits.notes([row])) == [
        "job b was cancelled, and when it left the queue is not recorded"
    ]


def test_a_rejected_job_has_no_wait_and_is_ahead_of_nobody():
    rows = [rejected("r", 0, 9), Row("a", 0, 0, 10, "0-3"), Row("b", 2, 10, 12, "0")]
    assert told(a_schedule(rows), "r") == []
    assert told(a_schedule(rows), "b") == [(2, 10, Cause.BUSY, ("a",))]


def test_what_a_submission_waited_for_is_told_apart():
    schedule = run("fcfs", [job("a", hosts=4), job("b", hosts=4, after={"a": 2})])
    (before,) = explain(schedule, "b").before
    assert (before.begin, before.end, before.cause, before.jobs) == (
        0,
        12,
        Cause.DEPENDENCY,
        ("a",),
    )
    assert explain(schedule, "b").wait == 0


def test_attempts_are_jobs_with_waits_of_their_own():
    rows = [
        Row("a", 0, 0, 5, "0-3", state=JobState.FAILED),
        Row("a#2", 5, 9, 19, "0-3"),
        Row("a#3", 19, 19, 20, "0-3"),
        Row("b", 1, 5, 9, "0-3"),
    ]
    schedule = a_schedule(rows)
    waits = Waits(schedule)
    assert [waits.name(row) for row in waits.attempts("a")] == ["a", "a#2", "a#3"]
    assert told(schedule, "a#2") == [(5, 9, Cause.BUSY, ("b",))]


def test_jobs_without_hosts_to_hold_are_explained_too():
    rows = [Row("a", 0, 0, 10, "0-3"), Row("b", 1, 4, 6, "", asked=0)]
    assert told(a_schedule(rows), "b") == [(1, 4, Cause.TIMING, ())]


def test_ids_of_several_workloads_need_their_names():
    rows = [Row(1, 0, 0, 5, "0", workload="u"), Row(1, 0, 0, 5, "1", workload="v")]
    schedule = a_schedule(rows)
    assert explain(schedule, "v!1").job_id == "v!1"
    with pytest.raises(
        InputError, match=r"job '1': several workloads have, expected one of u!1, v!1"
    ):
        explain(schedule, 1)
    with pytest.raises(InputError, match=r"job '2': there is no such job"):
        explain(schedule, 2)


def test_totals_have_a_row_for_every_job_of_the_schedule():
    rows = [Row("a", 0, 0, 10, "0-3"), rejected("r", 1), Row("b", 2, 10, 12, "0")]
    totals = wait_totals(a_schedule(rows))
    assert totals.seconds.shape == (3, len(totals.causes))
    assert totals.of(Cause.BUSY).tolist() == [0, 0, 8]


def test_an_empty_schedule_has_no_waits():
    assert wait_totals(a_schedule([])).seconds.shape[0] == 0


def test_dates_that_no_double_can_tell_apart_do_not_break_sums():
    far = 2.0**52
    rows = [Row("a", far, far, far + 10, "0-3"), Row("b", far + 1, far + 10, far + 12, "0")]
    found = told(a_schedule(rows), "b")
    assert math.fsum(end - begin for begin, end, *_ in found) == 9
    assert np.isfinite(wait_totals(a_schedule(rows)).seconds).all()


def test_late_dates_of_a_file_are_as_good_as_those_of_the_run(tmp_path):
    # Batsim's file of host states would have 1234567 as 1.23457e+06
    late = 1_234_567
    jobs = [job("a", hosts=3, submit=late), job("b", hosts=3, submit=late + 1)]
    schedule = run("fcfs", jobs)
    schedule.save(tmp_path)
    expected = [(late + 1, late + 10, Cause.BUSY, ("a",))]
    assert told(schedule, "b") == told(Schedule.load(tmp_path), "b") == expected


def test_intervals_of_all_jobs_are_those_of_each():
    jobs = [job(str(i), hosts=1 + i % 4, submit=i, walltime=20) for i in range(30)]
    schedule = run("easy", jobs)
    waits = Waits(schedule)
    found = wait_intervals(schedule)
    for row in range(len(schedule)):
        mine = np.flatnonzero(found.row == row)
        told = [(found.begin[i], found.end[i], found.causes[found.cause[i]]) for i in mine]
        expected = waits.explain_row(row).intervals
        assert told == [(one.begin, one.end, one.cause) for one in expected]
    assert wait_intervals(schedule, most=5) is None
    assert wait_intervals(schedule, most=len(found.row)) is not None
    assert wait_intervals(schedule, most=len(found.row) - 1) is None


def test_an_empty_schedule_has_no_intervals():
    assert len(wait_intervals(a_schedule([])).row) == 0
