"""Runs: the folder that appears whole or not at all, its manifest, and doing a run again."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from noctule import load_workload
from noctule.errors import InputError
from noctule.run import (
    Execution,
    PlatformOptions,
    ReadingOptions,
    RunOptions,
    SimulationOptions,
    check_target,
    execute,
    hosts_told_by,
    read_manifest,
    rerun,
    write_run,
)

LOG = (
    "; MaxProcs: 4\n"
    "1 0 -1 100 3 -1 -1 3 100 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "2 1 -1 10 4 -1 -1 4 20 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "3 2 -1 50 1 -1 -1 1 50 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
)
POLICY = """
from noctule.messages import StartJob

class Greedy:
    def __init__(self, most: int = 99):
        self.most = most

    def decide(self, view, events):
        for job in view.waiting:
            if job.n_hosts <= min(view.n_free, self.most):
                yield StartJob(job)
                return
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A log in the current folder, by its name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)
    return "log.swf"


@pytest.fixture
def execution(log: str) -> Execution:
    return execute(RunOptions(log, "easy"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refusal(call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    return str(caught.value)


# Executing


def test_execute_reads_simulates_and_says_what_it_did(log: str) -> None:
    # 4 hosts: 1 holds 3 of them until 100; 3 passes 2 on the last one, which starts at 100
    seen: list[int] = []
    execution = execute(
        RunOptions(log, "easy"), on_read=lambda workload: seen.append(len(workload))
    )
    assert seen == [3]
    starts = execution.schedule.column("start_time")
    assert dict(zip(execution.schedule.column("job_id").tolist(), starts, strict=True)) == {
        1: 0.0,
        3: 2.0,
        2: 100.0,
    }
    assert execution.timing.read_s > 0
    assert execution.timing.simulate_s > 0


def test_options_reach_reader_platform_and_simulation(log: str) -> None:
    options = RunOptions(
        log,
        "fcfs",
        platform=PlatformOptions(8, speed=2.0),
        reading=ReadingOptions(walltime_factor=3.0),
        simulation=SimulationOptions(until=40.0, launch_delay=5.0),
    )
    schedule = execute(options).schedule
    # 8 hosts of speed 2: all start at once, after 5 s of launch take half their runtime
    assert schedule.platform.n_hosts == 8
    assert schedule.column("job_id").tolist() == [2, 3, 1]
    assert schedule.column("finish_time").tolist()[:2] == [11.0, 32.0]
    assert schedule.column("state").tolist() == ["completed", "completed", "running"]
    assert schedule.column("walltime").tolist() == [30.0, 150.0, 300.0]


def test_the_number_of_hosts_can_come_from_the_log(execution: Execution) -> None:
    assert execution.schedule.platform.n_hosts == 4
    assert execution.manifest.options.platform.n_hosts == 4


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("; MaxNodes: 7\n; MaxProcs: 100\n", (100, "MaxProcs")),
        ("; MaxNodes: 7\n", (7, "MaxNodes")),
        ("; MaxProcs: -1\n; MaxNodes: 7\n", (7, "MaxNodes")),
    ],
)
def test_the_best_header_tells_the_number_of_hosts(
    tmp_path: Path, header: str, told: tuple[int, str]
) -> None:
    (tmp_path / "log.swf").write_text(header + LOG.split("\n", 1)[1])
    assert hosts_told_by(load_workload(tmp_path / "log.swf")) == told


def test_nb_res_of_a_batsim_workload_tells_the_number_of_hosts(tmp_path: Path) -> None:
    profile = {"type": "delay", "delay": 5}
    job = {"id": 1, "subtime": 0, "res": 1, "profile": "d"}
    text = json.dumps({"nb_res": 6, "profiles": {"d": profile}, "jobs": [job]})
    (tmp_path / "w.json").write_text(text)
    assert hosts_told_by(load_workload(tmp_path / "w.json")) == (6, "nb_res")


def test_without_a_header_the_number_of_hosts_must_be_given(log: str) -> None:
    Path(log).write_text(LOG.split("\n", 1)[1])
    assert refusal(execute, RunOptions(log, "easy")) == (
        "log.swf: no header MaxProcs, MaxNodes, nb_res tells how many hosts there are, "
        "expected --hosts"
    )


# Writing


def test_a_run_has_its_five_files_and_nothing_else_is_left(
    execution: Execution, tmp_path: Path
) -> None:
    write_run("a/b/out", execution)
    assert sorted(contents(tmp_path / "a/b/out")) == [
        "jobs.csv",
        "machine_states.csv",
        "manifest.json",
        "schedule.csv",
        "timing.json",
    ]
    assert names_in(tmp_path / "a/b") == ["out"]


def test_the_manifest_tells_inputs_options_and_outputs(
    execution: Execution, tmp_path: Path
) -> None:
    write_run("out", execution)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["format"] == 1
    assert manifest["seed"] is None
    assert manifest["options"] == {
        "workload": "log.swf",
        "policy": "easy",
        "platform": {"n_hosts": 4, "speed": 1.0, "file": None, "host_order": "natural"},
        "reading": {
            "processors": "requested",
            "walltime_factor": 1.0,
            "profiles": "compute",
            "reference_speed": None,
            "dependencies": False,
        },
        "simulation": {
            "until": None,
            "enforce_walltime": True,
            "reject_oversized": True,
            "launch_delay": 0.0,
            "epilogue_delay": 0.0,
            "clairvoyant": False,
            "wait_for_timers": False,
            "energy": "off",
            "solver": "simgrid",
            "share_hosts": False,
            "machine": False,
            "report_ranks": False,
            "batsim_latency": False,
            "wake_for_jobs": None,
            "on_failure": "end",
            "max_attempts": None,
            "checkpoint_every": None,
            "checkpoint_cost": 0.0,
            "restart_cost": 0.0,
            "replay": "rigid",
        },
        "footprint": {"carbon": None, "price": None},
        "events": None,
        "windows": None,
    }
    digest = hashlib.sha256(LOG.encode()).hexdigest()
    assert manifest["inputs"] == [{"path": "log.swf", "size": len(LOG), "sha256": digest}]
    for output in manifest["outputs"]:
        data = (tmp_path / "out" / output["path"]).read_bytes()
        assert output["size"] == len(data)
        assert output["sha256"] == hashlib.sha256(data).hexdigest()


def test_the_same_inputs_give_the_same_bytes(log: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_run(name, execute(RunOptions(log, "conservative")))
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    del one["timing.json"], two["timing.json"]
    assert one == two


def test_timing_adds_up(execution: Execution, tmp_path: Path) -> None:
    write_run("out", execution)
    timing = json.loads((tmp_path / "out/timing.json").read_text())
    assert list(timing) == ["read_s", "simulate_s", "write_s", "total_s"]
    parts = timing["read_s"] + timing["simulate_s"] + timing["write_s"]
    assert timing["total_s"] == pytest.approx(parts)
    assert timing["write_s"] > 0


def test_an_existing_folder_is_left_alone(execution: Execution, tmp_path: Path) -> None:
    write_run("out", execution)
    before = contents(tmp_path / "out")
    assert refusal(write_run, "out", execution) == "out: exists already; --force replaces it"
    assert contents(tmp_path / "out") == before


def test_force_replaces_a_run_whole(execution: Execution, log: str, tmp_path: Path) -> None:
    write_run("out", execution)
    write_run("out", execute(RunOptions(log, "fcfs")), force=True)
    assert read_manifest("out/manifest.json").options.policy == "fcfs"
    assert names_in(tmp_path) == ["log.swf", "out"]


def test_force_does_not_remove_what_is_not_a_run(execution: Execution, tmp_path: Path) -> None:
    write_run("out", execution)
    (tmp_path / "out/thesis.tex").touch()
    with pytest.raises(InputError) as error:
        write_run("out", execution, force=True)
    assert str(error.value) == "out: not replaced: it holds thesis.tex, expected only a run"
    (tmp_path / "out/thesis.tex").unlink()
    (tmp_path / "out/manifest.json").write_text("{}")  # somebody else's
    with pytest.raises(InputError, match="not the manifest of a run"):
        write_run("out", execution, force=True)


def test_rerun_notices_files_that_were_altered(execution: Execution, tmp_path: Path) -> None:
    write_run("out", execution)
    with (tmp_path / "out/jobs.csv").open("a") as file:
        file.write("9\n")
    again = rerun("out/manifest.json")
    assert (again.differing, again.altered) == ((), ("jobs.csv",))


def test_force_fills_an_empty_folder(execution: Execution, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_run("out", execution, force=True)
    assert len(contents(tmp_path / "out")) == 5


def test_force_follows_a_link(execution: Execution, log: str, tmp_path: Path) -> None:
    write_run("real", execution)
    (tmp_path / "link").symlink_to("real")
    write_run("link", execute(RunOptions(log, "fcfs")), force=True)
    assert (tmp_path / "link").is_symlink()
    assert read_manifest("real/manifest.json").options.policy == "fcfs"


def test_force_does_not_replace_what_is_not_a_run(execution: Execution, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/thesis.tex").touch()
    assert refusal(write_run, "precious", execution, force=True) == (
        "precious: not replaced: it holds files but no manifest.json, expected a run"
    )
    assert (tmp_path / "precious/thesis.tex").exists()


def test_a_file_is_not_replaced_by_a_folder(log: str) -> None:
    assert refusal(check_target, log, force=True) == (
        "log.swf: exists and is not a folder, expected a folder to create"
    )


def test_a_full_disk_leaves_nothing_behind(
    execution: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert refusal(write_run, "out", execution) == (
        "out: cannot be written: No space left on device"
    )
    assert names_in(tmp_path) == ["log.swf"]


def test_an_interrupt_leaves_nothing_behind(
    execution: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_run("out", execution)
    assert names_in(tmp_path) == ["log.swf"]


def test_a_parent_that_is_a_file_is_refused(execution: Execution) -> None:
    assert refusal(write_run, "log.swf/deep/out", execution) == (
        "log.swf/deep/out: cannot be written: log.swf is not a folder"
    )


def test_a_parent_without_permission_is_refused(
    execution: Execution, monkeypatch: pytest.MonkeyPatch
) -> None:
    # root, whom tests may run as, has every permission
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert refusal(write_run, "locked/out", execution) == (
        "locked/out: cannot be written: no permission to write in ."
    )


def test_a_replaced_run_comes_back_if_the_new_one_cannot_take_its_place(
    execution: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run("out", execution)
    before = contents(tmp_path / "out")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.suffix == ".partial":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    assert refusal(write_run, "out", execution, force=True) == (
        "out: cannot be written: Input/output error"
    )
    assert contents(tmp_path / "out") == before
    assert names_in(tmp_path) == ["log.swf", "out"]


def test_a_folder_that_appears_meanwhile_is_left_alone(
    execution: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def late(self: Path, target: Path) -> Path:
        target.mkdir()
        (target / "theirs").touch()
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", late)
    assert refusal(write_run, "out", execution) == "out: cannot be written: Directory not empty"
    assert names_in(tmp_path / "out") == ["theirs"]
    assert names_in(tmp_path) == ["log.swf", "out"]


# Doing it again


def test_a_rerun_gives_the_same_files_and_writes_nothing(
    execution: Execution, tmp_path: Path
) -> None:
    write_run("out", execution)
    before = contents(tmp_path / "out")
    assert rerun("out/manifest.json").differing == ()
    assert contents(tmp_path / "out") == before
    assert names_in(tmp_path) == ["log.swf", "out"]


def test_a_rerun_finds_its_inputs_beside_the_manifest(
    execution: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run("out", execution)
    (tmp_path / "log.swf").rename(tmp_path / "out/log.swf")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert rerun(tmp_path / "out/manifest.json").differing == ()


def test_a_rerun_takes_the_input_that_is_the_same(execution: Execution, tmp_path: Path) -> None:
    write_run("out", execution)
    (tmp_path / "out/log.swf").write_text(LOG)
    (tmp_path / "log.swf").write_text(LOG.replace("100", "101"))
    assert rerun("out/manifest.json").differing == ()


def test_a_rerun_refuses_an_input_that_has_changed(execution: Execution) -> None:
    write_run("out", execution)
    Path("log.swf").write_text("")
    was, now = (hashlib.sha256(text.encode()).hexdigest() for text in (LOG, ""))
    assert refusal(rerun, "out/manifest.json") == (
        f"log.swf: has changed since the run: got sha256 {now}, expected {was}"
    )


def test_a_rerun_refuses_an_input_that_is_gone(execution: Execution) -> None:
    write_run("out", execution)
    Path("log.swf").unlink()
    assert refusal(rerun, "out/manifest.json") == (
        "log.swf: an input of the run, not found here nor in out"
    )


def test_a_rerun_names_the_files_that_differ(execution: Execution) -> None:
    write_run("out", execution)
    path = Path("out/manifest.json")
    manifest = json.loads(path.read_text())
    manifest["outputs"][1]["sha256"] = "0" * 64
    path.write_text(json.dumps(manifest))
    assert rerun(path).differing == ("schedule.csv",)


def test_a_policy_in_a_file_is_an_input_too(log: str, tmp_path: Path) -> None:
    Path("mine.py").write_text(POLICY)
    write_run("out", execute(RunOptions(log, "mine.py:Greedy(most=4)")))
    inputs = read_manifest("out/manifest.json").inputs
    assert [file.path for file in inputs] == ["log.swf", "mine.py"]
    Path("mine.py").rename("out/mine.py")
    assert rerun("out/manifest.json").differing == ()
    Path("out/mine.py").write_text(POLICY + "\n")
    assert refusal(rerun, "out/manifest.json").startswith("out/mine.py: has changed since the run:")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format: got 2, expected 1"),
        (
            {"outputs": []},
            "outputs: got none, expected jobs.csv, schedule.csv, machine_states.csv",
        ),
        (
            {"outputs": [{"path": "../../etc/passwd", "size": 1, "sha256": ""}]},
            "outputs: got ../../etc/passwd, expected jobs.csv, schedule.csv, machine_states.csv",
        ),
        (
            {"inputs": [{"path": 3}]},
            "not the manifest of a run: Expected `str`, got `int` - at `$.inputs[0].path`",
        ),
        (
            {"surprise": 1},
            "not the manifest of a run: Object contains unknown field `surprise`",
        ),
    ],
)
def test_a_wrong_manifest_is_refused(
    execution: Execution, change: dict[str, Any], message: str
) -> None:
    write_run("out", execution)
    path = Path("out/manifest.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert refusal(read_manifest, path) == f"out/manifest.json: {message}"


def test_a_manifest_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(b"\xff")
    assert refusal(read_manifest, path).startswith(f"{path}: not the manifest of a run: ")
    assert refusal(read_manifest, tmp_path / "none") == (
        f"{tmp_path}/none: cannot be read: No such file or directory"
    )


def test_options_survive_the_manifest(execution: Execution) -> None:
    options = RunOptions("w", "p", simulation=SimulationOptions(until=1e9 / 3))
    again = msgspec.json.decode(msgspec.json.encode(options), type=RunOptions)
    assert again == options
