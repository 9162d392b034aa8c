"""The scheduler of the examples, which knows only the Kubernetes API, decides a whole run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import noctule as nt
from noctule.cli import main
from noctule.vclock.support import is_supported

pytest.importorskip("kubernetes")

ROOT = Path(__file__).parents[2]
SCHEDULER = ROOT / "examples" / "kube-scheduler.py"


@pytest.fixture
def workload(tmp_path) -> str:
    """Eight jobs of one to four hosts on four, more than fit at once."""
    sizes, delays = [1, 3, 2, 4, 1, 1, 2], [10, 25, 40]
    jobs = [
        {"id": i, "subtime": 2 * i, "res": sizes[i % 7], "walltime": 100, "profile": f"d{i % 3}"}
        for i in range(8)
    ]
    profiles = {f"d{i}": {"type": "delay", "delay": delay} for i, delay in enumerate(delays)}
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    return str(path)


def started(folder: Path) -> list[tuple[int, float, str]]:
    schedule = nt.Schedule.load(folder)
    columns = (schedule.column(name).tolist() for name in ("job_id", "start_time", "hosts"))
    return sorted((job, start, str(hosts)) for job, start, hosts in zip(*columns, strict=True))


def test_it_starts_whole_jobs_when_and_where_fcfs_does(workload, tmp_path):
    if not is_supported():
        pytest.skip(is_supported().reason)
    kube, fcfs = tmp_path / "kube", tmp_path / "fcfs"
    command = [sys.executable, str(SCHEDULER)]
    words = [workload, "--hosts", "4", "-o", str(kube), "--quiet", "--", *command]
    assert main(["kube", *words]) == 0
    words = [workload, "--hosts", "4", "--policy", "fcfs", "-o", str(fcfs), "--quiet"]
    assert main(["run", *words]) == 0
    assert started(kube) == started(fcfs)
