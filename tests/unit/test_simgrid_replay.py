"""What a run becomes in the words of the program that asks SimGrid."""

from __future__ import annotations

import pytest

import noctule as nt
from noctule.errors import InputError
from noctule.messages import CallAt, JobSubmitted, KillJob, SetPowerState, StartJob
from noctule.platform import PowerModel
from noctule.simgrid.replay import Replay, RunOfJobs, replay_of
from noctule.simgrid.starts import Starts
from noctule.simgrid.steps import Place, steps_of
from noctule.workload import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    Job,
    MpiTrace,
    ParallelTask,
    Receive,
    Request,
    Send,
    Sequence,
    StorageTransfer,
    Usage,
    UsageTrace,
    Workload,
)

TWO = Place(["a", "b"], only_storage="disk", unit=10.0)


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (Delay(2.5), "sleep 2.5 end"),
        (Send({"a": 1}, 0.25), "sleep 0.25 end"),
        (Compute(3), "homog 2 a b 30.0 0.0 end"),
        (Compute(3, spread=True), "homog 2 a b 15.0 0.0 end"),
        (HomogeneousTask(8, 6), "homog 2 a b 8.0 6.0 end"),
        (HomogeneousTask(8, 6, "spread"), "homog 2 a b 4.0 3.0 end"),
        (HomogeneousTask(8, 6, "spread_flops"), "homog 2 a b 4.0 3.0 end"),
        (ParallelTask((1, 2)), "ptask 2 a b F 1.0 2.0 - end"),
        (ParallelTask((1, 0), (0, 5, 6, 0)), "ptask 2 a b F 1.0 0.0 B 0.0 5.0 6.0 0.0 end"),
        (DataStaging(7, "x", "y"), "ptask 2 disk disk - B 0.0 7.0 0.0 0.0 end"),
        (
            StorageTransfer(3, 1),
            "ptask 3 a b disk - B 0.0 0.0 1.0 0.0 0.0 1.0 3.0 3.0 0.0 end",
        ),
        (
            StorageTransfer(3, 1, spread=True),
            "ptask 3 a b disk - B 0.0 0.0 0.5 0.0 0.0 0.5 1.5 1.5 0.0 end",
        ),
        (Sequence((Delay(1), Delay(2)), repeat=3), "repeat 3 sleep 1.0 sleep 2.0 end end"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_steps_are_those_of_the_profile(profile, words):
    assert " ".join(steps_of(profile, TWO)) == words


def test_spread_messages_of_three_hosts_are_spread_over_six_pairs():
    three = Place(["a", "b", "c"])
    assert steps_of(HomogeneousTask(6, 6, "spread"), three)[5:7] == ["2.0", "1.0"]
    assert steps_of(HomogeneousTask(6, 6, "spread_flops"), three)[5:7] == ["2.0", "2.0"]


def test_nothing_is_done_after_a_part_that_fails():
    inner = Sequence((Delay(1), Delay(2, return_code=1), Delay(3)), repeat=4)
    whole = Sequence((inner, Delay(5)), repeat=6)
    words = " ".join(steps_of(whole, TWO))
    assert words == "repeat 1 repeat 1 sleep 1.0 sleep 2.0 end end end"


def test_a_sequence_that_itself_fails_is_done_to_its_end():
    inner = Sequence((Delay(1),), repeat=4, return_code=1)
    words = " ".join(steps_of(Sequence((inner, Delay(5)), repeat=6), TWO))
    assert words == "repeat 1 repeat 4 sleep 1.0 end end end"


def test_ranks_of_a_usage_trace_go_round_the_hosts_and_use_some_of_the_cores():
    trace = UsageTrace(((Usage(0.5, 4), Usage(0.1, 3)), (), (Usage(1, 2),)))
    place = Place(["a", "b"], cores={"a": 4})
    words = "ranks 3 homog 2 a a 4.0 0.0 homog 1 a 3.0 0.0 end end homog 4 a a a a 2.0 0.0 end end"
    assert " ".join(steps_of(trace, place)) == words
    placed = Place(["a", "b"], ranks=["b", "b", "a"])
    words = "ranks 3 homog 1 b 4.0 0.0 homog 1 b 3.0 0.0 end end homog 1 a 2.0 0.0 end end"
    assert " ".join(steps_of(trace, placed)) == words


def test_a_named_storage_is_taken_before_the_only_one():
    place = Place(["a"], {"fast": "ssd"}, only_storage="disk")
    assert "ssd" in steps_of(StorageTransfer(1, 1, "fast"), place)
    with pytest.raises(InputError, match="storage 'pfs': nothing tells which host"):
        steps_of(StorageTransfer(1, 1, "pfs"), place)


@pytest.mark.parametrize(
    "profile",
    [Receive(), MpiTrace(("compute 1",))],
    ids=lambda profile: type(profile).__name__,
)
def test_traces_and_messages_of_the_policy_are_refused(profile):
    name = type(profile).__name__
    with pytest.raises(InputError, match=f"type {name}, which cannot be replayed"):
        steps_of(Sequence((Delay(1), profile)), TWO)


def test_what_is_endless_to_write_is_refused(monkeypatch):
    monkeypatch.setattr("noctule.simgrid.steps._MOST_WORDS", 1000)
    profile: Delay | Sequence = Delay(1)
    for _ in range(90):
        profile = Sequence((profile, profile))
    with pytest.raises(InputError, match="more than 1000 words"):
        steps_of(profile, TWO)


def replayed(platform, workload, policy, *, energy=False, **options) -> Replay:
    starts = None if isinstance(policy, str) else Starts(policy)
    billing = "simgrid" if energy else "off"
    schedule = nt.simulate(platform, workload, starts or policy, energy=billing, **options)
    return replay_of(
        RunOfJobs(
            schedule,
            workload,
            workload.reference_speed or platform.reference_speed,
            starts,
            options.get("launch_delay", 0.0),
            options.get("enforce_walltime", True),
            energy,
        )
    )


def test_jobs_begin_at_their_dates_on_their_hosts():
    workload = Workload.from_jobs(
        [
            Job(1, 0, Request(2), Delay(10), walltime=20),
            Job(2, 1, Request(2), Compute(5)),
            Job(3, 2, Request(9), Delay(1)),
        ]
    )
    found = replayed(nt.Platform.homogeneous(3), workload, "fcfs")
    assert sorted(found.commands) == [
        "job 1 0.0 20.0 host0 sleep 10.0 end",
        "job 2 10.0 inf host0 homog 2 host0 host1 5.0 0.0 end",
    ]
    assert found.rows == [1, 2]


def test_walltimes_begin_behind_the_launch():
    job = Job(1, 0, Request(1), Delay(10), walltime=20, launch_delay=3)
    workload = Workload.from_jobs([job])
    platform = nt.Platform.homogeneous(1)
    found = replayed(platform, workload, "fcfs", launch_delay=0.5)
    assert found.commands == ["job 0 3.5 20.0 host0 sleep 10.0 end"]
    found = replayed(platform, workload, "fcfs", enforce_walltime=False)
    assert found.commands == ["job 0 3.0 inf host0 sleep 10.0 end"]


class Killer:
    """Kills all jobs at a date."""

    def __init__(self, date):
        self.date = date

    def decide(self, view, events):
        if view.now == 0:
            yield CallAt(self.date)
        yield from map(StartJob, view.waiting)
        if view.now == self.date:
            yield from map(KillJob, view.running)


def test_a_killed_job_is_stopped_when_it_was_here():
    workload = Workload.from_jobs([Job(1, 0, Request(1), Delay(10), walltime=20)])
    found = replayed(nt.Platform.homogeneous(1), workload, Killer(4))
    assert found.commands == ["job 0 0.0 4.0 host0 sleep 10.0 end"]


def test_a_job_killed_before_its_launch_is_not_replayed():
    workload = Workload.from_jobs([Job(1, 0, Request(1), Delay(10), launch_delay=5)])
    found = replayed(nt.Platform.homogeneous(1), workload, Killer(4))
    assert found == Replay([], [])


def test_a_job_that_still_runs_in_the_end_is_replayed_but_not_compared():
    workload = Workload.from_jobs([Job(1, 0, Request(1), Delay(10))])
    found = replayed(nt.Platform.homogeneous(1), workload, "fcfs", until=7)
    assert found == Replay(["job 0 0.0 7.0 host0 sleep 10.0 end"], [])


POWER = PowerModel(idle=95, computing=190, off=10, slower=((0.5, 90, 150),))


def test_hosts_are_billed_when_jobs_begin_and_in_the_end():
    platform = nt.Platform.homogeneous(2, power=POWER)
    workload = Workload.from_jobs([Job(1, 3, Request(1), Delay(10), launch_delay=1)])
    found = replayed(platform, workload, "fcfs", energy=True)
    assert found.commands == [
        "watch 2 host0 host1",
        "look 0.0",
        "look 3.0",
        "look 14.0",
        "job 0 4.0 inf host0 sleep 10.0 end",
    ]


class Switcher:
    """Asks for a power state when a job comes."""

    def __init__(self, state):
        self.state = state

    def decide(self, view, events):
        if any(isinstance(event, JobSubmitted) for event in events):
            yield SetPowerState([1], self.state)
        yield from map(StartJob, view.waiting)


def test_states_in_which_hosts_compute_are_replayed():
    platform = nt.Platform.homogeneous(2, power=POWER)
    workload = Workload.from_jobs([Job(1, 2, Request(1), Delay(10))])
    found = replayed(platform, workload, Switcher(1), energy=True)
    assert [word for word in found.commands if word.startswith("pstate")] == ["pstate 2.0 host1 1"]
    with pytest.raises(InputError, match="t=2 hosts 1: were switched off, which cannot"):
        replayed(platform, workload, Switcher(2), energy=True)


def test_names_of_hosts_with_spaces_are_refused(tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text('[[hosts]]\nname = "my host"\n')
    workload = Workload.from_jobs([Job(1, 0, Request(1), Delay(10))])
    with pytest.raises(InputError, match="'my host': such a name"):
        replayed(nt.load_platform(path), workload, "fcfs")


def test_a_job_that_cannot_be_replayed_is_named():
    job = Job("x", 0, Request(1), MpiTrace(("0 compute 1",)), profile_name="usage")
    workload = Workload.from_jobs([job])
    with pytest.raises(InputError, match="w0: job x: profile 'usage': got a part of type MpiTrace"):
        replayed(nt.Platform.homogeneous(1), workload, "fcfs")
