"""Parts of a trace, and what stays with them."""

from __future__ import annotations

import pytest
from trace_files import a_line, a_trace, column, ids, refusal, same_jobs

from noctule.formats.headers import date_at, hosts_told, moved, zone_told
from noctule.formats.swf import SwfRules
from noctule.testing.builders import a_job, a_workload
from noctule.traces import from_zero, select
from noctule.traces.quantities import duration_of, ids_in, positions_in, range_of, time_of
from noctule.workload import Dependency, Workload

# KTH's headers: time 0 is 14:00:31 in Stockholm, summer time
KTH = ["; UnixStartTime: 843480031", "; TimeZoneString: Europe/Stockholm"]


@pytest.fixture
def five() -> Workload:
    return a_trace(
        "; MaxRecords: 5",
        "; EndTime: some day",
        a_line(10, 0, user=1, group=1, queue=0),
        a_line(11, 10, user=2, group=1, queue=0),
        a_line(12, 20, user=1, group=2, queue=1),
        a_line(13, 30, user=3, group=2, run_time=0),
        a_line(14, 40, user=-1),
    )


def test_dates_select_from_the_first_second_to_before_the_last(five: Workload) -> None:
    assert ids(select(five, start=10, end=30)) == [11, 12]
    assert ids(select(five, start=10.5)) == [12, 13, 14]
    assert ids(select(five, end=10)) == [10]


def test_jobs_in_time_are_those_whose_runtime_is_below_their_walltime() -> None:
    trace = a_trace(
        *(
            a_line(10 + i, i, run_time=time, requested_time=60)
            for i, time in enumerate((59, 60, 61))
        )
    )
    assert ids(select(trace, in_time=True)) == [10]
    assert ids(select(trace, in_time=True, exclude=True)) == [11, 12]


def test_dates_and_recorded_numbers_stay(five: Workload) -> None:
    chosen = select(five, start=10, end=40)

    assert chosen.submit_time.tolist() == [10, 20, 30]
    assert column(chosen, "run time") == [10, 10, 0]
    assert chosen.headers == {"MaxRecords": "3", "Note": "3 of 5 jobs, chosen by noctule"}


def test_positions_are_those_of_python(five: Workload) -> None:
    assert ids(select(five, positions=slice(1, 3))) == [11, 12]
    assert ids(select(five, positions=slice(-2, None))) == [13, 14]


def test_ids_and_labels_are_compared_as_text(five: Workload) -> None:
    assert ids(select(five, jobs=["12", 10, 99])) == [10, 12]
    assert ids(select(five, users=["1", 3])) == [10, 12, 13]
    assert ids(select(five, groups=[2])) == [12, 13]
    assert ids(select(five, queues=[0])) == [10, 11]


def test_all_that_is_asked_must_hold_unless_it_is_excluded(five: Workload) -> None:
    assert ids(select(five, users=[1], start=5)) == [12]
    assert ids(select(five, users=[1], start=5, exclude=True)) == [10, 11, 13, 14]
    assert ids(select(five, ran=True)) == [10, 11, 12, 14]


def test_nothing_asked_is_all(five: Workload) -> None:
    assert same_jobs(select(five), five)
    assert select(five).headers == five.headers


def test_names_select_too() -> None:
    workload = a_workload(a_job("a", user="eve"), a_job("b", user=None), a_job("c", user="bob"))

    assert ids(select(workload, users=["eve", "None"])) == ["a"]


def test_dependencies_on_jobs_left_out_are_dropped() -> None:
    workload = a_workload(a_job(1), a_job(2), a_job(3, after=[1, Dependency(2, 5.0)]))

    chosen = select(workload, jobs=[2, 3])

    assert chosen[1].dependencies == (Dependency(2, 5.0),)
    assert select(workload, jobs=[3])[0].dependencies == ()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"jobs": [99]}, "log.swf: none of the 5 jobs is chosen"),
        ({"start": 5, "end": 5}, "log.swf: end: got 5, expected more than the start, 5"),
    ],
)
def test_what_selects_nothing_is_refused(five: Workload, asked, message: str) -> None:  # type: ignore[no-untyped-def]
    assert refusal(select, five, **asked) == message


def test_a_label_that_nobody_knows_cannot_select() -> None:
    assert refusal(select, a_trace(a_line()), users=[1]) == "log.swf: no user of any job is known"


def test_time_begins_at_the_first_submission_and_the_headers_follow() -> None:
    workload = a_trace(*KTH, "; StartTime: Mon Sep 23", a_line(1, 100), a_line(2, 130))

    shifted = from_zero(workload)

    assert shifted.submit_time.tolist() == [0, 30]
    assert shifted.headers == {
        "UnixStartTime": "843480131",
        "TimeZoneString": "Europe/Stockholm",
    }
    assert from_zero(shifted) is shifted


