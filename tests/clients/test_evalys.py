"""evalys 4 reads what `noctule batsim` writes, and draws it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from client_runs import N_HOSTS, N_JOBS, Inputs, run_with

DRAW = Path(__file__).parent / "draw_with_evalys.py"


def test_evalys_reads_an_output_folder_and_draws_it(others: Path, inputs: Inputs):
    policy = f"{Path(__file__).parent / 'sleeper.py'}:Sleeper"
    served = [sys.executable, "-m", "noctule", "serve-policy", policy, "--endpoint", "ENDPOINT"]
    ended = run_with(served, inputs, "--energy")
    assert ended.codes == (0, 0), ended.said
    pictures = inputs.folder / "pictures"
    pictures.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [others / "python", "-W", "ignore", DRAW, ended.prefix, pictures],
        capture_output=True,
        text=True,
        env=environment | {"MPLBACKEND": "Agg", "MPLCONFIGDIR": str(inputs.folder)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(N_JOBS), str(N_HOSTS)]
    for name in ("gantt", "summary", "states", "power-states"):
        picture = (pictures / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 5000
