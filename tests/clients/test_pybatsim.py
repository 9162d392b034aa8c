"""Schedulers of pybatsim 3.2.1, unmodified, against `noctule batsim`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from client_runs import N_JOBS, TOLERANCE, Inputs, run_with

from noctule.testing import check_schedule, start_times


def pybatsim(others: Path, scheduler: str) -> list[str | Path]:
    # It waits for the simulator to answer for so many milliseconds.
    return [others / "pybatsim", scheduler, "-s", "ENDPOINT", "-t", "60000", "-v", "error"]


@pytest.mark.parametrize(
    "scheduler",
    [
        "schedFcfs",
        "easyBackfill",
        "schedEasySjfBackfill",
        "schedFiller",
        "fillerSched",
        "fillerSchedWithEvents",
    ],
)
def test_a_scheduler_runs_unmodified(others: Path, inputs: Inputs, scheduler: str):
    ended = run_with(pybatsim(others, scheduler), inputs)
    assert ended.codes == (0, 0), ended.said
    schedule = ended.schedule()
    starts = start_times(schedule)
    assert len(starts) == N_JOBS
    assert set(schedule.column("state")) == {"completed"}
    assert check_schedule(schedule, tolerance=TOLERANCE) == []
    if scheduler == "schedFcfs":
        in_order = [starts[job_id] for job_id in sorted(starts, key=int)]
        assert in_order == sorted(in_order)


def test_a_scheduler_that_stumbles_over_batsim_stumbles_here_too(others: Path, inputs: Inputs):
    # It compares the state, a text in Batsim's messages, with numbers, and leaves.
    ended = run_with(pybatsim(others, "fcfsSchedSleep"), inputs, "--energy")
    assert "Switched to an unhandled pstate: 3" in ended.said
    assert "the peer went away" in ended.said
    assert ended.codes == (134, 1)
    assert Path(f"{ended.prefix}_jobs.csv.partial").exists()


def test_a_scheduler_that_shares_hosts_runs_unmodified(others: Path, inputs: Inputs):
    ended = run_with(pybatsim(others, "randomSched"), inputs, "--enable-compute-sharing")
    assert ended.codes == (0, 0), ended.said
    assert len(ended.rows()) == N_JOBS


def test_a_scheduler_hears_of_hosts_that_leave_and_return(others: Path, inputs: Inputs):
    events = inputs.folder / "events.txt"
    events.write_text(
        '{"type": "machine_unavailable", "resources": "2-4", "timestamp": 50}\n'
        '{"type": "machine_available", "resources": "2-4", "timestamp": 300}\n'
    )
    ended = run_with(pybatsim(others, "fillerSchedWithEvents"), inputs, "--events", str(events))
    assert ended.codes == (0, 0), ended.said
    gone = {"2", "3", "4"}
    for row in ended.rows().values():
        if 50 < float(row["starting_time"]) < 300:
            hosts = set(row["allocated_resources"].replace("-", " ").split())
            assert not hosts & gone


def test_a_scheduler_exchanges_messages_with_jobs(others: Path, inputs: Inputs):
    profiles = {
        "ask": {"type": "send", "msg": {"cores": 2}},
        "nap": {"type": "delay", "delay": 5},
        "both": {"type": "composed", "seq": ["ask", "nap"]},
    }
    jobs = [
        {"id": i, "subtime": 1 + i, "res": 1, "walltime": 50, "profile": "both"} for i in range(3)
    ]
    ended = run_with(pybatsim(others, "schedFiller"), inputs.with_workload(jobs, profiles))
    assert ended.codes == (0, 0), ended.said
    assert len(ended.rows()) == 3


# The same runs, of which there are recordings of Batsim itself, messages with their latency. The
# fillers take jobs from a set, in an order that changes from run to run: theirs cannot be compared.


@pytest.mark.parametrize(
    ("recording", "run"),
    [
        ("py_easy_various", ("easyBackfill", "test_various_profile_types")),
        ("py_fcfs_delays", ("schedFcfs", "test_delays")),
    ],
)
def test_a_run_comes_out_as_it_did_with_batsim(
    others: Path, shared: Path, tmp_path: Path, recording: str, run: tuple[str, str]
):
    scheduler, workload = run
    source = shared / "vectors" / "batsim" / "inputs"
    recorded = shared / "vectors" / "batsim" / "v4" / recording / "out_jobs.csv"
    files = Inputs(
        tmp_path,
        source / "platforms" / "small_platform.xml",
        source / "workloads" / f"{workload}.json",
    )
    ended = run_with(pybatsim(others, scheduler), files, "--latency")
    assert ended.codes == (0, 0), ended.said
    with recorded.open() as file:
        expected = {row["job_id"]: row for row in csv.DictReader(file)}
    found = ended.rows()
    assert found.keys() == expected.keys()
    for job_id, row in expected.items():
        for name in ("allocated_resources", "final_state", "success"):
            assert found[job_id][name] == row[name]
        for name in ("starting_time", "finish_time"):
            assert abs(float(found[job_id][name]) - float(row[name])) < 1e-4
