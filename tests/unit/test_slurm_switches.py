"""Jobs that ask for one switch wait for it, but not for ever."""

from __future__ import annotations

from typing import Any

import pytest
from slurm_cases import Asked, Attempt, attempts, conf_of, simulate_case

from noctule.slurm.conf.topology import Switch, Topology

# n1 and n2 below one switch, n3 and n4 below another
TREE = Topology(
    (Switch("s1", 0, (0, 1), 2), Switch("s2", 0, (2, 3), 2), Switch("top", 1, (0, 1, 2, 3), None))
)


def third_job(first: float, scheduling: str = "bf_interval=30", **more: Any) -> Attempt:
    """Return what became of a job of two nodes, while one node below each switch is in use.

    They are in use from 1.25 on, for `first` seconds and for longer than the job waits.
    """
    jobs = [
        Asked(1.0, first, 1, limit=30, more={"required_nodes": "n1"}),
        Asked(1.1, 1000, 1, limit=30, more={"required_nodes": "n3"}),
        Asked(1.2, 10, 2, limit=1, more=more),
    ]
    return attempts(conf_of(scheduling=scheduling), jobs, topology=TREE)["2"]


def test_a_job_that_does_not_ask_takes_nodes_of_two_switches() -> None:
    assert third_job(1000) == Attempt(1.25, 11.25, "1 3", "completed")


def test_a_job_waits_for_nodes_of_one_switch() -> None:
    # n1 is free at 50.755: the next tick
    assert third_job(49.5, switches=1) == Attempt(51.25, 61.25, "0-1", "completed")


@pytest.mark.parametrize(
    ("scheduling", "wait", "start"),
    [
        # nodes were first found in second 1: from 101 on any will do, in the full pass of 120
        ("bf_interval=30", 100.0, 120.25),
        # from 61 on: the full pass of 60 comes too early, and nothing wakes backfilling before 120
        ("bf_interval=30,max_switch_wait=60", None, 120.25),
        ("bf_interval=30,max_switch_wait=60", 100.0, 120.25),
    ],
)
def test_a_job_takes_other_nodes_when_it_has_waited(
    scheduling: str, wait: float | None, start: float
) -> None:
    found = third_job(1000, scheduling, switches=1, switch_wait=wait)
    assert found == Attempt(start, start + 10, "1 3", "completed")


def test_several_switches_are_not_waited_for() -> None:
    jobs = [Asked(1.0, 10, 3, more={"switches": 2})]
    schedule, model = simulate_case(conf_of(), jobs, topology=TREE)
    assert schedule.jobs.start_time[0] == 1.25
    assert model.notes == ("1 jobs ask for several switches: Slurm 22.05 waits for one only",)
