"""The columns of the jobs of a Schedule: how each of them is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.record import STATE_WORDS, Floats, JobsLike
from noctule.saved.text import HELD_NODE_SECONDS, RECORDED_SUBMIT_TIME

if TYPE_CHECKING:
    from noctule.schedule import Schedule


def _ids(schedule: Schedule) -> npt.NDArray[Any]:
    """Return numbers if all ids are, else all as text."""
    columns = [table.job_ids for table in schedule.tables]
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [np.array([str(i) for i in c.tolist()], dtype=object) for c in columns]
    return schedule.of_jobs(columns)


def _hosts(schedule: Schedule) -> npt.NDArray[Any]:
    record = schedule.record
    rows = range(len(record))
    return np.fromiter(map(record.hosts, rows), dtype=object, count=len(record))


def _labels(schedule: Schedule, name: str) -> npt.NDArray[Any]:
    return schedule.of_jobs([_labels_of(table, name) for table in schedule.tables])


def _labels_of(table: JobsLike, name: str) -> npt.NDArray[Any]:
    labels = table.labels(name)
    if labels is None:
        return np.full(len(table), None, dtype=object)
    if not isinstance(labels, np.ndarray):
        return np.array(labels, dtype=object)
    unknown = labels < 0
    if unknown.any():
        labels = labels.astype(object)
        labels[unknown] = None
    return labels


def _recorded(schedule: Schedule) -> Floats:
    """Return the recorded dates; those of jobs that no record has are not known."""
    known = schedule.recorded
    if known is None:
        return schedule.record.submit_time
    n_others = sum(map(len, schedule.tables)) - len(known)
    dates: Floats = np.concatenate([known, np.full(n_others, np.nan)])[schedule.record.job]
    return dates


def _held(schedule: Schedule) -> Floats:
    held = schedule.held
    return np.zeros(len(schedule)) if held is None else held[schedule.record.job]


def _workloads(schedule: Schedule) -> npt.NDArray[Any]:
    columns = [np.full(len(table), table.name, dtype=object) for table in schedule.tables]
    return schedule.of_jobs(columns)


def _stretch(schedule: Schedule) -> Floats:
    turnaround: Floats = schedule.column("turnaround_time")
    runtime: Floats = schedule.column("runtime")
    with np.errstate(divide="ignore", invalid="ignore"):
        return turnaround / runtime


def _energy(schedule: Schedule) -> Floats:
    energy = schedule.record.energy
    return energy if len(energy) else np.full(len(schedule), np.nan)


# stretch is Batsim's word for the slowdown; its files need it, `jobs` does not show it
MAKERS: Mapping[str, Callable[[Schedule], npt.NDArray[Any]]] = {
    "job_id": _ids,
    "workload": _workloads,
    "user": lambda s: _labels(s, "user"),
    "group": lambda s: _labels(s, "group"),
    "queue": lambda s: _labels(s, "queue"),
    "submit_time": lambda s: s.record.submit_time,
    "start_time": lambda s: s.record.start_time,
    "finish_time": lambda s: s.record.finish_time,
    "waiting_time": lambda s: s.record.start_time - s.record.submit_time,
    "turnaround_time": lambda s: s.record.finish_time - s.record.submit_time,
    "runtime": lambda s: s.record.finish_time - s.record.start_time,
    "walltime": lambda s: s.of_jobs([table.walltime for table in s.tables]),
    "n_hosts": lambda s: s.of_jobs([table.n_hosts for table in s.tables]),
    "hosts": _hosts,
    "state": lambda s: np.array(STATE_WORDS, dtype=object)[s.record.state],
    "energy": _energy,
    "stretch": _stretch,
    "useful_time": lambda s: s.record.useful_time,
    "suspended_time": lambda s: s.record.suspended_time,
    RECORDED_SUBMIT_TIME: _recorded,
    HELD_NODE_SECONDS: _held,
    "metadata": lambda s: np.array(s.record.metadata or [""] * len(s), dtype=object),
}
