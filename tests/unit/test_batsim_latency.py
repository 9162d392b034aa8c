"""Batsim's own latency: what its parts tell each other travels over the simulated network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import noctule as nt
from noctule.errors import InputError
from noctule.messages import CallAt, Decision, Event, KillJob, MessageSent, StartJob, TimerFired
from noctule.workload import Delay, Job, ParallelTask, Request, Send, Usage, UsageTrace, Workload

# A byte of the master to itself takes D, from n0 to it FROM_N0, from n1 to n0 N1_TO_N0.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="master_host" speed="1f"/>
    <host id="n0" speed="1f"/>
    <host id="n1" speed="1f"/>
    <link id="loop" bandwidth="1000Bps" latency="0.009s"/>
    <link id="wire" bandwidth="1000Bps" latency="0.019s"/>
    <route src="master_host" dst="master_host"><link_ctn id="loop"/></route>
    <route src="n0" dst="n0"><link_ctn id="loop"/></route>
    <route src="n0" dst="master_host"><link_ctn id="wire"/></route>
    <route src="n1" dst="master_host"><link_ctn id="wire"/></route>
    <route src="n1" dst="n0"><link_ctn id="wire"/></route>
  </zone>
</platform>
"""
D = 0.01
FROM_N0 = 0.02


@pytest.fixture
def platform(tmp_path: Path) -> nt.Platform:
    path = tmp_path / "platform.xml"
    path.write_text(PLATFORM)
    return nt.load_platform(path)


def delays(*jobs: tuple[float, int]) -> Workload:
    """Return jobs of ten seconds, each with its submission time and its number of hosts."""
    return Workload.from_jobs(
        [Job(i, time, Request(n), Delay(10.0), 100.0) for i, (time, n) in enumerate(jobs)]
    )


def dates(schedule: nt.Schedule) -> list[tuple[float, float]]:
    """Return the starts and ends of the jobs, by id."""
    record = schedule.record
    rows = zip(record.job, record.start_time, record.finish_time, strict=True)
    return [pytest.approx((start, end), abs=1e-12) for _, start, end in sorted(rows)]


def test_nothing_is_paid_unless_asked_for(platform: nt.Platform) -> None:
    assert dates(nt.simulate(platform, delays((0.0, 1)), "fcfs")) == [(0.0, 10.0)]


def test_the_only_job_starts_after_hello_ready_submission_goodbye_and_its_order(
    platform: nt.Platform,
) -> None:
    found = nt.simulate(platform, delays((0.0, 1)), "fcfs", batsim_latency=True)
    assert dates(found) == [(5 * D, 10 + 5 * D)]


def test_a_submission_is_late_by_the_delivery_of_the_one_before(platform: nt.Platform) -> None:
    # the first is sent at D and arrives at 3 D, so the second is sent at 3 + 2 D; it is the last
    found = nt.simulate(platform, delays((0.0, 1), (3.0, 1)), "fcfs", batsim_latency=True)
    assert dates(found) == [(4 * D, 10 + 4 * D), (3 + 5 * D, 13 + 5 * D)]


def test_a_policy_hears_of_an_end_once_its_first_host_has_told(platform: nt.Platform) -> None:
    found = nt.simulate(platform, delays((0.0, 2), (0.0, 2)), "fcfs", batsim_latency=True)
    end = 10 + 5 * D
    assert dates(found) == [(5 * D, end), (end + FROM_N0 + D, end + FROM_N0 + D + 10)]


class Killer:
    """Starts what it can, and kills it some time after it was asked."""

    def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for job in view.waiting:
            yield StartJob(job)
            yield KillJob(job, time=view.now + 5)


def test_a_kill_takes_effect_when_its_message_has_arrived(platform: nt.Platform) -> None:
    found = nt.simulate(platform, delays((0.0, 1)), Killer(), batsim_latency=True)
    # asked at 3 D; the start arrives at 5 D, the kill is sent at 5 + 3 D
    assert dates(found) == [(5 * D, 5 + 4 * D)]
    assert found.column("state").tolist() == ["killed"]


def test_a_call_is_a_message_too(platform: nt.Platform) -> None:
    called = []

    class Caller:
        def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
            called.extend(view.now for event in events if isinstance(event, TimerFired))
            for job in view.waiting:
                yield StartJob(job)
                yield CallAt(5.0)

    nt.simulate(platform, delays((0.0, 1)), Caller(), batsim_latency=True)
    assert called == pytest.approx([5 + D])


def test_a_job_that_tells_something_waits_until_it_has_arrived(platform: nt.Platform) -> None:
    told = []

    class Listener:
        def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
            told.extend(view.now for event in events if isinstance(event, MessageSent))
            return (StartJob(job) for job in view.waiting)

    talk = Job(0, 0.0, Request(1), Send({"a": 1}, seconds=1.0), 100.0)
    workload = Workload.from_jobs([talk])
    found = nt.simulate(platform, workload, Listener(), batsim_latency=True)
    # "ready" of the scheduler comes first, whose order has started the job
    heard = 5 * D + D + FROM_N0
    assert dates(found) == [(5 * D, heard + 1)]
    assert len(told) == 1


def test_ranks_report_their_ends_one_after_the_other(platform: nt.Platform) -> None:
    trace = UsageTrace(((Usage(1.0, 10.0),), (Usage(1.0, 10.0),)))
    workload = Workload.from_jobs([Job(0, 0.0, Request(2), trace, 100.0)])
    # four bytes from n0 to itself, then four from n1 to n0
    reports = (0.009 + 0.004) + (0.019 + 0.004)
    assert dates(nt.simulate(platform, workload, "fcfs")) == [(0.0, 10.0)]
    found = nt.simulate(platform, workload, "fcfs", report_ranks=True)
    assert dates(found) == [(0.0, 10.0 + reports)]


def test_a_platform_without_a_master_has_no_such_latency() -> None:
    with pytest.raises(InputError, match="no master host"):
        nt.simulate(nt.Platform.homogeneous(2), delays((0.0, 1)), "fcfs", batsim_latency=True)


def test_a_task_at_its_walltime_goes_on_until_its_end_is_known(platform: nt.Platform) -> None:
    # the wire to the master is busy with the task, so that its last message takes twice as long
    flood = ParallelTask((0.0, 0.0), (0.0, 0.0, 1e6, 0.0))
    workload = Workload.from_jobs(
        [
            Job(0, 0.0, Request(2), flood, 3.0),
            Job(1, 0.0, Request(2), Delay(10.0), 100.0),
        ]
    )
    found = nt.simulate(platform, workload, "fcfs", batsim_latency=True)
    end = 5 * D + 3
    heard = end + 0.019 + 0.002
    assert dates(found) == [(5 * D, end), (heard + D, heard + D + 10)]


def test_a_job_may_reach_its_walltime_while_it_tells_something(platform: nt.Platform) -> None:
    talk = Job(0, 0.0, Request(1), Send({"a": 1}, seconds=1.0), 0.5 * FROM_N0)
    found = nt.simulate(platform, Workload.from_jobs([talk]), "fcfs", batsim_latency=True)
    assert dates(found) == [(5 * D, 5 * D + 0.5 * FROM_N0)]
    assert found.column("state").tolist() == ["timed_out"]
