"""A policy that answers requests of Batsim's protocol 4, without a wire."""

from __future__ import annotations

import inspect
import json

import pytest
from served_runs import POWER, Exchange, Script, beginning, completed, request, submitted, told

import noctule as nt
from noctule.errors import DeadlockError, DecisionError, InputError, ProtocolError
from noctule.messages import (
    AskEnergy,
    BusyUntil,
    CallAt,
    CancelCall,
    EnergyAnswered,
    ExternalEventOccurred,
    ExternalEventsEnded,
    HostsAvailable,
    HostsUnavailable,
    JobFinished,
    JobsKilled,
    JobSubmitted,
    MessageSent,
    PowerStateChanged,
    RejectJob,
    SetPowerState,
    SimulationStarted,
    StartJob,
    SubmissionsEnded,
    TimerFired,
)
from noctule.policies import Fcfs
from noctule.policy import ViewJob
from noctule.remote.served_view import ServedJob, ServedView
from noctule.remote.serving import PolicyServer, make_served


def test_jobs_start_on_the_first_free_hosts_in_the_order_of_their_submission():
    peer = Exchange(Fcfs())
    assert peer.first == []
    # A takes 0-2, B wants 2 hosts and waits for it, C stays behind B.
    started = peer.ask(
        0, submitted("w0!A", hosts=3), submitted("w0!B", hosts=2), submitted("w0!C", hosts=1)
    )
    assert started == [(0, "EXECUTE_JOB", {"job_id": "w0!A", "alloc": "0-2"})]
    assert peer.ask(10, completed("w0!A", 10)) == [
        (10, "EXECUTE_JOB", {"job_id": "w0!B", "alloc": "0-1"}),
        (10, "EXECUTE_JOB", {"job_id": "w0!C", "alloc": "2"}),
    ]
    assert peer.ask(12, told("SIMULATION_ENDS", 12)) == []
    assert peer.server.ended


def test_what_is_told_becomes_the_events_of_the_boundary():
    policy = Script(lambda view, _: None, lambda view, _: [StartJob("w0!A")])
    peer = Exchange(policy, beginning(properties=POWER))
    peer.ask(1, submitted("w0!A", 1, user="ann", group=7, colour="red", walltime=50))
    peer.ask(
        9,
        told("RESOURCE_STATE_CHANGED", 2, resources="1-2", state="2"),
        told("NOTIFY", 3, type="no_more_static_job_to_submit"),
        told("NOTIFY", 4, type="no_more_external_event_to_occur"),
        told("NOTIFY", 5, type="event_machine_unavailable", resources="3"),
        told("NOTIFY", 6, type="event_machine_available", resources="3"),
        told("NOTIFY", 7, type="price", eur=3),
        told("FROM_JOB_MSG", 7.5, job_id="w0!A", msg={"a": 1}),
        told("ANSWER", 8, consumed_energy=12.5),
    )
    (start,), (submission,), told_later = policy.events
    assert start == SimulationStarted(0)
    job = submission.job
    assert submission == JobSubmitted(1, job)
    assert (job.id, job.submit_time, job.walltime, job.n_hosts) == ("w0!A", 1, 50, 1)
    assert (job.user, job.group, job.queue) == ("ann", 7, None)
    assert job.extra == {"user": "ann", "group": 7, "colour": "red"}
    assert told_later == [
        PowerStateChanged(2, nt.HostSet("1-2"), 2),
        SubmissionsEnded(3),
        ExternalEventsEnded(4),
        HostsUnavailable(5, nt.HostSet("3")),
        HostsAvailable(6, nt.HostSet("3")),
        ExternalEventOccurred(7, '{"type":"price","eur":3}'),
        MessageSent(7.5, job, '{"a":1}'),
        EnergyAnswered(8, 12.5),
    ]


