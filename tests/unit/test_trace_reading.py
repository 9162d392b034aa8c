"""Traces read as recorded, and traces before any rule."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from trace_files import a_line, a_trace, refusal

from noctule.formats.swf import SwfRules
from noctule.parts import Parts
from noctule.traces import load_raw, load_trace
from noctule.traces.reading import has_run, machine_size
from noctule.workload import Compute


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_job_is_kept_with_its_dates_and_requests() -> None:
    Path("log.swf").write_text(
        "\n".join(
            [
                a_line(1, 100, run_time=0),
                a_line(2, 110, run_time=-1, requested_time=-1),
                a_line(3, 120, requested_processors=-1, allocated_processors=-1),
                a_line(4, 130, run_time=90, requested_time=60),
            ]
        )
    )

    workload = load_trace("log.swf")

    assert workload.submit_time.tolist() == [100, 110, 120, 130]
    assert [job.profile for job in workload] == [Compute(0), Compute(0), Compute(10), Compute(90)]
    assert [job.extra["run_time"] for job in workload] == [0, -1, 10, 90]
    assert workload.walltime.tolist() == [60, math.inf, 60, 60]
    assert workload.n_hosts.tolist() == [4, 4, 1, 4]
    assert "processors: 1, as none are known: 1" in map(str, workload.reading)
    assert has_run(Parts.of(workload)).tolist() == [False, False, False, True]


def test_a_log_in_which_all_jobs_ran_has_no_run_times_beside_the_profiles() -> None:
    assert "run_time" not in a_trace(a_line())[0].extra


def test_allocated_processors_may_be_asked_for() -> None:
    Path("log.swf").write_text(a_line(allocated_processors=8))

    assert load_trace("log.swf", processors="allocated").n_hosts.tolist() == [8]
    assert load_trace("log.swf", rules=SwfRules("allocated")).n_hosts.tolist() == [8]


def test_jobs_that_are_kept_though_they_never_ran_may_have_a_walltime_factor() -> None:
    rules = SwfRules(walltime_factor=2, keep_all=True)

    workload = a_trace(a_line(1, run_time=0, requested_time=-1), a_line(2), rules=rules)

    assert workload.walltime.tolist() == [math.inf, 60]


def test_a_batsim_workload_is_read_too_and_all_of_it_runs() -> None:
    document = {
        "nb_res": 4,
        "profiles": {"p": {"type": "parallel_homogeneous", "cpu": 0, "com": 0}},
        "jobs": [{"id": "a", "subtime": 5, "res": 1, "profile": "p"}],
    }
    Path("w.json").write_text(json.dumps(document))

    workload = load_trace("w.json")

    assert has_run(Parts.of(workload)).tolist() == [True]
    assert load_raw("w.json").places == ["job a"]
    assert load_raw("w.json").column("submit time").tolist() == [5]


@pytest.mark.parametrize("read", [load_trace, load_raw])
def test_an_empty_file_is_refused(read) -> None:  # type: ignore[no-untyped-def]
    Path("empty").write_text(" \n")

    message = "empty: empty file, expected an SWF log or a Batsim JSON workload"
    assert refusal(read, "empty") == message


def test_a_raw_trace_is_not_judged() -> None:
    Path("log.swf").write_text(f"; MaxProcs: 4\n{a_line(1, -5)}\n{a_line(1.5, -6, user=0.5)}\n")  # type: ignore[arg-type]

    raw = load_raw("log.swf")

    assert raw.column("submit time").tolist() == [-5, -6]
    assert raw.places == ["line 2", "line 3"]
    assert raw.headers == {"MaxProcs": "4"}


def test_the_size_of_the_machine_is_given_or_told() -> None:
    workload = a_trace("; MaxNodes: 9", a_line())

    assert machine_size(workload) == 9
    assert machine_size(workload, 3) == 3
    assert refusal(machine_size, a_trace("; MaxProcs: many", a_line())) == (
        "log.swf: no header MaxProcs, MaxNodes, nb_res tells how many hosts there are, "
        "expected --hosts"
    )
