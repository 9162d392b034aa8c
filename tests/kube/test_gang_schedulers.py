"""Schedulers with gangs of their own, unmodified, on simulated time.

`tests/kube/install-kube-scheduler scheduler-plugins-0.33.5 volcano-1.10.0` builds them.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from scheduled_runs import built, column, job, needs_real_ones, real, scheduled, starts

import noctule as nt

pytestmark = needs_real_ones

COSCHEDULING = Path(__file__).parents[2] / "examples" / "kube-coscheduling.yaml"
#: From 1.33 on, what does not fit would be tried again without a pause.
PAUSES = "--feature-gates=SchedulerPopFromBackoffQ=false"


def command(groups: str) -> str:
    if groups == "volcano":
        return built("volcano-1.10.0")
    if groups == "coscheduling":
        return f"{built('scheduler-plugins-0.33.5')} --config {COSCHEDULING} {PAUSES}"
    return f"{real('1.36.4')} {PAUSES},GenericWorkload=true,GangScheduling=true"


def gangs(*jobs: nt.Job, groups: str, **settings) -> nt.Schedule:
    return scheduled(list(jobs), command(groups), hosts=4, groups=groups, **settings)


KINDS = pytest.mark.parametrize("groups", ["coscheduling", "volcano", "pod-group"])


@KINDS
def test_a_gang_is_bound_as_a_whole_or_not_at_all(groups):
    # A leaves one of four hosts: no pod of B is bound to it, so C gets it, at once or after a
    # back-off; B has its two when A has ended, and D all four when B has. Back-offs are of 10 s
    # at most, and looked at once a second.
    schedule = gangs(
        job("A", 0, 100, hosts=3),
        job("B", 10, 50, hosts=2),
        job("C", 20, 30),
        job("D", 130, 10, hosts=4),
        groups=groups,
    )
    begun = starts(schedule)
    assert begun["A"] == pytest.approx(0, abs=1.1)
    assert 20 <= begun["C"] <= 32
    assert 100 <= begun["B"] <= 112
    assert begun["B"] + 50 <= begun["D"] <= begun["B"] + 50 + 12
    assert set(column(schedule, "state").values()) == {"completed"}
    assert schedule.held is None
    assert {len(hosts) for hosts in column(schedule, "hosts").values()} == {1, 2, 3, 4}


@KINDS
def test_gangs_that_would_each_hold_a_half_run_one_after_the_other(groups):
    # both want three of four hosts at the same instant: one of them runs at once, the other then
    schedule = gangs(job("A", 0, 40, hosts=3), job("B", 0, 40, hosts=3), groups=groups)
    first, second = sorted(starts(schedule).values())
    assert first == pytest.approx(0, abs=1.1)
    assert 40 <= second <= 52
    assert schedule.held is None


def test_volcano_serves_the_queue_of_a_job_and_leaves_nothing_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # a group in a Queue that is not there would wait for ever
    jobs = [replace(job("A", 0, 10, hosts=2), queue="Day"), job("B", 0, 10)]
    schedule = gangs(*jobs, groups="volcano")
    assert set(column(schedule, "state").values()) == {"completed"}
    assert max(starts(schedule).values()) < 2
    assert list(tmp_path.iterdir()) == []