def test_the_view_shows_what_messages_and_decisions_tell():
    policy = Script(lambda view, _: None, lambda view, _: [StartJob("w0!B", "1-2")])
    peer = Exchange(policy)
    peer.ask(
        5, submitted("w0!A", 5, hosts=4, walltime=-1), submitted("w0!B", 5, hosts=2, walltime=20)
    )
    view = policy.view
    assert (view.now, view.n_hosts, view.n_free, str(view.free)) == (5, 4, 2, "0 3")
    assert [job.id for job in view.waiting] == ["w0!A"]
    assert len(view.running) == 1
    job = view.running[0]
    assert job is view.job("w0!B")
    assert (job.start_time, job.expected_end, str(job.hosts)) == (5, 25, "1-2")
    assert view.waiting[0].expected_end != view.waiting[0].expected_end  # no start, no end
    assert view.releases() == [(25, 2)]
    timeline = view.timeline()
    assert timeline.earliest(4, 10) == 25
    assert timeline.n_free_at(6) == 2
    assert not view.completing
    assert not view.failed
    with pytest.raises(IndexError):
        view.running[1]
    with pytest.raises(DecisionError, match=r"t=5 view.job\('w0!Z'\): no job has this id"):
        view.job("w0!Z")


@pytest.mark.parametrize("name", ["energy", "groups"])
def test_what_no_message_tells_cannot_be_seen(name: str):
    peer = Exchange(Script())
    with pytest.raises(AttributeError, match="message"):
        getattr(peer.policy.view, name)


def test_runtimes_and_the_progress_of_running_jobs_cannot_be_seen():
    peer = Exchange(Script(lambda view, _: None, lambda view, _: [StartJob("w0!A")]))
    peer.ask(1, submitted("w0!A", 1))
    job = peer.policy.view.job("w0!A")
    with pytest.raises(AttributeError, match="runtimes"):
        job.runtime  # noqa: B018
    with pytest.raises(AttributeError, match="killed jobs only"):
        job.progress  # noqa: B018


@pytest.mark.parametrize(("ours", "served"), [(nt.View, ServedView), (ViewJob, ServedJob)])
def test_a_served_policy_finds_all_names_that_it_would_find_in_process(ours: type, served: type):
    public = {name for name, _ in inspect.getmembers(ours) if not name.startswith("_")}
    assert public <= set(dir(served))


def test_a_killed_job_knows_how_far_it_had_come():
    policy = Script(
        lambda view, _: None,
        lambda view, _: [StartJob("w0!A"), StartJob("w0!B")],
    )
    peer = Exchange(policy)
    peer.ask(1, submitted("w0!A", 1), submitted("w0!B", 1))
    sequence = {
        "profile_name": "steps",
        "current_task_index": 4,
        "current_task": {"profile_name": "nap", "progress": 0.4},
    }
    peer.ask(
        9,
        completed("w0!A", 8),
        completed("w0!B", 9, "COMPLETED_KILLED"),
        told("JOB_KILLED", 9, job_ids=["w0!A", "w0!B"], job_progress={"w0!B": sequence}),
    )
    ended, killed, group = policy.events[-1]
    assert (ended.state, killed) == ("completed", JobFinished(9, killed.job, "killed"))
    assert group == JobsKilled(9, (ended.job, killed.job))
    assert ended.job.progress == []
    assert killed.job.progress == [("steps", 4, 0.0), ("nap", 0, 0.4)]


def test_jobs_larger_than_the_platform_are_rejected_without_the_policy():
    policy = Script()
    peer = Exchange(policy)
    assert peer.ask(3, submitted("w0!A", 3, hosts=5)) == [(3, "REJECT_JOB", {"job_id": "w0!A"})]
    assert len(policy.events) == 1
    wanting = Exchange(Script(), reject_oversized=False)
    assert wanting.ask(3, submitted("w0!A", 3, hosts=5)) == []


# Calls


def test_calls_have_tags_though_those_of_messages_have_none():
    policy = Script(
        lambda view, _: [CallAt(20, "late"), CallAt(10, "a"), CallAt(10, "b"), CallAt(15, "gone")],
        lambda view, _: [CancelCall("gone")],
    )
    peer = Exchange(policy)
    assert peer.first == [(0, "CALL_ME_LATER", {"timestamp": date}) for date in (10, 15, 20)]
    peer.ask(10, told("REQUESTED_CALL", 10))
    assert policy.events[-1] == [TimerFired(10, "a"), TimerFired(10, "b")]
    peer.ask(15, told("REQUESTED_CALL", 15))  # nobody wants it any more
    assert len(policy.events) == 2
    peer.ask(20, told("REQUESTED_CALL", 20))
    assert policy.events[-1] == [TimerFired(20, "late")]


