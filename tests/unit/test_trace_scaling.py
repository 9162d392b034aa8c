"""Traces under more load, with longer or larger jobs."""

from __future__ import annotations

import math

import pytest
from trace_files import a_line, a_trace, column, refusal

from noctule.platform import Platform
from noctule.simulation import simulate
from noctule.testing.builders import a_job, a_workload
from noctule.traces import at_speed, scale_load, scale_runtimes, scale_sizes, trace_stats
from noctule.traces.scaling import factor_to_load
from noctule.workload import Compute, Delay, Job, Request, UnsupportedProfile, Workload


def test_more_load_brings_submissions_together() -> None:
    workload = a_trace("; EndTime: x", a_line(1, 100, wait_time=5), a_line(2, 130), a_line(3, 160))

    scaled = scale_load(workload, 3)

    assert scaled.submit_time.tolist() == [100, 110, 120]
    assert scaled.headers == {"Note": "load multiplied by 3 by noctule"}
    assert column(scaled, "wait time") == [-1, -1, -1]
    assert column(scaled, "run time") == [10, 10, 10]


def test_a_user_is_as_patient_as_before() -> None:
    workload = a_workload(a_job(1), a_job(2, submit=10, cancel_time=25))

    # submitted at 5 instead of 10, given up 15 s later
    assert scale_load(workload, 2)[1].cancel_time == 20


def test_times_can_be_rounded() -> None:
    workload = a_trace(a_line(1, 0, run_time=1), a_line(2, 5, run_time=7, requested_time=7))

    assert scale_load(workload, 2).submit_time.tolist() == [0, 2.5]
    assert scale_load(workload, 2, whole_seconds=True).submit_time.tolist() == [0, 3]
    exact, rounded = (
        scale_runtimes(workload, 0.1),
        scale_runtimes(workload, 0.1, whole_seconds=True),
    )
    assert column(exact, "run time") == pytest.approx([0.1, 0.7])
    # 0.1 s is not no time
    assert column(rounded, "run time") == [1, 1]
    assert column(rounded, "requested time") == [6, 1]


def test_longer_jobs_ask_for_more_time() -> None:
    workload = a_trace(
        a_line(1, run_time=10, requested_time=60, average_CPU_time=8),
        a_line(2, run_time=-1, requested_time=-1),
    )

    scaled = scale_runtimes(workload, 2.5)

    assert column(scaled, "run time") == [25, -1]
    assert column(scaled, "requested time") == [150, -1]
    assert column(scaled, "average CPU time") == [20, -1]
    assert scaled.walltime.tolist() == [150, math.inf]


def test_larger_jobs_are_rounded_and_capped() -> None:
    workload = a_trace(
        a_line(1, requested_processors=1, allocated_processors=1),
        a_line(2, requested_processors=3, allocated_processors=5),
        a_line(3, requested_processors=8, allocated_processors=-1),
        a_line(4, requested_processors=-1, allocated_processors=-1),
    )

    halved = scale_sizes(workload, 0.5)
    # 0.5 is 1, 1.5 is 2, 2.5 is 3; what is not known stays so
    assert column(halved, "requested processors") == [1, 2, 4, -1]
    assert column(halved, "allocated processors") == [1, 3, -1, -1]
    assert halved.n_hosts.tolist() == [1, 2, 4, 1]
    capped = scale_sizes(workload, 4, max_size=10)
    assert capped.n_hosts.tolist() == [4, 10, 10, 1]


def test_profiles_are_scaled_with_their_jobs() -> None:
    jobs = [
        Job(1, 0, Request(2), Compute(10, 3), walltime=20, profile_name="c"),
        Job(2, 0, Request(2), Delay(4), profile_name="d"),
    ]

    scaled = scale_runtimes(Workload.from_jobs(jobs), 2)

    assert [job.profile for job in scaled] == [Compute(20, 1), Delay(8)]
    assert [job.profile_name for job in scaled] == ["compute:20.0:ret=1", "delay:8.0"]


def test_a_load_can_be_aimed_at() -> None:
    # 2 jobs x 4 hosts x 10 s in 100 s on 4 hosts: load 0.2
    workload = a_trace("; MaxProcs: 4", a_line(1), a_line(2, 100), a_line(3, 100, run_time=0))

    factor = factor_to_load(workload, 0.8, 4)

    assert factor == pytest.approx(4)
    assert trace_stats(scale_load(workload, factor)).load == pytest.approx(0.8)


def test_work_becomes_seconds_at_a_speed_and_stays_what_it_is() -> None:
    workload = Workload.from_jobs(
        [Job(1, 0, Request(1), Compute(8e9)), Job(2, 0, Request(1), Delay(3))]
    )

    timed = at_speed(workload, 2e9)

    assert [job.profile for job in timed] == [Compute(4.0), Delay(3.0)]
    for one in (workload, timed):
        schedule = simulate(Platform.homogeneous(2, speed=1e9), one, "fcfs")
        assert sorted(schedule.column("runtime").tolist()) == [3, 8]


@pytest.mark.parametrize(
    ("scale", "word"), [(scale_load, "load"), (scale_runtimes, "runtimes"), (scale_sizes, "sizes")]
)
@pytest.mark.parametrize("factor", [0, -1, math.nan, math.inf])
def test_a_factor_is_positive(scale, word: str, factor: float) -> None:  # type: ignore[no-untyped-def]
    message = refusal(scale, a_trace(a_line()), factor)

    assert message.startswith(f"log.swf: {word}: got ")
    assert message.endswith(", expected a positive factor")


def test_what_cannot_be_scaled_is_refused() -> None:
    unknown = Workload.from_jobs([Job(3, 0, Request(1), UnsupportedProfile("smpi", {}))])

    expected = (
        "workload w0: job 3: a profile whose run time is not known, "
        "expected delays and computations"
    )
    assert refusal(scale_runtimes, unknown, 2) == expected
    assert refusal(scale_sizes, unknown, 2) == expected
    assert scale_load(unknown, 2).unsupported() == [(3, "smpi")]
    assert refusal(scale_sizes, unknown, 2, max_size=0) == "max_size: got 0, expected a number >= 1"
    still = a_trace(a_line(1), a_line(2))
    assert refusal(factor_to_load, still, 0.5, 4) == (
        "log.swf: no load to scale, as nothing runs or time stands still"
    )
    assert refusal(factor_to_load, still, 0, 4) == (
        "log.swf: load: got 0, expected a positive number"
    )
