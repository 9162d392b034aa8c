"""Jobs that talk, replay traces, and run on hosts that come and go; worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from execution_runs import cluster_in, pair, simulate, starting
from small_runs import Scripted, finishes, job, start_everything, starts, states

import noctule as nt
from noctule.errors import DeadlockError, DecisionError, InputError
from noctule.messages import (
    CallAt,
    HostFailed,
    HostRestored,
    JobSubmitted,
    MessageSent,
    RegisterJob,
    SendMessage,
    SimulationStarted,
    StartJob,
    TimerFired,
)
from noctule.workload import (
    Delay,
    HomogeneousTask,
    MpiTrace,
    ParallelTask,
    Receive,
    Send,
    Sequence,
    Usage,
    UsageTrace,
)


@pytest.fixture
def cluster(tmp_path: Path) -> nt.Platform:
    return cluster_in(tmp_path)


# Messages


def test_a_job_and_its_policy_talk():
    told = []

    def decide(view, events):
        for event in events:
            if isinstance(event, JobSubmitted):
                yield StartJob(event.job)
            if isinstance(event, MessageSent):
                told.append((event.time, event.job.id, event.message))
                yield CallAt(7.0)
            if isinstance(event, TimerFired):
                yield SendMessage("A", "go on")

    wait = Receive("go .*", success=Delay(3.0), failure=Delay(100.0), poll_seconds=2.0)
    profile = Sequence((Delay(5.0), Send({"progress": 0.5}, 1.0), wait))
    schedule = simulate(nt.Platform.homogeneous(1), Scripted(decide), job("A", profile=profile))
    assert told == [(5.0, "A", '{"progress":0.5}')]
    # asleep until 6, looks at 6 and at 8, where the message is there
    assert finishes(schedule) == {"A": 11}


def test_another_message_is_a_failure_and_none_a_timeout():
    def decide(view, events):
        yield from start_everything(view, events)
        if view.waiting:
            yield SendMessage("A", "stop")

    waits = [
        Receive("go", success=Delay(1.0), failure=Delay(2.0), timeout=Delay(4.0)) for _ in "ab"
    ]
    profile = Sequence((Delay(1.0), *waits))
    schedule = simulate(nt.Platform.homogeneous(1), Scripted(decide), job("A", profile=profile))
    assert finishes(schedule) == {"A": 1 + 2 + 4}


def test_a_message_that_is_too_long_is_refused():
    policy = starting(StartJob("A"), SendMessage("A", "x" * 4097))
    with pytest.raises(DecisionError) as refused:
        simulate(nt.Platform.homogeneous(1), policy, job("A", profile=Receive()))
    assert str(refused.value) == (
        "t=0 SendMessage(job_id=A): got a message of 4097 characters, expected at most 4096"
    )


@pytest.mark.parametrize("machine", [False, True])
def test_a_job_that_does_not_run_receives_nothing(machine):
    policy = starting(SendMessage("A", "hello"))
    with pytest.raises(DecisionError) as refused:
        simulate(nt.Platform.homogeneous(1), policy, job("A"), machine=machine)
    assert str(refused.value) == (
        "t=0 SendMessage(job_id=A): the job is not running a profile that receives messages"
    )


# Traces


def test_a_usage_trace_uses_some_of_the_cores(tmp_path):
    # half of two cores is one: 100 flops in 10 s; both: 50 on each in 5 s
    trace = UsageTrace(((Usage(0.5, 100.0), Usage(1.0, 50.0)), (Usage(1.0, 20.0),)))
    schedule = simulate(pair(tmp_path), "fcfs", job("A", hosts=2, profile=trace))
    assert finishes(schedule) == pytest.approx({"A": 15})


def test_an_mpi_trace_is_replayed(cluster):
    ranks = (
        "0 init\n0 compute 300\n0 send 1 0 84\n0 finalize\n",
        "1 init\n1 recv 0 0 84\n1 compute 200\n1 finalize\n",
    )
    schedule = simulate(cluster, "fcfs", job("A", hosts=2, profile=MpiTrace(ranks)))
    # 3 s, then 84 bytes and an envelope of 16 over links of 10 bytes a second, then 2 s
    assert finishes(schedule) == pytest.approx({"A": 15})


def test_ranks_of_a_trace_may_share_hosts(cluster):
    ranks = tuple(f"{i} init\n{i} compute 300\n{i} finalize\n" for i in range(3))
    one = nt.Job("A", 0.0, nt.workload.Request(2), MpiTrace(ranks), rank_hosts=(0, 0, 1))
    assert finishes(simulate(cluster, "fcfs", one)) == pytest.approx({"A": 6})


def test_a_trace_in_which_ranks_wait_for_ever_says_which(cluster):
    ranks = ("0 init\n0 recv 1 0 8\n0 finalize\n", "1 init\n1 finalize\n")
    with pytest.raises(DeadlockError, match="rank 0"):
        simulate(cluster, "fcfs", job("A", hosts=2, profile=MpiTrace(ranks)))


# Hosts that come and go


def test_a_host_that_is_slower_for_a_time(tmp_path):
    platform = pair(tmp_path, 'speed_file="speed"', speed="4 0.5\n8 1\n")
    schedule = simulate(platform, "fcfs", job("A", profile=ParallelTask((100.0,))))
    # 40 flops up to 4, 20 up to 8, then the other 40
    assert finishes(schedule) == pytest.approx({"A": 12})


def test_a_host_that_fails_takes_its_jobs_along(tmp_path):
    platform = pair(tmp_path, 'state_file="state"', state="5 0\n20 1\n")
    seen = []

    def decide(view, events):
        seen.extend(
            (event.time, type(event).__name__, str(view.failed), str(view.free))
            for event in events
            if isinstance(event, HostFailed | HostRestored)
        )
        if view.now in (0, 20):
            yield from start_everything(view, events)

    jobs = [
        job("A", profile=ParallelTask((100.0,))),
        job("B", profile=ParallelTask((100.0,)), submit=20),
    ]
    schedule = simulate(platform, Scripted(decide), *jobs)
    assert states(schedule) == {"A": "failed", "B": "completed"}
    assert finishes(schedule) == pytest.approx({"A": 5, "B": 30})
    assert seen == [(5, "HostFailed", "0", "1"), (20, "HostRestored", "", "0-1")]


def test_a_host_that_has_failed_is_not_started_on(tmp_path):
    platform = pair(tmp_path, 'state_file="state"', state="5 0\n20 1\n")

    def decide(view, events):
        if isinstance(events[0], HostFailed):
            yield StartJob("A", [0])

    with pytest.raises(DecisionError, match=r"StartJob\(job_id=A, hosts=0\): host 0 has failed$"):
        simulate(platform, Scripted(decide), job("A"))


def test_starts_wait_for_a_host_to_come_back(tmp_path):
    platform = pair(tmp_path, 'state_file="state"', state="0 0\n20 1\n")
    schedule = simulate(platform, "fcfs", job("A", hosts=2, profile=ParallelTask((10.0, 10.0))))
    assert starts(schedule) == {"A": 20}


# Refusals


def test_a_registered_program_needs_a_machine():
    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield RegisterJob(job("B", profile=ParallelTask((1.0, 2.0)), hosts=2))

    with pytest.raises(DecisionError) as refused:
        simulate(nt.Platform.homogeneous(2), Scripted(decide), job("A"))
    assert str(refused.value) == (
        "RegisterJob(job_id=B): profile type ParallelTask cannot be run without a machine; "
        "the option `machine` makes one"
    )


def test_hosts_without_any_network_cannot_communicate():
    with pytest.raises(InputError, match="no route"):
        simulate(
            nt.Platform.homogeneous(2), "fcfs", job("A", hosts=2, profile=HomogeneousTask(1.0, 1.0))
        )