def test_a_second_call_with_the_same_tag_replaces_the_first():
    policy = Script(lambda view, _: [CallAt(10, "a")], lambda view, _: [CallAt(30, "a")])
    peer = Exchange(policy)
    assert peer.ask(5, submitted("w0!A", 5)) == [(5, "CALL_ME_LATER", {"timestamp": 30})]
    peer.ask(10, told("REQUESTED_CALL", 10))
    assert len(policy.events) == 2
    peer.ask(30, told("REQUESTED_CALL", 30))
    assert policy.events[-1] == [TimerFired(30, "a")]


def test_the_date_of_a_call_is_the_one_that_was_asked_for_though_messages_round_it():
    date = 10 / 3
    policy = Script(lambda view, _: [CallAt(date)])
    peer = Exchange(policy)
    peer.ask(3.333333, told("REQUESTED_CALL", 3.333333))
    assert policy.events[-1] == [TimerFired(date, "")]
    assert policy.view.now == date
    assert peer.ready == date


def test_a_job_that_ran_for_its_walltime_ends_when_that_was_expected():
    policy = Script(lambda view, _: None, lambda view, _: [StartJob("w0!A")])
    peer = Exchange(policy)
    peer.ask(1.1, submitted("w0!A", 1.1, walltime=10 / 3))
    peer.ask(4.433333, completed("w0!A", 4.433333, "COMPLETED_WALLTIME_REACHED"))
    assert policy.view.now == 1.1 + 10 / 3


def test_a_call_for_now_is_made_at_once():
    policy = Script(lambda view, _: [CallAt(view.now, "again")])
    peer = Exchange(policy)
    assert peer.first == []
    assert policy.events == [[SimulationStarted(0)], [TimerFired(0, "again")]]


def test_a_policy_that_never_lets_time_go_on_is_stopped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("noctule.remote.serving._MOST_CALLS_AT_ONCE", 50)

    class Restless:
        def decide(self, view, events):
            return [CallAt(view.now)]

    with pytest.raises(DeadlockError, match="t=0: the policy was called"):
        Exchange(Restless())


def test_calls_do_not_keep_a_run_alive_once_all_jobs_have_ended():
    class Periodic:
        def decide(self, view, events):
            yield CallAt(view.now + 100, "look")
            yield from (StartJob(job) for job in view.waiting)

    peer = Exchange(Periodic())
    peer.ask(1, submitted("w0!A", 1), told("NOTIFY", 1, type="no_more_static_job_to_submit"))
    assert peer.ask(20, completed("w0!A", 20)) == []
    assert peer.ask(100, told("REQUESTED_CALL", 100)) == []


# Decisions with a date


def test_a_decision_for_later_is_kept_and_told_when_its_date_comes():
    policy = Script(lambda view, _: None, lambda view, _: [StartJob("w0!A", time=50)])
    peer = Exchange(policy)
    assert peer.ask(1, submitted("w0!A", 1)) == [(1, "CALL_ME_LATER", {"timestamp": 50})]
    assert peer.ready == 1  # the policy is called meanwhile, as it is in process
    peer.ask(20, submitted("w0!B", 20))
    assert len(policy.events) == 3
    assert peer.ask(50, told("REQUESTED_CALL", 50)) == [
        (50, "EXECUTE_JOB", {"job_id": "w0!A", "alloc": "0"})
    ]
    assert len(policy.events) == 3  # nothing else happened


def test_a_decision_for_later_on_a_job_that_has_ended_is_forgotten():
    policy = Script(
        lambda view, _: None,
        lambda view, _: [RejectJob("w0!A", time=50)],
        lambda view, _: [StartJob("w0!A")],
    )
    peer = Exchange(policy)
    peer.ask(1, submitted("w0!A", 1))
    peer.ask(2, submitted("w0!B", 2))
    peer.ask(9, completed("w0!A", 9))
    assert peer.ask(50, told("REQUESTED_CALL", 50)) == []


