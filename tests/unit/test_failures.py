"""Hosts that fail and return, from lists, files and models."""

import math
from pathlib import Path

import numpy as np
import pytest

from noctule import HostSet, Platform, load_platform, simulate
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.formats.event_files import event_lines, load_events, read_events, save_events
from noctule.messages import HostFailed, HostRestored, JobFinished, SetPowerState, StartJob
from noctule.platform import PowerModel
from noctule.synthetic import Failures
from noctule.testing import a_job, a_workload, finish_times, start_times, states

POLICIES = ("fcfs", "filler", "easy", "conservative", "replanning")


def failures(*rows):
    """Return events of rows (date, kind, hosts)."""
    return ExternalEvents.from_events(
        ExternalEvent(time, kind, hosts=HostSet.from_str(hosts)) for time, kind, hosts in rows
    )


def run(policy, hosts, jobs, events, **options):
    return simulate(Platform.homogeneous(hosts), a_workload(*jobs), policy, events, **options)


def metadata(schedule):
    ids = schedule.column("job_id").tolist()
    return dict(zip(ids, schedule.column("metadata").tolist(), strict=True))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_on_a_host_that_fails_ends_there_as_failed(policy):
    jobs = [a_job(1, hosts=2, runtime=10), a_job(2, hosts=1, runtime=10)]
    schedule = run(policy, 3, jobs, failures((4, "failed", "1")))
    assert states(schedule) == {1: "failed", 2: "completed"}
    assert finish_times(schedule) == {1: 4, 2: 10}
    assert metadata(schedule) == {1: "host 1 failed", 2: ""}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_failed_host_runs_nothing_until_it_is_restored(policy):
    jobs = [a_job(1, hosts=2, runtime=10, submit=5)]
    schedule = run(policy, 2, jobs, failures((1, "failed", "0"), (20, "restored", "0")))
    assert start_times(schedule) == {1: 20}


def test_the_other_hosts_of_a_failed_job_are_free_at_once():
    jobs = [a_job(1, hosts=3, runtime=10), a_job(2, hosts=2, runtime=5, submit=1)]
    schedule = run("fcfs", 3, jobs, failures((4, "failed", "0")))
    assert start_times(schedule) == {1: 0, 2: 4}
    assert [str(hosts) for hosts in schedule.column("hosts")] == ["0-2", "1-2"]


def test_failures_are_told_before_the_ends_that_they_cause():
    told = []

    class Watcher:
        def decide(self, view, events):
            told.extend(type(event) for event in events)
            if any(isinstance(event, HostFailed) for event in events):
                told.append(str(view.failed))
            return [StartJob(job) for job in view.waiting]

    run(Watcher(), 2, [a_job(1, hosts=2)], failures((3, "failed", "0-1"), (4, "restored", "1")))
    at = told.index(HostFailed)
    assert told[at : at + 4] == [HostFailed, HostFailed, JobFinished, "0-1"]


def test_starting_a_job_on_a_failed_host_is_refused():
    class Stubborn:
        def decide(self, view, events):
            return [StartJob(job, [0]) for job in view.waiting]

    with pytest.raises(Exception, match="host 0 has failed"):
        run(Stubborn(), 2, [a_job(1, submit=2)], failures((1, "failed", "0")))


def test_failures_to_come_do_not_keep_a_run_alive():
    events = failures((1, "failed", "1"), (2, "restored", "1"), (1000, "failed", "1"))
    schedule = run("fcfs", 2, [a_job(1, runtime=10)], events)
    assert schedule.end == 10


def test_a_host_that_fails_while_unavailable_needs_both_to_come_back():
    events = failures(
        (1, "unavailable", "0"), (2, "failed", "0"), (3, "available", "0"), (5, "restored", "0")
    )
    assert start_times(run("fcfs", 1, [a_job(1, submit=2)], events)) == {1: 5}
    events = failures(
        (1, "unavailable", "0"), (2, "failed", "0"), (3, "restored", "0"), (7, "available", "0")
    )
    assert start_times(run("fcfs", 1, [a_job(1, submit=2)], events)) == {1: 7}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [(1, "failed", "0"), (2, "failed", "0-1")],
            "t=2, hosts 0-1: host 0 fails, but already has",
        ),
        ([(1, "restored", "0")], "t=1, hosts 0: host 0 is restored, but has not failed"),
        ([(1, "failed", "7")], "t=1, hosts 7: there is no host 7; hosts are 0-1"),
    ],
)
def test_failures_that_make_no_sense_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        run("fcfs", 2, [a_job(1, runtime=10), a_job(2, runtime=10)], failures(*rows))


def test_hosts_are_counted_as_failed_while_they_are():
    events = failures((2, "failed", "0"), (5, "restored", "0"))
    states = run("fcfs", 3, [a_job(1, hosts=1, runtime=10, submit=3)], events).host_states
    rows = states[["time", "n_idle", "n_computing", "n_failed"]].to_numpy().tolist()
    assert rows == [[2, 2, 0, 1], [3, 1, 1, 1], [5, 2, 1, 0], [13, 3, 0, 0]]


