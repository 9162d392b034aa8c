"""Requests to a Batsim 4 scheduler, to the letter."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from noctule import HostSet, Platform, messages
from noctule.errors import InputError, ProtocolError
from noctule.platform import Host, HostKind, Hosts, Role
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, BatsimWorkload
from noctule.remote.batsim4_writing import json_text, simulation_begins

PROFILES: dict[str, Any] = {
    "nap": {"type": "delay", "delay": 12.5},
    "unused": {"type": "delay", "delay": 1},
    "mm": {"type": "parallel_homogeneous", "cpu": 2e8, "com": 0},
    "steps": {"type": "composed", "repeat": 3, "seq": ["mm", "nap"]},
    "mpi": {"type": "smpi", "trace": "t.txt"},
    "bad": {"type": "delay", "delay": 3, "ret": 7},
    "bad steps": {"type": "composed", "seq": ["nap", "bad"], "ret": 2},
}
JOBS: dict[str, Any] = {
    f"w0!{name}": {"id": name, "subtime": 3, "res": 2, "walltime": 60, "profile": profile}
    for name, profile in (
        ("a", "nap"), ("b", "mm"), ("c", "steps"), ("d", "mpi"), ("e", "bad"), ("f", "bad steps")
    )
}  # fmt: skip


def a_setup(**options: Any) -> BatsimSetup:
    hosts = Hosts(
        ["n0", "n1"],
        [HostKind(zone_properties={"site": "lab"}), HostKind(properties={"gpu": "2"})],
        [0, 1],
    )
    storage = HostKind(role=Role.STORAGE)
    platform = Platform(hosts, storages=(Host(2, "nas", storage),))
    workload = BatsimWorkload("w0", "/data/day.json", JOBS, PROFILES)
    return BatsimSetup(platform=platform, workloads=[workload], **options)


class Peer:
    """Replies nothing, and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def __call__(self, request: bytes) -> bytes:
        self.requests.append(request.decode())
        return b'{"now":0,"events":[]}'


def a_job(name: str, **facts: Any) -> Any:
    return SimpleNamespace(id=f"w0!{name}", **facts)


def told(*events: Any, **options: Any) -> str:
    """Return the events of a request, as text."""
    peer = Peer()
    scheduler = BatsimScheduler(a_setup(**options), peer)
    for job_id in JOBS:
        scheduler._registry.tell(job_id)
        scheduler._reader.allocations[job_id] = HostSet("0-1")
    scheduler.decide(SimpleNamespace(now=99.0), events)  # type: ignore[arg-type]
    prefix = '{"now":99.000000,"events":['
    assert peer.requests[0].startswith(prefix)
    return peer.requests[0].removeprefix(prefix).removesuffix("]}")


def test_numbers_have_six_decimals_unless_they_are_whole() -> None:
    value = {"a": 663e12, "b": [1, 2.5, -0.1], "c": {"d": True, "e": None}, "f": 'q"é'}
    assert json_text(value) == (
        '{"a":663000000000000.000000,"b":[1,2.500000,-0.100000],'
        '"c":{"d":true,"e":null},"f":"q\\"é"}'
    )


def test_the_beginning_tells_all() -> None:
    setup = a_setup(dynamic_jobs=True, reuse_profiles=True, scheduler_config="x=1")
    assert json.loads(simulation_begins(setup)) == {
        "nb_resources": 3,
        "nb_compute_resources": 2,
        "nb_storage_resources": 1,
        "allow_compute_sharing": False,
        "allow_storage_sharing": True,
        "config": {
            "redis-enabled": False,
            "redis-hostname": "127.0.0.1",
            "redis-port": 6379,
            "redis-prefix": "default",
            "profiles-forwarded-on-submission": False,
            "dynamic-jobs-enabled": True,
            "dynamic-jobs-acknowledged": False,
            "profile-reuse-enabled": True,
            "sched-config": "x=1",
            "forward-unknown-events": False,
        },
        "compute_resources": [
            {
                "id": 0,
                "name": "n0",
                "state": "idle",
                "properties": {"role": ""},
                "zone_properties": {"site": "lab"},
            },
            {
                "id": 1,
                "name": "n1",
                "state": "idle",
                "properties": {"role": "", "gpu": "2"},
                "zone_properties": {},
            },
        ],
        "storage_resources": [
            {
                "id": 2,
                "name": "nas",
                "state": "idle",
                "properties": {"role": "storage"},
                "zone_properties": {},
            }
        ],
        "workloads": {"w0": "/data/day.json"},
        "profiles": {"w0": {name: raw for name, raw in PROFILES.items() if name != "unused"}},
    }


def test_the_keys_of_the_beginning_have_batsims_order() -> None:
    assert list(json.loads(simulation_begins(a_setup()))) == [
        "nb_resources", "nb_compute_resources", "nb_storage_resources", "allow_compute_sharing",
        "allow_storage_sharing", "config", "compute_resources", "storage_resources", "workloads",
        "profiles",
    ]  # fmt: skip


