"""Logs in the Standard Workload Format: reading rules, headers, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.formats.swf import FIELDS, SwfRules, read_swf
from noctule.platform import Platform
from noctule.simulation import simulate
from noctule.workload import Compute, Delay, Dependency, Workload

Load = Callable[..., Workload]

USUAL = {
    "job number": 1,
    "submit time": 0,
    "run time": 10,
    "allocated processors": 4,
    "requested processors": 8,
    "requested time": 60,
}


def a_line(job: int | str = 1, submit: int | str = 0, **fields: Any) -> str:
    """One job line; unnamed fields are unknown, but for those in USUAL."""
    named = {name.replace("_", " "): value for name, value in fields.items()}
    values = {**USUAL, "job number": job, "submit time": submit, **named}
    assert values.keys() <= set(FIELDS)
    return " ".join(str(values.get(name, -1)) for name in FIELDS)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Read lines as the file log.swf."""
    monkeypatch.chdir(tmp_path)

    def loaded(*lines: str, **options: Any) -> Workload:
        Path("log.swf").write_text("\n".join(lines) + "\n")
        return load_workload("log.swf", **options)

    return loaded


def refusal(read: Callable[..., Any], *args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(*args, **options)
    return str(caught.value)


def rules_of(workload: Workload) -> dict[str, int]:
    return {entry.rule: entry.n_jobs for entry in workload.reading}


# Which processors


def test_requested_processors_are_taken_by_default(load: Load) -> None:
    assert load(a_line()).n_hosts.tolist() == [8]


def test_allocated_processors_are_taken_when_asked_for(load: Load) -> None:
    assert load(a_line(), processors="allocated").n_hosts.tolist() == [4]


def test_allocated_processors_stand_in_for_unknown_requested_ones(load: Load) -> None:
    workload = load(
        a_line(1), a_line(2, requested_processors=0), a_line(3, requested_processors=-1)
    )

    assert workload.n_hosts.tolist() == [8, 4, 4]
    assert rules_of(workload)["processors: allocated, as requested are not known"] == 2


def test_requested_processors_stand_in_for_unknown_allocated_ones(load: Load) -> None:
    workload = load(a_line(allocated_processors=-1), processors="allocated")

    assert workload.n_hosts.tolist() == [8]
    assert rules_of(workload)["processors: requested, as allocated are not known"] == 1


def test_job_without_any_number_of_processors_is_dropped(load: Load) -> None:
    unknown = a_line(1, allocated_processors=-1, requested_processors=0)
    none = a_line(2, allocated_processors=0, requested_processors=-1)

    workload = load(unknown, none, a_line(3))

    assert workload.job_ids.tolist() == [3]
    assert rules_of(workload)["dropped: number of processors not known"] == 2


# Which jobs


def test_job_that_never_ran_is_dropped(load: Load) -> None:
    workload = load(a_line(1, run_time=0), a_line(2, run_time=-1), a_line(3, run_time=0.5))

    assert workload.job_ids.tolist() == [3]
    assert rules_of(workload)["dropped: run time not positive"] == 2


def test_dropped_job_is_counted_by_one_rule_only(load: Load) -> None:
    nothing = a_line(1, run_time=0, allocated_processors=-1, requested_processors=-1)

    workload = load(nothing, a_line(2))

    assert rules_of(workload) == {
        "jobs read": 2,
        "dropped: run time not positive": 1,
        "jobs kept": 1,
    }


def test_status_is_ignored_and_reported(load: Load) -> None:
    # 1 is completed, -1 unknown; 0 (failed) and 5 (cancelled) are replayed as if completed
    workload = load(*(a_line(i, status=status) for i, status in enumerate((1, 0, 5, -1))))

    assert len(workload) == 4
    assert rules_of(workload)["status: not completed, replayed like any other"] == 2


def test_log_of_which_no_job_is_left_is_refused(load: Load) -> None:
    assert refusal(load, a_line(run_time=0)) == (
        "log.swf: no job is left to simulate (jobs read: 1; dropped: run time not positive: 1)"
    )


# When


def test_time_begins_at_the_first_submission_that_is_kept(load: Load) -> None:
    workload = load(a_line(1, 50, run_time=0), a_line(2, 100), a_line(3, 130))

    assert workload.submit_time.tolist() == [0, 30]
    assert rules_of(workload)["submit time: 100 s less, so that the first is 0"] == 2


def test_the_date_of_time_0_moves_with_it(load: Load) -> None:
    workload = load("; UnixStartTime: 1000", "; EndTime: later", a_line(1, 100), a_line(2, 130))

    assert workload.headers == {"UnixStartTime": "1100"}
    assert load("; UnixStartTime: 7", a_line(1, 0)).headers == {"UnixStartTime": "7"}


def test_jobs_are_sorted_by_submission_and_ties_keep_their_order(load: Load) -> None:
    workload = load(a_line(7, 5), a_line(3, 5), a_line(9, 0), a_line(1, 5))

    # job 9 moves to the front, which moves 7 and 3; job 1 stays the last
    assert workload.job_ids.tolist() == [9, 7, 3, 1]
    assert rules_of(workload)["order: sorted by submit time"] == 3


# How long


def test_walltime_is_the_requested_time_if_the_job_kept_to_it(load: Load) -> None:
    assert load(a_line(run_time=10, requested_time=60)).walltime.tolist() == [60]


def test_walltime_is_raised_to_the_run_time(load: Load) -> None:
    workload = load(a_line(1, run_time=90, requested_time=60), a_line(2, run_time=60))

    assert workload.walltime.tolist() == [90, 60]
    assert rules_of(workload)["walltime: raised to 1 x run time"] == 1


def test_walltime_factor_multiplies_the_run_time(load: Load) -> None:
    workload = load(a_line(1, run_time=40), a_line(2, run_time=20), walltime_factor=2.5)

    # 2.5 x 40 = 100 > 60; 2.5 x 20 = 50 < 60
    assert workload.walltime.tolist() == [100, 60]
    assert rules_of(workload)["walltime: raised to 2.5 x run time"] == 1


@pytest.mark.parametrize("unknown", [-1, 0])
def test_walltime_without_a_request_is_the_factor_times_the_run_time(
    load: Load, unknown: int
) -> None:
    workload = load(a_line(run_time=40, requested_time=unknown), walltime_factor=2)

    assert workload.walltime.tolist() == [80]
    assert rules_of(workload)["walltime: 2 x run time, as none was requested"] == 1


def test_requests_are_kept_without_a_walltime_factor(load: Load) -> None:
    lines = a_line(1, run_time=90), a_line(2, requested_time=-1), a_line(3, run_time=60)

    workload = load(*lines, walltime_factor=None)

    assert workload.walltime.tolist() == [60, math.inf, 60]
    assert rules_of(workload)["walltime: none, as none was requested"] == 1
    # job 1 is killed at 60; job 3 computes for exactly 60 s, which is allowed
    assert rules_of(workload)["walltime: reached by the run time, so that the job times out"] == 1


def test_delay_as_long_as_its_walltime_is_reported(load: Load) -> None:
    workload = load(a_line(1, run_time=60), a_line(2, run_time=59), profiles="delay")

    assert rules_of(workload)["walltime: reached by the run time, so that the job times out"] == 1


# What a job does


def test_job_computes_its_run_time_at_the_speed_of_the_platform(load: Load) -> None:
    workload = load(a_line(run_time=10))

    assert workload[0].profile == Compute(10.0)
    assert workload.reference_speed is None


def test_a_reference_speed_is_that_of_the_hosts_of_the_log(load: Load) -> None:
    workload = load(a_line(run_time=10, requested_time=60), reference_speed=2e9)
    # 10 s at 2e9 are 2e10 of work: 5 s on hosts twice as fast
    schedule = simulate(Platform.homogeneous(64, speed=4e9), workload, "fcfs")
    assert schedule.column("runtime").tolist() == [5]


def test_delay_profiles_keep_the_run_time(load: Load) -> None:
    assert load(a_line(run_time=10), profiles="delay")[0].profile == Delay(10.0)


def test_preceding_jobs_are_ignored_by_default(load: Load) -> None:
    workload = load(a_line(1), a_line(2, preceding_job=1, think_time=30))

    assert workload[1].dependencies == ()
    assert workload[1].extra["preceding_job"] == 1
    assert rules_of(workload)["dependencies: not asked for, ignored"] == 1


def test_preceding_jobs_become_dependencies_when_asked_for(load: Load) -> None:
    lines = a_line(0), a_line(2, 5, preceding_job=0, think_time=30), a_line(3, 9, preceding_job=2)

    workload = load(*lines, dependencies=True)

    # an unknown think time is none
    assert workload[1].dependencies == (Dependency(0, 30.0),)
    assert workload[2].dependencies == (Dependency(2, 0.0),)
    assert rules_of(workload)["dependencies: submitted after the preceding job"] == 2


def test_dependencies_on_dropped_and_unknown_jobs_are_ignored(load: Load) -> None:
    lines = a_line(1, run_time=0), a_line(2, preceding_job=1), a_line(3, preceding_job=99)

    workload = load(*lines, a_line(4), dependencies=True)

    assert [job.dependencies for job in workload] == [(), (), ()]
    rule = "dependencies: preceding job not kept or not known, ignored"
    assert rules_of(workload)[rule] == 2


def test_job_that_precedes_itself_is_refused(load: Load) -> None:
    message = refusal(load, a_line(1, preceding_job=1), dependencies=True)

    assert message == "log.swf: job 1: depends on itself, in a ring"


# What is kept besides


def test_users_groups_and_queues_are_labels(load: Load) -> None:
    job = load(a_line(user=3, group=0, queue=2))[0]

    assert (job.user, job.group, job.queue) == (3, 0, 2)


def test_label_that_no_job_has_is_left_out(load: Load) -> None:
    workload = load(a_line(1, user=5), a_line(2, user=-1))

    assert workload.label_names == ("user",)
    assert [job.user for job in workload] == [5, None]
    assert workload.labels("user").tolist() == [5, -1]  # type: ignore[union-attr]


def test_other_fields_are_kept_unless_no_job_has_them(load: Load) -> None:
    first = a_line(1, wait_time=7, average_CPU_time=1.5, status=1)

    workload = load(first, a_line(2, wait_time=8))

    usual = {"allocated_processors": 4, "requested_processors": 8, "requested_time": 60}
    assert workload[0].extra == {"wait_time": 7, "average_cpu_time": 1.5, "status": 1, **usual}
    assert workload[1].extra == {"wait_time": 8, "average_cpu_time": -1.0, "status": -1, **usual}


def test_headers_are_kept(load: Load) -> None:
    workload = load(
        "; made up for a test",
        ";",
        "; Computer: IBM SP2",
        ";MaxProcs:100",
        "; Note: one",
        ";       goes on",
        a_line(),
        " ; Note: two",
    )

    assert workload.headers == {
        "": "made up for a test",
        "Computer": "IBM SP2",
        "MaxProcs": "100",
        "Note": "one\ngoes on\ntwo",
    }


def test_headers_tell_the_date_of_the_first_submission(load: Load) -> None:
    headers = ("; UnixStartTime: 1000", "; StartTime: Mon", "; MaxProcs: 4")

    workload = load(*headers, a_line(1, submit=50), a_line(2, submit=80))

    assert workload.submit_time.tolist() == [0, 30]
    assert workload.headers == {"UnixStartTime": "1050", "MaxProcs": "4"}


def test_headers_need_not_be_utf8(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(b"; Installation: Universit\xe4t\n" + a_line().encode())

    assert load_workload(path).headers == {"Installation": "Universität"}


def test_workload_knows_its_name_and_its_file(load: Load) -> None:
    workload = load(a_line(), name="kth")

    assert (workload.name, workload.source) == ("kth", "log.swf")


# What is tolerated


def test_windows_line_ends_blank_lines_and_a_missing_last_newline_are_tolerated() -> None:
    text = f"\r\n; Version: 2\r\n\t\r\n  {a_line(1)} \r\n\r\n{a_line(2)}".encode()

    workload = read_swf(text, SwfRules(), source="log.swf")

    assert workload.job_ids.tolist() == [1, 2]
    assert workload.headers == {"Version": "2"}


def test_utf8_mark_in_front_is_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(b"\xef\xbb\xbf" + a_line().encode())

    assert len(load_workload(path)) == 1


def test_numbers_may_have_decimals_signs_and_exponents(load: Load) -> None:
    workload = load(a_line("1.0", "+0", run_time="1.25e2", requested_time=".5"))

    assert workload[0].profile == Compute(125.0)


def test_long_numbers_are_read_to_the_last_bit(load: Load) -> None:
    workload = load(a_line(run_time="123456789.123456789"))

    assert workload[0].profile == Compute(123456789.123456789)


# What is refused


@pytest.mark.parametrize("field", range(18))
def test_field_that_is_not_a_number_is_named(field: int) -> None:
    numbers = ["1"] * 18
    numbers[field] = "abc"
    text = f"; Version: 2\n\n{' '.join(numbers)}\n".encode()

    message = refusal(read_swf, text, SwfRules(), source="log.swf")

    expected = f"field {field + 1} ({FIELDS[field]}): got 'abc', expected a number"
    assert message == f"log.swf: line 3: {expected}"


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "0x10", "1,5", "--1", "+-1", "1-"])
def test_what_is_not_a_finite_decimal_number_is_refused(load: Load, text: str) -> None:
    message = refusal(load, a_line(run_time=text))

    assert message == f"log.swf: line 1: field 4 (run time): got '{text}', expected a number"


