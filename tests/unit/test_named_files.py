"""Files that workloads and platforms name: in manifests, in campaigns, on other machines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import noctule as nt
from noctule.campaign import Campaign, Plan
from noctule.campaign.execution import Runner
from noctule.campaign.inputs import InputFiles
from noctule.errors import InputError
from noctule.run import PlatformOptions, RunOptions, SimulationOptions, execute, rerun, write_run

PLATFORM = """\
<?xml version="1.0"?>
<platform version="4.1"><zone id="all" routing="Full">
  <host id="a" speed="10f" speed_file="speeds/half"/>
  <host id="b" speed="10f"/>
</zone></platform>
"""
WORKLOAD = {
    "nb_res": 2,
    "profiles": {
        "mpi": {"type": "smpi", "trace": "../traces/list"},
        "both": {"type": "composed", "seq": ["mpi", "mpi"]},
        "usage": {"type": "usage_trace", "trace": "../traces/usages"},
    },
    "jobs": [
        {"id": 1, "subtime": 0, "res": 1, "profile": "both"},
        {"id": 2, "subtime": 0, "res": 1, "profile": "usage"},
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make inputs below the folder `here`, and that the current one."""
    here = tmp_path / "here"
    for name in ("work", "traces", "speeds"):
        (here / name).mkdir(parents=True)
    (here / "platform.xml").write_text(PLATFORM)
    (here / "speeds/half").write_text("0 0.5\n")
    (here / "work/w.json").write_text(json.dumps(WORKLOAD))
    (here / "traces/list").write_text("rank0\n")
    (here / "traces/rank0").write_text("0 init\n0 compute 100\n0 finalize\n")
    (here / "traces/usages").write_text("usage0\n")
    (here / "traces/usage0").write_text("0 m_usage 1.0 50\n")
    monkeypatch.chdir(here)
    return here


def options() -> RunOptions:
    return RunOptions("work/w.json", "fcfs", PlatformOptions(file="platform.xml"))


def test_a_workload_and_a_platform_tell_which_files_they_name(folder):
    traces = "work/../traces"
    assert nt.load_workload("work/w.json").files == tuple(
        f"{traces}/{name}" for name in ("list", "rank0", "usages", "usage0")
    )
    assert nt.load_platform("platform.xml").files == ("speeds/half",)
    assert nt.Platform.homogeneous(3).files == ()


# Runs


def test_named_files_are_inputs_of_a_run(folder):
    manifest = execute(options()).manifest
    assert [Path(file.path).name for file in manifest.inputs] == [
        *("w.json", "platform.xml", "list", "rank0", "usages", "usage0", "half")
    ]


def test_a_run_with_named_files_is_done_again(folder, monkeypatch):
    write_run("out", execute(options()))
    assert rerun("out/manifest.json").differing == ()
    # in another place, as long as all files are where they were for each other
    moved = folder.parent / "moved"
    shutil.move(folder, moved)
    monkeypatch.chdir(moved)
    assert rerun("out/manifest.json").differing == ()


@pytest.mark.parametrize("name", ["traces/rank0", "speeds/half"])
def test_a_run_is_not_done_again_with_other_named_files(folder, name):
    write_run("out", execute(options()))
    with (folder / name).open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match=f"{name}: has changed since the run: got sha256 "):
        rerun("out/manifest.json")


def test_a_run_with_energy_has_three_files_more(folder):
    power = '<prop id="wattage_per_state" value="100:200"/>'
    text = PLATFORM.replace('speeds/half"/>', f'speeds/half">{power}</host>')
    (folder / "platform.xml").write_text(text.replace('"10f"/>', f'"10f">{power}</host>'))
    told = options()
    told = RunOptions(
        told.workload, told.policy, told.platform, simulation=SimulationOptions(energy="exact")
    )
    manifest = write_run("out", execute(told))
    assert [file.path for file in manifest.outputs] == [
        *("jobs.csv", "schedule.csv", "machine_states.csv"),
        *("consumed_energy.csv", "pstate_changes.csv", "power.csv"),
    ]
    assert rerun("out/manifest.json").differing == ()
    (folder / "out/pstate_changes.csv").write_text("")
    assert rerun("out/manifest.json").altered == ("pstate_changes.csv",)
    write_run("out", execute(options()), force=True)
    assert not (folder / "out/consumed_energy.csv").exists()


# Campaigns


def campaign(**changes) -> Campaign:
    description = {
        "workloads": {"w": "work/w.json"},
        "platforms": {"p": "platform.xml"},
        "policies": ["fcfs"],
    }
    return Campaign.of(description | changes)


def keys(**changes) -> list[str]:
    return [run.spec.key for run in Plan(campaign(**changes))]


@pytest.mark.parametrize("name", ["traces/rank0", "traces/list", "traces/usage0", "speeds/half"])
def test_keys_of_runs_change_with_the_named_files(folder, name):
    before = keys()
    with (folder / name).open("a") as file:
        file.write("\n")
    assert keys() != before


def test_keys_do_not_change_with_the_place(folder, monkeypatch):
    before = keys()
    shutil.copytree(folder, folder.parent / "copy")
    monkeypatch.chdir(folder.parent / "copy")
    assert keys() == before


@pytest.mark.parametrize(
    "changed",
    [
        {"energy": "exact"},
        {"solver": "max-min"},
        {"share_hosts": True},
        {"machine": True},
        {"report_ranks": True},
        {"batsim_latency": True},
    ],
)
def test_keys_of_runs_change_with_the_options(folder, changed):
    assert keys(options=changed) != keys()


def test_a_run_finds_its_files_where_they_were_sent_to(folder, tmp_path, monkeypatch):
    (spec,) = [run.spec for run in Plan(campaign())]
    expected = Runner().execute(spec)
    assert expected.error == ""
    contents = {file: Path(file.path).read_bytes() for file in spec.input_files}
    shutil.rmtree(folder)
    monkeypatch.chdir(tmp_path)
    inputs = InputFiles(tmp_path / "received")
    for file, content in contents.items():
        assert not inputs.has(file)
        inputs.receive(file, content)
    assert Runner(inputs).execute(spec).metrics == expected.metrics


def test_a_run_whose_named_file_has_changed_fails(folder):
    (spec,) = [run.spec for run in Plan(campaign())]
    (folder / "traces/rank0").write_text("0 init\n0 compute 1\n0 finalize\n")
    assert Runner().execute(spec).error == (
        "work/../traces/rank0: has changed since the campaign was planned"
    )


def test_a_campaign_whose_workload_names_no_such_file_is_refused(folder):
    (folder / "traces/rank0").unlink()
    with pytest.raises(InputError, match=r"campaign: workloads\.w: .*rank0: no such file"):
        campaign()
