"""batsim-py 1.0.5, unmodified, starts the `batsim` that `noctule batsim --install-shim` makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from client_runs import Inputs

import noctule as nt
from noctule.testing import start_times

FCFS = Path(__file__).parent / "fcfs_with_batsim_py.py"


def test_batsim_py_starts_the_shim_and_makes_the_schedule_of_fcfs(others: Path, inputs: Inputs):
    shims = inputs.folder / "shims"
    subprocess.run(
        [sys.executable, "-m", "noctule", "batsim", "--install-shim", shims],
        check=True,
        capture_output=True,
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"PATH": f"{shims}:{environment['PATH']}", "TMPDIR": str(inputs.folder)}
    done = subprocess.run(
        [others / "python", "-W", "ignore", FCFS, inputs.platform, inputs.workload],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = dict(line.split() for line in done.stdout.splitlines())
    workload = nt.load_workload(inputs.workload)
    platform = nt.load_platform(inputs.platform, host_order="lexicographic")
    expected = start_times(nt.simulate(platform, workload, "fcfs"))
    assert found == {f"w0!{job_id}": f"{date:.0f}" for job_id, date in expected.items()}
    assert (inputs.folder / "batsim_jobs.csv").exists()
