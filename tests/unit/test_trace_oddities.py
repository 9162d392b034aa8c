"""What is odd about a trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trace_files import a_line

from noctule.formats.swf import read_swf_log, swf_headers
from noctule.testing.builders import a_job, a_workload
from noctule.traces import OddityLimits, RawTrace, find_oddities, load_raw
from noctule.traces.flurries import find_flurries
from noctule.traces.oddities import MISSING, UNUSUAL, WRONG

# Nothing is odd about these: all that is usually known is known.
HEADERS = ["; UnixStartTime: 0", "; MaxProcs: 16"]
FINE = {"wait_time": 5, "user": 1, "status": 1}


def raw(*lines: str) -> RawTrace:
    text = "\n".join(lines).encode()
    log = read_swf_log(text, source="log.swf")
    return RawTrace(log, swf_headers(text), [f"line {line}" for line in log.lines.tolist()])


def fine(job: int = 1, submit: float = 0, **fields) -> str:  # type: ignore[no-untyped-def]
    return a_line(job, submit, **{**FINE, **fields})


def found(*lines: str, **options) -> dict[str, tuple[int, tuple[str, ...]]]:  # type: ignore[no-untyped-def]
    oddities = find_oddities(raw(*HEADERS, *lines), **options)
    return {oddity.name: (oddity.n_jobs, oddity.examples) for oddity in oddities}


def test_a_clean_log_has_nothing_odd() -> None:
    assert found(fine(1), fine(2, 5), fine(3, 100)) == {}


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"submit": -3}, "submit-negative"),
        ({"wait_time": -7}, "wait-negative"),
        ({"run_time": -7, "status": 0}, "run-negative"),
        ({"run_time": 0, "status": 0}, "run-zero"),
        ({"run_time": -1, "status": 0}, "run-unknown"),
        ({"wait_time": -1}, "wait-unknown"),
        ({"requested_time": -1}, "request-unknown"),
        ({"user": -1}, "user-unknown"),
        ({"requested_processors": -1, "allocated_processors": 0}, "size-unknown"),
        ({"requested_processors": 17}, "too-large"),
        ({"allocated_processors": 5}, "over-allocated"),
        ({"average_CPU_time": 10.5}, "cpu-time"),
        ({"requested_time": 9}, "over-request"),
        ({"run_time": 40 * 86_400, "requested_time": 50 * 86_400}, "run-long"),
        ({"queue": 0.5}, "fractions"),
        ({"preceding_job": 99}, "preceding"),
        ({"preceding_job": 1}, "preceding"),
    ],
)
def test_one_odd_number_is_found(fields, name: str) -> None:  # type: ignore[no-untyped-def]
    # line 3 is the first job, behind two headers
    assert found(fine(**{"job": 1, **fields})) == {name: (1, ("line 3",))}


def test_a_job_that_completed_without_running_is_wrong() -> None:
    assert found(fine(1, run_time=0)) == {
        "completed-unrun": (1, ("line 3",)),
        "run-zero": (1, ("line 3",)),
    }


def test_lines_are_compared_with_those_before_them() -> None:
    lines = fine(1, 10), fine(2, 30), fine(3, 20), fine(2, 40), fine(9, 40), fine(10, 35)

    assert found(*lines) == {
        "job-twice": (1, ("line 6",)),
        "same-line": (1, ("line 7",)),
        "submit-order": (2, ("line 5", "line 8")),
    }


def test_a_preceding_job_must_not_come_later() -> None:
    lines = fine(1, 0, preceding_job=2), fine(2, 5, preceding_job=1), fine(3, 9, preceding_job=1)

    assert found(*lines) == {"preceding": (1, ("line 3",))}


def test_a_machine_cannot_hold_more_than_it_has() -> None:
    # 12 of 16 from 5 to 15; the second starts with it, the third when both have ended
    lines = [
        fine(i, submit, requested_processors=12, allocated_processors=12)
        for i, submit in ((1, 0), (2, 0.5), (3, 10.5))
    ]

    assert found(*lines) == {"overfull": (1, ("line 4",))}
    assert found(*lines, n_hosts=24) == {}


def test_a_long_silence_is_unusual() -> None:
    lines = fine(1), fine(2, 15 * 86_400), fine(3, 16 * 86_400)

    assert found(*lines) == {"silence": (1, ("line 4",))}
    assert found(*lines, limits=OddityLimits(silence=20 * 86_400)) == {}


def test_a_burst_of_one_user_is_a_flurry() -> None:
    many = [fine(i, 100 + i, user=7) for i in range(10)]
    others = [fine(20 + i, 200 + 50 * i, user=i) for i in range(10)]
    limits = OddityLimits(flurry_jobs=9, flurry_window=60)

    oddities = find_oddities(raw(*HEADERS, *many, *others), n_hosts=999, limits=limits)

    (flurry,) = oddities
    assert flurry.name == "flurry"
    assert flurry.description == "more than 9 jobs of a user in 60 s, 1 times"
    assert flurry.n_jobs == 10
    assert flurry.examples == (
        "user 7: 10 jobs from 1970-01-01 00:01:40+00:00 to 1970-01-01 00:01:49+00:00",
    )


def test_flurries_that_overlap_are_one_and_those_apart_are_two() -> None:
    submit = np.array([0, 1, 2, 3, 4, 5, 100, 101, 102, 200, 300.0])
    user = np.full(len(submit), 3.0)

    flurries = find_flurries(user, submit, n_jobs=2, window=3)

    # any three jobs within 3 s: 0 to 5 in one stretch, 100 to 102 in another
    assert [(one.start, one.end, len(one.rows)) for one in flurries] == [(0, 5, 6), (100, 102, 3)]
    assert find_flurries(user, submit, n_jobs=3, window=3) == []
    assert find_flurries(-user, submit, n_jobs=2, window=3) == []


def test_headers_may_be_wrong_or_missing() -> None:
    oddities = find_oddities(raw("; MaxRecords: 7", fine()))

    assert [(oddity.name, oddity.kind) for oddity in oddities] == [
        ("header-jobs", WRONG),
        ("header-hosts", MISSING),
        ("header-date", MISSING),
    ]
    assert oddities[0].description == "header MaxRecords tells 7 jobs, there are 1"


def test_examples_are_few() -> None:
    lines = [fine(i, 100 * i, run_time=0, status=0) for i in range(5)]

    assert found(*lines, limits=OddityLimits(n_examples=2)) == {
        "run-zero": (5, ("line 3", "line 4"))
    }


def test_a_workload_can_be_looked_at_too() -> None:
    workload = a_workload(a_job("a", hosts=9, user=1), a_job("b", runtime=20, walltime=10, user=1))

    oddities = find_oddities(RawTrace.of(workload), n_hosts=8)

    assert {oddity.name: oddity.examples for oddity in oddities} == {
        "header-hosts": (),
        "header-date": (),
        "too-large": ("job a",),
        "wait-unknown": ("job a", "job b"),
        "over-request": ("job b",),
    }


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (
            "KTH-SP2-1996-2.1-cln",
            {"completed-unrun": 6, "overfull": 23, "size-unknown": 1, "run-zero": 8}
            | {"over-request": 475, "over-allocated": 219},
        ),
        (
            "SDSC-SP2-1998-4.2-cln",
            {"cpu-time": 3, "overfull": 1088, "run-unknown": 5671, "request-unknown": 66}
            | {"run-zero": 10, "over-request": 4134, "flurry": 588},
        ),
        (
            "CEA-Curie-2011-2.1-cln",
            {"header-jobs": 0, "same-line": 5452, "completed-unrun": 1346, "size-unknown": 19}
            | {"request-unknown": 3, "run-zero": 17_286, "over-request": 5416}
            | {"over-allocated": 19_899, "flurry": 36_731},
        ),
    ],
)
def test_real_logs_are_odd(name: str, counts: dict[str, int], shared: Path) -> None:
    oddities = find_oddities(load_raw(shared / "traces" / f"{name}.swf.xz"))

    assert {oddity.name: oddity.n_jobs for oddity in oddities} == counts
    assert {oddity.kind for oddity in oddities} <= {WRONG, MISSING, UNUSUAL}
