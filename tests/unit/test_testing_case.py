"""Conformance cases as data."""

from __future__ import annotations

import json

import pytest

from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.testing import Case, Failure, cases, cases_as_json, families
from noctule.testing.case import rows

CASE = Case(
    name="a case",
    policy="easy",
    hosts=4,
    jobs=rows(("B", 5, 9, 10), ("A", 2, 3, 50, 100)),
    expected={"A": 7},
    trap="a mistake",
    trapped={"A": 2},
    arithmetic="2 + 5 = 7",
)


def test_a_row_without_a_walltime_is_exact():
    assert rows(("A", 1, 2, 30))[0].walltime == 30
    assert rows(("A", 1, 2, 30, 60))[0].walltime == 60


def test_a_case_is_written_as_swf_with_the_expected_waits():
    # A comes first; it waits 7 - 2 = 5 s; B must never start
    assert CASE.to_swf() == (
        "; Note: easy/a case: a mistake\n"
        "; MaxProcs: 4\n"
        "; MaxJobs: 2\n"
        "; Note: field 3 is the expected waiting time\n"
        "1 2 5 50 3 -1 -1 3 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "2 5 -1 10 9 -1 -1 9 10 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    )


def test_swf_of_a_case_is_read_back(tmp_path):
    path = tmp_path / "case.swf"
    path.write_text(CASE.to_swf())

    workload = load_workload(path)

    # time 0 is the first submission, at 2
    assert workload.submit_time.tolist() == [0, 3]
    assert workload.n_hosts.tolist() == [3, 9]
    assert workload.walltime.tolist() == [100, 10]


def test_cases_are_written_as_json():
    read = json.loads(cases_as_json("easy"))

    first = cases("easy")[0]
    assert len(read) == len(cases("easy"))
    assert read[0]["expected"] == first.expected
    assert read[0]["jobs"][0] == {
        "id": "A", "submit_time": 0, "n_hosts": 3, "runtime": 100, "walltime": 100
    }  # fmt: skip


def test_all_cases_are_written_as_json():
    assert len(json.loads(cases_as_json())) == len(cases())


def test_names_of_cases_are_unique():
    names = [str(case) for case in cases()]
    assert len(set(names)) == len(names)


def test_an_unknown_family_is_refused():
    with pytest.raises(InputError) as error:
        cases("eazy")
    assert str(error.value) == (
        "family eazy: unknown; families with cases: conservative, easy, easy(order=sjf), fcfs, "
        "fcfs(order=sjf), filler, replanning"
    )
    assert "easy" in families()


def test_a_failure_says_which_job_and_which_trap():
    failure = Failure(CASE, {"A": 2})

    assert failure.is_trapped
    assert str(failure) == (
        "easy/a case: job A: started at 2, expected started at 7; the trap: a mistake (2 + 5 = 7)"
    )


def test_a_failure_by_another_mistake_says_so():
    failure = Failure(CASE, {"A": 7, "B": 57})

    assert not failure.is_trapped
    assert str(failure) == (
        "easy/a case: job B: started at 57, expected never started; "
        "not quite the trap: a mistake (2 + 5 = 7)"
    )


def test_a_failure_names_the_first_job_that_is_wrong():
    case = Case("n", "easy", 4, rows(("A", 0, 1, 1), ("B", 0, 1, 1)), {"A": 9, "B": 5}, "t", {}, "")

    assert Failure(case, {"A": 8, "B": 4}).job_id == "B"
    assert Failure(case, {"A": 3, "B": 4}).job_id == "A"


def test_a_run_that_breaks_off_is_a_failure_with_its_reason():
    failure = Failure(CASE, {}, "t=3 nothing is left to happen")

    assert not failure.is_trapped
    assert str(failure) == (
        "easy/a case: t=3 nothing is left to happen; the case is about: a mistake"
    )
