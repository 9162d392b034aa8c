"""Files of events and windows on the command line, in manifests and in campaigns."""

from __future__ import annotations

import json

import pytest
from campaign_files import LOG, described

from noctule import load_workload, metrics, simulate
from noctule.campaign import LocalWorkers, Plan, load_results, run_campaign
from noctule.cli import main
from noctule.errors import InputError
from noctule.formats.event_files import load_events
from noctule.formats.windows_toml import load_windows
from noctule.platform import Platform

# job 1 runs on hosts 0-2 from 0 to 100, job 3 on host 3 from 2 to 52, job 2 on all from 100 on
EVENTS = """{"timestamp": 50, "type": "machine_failed", "resources": "1"}
{"timestamp": 60, "type": "machine_restored", "resources": "1"}
"""
WINDOWS = """[[maintenance]]
hosts = "0"
from = 150
to = 400
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "events.jsonl").write_text(EVENTS)
    (tmp_path / "windows.toml").write_text(WINDOWS)
    return tmp_path


def run(capsys, *words):
    code = main(["run", "log.swf", "--policy", "easy", "--json", "--quiet", *words])
    printed = capsys.readouterr()
    return code, json.loads(printed.out) if code == 0 else printed.err


def test_a_run_takes_events_and_attempts(capsys):
    code, result = run(
        capsys, "--events", "events.jsonl", "--on-failure", "resubmit", "--checkpoint-every", "20"
    )
    numbers = result["metrics"]
    assert code == 0
    assert (numbers["n_jobs"], numbers["n_failed"], numbers["n_resubmitted"]) == (4, 1, 1)
    assert numbers["lost_node_seconds"] == 3 * 10  # of three hosts, since the checkpoint at 40
    # the rest of job 1 finds three hosts at 52, and job 2, which needs all four, waits for it
    assert numbers["makespan"] == 52 + 60 + 100


def test_a_run_takes_windows(capsys):
    _, result = run(capsys, "--windows", "windows.toml")
    assert result["metrics"]["makespan"] == 500  # job 2 does not fit in front of the maintenance


def test_files_of_events_and_windows_belong_to_the_manifest(capsys, folder):
    words = ("--events", "events.jsonl", "--windows", "windows.toml", "-o", "out")
    assert run(capsys, *words)[0] == 0
    manifest = json.loads((folder / "out/manifest.json").read_text())
    paths = [file["path"] for file in manifest["inputs"]]
    assert paths == ["log.swf", "events.jsonl", "windows.toml"]
    assert main(["rerun", "out/manifest.json", "--quiet"]) == 0
    (folder / "windows.toml").write_text(WINDOWS.replace("400", "500"))
    assert main(["rerun", "out/manifest.json", "--quiet"]) != 0
    assert "windows.toml: has changed since the run" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_a_sentence(capsys, folder):
    (folder / "events.jsonl").write_text('{"timestamp": 1}')
    code, error = run(capsys, "--events", "events.jsonl")
    assert code != 0
    assert "events.jsonl: line 1: type: missing, expected a string" in error
    assert "no such file" in run(capsys, "--windows", "nowhere.toml")[1]


def test_generated_failures_can_be_run_with(capsys, folder):
    words = "--hosts 4 --mtbf 300 --mttr 20 --until 900 --seed 1 -o drawn.jsonl --json --quiet"
    assert main(["generate", "failures", *words.split()]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["output"] == "drawn.jsonl"
    assert told["failures"]["n_failures"] == len(load_events("drawn.jsonl")) / 2
    first = (folder / "drawn.jsonl").read_bytes()
    assert main(["generate", "failures", *words.split(), "--force"]) == 0
    assert (folder / "drawn.jsonl").read_bytes() == first
    capsys.readouterr()
    assert run(capsys, "--events", "drawn.jsonl", "--on-failure", "resubmit")[0] == 0


def test_a_campaign_varies_files_of_events_and_windows(tmp_path):
    pytest.importorskip("pyarrow")
    options = {
        "events": ["none", "events.jsonl"],
        "windows": ["none", "windows.toml"],
        "on_failure": "resubmit",
    }
    campaign = described(tmp_path, options=options)
    run_campaign(campaign, tmp_path / "out", LocalWorkers(2))
    table = load_results(tmp_path / "out")
    assert set(table.status) == {"done"}
    workload = load_workload("log.swf")
    for row in table.itertuples():
        events = None if row.events == "none" else load_events(row.events)
        windows = None if row.windows == "none" else load_windows(row.windows)
        schedule = simulate(
            Platform.homogeneous(4),
            workload,
            "easy",
            events,
            windows=windows,
            on_failure="resubmit",
        )
        numbers = metrics.summary(schedule)
        assert (row.makespan, row.goodput) == (numbers["makespan"], numbers["goodput"])
        assert row.n_resubmitted == (0 if events is None else 1)


def test_runs_of_a_campaign_are_known_by_the_content_of_these_files(tmp_path):
    def key():
        (run,) = Plan(described(tmp_path, options={"events": "events.jsonl"}))
        return run.spec.key

    before = key()
    (tmp_path / "events.jsonl").write_text(EVENTS + "\n")
    assert key() != before
    (tmp_path / "events.jsonl").write_text(EVENTS)
    assert key() == before


def test_a_campaign_refuses_files_that_make_no_sense(tmp_path):
    (tmp_path / "windows.toml").write_text("[[maintenance]]\nfrom = 3\nto = 2\nhosts = '0'")
    with pytest.raises(
        InputError, match=r"options.windows: .*windows.toml: maintenance 0: ends at"
    ):
        described(tmp_path, options={"windows": "windows.toml"})
    with pytest.raises(InputError, match=r"options.events: no file"):
        described(tmp_path, options={"events": "nowhere"})
