"""What panels of a page need besides its columns: waits by cause, and what hosts did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from noctule.capacity import PARTS, Capacity, capacity
from noctule.report.packing import PackedColumn, Packer, scale_of
from noctule.report.runs import ReportRun, job_order
from noctule.waits import wait_intervals, wait_totals

# Seconds are told to the microsecond, as dates are in files.
_DIGITS = 6


def wait_columns(runs: Sequence[ReportRun], packer: Packer) -> list[list[Any]]:
    """Pack the seconds of each job for each cause that any job of its run had."""
    return [_waits(run, packer) for run in runs]


def _waits(run: ReportRun, packer: Packer) -> list[Any]:
    totals = wait_totals(run.schedule, windows=run.windows, workload=run.workload)
    order = job_order(run.schedule)
    found = []
    for cause in totals.causes:
        seconds = np.round(totals.of(cause)[order], _DIGITS)
        if seconds.any():
            found.append([cause.value, packer.numbers(seconds, scale=scale_of(seconds))])
    return found


def interval_columns(runs: Sequence[ReportRun], packer: Packer) -> list[dict[str, Any] | None]:
    """Pack the intervals of all waits; None of runs that have too many."""
    return [_intervals(run, packer) for run in runs]


def _intervals(run: ReportRun, packer: Packer) -> dict[str, Any] | None:
    found = wait_intervals(run.schedule, windows=run.windows, workload=run.workload)
    if found is None:
        return None
    place = np.empty(len(run.schedule), dtype=np.intp)
    place[job_order(run.schedule)] = np.arange(len(run.schedule))
    scale = scale_of(found.begin, found.end)
    return {
        "causes": [cause.value for cause in found.causes],
        "row": packer.integers(place[found.row], delta=True),
        "begin": packer.numbers(found.begin, scale=scale, delta=scale is not None),
        "end": packer.numbers(found.end, scale=scale, delta=scale is not None),
        "cause": packer.integers(found.cause),
    }


def capacity_columns(
    runs: Sequence[ReportRun], packer: Packer
) -> list[dict[str, dict[str, PackedColumn]]]:
    """Pack how many hosts were what over time, but for busy ones: they are the rest."""
    return [
        _parts(capacity(run.schedule, windows=run.windows, workload=run.workload), packer)
        for run in runs
    ]


def _parts(found: Capacity, packer: Packer) -> dict[str, dict[str, PackedColumn]]:
    packed = {}
    for k, name in enumerate(part.name for part in PARTS):
        hosts = found.hosts[:, k].astype(np.int64)
        changes = np.flatnonzero(np.diff(hosts, prepend=np.int64(0)))
        if name != "busy" and len(changes):
            time = found.time[changes]
            packed[name] = {
                "time": packer.numbers(time, scale=scale_of(time), delta=True),
                "value": packer.integers(hosts[changes]),
            }
    return packed
