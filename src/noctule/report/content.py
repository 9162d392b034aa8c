"""The data of a page: what it says of all runs, and the packed columns of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from noctule.metrics import Window
from noctule.record import STATE_WORDS, Floats, has_ended
from noctule.report.grounds import ground_columns
from noctule.report.packing import PackedColumn, Packer, scale_of
from noctule.report.panel_data import capacity_columns, interval_columns, wait_columns
from noctule.report.runs import ReportRun, job_order
from noctule.report.shares import Shares
from noctule.schedule import Schedule
from noctule.timeseries import power, span_of

#: The format of the data, which the scripts of the page must know.
FORMAT = 1

#: What panels of the page need besides the columns: a function of all runs, by the panel's name.
PANELS: Mapping[str, Callable[[Sequence[ReportRun], Packer], Any]] = {
    "capacity": capacity_columns,
    "wait_intervals": interval_columns,
    "waits": wait_columns,
}


def content_of(
    runs: Sequence[ReportRun], packer: Packer, title: str, shares: Shares | None = None
) -> dict[str, Any]:
    """Return the data of a page, as JSON can hold it; the columns' texts go to the packer."""
    return {
        "format": FORMAT,
        "title": title,
        "version": metadata.version("noctule"),
        "states": STATE_WORDS,
        "shares": None if shares is None else {"by": shares.by, "of": dict(shares.of)},
        "runs": [_run(run, packer) for run in runs],
        "panels": {name: make(runs, packer) for name, make in PANELS.items()},
    }


def _run(run: ReportRun, packer: Packer) -> dict[str, Any]:
    schedule = run.schedule
    order = job_order(schedule)
    span = _span(schedule)
    return {
        "name": run.name,
        "n_hosts": schedule.platform.n_hosts,
        "n_jobs": len(schedule),
        "span": span,
        "notes": [*schedule.notes, *run.notes],
        "columns": _columns(run, order, packer),
        "grounds": ground_columns(run, Window(*span), packer),
        "power": _power(schedule, packer),
        "manifest": None if run.manifest is None else msgspec.to_builtins(run.manifest),
    }


def _span(schedule: Schedule) -> list[float]:
    """Return the dates between which something happened; jobs that still wait or run included."""
    first, last = span_of(schedule)
    ended = has_ended(schedule.record.state)
    return [first, last if ended.all() else max(last, schedule.end)]


def _columns(run: ReportRun, order: npt.NDArray[np.intp], packer: Packer) -> dict[str, Any]:
    schedule = run.schedule
    submit, start, finish, walltime = (
        np.asarray(schedule.column(name), dtype=np.float64)[order]
        for name in ("submit_time", "start_time", "finish_time", "walltime")
    )
    scale = scale_of(submit, start, finish)
    columns: dict[str, Any] = {
        "submit": packer.numbers(submit, scale=scale, delta=True),
        "start": packer.numbers(start, scale=scale, base=("submit", submit)),
        "finish": packer.numbers(finish, scale=scale, base=("start", start)),
        "walltime": packer.numbers(walltime, scale=scale_of(walltime)),
        "n_hosts": packer.integers(schedule.column("n_hosts")[order]),
        "held": packer.integers(schedule.record.n_hosts[order]),
        "state": packer.integers(schedule.record.state[order]),
        "job_id": _ids(schedule.column("job_id")[order], packer),
        "profile": packer.codes(_taken(schedule.profile_names(), order)),
    }
    for name, labels in run.labels.items():
        columns[name] = packer.codes(_taken(labels, order))
    if len(schedule.tables) > 1:
        columns["workload"] = packer.codes(schedule.column("workload")[order].tolist())
    if len(schedule.record.energy):
        joules = schedule.record.energy[order]
        columns["energy"] = packer.numbers(joules, scale=scale_of(joules))
    return columns | _host_columns(schedule, order, packer)


def _taken(values: Sequence[Any], order: npt.NDArray[np.intp]) -> list[Any]:
    return [values[row] for row in order.tolist()]


def _ids(ids: npt.NDArray[Any], packer: Packer) -> PackedColumn:
    if ids.dtype.kind in "iu" and (np.abs(ids.astype(np.float64)) < 2.0**53).all():
        return packer.integers(ids, delta=True)
    return packer.strings([str(job_id) for job_id in ids.tolist()])


def _host_columns(
    schedule: Schedule, order: npt.NDArray[np.intp], packer: Packer
) -> dict[str, PackedColumn]:
    """Pack the hosts of jobs: how many intervals each has, where they begin and how long they are.

    Begins are told from the end of the interval before.
    """
    hosts = schedule.record.hosts
    intervals = [hosts(row).intervals() for row in order.tolist()]
    counts = np.fromiter(map(len, intervals), dtype=np.int64, count=len(intervals))
    pairs = np.array([pair for some in intervals for pair in some], dtype=np.int64).reshape(-1, 2)
    sizes = pairs[:, 1] - pairs[:, 0] + 1
    gaps = pairs[:, 0] - np.concatenate([[0], pairs[:-1, 1]])[: len(pairs)]
    return {
        "intervals": packer.integers(counts),
        "interval_gap": packer.integers(gaps),
        "interval_size": packer.integers(sizes),
    }


def _power(schedule: Schedule, packer: Packer) -> dict[str, PackedColumn] | None:
    """Pack the watts of all hosts over time, where they were counted."""
    if not schedule.counts_energy:
        return None
    steps = power(schedule)
    return {"time": _plain(steps.time, packer), "value": _plain(steps.value, packer)}


def _plain(values: Floats, packer: Packer) -> PackedColumn:
    return packer.numbers(values, scale=scale_of(values))
