"""Schedules as logs in the Standard Workload Format: what happened, as if a machine had done it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from noctule.columns import Floats
from noctule.formats.swf import FIELDS
from noctule.formats.swf_writing import (
    SWF_VERSION,
    UNKNOWN,
    are_numbers,
    extra_name,
    header_lines,
    job_lines,
    numbered_labels,
)
from noctule.parts import Column, Parts, objects
from noctule.record import JobState
from noctule.workload import LABELS, Workload

if TYPE_CHECKING:
    from noctule.schedule import Schedule

_FAILED, _COMPLETED, _CANCELLED = 0, 1, 5
_STATUS = {
    JobState.COMPLETED: _COMPLETED,
    JobState.TIMED_OUT: _FAILED,
    JobState.FAILED: _FAILED,
    JobState.KILLED: _CANCELLED,
    JobState.REJECTED: _CANCELLED,
    JobState.CANCELLED: _CANCELLED,
}
# Fields that describe a job and not how it ran, so that a simulation does not change them.
_OF_THE_JOB = ("requested memory", "executable", "partition", "preceding job", "think time")


def schedule_swf_text(schedule: Schedule) -> Iterator[str]:
    """Yield what happened in a run as a log, in pieces: waits, run times, processors, status.

    Jobs are in order of submission. A job that was killed, cancelled or rejected has the status 5,
    one that failed or timed out 0, one that had not ended -1.
    """
    order = _by_submission(schedule)
    yield from header_lines(_schedule_headers(schedule))
    yield from job_lines([column[order] for column in _schedule_columns(schedule)])


def _schedule_columns(schedule: Schedule) -> list[Column]:
    record, n = schedule.record, len(schedule)
    started = ~np.isnan(record.start_time)
    walltime = schedule.column("walltime")
    status = np.full(n, UNKNOWN)
    for state, number in _STATUS.items():
        status[record.state == state] = number
    known: dict[str, Column] = {
        **{name: _recorded(schedule, name) for name in _OF_THE_JOB},
        **{name: _labels(schedule, name) for name in LABELS},
        "job number": schedule.column("job_id"),
        "submit time": _or_unknown(schedule.column("submit_time")),
        "wait time": _or_unknown(schedule.column("waiting_time")),
        "run time": _or_unknown(schedule.column("runtime")),
        "allocated processors": np.where(started, record.n_hosts.astype(np.int64), UNKNOWN),
        "requested processors": schedule.column("n_hosts").astype(np.int64),
        "requested time": np.where(np.isfinite(walltime), walltime, UNKNOWN),
        "status": status,
    }
    if not _are_unique(known["job number"]):
        known["job number"] = _numbers_by_submission(schedule)
        known["preceding job"] = known["think time"] = np.full(n, UNKNOWN)
    return [known.get(name, np.full(n, UNKNOWN)) for name in FIELDS]


def _are_unique(ids: Column) -> bool:
    return are_numbers(ids) and len(np.unique(ids)) == len(ids)


def _numbers_by_submission(schedule: Schedule) -> Column:
    numbers = np.empty(len(schedule), dtype=np.int64)
    numbers[_by_submission(schedule)] = np.arange(1, len(schedule) + 1)
    return numbers


def _by_submission(schedule: Schedule) -> Column:
    return np.lexsort((schedule.record.job, schedule.record.submit_time))


def _labels(schedule: Schedule, name: str) -> Column:
    columns = []
    for table in schedule.tables:
        labels = table.labels(name)
        if labels is None:
            labels = [None] * len(table)
        columns.append(objects(labels.tolist() if isinstance(labels, np.ndarray) else labels))
    joined = np.concatenate(columns)[schedule.record.job]
    return numbered_labels(objects([None if v == UNKNOWN else v for v in joined.tolist()]))[0]


def _recorded(schedule: Schedule, name: str) -> Column:
    columns = []
    for table in schedule.tables:
        parts = Parts.of(table) if isinstance(table, Workload) else None
        recorded = None if parts is None else parts.recorded(extra_name(name))
        columns.append(np.full(len(table), float(UNKNOWN)) if recorded is None else recorded)
    joined: Column = np.concatenate(columns)[schedule.record.job]
    return joined


def _schedule_headers(schedule: Schedule) -> dict[str, Any]:
    n_hosts = schedule.platform.n_hosts
    return {
        "Version": SWF_VERSION,
        "Computer": f"simulated, {n_hosts} hosts",
        "Conversion": f"noctule {metadata.version('noctule')}",
        "MaxJobs": len(schedule),
        "MaxRecords": len(schedule),
        "MaxNodes": n_hosts,
        "MaxProcs": n_hosts,
        "Note": "what a simulation gave; status 5 is killed, cancelled or rejected",
    }


def _or_unknown(values: Floats) -> Floats:
    return np.where(np.isnan(values), UNKNOWN, values)
