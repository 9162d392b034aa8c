"""Several traces as one."""

from __future__ import annotations

import json
from typing import Any

from trace_files import a_line, a_trace, column, ids, refusal, same_jobs

from noctule.formats.batsim import read_batsim
from noctule.testing.builders import a_job, a_workload
from noctule.traces import merge, select
from noctule.workload import Compute, Delay, Dependency, Workload


def a_batsim(profile: dict[str, Any], **job: Any) -> Workload:
    document = {
        "nb_res": 4,
        "profiles": {"p": profile},
        "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "p", **job}],
    }
    return read_batsim(json.dumps(document).encode(), source="w.json")


def test_jobs_are_in_order_of_submission_under_new_numbers() -> None:
    one = a_trace(a_line(1, 0), a_line(2, 20, preceding_job=1), a_line(3, 30, preceding_job=77))
    two = a_trace(a_line(1, 10), a_line(9, 20))

    merged = merge([one, two])

    assert merged.submit_time.tolist() == [0, 10, 20, 20, 30]
    assert ids(merged) == [1, 2, 3, 4, 5]
    # the second job of the first trace is now job 3; its preceding job is still job 1
    assert column(merged, "preceding job") == [-1, -1, 1, -1, -1]


def test_ids_that_are_unique_already_are_kept() -> None:
    merged = merge([a_trace(a_line(7, 5)), a_trace(a_line(3, 0))])

    assert ids(merged) == [3, 7]


def test_users_are_kept_apart_unless_they_are_joined() -> None:
    one = a_trace(a_line(1, user=0, executable=4), a_line(2, user=5, group=1))
    two = a_trace(a_line(3, user=0, executable=4), a_line(4, user=-1))

    apart, joined = merge([one, two]), merge([one, two], apart=False)

    # users of the second trace come after 0 to 5, its executable after 4
    assert column(apart, "user") == [0, 5, 6, -1]
    assert column(apart, "executable") == [4, -1, 9, -1]
    assert column(apart, "group") == [-1, 1, -1, -1]
    assert column(joined, "user") == [0, 5, 0, -1]
    assert column(joined, "executable") == [4, -1, 4, -1]


def test_names_get_a_number_in_front() -> None:
    one, two = a_workload(a_job("a", user="eve")), a_workload(a_job("b", user="eve"))

    assert [job.user for job in merge([one, two])] == ["1:eve", "2:eve"]
    assert [job.user for job in merge([one, two], apart=False)] == ["eve", "eve"]


def test_numbers_and_names_together_are_names_or_numbers_as_they_are() -> None:
    one, two = a_trace(a_line(1, user=3), a_line(2)), a_workload(a_job("b", user="eve"))
    timed = a_workload(a_job("c"))

    merged = merge([select(one), timed, two][1:], apart=False)

    assert [job.user for job in merged] == [None, "eve"]
    assert ids(merged) == ["c", "b"]


def test_dependencies_follow_their_jobs() -> None:
    one = a_workload(a_job("a"), a_job("b", after=[Dependency("a", 5.0)]))

    merged = merge([one, one])

    assert ids(merged) == [1, 2, 3, 4]
    assert merged[1].dependencies == (Dependency(1, 5.0),)
    assert merged[3].dependencies == (Dependency(3, 5.0),)


def test_traces_can_begin_together_or_at_their_dates() -> None:
    one = a_trace("; UnixStartTime: 1000", "; MaxProcs: 4", a_line(1, 5))
    two = a_trace("; UnixStartTime: 900", "; MaxProcs: 8", a_line(2, 30), a_line(3, 40))

    start, dates = merge([one, two], align="start"), merge([one, two], align="dates")
    recorded = merge([one, two], align="recorded")

    assert dict(zip(ids(start), start.submit_time.tolist(), strict=True)) == {1: 0, 2: 0, 3: 10}
    # time 0 is second 900, so that 1000 + 5 is 105
    assert dict(zip(ids(dates), dates.submit_time.tolist(), strict=True)) == {2: 30, 3: 40, 1: 105}
    assert dates.headers == {"UnixStartTime": "900", "Note": "2 traces merged by noctule"}
    assert ids(recorded) == [1, 2, 3]
    assert start.headers == {"Note": "2 traces merged by noctule"}


def test_parts_of_one_trace_are_put_together_again() -> None:
    whole = a_trace(
        "; UnixStartTime: 7", "; MaxRecords: 3", a_line(1), a_line(2, 10, status=1), a_line(3, 20)
    )

    merged = merge([select(whole, end=5), select(whole, start=5)], apart=False)

    assert same_jobs(merged, whole)
    assert merged.headers["UnixStartTime"] == "7"


def test_different_profiles_of_one_name_are_renamed() -> None:
    nap, work = {"type": "delay", "delay": 5}, {"type": "parallel_homogeneous", "cpu": 7, "com": 0}

    merged = merge([a_batsim(nap), a_batsim(work, extra=1), a_batsim(nap)])

    assert [job.profile for job in merged] == [Delay(5), Compute(7), Delay(5)]
    assert [job.profile_name for job in merged] == ["p", "2:p", "p"]
    assert merged.raw_profiles == {"p": nap, "2:p": work}
    assert [job.extra for job in merged] == [{}, {"extra": 1}, {}]


def test_one_trace_is_itself() -> None:
    workload = a_trace(a_line(5, 3, user=2))

    assert same_jobs(merge([workload]), workload)


def test_what_cannot_be_merged_is_refused() -> None:
    log, dated = a_trace(a_line(1)), a_trace("; UnixStartTime: 1", a_line(2))

    assert refusal(merge, []) == "merge: got no workload, expected at least one"
    assert refusal(merge, [dated, log]) == (
        "merge: the traces begin at different dates (UnixStartTime), "
        "expected align: recorded, start or dates"
    )
    assert refusal(merge, [log], align="left") == (
        "align: got 'left', expected recorded, start, dates"
    )
    assert refusal(merge, [dated, log], align="dates") == (
        "log.swf: no header UnixStartTime, expected one in every trace that is put at its dates"
    )
    assert refusal(merge, [log, a_workload(a_job(2))]) == (
        "merge: reference_speed: got 1.0 and None, expected the same in all workloads"
    )


def test_executables_that_cannot_be_counted_on_are_refused() -> None:
    workload = a_trace(a_line(1, executable=1e300))

    assert refusal(merge, [workload, workload]) == (
        "log.swf: executable: got 1e+300, "
        "expected at most 9007199254740992, so that they can be kept apart"
    )
    assert len(merge([workload, workload], apart=False)) == 2