def test_a_job_is_forwarded_as_its_file_has_it_with_its_full_id() -> None:
    event = messages.JobSubmitted(3.0, a_job("a"))
    job = '{"id":"w0!a","subtime":3,"res":2,"walltime":60,"profile":"nap"}'
    data = f'"data":{{"job_id":"w0!a","job":{job}'
    start = '{"timestamp":3.000000,"type":"JOB_SUBMITTED",'
    assert told(event) == f"{start}{data}}}}}"
    profile = '{"type":"delay","delay":12.500000}'
    assert told(event, forward_profiles=True) == f'{start}{data},"profile":{profile}}}}}'


@pytest.mark.parametrize(
    ("name", "state", "progress", "said"),
    [
        ("a", "completed", [], '"COMPLETED_SUCCESSFULLY","return_code":0'),
        ("a", "timed_out", [], '"COMPLETED_WALLTIME_REACHED","return_code":-1'),
        ("e", "failed", [], '"COMPLETED_FAILED","return_code":7'),
        ("f", "failed", [], '"COMPLETED_FAILED","return_code":7'),
        ("a", "killed", [("", 0, 0.5)], '"COMPLETED_KILLED","return_code":-1'),
        ("b", "killed", [("", 0, 0.5)], '"COMPLETED_KILLED","return_code":-2'),
        ("c", "killed", [("", 2, 0.0), ("", 0, 0.5)], '"COMPLETED_KILLED","return_code":-2'),
        ("c", "killed", [("", 3, 0.0), ("", 0, 0.5)], '"COMPLETED_KILLED","return_code":-1'),
        ("d", "killed", [("", -1, 0.0)], '"COMPLETED_KILLED","return_code":-1'),
    ],
)
def test_the_end_of_a_job_tells_its_state_and_its_code(
    name: str, state: str, progress: Any, said: str
) -> None:
    event = messages.JobFinished(15.5, a_job(name, progress=progress), state)
    assert told(event) == (
        f'{{"timestamp":15.500000,"type":"JOB_COMPLETED","data":{{"job_id":"w0!{name}",'
        f'"job_state":{said},"alloc":"0-1"}}}}'
    )


def test_a_kill_tells_how_far_each_job_had_come() -> None:
    # c was in its fourth part of three repetitions of two; a had ended by itself
    b = a_job("b", progress=[("w0!mm", 0, 0.25)])
    c = a_job("c", progress=[("w0!steps", 3, 0.0), ("w0!nap", 0, 0.4)])
    d = a_job("d", progress=[("w0!mpi", -1, 0.0)])
    ends = [messages.JobFinished(20.0, job, "killed") for job in (b, c, d)]
    text = told(*ends, messages.JobsKilled(20.0, (b, c, d, a_job("a"))))
    assert text.endswith(
        '{"timestamp":20.000000,"type":"JOB_KILLED","data":{"job_ids":["w0!b","w0!c","w0!d","w0!a"]'
        ',"job_progress":{"w0!b":{"profile_name":"mm","progress":0.250000},'
        '"w0!c":{"profile_name":"steps","current_task_index":3,'
        '"current_task":{"profile_name":"nap","progress":0.400000}},'
        '"w0!d":{"profile_name":"mpi","current_task_index":-1}}}}'
    )


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (
            lambda: messages.PowerStateChanged(30.1, HostSet("0 2-3"), 13),
            '30.100000,"type":"RESOURCE_STATE_CHANGED","data":{"resources":"0 2-3","state":"13"}',
        ),
        (
            lambda: messages.TimerFired(40.0, "call 1"),
            '40.000000,"type":"REQUESTED_CALL","data":{}',
        ),
        (
            lambda: messages.EnergyAnswered(41.0, 9120.5),
            '41.000000,"type":"ANSWER","data":{"consumed_energy":9120.500000}',
        ),
        (
            lambda: messages.SubmissionsEnded(50.0),
            '50.000000,"type":"NOTIFY","data":{"type":"no_more_static_job_to_submit"}',
        ),
        (
            lambda: messages.ExternalEventsEnded(50.0),
            '50.000000,"type":"NOTIFY","data":{"type":"no_more_external_event_to_occur"}',
        ),
        (
            lambda: messages.HostsUnavailable(60.0, HostSet("1")),
            '60.000000,"type":"NOTIFY","data":{"type":"event_machine_unavailable","resources":"1"}',
        ),
        (
            lambda: messages.HostsAvailable(61.0, HostSet("1")),
            '61.000000,"type":"NOTIFY","data":{"type":"event_machine_available","resources":"1"}',
        ),
        (
            lambda: messages.HostFailed(61.0, 1),
            '61.000000,"type":"NOTIFY","data":{"type":"event_machine_unavailable","resources":"1"}',
        ),
        (
            lambda: messages.HostRestored(61.0, 1),
            '61.000000,"type":"NOTIFY","data":{"type":"event_machine_available","resources":"1"}',
        ),
        (
            lambda: messages.ExternalEventOccurred(
                62.0, '{"type":"price_change","timestamp":62,"eur_per_kwh":0.31}'
            ),
            '62.000000,"type":"NOTIFY","data":'
            '{"type":"price_change","timestamp":62,"eur_per_kwh":0.310000}',
        ),
        (
            lambda: messages.MessageSent(70.0, a_job("d"), '{"type": "ask", "cores": 4}'),
            '70.000000,"type":"FROM_JOB_MSG","data":{"job_id":"w0!d",'
            '"msg":{"type":"ask","cores":4}}',
        ),
    ],
)
def test_all_other_events(event: Any, said: str) -> None:
    assert told(event()) == f'{{"timestamp":{said}}}'


