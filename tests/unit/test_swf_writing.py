"""Workloads written as logs: what is recorded is written again, what is lost is told."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from trace_files import a_line, a_trace, column, refusal, written

from noctule.compression import read_bytes
from noctule.formats import load_workload
from noctule.formats.saving import save_workload
from noctule.formats.swf import SwfRules, read_swf, read_swf_log
from noctule.formats.swf_writing import lost_in_swf
from noctule.testing.builders import a_job
from noctule.traces import load_trace
from noctule.workload import (
    Compute,
    Delay,
    Dependency,
    Job,
    Request,
    UnsupportedProfile,
    Workload,
)

LOGS = (
    "KTH-SP2-1996-2.1-cln",
    "SDSC-SP2-1998-4.2-cln",
    pytest.param("CEA-Curie-2011-2.1-cln", marks=pytest.mark.slow),
)


def body(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(";")]


def test_a_log_is_written_as_it_was_recorded() -> None:
    lines = [
        a_line(7, 5, wait_time=3, average_CPU_time=2.5, used_memory=9, status=1, user=3, group=4),
        a_line(8, 5, run_time=0, allocated_processors=-1, requested_processors=0, status=5),
        a_line(9, 6, run_time=-1, requested_time=0, executable=2, queue=0, partition=1),
        a_line(10, 7, run_time=90, preceding_job=7, think_time=2, requested_memory=6),
    ]

    assert body(written(a_trace(*lines))) == lines


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log_is_written_as_it_was_recorded(name: str, shared: Path, tmp_path: Path) -> None:
    source = shared / "traces" / f"{name}.swf.xz"

    save_workload(load_trace(source), tmp_path / "log.swf")

    before = read_swf_log(read_bytes(source), source=name)
    after = read_swf_log((tmp_path / "log.swf").read_bytes(), source=name)
    assert np.array_equal(before.cells, after.cells)
    counts = {"MaxJobs": "", "MaxRecords": ""}
    headers = [load_workload(path).headers for path in (source, tmp_path / "log.swf")]
    assert {**headers[0], **counts} == {**headers[1], **counts}


def test_what_is_read_by_other_rules_is_what_is_written() -> None:
    line = a_line(run_time=90, requested_time=60, requested_processors=4, allocated_processors=8)
    rules = SwfRules("allocated", walltime_factor=2)

    workload = a_trace(line, rules=rules)

    # the walltime was raised to 2 x 90; either number of processors is the size by some rule
    assert column(workload, "requested time") == [180]
    assert column(workload, "requested processors") == [4]
    assert column(workload, "allocated processors") == [8]
    again = read_swf(written(workload).encode(), rules, source="again")
    assert again[0].walltime == 180
    assert again.n_hosts.tolist() == [8]


def test_sizes_that_were_never_recorded_are_written_twice() -> None:
    workload = Workload.from_jobs([a_job(1, hosts=3, runtime=2.5, walltime=math.inf)])

    assert body(written(workload)) == ["1 0 -1 2.5 3 -1 -1 3 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"]


def test_a_size_that_was_changed_replaces_the_recorded_ones() -> None:
    job = a_trace(a_line())[0]
    changed = Workload.from_jobs([Job(**{**_fields(job), "request": Request(7)})])

    assert column(changed, "requested processors") == [7]
    assert column(changed, "allocated processors") == [7]


def test_a_failing_job_has_the_status_0() -> None:
    jobs = [
        Job(1, 0, Request(1), Delay(5, return_code=3)),
        Job(2, 0, Request(1), Delay(5)),
    ]

    assert column(Workload.from_jobs(jobs), "status") == [0, -1]


def test_computations_take_their_time_at_the_speed_given() -> None:
    jobs = [Job(1, 0, Request(1), Compute(8e9)), Job(2, 0, Request(1), Delay(5))]
    workload = Workload.from_jobs(jobs)

    text = written(workload, speed=2e9)

    # 8e9 of work at 2e9 a second are 4 s; a delay is one at any speed
    log = read_swf_log(text.encode(), source="text")
    assert log.column("run time").tolist() == [4, 5]


def test_texts_are_numbered_as_they_appear_and_the_headers_tell() -> None:
    workload = Workload.from_jobs(
        [a_job("b", user="eve"), a_job("a", user="bob", after=["b"]), a_job("c", user="eve")]
    )

    assert column(workload, "job number") == [1, 2, 3]
    assert column(workload, "user") == [1, 2, 1]
    assert column(workload, "preceding job") == [-1, 1, -1]
    headers = read_swf(written(workload).encode(), SwfRules(), source="x").headers
    assert headers["User"] == "1  eve\n2  bob"
    assert [str(rule) for rule in lost_in_swf(workload)] == [
        "id: text, written as a number: 3",
        "user: text, written as a number: 3",
    ]


def test_what_has_no_place_in_a_log_is_told() -> None:
    jobs = [
        a_job(1),
        a_job(2, cancel_time=9, launch_delay=1, epilogue_delay=2),
        a_job(3, after=[Dependency(2, 4.0), 1]),
    ]
    workload = Workload.from_jobs(jobs)

    assert [str(rule) for rule in lost_in_swf(workload)] == [
        "dependencies: more than one, the first is written: 1",
        "cancel_time: not written: 1",
        "launch_delay: not written: 1",
        "epilogue_delay: not written: 1",
    ]
    assert column(workload, "preceding job") == [-1, -1, 2]
    assert column(workload, "think time") == [-1, -1, 4]


def test_a_log_loses_nothing() -> None:
    assert lost_in_swf(a_trace(a_line(user=3, preceding_job=1))) == []


def test_headers_are_kept_and_counts_are_made_right() -> None:
    workload = a_trace(
        "; made up", "; MaxRecords: 99", "; Note: one", ";   two: three", "; Queue: 0 q", a_line()
    )

    text = written(workload)

    assert [line for line in text.splitlines() if line.startswith(";")] == [
        "; made up",
        "; Version: 2.2",
        "; MaxRecords: 1",
        "; Note: one",
        "; Note: two: three",
        "; Queue: 0 q",
        "; MaxJobs: 1",
    ]
    again = a_trace(text)
    assert again.headers == {
        **workload.headers,
        "MaxRecords": "1",
        "MaxJobs": "1",
        "Version": "2.2",
    }


def test_headers_of_a_batsim_workload_become_notes_and_a_machine() -> None:
    headers = {"nb_res": 8, "description": "two\nlines", "a\nb": [1], "Date": "today"}
    workload = Workload.from_jobs([a_job(1)], headers=headers)

    assert a_trace(written(workload)).headers == {
        "Version": "2.2",
        "Note": "description: two\nlines\na\nb: [1]",
        "Date": "today",
        "MaxProcs": "8",
        "MaxJobs": "1",
        "MaxRecords": "1",
    }


def test_numbers_are_whole_where_they_can_be_and_exact_where_not() -> None:
    jobs = [a_job(1, runtime=1 / 3), a_job(2, runtime=1e300, submit=2.0)]

    first, second = body(written(Workload.from_jobs(jobs)))

    assert first.split()[3] == repr(1 / 3)
    assert second.split()[1] == "2"
    assert float(second.split()[3]) == 1e300


def test_a_profile_that_nobody_can_time_is_refused() -> None:
    job = Job(3, 0, Request(1), UnsupportedProfile("smpi", {}))

    assert refusal(written, Workload.from_jobs([job])) == (
        "workload w0: job 3: a profile whose run time is not known, "
        "expected delays and computations"
    )


def test_a_speed_that_is_none_is_refused() -> None:
    message = refusal(written, Workload.from_jobs([a_job(1)]), speed=0)

    assert message == "workload w0: speed: got 0, expected a positive number"


def _fields(job: Job) -> dict[str, object]:
    return {name: getattr(job, name) for name in job.__dataclass_fields__}
