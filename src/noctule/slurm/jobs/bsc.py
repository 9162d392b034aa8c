"""Traces of BSC's Slurm simulator: records of a C structure, or lines between semicolons (.sim).

A record of 2256 bytes: number, user, submission, duration, limit in minutes, tasks, QOS, partition,
account, CPUs a task, tasks a node, reservation, dependency, and the file of a workflow; older ones
of 1224 bytes lack the last. A line of a .sim file: `id;user;submission;duration;limit;nodes;
partition;account;CPUs a task;tasks a node`.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.requests import Request, Requests, parse_dependencies
from noctule.slurm.jobs.sources import SiteJobs
from noctule.units import shown

_HEAD = "<i30s6xqiii30s30s30s2xii30s1024s2x8x"
_RECORDS = (struct.Struct(_HEAD + "1024s8x"), struct.Struct(_HEAD))
_NAMES = (
    "id user submit duration limit tasks qos partition account cpus_per_task tasks_per_node "
    "reservation dependency"
)
_LINE_NAMES = "id user submit duration limit nodes partition account cpus_per_task tasks_per_node"


def is_bsc_trace(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a trace of BSC: by the ending of its name, or by its records."""
    name = os.fspath(path).lower()
    if name.endswith((".sim", ".sim.gz", ".sim.xz")):
        return True
    data = read_bytes(path)
    return b"\0" in data[:64]


def read_bsc(path: str | os.PathLike[str], report: ImportReport) -> SiteJobs:
    """Read a trace of either form; dates are those of the trace."""
    data = read_bytes(path)
    source = os.fspath(path)
    if not data:
        raise InputError(f"{source}: empty file, expected a trace of BSC's simulator")
    rows = _records(data, source) if b"\0" in data[:64] else _lines(data, source, report)
    jobs = sorted(rows, key=lambda row: row["submit"])
    report.n_rows += len(jobs)
    for row in jobs:
        _check(row, source)
    return SiteJobs(
        ids=_own_ids(jobs),
        submit=[float(row["submit"] - jobs[0]["submit"]) for row in jobs] if jobs else [],
        runtime=[float(row["duration"]) for row in jobs],
        cancel=[math.inf] * len(jobs),
        fails=[False] * len(jobs),
        requests=Requests.of(_request(row, source) for row in jobs),
        origin=int(jobs[0]["submit"]) if jobs else 0,
    )


def _records(data: bytes, source: str) -> Iterator[dict[str, Any]]:
    record = next((found for found in _RECORDS if len(data) % found.size == 0), None)
    if record is None:
        sizes = " or ".join(str(found.size) for found in _RECORDS)
        raise InputError(f"{source}: {len(data)} bytes, expected records of {sizes}")
    for number, values in enumerate(record.iter_unpack(data)):
        row = dict(zip(_NAMES.split(), values, strict=False))
        yield {"where": f"record {number}"} | {
            name: _text(value) if isinstance(value, bytes) else value for name, value in row.items()
        }


def _text(value: bytes) -> str:
    return value.partition(b"\0")[0].decode(errors="replace").strip()


def _lines(data: bytes, source: str, report: ImportReport) -> Iterator[dict[str, Any]]:
    names = _LINE_NAMES.split()
    for number, line in enumerate(data.decode(errors="replace").split("\n"), start=1):
        values = [value.strip() for value in line.strip().rstrip(";").split(";")]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(values) < len(names):
            report.drop("cut off: too few columns", source, number)
            continue
        row: dict[str, Any] = dict(zip(names, values, strict=False)) | {"where": f"line {number}"}
        for name in names:
            if name not in ("user", "partition", "account"):
                row[name] = _number(row[name], f"{source}: line {number}: {name}")
        yield row


def _number(text: str, where: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{where}: got {shown(text)}, expected a whole number") from None


def _check(row: Mapping[str, Any], source: str) -> None:
    for name in ("submit", "duration"):
        if not 0 <= row[name] < 2**53:
            raise InputError(
                f"{source}: {row['where']}: {name}: got {row[name]}, expected a number >= 0"
            )


def _own_ids(jobs: list[dict[str, Any]]) -> list[str]:
    """Return the numbers of the trace, or of the order where they are not unique."""
    ids = [str(row["id"]) for row in jobs]
    return ids if len(set(ids)) == len(ids) else [str(i + 1) for i in range(len(ids))]


def _request(row: Mapping[str, Any], source: str) -> Request:
    where = f"{source}: {row['where']}"
    per_node, per_task = max(0, row["tasks_per_node"]), max(1, row["cpus_per_task"])
    nodes = row.get("nodes")
    if nodes is None:
        tasks = max(1, row["tasks"])
        nodes = -(-tasks // per_node) if per_node else 1
        most = 0 if per_node else None
    else:
        nodes, most = max(1, nodes), 0
        tasks = nodes * max(1, per_node)
    text = row.get("dependency", "")
    dependencies, is_any = parse_dependencies(text, where) if text else ((), False)
    return Request(
        partitions=tuple(filter(None, row["partition"].split(","))),
        min_nodes=nodes,
        max_nodes=most,
        tasks=tasks,
        tasks_per_node=per_node,
        cpus_per_task=per_task,
        cpus=tasks * per_task,
        limit=row["limit"] if row["limit"] > 0 else None,
        user=row["user"],
        account=row["account"],
        qos=row.get("qos", ""),
        reservation=row.get("reservation", ""),
        dependencies=dependencies,
        any_dependency=is_any,
    )
