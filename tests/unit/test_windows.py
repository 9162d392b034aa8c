"""Maintenances and reservations that are known beforehand, and policies that plan around them."""

import math

import pytest

from noctule import HostSet, Platform, load_platform, simulate
from noctule.errors import DecisionError, InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.formats.windows_toml import read_windows
from noctule.messages import StartJob, WindowAnnounced, WindowBegan, WindowEnded
from noctule.policies.around_windows import (
    EasyAroundWindows,
    FcfsAroundWindows,
    FillerAroundWindows,
)
from noctule.testing import a_job, a_workload, finish_times, start_times, states
from noctule.windows import Maintenance, Reservation, Windows

NATIVE = ("fcfs", "filler", "easy", "conservative", "replanning")
TWINS = (FcfsAroundWindows, FillerAroundWindows, EasyAroundWindows)
ALLOCATIONS = ("first", "best_effort_contiguous", "contiguous", "best_effort_local", "local")


def run(policy, hosts, jobs, *windows, **options):
    return simulate(
        Platform.homogeneous(hosts), a_workload(*jobs), policy, windows=Windows(windows), **options
    )


def maintenance(hosts, start, end, **others):
    return Maintenance(HostSet.from_str(hosts), start, end, **others)


def hosts_of(schedule):
    ids = schedule.column("job_id").tolist()
    return dict(zip(ids, map(str, schedule.column("hosts")), strict=True))


@pytest.mark.parametrize("policy", [*NATIVE, *TWINS])
def test_no_job_starts_where_a_maintenance_begins_before_its_walltime(policy):
    jobs = [a_job(1, hosts=1, runtime=5, walltime=11), a_job(2, hosts=1, runtime=5, walltime=10)]
    schedule = run(policy, 1, jobs, maintenance("0", 10, 20))
    if policy in ("fcfs", FcfsAroundWindows):
        assert start_times(schedule) == {1: 20, 2: 25}
    else:
        assert start_times(schedule) == {2: 0, 1: 20}


@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize("policy", NATIVE)
def test_jobs_go_to_hosts_that_stay_open(policy, allocation):
    jobs = [a_job(1, hosts=2, runtime=20), a_job(2, hosts=2, runtime=5)]
    schedule = run(f"{policy}(allocation={allocation})", 4, jobs, maintenance("0-1", 10, 30))
    assert start_times(schedule) == {1: 0, 2: 0}
    assert hosts_of(schedule) == {1: "2-3", 2: "0-1"}


@pytest.mark.parametrize("policy", [*NATIVE, *TWINS])
def test_a_job_without_walltime_never_starts_where_a_window_is_to_come(policy):
    jobs = [a_job(1, hosts=1, runtime=1, walltime=math.inf)]
    schedule = run(policy, 2, jobs, maintenance("0", 1000, 1001), maintenance("1", 5, 10))
    assert start_times(schedule) == {1: 10}
    assert hosts_of(schedule) == {1: "1"}


@pytest.mark.parametrize("policy", ["easy", EasyAroundWindows])
def test_easys_shadow_is_behind_a_maintenance(policy):
    # job 2 needs both hosts for 10 s: not before 30; job 3 ends by then, job 4 does not
    jobs = [
        a_job(1, hosts=1, runtime=10),
        a_job(2, hosts=2, runtime=10),
        a_job(3, hosts=1, runtime=20),
        a_job(4, hosts=1, runtime=30),
    ]
    schedule = run(policy, 2, jobs, maintenance("0", 15, 30))
    assert start_times(schedule) == {1: 0, 3: 0, 2: 30, 4: 40}


@pytest.mark.parametrize("policy", ["conservative", "replanning"])
def test_plans_hold_windows(policy):
    jobs = [
        a_job(1, hosts=2, runtime=5, walltime=10),
        a_job(2, hosts=2, runtime=10),
        a_job(3, hosts=1, runtime=10),
    ]
    schedule = run(policy, 2, jobs, maintenance("0", 14, 30))
    # job 2 has its place at 30, and job 3 is put in front of it
    assert start_times(schedule) == {1: 0, 3: 5, 2: 30}


