"""Messages of protocol 5, written by hand: what is read from them, and what is said of bad ones."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from batsim5_runs import a_hello

from noctule import Platform
from noctule.errors import InputError, ProtocolError
from noctule.messages import BusyUntil, CallAt, Decision, KillJobs, RegisterJob, RejectJob, StartJob
from noctule.platform import Host, HostKind, Hosts, Role
from noctule.policy import View
from noctule.remote.batsim5_calls import Calls
from noctule.remote.batsim5_profiles import as_in_files, as_told
from noctule.remote.batsim5_reading import read_hello
from noctule.remote.batsim5_replies import MessageReader
from noctule.remote.batsim5_writing import EdcSetup
from noctule.remote.batsim_registry import Registry
from noctule.remote.batsim_workload import BatsimWorkload
from noctule.remote.edc_process import EdcProcess
from noctule.remote.endpoint import Answering

HELLO = (
    b'{"now":0.0,"events":[{"timestamp":0.0,"event_type":"EDCHelloEvent","event":{'
    b'"batprotocol_version":"0.1.0","decision_component_name":"mine",'
    b'"decision_component_version":"1.0","decision_component_commit":"none",'
    b'"requested_simulation_features":{"dynamic_registration":false}}}]}'
)
PROFILES: dict[str, Any] = {
    "nap": {"type": "DelayProfile", "delay": 4},
    "pair": {"type": "ParallelTaskProfile", "cpu": [4, 2], "com": [0, 1, 3, 0]},
    "io": {
        "type": "ParallelTaskOnStorageHomogeneousProfile",
        "bytes_to_read": 10,
        "storage": "scratch",
    },
}


def a_reader() -> MessageReader:
    hosts = Hosts.alike(["h0", "h1", "h2", "h3"], HostKind(cores=2))
    storages = (
        Host(4, "nas", HostKind(role=Role.STORAGE)),
        Host(5, "b", HostKind(role=Role.STORAGE)),
    )
    jobs = {
        f"w0!{name}": {"id": name, "subtime": 0, "res": 2, "profile": profile}
        for name, profile in (("1", "pair"), ("2", "io"), ("3", "nap"))
    }
    workload = BatsimWorkload("w0", "w0.json", jobs, PROFILES)
    setup = EdcSetup(platform=Platform(hosts, storages=storages), workloads=[workload])
    registry = Registry(setup.workloads, keeps_names=False)
    reader = MessageReader(setup, registry, Calls())
    for job_id in jobs:
        registry.tell(job_id)
        reader.jobs[job_id] = job_id
    return reader


def read(text: str | bytes, now: float = 4.0) -> list[Decision]:
    view = cast(View, SimpleNamespace(now=now))
    return a_reader().read(text if isinstance(text, bytes) else text.encode(), view)


def a_message(*events: str, now: float = 4.0) -> str:
    return f'{{"now":{now},"events":[{",".join(events)}]}}'


def test_a_hello_says_what_is_wanted() -> None:
    hello = read_hello(HELLO + b"\0")
    assert (hello.decision_component_name, hello.batprotocol_version) == ("mine", "0.1.0")
    assert not hello.requested_simulation_features.dynamic_registration
    wanted = read_hello(json.dumps(a_hello(profile_reuse=True)).encode())
    assert wanted.requested_simulation_features.profile_reuse


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "got no events, expected one EDCHelloEvent. Please fix your EDC"),
        (HELLO[:-2], "expected all of a reply"),
        (HELLO.replace(b"]}", b',{"event_type":"RejectJobEvent"}]}'), "EDCHelloEvent, RejectJob"),
        (HELLO.replace(b"false", b"7"), "dynamic_registration: got 7, expected true or false"),
        (
            HELLO.replace(
                b'"requested_simulation_features":{"dynamic_registration":false}', b'"x":1'
            ),
            "expected a field `requested_simulation_features` in it",
        ),
        (b"\x1c\0\0\0\xff", "which is no JSON"),
    ],
)
def test_a_bad_hello_is_quoted(text: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError) as error:
        read_hello(text)
    assert complaint in str(error.value)


def test_executors_and_storages_have_their_places() -> None:
    decisions = read(
        '{"now":4.0,"events":[{"timestamp":4.0,"event_type":"ExecuteJobEvent","event":{"job_id":'
        '"w0!2","allocation":{"host_allocation":"0 3","executor_placement_type":'
        '"CustomExecutorToHostMapping","executor_placement":{"mapping":[1,0]}},'
        '"storage_placement":[{"storage_name":"scratch","host_id":5}]}}]}'
    )
    (start,) = decisions
    assert isinstance(start, StartJob)
    assert (start.job, str(start.hosts)) == ("w0!2", "0 3")
    assert (start.mapping, start.storages) == ([1, 0], {"scratch": 5})


def test_cores_of_one_host_are_filled_first() -> None:
    (start,) = read(
        a_message(
            '{"timestamp":4.0,"event_type":"ExecuteJobEvent","event":{"job_id":"w0!3","allocation":'
            '{"host_allocation":"1-3","executor_placement_type":'
            '"PredefinedExecutorPlacementStrategyWrapper","executor_placement":'
            '{"strategy":"FillOneHostCoresFirst"}}}}'
        )
    )
    assert isinstance(start, StartJob)
    assert start.mapping == [0, 0]  # each host has two cores


def test_calls_become_timers() -> None:
    decisions = read(
        a_message(
            '{"timestamp":4.0,"event_type":"CallMeLaterEvent","event":{"call_me_later_id":"tick",'
            '"when_type":"OneShot","when":{"time":60,"time_unit":"Second"}}}',
            '{"timestamp":4.0,"event_type":"CallMeLaterEvent","event":{"call_me_later_id":"beat",'
            '"when_type":"Periodic","when":{"period":500,"time_unit":"Millisecond",'
            '"mode_type":"FinitePeriodNumber","mode":{"nb_periods":3}}}}',
        )
    )
    assert [one.time for one in decisions if isinstance(one, CallAt)] == [60.0, 4.5]


def test_jobs_and_profiles_are_registered() -> None:
    decisions = read(
        a_message(
            '{"timestamp":4.0,"event_type":"RegisterProfileEvent","event":{"profile":{"id":"dyn!p",'
            '"profile_type":"DelayProfile","profile":{"delay":5.0}}}}',
            '{"timestamp":4.0,"event_type":"RegisterJobEvent","event":{"job_id":"dyn!j","job":'
            '{"resource_request":1,"walltime":20.0,"profile_id":"dyn!p"}}}',
        )
    )
    job = cast(RegisterJob, decisions[1]).job
    assert (job.id, job.profile_name, job.walltime) == ("dyn!j", "dyn!p", 20.0)
    assert (job.submit_time, job.request.n_hosts) == (4.0, 1)


def test_later_dates_are_kept_and_earlier_ones_mean_now() -> None:
    decisions = read(
        a_message(
            '{"timestamp":1.0,"event_type":"RejectJobEvent","event":{"job_id":"w0!1"}}',
            '{"timestamp":9.0,"event_type":"KillJobsEvent","event":{"job_ids":["w0!2"]}}',
            now=12.0,
        )
    )
    assert decisions == [RejectJob("w0!1"), KillJobs(["w0!2"], 9.0), BusyUntil(12.0)]


REJECT = '{"timestamp":4.0,"event_type":"RejectJobEvent","event":{"job_id":"w0!1"}}'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "got nothing, expected a reply"),
        ("{}", "expected a field `now` in it"),
        ('{"now":4.0}', "expected a field `events` in it"),
        (a_message(REJECT)[:-3], "expected all of a reply"),
        (a_message(REJECT.replace("Reject", "Eject")), "expected one of EDCHelloEvent, Execute"),
        (
            a_message(REJECT.replace('"w0!1"', "1")),
            "events[0].event.job_id: got 1, expected a text",
        ),
        (a_message(REJECT.replace("4.0", "5.0")), "got 5, expected a date from 0 to `now`"),
        (a_message(REJECT.replace("4.0", "-5.0")), "got -5, expected a date from 0 to `now`"),
        (a_message(REJECT, REJECT), "RejectJobEvent: job_id: got 'w0!1', which has ended"),
        (a_message(now=-1), "now: got -1, expected a date >= 0"),
        ("[" * 100_000, "reply: got"),
        (b'{"now":4.0,"events":["\xff"]}', "reply: "),
    ],
)
def test_what_is_wrong_with_a_reply_is_said(text: str | bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError) as error:
        read(text)
    assert complaint in str(error.value)
    assert str(error.value).startswith("t=4: reply: ")


@pytest.mark.parametrize(
    "raw",
    [
        PROFILES["nap"],
        {**PROFILES["nap"], "extra_data": "text"},
        PROFILES["pair"],
        {
            "type": "ParallelTaskHomogeneousProfile",
            "cpu": 1,
            "com": 2,
            "generation_strategy": "DefinedAmountsSpreadUniformly",
        },
        {
            "type": "ParallelTaskDataStagingBetweenStoragesProfile",
            "nb_bytes": 3,
            "from": "a",
            "to": "b",
        },
        {"type": "TraceReplayProfile", "trace_type": "SMPI", "filename": "list.txt"},
    ],
)
def test_a_profile_is_told_as_it_is_read(raw: dict[str, Any]) -> None:
    told = as_told("w0", "x", raw)
    assert told["id"] == "w0!x"
    without = {key: value for key, value in raw.items() if key != "extra_data"}
    assert as_in_files(told["profile_type"], told["profile"]) == without
    assert told.get("extra_data") == raw.get("extra_data")


def test_profiles_of_batsim_4_are_told_in_the_words_of_5() -> None:
    assert as_told("w0", "t", {"type": "parallel_homogeneous_total", "cpu": 1, "com": 0}) == {
        "id": "w0!t",
        "profile_type": "ParallelTaskHomogeneousProfile",
        "profile": {
            "computation_amount": 1,
            "communication_amount": 0,
            "generation_strategy": "DefinedAmountsSpreadUniformly",
        },
    }
    assert as_told("w0", "s", {"type": "composed", "seq": ["a", "w0!b"]})["profile"] == {
        "repetition_count": 1,
        "profile_ids": ["w0!a", "w0!b"],
    }
    with pytest.raises(InputError, match="got the type 'send', which Batsim 5 does not have"):
        as_told("w0", "s", {"type": "send", "msg": {}})


def served(folder: Path, *replies: bytes) -> tuple[str, Callable[[], list[bytes]]]:
    """Answer with these, and give the endpoint and what collects the requests."""
    pytest.importorskip("zmq")
    endpoint = f"ipc://{folder}/edc"
    seen: list[bytes] = []

    def serve() -> None:
        with Answering(endpoint, timeout=60) as answering:
            for reply in replies:
                seen.append(answering.receive())
                answering.reply(reply)

    thread = threading.Thread(target=serve)
    thread.start()

    def requests() -> list[bytes]:
        thread.join()
        return seen

    return endpoint, requests


def test_a_process_is_initialised_before_the_first_message(tmp_path: Path) -> None:
    endpoint, requests = served(tmp_path, struct.pack("=I", 2) + HELLO, b'{"now":0,"events":[]}')
    with EdcProcess(endpoint, b"seed=3", timeout=60) as process:
        assert process.hello == HELLO
        assert process(b'{"now":0.0,"events":[]}') == b'{"now":0,"events":[]}'
    assert requests() == [struct.pack("=I", 6) + b"seed=3", b'{"now":0.0,"events":[]}\0']


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (b"\2\0", "expected four bytes of flags and a hello"),
        (struct.pack("=I", 1) + b"\x10\0\0\0", "got the flags 0x1"),
    ],
)
def test_a_bad_handshake_is_refused(tmp_path: Path, reply: bytes, complaint: str) -> None:
    endpoint, requests = served(tmp_path, reply)
    with pytest.raises(ProtocolError, match=complaint), EdcProcess(endpoint, b"", timeout=60):
        pass
    requests()