def test_users_give_up_as_long_after_their_submission_as_before() -> None:
    workload = a_workload(a_job(1, submit=50, cancel_time=60), a_job(2, submit=55))

    assert [job.cancel_time for job in from_zero(workload)] == [10, float("inf")]


def test_time_cannot_begin_after_the_first_submission() -> None:
    message = refusal(from_zero, a_trace(a_line(1, 5)), time=6)

    assert message == (
        "log.swf: time: got 6, expected a number that is not after the first submission"
    )


# What people write


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5h", 5400), ("7d", 604800), ("2w", 1209600), ("30m", 1800), (".5s", 0.5)],
)
def test_durations_have_units(text: str, seconds: float) -> None:
    assert duration_of(text, where="--length") == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "7y", "d", "1e3", "nan"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    assert refusal(duration_of, text, where="--length") == (
        f"--length: got {text!r}, expected a positive duration such as 3600 or 7d"
    )


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("12.5", 12.5),
        ("1996-09-23T14:00:31", 0),  # in the time zone of the log, in summer
        ("1996-09-23 12:00:31Z", 0),
        # midnight in winter is 23:00 UTC of the day before, 851 382 000 s after 1970
        ("1996-12-24", 851_382_000 - 843_480_031),
    ],
)
def test_times_are_seconds_or_dates_of_the_log(text: str, time: float) -> None:
    headers = a_trace(*KTH, a_line()).headers

    assert time_of(text, headers, where="--from") == time


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nan", "--from: got 'nan', expected seconds or a date"),
        ("soon", "--from: got 'soon', expected seconds or a date such as 1996-10-01T12:00"),
        (
            "1996-10-01",
            "--from: got the date '1996-10-01', expected seconds: "
            "no header UnixStartTime tells which date time 0 is",
        ),
    ],
)
def test_what_is_no_time_is_refused(text: str, message: str) -> None:
    assert refusal(time_of, text, {}, where="--from") == message


def test_ids_are_lists_and_ranges() -> None:
    assert ids_in(["3,7-9", "eve, x-y"], where="--jobs") == ["3", "7", "8", "9", "eve", "x-y"]
    assert refusal(ids_in, ["3,,4"], where="--jobs") == (
        "--jobs: got an empty item, expected such as 3,7-20"
    )
    assert refusal(ids_in, ["9-7"], where="--jobs") == (
        "--jobs: got 9-7, expected the smaller number first"
    )
    assert refusal(ids_in, ["0-999999999"], where="--jobs") == (
        "--jobs: got 0-999999999, expected a shorter range"
    )


def test_positions_and_ranges_have_a_colon() -> None:
    assert positions_in("1:20", where="-p") == slice(1, 20)
    assert positions_in("-5:", where="-p") == slice(-5, None)
    assert refusal(positions_in, "5", where="-p") == (
        "-p: got '5', expected such as 100:200 or :1000"
    )
    assert range_of("0.8:", where="-u") == (0.8, float("inf"))
    assert range_of(":0.5", where="-u") == (0, 0.5)
    for text in ("0.8", "a:b", "1:0", "-1:2", "nan:"):
        assert refusal(range_of, text, where="-u") == (
            f"-u: got {text!r}, expected such as 0.8:0.95 or 0.8:"
        )


# What headers tell


def test_a_time_zone_is_told_by_name_or_as_seconds_or_is_utc() -> None:
    assert zone_told({"TimeZoneString": "Europe/Paris"})[1] == "Europe/Paris"
    assert zone_told({"TimeZoneString": "Moon/Base", "TimeZone": "3600"})[1] == "UTC+01:00"
    assert zone_told({"TimeZoneString": "../etc/passwd"})[1] == "UTC"
    assert zone_told({"TimeZone": "999999"})[1] == "UTC"
    assert zone_told({})[1] == "UTC"


def test_dates_that_no_calendar_has_are_not_told() -> None:
    assert date_at({"UnixStartTime": "0"}, 0) == "1970-01-01 00:00:00+00:00"
    assert date_at({"UnixStartTime": "0"}, 1e18) is None
    assert date_at({"UnixStartTime": "soon"}, 0) is None
    assert moved({"UnixStartTime": "10"}, 0.5) == {"UnixStartTime": "10.5"}
    assert hosts_told({"MaxProcs": "0", "nb_res": 7}) == 7


def test_a_selection_of_a_batsim_workload_keeps_what_the_file_said() -> None:
    workload = a_workload(a_job(1, user="eve"), a_job(2, after=[1]), a_job(3, after=[2, 1]))

    chosen = select(workload, jobs=[2, 3])

    assert [job.profile_name for job in chosen] == ["compute:10", "compute:10"]
    assert chosen[1].dependencies == (Dependency(2, 0.0),)


def test_preceding_jobs_stay_as_they_were_recorded() -> None:
    rules = SwfRules(dependencies=True)
    workload = a_trace(a_line(1), a_line(2, 1, preceding_job=1, think_time=3), rules=rules)

    assert column(select(workload, jobs=[2]), "preceding job") == [1]
