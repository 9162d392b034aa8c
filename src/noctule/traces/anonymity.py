"""Traces that can be given away: who, what and where are numbers that mean nothing.

Users, groups and executables are numbered from 1, as they appear or in an order drawn from a seed;
so are jobs, by submission. Queues keep their numbers, which have a meaning, but lose their names.
Fields and headers that hold text are dropped. Dates, sizes, times and memory stay: whoever knows
a job well can still find it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from noctule.formats.headers import Headers
from noctule.formats.swf import FIELDS
from noctule.parts import Column, Parts
from noctule.workload import Workload

_UNKNOWN = -1
_KEPT_HEADERS = (
    "Version",
    "MaxJobs",
    "MaxRecords",
    "Preemption",
    "UnixStartTime",
    "TimeZone",
    "TimeZoneString",
    "MaxNodes",
    "MaxProcs",
    "MaxRuntime",
    "MaxMemory",
    "AllowOveruse",
    "MaxQueues",
    "MaxPartitions",
    "nb_res",
)
_DATES = ("UnixStartTime", "TimeZone", "TimeZoneString")
# Recorded fields of a log; they are numbers, and all but the first mean the same for everybody.
_EXECUTABLE = "executable"
_RECORDED = frozenset(name.replace(" ", "_").lower() for name in FIELDS)


def anonymise(workload: Workload, *, seed: int | None = None, keep_dates: bool = True) -> Workload:
    """Return the workload without names.

    Args:
        workload: the trace.
        seed: numbers are drawn from it; without one they are given as users and so on appear.
        keep_dates: keep the headers that tell which date time 0 is.
    """
    parts = Parts.of(workload)
    parts.refuse_untimed()
    rng = None if seed is None else np.random.default_rng(seed)
    labels = {}
    for name in sorted(parts.labels):
        column = parts.labels[name]
        is_queue = name == "queue" and column.dtype.kind == "i"
        labels[name] = column if is_queue else _renumbered(column, rng)
    anonymous = replace(_without_text(parts, rng).unnamed(), labels=labels)
    numbers = np.arange(1, len(parts) + 1)
    if rng is not None:
        numbers = rng.permutation(numbers)
    headers = _headers(parts.about.headers or {}, keep_dates=keep_dates)
    told = anonymous.with_ids(numbers).told(headers=headers, name="w0", source=None, reading=())
    return told.workload()


def _renumbered(column: Column, rng: np.random.Generator | None) -> Column:
    """Number labels from 1 as they appear, or in an order that is drawn; -1 is not known."""
    number: dict[Any, int] = {}
    values = column.tolist()
    codes = [_UNKNOWN] * len(values)
    for i, value in enumerate(values):
        if value is not None and value != _UNKNOWN:
            codes[i] = number.setdefault(value, len(number))
    drawn = np.arange(len(number)) if rng is None else rng.permutation(len(number))
    new = np.append(drawn + 1, _UNKNOWN)
    renumbered: Column = new[np.array(codes, dtype=np.int64)]
    return renumbered


def _without_text(parts: Parts, rng: np.random.Generator | None) -> Parts:
    """Return the jobs with the recorded numbers of a log alone, executables renumbered."""
    recorded: dict[str, Column] = {}
    for name in sorted(_RECORDED):
        column = parts.recorded(name)
        if column is not None:
            is_name = name == _EXECUTABLE
            recorded[name] = _renumbered(column, rng) if is_name else column
    known: dict[str, Column] = {}
    if isinstance(parts.extra, Mapping):
        known = {name: recorded[name] for name in parts.extra if name in recorded}
    else:
        known = recorded
    return replace(parts, extra={}).with_extra(known)


def _headers(headers: Headers, *, keep_dates: bool) -> dict[str, Any]:
    kept = {
        name: headers[name]
        for name in _KEPT_HEADERS
        if name in headers and (keep_dates or name not in _DATES)
    }
    return {**kept, "Note": "made anonymous by noctule"}
