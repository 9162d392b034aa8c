"""Replies of a Batsim 4 scheduler become decisions."""

from __future__ import annotations

from typing import Any

import pytest
from batsim4_replies import a_reader, a_reply

from noctule import HostSet
from noctule.errors import ProtocolError
from noctule.messages import (
    AskEnergy,
    BusyUntil,
    CallAt,
    ChangeJobState,
    ContinueRegistration,
    FinishRegistration,
    KillJobs,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SendMessage,
    SetMetadata,
    SetPowerState,
    StartJob,
)
from noctule.workload import Compute, Delay, ParallelTask, Sequence


def decided(*events: tuple[float, str, dict[str, Any]], **options: Any) -> list[Any]:
    return a_reader(**options).read(a_reply(*events), 10.0)[0]


def test_a_start_names_its_hosts() -> None:
    events = (10.0, "EXECUTE_JOB", {"job_id": "w0!a", "alloc": "3 0-1"})
    assert decided(events) == [StartJob("w0!a", HostSet("0-1 3"))]


def test_mapping_and_storages_may_come_together_and_as_texts() -> None:
    data = {
        "job_id": "w0!a",
        "alloc": "1",
        "mapping": {"1": "0", "0": 0},
        "storage_mapping": {"pfs": 4, "burst": "4"},
    }
    start = StartJob("w0!a", HostSet("1"), mapping=[0, 0], storages={"pfs": 4, "burst": 4})
    assert decided((10.0, "EXECUTE_JOB", data)) == [start]


def test_an_io_job_becomes_a_part_of_the_task() -> None:
    # job a computes 4 and 2 on hosts 0 and 1, which send 1 and 3; its IO sends 7 from 1 to the nas
    io = {
        "alloc": "1 4",
        "profile_name": "a_io",
        "profile": {"type": "parallel", "cpu": [1, 0], "com": [0, 7, 0, 0]},
    }
    data = {"job_id": "w0!a", "alloc": "0-1", "additional_io_job": io}
    task = ParallelTask((4.0, 3.0, 0.0), (0.0, 1.0, 0.0, 3.0, 0.0, 7.0, 0.0, 0.0, 0.0))
    start = StartJob("w0!a", HostSet("0-1 4"), profile=task)
    assert decided((10.0, "EXECUTE_JOB", data)) == [start]


def test_a_total_is_spread_over_the_hosts_that_there_are() -> None:
    job = {"id": "t", "subtime": 0, "res": 2, "profile": "total"}
    _, start = decided(
        (10.0, "REGISTER_JOB", {"job_id": "w0!t", "job": job}),
        (10.0, "EXECUTE_JOB", {"job_id": "w0!t", "alloc": "0-3"}),
    )
    assert start == StartJob("w0!t", HostSet("0-3"), profile=Compute(8.0, spread=True))


def test_the_io_of_a_sequence_is_a_sequence_of_the_same_length() -> None:
    one = {"type": "parallel", "cpu": [0, 0], "com": [0, 1, 0, 0]}
    register = {"workload_name": "w0", "profile_name": "step", "profile": one}
    io = {
        "alloc": "0 4",
        "profile_name": "b_io",
        "profile": {"type": "composed", "seq": ["step", "step"]},
    }
    data = {"job_id": "w0!b", "alloc": "0-1", "additional_io_job": io}
    _, start = decided((10.0, "REGISTER_PROFILE", register), (10.0, "EXECUTE_JOB", data))
    assert isinstance(start.profile, Sequence)
    assert start.profile.repeat == 3
    assert [part.size for part in start.profile.parts] == [3, 3]