@pytest.mark.parametrize("policy", NATIVE)
def test_jobs_still_running_go_on_and_their_hosts_leave_after_them(policy):
    jobs = [a_job(1, runtime=20, walltime=20), a_job(2, runtime=5, submit=21, walltime=5)]
    schedule = run(policy, 1, jobs, maintenance("0", 10, 50, announced=5))
    assert states(schedule) == {1: "completed", 2: "completed"}
    assert start_times(schedule) == {1: 0, 2: 50}


def test_a_maintenance_may_kill_the_jobs_it_finds():
    jobs = [a_job(1, runtime=20), a_job(2, hosts=1, runtime=20)]
    window = maintenance("0", 10, 50, announced=5, kills=True, name="cooling")
    schedule = run("fcfs", 2, jobs, window)
    assert states(schedule) == {1: "killed", 2: "completed"}
    assert finish_times(schedule) == {1: 10, 2: 20}
    assert "host 0 went into maintenance" in schedule.column("metadata").tolist()
    again = run("fcfs", 2, jobs, window, on_failure="resubmit", checkpoint_every=4)
    assert finish_times(again) == {"1": 10, "2": 20, "1#2": 32}


@pytest.mark.parametrize("policy", NATIVE)
def test_a_window_is_not_planned_around_before_it_is_announced(policy):
    jobs = [a_job(1, runtime=8, walltime=20), a_job(2, runtime=8, walltime=20, submit=9)]
    schedule = run(policy, 1, jobs, maintenance("0", 15, 30, announced=9))
    assert start_times(schedule) == {1: 0, 2: 30}


def test_windows_are_told_and_seen():
    told = []

    class Watcher:
        def decide(self, view, events):
            for event in events:
                if isinstance(event, WindowAnnounced | WindowBegan | WindowEnded):
                    names = [(window.name, window.is_active) for window in view.windows]
                    told.append((type(event), event.time, event.window.name, names))
            return [StartJob(job) for job in view.waiting if view.n_free]

    jobs = [a_job(1, runtime=50)]
    run(Watcher(), 2, jobs, maintenance("1", 10, 20, name="m", announced=5))
    assert told == [
        (WindowAnnounced, 5, "m", [("m", False)]),
        (WindowBegan, 10, "m", [("m", True)]),
        (WindowEnded, 20, "m", []),
    ]


def test_windows_to_come_do_not_keep_a_run_alive():
    assert run("easy", 1, [a_job(1, runtime=3)], maintenance("0", 10, 20)).end == 3


def test_overlapping_maintenances_end_with_the_last():
    windows = maintenance("0-1", 0, 10), maintenance("1", 5, 20)
    schedule = run("fcfs", 2, [a_job(1, hosts=2, runtime=1, submit=1)], *windows)
    assert start_times(schedule) == {1: 20}
    rows = schedule.host_states[["time", "n_idle", "n_unavailable"]].to_numpy().tolist()
    assert rows == [[0, 0, 2], [5, 0, 2], [10, 1, 1], [20, 2, 0], [20, 0, 0], [21, 2, 0]]


def reserved(hosts, start, end, jobs=(), **others):
    hosts = hosts if isinstance(hosts, int) else HostSet.from_str(hosts)
    return Reservation(hosts, start, end, jobs, **others)


@pytest.mark.parametrize("policy", [*NATIVE, *TWINS])
def test_a_reservation_keeps_its_hosts_for_its_jobs(policy):
    jobs = [
        a_job(1, hosts=1, runtime=5, submit=11),
        a_job("mine", hosts=1, runtime=5),
        a_job(3, hosts=2, runtime=5, submit=12),
    ]
    schedule = run(policy, 2, jobs, reserved("1", 10, 30, ["mine"]))
    assert start_times(schedule) == {"mine": 10, "1": 11, "3": 30}
    assert hosts_of(schedule) == {"mine": "1", "1": "0", "3": "0-1"}


@pytest.mark.parametrize("policy", [*NATIVE, *TWINS])
def test_the_jobs_of_a_reservation_neither_wait_for_others_nor_hold_them_up(policy):
    jobs = [
        a_job("mine", hosts=1, runtime=5),  # first in the queue, but not before 10
        a_job("wide", hosts=2, runtime=100),
        a_job("small", hosts=1, runtime=5, submit=1),
    ]
    schedule = run(policy, 3, jobs, reserved("2", 10, 30, ["mine"]))
    assert start_times(schedule) == {"wide": 0, "small": 1, "mine": 10}


