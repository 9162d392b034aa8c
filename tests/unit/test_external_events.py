"""External events: hosts that come and go, and events that are only passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from latency_platform import D, Told, dates, delays, two_hosts

import noctule as nt
from noctule.errors import DecisionError, InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.messages import Decision, Event, ExternalEventOccurred, StartJob
from noctule.workload import Workload


def away(time: float, *hosts: int) -> ExternalEvent:
    return ExternalEvent(time, "unavailable", nt.HostSet(hosts))


def back(time: float, *hosts: int) -> ExternalEvent:
    return ExternalEvent(time, "available", nt.HostSet(hosts))


def events(*listed: ExternalEvent) -> ExternalEvents:
    return ExternalEvents.from_events(listed)


def start_all(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
    n_free = view.n_free
    for job in view.waiting:
        if job.n_hosts <= n_free:
            n_free -= job.n_hosts
            yield StartJob(job)


def start_on(*hosts: int) -> Told:
    return Told(lambda view, _: [StartJob(job, hosts) for job in view.waiting])


def platform(n_hosts: int = 2) -> nt.Platform:
    return nt.Platform.homogeneous(n_hosts)


def test_events_of_one_date_come_in_the_order_available_unavailable_generic() -> None:
    listed = events(ExternalEvent(1.0, "generic", data="{}"), away(1.0, 0), back(1.0, 1))
    assert listed.kinds == ("available", "unavailable", "generic")
    assert [event.time for event in listed] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        (ExternalEvent(-1.0, "generic", data="{}"), "time: got -1.0, expected a number >= 0"),
        (ExternalEvent(float("nan"), "generic", data="{}"), "time: got nan"),
        (ExternalEvent(0.0, "gone", data="{}"), "kind: got 'gone', expected restored or available"),  # type: ignore[arg-type]
        (ExternalEvent(0.0, "available"), "got no hosts, expected hosts that are available"),
        (ExternalEvent(0.0, "generic"), "got no data, expected the JSON text of an event"),
        (ExternalEvent(0.0, "generic", data="{"), "data: .*expected JSON text"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(event: ExternalEvent, complaint: str) -> None:
    with pytest.raises(InputError, match=f"external events: event 0: {complaint}"):
        events(event)


def test_columns_must_fit_and_be_in_the_order_of_dates() -> None:
    with pytest.raises(InputError, match="got columns of 1, 0, 0, 0 events"):
        ExternalEvents(times=(1.0,))
    with pytest.raises(InputError, match=r"got the date 1.0 behind 2.0"):
        ExternalEvents((2.0, 1.0), ("generic", "generic"), (None, None), ("{}", "{}"))


def test_hosts_that_are_away_are_not_free_and_come_back() -> None:
    seen = []

    def look(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        seen.append((view.now, str(view.free), str(view.unavailable)))
        return start_all(view, events)

    found = nt.simulate(
        platform(), delays((5.0, 2)), Told(look), events(away(1.0, 1), back(20.0, 1))
    )
    assert dates(found) == [(20.0, 30.0)]
    assert seen == [
        (0.0, "0-1", ""),
        (1.0, "0", "1"),
        (5.0, "0", "1"),
        (20.0, "0-1", ""),
        (30.0, "0-1", ""),
    ]


def test_a_job_goes_on_while_its_host_is_away_which_then_stays_away() -> None:
    policy = Told(start_all)
    workload = delays((0.0, 2), (2.0, 1), (3.0, 2))
    found = nt.simulate(platform(), workload, policy, events(away(1.0, 1), back(40.0, 1)))
    assert dates(found) == [(0.0, 10.0), (10.0, 20.0), (40.0, 50.0)]
    assert str(found.record.hosts(1)) == "0"


def test_a_host_that_returns_while_its_job_still_runs_is_free_after_it() -> None:
    policy = Told(start_all)
    found = nt.simulate(
        platform(1), delays((0.0, 1), (1.0, 1)), policy, events(away(2.0, 0), back(5.0, 0))
    )
    assert dates(found) == [(0.0, 10.0), (10.0, 20.0)]


def test_a_job_cannot_start_on_a_host_that_is_away() -> None:
    with pytest.raises(DecisionError, match=r"hosts=1\): host 1 is unavailable"):
        nt.simulate(platform(), delays((2.0, 1)), start_on(1), events(away(1.0, 1)))


@pytest.mark.parametrize(
    ("listed", "complaint"),
    [
        (
            [(away, 1.0, [0]), (away, 2.0, [0, 1])],
            "t=2, hosts 0-1: host 0 becomes unavailable, but alr",
        ),
        ([(back, 1.0, [0])], "t=1, hosts 0: host 0 becomes available, but is not unavailable"),
        ([(away, 1.0, [7])], "t=1, hosts 7: there is no host 7; hosts are 0-1"),
        ([(back, 1.0, [7])], "t=1, hosts 7: host 7 becomes available, but is not unavailable"),
    ],
)
def test_hosts_that_cannot_come_or_go_are_refused(
    listed: list[tuple[Callable[..., ExternalEvent], float, list[int]]], complaint: str
) -> None:
    made = events(*(make(time, *hosts) for make, time, hosts in listed))
    with pytest.raises(InputError, match=f"external events: {complaint}"):
        nt.simulate(platform(), delays((0.0, 1)), "fcfs", made)


def test_the_record_counts_hosts_that_are_away_whatever_they_do() -> None:
    found = nt.simulate(
        platform(), delays((0.0, 1)), Told(start_all), events(away(1.0, 0, 1), back(20.0, 0, 1))
    )
    record = found.record
    # start, both go away (the job runs on one of them), end of the job, both return
    assert record.host_state_time.tolist() == [0.0, 1.0, 10.0, 20.0]
    assert record.host_state_idle.tolist() == [1, 0, 0, 2]
    assert record.host_state_computing.tolist() == [1, 0, 0, 0]
    assert record.host_state_unavailable.tolist() == [0, 2, 2, 0]
    assert list(found.host_states["n_unavailable"]) == [0, 2, 2, 0]


def test_the_record_has_no_such_column_without_external_events() -> None:
    found = nt.simulate(platform(), delays((0.0, 1)), "fcfs")
    assert len(found.record.host_state_unavailable) == 0
    assert "n_unavailable" not in found.host_states


def test_other_events_are_passed_on_and_keep_the_run_alive() -> None:
    heard = []

    def listen(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        heard.extend(
            (event.time, event.data) for event in events if isinstance(event, ExternalEventOccurred)
        )
        return start_all(view, events)

    listed = events(
        ExternalEvent(50.0, "generic", data='{"b": 2}'),
        ExternalEvent(3.0, "generic", data='{"a": 1}'),
    )
    found = nt.simulate(platform(), delays((0.0, 1)), Told(listen), listed)
    assert heard == [(3.0, '{"a": 1}'), (50.0, '{"b": 2}')]
    assert found.end == 50.0


def test_several_lists_are_one() -> None:
    policy = Told(start_all)
    listed = [events(away(2.0, 0)), events(away(1.0, 1), back(3.0, 1))]
    nt.simulate(platform(), delays((0.0, 1)), policy, listed, batsim_events=True)
    assert policy.dates("HostsUnavailable") == [1.0, 2.0]
    assert policy.dates("HostsAvailable") == [3.0]
    assert policy.dates("ExternalEventsEnded") == [3.0]


def test_the_end_of_events_is_told_on_request_only_and_never_without_a_list() -> None:
    policy = Told(start_all)
    nt.simulate(platform(), delays((0.0, 1)), policy, events(away(1.0, 1)))
    assert policy.dates("ExternalEventsEnded") == []
    policy = Told(start_all)
    nt.simulate(platform(), delays((0.0, 1)), policy, batsim_events=True)
    assert policy.dates("ExternalEventsEnded") == []
    policy = Told(start_all)
    nt.simulate(platform(), delays((0.0, 1)), policy, events(), batsim_events=True)
    assert policy.dates("ExternalEventsEnded") == [0.0]


def test_native_policies_do_without_the_hosts_that_are_away() -> None:
    for policy in ("fcfs", "easy", "filler"):
        found = nt.simulate(
            platform(), delays((5.0, 2)), policy, events(away(1.0, 1), back(20.0, 1))
        )
        assert dates(found) == [(20.0, 30.0)]


def test_with_latency_each_date_of_a_list_is_a_message_of_its_own(tmp_path: Path) -> None:
    policy = Told(start_all)
    listed = events(away(0.0, 1), back(5.0, 1), ExternalEvent(5.0, "generic", data="{}"))
    found = nt.simulate(
        two_hosts(tmp_path),
        delays((0.0, 1)),
        policy,
        listed,
        batsim_latency=True,
        batsim_events=True,
    )
    # hello, hello, ready, the job, the first event, bye of the jobs, then the order of the start
    assert policy.dates("HostsUnavailable") == pytest.approx([5 * D])
    assert policy.heard("HostsUnavailable") == pytest.approx([6 * D])
    assert policy.dates("JobSubmitted") == pytest.approx([4 * D])
    assert dates(found) == [(7 * D, 10 + 7 * D)]
    assert policy.dates("SubmissionsEnded") == pytest.approx([6 * D])
    # the list was greeted at 2 D and its first date is heard of at 5 D: it sleeps 5 s - 2 D then
    assert policy.dates("HostsAvailable") == pytest.approx([5 + 4 * D])
    assert policy.dates("ExternalEventOccurred") == pytest.approx([5 + 4 * D])
    assert policy.dates("ExternalEventsEnded") == pytest.approx([5 + 5 * D])


def test_with_latency_the_run_ends_when_the_last_submitter_has_left(tmp_path: Path) -> None:
    listed = events(away(0.0, 1), back(50.0, 1))
    found = nt.simulate(
        two_hosts(tmp_path), delays((0.0, 1)), Told(start_all), listed, batsim_latency=True
    )
    assert found.end > 50.0


def test_with_latency_each_submitter_speaks_for_itself(tmp_path: Path) -> None:
    policy = Told(start_all)
    workload: Workload = delays((0.0, 1), (0.0, 1))
    found = nt.simulate(
        two_hosts(tmp_path),
        workload,
        policy,
        submitters=[[1], [0], []],
        batsim_latency=True,
        batsim_events=True,
    )
    # three hellos and ready, then a job of each; the third submitter has nothing to say but bye,
    # and the scheduler is asked when no letter waits
    assert policy.dates("JobSubmitted") == pytest.approx([5 * D, 6 * D])
    assert policy.dates("SubmissionsEnded") == pytest.approx([9 * D])
    assert found.record.start_time.min() > 6 * D


@pytest.mark.parametrize(
    ("submitters", "complaint"),
    [
        ([[0, 0]], "got job 0, expected each job of the workload once"),
        ([[0], ["x"]], "got job 'x', expected each job"),
        ([[]], "got none of job 0, expected one of each job"),
    ],
)
def test_submitters_must_share_out_the_jobs(
    submitters: list[list[int | str]], complaint: str
) -> None:
    with pytest.raises(InputError, match=f"submitters: {complaint}"):
        nt.simulate(platform(), delays((0.0, 1)), "fcfs", submitters=submitters)
