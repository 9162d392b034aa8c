"""Workloads as logs in the Standard Workload Format.

Fields 4, 5, 8 and 9 say what the jobs of a workload do and ask for; recorded numbers are written
again where they agree with that. All other fields are as they were recorded, or -1. What the
format has no place for is told by `lost_in_swf`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from noctule.columns import Floats
from noctule.formats.headers import Headers, hosts_told
from noctule.formats.swf import FIELDS
from noctule.parts import Column, Parts, plain
from noctule.workload import LABELS, ReadingRule, Workload

UNKNOWN = -1
_ROWS_AT_ONCE = 20_000
_MAX_EXACT = 2.0**53
_KEY = re.compile(r"[A-Z][A-Za-z0-9]*")
SWF_VERSION = "2.2"
_STATUS_FAILED = 0


def swf_text(workload: Workload, *, speed: float | None = None) -> Iterator[str]:
    """Yield the text of a log, in pieces.

    `speed` is that of the hosts on which computations take their time; by default the speed for
    which the workload was made.
    """
    parts = Parts.of(workload)
    parts.refuse_untimed()
    columns = swf_columns(parts if speed is None else parts.at_speed(speed))
    yield from header_lines(_workload_headers(parts))
    yield from job_lines(columns)


def lost_in_swf(workload: Workload) -> list[ReadingRule]:
    """Return what the format has no place for, and how many jobs have it."""
    parts = Parts.of(workload)
    several = sum(len(wanted) > 1 for wanted in parts.dependencies.values())
    touched = {
        "id: text, written as a number": 0 if are_numbers(parts.job_ids) else len(parts),
        **{
            f"{name}: text, written as a number": _n_texts(column)
            for name, column in parts.labels.items()
        },
        "dependencies: more than one, the first is written": several,
        "cancel_time: not written": int(np.isfinite(parts.cancel_time).sum()),
        "launch_delay: not written": int((parts.launch_delay != 0).sum()),
        "epilogue_delay: not written": int((parts.epilogue_delay != 0).sum()),
    }
    return [ReadingRule(rule, n) for rule, n in touched.items() if n]


def swf_columns(parts: Parts) -> list[Column]:
    """Return the 18 columns of a log that tell of these jobs."""
    numbers, ids = _numbered_ids(parts)
    preceding, think_time = _preceding(parts, ids)
    requested, allocated = _processors(parts)
    status = parts.recorded("status")
    if status is None:
        status = np.where(parts.failing > 0, _STATUS_FAILED, UNKNOWN)
    known: dict[str, Column] = {
        "job number": numbers,
        "submit time": parts.submit_time,
        "run time": _run_times(parts),
        "allocated processors": allocated,
        "requested processors": requested,
        "requested time": _requested_times(parts),
        "status": status,
        "preceding job": preceding,
        "think time": think_time,
        **{name: numbered_labels(column)[0] for name, column in parts.labels.items()},
    }
    for name in FIELDS:
        if name not in known:
            column = None if name in LABELS else parts.recorded(extra_name(name))
            known[name] = _unknown(len(parts)) if column is None else column
    return [known[name] for name in FIELDS]


def _run_times(parts: Parts) -> Floats:
    runtime = parts.runtime
    recorded = parts.recorded("run_time")
    if recorded is None:
        return runtime
    never_ran = (recorded <= 0) & (runtime == 0)
    return np.where(never_ran, recorded, runtime)


def _processors(parts: Parts) -> tuple[Floats, Floats]:
    """Return requested and allocated processors, as recorded where one of them is the size."""
    n_hosts = parts.n_hosts.astype(float)
    requested = parts.recorded("requested_processors")
    allocated = parts.recorded("allocated_processors")
    if requested is None and allocated is None:
        return n_hosts, n_hosts
    requested = _unknown(len(parts)) if requested is None else requested
    allocated = _unknown(len(parts)) if allocated is None else allocated
    none_known = (requested <= 0) & (allocated <= 0) & (n_hosts == 1)
    agree = (requested == n_hosts) | (allocated == n_hosts) | none_known
    return np.where(agree, requested, n_hosts), np.where(agree, allocated, n_hosts)


def _requested_times(parts: Parts) -> Floats:
    walltime = np.where(np.isfinite(parts.walltime), parts.walltime, UNKNOWN)
    recorded = parts.recorded("requested_time")
    if recorded is None:
        return walltime
    none = (recorded <= 0) & (walltime == UNKNOWN)
    return np.where(none, recorded, walltime)


def _preceding(parts: Parts, ids: Mapping[Any, int]) -> tuple[Floats, Floats]:
    """Return preceding jobs and think times: of the dependencies, else as recorded."""
    preceding, think_time = parts.recorded("preceding_job"), parts.recorded("think_time")
    preceding = _unknown(len(parts)) if preceding is None else preceding.copy()
    think_time = _unknown(len(parts)) if think_time is None else think_time.copy()
    for row, wanted in parts.dependencies.items():
        number = ids[wanted[0].job_id]
        if preceding[row] != number:
            preceding[row], think_time[row] = number, wanted[0].think_time
    return preceding, think_time


def _numbered_ids(parts: Parts) -> tuple[Column, dict[Any, int]]:
    """Return the ids as numbers, and the number of each id; texts are numbered from 1."""
    ids = parts.job_ids
    numbers = ids if are_numbers(ids) else np.arange(1, len(ids) + 1)
    wanted = dict(zip(ids.tolist(), numbers.tolist(), strict=True)) if parts.dependencies else {}
    return numbers, wanted


def numbered_labels(column: Column) -> tuple[Column, dict[str, int]]:
    """Return labels as numbers; if one is a text, all are numbered from 1 as they appear."""
    if column.dtype.kind == "i":
        return column, {}
    values = column.tolist()
    if all(v is None or (isinstance(v, int) and 0 <= v <= _MAX_EXACT) for v in values):
        return np.array([UNKNOWN if value is None else value for value in values]), {}
    numbers: dict[str, int] = {}
    for value in values:
        if value is not None:
            numbers.setdefault(str(value), len(numbers) + 1)
    return np.array([UNKNOWN if v is None else numbers[str(v)] for v in values]), numbers


def _workload_headers(parts: Parts) -> dict[str, Any]:
    headers = dict(parts.about.headers or {})
    n_hosts = hosts_told(headers)
    headers.pop("nb_res", None)
    if n_hosts is not None and not {"MaxProcs", "MaxNodes"} & headers.keys():
        headers["MaxProcs"] = n_hosts
    for name, column in parts.labels.items():
        _, numbers = numbered_labels(column)
        if numbers:
            lines = (f"{number}  {text}" for text, number in numbers.items())
            headers[name.capitalize()] = "\n".join(lines)
    counts = {"MaxJobs": len(parts), "MaxRecords": len(parts)}
    return {"Version": SWF_VERSION, **headers, **counts}


def header_lines(headers: Headers) -> Iterator[str]:
    """Yield the headers; text without a key comes first, as it would else continue another."""
    for line in _header_text(headers.get("", "")).split("\n"):
        if line:
            yield _header_line(line)
    for name, value in headers.items():
        key, text = name, _header_text(value)
        if not _KEY.fullmatch(name):
            key, text = "Note", f"{name}: {text}"
        for line in text.split("\n") if name else ():
            yield _header_line(f"{key}: {line}")


def _header_line(text: str) -> str:
    # a NUL would make it a file that is no text
    return f"; {text}".replace("\0", "\\0").rstrip() + "\n"


def _header_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def job_lines(columns: Sequence[Column]) -> Iterator[str]:
    """Yield the lines of some jobs at a time; `columns` are those of FIELDS."""
    writers = [_writer(column) for column in columns]
    for first in range(0, len(columns[0]), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        texts = [write(column[rows]) for write, column in zip(writers, columns, strict=True)]
        yield "".join(f"{' '.join(fields)}\n" for fields in zip(*texts, strict=True))


def _writer(column: Column) -> Callable[[Column], list[str]]:
    if column.dtype.kind in "iu":
        return _whole_texts
    exact = (column == np.floor(column)) & (np.abs(column) <= _MAX_EXACT)
    return _whole_texts if bool(exact.all()) else _texts


def _whole_texts(column: Column) -> list[str]:
    return list(map(str, column.astype(np.int64).tolist()))


def _texts(column: Column) -> list[str]:
    return [str(plain(value)) for value in column.tolist()]


def are_numbers(ids: Column) -> bool:
    """Tell whether ids can be written as they are: whole numbers that are read exactly."""
    return ids.dtype.kind in "iu" and bool(((ids >= 0) & (ids <= int(_MAX_EXACT))).all())


def _n_texts(column: Column) -> int:
    return sum(value is not None for value in column.tolist()) if numbered_labels(column)[1] else 0


def extra_name(name: str) -> str:
    """Return the name in `Job.extra` of one of FIELDS."""
    return name.replace(" ", "_").lower()


def _unknown(n: int) -> Floats:
    return np.full(n, float(UNKNOWN))
