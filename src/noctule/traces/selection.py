"""Parts of a trace: by dates, by jobs, by who submitted them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.columns import shown
from noctule.errors import InputError
from noctule.formats.headers import moved, noted, recounted
from noctule.parts import Column, Parts
from noctule.traces.reading import has_run
from noctule.workload import JobId, Label, Workload

Booleans = npt.NDArray[np.bool_]


def select(
    workload: Workload,
    *,
    start: float | None = None,
    end: float | None = None,
    positions: slice | None = None,
    jobs: Collection[JobId] | None = None,
    users: Collection[Label] | None = None,
    groups: Collection[Label] | None = None,
    queues: Collection[Label] | None = None,
    ran: bool = False,
    in_time: bool = False,
    exclude: bool = False,
) -> Workload:
    """Return the jobs that meet all that is asked, or with `exclude` all others.

    Ids and labels are compared as text, so that "3" finds user 3. Dates stay as they are, and
    dependencies on jobs that are left out are dropped.

    Args:
        workload: the jobs to choose from.
        start: first second of submission, in the time of the workload.
        end: first second that is too late.
        positions: positions in the order of submission, from 0.
        jobs: ids.
        users: users.
        groups: groups.
        queues: queues.
        ran: only jobs that a simulation can replay: they ran, on a known number of hosts.
        in_time: only jobs whose runtime is below their walltime.
        exclude: keep the jobs that are not asked for instead.
    """
    parts = Parts.of(workload)
    chosen = _submitted(parts, start, end) & _at(parts, positions) & _with_ids(parts, jobs)
    for name, wanted in (("user", users), ("group", groups), ("queue", queues)):
        chosen &= _labelled(parts, name, wanted)
    if ran:
        chosen &= has_run(parts)
    if in_time:
        parts.refuse_untimed()
        chosen &= parts.runtime < parts.walltime
    rows = np.flatnonzero(~chosen if exclude else chosen)
    if not len(rows):
        raise InputError(f"{parts.where}: none of the {len(parts)} jobs is chosen")
    headers = parts.about.headers or {}
    if len(rows) < len(parts):
        note = f"{len(rows)} of {len(parts)} jobs, chosen by noctule"
        headers = noted(recounted(headers, len(rows)), note)
    return parts.rows(rows).told(headers=headers).workload()


def from_zero(workload: Workload, *, time: float | None = None) -> Workload:
    """Return the workload with time 0 at its first submission, or at another time.

    The header UnixStartTime moves with it.
    """
    parts = Parts.of(workload)
    first = float(parts.submit_time.min(initial=np.inf)) if time is None else time
    if not np.isfinite(first) or first == 0:
        return workload
    if bool((parts.submit_time < first).any()):
        raise InputError(
            f"{parts.where}: time: got {shown(first)}, "
            "expected a number that is not after the first submission"
        )
    headers = moved(parts.about.headers or {}, first)
    changed = replace(
        parts,
        submit_time=parts.submit_time - first,
        cancel_time=np.maximum(parts.cancel_time - first, 0.0),
    )
    return changed.told(headers=headers).workload()


def _submitted(parts: Parts, start: float | None, end: float | None) -> Booleans:
    chosen = np.full(len(parts), True)
    if start is not None:
        chosen &= parts.submit_time >= start
    if end is not None:
        chosen &= parts.submit_time < end
    if start is not None and end is not None and not start < end:
        raise InputError(
            f"{parts.where}: end: got {shown(end)}, expected more than the start, {shown(start)}"
        )
    return chosen


def _at(parts: Parts, positions: slice | None) -> Booleans:
    if positions is None:
        return np.full(len(parts), True)
    chosen = np.full(len(parts), False)
    chosen[positions] = True
    return chosen


def _with_ids(parts: Parts, jobs: Collection[JobId] | None) -> Booleans:
    if jobs is None:
        return np.full(len(parts), True)
    return _among(parts.job_ids, {str(job_id) for job_id in jobs})


def _labelled(parts: Parts, name: str, wanted: Collection[Label] | None) -> Booleans:
    if wanted is None:
        return np.full(len(parts), True)
    column = _column(parts, name)
    return _among(column, {str(label) for label in wanted if label is not None})


def _column(parts: Parts, name: str) -> Column:
    labels: Mapping[str, Column] = parts.labels
    if name not in labels:
        raise InputError(f"{parts.where}: no {name} of any job is known")
    return labels[name]


def _among(column: Column, texts: set[str]) -> Booleans:
    """Tell which values, as text, are wanted; each different value is looked at once."""
    codes: dict[Any, bool] = {}
    values = column.tolist()
    for value in values:
        if value not in codes:
            codes[value] = str(value) in texts and value is not None
    return np.fromiter((codes[value] for value in values), bool, len(values))
