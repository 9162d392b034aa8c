"""A decision component in a process of its own, as `noctule batsim5` asks it."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from batsim_runs import PLATFORM, job, workload

from noctule.commands.batsim5 import main

pytest.importorskip("zmq")

PROGRAM = Path(__file__).parent / "edc" / "fcfs.py"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.xml").write_text(PLATFORM)
    Path("w.json").write_text(workload(job(1, 0, 2, "d10"), job(2, 3, 3, "d5", walltime=100)))
    return tmp_path


@contextmanager
def component(endpoint: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, PROGRAM, endpoint, *words])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def run(endpoint: str, *words: str) -> int:
    return main(["-s", endpoint, "", "-p", "p.xml", "-w", "w.json", "-q", *words])


def test_a_process_decides(folder: Path) -> None:
    endpoint = f"ipc://{folder}/edc"
    with component(endpoint) as process:
        assert run(endpoint, "--timeout", "60") == 0
        assert process.wait(timeout=60) == 0
    with Path("out/jobs.csv").open(newline="") as file:
        starts = [row["starting_time"] for row in csv.DictReader(file)]
    assert starts == ["0.000000", "10.000000"]


@pytest.mark.parametrize(
    ("end", "timeout", "complaint"),
    [
        ("die", "60", "the peer went away"),
        ("hang", "2", "no reply came, after 2 s of waiting; --timeout sets how long that may be"),
    ],
)
def test_a_process_that_dies_or_hangs_ends_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str], end: str, timeout: str, complaint: str
) -> None:
    endpoint = f"ipc://{folder}/edc"
    with component(endpoint, end):
        assert run(endpoint, "--timeout", timeout) == 134
    assert complaint in capsys.readouterr().err
    # what happened so far is kept: the first job
    assert len(Path("out/jobs.csv.partial").read_text().splitlines()) == 2
    assert not Path("out/jobs.csv").exists()
