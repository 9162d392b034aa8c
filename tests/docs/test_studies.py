"""The studies run, and print what the papers print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"
TRACES = Path(os.environ.get("NOCTULE_SHARED", ROOT.parent / "shared")) / "traces"

pytest.importorskip("pyarrow")


def study(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(STUDIES / "run.py"), name, *words]
    environment = os.environ | {"NOCTULE_CACHE": str(ROOT / "no-such-cache"), "NOCTULE_SHARED": ""}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


def test_rigid_replay_gives_the_published_figures(tmp_path):
    if not TRACES.is_dir():
        pytest.skip(f"no {TRACES}; NOCTULE_SHARED names the folder of the shared reference data")
    answer = study("feedback-rigid", "--logs", str(TRACES), "-o", str(tmp_path / "out"))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert ["EASY", "mean_waiting_time", "0.07", "0.069", "-1.83%", "digits", "ok"] in lines
    assert sum(line[-1:] == ["ok"] for line in lines) == 18


def test_a_figure_that_differs_fails_the_study(tmp_path, monkeypatch, capsys):
    import runpy
    from decimal import Decimal

    import pandas as pd

    report = runpy.run_path(str(STUDIES / "run.py"))["report"]
    published = {
        "source": "a paper",
        "unit": "h",
        "row": [{"label": "x", "runs": {"policy": "x"}, "figures": {"makespan": Decimal("1.50")}}],
    }
    for seconds, agrees in ((5400.0, True), (5417.0, True), (5419.0, False)):
        results = pd.DataFrame({"policy": ["x"], "bound": [""], "makespan": [seconds]})
        assert report(published, results) is agrees
    assert "DIFFERS" in capsys.readouterr().out


def test_the_workloads_of_batsim_s_validation_run(tmp_path):
    answer = study("batsim-validation", "-o", str(tmp_path / "out"))
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("27 runs, 0 failed")


def test_without_the_log_a_study_says_how_to_get_it(tmp_path):
    answer = study("feedback-rigid", "-o", str(tmp_path / "out"))
    assert answer.returncode == 3
    assert "`noctule trace fetch kth-sp2` downloads it, --logs DIR names another" in answer.stderr


@pytest.mark.parametrize(
    "path", sorted(STUDIES.glob("*/campaign.toml")), ids=lambda p: p.parent.name
)
def test_every_study_says_what_it_is_about(path):
    assert path.parent.name in (STUDIES / "README.md").read_text()
    assert (path.parent / "README.md").read_text().startswith("# ")
