"""What a schedule breaks where hosts come and go: events from outside, and windows of time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from noctule.external_events import ExternalEvents
from noctule.record import is_attempt
from noctule.testing.observed import Observed, Violation, seconds
from noctule.windows import AnyWindow, Maintenance, Reservation, Windows
from noctule.workload import Workload

if TYPE_CHECKING:
    from noctule.schedule import Schedule

_ENDS = {"failed": "restored", "unavailable": "available"}


def broken_by_events(
    schedule: Schedule, jobs: Observed, events: ExternalEvents
) -> Iterator[Violation]:
    """Check that no job runs on a failed host, nor starts on one that is away."""
    for what, host, since, until in _absences(events):
        for i in _jobs_on(schedule, jobs, host):
            start, finish = jobs.start_time[i], jobs.finish_time[i]
            if since <= start < until:
                message = (
                    f"started at {seconds(start)} on host {host}, {what} since {seconds(since)}"
                )
                yield _violation(f"started on a host that is {what}", jobs, i, start, message)
            elif what == "failed" and start < since < finish:
                message = f"ran until {seconds(finish)} on host {host}, failed at {seconds(since)}"
                yield _violation("ran on a failed host", jobs, i, finish, message)


def broken_by_windows(schedule: Schedule, jobs: Observed, windows: Windows) -> Iterator[Violation]:
    """Check that jobs keep off windows that were announced, and inside their reservations."""
    table = schedule.tables[0]
    own: dict[str, int] = {}
    if isinstance(table, Workload):
        numbers = windows.reservations_of(table)
        ids = map(str, table.job_ids.tolist())
        own = dict(zip(ids, numbers, strict=True)) if numbers else {}
    for number, window in enumerate(windows):
        assert not isinstance(window.hosts, int), "windows that have no hosts yet"
        for i, job_id in enumerate(jobs.job_id):
            if not math.isfinite(jobs.start_time[i]):
                continue
            first = str(job_id).rpartition("#")[0] if is_attempt(job_id) else str(job_id)
            held = set(schedule.record.hosts(int(jobs.row[i])))
            if own.get(first) == number:
                yield from _outside(jobs, i, held, window)
            elif held & set(window.hosts):
                yield from _inside(jobs, i, window)


def _outside(jobs: Observed, i: int, held: set[int], window: AnyWindow) -> Iterator[Violation]:
    assert isinstance(window, Reservation)
    assert not isinstance(window.hosts, int)
    start = jobs.start_time[i]
    limit = start + jobs.walltime[i]
    if not held <= set(window.hosts) or start < window.start or limit > window.end:
        message = f"started at {seconds(start)}, expected it inside {window.name}"
        yield _violation("ran outside its reservation", jobs, i, start, message)


def _inside(jobs: Observed, i: int, window: AnyWindow) -> Iterator[Violation]:
    start, finish = jobs.start_time[i], jobs.finish_time[i]
    limit = start + jobs.walltime[i]
    if window.start <= start < window.end:
        message = f"started at {seconds(start)} inside {window.name}"
        yield _violation("started inside a window", jobs, i, start, message)
    elif window.announced <= start < window.start < limit:
        message = (
            f"started at {seconds(start)} with a walltime until {seconds(limit)}, though "
            f"{window.name} begins at {seconds(window.start)}"
        )
        yield _violation("started into a window", jobs, i, start, message)
    kills = isinstance(window, Maintenance) and window.kills
    if kills and start < window.start < finish:
        message = f"ran until {seconds(finish)}, expected its end when {window.name} begins"
        yield _violation("survived a maintenance", jobs, i, finish, message)


def _absences(events: ExternalEvents) -> Iterator[tuple[str, int, float, float]]:
    """Yield (what, host, from, to) of hosts that are away."""
    since: dict[tuple[str, int], float] = {}
    for event in events:
        for host in event.hosts or ():
            if event.kind in _ENDS:
                since[event.kind, host] = event.time
            for what, end in _ENDS.items():
                if event.kind == end:
                    yield what, host, since.pop((what, host)), event.time
    for (what, host), date in since.items():
        yield what, host, date, math.inf


def _jobs_on(schedule: Schedule, jobs: Observed, host: int) -> Iterator[int]:
    for i in range(len(jobs)):
        if math.isfinite(jobs.start_time[i]):
            hosts = schedule.record.hosts(int(jobs.row[i]))
            if host in hosts:
                yield i


def _violation(rule: str, jobs: Observed, i: int, time: float, message: str) -> Violation:
    return Violation(rule, jobs.job_id[i], float(time), f"job {jobs.job_id[i]}: {message}")