def test_a_busy_policy_says_until_when_and_what_it_does_meanwhile():
    policy = Script(
        lambda view, _: None,
        lambda view, _: [
            StartJob("w0!A"),
            BusyUntil(5),
            StartJob("w0!B"),
            StartJob("w0!C", time=4),
            CallAt(1, "at once"),
        ],
    )
    peer = Exchange(policy)
    said = peer.ask(1, submitted("w0!A", 1), submitted("w0!B", 1), submitted("w0!C", 1))
    assert [(date, kind, data.get("job_id")) for date, kind, data in said] == [
        (1, "EXECUTE_JOB", "w0!A"),
        (1, "CALL_ME_LATER", None),
        (5, "EXECUTE_JOB", "w0!B"),
        (5, "EXECUTE_JOB", "w0!C"),
    ]
    assert peer.ready == 5
    peer.ask(5, told("REQUESTED_CALL", 5))
    assert policy.events[-1] == [TimerFired(5, "at once")]
    with pytest.raises(ProtocolError, match="expected a date from 5 on"):
        peer.ask(4, submitted("w0!D", 4))


# Power states


def test_hosts_that_switch_or_sleep_are_not_free():
    policy = Script(lambda view, _: [SetPowerState("0-1", 2), SetPowerState("3", 1)])
    peer = Exchange(policy, beginning(properties=POWER))
    assert peer.first == [
        (0, "SET_RESOURCE_STATE", {"resources": "0-1", "state": "2"}),
        (0, "SET_RESOURCE_STATE", {"resources": "3", "state": "1"}),
    ]
    view = policy.view
    assert (str(view.free), str(view.switching), str(view.asleep)) == ("2-3", "0-1", "")
    peer.ask(6, told("RESOURCE_STATE_CHANGED", 6, resources="0-1", state="2"))
    assert (str(view.free), str(view.switching), str(view.asleep)) == ("2-3", "", "0-1")
    assert [view.power_state(host) for host in range(4)] == [2, 2, 0, 1]
    policy._turns.append(lambda view, _: [SetPowerState("0", 0), AskEnergy()])
    assert peer.ask(7, submitted("w0!A", 7))[1] == (
        7,
        "QUERY",
        {"requests": {"consumed_energy": {}}},
    )
    assert (str(view.free), str(view.switching), str(view.asleep)) == ("2-3", "0", "1")
    peer.ask(9, told("RESOURCE_STATE_CHANGED", 9, resources="0", state="0"))
    assert (str(view.free), str(view.asleep)) == ("0 2-3", "1")


def test_unavailable_hosts_are_not_free_though_jobs_on_them_go_on():
    policy = Script(lambda view, _: None, lambda view, _: [StartJob("w0!A", "1")])
    peer = Exchange(policy)
    peer.ask(1, submitted("w0!A", 1))
    peer.ask(2, told("NOTIFY", 2, type="event_machine_unavailable", resources="0-1"))
    assert (str(policy.view.free), str(policy.view.unavailable)) == ("2-3", "0-1")
    peer.ask(3, completed("w0!A", 3))
    assert str(policy.view.free) == "2-3"
    peer.ask(4, told("NOTIFY", 4, type="event_machine_available", resources="0-1"))
    assert str(policy.view.free) == "0-3"


def test_shared_hosts_are_free_once_their_last_job_has_ended():
    policy = Script(
        lambda view, _: None, lambda view, _: [StartJob("w0!A", "0-1"), StartJob("w0!B", "1")]
    )
    peer = Exchange(policy, beginning(shared=True))
    peer.ask(1, submitted("w0!A", 1, hosts=2), submitted("w0!B", 1))
    assert str(policy.view.free) == "2-3"
    peer.ask(2, completed("w0!A", 2))
    assert str(policy.view.free) == "0 2-3"
    peer.ask(3, completed("w0!B", 3))
    assert str(policy.view.free) == "0-3"


