"""Schedules written as logs."""

from __future__ import annotations

import math

from built_schedules import Row, a_schedule, rejected
from trace_files import a_line, a_trace

from noctule.formats.schedule_swf import schedule_swf_text
from noctule.formats.swf import FIELDS, SwfRules, read_swf, read_swf_log
from noctule.platform import Platform
from noctule.record import JobState
from noctule.schedule import Schedule
from noctule.simulation import simulate
from noctule.testing.builders import a_job, run


def rows_of(schedule: Schedule) -> list[dict[str, float]]:
    text = "".join(schedule_swf_text(schedule))
    log = read_swf_log(text.encode(), source="out.swf")
    return [dict(zip(FIELDS, cells, strict=True)) for cells in log.cells.tolist()]


def test_a_run_is_written_by_submission_with_waits_and_processors() -> None:
    # 4 hosts: 1 holds 3 until 100, 2 wants 4 and waits, 3 ends before and passes
    schedule = run(
        "easy",
        jobs=[
            a_job(1, hosts=3, runtime=100, user=7),
            a_job(2, hosts=4, submit=1, runtime=10, walltime=20),
            a_job(3, submit=2, runtime=50),
        ],
    )

    rows = rows_of(schedule)

    names = ("job number", "submit time", "wait time", "run time", "allocated processors")
    assert [[row[name] for name in names] for row in rows] == [
        [1, 0, 0, 100, 3],
        [2, 1, 99, 10, 4],
        [3, 2, 0, 50, 1],
    ]
    assert [row["requested time"] for row in rows] == [100, 20, 50]
    assert [row["status"] for row in rows] == [1, 1, 1]
    assert [row["user"] for row in rows] == [7, -1, -1]


def test_what_became_of_a_job_is_its_status() -> None:
    states = [
        Row(1, 0, 0, 5, "0", JobState.COMPLETED),
        Row(2, 0, 0, 5, "1", JobState.FAILED),
        Row(3, 0, 0, 5, "2", JobState.TIMED_OUT),
        Row(4, 0, 0, 5, "3", JobState.KILLED),
        rejected(5, 0, 9),
        Row(6, 0, state=JobState.CANCELLED, asked=1),
        Row(7, 0, 0, math.nan, "0", JobState.RUNNING),
        Row(8, 0, state=JobState.WAITING, asked=1),
    ]

    rows = rows_of(a_schedule(states))

    assert [row["status"] for row in rows] == [1, 0, 0, 5, 5, 5, -1, -1]
    assert [row["run time"] for row in rows] == [5, 5, 5, 5, -1, -1, -1, -1]
    assert [row["wait time"] for row in rows] == [0, 0, 0, 0, -1, -1, 0, -1]
    assert [row["allocated processors"] for row in rows] == [1, 1, 1, 1, -1, -1, 1, -1]
    assert rows[4]["requested processors"] == 9


def test_headers_tell_the_machine_and_the_counts() -> None:
    schedule = run("fcfs", hosts=6, jobs=[a_job(1), a_job(2)])

    text = "".join(schedule_swf_text(schedule))

    headers = read_swf(text.encode(), SwfRules(), source="out.swf").headers
    assert headers["Computer"] == "simulated, 6 hosts"
    assert (headers["MaxProcs"], headers["MaxJobs"]) == ("6", "2")
    assert headers["Conversion"].startswith("noctule ")


def test_what_a_log_says_of_its_jobs_is_written_again() -> None:
    line = a_line(5, executable=3, partition=2, group=8, queue=1, preceding_job=4, wait_time=99)
    workload = a_trace(line, rules=SwfRules())

    row = rows_of(simulate(Platform.homogeneous(4), workload, "fcfs"))[0]

    assert (row["executable"], row["partition"], row["group"], row["queue"]) == (3, 2, 8, 1)
    assert row["preceding job"] == 4
    assert row["wait time"] == 0


def test_ids_that_are_text_or_not_unique_are_numbered_by_submission() -> None:
    schedule = run("fcfs", jobs=[a_job("b", submit=1, user="x"), a_job("a", user="y")])

    assert [row["job number"] for row in rows_of(schedule)] == [1, 2]
    assert [row["user"] for row in rows_of(schedule)] == [1, 2]

    twice = [Row(1, 0, 0, 1, "0"), Row(1, 2, 2, 3, "0", workload="w1")]
    assert [row["job number"] for row in rows_of(a_schedule(twice))] == [1, 2]
