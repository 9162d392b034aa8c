"""Hosts that sleep, wake and change their speed, and what that costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from power_runs import (
    ASLEEP,
    FULL,
    POWER,
    SLOW,
    SWITCHING_OFF,
    SWITCHING_ON,
    hosts,
    night_and_day,
    run,
)
from small_runs import Scripted, delay, finishes, job, start_everything, starts, states

import noctule as nt
from noctule.errors import DecisionError, InputError
from noctule.messages import (
    CallAt,
    JobSubmitted,
    PowerStateChanged,
    SetPowerState,
    SimulationStarted,
    StartJob,
    TimerFired,
)
from noctule.platform import HostKind, Hosts, PowerModel, PowerRange, SleepState


def at_start(*decisions):
    """Return what decides this in the first call, and starts every job on hosts that are free."""

    def decide(view, events):
        if any(isinstance(event, SimulationStarted) for event in events):
            yield from decisions
        n_free = view.n_free
        for waiting in view.waiting:
            if waiting.n_hosts <= n_free:
                n_free -= waiting.n_hosts
                yield StartJob(waiting)

    return Scripted(decide)


# Joules by hand


def test_a_host_that_sleeps_between_two_jobs():
    schedule = night_and_day()
    # host 0: 10 s and 20 s of work, 50 s idle; host 1: 5 s off, 45 s asleep, 10 s on, 20 s of work
    assert schedule.energy.spent.tolist() == [[5000, 6000, 0, 0], [0, 4000, 250 + 1500, 450]]
    assert schedule.energy.joules() == 11000 + 6200
    assert schedule.column("energy").tolist() == [2000, 8000]
    assert schedule.end == 80


@pytest.mark.parametrize("energy", ["exact", "simgrid"])
def test_idle_hosts_and_delays_draw_what_idle_hosts_draw(energy):
    schedule = run("fcfs", [delay("A", 10)], energy=energy)
    assert schedule.energy.spent.tolist() == [[1000, 0, 0, 0]] * 2
    assert schedule.column("energy").tolist() == [1000]


def test_half_a_load_draws_half_of_the_difference():
    kind = HostKind(speeds=(1.0,), cores=2, powers=(PowerRange(100, 110, 200),))
    platform = nt.Platform(Hosts.alike(["a"], kind))
    schedule = nt.simulate(platform, nt.Workload.from_jobs([job("A")]), "fcfs", energy="exact")
    # one core of two: 110 + 0.5 * 90
    assert schedule.energy.joules() == 10 * 155


def test_a_run_that_is_stopped_counts_up_to_its_end():
    schedule = run("fcfs", [job("A", runtime=100)], until=30)
    assert schedule.energy.joules() == 30 * 200 + 30 * 100
    assert math.isnan(schedule.column("energy")[0])


def test_both_ways_to_bill_agree_where_simgrid_looks_at_every_change():
    def decide(view, events):
        if any(isinstance(event, JobSubmitted) for event in events):
            yield CallAt(5.0)
            yield from start_everything(view, events)
        elif isinstance(events[0], TimerFired):
            yield SetPowerState([0], SLOW)

    jobs = [job("A", runtime=10)]
    exact, lazy = (run(Scripted(decide), jobs, n=1, energy=mode) for mode in ("exact", "simgrid"))
    assert exact.energy.joules() == lazy.energy.joules() == 5 * 200 + 10 * 120
    assert finishes(exact) == finishes(lazy) == {"A": 15}


# Speeds


def test_a_slower_state_slows_down_what_runs_at_once():
    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield CallAt(5.0)
            yield from start_everything(view, events)
        elif isinstance(events[0], TimerFired):
            yield SetPowerState([0], SLOW)

    policy = Scripted(decide)
    schedule = run(policy, [job("A", runtime=10)])
    # 5 s at full speed, the other 5 s of work at half of it
    assert finishes(schedule) == {"A": 15}
    assert schedule.column("energy").tolist() == [5 * 200 + 10 * 120]
    assert schedule.energy.spent[1].tolist() == [1500, 0, 0, 0]
    assert policy.calls == [
        (0, ["SimulationStarted", "JobSubmitted"]),
        (5, ["TimerFired"]),
        (5, ["PowerStateChanged"]),
        (15, ["JobFinished"]),
    ]


def test_the_slowest_host_holds_a_parallel_job_up():
    policy = at_start(SetPowerState([1], SLOW))
    schedule = run(policy, [job("A", hosts=2, runtime=10)])
    assert finishes(schedule) == {"A": 20}
    # host 0 has half of its load
    assert schedule.energy.spent.tolist() == [[0, 20 * 150, 0, 0], [0, 20 * 120, 0, 0]]


# Switching


def test_switching_takes_time_and_is_told_once():
    policy = at_start(SetPowerState([0, 1], ASLEEP))
    schedule = run(policy, [job("A")], n=3)
    assert policy.calls == [
        (0, ["SimulationStarted", "JobSubmitted"]),
        (5, ["PowerStateChanged"]),
        (10, ["JobFinished"]),
    ]
    assert [str(hosts) for hosts in schedule.column("hosts")] == ["2"]


def test_a_run_goes_on_until_its_hosts_have_switched():
    schedule = run(at_start(SetPowerState([1], ASLEEP)), [job("A", runtime=1)])
    assert schedule.end == 5
    assert schedule.energy.joules() == 200 + 4 * 100 + 5 * 50


def test_what_a_policy_sees_of_power():
    seen = []

    def decide(view, events):
        seen.append(
            (
                view.now,
                *(str(some) for some in (view.free, view.asleep, view.switching)),
                [view.power_state(host) for host in range(3)],
                view.energy,
            )
        )
        if isinstance(events[0], SimulationStarted):
            yield SetPowerState([1], ASLEEP)
            yield SetPowerState([2], SLOW)
            yield CallAt(20.0)
            yield StartJob("A", [0])
        elif view.now == 20:
            yield SetPowerState([1], FULL)

    run(Scripted(decide), [job("A", runtime=40)], n=3)
    assert seen == [
        (0, "0-2", "", "", [0, 0, 0], 0),
        (0, "2", "", "1", [0, SWITCHING_OFF, SLOW], 0),
        (5, "2", "1", "", [0, ASLEEP, SLOW], 5 * (200 + 50 + 80)),
        (20, "2", "1", "", [0, ASLEEP, SLOW], 1650 + 15 * (200 + 10 + 80)),
        (30, "1-2", "", "", [0, FULL, SLOW], 6000 + 10 * (200 + 150 + 80)),
        (40, "0-2", "", "", [0, FULL, SLOW], 10300 + 10 * (200 + 100 + 80)),
    ]


def test_a_policy_sees_the_energy_of_each_host():
    seen = []

    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield SetPowerState([1], ASLEEP)
            yield SetPowerState([2], SLOW)
            yield CallAt(20.0)
            yield StartJob("A", [0])
        elif view.now == 20:
            seen.extend(view.host_energy(host) for host in range(3))
            with pytest.raises(IndexError, match="there is no such host"):
                view.host_energy(3)

    run(Scripted(decide), [job("A", runtime=40)], n=3)
    assert seen == [20 * 200, 5 * 50 + 15 * 10, 20 * 80]


def test_an_energy_that_nobody_counts_is_not_a_number():
    seen = []
    nt.simulate(
        hosts(1),
        nt.Workload.from_jobs([job("A")]),
        Scripted(
            lambda view, events: (
                seen.extend((view.energy, view.host_energy(0))),
                start_everything(view, events),
            )[1]
        ),
    )
    assert all(math.isnan(energy) for energy in seen)


def test_hosts_may_begin_asleep():
    kind = POWER.host_kind(1.0)
    asleep = HostKind(kind.speeds, ASLEEP, powers=kind.powers, sleep_states=kind.sleep_states)
    platform = nt.Platform(Hosts(["a", "b"], [kind, asleep], np.array([0, 1], dtype=np.int32)))

    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            assert (str(view.free), str(view.asleep)) == ("0", "1")
            yield SetPowerState([1], FULL)
        elif isinstance(events[0], PowerStateChanged):
            yield from start_everything(view, events)

    workload = nt.Workload.from_jobs([job("A", hosts=2)])
    schedule = nt.simulate(platform, workload, Scripted(decide), energy="exact")
    assert starts(schedule) == {"A": 10}
    assert schedule.power_states["state"].tolist() == [FULL, ASLEEP, -1, FULL]


def test_one_state_may_be_sleep_for_some_hosts_and_not_for_others():
    watts = (PowerRange(100, 100, 200),) * 4
    sleeper = HostKind((1.0, 1.0, 0.2, 0.1), powers=watts, sleep_states=(SleepState(1, 2, 3),))
    walker = HostKind((1.0, 0.5), powers=watts[:2])
    for kinds in ([sleeper, walker], [walker, sleeper]):
        platform = nt.Platform(Hosts(["a", "b"], kinds, np.array([0, 1], dtype=np.int32)))
        policy = at_start(SetPowerState([0, 1], 1))
        workload = nt.Workload.from_jobs([job("A", runtime=10)])
        schedule = nt.simulate(platform, workload, policy, energy="exact")
        assert finishes(schedule) == {"A": 20}
        assert str(schedule.column("hosts")[0]) == str(kinds.index(walker))


# Refusals

TWO_JOBS = [job("A", runtime=100), job("B", submit=2, runtime=100)]


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        (SetPowerState([1], 5), "(hosts=1, state=5): host 1 has the power states 0-4, not 5"),
        (
            SetPowerState([1], SWITCHING_ON),
            "(hosts=1, state=4): power state 4 of host 1 is one of switching, "
            "which hosts only pass through",
        ),
        (SetPowerState([0], ASLEEP), "(hosts=0, state=2): host 0 is busy, and cannot sleep"),
        (SetPowerState([2], FULL), "(hosts=2, state=0): host 2 is switching"),
        (SetPowerState([3], ASLEEP), "(hosts=3, state=2): host 3 is already asleep"),
        (SetPowerState([], ASLEEP), "(hosts=, state=2): expected hosts among 0-3"),
        (SetPowerState([1, 4], ASLEEP), "(hosts=1 4, state=2): expected hosts among 0-3"),
    ],
)
def test_a_power_state_that_cannot_be_is_refused(decision, why):
    def decide(view, events):
        if view.now == 0:
            yield SetPowerState([3], ASLEEP)
            yield StartJob("A", [0])
            yield CallAt(6.0)
        elif view.now == 6:
            yield SetPowerState([2], ASLEEP)
            yield CallAt(7.0)
        elif view.now == 7:
            yield decision

    with pytest.raises(DecisionError) as refused:
        run(Scripted(decide), TWO_JOBS, n=4)
    assert str(refused.value) == f"t=7 SetPowerState{why}"


@pytest.mark.parametrize(
    ("when", "why"),
    [
        (1, "host 1 is being switched off"),
        (6, "host 1 is asleep"),
        (21, "host 1 is being switched on"),
    ],
)
def test_a_host_that_is_not_awake_runs_nothing(when, why):
    def decide(view, events):
        if view.now == 0:
            yield SetPowerState([1], ASLEEP)
            yield CallAt(20.0, "wake")
            yield CallAt(when)
        if view.now == 20:
            yield SetPowerState([1], FULL)
        if view.now == when:
            yield StartJob("A", [1])

    with pytest.raises(DecisionError, match=rf"StartJob\(job_id=A, hosts=1\): {why}$"):
        run(Scripted(decide), [job("A")])


def test_without_a_machine_hosts_have_no_power_states():
    with pytest.raises(DecisionError) as refused:
        run(at_start(SetPowerState([0], SLOW)), [job("A")], energy="off")
    assert str(refused.value) == (
        "t=0 SetPowerState(hosts=0, state=1): the run counts no energy, "
        "so that its hosts have no power states"
    )


def test_with_a_machine_speeds_change_even_if_nobody_counts():
    policy = at_start(SetPowerState([0, 1], SLOW))
    schedule = run(policy, [job("A")], energy="off", machine=True)
    assert finishes(schedule) == {"A": 20}
    assert not schedule.counts_energy
    assert schedule.power_states["state"].tolist() == [SLOW]


def test_energy_needs_watts():
    with pytest.raises(InputError) as refused:
        nt.simulate(
            nt.Platform.homogeneous(1), nt.Workload.from_jobs([job("A")]), "fcfs", energy="exact"
        )
    assert str(refused.value) == (
        "platform: host host0: no watts are known, expected the property wattage_per_state, "
        "or a PowerModel"
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"idle": -1}, "expected watts >= 0"),
        ({"computing": math.inf}, "expected watts >= 0"),
        ({"switch_on_seconds": 0}, "expected seconds and factors > 0"),
        ({"slower": ((0, 1, 2),)}, "expected seconds and factors > 0"),
    ],
)
def test_a_power_model_of_nonsense_is_refused(change, why):
    with pytest.raises(InputError, match=why):
        PowerModel(**{"idle": 1.0, "computing": 2.0} | change)


@pytest.mark.parametrize(
    ("option", "known"), [("energy", "off or exact or simgrid"), ("solver", "simgrid or max-min")]
)
def test_words_that_mean_nothing_are_refused(option, known):
    with pytest.raises(InputError, match=f"{option}: got 'yes', expected {known}"):
        run("fcfs", [job("A")], **{option: "yes"})


# Walltimes


def test_a_job_killed_at_its_walltime_is_billed_up_to_it():
    schedule = run("fcfs", [job("A", runtime=100, walltime=30)], n=1)
    assert states(schedule) == {"A": "timed_out"}
    assert schedule.column("energy").tolist() == [6000]


def test_epilogues_and_launches_draw_idle_watts():
    schedule = run("fcfs", [job("A", runtime=10, launch=5, epilogue=7)], n=1)
    assert schedule.end == 22
    assert schedule.energy.joules() == 5 * 100 + 10 * 200 + 7 * 100
    assert schedule.column("energy").tolist() == [2500]


# Failures


SLEEPER = """\
<?xml version="1.0"?>
<platform version="4.1"><zone id="all" routing="Full">
  <host id="a" speed="1f,1f,0.1f,0.05f" state_file="state">
    <prop id="wattage_per_state" value="100:200,10:10,50:50,150:150"/>
    <prop id="sleep_pstates" value="1:2:3"/>
    <prop id="wattage_off" value="7"/>
  </host>
  <host id="b" speed="1f"><prop id="wattage_per_state" value="100:200"/></host>
