"""Nodes that do not boot, and jobs that wait again for them: the model against a real Slurm.

The program that switches nodes off ends their slurmd, the one that switches them on does nothing.
`make test-slurm` runs it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback_slurm import AGAINST_SLURM, loopback_slurm

import noctule as nt
from noctule.profile import Delay
from noctule.slurm.conf.settings import read_settings
from noctule.slurm.jobs.requests import Request, Requests
from noctule.slurm.model.policy import simulate_slurm
from noctule.slurm.site.boots import Boots

pytestmark = AGAINST_SLURM
OFF = """#!/bin/sh
for node in $(SLURM_CONF={folder}/slurm.conf scontrol show hostnames "$1"); do
    kill $(cat {folder}/slurmd.$node.pid)
done
"""
SAVING = """\
SelectType=select/linear
SchedulerParameters=bf_interval=30
SuspendProgram={folder}/off
ResumeProgram={folder}/on
SuspendTime=5
SuspendTimeout=3
ResumeTimeout=8
"""
LONGEST_LOOK = 12  # seconds between looks of the power thread, and what it takes to be heard of


def told(conf: Path, *words: str) -> dict[str, str]:
    """Return what scontrol shows of one thing."""
    environment = os.environ | {"SLURM_CONF": str(conf), "SLURM_TIME_FORMAT": "%s"}
    asked = ["scontrol", "--oneliner", "show", *words]
    shown = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
    return dict(part.split("=", 1) for part in shown.stdout.split() if "=" in part)


def until(happened: Callable[[], bool], patience: float = 60.0) -> float:
    """Wait until something has happened; return when that was seen."""
    ends = time.monotonic() + patience
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.2)
    return time.time()


def test_a_node_that_does_not_boot_is_set_down_and_its_job_may_not_start_for_121_seconds():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program, text in (("off", OFF.format(folder=folder)), ("on", "#!/bin/sh\n")):
            (folder / program).write_text(text)
            (folder / program).chmod(0o700)
        with loopback_slurm(folder, n_nodes=1, more=SAVING.format(folder=folder)) as slurm:
            until(lambda: told(slurm.conf, "node", "n1")["State"].endswith("+POWERED_DOWN"))
            submitted = subprocess.run(
                ["sbatch", "--parsable", "--output=/dev/null", "--wrap=sleep 1"],
                env=os.environ | {"SLURM_CONF": str(slurm.conf)},
                capture_output=True,
                text=True,
                check=True,
            )
            number = submitted.stdout.strip()
            given = until(
                lambda: told(slurm.conf, "job", number)["JobState"] in ("CONFIGURING", "RUNNING")
            )
            lost = until(lambda: told(slurm.conf, "job", number)["Restarts"] == "1")
            job, node = told(slurm.conf, "job", number), told(slurm.conf, "node", "n1")
            settings = read_settings(slurm.conf)
    assert "DOWN" in node["State"]
    assert node["Reason"].startswith("ResumeTimeout")
    assert int(job["EligibleTime"]) - int(job["SubmitTime"]) == 121
    assert 8 < lost - given < 8 + LONGEST_LOOK

    workload = nt.Workload.from_jobs(
        [nt.Job(id=1, submit_time=60.0, request=nt.workload.Request(1), profile=Delay(1))]
    )
    requests = Requests.of([Request(min_nodes=1, limit=1)])
    schedule, model = simulate_slurm(workload, settings, requests, boots=Boots(6.0, 1 - 1e-9))
    assert model.statistics()["failed_boots"] == 1
    first, second = schedule.column("finish_time")[0], schedule.column("submit_time")[1]
    assert 8 < first - 60 < 8 + LONGEST_LOOK
    assert second == pytest.approx(first, abs=0.01)
