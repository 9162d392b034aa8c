"""What a served policy may decide: the rules and the sentences are those of the engine."""

from __future__ import annotations

import math
from typing import Any

import pytest
from served_runs import POWER, Exchange, Script, beginning, completed, submitted, told

from noctule.errors import DecisionError
from noctule.messages import (
    BusyUntil,
    CallAt,
    ChangeJobState,
    ContinueRegistration,
    FinishRegistration,
    JobSubmitted,
    KillJob,
    KillJobs,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SendMessage,
    SetMetadata,
    SetPowerState,
    SimulationStarted,
    StartJob,
)
from noctule.testing import a_job, run
from noctule.workload import Delay, Dependency, Job, Request, Sequence


class Mistaken:
    """Starts the first job, and makes a mistake when the second one comes."""

    def __init__(self, *decisions: Any) -> None:
        self._decisions = decisions

    def decide(self, view, events):
        ids = [event.job.id for event in events if isinstance(event, JobSubmitted)]
        if "w0!A" in ids:
            yield StartJob("w0!A", "0-1")
        if "w0!B" in ids:
            yield from self._decisions


# 4 hosts: A holds 0-1, and B, for which it has just been asked, wants 2.
@pytest.mark.parametrize(
    "mistake",
    [
        [StartJob("w0!A")],
        [StartJob("w0!Z")],
        [StartJob(["w0!A"])],
        [StartJob("w0!B", "1-2")],
        [StartJob("w0!B", "2")],
        [StartJob("w0!B", "2-3", mapping=[0, 2])],
        [StartJob("w0!B", "2-3", mapping=["x"])],
        [StartJob("w0!B", "2-3", storages={"pfs": 3})],
        [StartJob("w0!B", "2-3", storages=["pfs"])],
        [StartJob("w0!B", mapping=[0, 1])],
        [StartJob("w0!B", "3-4")],
        [StartJob("w0!B", "first two")],
        [StartJob("w0!B", 3.5)],
        [StartJob("w0!B"), StartJob("w0!B")],
        [RejectJob("w0!A")],
        [RejectJob("w0!B"), StartJob("w0!B")],
        [KillJob("w0!B")],
        [CallAt(1)],
        [CallAt(math.inf)],
        [CallAt("soon")],
        [CallAt(9, tag=3)],
        [StartJob("w0!B", time="soon")],
        [StartJob("w0!B", time=1)],
        ["start B"],
    ],
    ids=str,
)
def test_a_mistake_is_refused_with_the_sentence_of_the_engine(mistake: list[Any]):
    jobs = [a_job("w0!A", hosts=2, runtime=100), a_job("w0!B", hosts=2, submit=5)]
    with pytest.raises(DecisionError) as in_process:
        run(Mistaken(*mistake), hosts=4, jobs=jobs)
    peer = Exchange(Mistaken(*mistake))
    peer.ask(0, submitted("w0!A", hosts=2, walltime=100))
    with pytest.raises(DecisionError) as served:
        peer.ask(5, submitted("w0!B", 5, hosts=2, walltime=10))
    assert str(served.value) == str(in_process.value)


def test_a_job_that_has_not_ended_can_be_killed_once():
    policy = Script(
        lambda view, _: None,
        lambda view, _: [StartJob(job) for job in view.waiting],
        lambda view, _: [KillJob("w0!A"), KillJobs(["w0!A", "w0!B"]), KillJob("w0!B")],
        lambda view, _: [KillJob("w0!A")],
    )
    peer = Exchange(policy)
    peer.ask(1, submitted("w0!A", 1), submitted("w0!B", 1))
    assert peer.ask(2, submitted("w0!C", 2)) == [
        (2, "KILL_JOB", {"job_ids": ["w0!A"]}),
        (2, "KILL_JOB", {"job_ids": ["w0!B"]}),
    ]
    assert peer.ask(3, completed("w0!A", 3, "COMPLETED_KILLED")) == []


def test_a_job_can_be_laid_out_and_given_storages():
    policy = Script(
        lambda view, _: None,
        lambda view, _: [
            StartJob("w0!A", "0", mapping=[0, 0]),
            StartJob("w0!B", "1", storages={"pfs": 4}),
        ],
    )
    peer = Exchange(policy, beginning(storages=1))
    assert peer.ask(1, submitted("w0!A", 1, hosts=2), submitted("w0!B", 1)) == [
        (1, "EXECUTE_JOB", {"job_id": "w0!A", "alloc": "0", "mapping": {"0": "0", "1": "0"}}),
        (1, "EXECUTE_JOB", {"job_id": "w0!B", "alloc": "1", "storage_mapping": {"pfs": 4}}),
    ]