def test_hosts_in_an_epilogue_that_fail_come_back_when_both_are_over():
    jobs = [a_job(1, hosts=1, runtime=3, epilogue_delay=10), a_job(2, hosts=1, submit=4)]
    events = failures((5, "failed", "0"), (6, "restored", "0"))
    assert start_times(run("fcfs", 1, jobs, events)) == {1: 0, 2: 13}


def test_conservative_plans_anew_when_hosts_are_lost():
    # job 2 was promised 10; with host 3 away its four hosts are never there, and job 3 goes on
    jobs = [
        a_job(1, hosts=2, runtime=10),
        a_job(2, hosts=4, runtime=10),
        a_job(3, hosts=2, runtime=20, submit=1),
    ]
    events = failures((5, "failed", "3"), (100, "restored", "3"))
    assert start_times(run("conservative", 4, jobs, events)) == {1: 0, 3: 10, 2: 100}


def test_files_of_events_read_back_as_they_were_written(tmp_path: Path):
    events = failures(
        (1.5, "failed", "0 3-5"),
        (2, "restored", "0 3-5"),
        (3, "unavailable", "1"),
        (4, "available", "1"),
    )
    save_events(events, tmp_path / "events.jsonl.gz")
    again = load_events(tmp_path / "events.jsonl.gz")
    assert list(again) == list(events)
    assert next(event_lines(events)) == (
        '{"timestamp": 1.5, "type": "machine_failed", "resources": "0 3-5"}\n'
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "f: line 2: not valid JSON"),
        ('{"type": "machine_failed", "resources": "0"}', "f: line 2: timestamp: missing, expected"),
        (
            '{"type": "exploded", "timestamp": 1}',
            "f: line 2: type: got 'exploded', expected machine_restored or machine_failed or",
        ),
        (
            '{"type": "machine_failed", "timestamp": 1, "resources": "x"}',
            "f: line 2: resources: got 'x', expected hosts as in '0-3 7'",
        ),
        (
            '{"type": "machine_failed", "timestamp": 1, "resources": "", "why": 1}',
            "f: line 2: why: unknown key, expected type, timestamp, resources",
        ),
        (
            '{"type": "machine_failed", "timestamp": 1, "resources": ""}',
            "f: line 2: resources: got '', expected",
        ),
        ('{"type": "machine_failed", "timestamp": -1, "resources": "0"}', "f: line 2: timestamp"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(line, message):
    with pytest.raises(InputError) as error:
        read_events(b"\n" + line.encode(), source="f")
    assert str(error.value).startswith(message)


def test_drawn_failures_have_the_means_that_were_asked_for():
    drawn = Failures.draw(2000, mtbf=1e5, mttr=1e3, seed=1, until=1e6)
    repairs = drawn.restored - drawn.failed
    assert repairs.mean() == pytest.approx(1e3, rel=0.03)
    # each host spends its time up and down in turn
    assert len(drawn) == pytest.approx(2000 * 1e6 / 1.01e5, rel=0.03)
    assert (np.diff(drawn.failed) >= 0).all()
    assert (drawn.failed < 1e6).all()


def test_weibull_lifetimes_keep_the_mean():
    drawn = Failures.draw(20000, mtbf=1e5, mttr=1, seed=1, until=3e6, shape=0.7)
    first = drawn.failed[np.unique(drawn.host, return_index=True)[1]]
    assert first.mean() == pytest.approx(1e5, rel=0.05)
    short = np.mean(first < 1e4)  # 1 - exp(-(0.1 gamma(1 + 1/0.7))^0.7)
    assert short == pytest.approx(1 - math.exp(-((0.1 * math.gamma(1 + 1 / 0.7)) ** 0.7)), abs=0.01)


# host, failed, restored of the first three: the same on any machine
PINNED = [[2, 3, 3], [22.0, 54.0, 110.0], [40.0, 57.0, 114.0]]


def test_the_same_seed_gives_the_same_failures_and_hosts_alternate():
    drawn = Failures.draw(5, mtbf=100, mttr=10, seed=3, until=1000)
    again = Failures.draw(5, mtbf=100, mttr=10, seed=3, until=1000)
    assert list(drawn.events()) == list(again.events())
    columns = (drawn.host, drawn.failed, drawn.restored)
    assert [column[:3].tolist() for column in columns] == PINNED
    schedule = run("fcfs", 5, [a_job(i, runtime=50, submit=i) for i in range(40)], drawn.events())
    assert len(schedule) == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mtbf": 0}, "mtbf: got 0, expected a positive number"),
        ({"mttr": -1}, "mttr: got -1, expected a positive number"),
        ({"shape": 0}, "shape: got 0, expected a number from 0.1 to 100"),
        ({"until": math.inf}, "until: got inf, expected a positive number"),
        ({"seed": -1}, "seed: got -1, expected"),
        ({"n_hosts": 0}, "n_hosts: got 0, expected a whole number >= 1"),
        ({"until": 1e15}, "failures: got about"),
    ],
)
def test_models_that_make_no_sense_are_refused(arguments, message):
    usual = {"n_hosts": 3, "mtbf": 100, "mttr": 10, "seed": 1, "until": 1000}
    with pytest.raises(InputError, match=message):
        Failures.draw(**usual | arguments)