@pytest.mark.parametrize(
    ("line", "found"),
    [("1 2 3 4 5", "5 fields"), ("1", "1 field"), (a_line() + " 7 7", "20 fields")],
)
def test_line_with_another_number_of_fields_is_refused(load: Load, line: str, found: str) -> None:
    assert refusal(load, a_line(), line) == f"log.swf: line 2: got {found}, expected 18"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"submit": -5}, "field 2 (submit time): got -5, expected a number >= 0"),
        ({"job": 1.5}, "field 1 (job number): got 1.5, expected a whole number >= 0"),
        ({"job": -3}, "field 1 (job number): got -3, expected a whole number >= 0"),
        (
            {"requested_processors": 2.5},
            "field 8 (requested processors): got 2.5, expected a whole number up to 2147483647",
        ),
        (
            {"allocated_processors": 2147483648},
            "field 5 (allocated processors): got 2147483648, "
            "expected a whole number up to 2147483647",
        ),
        ({"user": 0.5}, "field 12 (user): got 0.5, expected a whole number"),
        ({"group": 0.5}, "field 13 (group): got 0.5, expected a whole number"),
        ({"queue": 1e300}, "field 15 (queue): got 1e+300, expected a whole number"),
        ({"preceding_job": 0.5}, "field 17 (preceding job): got 0.5, expected a whole number"),
    ],
)
def test_number_that_makes_no_sense_is_refused(
    load: Load, fields: dict[str, Any], message: str
) -> None:
    assert (
        refusal(load, a_line(10), a_line(**{"job": 11, **fields})) == f"log.swf: line 2: {message}"
    )


