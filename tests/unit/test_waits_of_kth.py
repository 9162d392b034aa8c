"""The waits of a real log: their causes under native policies, and where host-seconds went."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noctule as nt
from noctule.capacity import lost_capacity
from noctule.waits import Cause, Waits


@pytest.fixture(scope="module")
def workload(shared):
    return nt.load_workload(shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz")


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_policies_that_start_the_oldest_job_first_leave_nothing_untold(policy, workload):
    schedule = nt.simulate(nt.Platform.homogeneous(100), workload, policy)
    totals = Waits(schedule).totals
    assert (totals.seconds.sum(axis=1) == schedule.column("waiting_time")).all()
    told = {cause for cause in totals.causes if totals.of(cause).any()}
    assert told == {Cause.PRIORITY, Cause.BUSY, Cause.KEPT}
    lost = lost_capacity(schedule)
    span = schedule.column("finish_time").max() - schedule.column("submit_time").min()
    assert math.fsum(lost.values()) == 100 * span
    # whoever waits while fewer hosts are free than anybody needs finds fragments
    assert lost["draining"] > lost["fragmentation"] > 0


def test_files_tell_the_same_as_the_run(workload, tmp_path):
    schedule = nt.simulate(nt.Platform.homogeneous(100), workload, "easy")
    schedule.save(tmp_path)
    read = nt.Schedule.load(tmp_path)
    assert lost_capacity(read) == lost_capacity(schedule)
    totals, expected = Waits(read, workload=workload).totals, Waits(schedule).totals
    assert np.array_equal(totals.seconds, expected.seconds)
