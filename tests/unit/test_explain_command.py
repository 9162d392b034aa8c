"""noctule explain and noctule metrics --lost: runs in folders, and what is said of them."""

from __future__ import annotations

import json

import pytest

from noctule.cli import main

WORKLOAD = {
    "nb_res": 4,
    "jobs": [
        {"id": "a", "subtime": 0, "res": 3, "walltime": 10, "profile": "ten"},
        {"id": "b", "subtime": 1, "res": 4, "walltime": 10, "profile": "ten"},
        {"id": "c", "subtime": 2, "res": 1, "walltime": 20, "profile": "ten"},
        {"id": "d", "subtime": 3, "res": 4, "walltime": 20, "profile": "ten", "cancel_time": 7},
    ],
    "profiles": {"ten": {"type": "delay", "delay": 9}},
}
WINDOWS = """
[[maintenance]]
name = "repair"
hosts = "0-3"
from = 5
to = 30
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))
    assert main(["run", "w.json", "--policy", "easy", "-o", "easy", "--quiet"]) == 0
    return tmp_path


def test_intervals_are_shown_with_those_in_the_way(folder, capsys):
    assert main(["explain", "easy", "c"]) == 0
    told = capsys.readouterr().out
    assert "c    0.0   7.0   7.0      free but kept for others; job b" in told
    assert "c    7.0   16.0  9.0      resources busy; job b" in told
    assert "job c waited 16.0 s: resources busy 9.0, free but kept for others 7.0" in told


def test_programs_are_told_the_same(folder, capsys):
    assert main(["explain", "easy", "b", "d", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    first, second = told["jobs"]
    assert first["intervals"] == [
        {
            "begin": 1.0,
            "end": 9.0,
            "seconds": 8.0,
            "cause": "resources busy",
            "detail": "",
            "jobs": ["a"],
        }
    ]
    # when its user gave up is in the workload that the manifest names
    assert (second["start"], second["wait"]) == (None, 4.0)
    assert told["notes"] == []


def test_what_is_gone_is_missed_in_a_note(folder, capsys):
    (folder / "w.json").unlink()
    assert main(["explain", "easy", "d"]) == 0
    told = capsys.readouterr().out
    assert "note: dependencies and cancellations are not known: w.json: an input of the run" in told
    assert "note: job d was cancelled, and when it left the queue is not recorded" in told


def test_windows_come_from_where_the_manifest_leads(folder, capsys):
    (folder / "windows.toml").write_text(WINDOWS)
    words = ["--policy", "easy", "--windows", "windows.toml", "-o", "closed", "--quiet"]
    assert main(["run", "w.json", *words]) == 0
    assert main(["explain", "closed", "a"]) == 0
    assert "kept by a reservation; repair" in capsys.readouterr().out
    (folder / "windows.toml").write_text(WINDOWS + "# changed\n")
    assert main(["explain", "closed", "a"]) == 0
    assert "note: windows are not known: windows.toml: has changed" in capsys.readouterr().out


def test_a_job_that_is_not_there_is_a_sentence(folder, capsys):
    assert main(["explain", "easy", "zebra"]) == 3
    assert "noctule: job 'zebra': there is no such job, expected the id" in capsys.readouterr().err


def test_lost_capacity_is_shown_with_its_shares(folder, capsys):
    assert main(["metrics", "easy", "--lost", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["host_seconds"]["busy"] == 3 * 9 + 4 * 9 + 9
    assert run["whole"] == sum(run["host_seconds"].values()) == 4 * 27
    assert main(["metrics", "easy", "--lost"]) == 0
    assert "draining" in capsys.readouterr().out


def test_lost_capacity_is_not_told_by_user(folder, capsys):
    assert main(["metrics", "easy", "--lost", "--by-user"]) == 3
    assert "--lost: got --by-user as well, expected one of them" in capsys.readouterr().err