def test_an_unacknowledged_job_is_not_told_of() -> None:
    peer = Peer()
    scheduler = BatsimScheduler(a_setup(dynamic_jobs=True), peer)
    job = {"id": "n", "subtime": 0, "res": 1, "profile": "nap"}
    scheduler._reader.jobs["w0!n"] = str(scheduler._registry.add_job("w0!n", job).id)
    view: Any = SimpleNamespace(now=1.0)
    assert scheduler.decide(view, [messages.JobSubmitted(1.0, a_job("n"))]) == []
    assert peer.requests == []


def test_a_job_from_elsewhere_gets_the_date_of_its_submission() -> None:
    peer = Peer()
    scheduler = BatsimScheduler(a_setup(), peer)
    scheduler.add_job("wf0!0", {"id": "0", "res": 1, "profile": "t"}, {"type": "delay", "delay": 2})
    view: Any = SimpleNamespace(now=1.5)
    scheduler.decide(view, [messages.JobSubmitted(1.5, SimpleNamespace(id="wf0!0"))])  # type: ignore[arg-type]
    assert peer.requests == [
        '{"now":1.500000,"events":[{"timestamp":1.500000,"type":"JOB_SUBMITTED","data":'
        '{"job_id":"wf0!0","job":{"id":"wf0!0","res":1,"profile":"t","subtime":1.500000}}}]}'
    ]


def test_the_beginning_is_told_alone() -> None:
    peer = Peer()
    scheduler = BatsimScheduler(a_setup(), peer)
    view: Any = SimpleNamespace(now=0.0)
    scheduler.decide(
        view, [messages.SimulationStarted(0.0), messages.JobSubmitted(0.0, a_job("a"))]
    )
    assert [[e["type"] for e in json.loads(one)["events"]] for one in peer.requests] == [
        ["SIMULATION_BEGINS"],
        ["JOB_SUBMITTED"],
    ]
    assert scheduler.n_messages == 2


def test_what_happened_at_the_beginning_waits_for_a_scheduler_that_is_busy() -> None:
    replies = iter([b'{"now":5,"events":[]}', b'{"now":5,"events":[]}'])
    requests = []

    def peer(request: bytes) -> bytes:
        requests.append(json.loads(request))
        return next(replies)

    scheduler = BatsimScheduler(a_setup(), peer)
    view: Any = SimpleNamespace(now=0.0)
    began = [messages.SimulationStarted(0.0), messages.JobSubmitted(0.0, a_job("a"))]
    busy, call = scheduler.decide(view, began)
    assert busy == messages.BusyUntil(5.0)
    assert isinstance(call, messages.CallAt)
    scheduler.decide(SimpleNamespace(now=5.0), [messages.TimerFired(5.0, call.tag)])  # type: ignore[arg-type]
    assert [(one["now"], one["events"][0]["type"]) for one in requests] == [
        (0.0, "SIMULATION_BEGINS"),
        (5.0, "JOB_SUBMITTED"),
    ]


def test_the_end_is_told_and_nothing_may_be_decided_then() -> None:
    peer = Peer()
    BatsimScheduler(a_setup(), peer).finish(99.0)
    assert peer.requests == [
        '{"now":99.000000,"events":[{"timestamp":99.000000,"type":"SIMULATION_ENDS","data":{}}]}'
    ]
    late = BatsimScheduler(
        a_setup(energy=True),
        lambda _: (
            b'{"now":99,"events":[{"timestamp":99,"type":"QUERY",'
            b'"data":{"requests":{"consumed_energy":{}}}}]}'
        ),
    )
    with pytest.raises(ProtocolError, match="got AskEnergy when the simulation had ended"):
        late.finish(99.0)


def test_profiles_are_reused_only_by_dynamic_jobs() -> None:
    with pytest.raises(InputError, match="reuse_profiles: got true, expected dynamic_jobs"):
        a_setup(reuse_profiles=True)