# Peers that say something else


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (b"", "request 2: got 0 bytes"),
        (b'{"now": 1, "events": [{"timest', "expected a message of Batsim"),
        (b"\xff\xfe", "expected a message of Batsim"),
        (b"[1, 2]", r"Expected `object`"),
        (b'{"now": "x", "events": []}', r"\$\.now"),
        (b'{"now": 1, "events": [{"timestamp": 1, "type": 3, "data": {}}]}', r"events\[0\]\.type"),
        (b"[" * 100_000, "expected a message of Batsim"),
        (b'{"now": -5, "events": []}', "now: got -5.0, expected a date from 0 on"),
        (request(1, told("WHAT", 1)), r"events\[0\]\.type: got 'WHAT', expected one of JOB_SUB"),
        (request(1, told("REQUESTED_CALL", 9)), r"timestamp: got 9.0, expected a date up to 1"),
        (request(1, beginning()), "only there"),
        (request(1, completed("w0!Z", 1)), "got 'w0!Z', expected the id of a job that was submitt"),
        (request(1, completed("w0!A", 1)), "expected the id of a running job: this one is waiting"),
        (request(1, submitted("w0!A", 1)), "a job that was not submitted before"),
        (request(1, submitted("w0!B", 1, hosts=0)), "res: got 0, expected a whole number >= 1"),
        (request(1, submitted("w0!B", 1, walltime="x")), "walltime: got 'x'"),
        (request(1, told("JOB_SUBMITTED", 1, job_id="w0!B")), r"data\.job: missing"),
        (request(1, told("JOB_KILLED", 1, job_ids="w0!A")), "expected an array of ids"),
        (request(1, told("ANSWER", 1, consumed_energy="much")), "expected a number >= 0"),
        (
            request(1, told("RESOURCE_STATE_CHANGED", 1, resources="0-9", state="1")),
            "got '0-9', expected hosts among 0-3",
        ),
        (
            request(1, told("RESOURCE_STATE_CHANGED", 1, resources="[3]", state="1")),
            "expected hosts among 0-3",
        ),
    ],
)
def test_what_is_wrong_with_a_request_is_said_and_quoted(message: bytes, complaint: str):
    peer = Exchange(Script())
    server = peer.server
    server.answer(request(0, submitted("w0!A")))
    with pytest.raises(ProtocolError, match=complaint):
        server.answer(message)


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        (submitted("w0!A"), "expected SIMULATION_BEGINS as the first event of the first request"),
        (told("SIMULATION_BEGINS"), "config: missing, expected an object"),
        (beginning(redis_enabled=True), "redis-enabled: got true, expected false"),
        (beginning(0), "expected 1 to"),
    ],
)
def test_a_simulation_that_begins_otherwise_is_refused(first: dict, complaint: str):
    with pytest.raises(ProtocolError, match=complaint):
        PolicyServer(Script()).answer(request(0, first))


def test_hosts_must_be_numbered_as_in_batsim():
    begin = beginning(2)
    begin["data"]["compute_resources"][1]["id"] = 5
    with pytest.raises(ProtocolError, match=r"compute_resources\[1\].id: got 5, expected 1: hosts"):
        PolicyServer(Script()).answer(request(0, begin))


def test_nothing_may_follow_the_end():
    peer = Exchange(Script())
    peer.ask(1, told("SIMULATION_ENDS", 1))
    with pytest.raises(ProtocolError, match="after SIMULATION_ENDS"):
        peer.ask(1, submitted("w0!A", 1))


def test_a_policy_that_fails_is_named_with_the_place():
    def fail(view, events):
        raise ValueError("no idea")

    with pytest.raises(
        DecisionError, match=r"t=0 policy Script raised ValueError: no idea \(.*py:"
    ):
        Exchange(Script(fail))


def test_equal_requests_give_equal_bytes():
    replies = []
    for _ in range(2):
        server = PolicyServer(Fcfs())
        server.answer(request(0, beginning()))
        replies.append(server.answer(request(0.5, submitted("w0!A", 0.5, hosts=2))))
    assert replies[0] == replies[1]
    assert json.loads(replies[0])["now"] == 0.5


# By name


def test_native_names_stand_for_their_readable_twins():
    assert type(make_served("fcfs")).__name__ == "Fcfs"
    assert type(make_served("easy(order=sjf)")).__name__ == "Easy"


def test_a_policy_without_a_twin_cannot_be_served():
    with pytest.raises(InputError, match="replanning: runs inside the engine only, expected"):
        make_served("replanning")