def test_job_number_used_twice_is_refused(load: Load) -> None:
    lines = a_line(4), a_line(3), a_line(5), a_line(3), a_line(4)

    assert refusal(load, *lines) == (
        "log.swf: line 4: field 1 (job number): got 3, which is the job of line 2"
    )


def test_job_number_used_twice_in_a_row_is_refused(load: Load) -> None:
    message = refusal(load, a_line(1), a_line(1))

    assert message == "log.swf: line 2: field 1 (job number): got 1, which is the job of line 1"


def test_headers_without_jobs_are_refused(load: Load) -> None:
    assert refusal(load, "; Version: 2") == "log.swf: got no job line, expected at least one"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 2 \0 4", "line 1: not a text file: got a NUL byte, expected 18 numbers"),
        (b"\n\x89PNG\x01\x02", "line 2: not a text file: got a control character, "
         "expected 18 numbers"),
        ("naïve".encode(), "line 1: field 1 (job number): got 'na??ve', expected a number"),
        (b"x" * 50, f"line 1: field 1 (job number): got '{'x' * 40}...', expected a number"),
    ],
)  # fmt: skip
def test_binary_file_is_refused(content: bytes, message: str) -> None:
    assert refusal(read_swf, content, SwfRules(), source="log.swf") == f"log.swf: {message}"


