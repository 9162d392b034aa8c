"""The command line, in this process: what it prints where, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from noctule import metrics
from noctule.cli import ExitCode, main
from noctule.errors import NoctuleError, ProtocolError

LOG = (
    "; MaxProcs: 4\n"
    "1 0 -1 100 3 -1 -1 3 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "2 1 -1 10 4 -1 -1 4 20 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "3 2 -1 50 1 -1 -1 1 50 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "4 3 -1 50 9 -1 -1 9 50 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
)
LAZY = "class Lazy:\n    def decide(self, view, events):\n        return []\n"
BROKEN = "class Broken:\n    def decide(self, view, events):\n        raise ValueError('oops')\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log and some policies in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "lazy.py").write_text(LAZY)
    (tmp_path / "broken.py").write_text(BROKEN)
    return tmp_path


# noctule run


def test_run_prints_the_summary_on_stdout_and_the_talk_on_stderr(capsys: Capture) -> None:
    assert main(["run", "log.swf", "--policy", "easy"]) == ExitCode.OK
    out, err = capsys.readouterr()
    matrix, _, singles = out.partition("\n\n")
    assert matrix.splitlines()[0].split() == ["easy", "mean", "median", "p90", "p95", "p99", "max"]
    # waits: 1 starts at 0, 3 at 2, 2, submitted at 1, at 100
    assert matrix.splitlines()[1].split()[:4] == ["waiting_time", "(s)", "33.0000", "0.0000"]
    rows = dict(line.rsplit(maxsplit=1) for line in singles.splitlines())
    assert rows["n_ended (jobs)"] == "3"
    assert rows["n_rejected (jobs)"] == "1"
    assert "n_cancelled (jobs)" not in rows
    assert "log.swf: jobs kept: 4\n" in err
    assert "log.swf: 4 hosts, as its header MaxProcs tells\n" in err
    assert "1 job rejected: larger than the platform\n" in err
    assert "4 jobs simulated in " in err


def test_run_writes_a_folder(folder: Path, capsys: Capture) -> None:
    assert main(["run", "log.swf", "--policy", "easy", "-o", "out/"]) == ExitCode.OK
    assert (folder / "out/jobs.csv").is_file()
    assert capsys.readouterr().err.endswith("out/: written\n")


def test_run_refuses_an_existing_folder_before_it_simulates(folder: Path, capsys: Capture) -> None:
    (folder / "out").mkdir()
    assert main(["run", "log.swf", "--policy", "easy", "-o", "out"]) == ExitCode.INPUT
    assert capsys.readouterr() == ("", "noctule: out: exists already; --force replaces it\n")
    assert main(["run", "log.swf", "--policy", "easy", "-o", "out", "--force"]) == ExitCode.OK


def test_run_with_json_prints_one_object(capsys: Capture) -> None:
    assert main(["run", "log.swf", "--policy", "easy", "--json"]) == ExitCode.OK
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert {name: result[name] for name in ("workload", "policy", "n_hosts", "output")} == {
        "workload": "log.swf",
        "policy": "easy",
        "n_hosts": 4,
        "output": None,
    }
    assert list(result["metrics"]) == [metric.name for metric in metrics.METRICS]
    assert result["metrics"]["mean_waiting_time"] == 33.0
    assert "4 jobs simulated" in err


def test_numbers_that_do_not_exist_are_null_in_json(capsys: Capture) -> None:
    arguments = ["run", "log.swf", "--policy", "easy", "--hosts", "4", "--until", "0", "--json"]
    assert main(arguments) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["metrics"]["mean_waiting_time"] is None


def test_quiet_says_nothing(capsys: Capture) -> None:
    assert main(["run", "log.swf", "--policy", "easy", "--quiet", "-o", "out"]) == ExitCode.OK
    assert main(["metrics", "out", "--quiet"]) == ExitCode.OK
    assert main(["rerun", "out/manifest.json", "--quiet"]) == ExitCode.OK
    assert capsys.readouterr() == ("", "")


def test_quiet_with_json_prints_the_object_alone(capsys: Capture) -> None:
    assert main(["run", "log.swf", "--policy", "easy", "--quiet", "--json"]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert json.loads(out)["metrics"]["n_jobs"] == 4
    assert err == ""


def test_every_option_of_run_reaches_the_manifest(folder: Path) -> None:
    arguments = [
        *("run", "log.swf", "-o", "out", "--policy", "fcfs(order=sjf)"),
        *("--hosts", "9", "--speed", "2", "--processors", "allocated"),
        *("--walltime-factor", "none", "--reference-speed", "3", "--dependencies"),
        *("--until", "1000", "--walltimes", "policy", "--launch-delay", "1.5"),
        *("--epilogue-delay", "2.5", "--clairvoyant", "--wait-for-timers"),
        *("--energy", "off", "--solver", "max-min", "--share-hosts", "--machine"),
        *("--report-ranks", "--wake-for-jobs", "no"),
        *("--on-failure", "resubmit", "--max-attempts", "3", "--checkpoint-every", "60"),
        *("--checkpoint-cost", "4.5", "--restart-cost", "6.5"),
        *("--events", "events.jsonl", "--windows", "windows.toml"),
        *("--replay", "rigid(resubmit=3)"),
    ]
    for name in ("events.jsonl", "windows.toml"):
        (folder / name).write_text("")
    assert main(arguments) == ExitCode.OK
    options = json.loads((folder / "out/manifest.json").read_text())["options"]
    assert options == {
        "workload": "log.swf",
        "policy": "fcfs(order=sjf)",
        "platform": {"n_hosts": 9, "speed": 2.0, "file": None, "host_order": "natural"},
        "reading": {
            "processors": "allocated",
            "walltime_factor": None,
            "profiles": "compute",
            "reference_speed": 3.0,
            "dependencies": True,
        },
        "simulation": {
            "until": 1000.0,
            "enforce_walltime": False,
            "reject_oversized": True,
            "launch_delay": 1.5,
            "epilogue_delay": 2.5,
            "clairvoyant": True,
            "wait_for_timers": True,
            "energy": "off",
            "solver": "max-min",
            "share_hosts": True,
            "machine": True,
            "report_ranks": True,
            "batsim_latency": False,
            "wake_for_jobs": False,
            "on_failure": "resubmit",
            "max_attempts": 3,
            "checkpoint_every": 60.0,
            "checkpoint_cost": 4.5,
            "restart_cost": 6.5,
            "replay": "rigid(resubmit=3)",
        },
        "footprint": {"carbon": None, "price": None},
        "events": "events.jsonl",
        "windows": "windows.toml",
    }


def test_notes_tell_what_became_of_jobs_that_did_not_end(capsys: Capture) -> None:
    assert main(["run", "log.swf", "--policy", "easy", "--until", "50"]) == ExitCode.OK
    err = capsys.readouterr().err
    assert "2 jobs still running when the run was stopped\n" in err
    assert "1 job still waiting when the run was stopped\n" in err


# The other commands


def test_rerun_says_which_files_are_the_same(capsys: Capture) -> None:
    main(["run", "log.swf", "--policy", "easy", "-o", "out", "--quiet"])
    assert main(["rerun", "out/manifest.json"]) == ExitCode.OK
    assert (
        capsys.readouterr().out == "jobs.csv: same\nschedule.csv: same\nmachine_states.csv: same\n"
    )


def test_rerun_fails_if_a_file_differs(folder: Path, capsys: Capture) -> None:
    main(["run", "log.swf", "--policy", "easy", "-o", "out", "--quiet"])
    manifest = folder / "out/manifest.json"
    text = manifest.read_text().replace('"policy": "easy"', '"policy": "fcfs"')
    manifest.write_text(text)
    assert main(["rerun", "out/manifest.json", "--json"]) == ExitCode.CHECK_FAILED
    result = json.loads(capsys.readouterr().out)
    assert result["different"] == ["jobs.csv", "schedule.csv", "machine_states.csv"]
    assert result["same"] == []
    assert main(["rerun", "out/manifest.json"]) == ExitCode.CHECK_FAILED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "jobs.csv: differs"
    versions = json.loads(text)["versions"]
    assert lines[-1] == "the run was made by " + ", ".join(f"{k} {v}" for k, v in versions.items())
    assert list(versions) == ["python", "noctule", "numpy"]


def test_metrics_compares_runs_side_by_side(capsys: Capture) -> None:
    for policy in ("easy", "fcfs"):
        main(["run", "log.swf", "--policy", policy, "-o", policy, "--quiet"])
    assert main(["metrics", "easy", "fcfs"]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["metric", "easy", "fcfs"]
    # FCFS: 2 starts at 100, 3 after it at 110: (0 + 99 + 108) / 3
    assert ["mean_waiting_time", "(s)", "33.0000", "69.0000"] in [line.split() for line in lines]


def test_metrics_shows_every_statistic_on_demand(capsys: Capture) -> None:
    main(["run", "log.swf", "--policy", "easy", "-o", "out", "--quiet"])
    main(["metrics", "out"])
    assert "p99_slowdown" not in capsys.readouterr().out
    main(["metrics", "out", "--all"])
    assert "p99_slowdown" in capsys.readouterr().out


def test_metrics_as_json_lists_the_runs(capsys: Capture) -> None:
    main(["run", "log.swf", "--policy", "easy", "-o", "out", "--quiet"])
    assert main(["metrics", "out", "--json", "--warm-up", "1.5", "--threshold", "60"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["run"] == "out"
    # job 3 is the only one submitted after 1.5 that ended: 50 / 60, at least 1
    assert (run["metrics"]["n_ended"], run["metrics"]["max_bounded_slowdown"]) == (1, 1.0)


def test_check_finds_nothing_wrong_with_our_own_schedule(capsys: Capture) -> None:
    main(["run", "log.swf", "--policy", "easy", "-o", "out", "--quiet"])
    assert main(["check", "out/jobs.csv", "--hosts", "4", "--policy", "easy"]) == ExitCode.OK
    assert capsys.readouterr().out == "out/jobs.csv: 4 jobs, no violations\n"


def test_check_says_what_a_schedule_breaks(folder: Path, capsys: Capture) -> None:
    (folder / "jobs.csv").write_text(
        "job_id,submit_time,start_time,finish_time,hosts\n1,5,4,10,0\n2,0,9,20,0\n"
    )
    assert main(["check", "jobs.csv", "--hosts", "1"]) == ExitCode.CHECK_FAILED
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("started before submission: job 1: ")
    assert lines[1].startswith("host used twice: job 2: ")
    assert lines[2] == "jobs.csv: 2 jobs, 2 violations"


def test_check_as_json_lists_rules_jobs_and_dates(folder: Path, capsys: Capture) -> None:
    (folder / "jobs.csv").write_text(
        "job_id,submit_time,start_time,finish_time,hosts\n1,5,4,10,0\n"
    )
    assert main(["check", "jobs.csv", "--hosts", "1", "--json"]) == ExitCode.CHECK_FAILED
    result = json.loads(capsys.readouterr().out)
    assert (result["n_jobs"], result["n_violations"]) == (1, 1)
    (violation,) = result["violations"]
    assert (violation["rule"], violation["job_id"]) == ("started before submission", 1)


def test_check_takes_dates_within_the_tolerance_for_one_instant(folder: Path) -> None:
    (folder / "jobs.csv").write_text(
        "job_id,submit_time,start_time,finish_time,hosts\n1,5,4.999,10,0\n"
    )
    assert main(["check", "jobs.csv", "--hosts", "1"]) == ExitCode.CHECK_FAILED
    assert main(["check", "jobs.csv", "--hosts", "1", "--tolerance", "0.01"]) == ExitCode.OK


def test_policies_lists_names_and_parameters(capsys: Capture) -> None:
    assert main(["policies"]) == ExitCode.OK
    out = capsys.readouterr().out
    for name in ("conservative", "easy", "fcfs", "filler", "replanning"):
        assert f"\n{name} " in out
    assert "  order: fcfs, sjf, ljf, smallest, largest, smallest_area, wfp3, an expression\n" in out
    assert (
        "  allocation: first, best_effort_contiguous, contiguous, best_effort_local, local\n"
    ) in out
    assert main(["policies", "--json"]) == ExitCode.OK
    assert "easy" in json.loads(capsys.readouterr().out)["policies"]


def test_version_is_printed(capsys: Capture) -> None:
    from importlib.metadata import version

    assert main(["--version"]) == ExitCode.OK
    assert capsys.readouterr().out == f"noctule {version('noctule')}\n"


# How it ends


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.swf", "--policy", "easy"], "none.swf: no such file"),
        (["run", ".", "--policy", "easy"], ".: got a directory, expected a file"),
        (
            ["run", "log.swf", "--policy", "easy", "--speed", "-1"],
            "platform: speed: got -1.0, expected a positive number",
        ),
        (
            ["metrics", "none"],
            "none: no file jobs.csv, "
            "expected a folder with jobs.csv, schedule.csv, machine_states.csv",
        ),
        (["check", "none.csv", "--hosts", "4"], "none.csv: no such file"),
        (["rerun", "none.json"], "none.json: cannot be read: No such file or directory"),
    ],
)
def test_a_wrong_input_is_one_line(arguments: list[str], message: str, capsys: Capture) -> None:
    assert main([*arguments, "--quiet"]) == ExitCode.INPUT
    assert capsys.readouterr() == ("", f"noctule: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "log.swf"], "Missing option '--policy'."),
        (["run", "log.swf", "--policy", "easy", "--hosts", "0"], "0 is not in the range x>=1."),
        (
            ["run", "log.swf", "--policy", "easy", "--walltime-factor", "x"],
            "Invalid value for '--walltime-factor': 'x' is not a number, nor none",
        ),
        (["fly"], "No such command 'fly'."),
        (["metrics"], "Missing argument 'DIR...'."),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(
    arguments: list[str], message: str, capsys: Capture
) -> None:
    assert main(arguments) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Usage: noctule")
    assert err.rstrip().endswith(message)


def test_a_policy_that_fails_is_a_decision_error(capsys: Capture) -> None:
    arguments = ["run", "log.swf", "--policy", "broken.py:Broken", "--quiet"]
    assert main(arguments) == ExitCode.DECISION
    err = capsys.readouterr().err
    assert err.startswith("noctule: t=0 ")
    assert "ValueError: oops" in err
    assert "Traceback" not in err


def test_a_policy_that_never_decides_is_a_deadlock(capsys: Capture) -> None:
    arguments = ["run", "log.swf", "--policy", "lazy.py:Lazy", "-o", "out", "--quiet"]
    assert main(arguments) == ExitCode.DEADLOCK
    assert capsys.readouterr().err.startswith("noctule: ")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ProtocolError("peer: nonsense"), ExitCode.PROTOCOL, "noctule: peer: nonsense\n"),
        (NoctuleError("something"), ExitCode.INPUT, "noctule: something\n"),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "\nnoctule: interrupted\n"),
    ],
)
def test_errors_have_exit_codes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    error: BaseException,
    code: ExitCode,
    line: str,
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("noctule.run.execute", fail)
    assert main(["run", "log.swf", "--policy", "easy"]) == code
    assert capsys.readouterr().err == line


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("noctule.run.execute", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["run", "log.swf", "--policy", "easy"])


def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", "import sys; from noctule.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*command, "policies"], stdout=writing, stderr=subprocess.PIPE, check=False, text=True
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (ExitCode.PIPE_CLOSED, "")


def test_help_imports_neither_numpy_nor_rich() -> None:
    code = (
        "import sys; from noctule.cli import main; main(['--help']);"
        "print([m for m in ('numpy', 'pandas', 'rich', 'msgspec') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: noctule [OPTIONS] COMMAND [ARGS]...")
    assert done.stdout.endswith("[]\n")


def test_run_needs_neither_pandas_nor_rich() -> None:
    code = (
        "import sys; from noctule.cli import main;"
        "main(['run', 'log.swf', '--policy', 'easy', '-o', 'out', '--quiet']);"
        "print([m for m in ('pandas', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_full_standard_output_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(["run", "log.swf", "--policy", "easy"]) == ExitCode.INPUT
        monkeypatch.undo()
    message = "noctule: standard output: cannot be written: No space left on device\n"
    assert capsys.readouterr().err.endswith(message)


def test_run_takes_a_platform_file_and_the_manifest_knows_it(capsys: Capture) -> None:
    Path("small.toml").write_text('[[hosts]]\ncount = 4\nname = "n{}"\nspeed = "1Gf"\n')
    assert (
        main(["run", "log.swf", "--platform", "small.toml", "--policy", "easy", "-o", "out"]) == 0
    )
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert [file["path"] for file in manifest["inputs"]] == ["log.swf", "small.toml"]
    assert main(["rerun", "out/manifest.json", "--quiet"]) == ExitCode.OK
    words = ["run", "log.swf", "--platform", "small.toml", "--hosts", "5", "--policy", "easy"]
    assert main(words) == ExitCode.INPUT
    message = "noctule: small.toml: got 4 hosts, expected 5 (--hosts)\n"
    assert capsys.readouterr().err.endswith(message)


def test_check_allows_for_dates_that_a_file_has_rounded(capsys: Capture) -> None:
    # thirds of seconds: in the file, a job may seem to start a microsecond before hosts are free
    main(["run", "log.swf", "--policy", "easy", "--speed", "3", "-o", "out", "--quiet"])
    assert main(["check", "out/jobs.csv", "--hosts", "4", "--policy", "easy"]) == ExitCode.OK
    assert "no violations" in capsys.readouterr().out


# Power and networks

PAIR = """\
<?xml version="1.0"?>
<platform version="4.1"><zone id="all" routing="Full">
  <host id="a" speed="1f"><prop id="wattage_per_state" value="100:200"/></host>
  <host id="b" speed="1f"><prop id="wattage_per_state" value="100:200"/></host>
