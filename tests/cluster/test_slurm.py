"""Campaigns on jobs of a real Slurm, on loopback. `make test-cluster` runs them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from cluster_campaigns import MINE, campaign, overloaded, results, results_here, wait_until
from slurm_daemons import missing_commands, slurm

from noctule.campaign import run_campaign
from noctule.campaign.job_queues import JobQueueWorkers
from noctule.errors import InputError

pytest.importorskip("dask_jobqueue")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "NOCTULE_TEST_SLURM" not in os.environ, reason="run by make test-cluster, which installs it"
    ),
]


@pytest.fixture(scope="module")
def environment():
    if missing := missing_commands():
        pytest.skip(f"no {', '.join(missing)} here, expected Debian's slurm-wlm and munge")
    # a short path: it is that of a socket
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, slurm(Path(folder)) as found:
        yield found


@pytest.fixture
def options(environment, tmp_path, monkeypatch):
    """What a job needs."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return {
        "queue": "normal",
        "cores": "1",
        "memory": "500MB",
        "walltime": "00:10:00",
        "interface": "lo",
        "local_directory": str(tmp_path),
        "log_directory": str(tmp_path / "logs"),
    }


def jobs():
    """Return the jobs that Slurm has, by number."""
    words = ["squeue", "--noheader", "--format=%A"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def test_jobs_give_the_same_bytes_as_this_machine_and_are_gone_in_the_end(options, tmp_path):
    wanted = campaign(tmp_path, policies=MINE)
    seen = []
    workers = JobQueueWorkers("slurm", 2, options)
    tally = run_campaign(wanted, tmp_path / "out", workers, look=lambda _: seen.append(jobs()))
    assert (tally.n_done, tally.n_failed) == (20, 0)
    assert max(len(found) for found in seen) == 2
    assert results(tmp_path / "out") == results_here(wanted, tmp_path / "here")
    wait_until(lambda: jobs() == [])


def test_a_job_that_is_cancelled_is_replaced(options, tmp_path):
    wanted = campaign(
        tmp_path,
        workloads={"deep": overloaded(6000)},
        platforms={"small": {"hosts": 64}},
        policies=["conservative", "replanning"],
        seeds="1-20",
        keep_jobs=False,
    )
    cancelled = []

    def cancel_one(tally):
        if tally.n_done >= 5 and not cancelled:
            cancelled.extend(jobs())
            subprocess.run(["scancel", *cancelled], check=True)

    workers = JobQueueWorkers("slurm", 1, options)
    tally = run_campaign(wanted, tmp_path / "out", workers, look=cancel_one)
    assert len(cancelled) == 1
    assert (tally.n_done, tally.n_failed) == (40, 0)
    assert results(tmp_path / "out") == results_here(wanted, tmp_path / "here")
    wait_until(lambda: jobs() == [])


def test_jobs_are_cancelled_on_an_interrupt(options, tmp_path):
    def interrupt(tally):
        if tally.n_done:
            raise KeyboardInterrupt

    workers = JobQueueWorkers("slurm", 2, options)
    with pytest.raises(KeyboardInterrupt):
        run_campaign(campaign(tmp_path), tmp_path / "out", workers, look=interrupt)
    wait_until(lambda: jobs() == [])


def test_what_slurm_says_of_a_job_that_it_refuses_is_told(options, tmp_path):
    workers = JobQueueWorkers("slurm", 1, options | {"queue": "abnormal"})
    with pytest.raises(InputError, match=r"^slurm: a job was refused: sbatch: error: invalid part"):
        run_campaign(campaign(tmp_path), tmp_path / "out", workers)