def test_all_other_decisions() -> None:
    assert decided(
        (10.0, "REJECT_JOB", {"job_id": "w0!c"}),
        (10.0, "KILL_JOB", {"job_ids": ["w0!a", "w0!b"]}),
        (10.0, "CALL_ME_LATER", {"timestamp": 40}),
        (10.0, "CALL_ME_LATER", {"timestamp": 40}),
        (10.0, "SET_RESOURCE_STATE", {"resources": "0 2-3", "state": "13"}),
        (10.0, "SET_JOB_METADATA", {"job_id": "w0!a", "metadata": "by X"}),
        (10.0, "CHANGE_JOB_STATE", {"job_id": "w0!b", "job_state": "RUNNING", "kill_reason": ""}),
        (10.0, "TO_JOB_MSG", {"job_id": "w0!a", "msg": "go"}),
        (10.0, "QUERY", {"requests": {"consumed_energy": {}}}),
        (10.0, "NOTIFY", {"type": "registration_finished"}),
        (10.0, "NOTIFY", {"type": "continue_registration"}),
    ) == [
        RejectJob("w0!c"),
        KillJobs(["w0!a", "w0!b"]),
        CallAt(40.0, "call 1"),
        CallAt(40.0, "call 2"),
        SetPowerState(HostSet("0 2-3"), 13),
        SetMetadata("w0!a", "by X"),
        ChangeJobState("w0!b", "running"),
        SendMessage("w0!a", "go"),
        AskEnergy(),
        FinishRegistration(),
        ContinueRegistration(),
    ]


def test_an_answer_that_nobody_asked_for_is_noted_once() -> None:
    reader = a_reader()
    answer = {"estimate_waiting_time": {"job_id": "w0!a", "estimated_waiting_time": 3}}
    reader.read(a_reply((10.0, "ANSWER", answer), (10.0, "ANSWER", answer)), 10.0)
    assert len(reader._notes) == 1


def test_a_registered_job_may_be_started_by_the_next_event() -> None:
    job = {"id": "1", "subtime": 10.0, "res": 1, "walltime": 20, "profile": "p5"}
    profile, registered, start = decided(
        (
            10.0,
            "REGISTER_PROFILE",
            {
                "workload_name": "extra",
                "profile_name": "p5",
                "profile": {"type": "delay", "delay": 5},
            },
        ),
        (10.0, "REGISTER_JOB", {"job_id": "extra!1", "job": job}),
        (10.0, "EXECUTE_JOB", {"job_id": "extra!1", "alloc": "2"}),
    )
    assert profile == RegisterProfile("p5")
    assert isinstance(registered, RegisterJob)
    assert (registered.job.id, registered.job.profile) == ("extra!1", Delay(5.0))
    assert registered.job.profile_name == "extra!p5"
    assert start == StartJob("extra!1", HostSet("2"))


# Dates


def test_the_date_of_a_decision_is_the_latest_up_to_it() -> None:
    assert decided(
        (9.0, "REJECT_JOB", {"job_id": "w0!a"}),
        (13.0, "KILL_JOB", {"job_ids": ["w0!b"]}),
        (11.0, "REJECT_JOB", {"job_id": "w0!c"}),
    ) == [RejectJob("w0!a"), KillJobs(["w0!b"], 13.0), RejectJob("w0!c", 13.0), BusyUntil(13.0)]


def test_a_call_asked_for_in_the_future_waits_for_its_date() -> None:
    assert decided((12.0, "CALL_ME_LATER", {"timestamp": 13})) == [
        BusyUntil(12.0),
        CallAt(13.0, "call 1"),
        BusyUntil(12.0),
    ]


def test_the_scheduler_is_busy_until_the_date_of_its_reply() -> None:
    assert a_reader().read(a_reply(now=12.5), 10.0) == ([BusyUntil(12.5)], 12.5)
    assert a_reader().read(a_reply(now=3.0), 10.0) == ([], 10.0)


def test_a_date_that_the_scheduler_saw_rounded_up_is_now() -> None:
    # it saw 0.666667, which is later than 2/3
    reply = a_reply((0.666667, "REJECT_JOB", {"job_id": "w0!a"}))
    assert a_reader().read(reply, 2 / 3)[0] == [RejectJob("w0!a")]
    exact = a_reader(exact_dates=True).read(reply, 2 / 3)[0]
    assert exact == [RejectJob("w0!a", 0.666667), BusyUntil(0.666667)]


# Names


def test_the_name_of_a_profile_is_forgotten_when_a_job_of_it_has_ended() -> None:
    job = {"id": "new", "subtime": 0, "res": 2, "profile": "each"}
    register = a_reply((10.0, "REGISTER_JOB", {"job_id": "w0!new", "job": job}))
    reader = a_reader()
    reader._registry.forget("w0!b")  # a loop of pair and each
    with pytest.raises(ProtocolError, match="'each', which used to exist and was forgotten"):
        reader.read(register, 10.0)
    reader = a_reader(reuse_profiles=True)
    reader._registry.forget("w0!b")
    assert len(reader.read(register, 10.0)[0]) == 1