</zone></platform>
"""
TALKING = {
    "nb_res": 2,
    "profiles": {"t": {"type": "parallel_homogeneous", "cpu": 10, "com": 1}},
    "jobs": [{"id": 1, "subtime": 0, "res": 2, "profile": "t"}],
}


def test_energy_is_counted_shown_and_written(folder: Path, capsys: Capture) -> None:
    (folder / "pair.xml").write_text(PAIR)
    (folder / "w.json").write_text(json.dumps(TALKING))
    command = ["run", "w.json", "--policy", "fcfs", "--platform", "pair.xml", "--energy", "exact"]
    assert main([*command, "-o", "out"]) == ExitCode.OK
    printed = capsys.readouterr()
    assert "joules (J)           4000.0000\n" in printed.out
    # what SimGrid would not say at all
    assert "w.json" in printed.err
    assert printed.err.count("no route") == 1
    assert main(["metrics", "out", "--json"]) == ExitCode.OK
    numbers = json.loads(capsys.readouterr().out)["runs"][0]["metrics"]
    assert (numbers["joules"], numbers["mean_power"]) == (4000, 400)
    assert main(["rerun", "out/manifest.json"]) == ExitCode.OK
    assert "pstate_changes.csv: same" in capsys.readouterr().out


def test_runs_with_and_without_energy_stand_side_by_side(folder: Path, capsys: Capture) -> None:
    (folder / "pair.xml").write_text(PAIR)
    (folder / "w.json").write_text(json.dumps(TALKING))
    command = ["run", "w.json", "--policy", "fcfs", "--platform", "pair.xml", "--quiet"]
    assert main([*command, "-o", "plain"]) == ExitCode.OK
    assert main([*command, "-o", "counted", "--energy", "simgrid"]) == ExitCode.OK
    assert main(["metrics", "plain", "counted"]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    (joules,) = [line.split() for line in lines if line.startswith("joules (J)")]
    assert joules[2:] == ["-", "4000.0000"]