def test_work_that_spreads_runs_on_any_number_of_hosts():
    spread = {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 0}
    profiles = {"p": spread, "seq": {"type": "composed", "seq": ["p", "p"]}}
    policy = Script(
        lambda view, _: None,
        lambda view, _: [StartJob("w0!A", "0-2"), StartJob("w0!B", "3")],
    )
    peer = Exchange(policy, beginning(profiles=profiles))
    said = peer.ask(1, submitted("w0!A", 1), submitted("w0!B", 1, hosts=2, profile="seq"))
    assert [data["alloc"] for _, _, data in said] == ["0-2", "3"]


def test_other_decisions_are_written_as_batsim_reads_them():
    policy = Script(
        lambda view, _: None,
        lambda view, _: [
            StartJob("w0!A"),
            SendMessage("w0!A", "go"),
            SetMetadata("w0!A", "first"),
            ChangeJobState("w0!B", "running"),
            ChangeJobState("w0!B", "completed"),
            RejectJob("w0!C"),
            RegisterProfile("nap"),
            FinishRegistration(),
            ContinueRegistration(),
        ],
    )
    peer = Exchange(policy)
    said = peer.ask(1, *(submitted(f"w0!{name}", 1) for name in "ABC"))
    assert [(kind, data) for _, kind, data in said[1:]] == [
        ("TO_JOB_MSG", {"job_id": "w0!A", "msg": "go"}),
        ("SET_JOB_METADATA", {"job_id": "w0!A", "metadata": "first"}),
        ("CHANGE_JOB_STATE", {"job_id": "w0!B", "job_state": "RUNNING"}),
        ("CHANGE_JOB_STATE", {"job_id": "w0!B", "job_state": "COMPLETED_SUCCESSFULLY"}),
        ("REJECT_JOB", {"job_id": "w0!C"}),
        ("NOTIFY", {"type": "registration_finished"}),
        ("NOTIFY", {"type": "continue_registration"}),
    ]


@pytest.mark.parametrize(
    ("decision", "complaint"),
    [
        (SendMessage("w0!B", "go"), "the job is not running a profile that receives messages"),
        (SetMetadata("w0!B", 'a "b"'), "expected a text without quotation marks"),
        (ChangeJobState("w0!B", "completed"), "the job is waiting, expected running or rejected"),
        (ChangeJobState("w0!A", "completed"), "the job runs on hosts"),
        (SetPowerState("2", 9), "host 2 has the power states 0-4, not 9"),
        (SetPowerState("2", 3), "is one of switching, which hosts only pass through"),
        (SetPowerState("0", 2), "host 0 is busy, and cannot sleep"),
        (SetPowerState("2-9", 0), "expected hosts among 0-3"),
        (SetPowerState("2", "low"), "expected the number of a power state"),
        (BusyUntil(3), r"BusyUntil\(time=3\): expected a date from now on"),
        (KillJobs("w0!A"), "expected jobs"),
        (StartJob("w0!B", "3", profile=Delay(5)), "got a profile, which no message can give"),
        (RegisterJob("job"), "got 'job', expected a Job"),
        (RegisterJob(a_job("x")), "the simulator takes no jobs; --enable-dynamic-jobs makes it"),
    ],
)
def test_what_the_simulator_would_stumble_over_is_refused_here(decision: Any, complaint: str):
    peer = Exchange(Mistaken(decision), beginning(properties=POWER))
    peer.ask(0, submitted("w0!A", hosts=2))
    with pytest.raises(DecisionError, match=complaint):
        peer.ask(5, submitted("w0!B", 5))


def test_sleeping_hosts_run_nothing():
    policy = Script(
        lambda view, _: [SetPowerState("0", 2)], lambda view, _: [StartJob("w0!A", "0")]
    )
    peer = Exchange(policy, beginning(properties=POWER))
    with pytest.raises(DecisionError, match="host 0 is being switched off"):
        peer.ask(1, submitted("w0!A", 1))


# Jobs of the policy's own


