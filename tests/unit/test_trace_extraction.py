"""Stretches of a trace: which are found, and what is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trace_files import a_line, a_trace, column, ids, refusal

from noctule.platform import Platform
from noctule.simulation import simulate
from noctule.testing.builders import a_job, a_workload
from noctule.traces import extract, find_extracts, load_trace
from noctule.traces.extraction import knows_waits
from noctule.workload import Compute, Workload


def ran(job: int, submit: float, wait: float, runtime: float, hosts: int = 1, **fields) -> str:  # type: ignore[no-untyped-def]
    return a_line(
        job,
        submit,
        wait_time=wait,
        run_time=runtime,
        requested_processors=hosts,
        allocated_processors=hosts,
        **{"requested_time": 100, **fields},
    )


@pytest.fixture
def busy() -> Workload:
    # 2 hosts: one held in [0, 30), both in [10, 20), none until 40, both in [40, 60)
    return a_trace(
        ran(1, 0, 0, 30),
        ran(2, 5, 5, 10),
        ran(3, 35, 5, 20, hosts=2),
        ran(4, 60, 0, 0),
        ran(5, 70, 10, 5),
    )


def test_the_busiest_windows_come_first_and_do_not_overlap(busy: Workload) -> None:
    found = find_extracts(busy, 2, length=20, step=5, count=2)

    # [40, 60) is full; of the others [0, 20) is the first that holds 20 + 10 of 40
    assert [(one.start, one.utilisation, one.n_jobs) for one in found] == [
        (0, 0.75, 2),
        (40, 1.0, 0),
    ]


def test_windows_out_of_the_range_are_not_taken(busy: Workload) -> None:
    found = find_extracts(busy, 2, length=20, step=5, least=0.1, most=0.6)

    # [15, 35) holds 15 + 5 of 40, as do [30, 50), which overlaps, and [50, 70); the fuller are out
    assert [(one.start, one.utilisation) for one in found] == [(15, 0.5), (50, 0.5)]


def test_all_windows_are_taken_without_a_count(busy: Workload) -> None:
    found = find_extracts(busy, 2, length=30, step=10)

    # [0, 30), [30, 60) and [40, 70) hold 40 of 60 each; the last of them overlaps
    assert [one.start for one in found] == [0, 30]


def test_load_counts_what_is_submitted(busy: Workload) -> None:
    found = find_extracts(busy, 2, length=35, step=35, measure="load")

    # [0, 35): 30 + 10 of 70; [35, 70): 40 of 70; the job of 0 s counts nothing
    assert [(one.start, one.n_jobs) for one in found] == [(0, 2), (35, 2)]
    assert [one.utilisation for one in found] == pytest.approx([40 / 70, 40 / 70])


def test_an_extract_begins_at_time_0_with_the_jobs_submitted_in_it(busy: Workload) -> None:
    part = extract(busy, 5, 40)

    assert ids(part) == [2, 3]
    assert part.submit_time.tolist() == [0, 30]
    assert column(part, "wait time") == [5, 5]
    assert part.headers["Note"] == "40 s from time 5 on, cut out by noctule"


def test_the_date_of_time_0_moves_with_it() -> None:
    workload = a_trace("; UnixStartTime: 1000", "; EndTime: x", ran(1, 0, 0, 5), ran(2, 50, 0, 5))

    headers = extract(workload, 40, 20).headers

    assert headers["UnixStartTime"] == "1040"
    assert "EndTime" not in headers


def test_jobs_present_at_the_start_may_go_on() -> None:
    lines = [
        ran(1, 0, 0, 100),  # runs from 0 to 100
        ran(2, 1, 9, 60, requested_time=30),  # runs from 10 to 70, longer than requested
        ran(3, 2, 60, 5),  # waits until 62
        ran(4, 3, 5, 10),  # over at 18
        ran(5, 45, 0, 10),
        ran(6, 200, 0, 10),
    ]

    part = extract(a_trace(*lines), 40, 50, at_the_start="continue")

    # by their starts, 1 (60 s of 100 left) and 2 (30 s left), then 3, which waits for 22 s
    assert ids(part) == [1, 2, 3, 5]
    assert part.submit_time.tolist() == [0, 0, 0, 5]
    assert [job.profile for job in part] == [Compute(60), Compute(30), Compute(5), Compute(10)]
    assert part.walltime.tolist() == [60, 30, 100, 100]
    assert column(part, "wait time") == [0, 0, 22, 0]
    assert column(part, "requested time") == [60, 30, 100, 100]


def test_an_extract_that_goes_on_begins_as_full_as_it_was(shared: Path) -> None:
    kth = load_trace(shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz")
    week = find_extracts(kth, 100, least=0.8, count=1)[0]

    full = extract(kth, week.start, week.length, at_the_start="continue")
    empty = extract(kth, week.start, week.length)

    starts = {}
    for name, part in (("full", full), ("empty", empty)):
        schedule = simulate(Platform.homogeneous(100), part, "easy")
        at_once = schedule.column("start_time") == 0
        starts[name] = int(schedule.column("n_hosts")[at_once].sum())
    assert starts["full"] > 80
    assert starts["empty"] < 20


def test_ten_busy_weeks_of_a_real_log(shared: Path) -> None:
    kth = load_trace(shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz")

    weeks = find_extracts(kth, 100, count=10)

    assert len(weeks) == 10
    assert np.diff([week.start for week in weeks]).min() >= 604_800
    assert all(0.78 < week.utilisation < 0.84 for week in weeks)
    assert weeks == find_extracts(kth, 100, count=10)


def test_a_trace_without_waits_knows_load_alone() -> None:
    workload = a_workload(a_job(1), a_job(2, submit=100))

    assert not knows_waits(workload)
    assert refusal(find_extracts, workload, 1, length=10) == (
        "workload w0: no wait time of any job is known, so neither is when jobs started"
    )
    assert len(find_extracts(workload, 1, length=10, step=10, measure="load", least=0.1)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"length": 100},
            "log.swf: length: got 100, "
            "expected at most the 70 s from the first to the last submission",
        ),
        ({"length": 0}, "length: got 0, expected a positive number"),
        ({"step": -1}, "step: got -1, expected a positive number"),
        ({"measure": "heat"}, "measure: got 'heat', expected 'utilisation' or 'load'"),
    ],
)
def test_what_finds_no_window_is_refused(busy: Workload, options, message: str) -> None:  # type: ignore[no-untyped-def]
    assert refusal(find_extracts, busy, 2, **{"length": 10, **options}) == message


def test_what_is_no_extract_is_refused(busy: Workload) -> None:
    assert refusal(extract, busy, 500, 10) == "log.swf: no job in the 10 s from 500 on"
    assert refusal(extract, busy, 0, 0) == "length: got 0, expected a positive number"
    assert refusal(extract, busy, 0, 5, at_the_start="guess") == (
        "at_the_start: got 'guess', expected 'drop' or 'continue'"
    )
    nothing = Workload.from_jobs([])
    assert refusal(find_extracts, nothing, 2) == "workload w0: got no job, expected at least one"


def test_a_step_that_makes_too_many_windows_is_refused() -> None:
    workload = a_trace(ran(1, 0, 0, 5), ran(2, 1e12, 0, 5))

    assert refusal(find_extracts, workload, 2, length=10, step=1) == (
        "log.swf: step: got 1, expected a longer one, for at most 10000000 windows"
    )
