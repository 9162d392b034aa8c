"""Jobs and their requests as a table: a row a job, a column a field, nothing where it is default.

Lists are written with commas, resources as `gpu:tesla:2`, dependencies as `afterok:12 after:13:5`
(the last number is minutes). `-` in max_nodes means that there is no bound.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.gres import parse_gres
from noctule.slurm.conf.values import COUNTS
from noctule.slurm.jobs.requests import FIELDS, Requests, SlurmDependency
from noctule.units import shown

Row = Sequence[Any]


def table_text(columns: dict[str, Sequence[Any]]) -> Iterator[str]:
    """Yield the text of a table of columns; None is written as nothing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(row)
        if text.tell() > 2**20:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def read_table(text: str, source: str) -> dict[str, list[str]]:
    """Return the columns of a table, by their names."""
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(rows, [])
        columns: list[list[str]] = [[] for _ in header]
        for row in rows:
            if len(row) != len(header):
                raise InputError(
                    f"{source}: line {rows.line_num}: {len(row)} columns, expected {len(header)}"
                )
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    except csv.Error as error:
        raise InputError(f"{source}: line {rows.line_num}: {error}") from None
    return dict(zip(header, columns, strict=True))


def request_columns(requests: Requests) -> dict[str, list[str]]:
    """Return the columns that are not all default, as texts."""
    found = {}
    for name, column in requests.told.items():
        default, write = FIELDS[name], _WRITERS.get(name, _text)
        found[name] = ["" if value == default else write(value) for value in column]
    return found


def read_requests(columns: dict[str, list[str]], n_jobs: int, source: str) -> Requests:
    """Return the requests of a table; columns of other names are left alone."""
    found: dict[str, list[Any]] = {}
    for name, texts in columns.items():
        if name in FIELDS:
            found[name] = read_column(name, texts, FIELDS[name], _reader(name), source)
    return Requests(n_jobs, found)


def read_column(
    name: str, texts: Iterable[str], default: Any, read: Callable[[str], Any], source: str
) -> list[Any]:
    """Read a column; what is empty is the default."""
    found = []
    for line, text in enumerate(texts, start=2):
        try:
            found.append(default if text == "" else read(text))
        except (ValueError, InputError):
            raise InputError(
                f"{source}: line {line}: {name}: got {shown(text)}, expected what is written there"
            ) from None
    return found


def read_number(text: str) -> float:
    """Read a finite number, whole or not."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    return "-" if value is None else str(value)


def _listed(values: Iterable[Any]) -> str:
    return ",".join(map(str, values))


def _counted(values: Iterable[tuple[str, int]]) -> str:
    return ",".join(f"{name}:{count}" for name, count in values)


def _dependencies(values: Iterable[SlurmDependency]) -> str:
    return " ".join(f"{d.kind}:{d.job_id}" + (f":{d.minutes}" if d.minutes else "") for d in values)


def _read_dependencies(text: str) -> tuple[SlurmDependency, ...]:
    found = []
    for word in text.split():
        kind, job_id, *minutes = word.split(":")
        found.append(SlurmDependency(kind, job_id, int(minutes[0]) if minutes else 0))
    return tuple(found)


def _read_flag(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError
    return text == "yes"


def _read_bound(text: str) -> int | None:
    return None if text == "-" else int(text)


def _reader(name: str) -> Callable[[str], Any]:
    default = FIELDS[name]
    if name in _READERS:
        return _READERS[name]
    if isinstance(default, bool):
        return _read_flag
    if isinstance(default, int):
        return int
    return read_number if isinstance(default, float) else str


_WRITERS: dict[str, Callable[[Any], str]] = {
    "partitions": _listed,
    "gres_per_node": _listed,
    "gres_per_job": _listed,
    "gres_per_task": _listed,
    "licenses": _counted,
    "dependencies": _dependencies,
}
_READERS: dict[str, Callable[[str], Any]] = {
    "partitions": lambda text: tuple(text.split(",")),
    "max_nodes": _read_bound,
    "memory_mb": int,
    "limit": int,
    "priority": int,
    "begin": read_number,
    "deadline": read_number,
    "release": read_number,
    "started": read_number,
    "requeue": _read_flag,
    "licenses": COUNTS.read,
    "dependencies": _read_dependencies,
    **dict.fromkeys(
        ("gres_per_node", "gres_per_job", "gres_per_task"), lambda text: parse_gres(text, "")
    ),
}
