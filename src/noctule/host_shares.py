"""Which part of its hosts a job had: all of them, unless it shared some with other jobs."""

from __future__ import annotations

import numpy as np

from noctule.record import Floats
from noctule.schedule import Schedule
from noctule.timeseries import steps_of


def parts_of_hosts(schedule: Schedule) -> Floats:
    """Return the part of its hosts' time that each job had, from 0 to 1.

    While jobs share a host, each has an equal part of it.
    """
    parts = np.ones(len(schedule))
    if not _may_be_shared(schedule):
        return parts
    record = schedule.record
    finish = np.where(np.isnan(record.finish_time), schedule.end, record.finish_time)
    for row, seconds in _seconds_had(schedule, finish).items():
        parts[row] = seconds / ((finish[row] - record.start_time[row]) * len(record.hosts(row)))
    return parts


def _may_be_shared(schedule: Schedule) -> bool:
    """Tell whether jobs held more hosts than were computing; rounded dates may look so, too."""
    record = schedule.record
    held = steps_of(record.start_time, record.finish_time, record.n_hosts)
    time = record.host_state_time
    last = np.append(np.diff(time) > 0, True)[: len(time)]
    return bool((held.at(time[last]) > record.host_state_computing[last]).any())


def _seconds_had(schedule: Schedule, finish: Floats) -> dict[int, float]:
    """Return the host-seconds that each job had, those that it shared by equal parts."""
    record = schedule.record
    changes: dict[int, list[tuple[float, int, int]]] = {}
    with np.errstate(invalid="ignore"):
        ran = np.flatnonzero(finish > record.start_time).tolist()
    for row in ran:
        for host in record.hosts(row):
            mine = changes.setdefault(host, [])
            mine += [(float(record.start_time[row]), 1, row), (float(finish[row]), -1, row)]
    seconds: dict[int, float] = {}
    for of_host in changes.values():
        had = now = 0.0  # had: what a job would have by now that was there all the time
        n_jobs = 0
        for date, change, row in sorted(of_host):
            had += (date - now) / max(n_jobs, 1)
            now = date
            n_jobs += change
            seconds[row] = seconds.get(row, 0.0) - change * had
    return seconds