def test_restored_hosts_are_told():
    told = []

    class Watcher:
        def decide(self, view, events):
            told.extend(
                (event.time, event.host) for event in events if isinstance(event, HostRestored)
            )
            return [StartJob(job) for job in view.waiting]

    run(Watcher(), 2, [a_job(1, runtime=9)], failures((3, "failed", "1"), (4, "restored", "1")))
    assert told == [(4, 1)]


def test_a_failed_host_draws_what_it_draws_when_off():
    power = PowerModel(idle=95, computing=190, off=10)
    schedule = simulate(
        Platform.homogeneous(2, power=power),
        a_workload(a_job(1, hosts=1, runtime=10)),
        "fcfs",
        failures((4, "failed", "0"), (6, "restored", "0")),
        on_failure="resubmit",
        energy="exact",
    )
    # host 0 computes for 4 s, is off for 2 s and idle for 8 s; host 1 is idle for 4 s and computes
    assert finish_times(schedule) == {"1": 4, "1#2": 14}
    assert schedule.energy.by_spending == pytest.approx(
        {"idle": 12 * 95, "computing": 14 * 190, "switching": 0, "sleeping": 2 * 10}
    )
    joules = dict(zip(schedule.column("job_id"), schedule.column("energy"), strict=True))
    assert joules == pytest.approx({"1": 4 * 190, "1#2": 10 * 190})


def test_a_host_that_fails_by_an_event_stays_so_whatever_its_platform_says(tmp_path):
    # the file turns host 0 off at 2 and on at 4; the event has it down from 3 to 6
    (tmp_path / "state").write_text("2 0\n4 1\n")
    (tmp_path / "p.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        '<platform version="4.1"><zone id="z" routing="Full">'
        '<host id="h0" speed="1f" state_file="state"/></zone></platform>'
    )
    platform = load_platform(tmp_path / "p.xml")
    jobs = a_workload(a_job(1, runtime=5, submit=2.5))
    assert start_times(simulate(platform, jobs, "fcfs")) == {1: 4}
    down = failures((3, "failed", "0"), (6, "restored", "0"))
    assert start_times(simulate(platform, jobs, "fcfs", down)) == {1: 6}
    tried = simulate(platform, a_workload(a_job(1, runtime=5)), "fcfs", on_failure="resubmit")
    assert finish_times(tried) == {"1": 2, "1#2": 9}
    within = failures((3, "failed", "0"), (3.5, "restored", "0"))
    assert start_times(simulate(platform, jobs, "fcfs", within)) == {1: 4}


def test_hosts_that_switch_are_stopped_by_a_failure():
    class Sleeper:
        def decide(self, view, events):
            if view.now == 0:
                yield SetPowerState([0], 1)
            for job in view.waiting:
                if view.now > 0 and view.n_free == 2:
                    yield StartJob(job)

    power = PowerModel(idle=95, computing=190, off=10)
    schedule = simulate(
        Platform.homogeneous(2, power=power),
        a_workload(a_job(1, hosts=2, runtime=2)),
        Sleeper(),
        failures((3, "failed", "0"), (8, "restored", "0")),
        energy="exact",
    )
    assert start_times(schedule) == {1: 8}  # awake, though it was being switched off


def test_a_failure_stops_a_switch_that_begins_at_that_instant():
    # off at 5, when the job that waits for the host has it switched on; 5 s later it would be awake
    class Sleeper:
        def decide(self, view, events):
            if view.now == 0 or any(isinstance(event, HostRestored) for event in events):
                yield SetPowerState([0], 1)
            for job in view.waiting:
                yield StartJob(job, [0])

    power = PowerModel(
        idle=95, computing=190, off=10, switch_off_seconds=5, switch_on_seconds=10,
        switch_off_watts=100, switch_on_watts=120,
    )  # fmt: skip
    schedule = simulate(
        Platform.homogeneous(1, power=power),
        a_workload(a_job(1, submit=1, runtime=2), a_job(2, submit=30, runtime=2)),
        Sleeper(),
        failures((5, "failed", "0"), (7, "restored", "0")),
        energy="exact",
        wake_for_jobs=True,
    )
    assert states(schedule) == {1: "failed", 2: "completed"}
    rows = schedule.power_states.itertuples(index=False)
    assert [(row.time, row.state) for row in rows] == [
        (0, 0), (0, -2), (5, 1), (5, -1), (5, 0), (7, -2), (12, 1), (30, -1), (40, 0),
    ]  # fmt: skip
    assert start_times(schedule) == {1: 5, 2: 40}
