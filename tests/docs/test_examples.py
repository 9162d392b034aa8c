"""Every example runs, and says what it said when it was written."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from noctule.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.out")), ids=lambda path: path.stem)
def test_an_example_prints_what_stands_beside_it(path):
    command = [sys.executable, str(path.with_suffix(".py"))]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == path.read_text()


def test_the_log_of_the_demo_is_what_its_script_draws():
    command = [sys.executable, str(EXAMPLES / "night-log.py")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == (EXAMPLES / "night.swf").read_text()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("policy-*.py")), ids=lambda path: path.stem)
def test_the_command_in_the_docstring_of_a_policy_works(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    command = re.search(r"noctule (run .*)", path.read_text())[1]
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
    assert main([*words, "--quiet"]) == 0


def test_a_picture_has_a_box_for_every_run_of_hosts(tmp_path):
    main(
        [
            "run",
            str(EXAMPLES / "night.swf"),
            "--policy",
            "easy",
            "-o",
            str(tmp_path / "run"),
            "--quiet",
        ]
    )
    gantt = runpy.run_path(str(EXAMPLES / "gantt-svg.py"))["gantt"]
    from noctule import Schedule

    schedule = Schedule.load(tmp_path / "run")
    n_runs = sum(len(hosts.intervals()) for hosts in schedule.column("hosts"))
    assert gantt(schedule).count("<title>") == n_runs
