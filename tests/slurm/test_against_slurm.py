"""The model of Slurm against a real one on loopback, in real time. `make test-slurm` runs them."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loopback_slurm import AGAINST_SLURM, loopback_slurm

from noctule.cli import main
from noctule.slurm.truth.controller import Controller
from noctule.slurm.truth.fidelity import SimulatedStart, deviation
from noctule.slurm.truth.sets import Truth, read_truth
from noctule.slurm.truth.submissions import Submission, trace_table

pytestmark = AGAINST_SLURM
LINEAR = "SelectType=select/linear\nSchedulerParameters=bf_interval=10"
CORES = (
    "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerParameters=bf_interval=10"
)
TWO_PARTITIONS = """\
PartitionName=quick Nodes=n[1-3] MaxTime=1 PriorityTier=5 State=UP
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"""


def drawn(n_jobs: int, *, cpus: bool, partitions: list[str]) -> list[Submission]:
    """Return jobs that overload six nodes of eight CPUs for about a minute and a half."""
    rng = random.Random(20)
    date, jobs = 0.0, []
    for i in range(n_jobs):
        date += rng.expovariate(1 / 1.2)
        partition = rng.choice(partitions)
        n_nodes = rng.choice([1, 1, 2, 2, 3, 3 if partition == "quick" else 5])
        jobs.append(
            Submission(
                date=date,
                n_nodes=0 if cpus else n_nodes,
                n_cpus=rng.choice([1, 3, 4, 6, 8, 12, 20, 40]) if cpus else 0,
                duration=rng.choice([3, 6, 9, 14]),
                limit_minutes=1 if partition == "quick" else rng.choice([1, 1, 2, 5]),
                partition=partition,
                name=f"j{i}",
            )
        )
    return jobs


def replayed(tmp_path: Path, jobs: list[Submission], **options: str) -> Truth:
    """Run jobs on a real Slurm by the command, and read what happened."""
    trace = tmp_path / "jobs.trace.csv"
    trace.write_text(trace_table(jobs))
    # a short path: those of sockets are bounded
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        loopback_slurm(Path(folder), n_nodes=6, **options) as slurm,
    ):
        words = ["slurm", "replay", str(trace), "--conf", str(slurm.conf)]
        assert main([*words, "-o", str(tmp_path / "real")]) == 0
    truth = read_truth(tmp_path / "real")
    assert [job.name for job in truth.jobs] == [job.name for job in jobs]
    assert {job.state for job in truth.jobs} == {"COMPLETED"}
    return truth


def compared(truth: Truth, capsys) -> dict:
    """Compare the model with what happened by the command."""
    capsys.readouterr()
    assert main(["slurm", "compare", truth.path, "--json"]) == 0
    told: dict = json.loads(capsys.readouterr().out)
    return told


def starts(entries: list[dict], truth: Truth) -> list[SimulatedStart]:
    runtimes = {job.job_id: job.end - job.start for job in truth.jobs}
    return [
        SimulatedStart(e["jobid"], e["start"], e["start"] + runtimes[e["jobid"]], e["nodes"])
        for e in entries
    ]


def check(told: dict, truth: Truth) -> None:
    n = len(truth.jobs)
    assert all(len(run) == n for run in [told["decisions"], told["triggers"], *told["ensemble"]])
    decisions = deviation(truth.jobs, starts(told["decisions"], truth))
    assert (decisions.n_close_starts, decisions.n_exact_nodes) == (n, n)
    triggers = deviation(truth.jobs, starts(told["triggers"], truth))
    assert abs(triggers.relative.wait) < 0.05
    assert triggers.start_error < 0.1


def test_whole_nodes_in_two_partitions(tmp_path, capsys):
    jobs = drawn(32, cpus=False, partitions=["main", "main", "quick"])
    truth = replayed(tmp_path, jobs, more=LINEAR, partitions=TWO_PARTITIONS)
    check(compared(truth, capsys), truth)


def test_cores_of_shared_nodes(tmp_path, capsys):
    truth = replayed(tmp_path, drawn(32, cpus=True, partitions=["main"]), more=CORES)
    check(compared(truth, capsys), truth)


def test_an_interrupted_replay_leaves_no_job(tmp_path):
    trace = tmp_path / "jobs.trace.csv"
    trace.write_text(trace_table([Submission(0, 1, 0, 300, 10, "", f"j{i}") for i in range(9)]))
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        loopback_slurm(Path(folder), n_nodes=2) as slurm,
    ):
        words = ["slurm", "replay", str(trace), "--conf", str(slurm.conf)]
        command = [sys.executable, "-m", "noctule", *words, "-o", str(tmp_path / "real")]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        controller = Controller(str(slurm.conf))
        while not controller.jobs():
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        time.sleep(2)
        states = {row["JobState"] for row in controller.jobs().values()}
    assert states <= {"CANCELLED", "COMPLETING"}
    assert not (tmp_path / "real.csv").exists()
