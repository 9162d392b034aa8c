"""Workloads written as Batsim workloads, and read back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from trace_files import a_line, a_trace

from noctule.errors import InputError
from noctule.formats.batsim import read_batsim
from noctule.formats.batsim_writing import batsim_text, lost_in_batsim
from noctule.formats.swf import SwfRules
from noctule.platform import Platform
from noctule.simulation import simulate
from noctule.testing.builders import a_job
from noctule.workload import Compute, Delay, Dependency, Job, Request, Workload

FILE: dict[str, Any] = {
    "nb_res": 8,
    "description": "all that a file can hold",
    "profiles": {
        "nap": {"type": "delay", "delay": 10, "why": {"nested": [1, 2.5]}},
        "all": {"type": "parallel_homogeneous_total", "cpu": 100, "com": 0, "ret": 3},
        "two": {"type": "parallel", "cpu": [3, 4], "com": [0, 0, 0, 0]},
        "odd": {"type": "invented", "mood": "blue"},
        "talk": {"type": "composed", "repeat": 2, "seq": ["two", "say"], "note": 1},
        "say": {"type": "send", "msg": {"a": [1]}},
        "idle": {"type": "delay", "delay": 1},
    },
    "jobs": [
        {"id": 10, "subtime": 0, "res": 4, "profile": "all", "walltime": 50, "mood": None},
        {"id": 2, "subtime": 0, "res": 2, "profile": "two", "user": "eve", "queue": 3},
        {"id": 3, "subtime": 1.5, "res": 8, "profile": "all", "cancel_time": 9, "group": 0},
        {
            "id": 4,
            "subtime": 2,
            "res": 1,
            "profile": "nap",
            "launch_delay": 1,
            "epilogue_delay": 0.5,
            "dependencies": [{"job": 2, "think_time": 6}, {"job": 3}],
        },
        {"id": 5, "subtime": 2, "res": 1, "profile": "odd", "walltime": 7.25},
        {"id": 6, "subtime": 2, "res": 2, "profile": "talk"},
    ],
}


def text_of(workload: Workload, **options: Any) -> str:
    return "".join(batsim_text(workload, **options))


def read(text: str) -> Workload:
    return read_batsim(text.encode(), source="w.json")


def test_a_batsim_workload_is_read_back_as_it_was() -> None:
    before = read(json.dumps(FILE))

    after = read(text_of(before))

    assert list(after) == list(before)
    assert after.headers == before.headers
    assert after.raw_profiles == before.raw_profiles
    assert after.profiles == before.profiles
    assert text_of(after) == text_of(before)


def test_the_text_has_one_line_a_profile_and_one_a_job() -> None:
    workload = Workload.from_jobs([a_job(1, hosts=2, runtime=5), a_job(2, submit=0.5, walltime=9)])

    assert text_of(workload, n_hosts=4) == (
        '{\n"nb_res": 4,\n"profiles": {\n'
        '"compute:5": {"type":"parallel_homogeneous","cpu":5,"com":0},\n'
        '"compute:10": {"type":"parallel_homogeneous","cpu":10,"com":0}\n},\n"jobs": [\n'
        '{"id":1,"subtime":0,"res":2,"profile":"compute:5","walltime":5},\n'
        '{"id":2,"subtime":0.5,"res":1,"profile":"compute:10","walltime":9}\n]\n}\n'
    )


def test_a_log_keeps_what_was_recorded() -> None:
    line = a_line(3, wait_time=7, status=1, user=5, group=6, queue=0, average_CPU_time=1.5)
    workload = a_trace("; MaxProcs: 100", "; Computer: SP2", line, rules=SwfRules())

    again = read(text_of(workload))

    job = again[0]
    assert (job.id, job.submit_time, job.walltime, job.profile) == (3, 0, 60, Compute(10.0))
    assert (job.user, job.group, job.queue) == (5, 6, 0)
    assert {k: job.extra[k] for k in workload[0].extra} == workload[0].extra
    assert again.headers == {**workload.headers, "nb_res": 100}


def test_a_log_is_simulated_as_before_at_any_speed() -> None:
    lines = [a_line(i, i, run_time=10 + i, user=i % 2) for i in range(1, 6)]
    workload = a_trace(*lines, rules=SwfRules(reference_speed=4.0))

    again = read(text_of(workload))

    # run times are those of hosts of speed 4: 2 x as long at speed 2
    assert again[0].profile == Compute(44.0)
    for one in (workload, again):
        schedule = simulate(Platform.homogeneous(4, speed=2.0), one, "fcfs")
        assert sorted(schedule.column("runtime").tolist()) == [22, 24, 26, 28, 30]


def test_delays_stay_delays_and_none_is_shorter_than_batsim_allows() -> None:
    jobs = [Job(1, 0, Request(1), Delay(0.0)), Job(2, 0, Request(1), Delay(2.5, 4))]

    first, second = read(text_of(Workload.from_jobs(jobs)))

    assert first.profile == Compute(0.0)
    assert second.profile == Delay(2.5, 4)


def test_jobs_of_one_profile_name_may_differ_in_their_amounts() -> None:
    jobs = [
        Job(1, 0, Request(1), Compute(5, 2), profile_name="work"),
        Job(2, 1, Request(1), Compute(6, 2), profile_name="work"),
    ]

    again = read(text_of(Workload.from_jobs(jobs)))

    assert [job.profile for job in again] == [Compute(5, 2), Compute(6, 2)]
    assert [job.profile_name for job in again] == ["work", "work:6"]


def test_the_number_of_hosts_is_that_of_the_largest_job_if_nothing_tells() -> None:
    assert read(text_of(Workload.from_jobs([a_job(1, hosts=6)]))).headers == {"nb_res": 6}
    assert read(text_of(Workload.from_jobs([]))).headers == {"nb_res": 1}


def test_text_ids_dependencies_and_infinite_walltimes_are_kept() -> None:
    jobs = [a_job("a-b", walltime=math.inf), a_job("c", after=["a-b"])]

    again = read(text_of(Workload.from_jobs(jobs)))

    assert again[0].walltime == math.inf
    assert again[1].dependencies == (Dependency("a-b", 0.0),)


def test_the_order_of_jobs_submitted_together_is_batsims_and_told() -> None:
    workload = Workload.from_jobs([a_job(2), a_job(10), a_job(3, submit=5)])

    assert [str(rule) for rule in lost_in_batsim(workload)] == [
        "order: at equal submit times by id as text: 2"
    ]
    assert read(text_of(workload)).job_ids.tolist() == [10, 2, 3]
    assert lost_in_batsim(Workload.from_jobs([a_job(1), a_job(2)])) == []


def test_what_json_cannot_hold_is_refused() -> None:
    workload = Workload.from_jobs([a_job(1)], headers={"clock": object()})

    with pytest.raises(InputError, match="expected what JSON can hold"):
        text_of(workload)