@pytest.mark.parametrize("policy", [*NATIVE, *TWINS])
def test_hosts_are_used_before_their_reservation_by_jobs_that_end_in_time(policy):
    jobs = [a_job(1, runtime=10), a_job(2, runtime=11, submit=0), a_job("mine", runtime=2)]
    schedule = run(policy, 1, jobs, reserved("0", 10, 12, ["mine"]))
    assert start_times(schedule) == {"1": 0, "mine": 10, "2": 12}


def test_reservations_are_for_users_too():
    jobs = [a_job(1, runtime=2, user="ann"), a_job(2, runtime=2, user="bob")]
    schedule = run("easy", 1, jobs, reserved("0", 10, 30, users=["ann"]))
    assert start_times(schedule) == {2: 0, 1: 10}


def test_a_number_of_hosts_is_taken_from_the_end():
    jobs = [a_job("mine", hosts=2, runtime=2)]
    schedule = run("easy", 4, jobs, reserved(2, 10, 30, ["mine"]), maintenance("3", 20, 40))
    assert hosts_of(schedule) == {"mine": "1-2"}


def test_jobs_that_their_reservation_cannot_hold_are_rejected():
    jobs = [
        a_job(1, hosts=2, runtime=2),
        a_job(2, hosts=1, runtime=21),
        a_job(3, hosts=1, runtime=5, submit=26),
        a_job(4, hosts=1, runtime=1, walltime=math.inf),
    ]
    schedule = run("easy", 4, jobs, reserved("0", 10, 30, [1, 2, 3, 4]))
    assert set(states(schedule).values()) == {"rejected"}


@pytest.mark.parametrize("policy", [*NATIVE, *TWINS])
def test_jobs_that_miss_their_reservation_are_cancelled(policy):
    jobs = [a_job(1, runtime=15), a_job(2, runtime=15), a_job(3, runtime=1, submit=40)]
    schedule = run(policy, 1, jobs, reserved("0", 10, 30, [1, 2]))
    assert states(schedule) == {1: "completed", 2: "cancelled", 3: "completed"}
    assert start_times(schedule) == {1: 10, 3: 40}


def test_the_engine_picks_hosts_of_the_reservation():
    class Simple:
        def decide(self, view, events):
            for job in view.waiting:
                if job.reservation is None or len(view.free_in(job.reservation)):
                    yield StartJob(job)

    schedule = run(Simple(), 4, [a_job(1, runtime=2)], reserved("2-3", 10, 30, [1]))
    assert hosts_of(schedule) == {1: "2"}


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ([0], "the job belongs to the reservation 'r', which has the hosts 1 from 0 to 30"),
        (None, "the job asks for 1 host of its reservation 'r', 0 of it are free now"),
    ],
)
def test_a_job_of_a_reservation_runs_nowhere_else(hosts, message):
    class Wrong:
        def decide(self, view, events):
            return [StartJob(job, hosts) for job in view.waiting if view.now == 1]

    jobs = [a_job(1, submit=1), a_job(2, submit=1)]
    with pytest.raises(DecisionError, match=message):
        run(Wrong(), 2, jobs, reserved("1", 0, 30, [1, 2], name="r"))


def test_other_jobs_get_no_reserved_host():
    class Wrong:
        def decide(self, view, events):
            return [StartJob(job, [1]) for job in view.waiting if job.id == 2]

    with pytest.raises(DecisionError, match="host 1 is reserved"):
        run(Wrong(), 2, [a_job(1), a_job(2)], reserved("1", 0, 30, [1]))


def test_drained_hosts_are_not_planned_with():
    # host 0 will not return when job 1 ends at 10, so that job 2 cannot be promised anything
    events = ExternalEvents.from_events(
        [
            ExternalEvent(1, "unavailable", hosts=HostSet([0])),
            ExternalEvent(50, "available", hosts=HostSet([0])),
        ]
    )
    jobs = [
        a_job(1, runtime=10),
        a_job(2, hosts=2, runtime=10, submit=2),
        a_job(3, hosts=1, runtime=30, submit=3),
    ]
    schedule = simulate(Platform.homogeneous(2), a_workload(*jobs), "easy", events)
    assert start_times(schedule) == {1: 0, 3: 3, 2: 50}


SLEEPING = """<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="h0" speed="1f,0.001f,0.2f,0.1f" pstate="1">
<prop id="wattage_per_state" value="95:190,10:10,100:100,120:120"/>
<prop id="sleep_pstates" value="1:2:3"/><prop id="wattage_off" value="10"/></host>
</zone></platform>"""


