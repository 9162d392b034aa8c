"""Two schedules of the same jobs, matched and compared."""

from __future__ import annotations

import math

import pytest
from built_schedules import Row, a_schedule, rejected
from small_runs import job, run

from noctule.differences import differences
from noctule.errors import InputError
from noctule.waits import Cause

ONE = [Row(1, 0, 0, 10, "0-3"), Row(2, 1, 10, 20, "0-3"), Row(3, 2, 20, 25, "0")]
OTHER = [Row(3, 2, 10, 15, "0"), Row(1, 0, 0, 10, "0-3"), Row(2, 1, 15, 25, "0-3")]


def test_jobs_are_matched_by_their_ids():
    found = differences(a_schedule(ONE), a_schedule(OTHER))
    assert len(found) == 3
    assert found.of("start").tolist() == [0, 5, -10]
    assert found.of("wait").tolist() == [0, 5, -10]
    assert found.of("end").tolist() == [0, 5, -10]


def test_the_largest_movers_come_with_what_they_waited_for():
    first, second = differences(a_schedule(ONE), a_schedule(OTHER)).largest()
    assert (first.job_id, first.wait, first.start, first.end) == ("3", -10, -10, -10)
    before, after = first.causes
    assert before == {Cause.BUSY: 10, Cause.PRIORITY: 8}
    assert after == {Cause.BUSY: 8}
    assert second.job_id == "2"


def test_no_more_movers_than_asked_for():
    found = differences(a_schedule(ONE), a_schedule(OTHER))
    assert [mover.job_id for mover in found.largest(1, by="end")] == ["3"]
    with pytest.raises(InputError, match="got 'speed', expected start, wait, end"):
        found.largest(by="speed")


def test_jobs_in_only_one_of_them_are_told():
    found = differences(a_schedule(ONE[:2]), a_schedule([OTHER[0], OTHER[1]]))
    assert found.only_in_one == (("w0", "2"),)
    assert found.only_in_other == (("w0", "3"),)
    assert len(found) == 1


def test_what_one_of_them_never_started_has_no_difference():
    found = differences(a_schedule([rejected(1, 0)]), a_schedule([Row(1, 0, 0, 5, "0")]))
    assert math.isnan(found.of("start")[0])
    assert found.largest() == []


def test_names_of_single_workloads_do_not_matter():
    other = [Row(1, 0, 0, 5, "0", workload="w1")]
    assert len(differences(a_schedule([Row(1, 0, 0, 5, "0")]), a_schedule(other))) == 1


def test_of_several_workloads_names_do():
    rows = [Row(1, 0, 0, 5, "0", workload="u"), Row(1, 0, 1, 6, "1", workload="v")]
    moved = [Row(1, 0, 1, 6, "1", workload="v"), Row(1, 0, 2, 7, "0", workload="u")]
    found = differences(a_schedule(rows), a_schedule(moved))
    assert found.of("start").tolist() == [2, 0]


def test_policies_differ_by_what_they_do_to_jobs():
    jobs = [
        job("a", hosts=3, walltime=10),
        job("b", hosts=4, submit=1, walltime=10),
        job("c", submit=2, walltime=8, runtime=8),
    ]
    found = differences(run("fcfs", jobs), run("easy", jobs))
    # easy lets c run beside a; it was kept from the free host for b's sake
    (mover,) = found.largest()
    assert (mover.job_id, mover.wait) == ("c", -18)
    assert mover.causes[0] == {Cause.BUSY: 10, Cause.KEPT: 8}
    assert mover.causes[1] == {}
