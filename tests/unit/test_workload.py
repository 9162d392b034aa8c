"""Workloads made of columns and of Job objects: order, checks, what a Job gives back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from noctule.errors import InputError
from noctule.workload import (
    KIND_DELAY,
    Columns,
    Compute,
    Delay,
    Dependency,
    Job,
    JobId,
    Profile,
    ReadingRule,
    Request,
    UnsupportedProfile,
    Workload,
)


def a_job(
    job_id: JobId = 1,
    submit: float = 0.0,
    n_hosts: int = 1,
    profile: Profile | None = None,
    **more: Any,
) -> Job:
    return Job(job_id, submit, Request(n_hosts), profile or Delay(10.0), **more)


def columns(**changed: Any) -> Columns:
    """Three jobs, submitted at 5, 0 and 5."""
    usual: dict[str, Any] = {
        "job_ids": np.array([1, 2, 3]),
        "submit_time": [5.0, 0.0, 5.0],
        "n_hosts": [1, 2, 3],
        "amount": [10.0, 20.0, 30.0],
    }
    return Columns(**{**usual, **changed})


def refusal(make: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        make(*args, **options)
    return str(caught.value)


# Order and contents


def test_columns_are_sorted_together_and_ties_keep_their_order() -> None:
    workload = Workload(
        columns(),
        labels={"user": ["ada", "bob", "eve"]},
        profile_names=["a", "b", "c"],
        extra={"status": np.array([7, 8, 9])},
    )

    assert workload.job_ids.tolist() == [2, 1, 3]
    assert workload.submit_time.tolist() == [0, 5, 5]
    assert workload.n_hosts.tolist() == [2, 1, 3]
    assert [job.user for job in workload] == ["bob", "ada", "eve"]
    assert [job.profile_name for job in workload] == ["b", "a", "c"]
    assert [job.extra for job in workload] == [{"status": 8}, {"status": 7}, {"status": 9}]


def test_ties_keep_their_order_in_a_long_workload() -> None:
    # long enough for sorting methods that mix ties up
    submit = [float(i * i % 3) for i in range(1000)]

    workload = Workload(Columns(np.arange(1000), submit, [1] * 1000, [1.0] * 1000))

    assert workload.job_ids.tolist() == sorted(range(1000), key=lambda i: submit[i])


def test_dependencies_follow_their_jobs_when_columns_are_sorted() -> None:
    workload = Workload(columns(), dependencies={0: [Dependency(2, 4.0)]})

    assert [job.dependencies for job in workload] == [(), (Dependency(2, 4.0),), ()]


def test_columns_have_usual_values() -> None:
    job = Workload(columns())[0]

    assert job == Job(
        id=2,
        submit_time=0.0,
        request=Request(2),
        profile=Compute(20.0),
        profile_name="compute:20.0",
    )


def test_jobs_come_back_as_they_were_given() -> None:
    first = a_job(1, 0.0, 2, Compute(5.0, return_code=3), walltime=60.0, profile_name="p")
    second = a_job(
        2,
        1.0,
        1,
        Delay(4.0),
        dependencies=(Dependency(1, 2.0),),
        cancel_time=50.0,
        launch_delay=1.0,
        epilogue_delay=2.0,
        user="ada",
        group=0,
        queue="fast",
        profile_name="q",
        extra={"team": "blue"},
    )

    assert list(Workload.from_jobs([second, first])) == [first, second]


@pytest.mark.parametrize("field", ["cancel_time", "launch_delay", "epilogue_delay"])
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_time_that_all_jobs_have_is_kept(field: str, value: float) -> None:
    jobs = [replace(a_job(i), **{field: value}) for i in (1, 2)]  # type: ignore[arg-type]

    workload = Workload.from_jobs(jobs)

    assert [getattr(job, field) for job in workload] == [value, value]


def test_workload_made_of_the_jobs_of_another_is_equal() -> None:
    profile = Compute(12.0, spread=True)
    one = Workload.from_jobs([a_job(i, 0.0, i, profile, profile_name="tot") for i in (1, 2, 3)])

    other = Workload.from_jobs(one)

    # 12 / 1, 12 / 2, 12 / 3 on each host
    assert [job.profile for job in other] == [Compute(12.0), Compute(6.0), Compute(4.0)]
    assert list(other) == list(one)


def test_jobs_are_reached_by_position_from_both_ends() -> None:
    workload = Workload(columns())

    assert (workload[0].id, workload[-1].id, workload[-3].id) == (2, 3, 2)
    with pytest.raises(IndexError, match=r"^workload w0: job 3 of 3$"):
        workload[3]
    with pytest.raises(IndexError, match=r"^workload w0: job -4 of 3$"):
        workload[-4]


def test_empty_workload_is_one() -> None:
    workload = Workload.from_jobs([])

    assert (len(workload), list(workload), workload.unsupported()) == (0, [], [])


def test_workload_says_what_it_is() -> None:
    assert repr(Workload(columns(), name="kth")) == "<Workload kth: 3 jobs>"


def test_reading_rule_is_a_line_of_a_report() -> None:
    assert str(ReadingRule("jobs read", 3)) == "jobs read: 3"


# Ids


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([1, 2], [1, 2]),
        (["1", "-2", 0], [1, -2, 0]),
        (["1", "b"], ["1", "b"]),
        ([1, "b"], ["1", "b"]),
        (["01", "2"], ["01", "2"]),
        ([2**63, 1], [str(2**63), "1"]),
        ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
    ],
)
def test_ids_are_numbers_only_if_all_of_them_can_be(given: list[JobId], kept: list[JobId]) -> None:
    workload = Workload.from_jobs([a_job(job_id) for job_id in given])

    assert [job.id for job in workload] == kept


def test_dependency_finds_its_job_whether_its_id_is_text_or_number() -> None:
    workload = Workload.from_jobs([a_job(1), a_job(2, dependencies=(Dependency("1"),))])

    assert workload[1].dependencies == (Dependency(1, 0.0),)


@pytest.mark.parametrize("ids", [[4, 3, 4], [3, 3], ["a", "b", "a"]])
def test_duplicate_ids_are_refused(ids: list[JobId]) -> None:
    message = refusal(Workload.from_jobs, [a_job(job_id) for job_id in ids])

    assert message == f"workload w0: duplicate job id {ids[0]}"


# Labels


def test_unknown_label_of_an_integer_column_is_none() -> None:
    workload = Workload(columns(), labels={"user": np.array([4, -1, 0])})

    assert [job.user for job in workload] == [None, 4, 0]
    assert [job.group for job in workload] == [None, None, None]
    assert workload.label_names == ("user",)


def test_label_that_no_job_has_is_not_a_column() -> None:
    workload = Workload.from_jobs([a_job(1, queue="q"), a_job(2)])

    assert workload.labels("queue") == ["q", None]
    assert workload.labels("user") is None


# Profiles


def test_return_codes_belong_to_the_profile() -> None:
    jobs = [a_job(1, profile=Delay(1.0)), a_job(2, profile=Delay(1.0, return_code=7))]

    workload = Workload.from_jobs(jobs)

    assert [job.profile for job in workload] == [Delay(1.0), Delay(1.0, 7)]
    assert [job.profile_name for job in workload] == ["delay:1.0", "delay:1.0:ret=7"]


def test_only_jobs_with_a_return_code_are_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("noctule.workload._core.JobTable", lambda _, **arrays: given.update(arrays))

    Workload.from_jobs([a_job(1), a_job(2, profile=Compute(1.0, return_code=7))])

    assert given["failing"].tolist() == [0, 1]


def test_failing_column_makes_a_return_code() -> None:
    workload = Workload(columns(failing=[1, 0, 0], kind=[KIND_DELAY] * 3))

    assert [job.profile for job in workload] == [Delay(20.0), Delay(10.0, 1), Delay(30.0)]


def test_unsupported_profiles_are_told_apart() -> None:
    one, other = UnsupportedProfile("smpi", {"trace": "a"}), UnsupportedProfile("smpi", {})

    workload = Workload.from_jobs([a_job(1, profile=one), a_job(2, profile=other), a_job(3)])

    assert [job.profile for job in workload] == [one, other, Delay(10.0)]
    assert workload.unsupported() == [(1, "smpi"), (2, "smpi")]


@pytest.mark.parametrize(
    "other", [Compute(10.0), Delay(10.0, return_code=1), UnsupportedProfile("smpi", {})], ids=str
)
def test_one_name_for_two_profiles_is_refused(other: Profile) -> None:
    jobs = [a_job(1, profile_name="p"), a_job(2, profile=other, profile_name="p")]

    message = refusal(Workload.from_jobs, jobs)

    assert message == "workload w0: job 2: profile 'p' is not that of the jobs before it"


# Refusals


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"submit_time": [0, -1, 0]}, "job 2: submit_time: got -1, expected a number >= 0"),
        ({"submit_time": [0, math.nan, 0]}, "job 2: submit_time: got nan, expected a number >= 0"),
        ({"submit_time": [0, math.inf, 0]}, "job 2: submit_time: got inf, expected a number >= 0"),
        (
            {"n_hosts": [1, 0, 1]},
            "job 2: n_hosts: got 0, expected a whole number from 1 to 2147483647",
        ),
        (
            {"n_hosts": [1, 1.5, 1]},
            "job 2: n_hosts: got 1.5, expected a whole number from 1 to 2147483647",
        ),
        (
            {"n_hosts": [1, 2**31, 1]},
            "job 2: n_hosts: got 2147483648, expected a whole number from 1 to 2147483647",
        ),
        ({"amount": [1, -2, 1]}, "job 2: runtime: got -2, expected a number >= 0"),
        ({"amount": [1, math.inf, 1]}, "job 2: runtime: got inf, expected a number >= 0"),
        ({"walltime": [1, 0, 1]}, "job 2: walltime: got 0, expected a positive number"),
        ({"walltime": [1, math.nan, 1]}, "job 2: walltime: got nan, expected a positive number"),
        ({"cancel_time": [1, -1, 1]}, "job 2: cancel_time: got -1, expected a number >= 0"),
        ({"launch_delay": [1, -1, 1]}, "job 2: launch_delay: got -1, expected a number >= 0"),
        (
            {"epilogue_delay": [1, math.inf, 1]},
            "job 2: epilogue_delay: got inf, expected a number >= 0",
        ),
        ({"amount": [1, 2]}, "amount: got 2 values, expected 3"),
        ({"kind": [0, 0]}, "kind: got 2 values, expected 3"),
        (
            {"amount": [1, "x", 2]},
            "amount: expected numbers (could not convert string to float: 'x')",
        ),
    ],
)
def test_bad_column_is_refused(changed: dict[str, Any], message: str) -> None:
    assert refusal(Workload, columns(**changed)) == f"workload w0: {message}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": {"user": ["ada"]}}, "user: got 1 values, expected 3"),
        ({"profile_names": ["p"] * 4}, "profile_names: got 4 values, expected 3"),
        ({"extra": [{}]}, "extra: got 1 values, expected 3"),
        ({"extra": {"status": np.array([1])}}, "status: got 1 values, expected 3"),
        ({"reference_speed": 0.0}, "reference_speed: got 0, expected a positive number"),
        ({"reference_speed": math.inf}, "reference_speed: got inf, expected a positive number"),
        ({"dependencies": {0: [Dependency(9)]}}, "job 1: depends on job 9, which is unknown"),
        (
            {"dependencies": {0: [Dependency(2, -1.0)]}},
            "job 1: think time of job 2: got -1, expected a number >= 0",
        ),
        ({"dependencies": {0: [Dependency(1)]}}, "job 1: depends on itself, in a ring"),
    ],
)
def test_bad_option_is_refused(options: dict[str, Any], message: str) -> None:
    assert refusal(Workload, columns(), **options) == f"workload w0: {message}"


@pytest.mark.parametrize("name", ["", "a!b"])
def test_bad_name_is_refused(name: str) -> None:
    message = refusal(Workload, columns(), name=name)

    assert message == f"workload {name}: name: got {name!r}, expected a name without '!'"


def test_message_names_the_file_that_a_workload_came_from() -> None:
    message = refusal(Workload, columns(amount=[-1, 0, 0]), source="kth.swf")

    assert message == "kth.swf: job 1: runtime: got -1, expected a number >= 0"
