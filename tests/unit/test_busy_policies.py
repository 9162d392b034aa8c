"""Policies that take time to decide: they are not called meanwhile, and events wait for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from latency_platform import D, Told, dates, delays, two_hosts

import noctule as nt
from noctule.errors import DecisionError
from noctule.messages import BusyUntil, CallAt, Decision, Event, KillJob, RegisterJob, StartJob
from noctule.workload import Delay, Job, Request


def platform(n_hosts: int = 2) -> nt.Platform:
    return nt.Platform.homogeneous(n_hosts)


def slow(seconds: float) -> Told:
    """Return a policy that starts what it can, and thinks so long about it."""

    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        n_free = view.n_free
        for job in view.waiting:
            if job.n_hosts <= n_free:
                n_free -= job.n_hosts
                yield StartJob(job)
        yield BusyUntil(view.now + seconds)

    return Told(decide)


def test_events_wait_for_a_busy_policy_and_keep_their_dates() -> None:
    policy = slow(3.0)
    found = nt.simulate(platform(), delays((1.0, 1), (2.0, 1), (2.5, 1)), policy)
    assert policy.calls == [
        (0.0, [("SimulationStarted", 0.0)]),
        (3.0, [("JobSubmitted", 1.0), ("JobSubmitted", 2.0), ("JobSubmitted", 2.5)]),
        (13.0, [("JobFinished", 13.0), ("JobFinished", 13.0)]),
        (23.0, [("JobFinished", 23.0)]),
    ]
    assert dates(found) == [(3.0, 13.0), (3.0, 13.0), (13.0, 23.0)]


def test_what_happens_when_a_policy_is_ready_again_comes_with_the_rest() -> None:
    policy = slow(3.0)
    nt.simulate(platform(), delays((1.0, 1), (3.0, 1)), policy)
    assert policy.calls[1] == (3.0, [("JobSubmitted", 1.0), ("JobSubmitted", 3.0)])


def test_a_policy_that_nobody_has_called_meanwhile_is_called_with_the_next_event() -> None:
    policy = slow(3.0)
    nt.simulate(platform(), delays((7.0, 1)), policy)
    assert [now for now, _ in policy.calls] == [0.0, 7.0, 17.0]


def test_decisions_take_effect_while_the_policy_is_busy() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for job in view.waiting:
            yield StartJob(job, time=view.now + 1)
            yield KillJob(job, time=view.now + 4)
            yield BusyUntil(view.now + 30)

    policy = Told(decide)
    found = nt.simulate(platform(), delays((0.0, 1), (2.0, 1)), policy)
    assert dates(found) == [(1.0, 4.0), (31.0, 34.0)]
    assert policy.calls[1] == (30.0, [("JobSubmitted", 2.0), ("JobFinished", 4.0)])


def test_what_stands_behind_takes_effect_when_the_policy_is_ready_again() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for job in view.waiting:
            yield BusyUntil(view.now + 5)
            yield StartJob(job)
            yield BusyUntil(view.now + 8)
            yield CallAt(view.now + 1, "late")
            yield KillJob(job, time=view.now + 6)
            if job.id == 0:
                yield RegisterJob(Job("mine", 0.0, Request(1), Delay(1.0), 100.0))

    policy = Told(decide)
    found = nt.simulate(platform(), delays((0.0, 1)), policy)
    assert dates(found)[0] == (5.0, 8.0)
    assert policy.dates("TimerFired") == [8.0]
    assert policy.dates("JobSubmitted") == [0.0, 8.0]


def test_dates_in_the_past_mean_nothing_and_others_are_refused() -> None:
    def until(date: float) -> Told:
        return Told(lambda view, _: [*map(StartJob, view.waiting), BusyUntil(date)])

    assert dates(nt.simulate(platform(), delays((3.0, 1)), until(1.0))) == [(3.0, 13.0)]
    for date in (float("nan"), float("inf")):
        with pytest.raises(DecisionError, match=rf"BusyUntil\(time={date}\): expected a date"):
            nt.simulate(platform(), delays((3.0, 1)), until(date))
    with pytest.raises(DecisionError, match="expected a number as the time"):
        nt.simulate(platform(), delays((3.0, 1)), until("x"))  # type: ignore[arg-type]


def test_a_run_stops_at_its_limit_although_its_policy_is_busy() -> None:
    found = nt.simulate(platform(), delays((0.0, 1)), slow(100.0), until=5.0)
    assert found.end == 5.0


def test_the_run_ends_no_earlier_than_its_policy_is_ready() -> None:
    assert nt.simulate(platform(), delays((0.0, 1)), slow(7.0)).end == 17.0
    assert nt.simulate(platform(), delays((0.0, 1)), slow(20.0)).end == 40.0


def test_with_latency_ready_is_told_when_the_policy_is(tmp_path: Path) -> None:
    policy = slow(3.0)
    found = nt.simulate(
        two_hosts(tmp_path), delays((0.0, 1), (1.0, 1)), policy, batsim_latency=True
    )
    # ready is sent at 3 and arrives at 3 + D; the starts follow
    assert policy.calls[1][0] == pytest.approx(3 + D)
    assert policy.calls[1][1] == [
        ("JobSubmitted", pytest.approx(2 * D)),
        ("JobSubmitted", pytest.approx(1 + 2 * D)),
    ]
    assert dates(found) == [(3 + 2 * D, 13 + 2 * D), (3 + 3 * D, 13 + 3 * D)]


def test_with_latency_what_stands_behind_is_sent_at_its_date(tmp_path: Path) -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for job in view.waiting:
            yield BusyUntil(5.0)
            yield StartJob(job)
            yield StartJob(job, time=4.0) if job.id > 5 else KillJob(job, time=6.0)

    found = nt.simulate(two_hosts(tmp_path), delays((0.0, 1)), Told(decide), batsim_latency=True)
    assert dates(found) == [(5 + D, 6 + D)]
