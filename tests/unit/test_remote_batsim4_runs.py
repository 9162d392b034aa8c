"""Runs whose scheduler speaks protocol 4; all numbers are worked out by hand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noctule as nt
from noctule.errors import DecisionError, ProtocolError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.formats.batsim import read_batsim_file
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, BatsimWorkload
from noctule.remote.endpoint import Answering, Asking

Event = dict[str, Any]
Scheduler = Callable[[float, list[Event]], "list[Event] | tuple[list[Event], float]"]

PROFILES = {
    "ten": {"type": "delay", "delay": 10},
    "four": {"type": "delay", "delay": 4},
    "twice": {"type": "composed", "seq": ["ten", "four"]},
    "work": {"type": "parallel_homogeneous", "cpu": 4, "com": 0},
    "total": {"type": "parallel_homogeneous_total", "cpu": 8, "com": 0},
    "say": {"type": "send", "msg": {"a": 1.5}},
}


def a_job(name: str, profile: str, *, at: float = 0, hosts: int = 1, **more: Any) -> Event:
    return {"id": name, "subtime": at, "res": hosts, "profile": profile, **more}


def does(kind: str, at: float = 0.0, **data: Any) -> Event:
    return {"timestamp": at, "type": kind, "data": data}


class Run:
    """A run with a scheduler in this process, and what it was told."""

    def __init__(
        self, scheduler: Scheduler, jobs: list[Event], *, n_hosts: int = 4, **options: Any
    ) -> None:
        self._decide = scheduler
        self.requests: list[Event] = []
        document = {"nb_res": n_hosts, "profiles": PROFILES, "jobs": jobs}
        text = json.dumps(document).encode()
        file = read_batsim_file(text, source="w0.json", name="w0", full_names=True)
        raw = {str(job.id): one for job, one in zip(file.jobs, file.raw_jobs, strict=True)}
        workload = nt.Workload.from_jobs(file.jobs, profiles=file.profiles)
        events = options.pop("events", None)
        channel = options.pop("channel", self._reply)
        platform = nt.Platform.homogeneous(n_hosts)
        told = [BatsimWorkload("w0", "w0.json", raw, file.raw_profiles)]
        setup = BatsimSetup(platform=platform, workloads=told, **options)
        self.scheduler = BatsimScheduler(setup, channel)
        self.simulation = nt.Simulation(
            platform,
            workload,
            self.scheduler,
            events,
            machine=True,
            batsim_events=True,
            wait_for_timers=True,
            reject_oversized=False,
            open_registration=setup.dynamic_jobs,
            acknowledge_registered=setup.acknowledge_dynamic_jobs,
        )
        self.schedule = self.simulation.run()
        self.scheduler.finish(self.simulation.now)

    def _reply(self, request: bytes) -> bytes:
        message = json.loads(request)
        self.requests.append(message)
        decided = self._decide(message["now"], message["events"])
        events, now = decided if isinstance(decided, tuple) else (decided, message["now"])
        for event in events:
            event["timestamp"] = event["timestamp"] or message["now"]
        return json.dumps({"now": now, "events": events}).encode()

    @property
    def told(self) -> list[tuple[float, float, str]]:
        """(request, timestamp, type) of all events."""
        return [
            (request["now"], event["timestamp"], event["type"])
            for request in self.requests
            for event in request["events"]
        ]

    def data(self, kind: str) -> list[Any]:
        return [e["data"] for r in self.requests for e in r["events"] if e["type"] == kind]

    def dates(self) -> dict[str, tuple[float, float]]:
        columns = (self.schedule.column(name).tolist() for name in ("start_time", "finish_time"))
        ids = [str(job_id).partition("!")[2] for job_id in self.schedule.column("job_id").tolist()]
        return dict(zip(ids, zip(*columns, strict=True), strict=True))


def starts_all(now: float, events: list[Event]) -> list[Event]:
    submitted = [e["data"]["job_id"] for e in events if e["type"] == "JOB_SUBMITTED"]
    return [does("EXECUTE_JOB", job_id=one, alloc=str(i)) for i, one in enumerate(submitted)]


def test_all_that_happens_at_one_instant_comes_in_one_request() -> None:
    run = Run(starts_all, [a_job("a", "ten"), a_job("b", "ten"), a_job("c", "four", at=10)])
    assert run.told == [
        (0, 0, "SIMULATION_BEGINS"),
        (0, 0, "JOB_SUBMITTED"),
        (0, 0, "JOB_SUBMITTED"),
        (10, 10, "JOB_COMPLETED"),
        (10, 10, "JOB_COMPLETED"),
        (10, 10, "JOB_SUBMITTED"),
        (10, 10, "NOTIFY"),
        (14, 14, "JOB_COMPLETED"),
        (14, 14, "SIMULATION_ENDS"),
    ]
    assert run.dates() == {"a": (0, 10), "b": (0, 10), "c": (10, 14)}
    assert run.scheduler.n_messages == len(run.requests)


def test_a_busy_scheduler_hears_later_of_what_happens_meanwhile() -> None:
    # it thinks for 20 s after a has started; b comes at 5, a ends at 10
    def decide(now: float, events: list[Event]) -> Any:
        is_first_job = now == 0 and events[0]["type"] == "JOB_SUBMITTED"
        return starts_all(now, events), 20 if is_first_job else now

    run = Run(decide, [a_job("a", "ten"), a_job("b", "four", at=5)])
    assert run.told[2:6] == [
        (20, 5, "JOB_SUBMITTED"),
        (20, 5, "NOTIFY"),
        (20, 10, "JOB_COMPLETED"),
        (24, 24, "JOB_COMPLETED"),
    ]
    assert run.dates() == {"a": (0, 10), "b": (20, 24)}


def test_decisions_wait_for_their_dates() -> None:
    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] != "JOB_SUBMITTED":
            return []
        start = does("EXECUTE_JOB", 2.0, job_id="w0!a", alloc="3")
        kill = does("KILL_JOB", 7.0, job_ids=["w0!a"])
        return [start, kill], 7.0

    run = Run(decide, [a_job("a", "ten")])
    assert run.dates() == {"a": (2, 7)}
    # 5 s of 10 s
    progress = {"w0!a": {"profile_name": "ten", "progress": 0.5}}
    assert run.data("JOB_KILLED") == [{"job_ids": ["w0!a"], "job_progress": progress}]
    assert run.data("JOB_COMPLETED")[0]["return_code"] == -1


def test_a_killed_sequence_tells_its_part() -> None:
    def decide(now: float, events: list[Event]) -> Any:
        if now == 0 and events[0]["type"] == "JOB_SUBMITTED":
            call = does("CALL_ME_LATER", timestamp=11)
            return [does("EXECUTE_JOB", job_id="w0!a", alloc="0"), call]
        kills = events[0]["type"] == "REQUESTED_CALL"
        return [does("KILL_JOB", job_ids=["w0!a"])] if kills else []

    run = Run(decide, [a_job("a", "twice")])
    # 10 s of the first part, then 1 s of 4 s
    part = {"profile_name": "four", "progress": 0.25}
    whole = {"profile_name": "twice", "current_task_index": 1, "current_task": part}
    assert run.data("JOB_KILLED")[0]["job_progress"] == {"w0!a": whole}


@pytest.mark.parametrize("acknowledged", [True, False])
def test_a_scheduler_may_have_jobs_of_its_own(acknowledged: bool) -> None:
    profile = {
        "workload_name": "own",
        "profile_name": "p",
        "profile": {"type": "delay", "delay": 3},
    }
    job = {"id": "own!1", "subtime": 0, "res": 2, "profile": "p", "walltime": 9.0}

    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] != "SIMULATION_BEGINS":
            return []
        return [
            does("REGISTER_PROFILE", **profile),
            does("REGISTER_JOB", job_id="own!1", job=job),
            does("EXECUTE_JOB", job_id="own!1", alloc="1-2"),
            does("NOTIFY", type="registration_finished"),
        ]

    run = Run(decide, [], dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
    assert run.dates() == {"1": (0, 3)}
    forwarded = [{"job_id": "own!1", "job": job}] if acknowledged else []
    assert run.data("JOB_SUBMITTED") == forwarded
    assert run.data("JOB_COMPLETED")[0]["alloc"] == "1-2"


def test_the_run_goes_on_until_registration_is_finished() -> None:
    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] == "REQUESTED_CALL":
            return [does("NOTIFY", type="registration_finished")]
        begins = events[0]["type"] == "SIMULATION_BEGINS"
        return [does("CALL_ME_LATER", timestamp=50)] if begins else []

    assert Run(decide, [], dynamic_jobs=True).simulation.now == 50


def test_an_io_job_is_computed_with_the_job() -> None:
    # 4 flops of the job and 6 of the IO job on host 1, at 1 flop/s; host 2 has only the latter
    io = {
        "alloc": "1-2",
        "profile_name": "io",
        "profile": {"type": "parallel", "cpu": [6, 6], "com": [0, 0, 0, 0]},
    }

    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] != "JOB_SUBMITTED":
            return []
        return [does("EXECUTE_JOB", job_id="w0!a", alloc="1", additional_io_job=io)]

    run = Run(decide, [a_job("a", "work")])
    assert run.dates() == {"a": (0, 10)}
    assert run.data("JOB_COMPLETED")[0]["alloc"] == "1"


def test_a_total_is_shared_by_the_hosts_that_there_are() -> None:
    # 8 flops: the job asks for 2 hosts and gets 4; or 4 executors on 2 hosts, two on each
    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] != "JOB_SUBMITTED":
            return []
        mapping = {"0": 0, "1": 0, "2": 1, "3": 1}
        return [
            does("EXECUTE_JOB", job_id="w0!a", alloc="0-3"),
            does("EXECUTE_JOB", job_id="w0!b", alloc="4-5", mapping=mapping),
        ]

    jobs = [a_job("a", "total", hosts=2), a_job("b", "total", hosts=2)]
    assert Run(decide, jobs, n_hosts=6).dates() == {"a": (0, 2), "b": (0, 4)}


def test_what_is_written_down_about_a_job_is_kept() -> None:
    def decide(now: float, events: list[Event]) -> Any:
        decided = starts_all(now, events)
        notes = [does("SET_JOB_METADATA", job_id="w0!a", metadata="mine")] if decided else []
        return [*decided, *notes]

    assert Run(decide, [a_job("a", "ten")]).schedule.column("metadata").tolist() == ["mine"]


def test_jobs_may_be_run_elsewhere() -> None:
    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] == "JOB_SUBMITTED":
            run = does("CHANGE_JOB_STATE", job_id="w0!a", job_state="RUNNING")
            return [run, does("CALL_ME_LATER", timestamp=6)]
        if events[0]["type"] == "REQUESTED_CALL":
            return [does("CHANGE_JOB_STATE", job_id="w0!a", job_state="COMPLETED_FAILED")]
        return []

    run = Run(decide, [a_job("a", "ten")])
    assert run.dates() == {"a": (0, 6)}
    assert run.schedule.column("state").tolist() == ["failed"]
    assert run.data("JOB_COMPLETED") == []


def test_jobs_and_scheduler_exchange_messages() -> None:
    run = Run(starts_all, [a_job("a", "say")])
    assert run.data("FROM_JOB_MSG") == [{"job_id": "w0!a", "msg": {"a": 1.5}}]


def test_external_events_are_told() -> None:
    events = ExternalEvents.from_events(
        [
            ExternalEvent(2.0, "unavailable", hosts=nt.HostSet("1-2")),
            ExternalEvent(3.0, "available", hosts=nt.HostSet("1-2")),
            ExternalEvent(5.0, "generic", data='{"type":"lunch","timestamp":5}'),
        ]
    )
    run = Run(starts_all, [a_job("a", "ten")], events=events)
    assert [
        data for data in run.data("NOTIFY") if data["type"] != "no_more_static_job_to_submit"
    ] == [
        {"type": "event_machine_unavailable", "resources": "1-2"},
        {"type": "event_machine_available", "resources": "1-2"},
        {"type": "lunch", "timestamp": 5},
        {"type": "no_more_external_event_to_occur"},
    ]


def test_a_host_that_is_busy_is_refused_in_a_sentence() -> None:
    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] != "JOB_SUBMITTED":
            return []
        return [does("EXECUTE_JOB", job_id=f"w0!{name}", alloc="0") for name in "ab"]

    with pytest.raises(DecisionError, match=r"t=0 StartJob\(job_id=w0!b, hosts=0\): host 0"):
        Run(decide, [a_job("a", "ten"), a_job("b", "ten")])


def test_a_job_whose_end_was_told_cannot_be_named_any_more() -> None:
    def decide(now: float, events: list[Event]) -> Any:
        if events[0]["type"] == "JOB_COMPLETED":
            return [does("KILL_JOB", job_ids=["w0!a"])]
        return starts_all(now, events)

    with pytest.raises(ProtocolError, match=r"t=10: reply: .*'w0!a', which has ended"):
        Run(decide, [a_job("a", "ten"), a_job("b", "four", at=20)])


def test_a_scheduler_may_be_at_the_other_end_of_a_socket(tmp_path: Path) -> None:
    pytest.importorskip("zmq")
    endpoint = f"ipc://{tmp_path}/socket"

    def serve() -> None:
        with Answering(endpoint, timeout=60) as answering:
            ends = False
            while not ends:
                message = json.loads(answering.receive())
                ends = message["events"][0]["type"] == "SIMULATION_ENDS"
                events = starts_all(message["now"], message["events"])
                for event in events:
                    event["timestamp"] = message["now"]
                answering.reply(json.dumps({"now": message["now"], "events": events}).encode())

    thread = threading.Thread(target=serve)
    thread.start()
    with Asking(endpoint, timeout=60) as ask:
        run = Run(starts_all, [a_job("a", "ten"), a_job("b", "four", at=10)], channel=ask)
    thread.join()
    assert run.dates() == {"a": (0, 10), "b": (10, 14)}
