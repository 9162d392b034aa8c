"""`noctule batsim` with the scheduler of recorded runs of Batsim 4: the same files come out."""

from __future__ import annotations

import csv
import io
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from recorded_run import Recording

from noctule.commands.batsim import main

zmq = pytest.importorskip("zmq")

RUNS = (
    "tiny_dyn",
    "tiny_energy",
    "tiny_events",
    "tiny_events_generic",
    "tiny_fcfs_various",
    "tiny_filler_samesubmit",
    "tiny_jobmsg",
    "tiny_kill_long",
    "tiny_reject",
    "tiny_sharing",
    "tiny_stencil",
    "tiny_usage_trace",
)
# Batsim aborts here, because of quirks that are not kept.
CRASHES = ("crash_tiny_changestate", "crash_tiny_jobmsg", "crash_tiny_kill", "crash_tiny_meta")
FILES = ("jobs", "schedule", "machine_states", "consumed_energy", "pstate_changes")
OF_THE_CLOCK = ("batsim_version", "scheduling_time", "simulation_time")
WITH_FILES = ("-p", "-w", "--events")


def run(shared: Path, name: str, folder: Path) -> Recording:
    """Run a recorded command again, with its scheduler, and Batsim's latency."""
    vectors = shared / "vectors/batsim"
    recording = Recording(vectors / "v4" / name, vectors / "inputs")
    lines = (recording.folder / "commands.txt").read_text().splitlines()
    scheduler = next(shlex.split(line)[2:] for line in lines if line.startswith("tinysched "))
    words = next(shlex.split(line)[1:] for line in lines if line.startswith("batsim "))
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        endpoint = f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}"
    for option, value in pairwise(words):
        if option in WITH_FILES:
            words[words.index(value)] = str(recording.find_input(value))
    words[words.index("-e") + 1] = f"{folder}/out"
    words[words.index("-s") + 1] = endpoint
    command = [sys.executable, str(vectors / "tinysched.py"), endpoint, *scheduler]
    with subprocess.Popen(command) as process:
        try:
            assert main([*words, "-q", "--latency", "--timeout", "20"]) == 0
            assert process.wait(60) == 0
        finally:
            process.kill()
    return recording


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def is_near(expected: str, found: str) -> bool:
    if expected == found:
        return True
    try:
        number = float(expected)
        return abs(number - float(found)) <= max(1.5e-6, 1e-6 * abs(number))
    except ValueError:
        return False


@pytest.mark.parametrize("name", RUNS)
def test_the_files_are_those_of_batsim(name: str, shared: Path, tmp_path: Path) -> None:
    recording = run(shared, name, tmp_path)
    for file in FILES:
        expected, path = recording.text(f"out_{file}.csv"), tmp_path / f"out_{file}.csv"
        assert path.exists() == (expected is not None)
        if expected is None:
            continue
        found = table(path.read_text())
        assert len(found) == len(table(expected))
        for row, ours in zip(table(expected), found, strict=True):
            assert list(row) == list(ours)
            for key, value in row.items():
                assert key in OF_THE_CLOCK or is_near(value, ours[key]), (file, key, row, ours)


@pytest.mark.parametrize("name", CRASHES)
def test_what_made_batsim_abort_does_not_end_a_run(name: str, shared: Path, tmp_path: Path) -> None:
    run(shared, name, tmp_path)
    jobs = table((tmp_path / "out_jobs.csv").read_text())
    assert len(jobs) > 0
    assert not list(tmp_path.glob("*.partial"))


def test_a_workflow_of_pegasus_comes_to_its_end(shared: Path, tmp_path: Path) -> None:
    inputs = shared / "vectors/batsim/inputs"
    endpoint = f"ipc://{tmp_path}/socket"
    command = [sys.executable, str(inputs.parent / "tinysched.py"), endpoint, "fcfs"]
    flow = inputs / "workloads/GENOME.d.351024866.5.dax"
    words = ["-p", str(inputs / "platforms/cluster512.xml"), "-W", str(flow), "-s", endpoint]
    with subprocess.Popen(command) as process:
        try:
            assert main([*words, "-q", "-e", f"{tmp_path}/out", "--timeout", "20"]) == 0
            assert process.wait(60) == 0
        finally:
            process.kill()
    jobs = table((tmp_path / "out_jobs.csv").read_text())
    assert len(jobs) == 36
    assert {row["workload_name"] for row in jobs} == {"wf0"}
    assert all(row["success"] == "1" for row in jobs)
