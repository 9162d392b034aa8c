"""Explanations of waits against the rules, applied second by second, and against their totals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from random_workloads import random_workload

import noctule as nt
from noctule.waits import Cause, Waits
from noctule.windows import Maintenance, Reservation, Windows

N_HOSTS = 8
POLICIES = ("fcfs", "easy", "conservative", "easy(order=sjf)", "easy(allocation=contiguous)")
POWER = nt.platform.PowerModel(idle=100, computing=200, off=10, switch_on_seconds=4)


class Lateness:
    """Starts whatever fits, but looks only every few seconds."""

    def __init__(self, every: float) -> None:
        self._every = every

    def decide(self, view, events):
        from noctule.messages import CallAt, StartJob

        if view.now % self._every == 0:
            free = list(view.free)
            for job in view.waiting:
                if job.n_hosts <= len(free):
                    yield StartJob(job, free[: job.n_hosts])
                    free = free[job.n_hosts :]
        if view.waiting:
            yield CallAt((view.now // self._every + 1) * self._every)


def schedules(seed: int):
    workload = random_workload(seed, n_jobs=25, n_hosts=N_HOSTS)
    policy = ([*POLICIES, "late"])[seed % 6]
    if policy == "late":
        policy = Lateness(7)
    return nt.simulate(nt.Platform.homogeneous(N_HOSTS), workload, policy)


def at_each_second(schedule: nt.Schedule, row: int) -> list[Cause]:
    """Apply the rules to each second of a job's wait; all dates are whole."""
    record = schedule.record
    n = len(record)
    asked = schedule.column("n_hosts")
    key = [(record.submit_time[k], record.job[k]) for k in range(n)]
    side_by_side = all(len(record.hosts(k).intervals()) == 1 for k in range(n)) and any(
        record.n_hosts > 1
    )
    found: list[Cause] = []
    for t in np.arange(record.submit_time[row], record.start_time[row]):
        held = {
            host
            for k in range(n)
            if record.start_time[k] <= t < record.finish_time[k]
            for host in record.hosts(k)
        }
        free = [host for host in range(N_HOSTS) if host not in held]
        waiting = [
            k for k in range(n) if k != row and record.submit_time[k] <= t < record.start_time[k]
        ]
        earlier = [k for k in waiting if key[k] < key[row]]
        start = record.start_time[row]
        behind = any(record.start_time[k] <= start for k in earlier)
        if len(free) < asked[row]:
            found.append(Cause.PRIORITY if behind else Cause.BUSY)
        elif earlier or any(record.start_time[k] < start for k in waiting):
            found.append(Cause.KEPT)
        elif side_by_side and _longest(free) < asked[row]:
            found.append(Cause.FRAGMENTED)
        elif any(record.start_time[k] > start for k in waiting):
            found.append(Cause.UNKNOWN)
        else:
            found.append(Cause.TIMING)
    return _only_at_the_end(found)


def _longest(free: list[int]) -> int:
    longest = run = 0
    for host in range(N_HOSTS):
        run = run + 1 if host in free else 0
        longest = max(longest, run)
    return longest


def _only_at_the_end(found: list[Cause]) -> list[Cause]:
    """Leave pass timing only where it lasts until the start."""
    last = max((i for i, cause in enumerate(found) if cause is not Cause.TIMING), default=-1)
    return [
        Cause.UNKNOWN if cause is Cause.TIMING and i < last else cause
        for i, cause in enumerate(found)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_every_second_of_every_wait_is_judged_by_the_rules(seed):
    schedule = schedules(seed)
    waits = Waits(schedule)
    seen = set()
    for row in range(len(schedule)):
        told = [
            one.cause for one in waits.explain_row(row).intervals for _ in range(round(one.seconds))
        ]
        assert told == at_each_second(schedule, row)
        seen |= set(told)
    assert Cause.BUSY in seen


def everything_at_once(seed: int) -> tuple[nt.Schedule, Windows]:
    """Return a run with windows, sleeping hosts and dates that are not whole."""
    rng = np.random.default_rng(seed)
    whole = random_workload(seed, n_jobs=60, n_hosts=N_HOSTS - 2)
    jobs = [
        nt.Job(
            id=str(job.id),
            submit_time=job.submit_time / 3,
            request=job.request,
            profile=job.profile,
            walltime=job.walltime,
        )
        for job in whole
    ]
    begin = float(rng.integers(10, 60)) / 7
    windows = Windows(
        [
            Maintenance(nt.HostSet("0"), begin, begin + 20),
            Reservation(nt.HostSet("1-2"), begin + 5, begin + 60, jobs=["3"], announced=begin),
            Maintenance(nt.HostSet("2-5"), begin + 30, begin + 50, announced=begin + 3),
        ]
    )
    options = {"windows": windows}
    platform = nt.Platform.homogeneous(N_HOSTS)
    policy = POLICIES[seed % 3]
    if seed % 2:
        platform = nt.Platform.homogeneous(N_HOSTS, power=POWER)
        policy, options = f"{policy}(t_idle=5)", {"energy": "exact"}
    until = math.inf if seed % 4 < 2 else begin + 40
    schedule = nt.simulate(platform, nt.Workload.from_jobs(jobs), policy, until=until, **options)
    return schedule, windows if not seed % 2 else Windows()


@pytest.mark.parametrize("seed", range(12))
def test_totals_are_the_sums_of_the_intervals(seed):
    schedule, windows = everything_at_once(seed)
    waits = Waits(schedule, windows=windows)
    seen = set()
    for row in range(len(schedule)):
        found = waits.explain_row(row)
        dates = [found.submit, *(one.end for one in found.intervals)]
        assert [one.begin for one in found.intervals] == dates[:-1]
        if found.start is not None:
            assert dates[-1] == found.start
        of_row = waits.totals.of_row(row)
        for cause in waits.totals.causes:
            seconds = math.fsum(one.seconds for one in found.intervals if one.cause is cause)
            assert math.isclose(of_row.get(cause, 0.0), seconds, abs_tol=1e-9), cause
        seen |= set(of_row)
    assert len(seen) > 2