def own_job(job_id: int | str, submit: float = 0, profile: Any = None, **fields: Any) -> Job:
    return Job(job_id, submit, Request(1), profile or Delay(5), 20, **fields)


def test_a_job_of_the_policy_is_registered_with_its_profile_and_known_at_once():
    policy = Script(
        lambda view, _: [RegisterJob(own_job(7, user="ann"))],
        lambda view, events: [StartJob(event.job) for event in events],
    )
    peer = Exchange(policy, beginning(dynamic_jobs_enabled=True))
    job = {"id": "policy!7", "subtime": 0, "res": 1, "profile": "7", "walltime": 20, "user": "ann"}
    profile = {"type": "delay", "delay": 5}
    assert peer.first == [
        (
            0,
            "REGISTER_PROFILE",
            {"workload_name": "policy", "profile_name": "7", "profile": profile},
        ),
        (0, "REGISTER_JOB", {"job_id": "policy!7", "job": job}),
        (0, "EXECUTE_JOB", {"job_id": "policy!7", "alloc": "0"}),
    ]
    assert [event.job.id for event in policy.events[1]] == [7]
    peer.ask(5, completed("policy!7", 5))
    assert policy.events[-1][0].job.id == 7


def test_an_acknowledged_job_is_known_once_the_simulator_says_so():
    policy = Script(lambda view, _: [RegisterJob(own_job("dyn!x"))])
    begin = beginning(dynamic_jobs_enabled=True, dynamic_jobs_acknowledged=True)
    peer = Exchange(policy, begin)
    assert [kind for _, kind, _ in peer.first] == ["REGISTER_PROFILE", "REGISTER_JOB"]
    assert len(policy.events) == 1
    peer.ask(0, submitted("dyn!x"))
    assert [event.job.id for event in policy.events[1]] == ["dyn!x"]


def test_a_job_for_later_is_registered_at_its_submit_time():
    policy = Script(lambda view, _: [RegisterJob(own_job("x", 30))])
    peer = Exchange(policy, beginning(dynamic_jobs_enabled=True))
    assert peer.first == [(0, "CALL_ME_LATER", {"timestamp": 30})]
    said = peer.ask(30, told("REQUESTED_CALL", 30))
    assert [kind for _, kind, _ in said] == ["REGISTER_PROFILE", "REGISTER_JOB"]
    assert isinstance(policy.events[-1][0], JobSubmitted)


def test_profiles_have_names_that_no_other_had_unless_they_can_be_reused():
    def registers(view, events):
        if isinstance(events[0], SimulationStarted):
            for i in range(2):
                yield RegisterJob(own_job(f"d!{i}", profile_name="nap"))

    for reuse, expected in ((False, ["nap", "nap#2"]), (True, ["nap"])):
        begin = beginning(dynamic_jobs_enabled=True, profile_reuse_enabled=reuse)
        peer = Exchange(Script(registers), begin)
        names = [data["profile_name"] for _, kind, data in peer.first if "PROFILE" in kind]
        assert names == expected


def test_the_parts_of_a_sequence_are_registered_before_it():
    nap = Delay(5)
    profile = Sequence((nap, Delay(3), nap), repeat=2)
    policy = Script(lambda view, _: [RegisterJob(own_job("d!x", profile=profile))])
    peer = Exchange(policy, beginning(dynamic_jobs_enabled=True))
    profiles = [data for _, kind, data in peer.first if kind == "REGISTER_PROFILE"]
    *parts, whole = profiles
    assert sorted(part["profile"]["delay"] for part in parts) == [3, 5]
    names = {part["profile"]["delay"]: part["profile_name"] for part in parts}
    assert whole["profile"]["seq"] == [names[5], names[3], names[5]]


@pytest.mark.parametrize(
    ("job", "complaint"),
    [
        (own_job("w0!A"), "the id is taken"),
        (own_job("x", dependencies=(Dependency("w0!A"),)), "cannot have dependencies"),
        (own_job("x", -3), "submit"),
    ],
)
def test_a_job_that_cannot_be_registered_is_refused(job: Job, complaint: str):
    peer = Exchange(Mistaken(RegisterJob(job)), beginning(dynamic_jobs_enabled=True))
    peer.ask(0, submitted("w0!A", hosts=2))
    with pytest.raises(DecisionError, match=complaint):
        peer.ask(5, submitted("w0!B", 5))
