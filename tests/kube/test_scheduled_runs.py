"""Whole runs under a small scheduler in Python, on simulated time and on the wall clock."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scheduled_runs import column, job, needs_simulated_time, scheduled, starts, tiny

from noctule.cli import main
from noctule.errors import DeadlockError
from noctule.kube.session import Session

WORKLOAD = {
    "nb_res": 2,
    "jobs": [
        {"id": "1", "subtime": 0, "res": 1, "walltime": 100, "profile": "d"},
        {"id": "2", "subtime": 2, "res": 2, "walltime": 100, "profile": "d"},
    ],
    "profiles": {"d": {"type": "delay", "delay": 20}},
}


@needs_simulated_time
def test_pods_start_at_the_instant_at_which_there_is_room():
    # two nodes: C waits for A; D is of two pods, one of which holds host1 from 15 to 20
    schedule = scheduled(
        [job("A", 0, 10), job("B", 5, 10), job("C", 6, 10), job("D", 7, 5, hosts=2)]
    )
    assert starts(schedule) == {"A": 0, "B": 5, "C": 10, "D": 20}
    assert list(column(schedule, "hosts")["D"]) == [0, 1]
    assert column(schedule, "metadata")["D"] == "its pods held 5 node-seconds before its start"
    assert schedule.notes == ("pods held 5 node-seconds while others of their jobs were pending",)
    assert column(schedule, "held_node_seconds") == {"A": 0, "B": 0, "C": 0, "D": 5}


@needs_simulated_time
def test_two_schedulers_decide_each_about_its_own_pods():
    jobs = [job("A", 0, 10), job("B", 1, 10, scheduler="other"), job("C", 2, 10)]
    schedule = scheduled(jobs, schedulers=f"other={tiny()}")
    assert starts(schedule) == {"A": 0, "B": 1, "C": 10}


@needs_simulated_time
def test_the_command_writes_a_run_that_can_be_done_again(tmp_path, capsys):
    workload = tmp_path / "w.json"
    workload.write_text(json.dumps(WORKLOAD))
    out = tmp_path / "out"
    words = ["kube", str(workload), "--start-delay", "5", "-o", str(out), "--json", "--quiet"]
    assert main([*words, "--", *shlex.split(tiny())]) == 0
    # the second job starts at 25, when the first has ended: its work begins at 30 and ends at 50
    assert (out / "pods.csv").read_text().splitlines() == [
        "job_id,pod,node,created,bound,started,ended,outcome",
        "1,w0-1,host0,0,0,0,25,completed",
        "2,w0-2-0,host1,2,2,25,50,completed",
        "2,w0-2-1,host0,2,25,25,50,completed",
    ]
    assert "start_delay=5" in json.loads((out / "manifest.json").read_text())["options"]["policy"]
    assert main(["rerun", str(out / "manifest.json"), "--quiet"]) == 0


def test_in_real_time_pods_start_when_they_were_bound():
    # at ten simulated seconds in a real one, 0.15 real seconds are 1.5
    schedule = scheduled([job("A", 0, 5), job("B", 1, 5)], hosts=1, clock="real", speed=10.0)
    begun = starts(schedule)
    assert 0 <= begun["A"] < 4
    assert begun["A"] + 5 <= begun["B"] < begun["A"] + 12


@needs_simulated_time
def test_a_job_that_fits_nowhere_is_rejected_and_one_that_nobody_binds_is_a_deadlock():
    schedule = scheduled([job("A", 0, 10), job("B", 0, 10, hosts=3), job("C", 0, 10, cpu=2)])
    assert column(schedule, "state") == {"B": "rejected", "C": "rejected", "A": "completed"}
    with pytest.raises(DeadlockError) as failure:
        scheduled([job("A", 0, 10)], tiny("idle"))
    assert "pod w0-a is pending: default-scheduler has said nothing about it" in str(failure.value)


@pytest.mark.slow
@needs_simulated_time
@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_the_run_and_the_scheduler(tmp_path):
    workload = tmp_path / "w.json"
    workload.write_text(json.dumps(WORKLOAD))
    words = ["kube", str(workload), "-o", str(tmp_path / "out"), "--quiet", "--"]
    run = subprocess.Popen(
        [sys.executable, "-m", "noctule", *words, *shlex.split(tiny("spin")), str(tmp_path)],
        stderr=subprocess.PIPE,
    )
    try:
        while not running(str(tmp_path)) and run.poll() is None:
            time.sleep(0.02)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    finally:
        run.kill()
    assert (run.returncode, said.strip()) == (130, b"noctule: interrupted")
    assert not running(str(tmp_path))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_a_scheduler_to_attach_is_told_where_even_quietly_and_ctrl_c_ends_the_wait(tmp_path):
    workload = tmp_path / "w.json"
    workload.write_text(json.dumps(WORKLOAD))
    words = ["kube", str(workload), "-o", str(tmp_path / "out"), "--attach", "--quiet"]
    run = subprocess.Popen(
        [sys.executable, "-m", "noctule", *words], stderr=subprocess.PIPE, text=True
    )
    assert run.stderr is not None
    try:
        said = list(iter(run.stderr.readline, "waiting for a scheduler that watches pods\n"))
        before = processor_seconds(run.pid)
        time.sleep(2.0)
        assert processor_seconds(run.pid) - before < 0.3  # a wait that polls takes more than 1 s
        run.send_signal(signal.SIGINT)
        _, end = run.communicate(timeout=60)
    finally:
        run.kill()
    assert (run.returncode, end) == (130, "\nnoctule: interrupted\n")
    assert said[0].startswith("API at http://127.0.0.1:")
    assert not Path(said[1].removeprefix("kubeconfig: ").strip()).parent.exists()
    assert not (tmp_path / "out").exists()


def test_an_answer_that_is_interrupted_does_not_keep_the_api_from_its_end(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    loop = asyncio.new_event_loop()
    monkeypatch.setattr(asyncio, "new_event_loop", lambda: loop)
    session = Session(is_virtual=False, stall_timeout=5.0)
    folder = session.open().folder
    loop.call_soon(interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.settle()
    session.close()
    assert not folder.exists()


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def running(mark: str) -> list[str]:
    """Return the tiny schedulers that were started with a word of their own."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True
    )
    found = [line for line in listed.stdout.splitlines() if mark in line]
    return [line for line in found if "tiny_scheduler.py /" in line]