# Real logs


def test_kth_sp2_is_read_as_the_papers_read_it(shared: Path) -> None:
    path = shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz"

    workload = load_workload(path, processors="requested", walltime_factor=2)

    # 28 476 lines, of which 8 never ran and one has no processors
    assert len(workload) == 28_467
    assert workload[0].id == 15
    assert workload[0].walltime == 53_940
    assert rules_of(workload)["dropped: number of processors not known"] == 1
    assert workload.headers["MaxProcs"] == "100"
    assert int(workload.n_hosts.max()) == 100


def test_sdsc_sp2_is_read(shared: Path) -> None:
    workload = load_workload(shared / "traces" / "SDSC-SP2-1998-4.2-cln.swf.xz")

    # 59 715 lines, of which 5 681 have no positive run time
    assert len(workload) == 54_034
    assert workload.label_names == ("user", "group", "queue")
    assert workload.headers["Queue"].splitlines()[0] == "0  interactive"


def test_cea_curie_is_read_with_its_allocated_processors(shared: Path) -> None:
    path = shared / "traces" / "CEA-Curie-2011-2.1-cln.swf.xz"

    workload = load_workload(path, processors="allocated")

    # 312 826 lines, of which 17 286 have no positive run time; all others have processors
    assert len(workload) == 295_540
    assert np.all(np.diff(workload.submit_time) >= 0)
    assert rules_of(workload) == {
        "jobs read": 312_826,
        "dropped: run time not positive": 17_286,
        "users: begin with a later job, as their first is dropped": 88,
        "submit time: 31656837 s less, so that the first is 0": 295_540,
        "walltime: raised to 1 x run time": 5_416,
        "status: not completed, replayed like any other": 15_549,
        "jobs kept": 295_540,
    }