@pytest.mark.parametrize("policy", NATIVE)
def test_the_time_to_wake_hosts_counts_before_a_window(policy, tmp_path):
    # the host sleeps, and takes 10 s to wake: 20 s of walltime do not end before 25
    (tmp_path / "p.xml").write_text(SLEEPING)
    platform = load_platform(tmp_path / "p.xml")
    closed = Windows([maintenance("0", 25, 100)])
    options = {"windows": closed, "energy": "exact", "wake_for_jobs": True}
    for walltime, start in ((20, 110), (8, 10)):
        workload = a_workload(a_job(1, runtime=5, walltime=walltime))
        schedule = simulate(platform, workload, policy, **options)
        assert start_times(schedule) == {1: start}


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        ([maintenance("0", 10, 10)], "maintenance 0: ends at 10, expected a date after"),
        ([maintenance("0", -1, 10)], "maintenance 0: start: got -1, expected a number >= 0"),
        ([maintenance("0", 1, 2, announced=2)], "maintenance 0: announced: got 2, expected"),
        ([maintenance("", 1, 2)], "maintenance 0: hosts: got none, expected at least one"),
        ([maintenance("9", 1, 2)], "maintenance 0: hosts: there is no host 9; hosts are 0-3"),
        ([maintenance("0", 1, 2, name="a")] * 2, "a: the name is there twice"),
        ([reserved("0", 1, 2)], "reservation 0: got neither jobs nor users, expected whom"),
        ([reserved("0", 1, 2, [7])], "reservation 0: jobs: no job has the id 7"),
        ([reserved(9, 1, 2, [1])], "reservation 0: hosts: got 9, but only 4 of the 4 hosts"),
        (
            [reserved("0-1", 1, 20, [1]), reserved("1", 10, 30, [2])],
            "reservation 1: reserves host 1 from 10 to 30, and reservation 0 does from 1 to 20",
        ),
        (
            [reserved("0", 1, 20, [1]), reserved("1", 10, 30, [1])],
            "reservation 1: job 1 also belongs to reservation 0, expected one reservation for",
        ),
    ],
)
def test_windows_that_make_no_sense_are_refused(windows, message):
    with pytest.raises(InputError, match=message):
        run("easy", 4, [a_job(1), a_job(2)], *windows)


def test_latency_and_windows_exclude_each_other():
    with pytest.raises(InputError, match="batsim_latency: got windows, which Batsim does not know"):
        run("easy", 4, [a_job(1)], maintenance("0", 1, 2), batsim_latency=True)


FILE = b"""
[[maintenance]]
name = "cooling"
hosts = "0-15"
from = "2h"
to = "6h"
announced = 3600
running = "kill"

[[reservation]]
hosts = 8
from = 86400
to = 90000
users = ["alice", 7]
jobs = [17]
"""


def test_files_tell_windows():
    cooling, reservation = read_windows(FILE, source="w.toml")
    assert cooling == Maintenance(HostSet(range(16)), 7200, 21600, "cooling", 3600, True)
    expected = Reservation(8, 86400, 90000, (17,), ("alice", 7), "reservation 1")
    assert reservation == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[maintenance]]\nhosts = 3", "w: maintenance[0].from: missing, expected a duration"),
        (
            "[[maintenance]]\nfrom=1\nto=2\nhosts='x'",
            "w: maintenance[0].hosts: got 'x', expected hosts",
        ),
        ("[[maintenance]]\nfrom=1\nto=2\nhosts='0'\nwhy=1", "w: maintenance[0].why: unknown key"),
        ("[[window]]\nfrom=1", "w: window: unknown key, expected maintenance, reservation"),
        ("[[reservation]]\nfrom=1\nto=2\nhosts='0'\nusers='x'", "w: reservation[0].users: got 'x'"),
        ("maintenance = 1", "w: maintenance: got 1, expected an array of tables"),
        ("[[maintenance]]\nfrom=2\nto=1\nhosts='0'", "w: maintenance 0: ends at 1.0, expected"),
        ("[[maintenance", "w: end of document: not valid TOML"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_the_place(text, message):
    with pytest.raises(InputError) as error:
        read_windows(text.encode(), source="w")
    assert str(error.value).startswith(message)
