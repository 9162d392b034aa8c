"""Jobs that wake their hosts, as the option wake_for_jobs lets them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from power_runs import ASLEEP, FULL, POWER, hosts, run
from small_runs import Scripted, finishes, hosts_of, job, start_everything, starts, states

import noctule as nt
from noctule import HostSet
from noctule.errors import DecisionError, InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.messages import (
    CallAt,
    JobFinished,
    JobSubmitted,
    KillJob,
    PowerStateChanged,
    SetPowerState,
    SimulationStarted,
    StartJob,
)
from noctule.platform import HostKind, Hosts, PowerRange, SleepState


def start_what_fits(view, events):
    n_free = view.n_free
    for one in view.waiting:
        if one.n_hosts <= n_free:
            n_free -= one.n_hosts
            yield StartJob(one)


def sleeping_first(*asleep: int, then=start_what_fits):
    """Return what sends hosts to sleep at 0 (they are asleep at 5), then decides something else."""

    def decide(view, events):
        if any(isinstance(event, SimulationStarted) for event in events):
            yield SetPowerState(list(asleep), ASLEEP)
        yield from then(view, events) or ()

    return Scripted(decide)


def waking(policy, jobs, **options) -> nt.Schedule:
    return run(policy, jobs, wake_for_jobs=True, **options)


# Dates and joules by hand


def test_a_job_begins_when_its_hosts_have_been_switched_on():
    policy = sleeping_first(0, 1)
    schedule = waking(policy, [job("A", hosts=2, runtime=20, submit=50)])
    assert (starts(schedule), finishes(schedule)) == ({"A": 60}, {"A": 80})
    # 5 s off, 45 s asleep, 10 s on, 20 s of work
    assert schedule.energy.spent.tolist() == [[0, 4000, 250 + 1500, 450]] * 2
    # of the job from its start on
    assert schedule.column("energy").tolist() == [8000]
    assert policy.calls == [
        (0, ["SimulationStarted"]),
        (5, ["PowerStateChanged"]),
        (50, ["JobSubmitted"]),
        (60, ["PowerStateChanged"]),
        (80, ["JobFinished"]),
    ]
    assert schedule.power_states["state"].tolist() == [FULL, -2, ASLEEP, -1, FULL]
    assert schedule.power_states["time"].tolist() == [0, 0, 5, 50, 60]


def test_awake_hosts_of_a_job_are_held_while_the_others_wake():
    policy = sleeping_first(1)
    schedule = waking(policy, [job("A", hosts=2, submit=50), job("B", submit=51)])
    assert starts(schedule) == {"A": 60, "B": 70}
    assert schedule.energy.spent[0].tolist() == [60 * 100, 20 * 200, 0, 0]


def test_a_host_that_is_being_switched_off_is_switched_on_as_soon_as_it_is_off():
    policy = sleeping_first(0, 1)
    schedule = waking(policy, [job("A", hosts=2, submit=2)])
    assert starts(schedule) == {"A": 5 + 10}
    assert schedule.power_states["time"].tolist() == [0, 0, 5, 5, 15]
    assert schedule.power_states["state"].tolist() == [FULL, -2, ASLEEP, -1, FULL]


def test_a_host_that_is_being_switched_on_is_waited_for():
    def then(view, events):
        if isinstance(events[0], PowerStateChanged) and events[0].state == ASLEEP:
            yield SetPowerState([0], FULL)
        yield from start_everything(view, events)

    schedule = waking(sleeping_first(0, then=then), [job("A", submit=8)], n=1)
    assert starts(schedule) == {"A": 15}
    assert schedule.power_states["time"].tolist() == [0, 0, 5, 5, 15]


def test_the_walltime_runs_from_the_start():
    policy = sleeping_first(0)
    schedule = waking(policy, [job("A", runtime=10, walltime=10, submit=5)], n=1)
    assert (starts(schedule), states(schedule)) == ({"A": 15}, {"A": "completed"})
    schedule = waking(sleeping_first(0), [job("A", runtime=11, walltime=10, submit=5)], n=1)
    assert (finishes(schedule), states(schedule)) == ({"A": 25}, {"A": "timed_out"})


def test_the_start_is_told_at_the_decision():
    seen = []

    def then(view, events):
        if isinstance(events[0], JobFinished):
            return
        yield from start_everything(view, events)
        seen.append(
            (
                view.now,
                [(one.start_time, one.expected_end, str(one.hosts)) for one in view.running],
                view.releases(),
            )
        )

    waking(sleeping_first(0, then=then), [job("A", submit=2, walltime=30)], n=1)
    assert seen == [
        (0, [], []),
        (2, [], []),
        (5, [(15, 45, "0")], [(45, 1)]),
        (15, [(15, 45, "0")], [(45, 1)]),
    ]


def test_launch_delays_and_epilogues_are_as_on_hosts_that_were_awake():
    jobs = [job("A", runtime=10, submit=5, launch=3, epilogue=4), job("B", submit=6)]
    schedule = waking(sleeping_first(0), jobs, n=1)
    assert starts(schedule) == {"A": 15, "B": 15 + 13 + 4}
    assert finishes(schedule) == {"A": 28, "B": 42}


# What is free


def test_hosts_that_sleep_or_switch_are_free():
    seen = []

    def then(view, events):
        seen.append((view.now, view.n_free, str(view.free), str(view.asleep), str(view.switching)))
        if isinstance(events[0], SimulationStarted):
            yield CallAt(2.0)
        else:
            yield from start_everything(view, events)

    waking(sleeping_first(1, then=then), [job("A", hosts=3, submit=7, runtime=1)], n=3)
    assert seen == [
        (0, 3, "0-2", "", ""),
        (2, 3, "0-2", "", "1"),
        (5, 3, "0-2", "1", ""),
        (7, 3, "0-2", "1", ""),
        (17, 0, "", "", ""),
        (18, 3, "0-2", "", ""),
    ]


def test_hosts_are_idle_in_the_record_only_while_they_are_awake():
    schedule = waking(sleeping_first(0, 1), [job("A", submit=7, hosts=2)], n=3)
    table = schedule.host_states
    last = table.groupby("time").last()
    columns = ["n_idle", "n_computing", "n_sleeping", "n_switching_on", "n_switching_off"]
    assert [row.tolist() for _, row in last[columns].iterrows()] == [
        [1, 0, 0, 0, 2],
        [1, 0, 2, 0, 0],
        [0, 1, 1, 1, 0],
        [0, 2, 1, 0, 0],
        [2, 0, 1, 0, 0],
    ]


@pytest.mark.parametrize(("n", "chosen"), [(1, "3"), (2, "2-3"), (3, "1-3"), (4, "0-3")])
def test_awake_hosts_come_first_then_those_that_wake_soonest(n, chosen):
    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield SetPowerState([1, 2], ASLEEP)
            yield CallAt(5.0, "wake")
            yield CallAt(7.0, "sleep")
        elif view.now == 5:
            yield SetPowerState([2], FULL)
        elif view.now == 7:
            yield SetPowerState([0], ASLEEP)
        elif view.now == 8:
            yield from start_everything(view, events)

    # at 8 host 3 is awake, 2 is being switched on, 1 sleeps and 0 is being switched off
    schedule = waking(Scripted(decide), [job("A", hosts=n, submit=8)], n=4)
    assert hosts_of(schedule) == {"A": chosen}
    assert starts(schedule) == {"A": {1: 8, 2: 15, 3: 18, 4: 22}[n]}


class Sleeping:
    """Sends hosts to sleep at 0, and leaves the rest to a policy."""

    wakes_hosts = True

    def __init__(self, asleep, policy):
        self.asleep, self.policy = asleep, policy

    def decide(self, view, events):
        if any(isinstance(event, SimulationStarted) for event in events):
            yield SetPowerState(self.asleep, ASLEEP)
        yield from self.policy.decide(view, events)


def test_named_hosts_are_woken():
    def then(view, events):
        return [StartJob(one, [1]) for one in view.waiting]

    schedule = waking(sleeping_first(1, then=then), [job("A", submit=10)])
    assert (starts(schedule), hosts_of(schedule)) == ({"A": 20}, {"A": "1"})


# Ends that come too soon


def test_a_job_that_is_killed_before_its_hosts_are_awake_has_run_for_no_time():
    def then(view, events):
        for event in events:
            if isinstance(event, JobSubmitted) and event.job.id == "B":
                yield KillJob("A")
        yield from start_what_fits(view, events)

    jobs = [job("A", hosts=2, submit=10), job("B", submit=14)]
    policy = sleeping_first(0, 1, then=then)
    schedule = waking(policy, jobs)
    assert states(schedule) == {"A": "killed", "B": "completed"}
    assert (starts(schedule)["A"], finishes(schedule)["A"]) == (14, 14)
    assert schedule.column("energy").tolist() == [0, 2000]
    # its hosts go on, and B takes the first of them
    assert starts(schedule)["B"] == 20
    assert schedule.power_states["time"].tolist() == [0, 0, 5, 10, 20]


def test_a_job_of_which_a_host_fails_while_others_wake_has_failed(tmp_path):
    (tmp_path / "fails").write_text("12 0\n100 1\n")
    kind = POWER.host_kind(1.0)
    frail = dataclasses.replace(kind, profiles={"state": "fails"})
    platform = nt.Platform(
        Hosts(["a", "b"], [kind, frail], np.array([0, 1], dtype=np.int32)),
        source=str(tmp_path / "platform.xml"),
    )
    workload = nt.Workload.from_jobs([job("A", hosts=2, submit=10), job("B", submit=11)])
    for asleep in ([0], [1], [0, 1]):
        policy = sleeping_first(*asleep)
        schedule = nt.simulate(platform, workload, policy, energy="exact", wake_for_jobs=True)
        assert states(schedule) == {"A": "failed", "B": "completed"}
        assert (starts(schedule)["A"], finishes(schedule)["A"]) == (12, 12)
        assert starts(schedule)["B"] == (12 if asleep == [1] else 20)


def test_a_run_that_is_stopped_leaves_a_job_waiting_whose_hosts_wake():
    schedule = waking(sleeping_first(0), [job("A", submit=10)], n=1, until=12)
    assert states(schedule) == {"A": "waiting"}
    assert math.isnan(starts(schedule)["A"])


# What comes from outside


def test_hosts_that_are_unavailable_are_neither_free_nor_woken():
    seen = []

    def then(view, events):
        seen.append((view.now, str(view.free)))
        return start_what_fits(view, events)

    events = ExternalEvents.from_events(
        [
            ExternalEvent(6.0, "unavailable", HostSet("0")),
            ExternalEvent(40.0, "available", HostSet("0")),
        ]
    )
    schedule = nt.simulate(
        hosts(1),
        nt.Workload.from_jobs([job("A", submit=10)]),
        sleeping_first(0, then=then),
        events,
        energy="exact",
        wake_for_jobs=True,
    )
    assert seen[:4] == [(0, "0"), (5, "0"), (6, ""), (10, "")]
    assert starts(schedule) == {"A": 50}


# Native policies


@pytest.mark.parametrize("policy", ["conservative", "easy", "fcfs", "filler", "replanning"])
@pytest.mark.parametrize(
    "allocation", ["first", "contiguous", "best_effort_contiguous", "local", "best_effort_local"]
)
def test_native_policies_wake_hosts_that_begin_asleep(policy, allocation):
    kind = POWER.host_kind(1.0)
    asleep = HostKind(kind.speeds, ASLEEP, powers=kind.powers, sleep_states=kind.sleep_states)
    platform = nt.Platform(
        Hosts(list("abcd"), [kind, asleep], np.array([1, 1, 0, 0], dtype=np.int32))
    )
    jobs = [job("A", hosts=2, walltime=20, submit=1), job("B", walltime=20, submit=2)]
    schedule = nt.simulate(
        platform,
        nt.Workload.from_jobs(jobs),
        f"{policy}(allocation={allocation})",
        energy="exact",
        wake_for_jobs=True,
    )
    # the awake hosts first, but for plans that name the lowest hosts
    named = allocation == "contiguous" and policy in ("conservative", "replanning")
    expected = {"A": "0-1", "B": "2"} if named else {"A": "2-3", "B": "0"}
    assert hosts_of(schedule) == expected
    assert starts(schedule) == ({"A": 11, "B": 2} if named else {"A": 1, "B": 12})


@pytest.mark.parametrize("policy", ["conservative", "replanning", "easy"])
def test_plans_know_when_a_job_will_end_whose_hosts_wake(policy):
    kind = POWER.host_kind(1.0)
    asleep = HostKind(kind.speeds, ASLEEP, powers=kind.powers, sleep_states=kind.sleep_states)
    platform = nt.Platform(Hosts.alike(["a", "b"], asleep))
    jobs = [
        job("A", runtime=20, walltime=20),  # 10 to 30 on host 0
        job("B", hosts=2, runtime=20, walltime=20, submit=1),  # 30 to 50
        job("C", runtime=19, walltime=19, submit=2),  # 12 to 31: too long to pass B
        job("D", runtime=18, walltime=18, submit=2),  # 12 to 30 on host 1
    ]
    schedule = nt.simulate(
        platform, nt.Workload.from_jobs(jobs), policy, energy="exact", wake_for_jobs=True
    )
    assert starts(schedule)["A"] == 10
    assert starts(schedule)["B"] == 31 if policy == "easy" else 30


# Who says so


def test_a_policy_says_whether_its_jobs_wake_hosts_and_the_option_overrules_it():
    jobs = [job("A", submit=10)]
    waker = Sleeping([0], Scripted(start_everything))
    assert starts(run(waker, jobs, n=1)) == {"A": 20}
    with pytest.raises(DecisionError, match="0 are free"):
        run(waker, jobs, n=1, wake_for_jobs=False)


def test_a_run_in_which_nobody_wakes_hosts_refuses_to_start_jobs_on_them():
    with pytest.raises(DecisionError, match="0 are free"):
        run(sleeping_first(0, then=start_everything), [job("A", submit=10)], n=1)


@pytest.mark.parametrize("option", ["share_hosts", "batsim_latency"])
def test_waking_goes_with_neither_shared_hosts_nor_batsims_latency(option):
    with pytest.raises(InputError, match=f"wake_for_jobs: got true, expected it without {option}"):
        waking("fcfs", [job("A")], **{option: True})


# What policies ask


def test_a_policy_sees_how_hosts_sleep_and_wake():
    seen = []

    def decide(view, events):
        seen.append(
            (
                view.wakes_hosts,
                view.sleep_state(1),
                view.computing_state(1),
                view.switch_on_seconds(1),
                view.switch_off_seconds(1),
            )
        )
        with pytest.raises(IndexError, match="there is no such host"):
            view.sleep_state(2)
        return start_everything(view, events)

    waking(Scripted(decide), [job("A")])
    assert seen[0] == (True, ASLEEP, FULL, 10, 5)


def test_hosts_that_cannot_sleep_say_so():
    def decide(view, events):
        return [SetPowerState([0], view.sleep_state(0))]

    kind = HostKind((1.0,), powers=(PowerRange(100, 100, 200),))
    platform = nt.Platform(Hosts.alike(["a"], kind))
    workload = nt.Workload.from_jobs([job("A")])
    with pytest.raises(
        DecisionError, match="host 0: the platform gives it no power state to sleep"
    ):
        nt.simulate(platform, workload, Scripted(decide), energy="exact")
    with pytest.raises(DecisionError, match="the run counts no energy"):
        nt.simulate(platform, workload, Scripted(decide))


def test_a_policy_that_waits_for_a_host_to_wake_is_not_taken_for_one_that_waits_for_itself():
    slow = HostKind(
        (1.0, 1.0, 1.0, 1e-7),
        1,
        powers=(PowerRange(100, 100, 200),) * 4,
        sleep_states=(SleepState(1, 2, 3),),
    )
    platform = nt.Platform(Hosts.alike(["a"], slow))
    workload = nt.Workload.from_jobs([job("A")])
    schedule = nt.simulate(platform, workload, "fcfs", energy="exact", wake_for_jobs=True)
    assert starts(schedule) == {"A": 1e7}
