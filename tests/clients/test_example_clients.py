"""Deciders in other languages, and our own policies, behind a real wire."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from client_runs import Inputs, run_with

import noctule as nt

ROOT = Path(__file__).parents[2]


def in_process(inputs: Inputs, policy: str) -> dict[str, tuple[str, str, str]]:
    """Return when and where the jobs of a workload run, as jobs.csv has it."""
    workload = nt.load_workload(inputs.workload)
    platform = nt.load_platform(inputs.platform, host_order="lexicographic")
    schedule = nt.simulate(platform, workload, policy)
    schedule.save(inputs.folder / "in-process")
    found = run_rows(inputs.folder / "in-process" / "jobs.csv")
    assert len(found) == len(workload)
    return found


def run_rows(path: Path) -> dict[str, tuple[str, str, str]]:
    schedule = nt.Schedule.from_jobs_csv(path, 8)
    columns = ["job_id", "start_time", "finish_time", "hosts", "state"]
    return {str(row[0]): tuple(map(str, row[1:])) for row in schedule.jobs[columns].values}


def with_a_job_too_large(inputs: Inputs) -> Inputs:
    told = json.loads(inputs.workload.read_text())
    told["jobs"].append({"id": 999, "subtime": 40, "res": 9, "profile": "delay5", "walltime": 9})
    return inputs.with_workload(told["jobs"], told["profiles"])


@pytest.mark.parametrize("fcfs", ["cpp", "go", "rust"], indirect=True)
def test_fcfs_in_another_language_makes_the_schedule_of_fcfs_in_process(fcfs: Path, inputs: Inputs):
    inputs = with_a_job_too_large(inputs)
    ended = run_with([fcfs, "ENDPOINT"], inputs)
    assert ended.codes == (0, 0), ended.said
    assert run_rows(Path(f"{ended.prefix}_jobs.csv")) == in_process(inputs, "fcfs")


@pytest.mark.parametrize("name", ["cpp/fcfs.cpp", "go/main.go", "rust/src/main.rs"])
def test_an_example_has_less_than_a_hundred_lines(name: str):
    text = (ROOT / "examples" / "clients" / name).read_text()
    assert len(text.splitlines()) < 100


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "filler"])
def test_a_served_policy_makes_the_schedule_that_it_makes_in_process(policy: str, inputs: Inputs):
    inputs = with_a_job_too_large(inputs)
    served = [sys.executable, "-m", "noctule", "serve-policy", policy, "--endpoint", "ENDPOINT"]
    ended = run_with(served, inputs)
    assert ended.codes == (0, 0), ended.said
    assert run_rows(Path(f"{ended.prefix}_jobs.csv")) == in_process(inputs, policy)
