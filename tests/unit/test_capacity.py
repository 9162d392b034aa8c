"""Where host-seconds went, in schedules of which every part can be told by hand."""

from __future__ import annotations

import math

import numpy as np
import power_runs
import pytest
from built_schedules import Row, a_schedule
from small_runs import job, run

from noctule import HostSet, metrics
from noctule.capacity import PARTS, capacity, lost_capacity
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.metrics import Window
from noctule.windows import Maintenance, Reservation, Windows


def lost(schedule, **known) -> dict[str, float]:
    """Return the parts that are not zero, after checking that they sum to all there was."""
    found = capacity(schedule, **known)
    assert (found.hosts.sum(axis=1) == schedule.platform.n_hosts).all()
    totals = found.totals()
    assert math.fsum(totals.values()) == schedule.platform.n_hosts * found.window.length
    return {name: seconds for name, seconds in totals.items() if seconds}


def test_idle_hosts_without_a_queue_are_lost_to_nobody():
    schedule = a_schedule([Row("a", 0, 0, 10, "0-2"), Row("b", 20, 20, 30, "0")])
    assert lost(schedule) == {"busy": 40, "empty_queue": 10 + 40 + 30}


def test_hosts_that_are_too_few_for_every_waiting_job_are_fragments():
    schedule = a_schedule([Row("a", 0, 0, 10, "0-2"), Row("b", 4, 10, 20, "0-1")])
    assert lost(schedule) == {"busy": 50, "empty_queue": 4 + 20, "fragmentation": 6}


def test_hosts_that_would_do_for_a_waiting_job_are_draining():
    jobs = [
        job("a", hosts=3, walltime=10),
        job("b", hosts=4, submit=1, walltime=10),
        job("c", submit=2, walltime=20),
    ]
    # one host is free until 10: at first for nobody, then too small for b, then kept from c
    assert lost(run("easy", jobs)) == {
        "busy": 30 + 40 + 10,
        "empty_queue": 1 + 30,
        "fragmentation": 1,
        "draining": 8,
    }


def test_reserved_hosts_and_those_in_maintenance_are_told_apart():
    windows = Windows(
        [
            Maintenance(HostSet("0"), 10, 20),
            Reservation(HostSet("2-3"), 5, 15, jobs=["r"]),
        ]
    )
    jobs = [job("a", walltime=10, runtime=10), job("r", hosts=2, walltime=5, runtime=5)]
    schedule = run("easy", [*jobs, job("z", submit=20, walltime=1, runtime=1)], windows=windows)
    # a runs on host 0, 1 or both sides of the windows; r from 5 to 10; its hosts stay idle to 15
    assert lost(schedule, windows=windows)["reserved"] == 10
    assert lost(schedule, windows=windows)["down"] == 10


def test_hosts_that_sleep_or_switch_are_counted_as_such():
    # host 1 is switched off from 0 to 5 and on from 50 to 60; both run B to 80
    assert lost(power_runs.night_and_day()) == {
        "busy": 10 + 40,
        "switching": 5 + 10,
        "off": 45,
        "empty_queue": 40,
        "fragmentation": 10,
    }


def test_hosts_out_of_order_are_down():
    events = ExternalEvents.from_events(
        [
            ExternalEvent(5, "unavailable", HostSet("3")),
            ExternalEvent(8, "available", HostSet("3")),
        ]
    )
    schedule = run("fcfs", [job("a", hosts=3)], external_events=events)
    assert lost(schedule) == {"busy": 30, "empty_queue": 7, "down": 3}


def test_a_window_cuts_what_is_counted():
    schedule = a_schedule([Row("a", 0, 0, 10, "0-2"), Row("b", 4, 10, 20, "0-1")])
    found = lost_capacity(schedule, window=Window(2, 11))
    assert {name: seconds for name, seconds in found.items() if seconds} == {
        "busy": 24 + 2,
        "empty_queue": 2 + 2,
        "fragmentation": 6,
    }


def test_steps_tell_the_parts_over_time():
    schedule = a_schedule([Row("a", 0, 0, 10, "0-2"), Row("b", 4, 10, 20, "0-1")])
    steps = capacity(schedule).steps("fragmentation")
    assert steps.at([0, 4, 9, 10]).tolist() == [0, 1, 1, 0]


def test_what_is_busy_is_what_is_used():
    schedule = run("easy", [job("a", hosts=3), job("b", hosts=2, submit=1)])
    totals = lost_capacity(schedule)
    share = totals["busy"] / math.fsum(totals.values())
    assert share == pytest.approx(metrics.utilisation(schedule))


def test_a_schedule_without_jobs_has_no_capacity_to_lose():
    assert all(seconds == 0 for seconds in lost_capacity(a_schedule([])).values())
    assert [part.name for part in PARTS] == list(lost_capacity(a_schedule([])))


def test_parts_over_time_are_whole_numbers_of_hosts():
    schedule = run("easy", [job(str(i), hosts=1 + i % 4, submit=i) for i in range(20)])
    assert capacity(schedule).hosts.dtype == np.uint32
    lost(schedule)