</zone></platform>
"""


@pytest.mark.parametrize(
    ("fails", "joules"),
    [
        # 5 s of switching off at 50 W, 25 s without it at 7 W, 30 s idle
        (5, [3000, 0, 250, 175]),
        # 10 s of switching off, 10 s asleep at 10 W, 10 s at 7 W, 30 s idle
        (20, [3000, 0, 500, 170]),
    ],
)
def test_a_host_that_fails_asleep_or_on_the_way_comes_back_awake(tmp_path, fails, joules):
    (tmp_path / "sleeper.xml").write_text(SLEEPER)
    (tmp_path / "state").write_text(f"{fails} 0\n30 1\n")
    platform = nt.load_platform(tmp_path / "sleeper.xml")
    seen = []

    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield SetPowerState([0], 1)
            yield StartJob("A", [1])
        seen.append((view.now, str(view.free), str(view.asleep), str(view.failed)))

    policy = Scripted(decide)
    workload = nt.Workload.from_jobs([job("A", runtime=60)])
    schedule = nt.simulate(platform, workload, policy, energy="exact")
    assert schedule.energy.spent[0].tolist() == joules
    assert (float(fails), "", "", "0") in seen
    assert (30.0, "0", "", "") in seen
    assert next(names for time, names in policy.calls if time == fails)[0] == "HostFailed"
