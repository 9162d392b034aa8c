"""Stretches of a trace of a given length, and how busy the machine was during them.

Windows slide over the trace. Those whose utilisation is in the range asked for are taken, the
busiest first and the earlier one at equal utilisation, as long as they do not overlap; so the same
trace always gives the same extracts. Poquet (2017, chapter 6) compares policies on such weeks.

Utilisation is what was recorded: host-seconds that jobs held in the window, by their recorded
starts, of those there are. Where no waits were recorded, there is only the load that was offered:
the host-seconds of the jobs submitted in the window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.formats.headers import moved, noted, recounted
from noctule.parts import Parts, Rows
from noctule.traces.reading import has_run
from noctule.workload import Workload

WEEK = 604_800.0
HOUR = 3600.0
_MAX_WINDOWS = 10_000_000
MEASURES = ("utilisation", "load")
AT_THE_START = ("drop", "continue")


@dataclass(frozen=True, slots=True)
class Extract:
    """A stretch of a trace: when it begins, how long it is, how busy, and the jobs submitted."""

    start: float
    length: float
    utilisation: float
    n_jobs: int


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def find_extracts(
    workload: Workload,
    n_hosts: int,
    *,
    length: float = WEEK,
    least: float = 0.0,
    most: float = math.inf,
    count: int | None = None,
    step: float = HOUR,
    measure: str = "utilisation",
) -> list[Extract]:
    """Return disjoint windows of a trace, by date.

    Args:
        workload: the trace.
        n_hosts: size of the machine.
        length: seconds in a window.
        least: smallest utilisation that is taken.
        most: largest utilisation that is taken.
        count: how many windows to return at most, the busiest of them.
        step: seconds from one candidate to the next; the first begins at the first submission.
        measure: "utilisation", by recorded starts, or "load", of what was submitted.
    """
    parts = Parts.of(workload)
    _check(parts, n_hosts, length, step, measure)
    first, last = float(parts.submit_time.min()), float(parts.submit_time.max())
    n_windows = math.floor((last - first - length) / step) + 1
    if n_windows < 1:
        raise InputError(
            f"{parts.where}: length: got {shown(length)}, "
            f"expected at most the {shown(last - first)} s from the first to the last submission"
        )
    if n_windows > _MAX_WINDOWS:
        raise InputError(
            f"{parts.where}: step: got {shown(step)}, "
            f"expected a longer one, for at most {_MAX_WINDOWS} windows"
        )
    starts: Floats = first + step * np.arange(n_windows, dtype=np.float64)
    held = _held(parts, starts, length) if measure == "utilisation" else None
    work = _submitted(parts, starts, length) if held is None else held
    utilisation = work / (n_hosts * length)
    chosen = _disjoint(starts, utilisation, length, (least, most), count)
    submit = parts.submit_time
    bounds = np.searchsorted(submit, [starts[chosen], starts[chosen] + length])
    return [
        Extract(float(starts[i]), length, float(utilisation[i]), int(end - begin))
        for i, begin, end in zip(chosen, *bounds.tolist(), strict=True)
    ]


def knows_waits(workload: Workload) -> bool:
    """Tell whether the trace says when jobs started."""
    return Parts.of(workload).recorded("wait_time") is not None


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def extract(
    workload: Workload, start: float, length: float, *, at_the_start: str = "drop"
) -> Workload:
    """Return a stretch of a trace, whose time 0 is its beginning.

    It holds the jobs submitted in it. Those submitted before it and not over when it begins are
    left out with "drop", so that it begins with an empty machine. With "continue" they are put in
    at time 0: first those that were running, in the order of their starts, with the runtime and
    the walltime that they had left, then those that were waiting; so the machine begins as full as
    it was. That needs recorded waits.
    """
    if at_the_start not in AT_THE_START:
        raise InputError(f"at_the_start: got {at_the_start!r}, expected 'drop' or 'continue'")
    if not (math.isfinite(length) and length > 0):
        raise InputError(f"length: got {shown(length)}, expected a positive number")
    parts = Parts.of(workload)
    inside = np.flatnonzero((parts.submit_time >= start) & (parts.submit_time < start + length))
    chosen = parts.rows(inside)
    if at_the_start == "continue":
        chosen = _with_present(parts, inside, start)
    if not len(chosen):
        raise InputError(f"{parts.where}: no job in the {shown(length)} s from {shown(start)} on")
    headers = recounted(moved(parts.about.headers or {}, start), len(chosen))
    note = f"{shown(length)} s from time {shown(start)} on, cut out by noctule"
    return (
        replace(
            chosen,
            submit_time=np.maximum(chosen.submit_time - start, 0.0),
            cancel_time=np.maximum(chosen.cancel_time - start, 0.0),
        )
        .told(headers=noted(headers, note))
        .workload()
    )


def _with_present(parts: Parts, inside: Rows, time: float) -> Parts:
    """Return the jobs of a stretch behind those that were running or waiting at its beginning."""
    parts.refuse_untimed()
    began, ended = _recorded_dates(parts)
    before = parts.submit_time < time
    running = np.flatnonzero(before & (began < time) & (ended > time))
    running = running[np.argsort(began[running], kind="stable")]
    waiting = np.flatnonzero(before & (began >= time))
    parts = parts.unnamed()
    gone = np.maximum(time - began[running], 0.0)
    amount, walltime, runtime = parts.amount.copy(), parts.walltime.copy(), parts.runtime
    left = ended[running] - time
    amount[running] *= left / runtime[running]
    # a job that had outlived its walltime may go on to its recorded end
    walltime[running] = np.where(
        walltime[running] > gone, np.maximum(walltime[running] - gone, left), left
    )
    wait = parts.recorded("wait_time")
    assert wait is not None
    wait[running] = 0.0
    wait[waiting] = began[waiting] - time
    changes: dict[str, Floats | None] = {"wait_time": wait}
    requested = parts.recorded("requested_time")
    if requested is not None:
        requested[running] = np.where(np.isfinite(walltime[running]), walltime[running], -1.0)
        changes["requested_time"] = requested
    recorded = parts.recorded("run_time")
    if recorded is not None:
        recorded[running] = left
        changes["run_time"] = recorded
    changed = replace(parts, amount=amount, walltime=walltime).with_extra(changes)
    return changed.rows(np.concatenate([running, waiting, inside]))


def _recorded_dates(parts: Parts) -> tuple[Floats, Floats]:
    """Return when jobs started and ended; NaN where that is not known."""
    wait = parts.recorded("wait_time")
    if wait is None:
        raise InputError(
            f"{parts.where}: no wait time of any job is known, so neither is when jobs started"
        )
    known = has_run(parts) & (wait >= 0)
    began = np.where(known, parts.submit_time + wait, math.nan)
    return began, began + parts.runtime


def _held(parts: Parts, starts: Floats, length: float) -> Floats:
    """Return the host-seconds that jobs held in each window."""
    began, ended = _recorded_dates(parts)
    known = ~np.isnan(began)
    hosts = parts.n_hosts[known].astype(float)
    dates = np.concatenate([began[known], ended[known]])
    changes = np.concatenate([hosts, -hosts])
    order = np.argsort(dates, kind="stable")
    dates, busy = dates[order], np.cumsum(changes[order])
    held = np.concatenate([[0.0], np.cumsum(busy[:-1] * np.diff(dates))])
    until: Floats = np.interp(starts + length, dates, held)
    before: Floats = np.interp(starts, dates, held)
    return until - before


def _submitted(parts: Parts, starts: Floats, length: float) -> Floats:
    """Return the host-seconds of the jobs submitted in each window."""
    area = np.where(has_run(parts), parts.n_hosts * parts.runtime, 0.0)
    until = np.concatenate([[0.0], np.cumsum(area)])
    first, end = np.searchsorted(parts.submit_time, [starts, starts + length])
    work: Floats = until[end] - until[first]
    return work


def _disjoint(
    starts: Floats,
    utilisation: Floats,
    length: float,
    wanted: tuple[float, float],
    count: int | None,
) -> list[int]:
    """Return the windows to take, in order of their dates."""
    least, most = wanted
    candidates = np.flatnonzero((utilisation >= least) & (utilisation <= most))
    order = candidates[np.argsort(-utilisation[candidates], kind="stable")]
    taken: list[int] = []
    free = np.full(len(starts), True)
    for i in order.tolist():
        if count is not None and len(taken) == count:
            break
        if free[i]:
            taken.append(i)
            free &= np.abs(starts - starts[i]) >= length
    return sorted(taken)


def _check(parts: Parts, n_hosts: int, length: float, step: float, measure: str) -> None:
    if measure not in MEASURES:
        raise InputError(f"measure: got {measure!r}, expected 'utilisation' or 'load'")
    for name, value in (("n_hosts", n_hosts), ("length", length), ("step", step)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name}: got {shown(value)}, expected a positive number")
    if not len(parts):
        raise InputError(f"{parts.where}: got no job, expected at least one")
    parts.refuse_untimed()
