"""Where Python is passed by: who decides, what is heard afterwards, and what is refused as ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from edc_function import Given, library_of

import noctule as nt
from noctule.batsim.witness import Witness
from noctule.errors import ProtocolError
from noctule.messages import Decision, Event
from noctule.policy import View
from noctule.remote.batsim5 import EdcScheduler, EdcSetup, Features
from noctule.remote.batsim_workload import BatsimWorkload
from noctule.workload import Delay, Request

N_JOBS = 5
Object = dict[str, Any]


def a_reply(now: float, *events: Object) -> bytes:
    return json.dumps({"now": now, "events": list(events)}).encode()


def an_event(now: float, kind: str, **data: Any) -> Object:
    return {"timestamp": now, "event_type": kind, "event": data}


class Starter:
    """Starts each job on host 0 when it comes; its n-th answer can be another one."""

    def __init__(self, **others: Callable[[float], bytes | Given]) -> None:
        self.others = {int(name[1:]): answer for name, answer in others.items()}
        self.told: list[Object] = []

    def __call__(self, message: bytes) -> bytes | Given:
        self.told.append(json.loads(message))
        now = self.told[-1]["now"]
        if len(self.told) in self.others:
            return self.others[len(self.told)](now)
        came = [one["event"]["job_id"] for one in self.heard("JobSubmittedEvent")]
        return a_reply(now, *(started(now, job_id) for job_id in came))

    def heard(self, kind: str) -> list[Object]:
        return [one for one in self.told[-1]["events"] if one["event_type"] == kind]


def started(now: float, job_id: str, hosts: str = "0") -> Object:
    return an_event(now, "ExecuteJobEvent", job_id=job_id, allocation={"host_allocation": hosts})


def inputs() -> tuple[EdcSetup, nt.Workload]:
    """Jobs of 3 seconds, one every 10 seconds."""
    jobs = [nt.Job(f"w0!{i}", 10.0 * i, Request(1), Delay(3)) for i in range(N_JOBS)]
    raw = {f"w0!{i}": {"id": i, "subtime": 10 * i, "res": 1, "profile": "d"} for i in range(N_JOBS)}
    told = BatsimWorkload("w0", "w0.json", raw, {"d": {"type": "delay", "delay": 3}})
    setup = EdcSetup(platform=nt.Platform.homogeneous(2), workloads=[told])
    return setup, nt.Workload.from_jobs(jobs)


def a_run(policy: Any) -> nt.Simulation:
    setup, workload = inputs()
    return nt.Simulation(
        setup.platform,
        workload,
        policy,
        machine=True,
        share_hosts=True,
        batsim_events=True,
        wait_for_timers=True,
        reject_oversized=False,
    )


def a_scheduler(decide: Callable[[bytes], bytes | Given]) -> EdcScheduler:
    return EdcScheduler(inputs()[0], Features(), library_of(decide))


def test_python_is_asked_once_where_only_the_usual_is_said() -> None:
    component = Starter()
    scheduler = a_scheduler(component)
    schedule = a_run(scheduler).run()
    assert schedule.column("start_time").tolist() == [10.0 * i for i in range(N_JOBS)]
    assert scheduler.shortcut is not None
    # the beginning with the first job, its end, each other job and its end
    assert len(component.told) == scheduler.n_messages == 2 * N_JOBS
    assert scheduler.shortcut.n_messages == 2 * N_JOBS - 1
    assert 0 < scheduler.shortcut.seconds <= scheduler.seconds
    assert component.told[2] == {
        "now": 10.0,
        "events": [
            {
                "timestamp": 10.0,
                "event_type": "JobSubmittedEvent",
                "event": {
                    "job_id": "w0!1",
                    "job": {"resource_request": 1, "rigid": True, "profile_id": "w0!d"},
                    "submission_time": 10.0,
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda _: (7, b"", 0), "function: batsim_edc_take_decisions: got 7, expected 0"),
        (lambda _: (0, None, 9), "function: batsim_edc_take_decisions: got no buffer for 9 bytes"),
        (lambda _: (0, b"{}", 2**32 - 1), "got 4294967295 bytes, expected at most"),
        (lambda _: b"", "t=10: reply: got nothing, expected a reply"),
        (lambda now: a_reply(now, started(now, "w0!0")), '"w0!0", which has ended'),
        (lambda now: a_reply(now, started(now, "w0!3")), '"w0!3", which has not been submitted'),
        (lambda now: a_reply(now, started(now, "w9!9")), '"w9!9", which nobody knows'),
        (lambda now: a_reply(now, started(now, "w0!1", "5")), 'got "5", expected ids below 2'),
        (lambda now: a_reply(now) + b"x", "which is no JSON"),
    ],
)
def test_what_is_wrong_is_said_as_python_says_it(
    answer: Callable[[float], bytes | Given], complaint: str
) -> None:
    scheduler = a_scheduler(Starter(n3=answer))
    with pytest.raises(ProtocolError) as refused:
        a_run(scheduler).run()
    assert complaint.replace('"', "'") in str(refused.value).replace('"', "'")


def test_python_hears_of_jobs_that_it_did_not_tell_of() -> None:
    """The third job is killed with the fourth, by a reply that only Python reads."""
    kill = Starter(
        n5=lambda now: a_reply(now, started(now, "w0!2", "0")),
        n6=a_reply,
        n7=lambda now: a_reply(
            now, started(now, "w0!3"), an_event(now, "KillJobsEvent", job_ids=["w0!3"])
        ),
    )
    schedule = a_run(a_scheduler(kill)).run()
    assert schedule.column("state").tolist() == [
        *("completed", "completed", "completed", "killed", "completed")
    ]


def test_a_policy_around_a_scheduler_is_not_passed_by() -> None:
    scheduler = a_scheduler(Starter())

    class Around:
        n_calls = 0

        def decide(self, view: View, events: Sequence[Event]) -> list[Decision]:
            self.n_calls += 1
            return scheduler.decide(view, events)

    around = Around()
    a_run(around).run()
    assert around.n_calls == scheduler.n_messages == 2 * N_JOBS


def test_the_witness_hears_of_all_starts() -> None:
    witness = Witness(a_scheduler(Starter()))
    a_run(witness).run()
    assert dict(witness.starts) == {f"w0!{i}": i for i in range(N_JOBS)}
    assert witness.n_decisions == N_JOBS


def test_the_shortcut_of_one_run_is_none_of_another() -> None:
    scheduler = a_scheduler(Starter())
    first = a_run(scheduler).run()
    assert scheduler.shortcut is not None
    n_messages = scheduler.shortcut.n_messages
    second = a_run(scheduler).run()
    assert scheduler.shortcut.n_messages == n_messages
    assert scheduler.n_messages == 4 * N_JOBS
    assert second.column("start_time").tolist() == first.column("start_time").tolist()
