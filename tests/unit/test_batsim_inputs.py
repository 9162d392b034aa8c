"""What Batsim's command line names: platforms, workloads, events and workflows, as one input."""

from __future__ import annotations

from pathlib import Path

import pytest
from batsim_runs import PLATFORM, job, workload

from noctule.batsim.arguments4 import read_arguments
from noctule.batsim.inputs import BatsimInputs, load_inputs
from noctule.errors import InputError


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.xml").write_text(PLATFORM)
    Path("one.json").write_text(
        workload(job(2, 5, 1, "d5"), job("10", 5, 1, "d5"), job("w0!3", 0, 2, "d7"), nb_res=2)
    )
    Path("two.json").write_text(
        workload(job("x", 5, 1, "d5"), job("w1!!y", 0, 1, "d9", colour="red"), nb_res=3)
    )


def load(text: str) -> BatsimInputs:
    return load_inputs(read_arguments(["-p", "p.xml", *text.split()]))


def test_hosts_are_numbered_by_their_names_as_text() -> None:
    platform = load("").platform
    assert [host.name for host in platform.hosts] == ["a1", "a10", "a2"]
    assert [(host.id, host.name) for host in platform.storages] == [(3, "disk")]
    assert platform.master is not None
    assert platform.master.name == "master_host"


def test_roles_of_the_command_line_replace_those_of_the_file() -> None:
    platform = load("-m a1 -r a10,a2:storage -r a2:compute_node").platform
    assert [host.name for host in platform.hosts] == ["a2", "master_host"]
    assert platform.master is not None
    assert platform.master.name == "a1"
    assert [host.name for host in platform.storages] == ["a10", "disk"]


@pytest.mark.parametrize(
    ("words", "n_hosts"),
    [
        ("--mmax 1", 1),
        ("-w one.json --mmax-workload", 2),
        ("-w one.json -w two.json --mmax-workload", 3),
        ("-w one.json --mmax-workload --mmax 1", 1),
        ("--mmax-workload", 3),
        ("--mmax 0", 3),
    ],
)
def test_only_the_first_hosts_are_offered_on_request(words: str, n_hosts: int) -> None:
    platform = load(words).platform
    assert list(platform.hosts.names) == ["a1", "a10", "a2"][:n_hosts]
    assert [host.id for host in platform.storages] == [n_hosts]
    assert [host.name for host in platform.unused] == ["a1", "a10", "a2"][n_hosts:]


def test_more_hosts_than_there_are_cannot_be_offered() -> None:
    with pytest.raises(InputError, match=r"p.xml: got 3 compute hosts, expected at least 4"):
        load("--mmax 4")


def test_jobs_have_full_ids_and_come_by_date_then_workload_then_id_as_text() -> None:
    inputs = load("-w one.json -w two.json")
    ids = [one.id for one in inputs.workload]
    assert ids == ["w0!3", "w1!y", "w0!10", "w0!2", "w1!x"]
    assert [list(one) for one in inputs.submitters] == [["w0!3", "w0!10", "w0!2"], ["w1!y", "w1!x"]]
    assert inputs.workload[1].profile_name == "w1!d9"


def test_the_scheduler_is_told_of_jobs_as_their_file_has_them() -> None:
    first, second = load("-w one.json -w two.json").told
    assert (first.name, first.path) == ("w0", str(Path("one.json").absolute()))
    assert second.jobs["w1!y"]["colour"] == "red"
    assert first.profiles == {
        "d5": {"type": "delay", "delay": 5.0},
        "d7": {"type": "delay", "delay": 7.0},
    }


def test_a_job_named_like_its_workload_is_no_mistake() -> None:
    Path("one.json").write_text(workload(job("w01", 0, 1, "d5")))
    assert load("-w one.json").workload[0].id == "w0!w01"


def test_without_a_scheduler_all_jobs_are_submitted_at_0() -> None:
    inputs = load("-w one.json --no-sched")
    assert inputs.workload.submit_time.tolist() == [0.0, 0.0, 0.0]


def test_events_and_workflows_are_read_from_their_files() -> None:
    Path("events").write_text('{"type": "machine_available", "timestamp": 3, "resources": "0"}')
    Path("flow.dax").write_text('<adag><job id="a" runtime="1"/></adag>')
    inputs = load("--events events -W flow.dax --WS flow.dax 7")
    assert [events.times for events in inputs.events] == [(3.0,)]
    assert [(flow.name, flow.start) for flow in inputs.workflows] == [("wf0", 0.0), ("wfc0", 7.0)]
    assert [told.name for told in inputs.told] == ["wf0", "wfc0"]


def test_options_of_simgrid_reach_the_network() -> None:
    network = load("--sg-cfg network/TCP-gamma:1000").platform.network
    assert network.options["network/TCP-gamma"] == "1000"
