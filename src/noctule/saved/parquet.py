"""A schedule as two Parquet files, jobs.parquet and host_states.parquet: nothing is rounded.

The columns of jobs.parquet are those of `Schedule.jobs`, and `profile`, `slowdown` and, where a
file of Batsim has told it otherwise, `consumed_energy`. Dates that never came are null. What is
about the whole schedule stands in the metadata of the file, under the key `noctule`, as JSON.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.record import (
    HOST_STATE_FIELDS,
    STATE_WORDS,
    Counts,
    Floats,
    RecordLike,
    host_state_columns,
)
from noctule.saved.reading import JobFile
from noctule.saved.text import JobColumns, Totals

PARQUET_JOBS_FILE = "jobs.parquet"
PARQUET_HOST_STATES_FILE = "host_states.parquet"
PARQUET_FILES = (PARQUET_JOBS_FILE, PARQUET_HOST_STATES_FILE)
PARQUET_FORMAT = 1

# Makes a HostSet of a text such as "0-3 7".
ParseHosts = Callable[[str], Any]

# our columns: the field of JobColumns
_NUMBERS = {
    "submit_time": "submit_time",
    "start_time": "start_time",
    "finish_time": "finish_time",
    "waiting_time": "waiting_time",
    "turnaround_time": "turnaround_time",
    "runtime": "runtime",
    "walltime": "walltime",
    "slowdown": "stretch",
}
# columns that only some runs have
_FEW = ("useful_time", "suspended_time", "recorded_submit_time", "held_node_seconds")
_COLUMNS = (
    *("job_id", "workload", "user"),
    *(name for name in _NUMBERS if name != "slowdown"),
    *("n_hosts", "hosts", "state", "energy", "profile", "slowdown", "consumed_energy"),
    *("metadata", *_FEW),
)
_LABEL_KINDS = ("none", "int", "text", "json")
_KEY = b"noctule"


@dataclass(frozen=True, slots=True)
class ParquetSchedule:
    """What goes into the files, and comes out of them.

    `consumed_energy` is what a file of Batsim has printed, `totals` are those of a schedule.csv:
    both must be kept to the digit.
    """

    n_hosts: int
    columns: JobColumns
    users: Sequence[Any]
    record: RecordLike
    consumed_energy: Floats | None = None
    totals: Totals | None = None


@dataclass(frozen=True, slots=True)
class ParquetContent:
    """What the files of a folder said."""

    n_hosts: int
    file: JobFile
    host_states: Mapping[str, Counts | Floats]
    totals: Totals | None


def write_parquet(folder: Path, schedule: ParquetSchedule) -> None:
    """Write both files into a folder that is there."""
    pa, parquet = require_pyarrow()
    ids, id_kind = _label_column(pa, schedule.columns.job_id)
    users, user_kind = _label_column(pa, schedule.users)
    about = {
        "format": PARQUET_FORMAT,
        "n_hosts": schedule.n_hosts,
        "job_id": id_kind,
        "user": user_kind,
        "totals": schedule.totals if schedule.totals is None else dict(schedule.totals),
    }
    arrays = {"job_id": ids, "user": users} | _job_arrays(pa, schedule)
    table = pa.table({name: arrays[name] for name in _COLUMNS if name in arrays})
    table = table.replace_schema_metadata({_KEY: json.dumps(about)})
    states = pa.table(host_state_columns(schedule.record))
    try:
        parquet.write_table(table, folder / PARQUET_JOBS_FILE, compression="zstd")
        parquet.write_table(states, folder / PARQUET_HOST_STATES_FILE, compression="zstd")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error


def read_parquet(folder: Path, parse: ParseHosts) -> ParquetContent:
    """Read what `write_parquet` wrote; `parse` makes hosts of a text."""
    for name in PARQUET_FILES:
        if not (folder / name).is_file():
            expected = ", ".join(PARQUET_FILES)
            raise InputError(f"{folder}: no file {name}, expected a folder with {expected}")
    n_hosts, file, totals = read_jobs_parquet(folder / PARQUET_JOBS_FILE, parse)
    states = ParquetTable(folder / PARQUET_HOST_STATES_FILE)
    host_states: dict[str, Counts | Floats] = {"host_state_time": states.numbers("time")}
    for field, name in HOST_STATE_FIELDS.items():
        if name in ("n_idle", "n_computing") or (name != "time" and states.has(name)):
            host_states[field] = states.counts(name)
    return ParquetContent(n_hosts, file, host_states, totals)


def read_jobs_parquet(path: Path, parse: ParseHosts) -> tuple[int, JobFile, Totals | None]:
    """Read jobs.parquet alone: the number of hosts, the jobs, and the totals of a schedule.csv."""
    jobs = ParquetTable(path)
    about = jobs.about()
    columns = _job_columns(jobs, about["job_id"])
    users = None if about["user"] == "none" else _labels(jobs, "user", about["user"])
    return about["n_hosts"], JobFile(columns, _hosts(jobs, parse), users), about["totals"]


def _job_arrays(pa: ModuleType, schedule: ParquetSchedule) -> dict[str, Any]:
    columns = schedule.columns
    numbers = {
        name: pa.array(values, mask=np.isnan(values))
        for name, values in ((name, getattr(columns, field)) for name, field in _NUMBERS.items())
    }
    words = np.array(STATE_WORDS, dtype=object)[columns.state].tolist()
    arrays = numbers | {
        "workload": _dictionary(pa, columns.workload),
        "n_hosts": pa.array(columns.n_hosts),
        "hosts": _host_array(pa, schedule),
        "state": _dictionary(pa, words),
        "profile": pa.array(list(columns.profile), pa.string()),
    }
    energy = schedule.record.energy
    arrays["energy"] = (
        pa.array(energy, mask=np.isnan(energy))
        if len(energy)
        else pa.nulls(len(columns), pa.float64())
    )
    if schedule.consumed_energy is not None:
        arrays["consumed_energy"] = pa.array(schedule.consumed_energy)
    if len(columns.metadata):
        arrays["metadata"] = pa.array(list(columns.metadata), pa.string())
    for name in _FEW:
        values = getattr(columns, name)
        if values is not None:
            arrays[name] = pa.array(values, mask=np.isnan(values))
    return arrays


def _host_array(pa: ModuleType, schedule: ParquetSchedule) -> Any:
    """Return the hosts as text; null for a job that held some, but which is not known."""
    texts = schedule.record.hosts_text(0, len(schedule.columns))
    held = ~np.isnan(schedule.columns.start_time) & (schedule.record.n_hosts > 0)
    shown = [text if text or not some else None for text, some in zip(texts, held, strict=True)]
    return pa.array(shown, pa.string())


def _dictionary(pa: ModuleType, values: Sequence[str]) -> Any:
    return pa.array(list(values), pa.string()).dictionary_encode()


def _label_column(pa: ModuleType, labels: Sequence[Any] | npt.NDArray[Any]) -> tuple[Any, str]:
    """Return ids or users as numbers or as texts, as JSON texts if there are both; and which."""
    values = [label.item() if isinstance(label, np.generic) else label for label in labels]
    kinds = {type(label) for label in values if label is not None}
    if not kinds:
        return pa.nulls(len(values), pa.string()), "none"
    if kinds == {int}:
        return pa.array(values, pa.int64()), "int"
    if kinds == {str}:
        return pa.array(values, pa.string()), "text"
    texts = [None if label is None else json.dumps(label) for label in values]
    return pa.array(texts, pa.string()), "json"


class ParquetTable:
    """A Parquet file whose columns are checked when they are taken."""

    def __init__(self, path: Path) -> None:
        pa, parquet = require_pyarrow()
        self.path = path
        try:
            # not by its path: a file called a=1/jobs.parquet would get a column a
            with path.open("rb") as file:
                self._table = parquet.read_table(file)
            # names and texts of a damaged file may be no text, its dictionaries too short
            self._table.validate(full=True)
            self._names: list[str] = self._table.column_names
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: not a Parquet file: {_first_line(error)}") from None
        self._types = pa.types

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def about(self) -> dict[str, Any]:
        """Return what the metadata say of the whole schedule."""
        text = self.metadata()
        expected = f"those of format {PARQUET_FORMAT} of Noctule"
        if text is None:
            raise InputError(f"{self.path}: metadata: none, expected {expected}")
        try:
            about: dict[str, Any] = json.loads(text)
            good = about["format"] == PARQUET_FORMAT and _is_count(about["n_hosts"])
            good = good and {about["job_id"], about["user"]} <= set(_LABEL_KINDS)
            good = good and _are_totals(about["totals"])
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            raise InputError(f"{self.path}: metadata: got {text!r}, expected {expected}")
        return about

    def metadata(self) -> str | None:
        """Return what the metadata say, as text."""
        text: bytes | None = (self._table.schema.metadata or {}).get(_KEY)
        return None if text is None else text.decode(errors="replace")

    def column(self, name: str, expected: str, tests: Sequence[str]) -> Any:
        """Return a column that is of one of some types."""
        if name not in self._names:
            known = ", ".join(self._names)
            raise InputError(f"{self.path}: no column {name}, got {known}")
        column = self._table.column(name)
        kind = column.type.value_type if self._types.is_dictionary(column.type) else column.type
        if not any(getattr(self._types, test)(kind) for test in tests):
            raise InputError(f"{self.path}: {name}: got {column.type}, expected {expected}")
        return column

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers, NaN where they are null."""
        column = self.column(name, "double", ["is_float64"])
        return np.array(column.to_numpy(zero_copy_only=False), dtype=np.float64)

    def counts(self, name: str) -> Counts:
        """Return a column of whole numbers."""
        column = self.column(name, "uint32", ["is_uint32"])
        self.demand_all(name, column)
        return np.array(column.to_numpy(zero_copy_only=False), dtype=np.uint32)

    def signed(self, name: str) -> npt.NDArray[np.int32]:
        """Return a column of whole numbers that may be below zero."""
        column = self.column(name, "int32", ["is_int32"])
        self.demand_all(name, column)
        return np.array(column.to_numpy(zero_copy_only=False), dtype=np.int32)

    def texts(self, name: str) -> list[str]:
        """Return a column of texts."""
        column = self.column(name, "string", ["is_string", "is_large_string"])
        self.demand_all(name, column)
        texts: list[str] = column.to_numpy(zero_copy_only=False).tolist()
        return texts

    def demand_all(self, name: str, column: Any) -> None:
        """Refuse a column in which something is missing."""
        if column.null_count:
            raise InputError(f"{self.path}: {name}: got {column.null_count} nulls, expected none")

    def has(self, name: str) -> bool:
        """Tell whether there is such a column."""
        return name in self._names


def _job_columns(table: ParquetTable, id_kind: str) -> JobColumns:
    numbers = {field: table.numbers(name) for name, field in _NUMBERS.items()}
    ids = _labels(table, "job_id", id_kind)
    if None in ids:
        raise InputError(f"{table.path}: job_id: got nulls, expected none")
    words = table.texts("state")
    codes = {word: code for code, word in enumerate(STATE_WORDS)}
    unknown = next((word for word in words if word not in codes), None)
    if unknown is not None:
        expected = ", ".join(STATE_WORDS)
        raise InputError(f"{table.path}: state: got {unknown!r}, expected one of {expected}")
    return JobColumns(
        job_id=np.array(ids, dtype=np.int64 if id_kind == "int" else object),
        workload=table.texts("workload"),
        profile=table.texts("profile"),
        n_hosts=table.counts("n_hosts"),
        state=np.array([codes[word] for word in words], dtype=np.uint8),
        consumed_energy=_energy(table),
        metadata=table.texts("metadata") if table.has("metadata") else (),
        **{name: table.numbers(name) for name in _FEW if table.has(name)},
        **numbers,
    )


def _energy(table: ParquetTable) -> Floats | None:
    for name in ("consumed_energy", "energy"):
        if table.has(name):
            found = table.numbers(name)
            return None if np.isnan(found).all() else found
    return None


def _hosts(table: ParquetTable, parse: ParseHosts) -> list[Any] | None:
    """Return the hosts; None if those of a job that held some are not known."""
    column = table.column("hosts", "string", ["is_string", "is_large_string"])
    if column.null_count:
        return None
    found = []
    for row, text in enumerate(column.to_pylist()):
        try:
            found.append(parse(text))
        except (InputError, ValueError):
            raise InputError(
                f"{table.path}: row {row}: hosts: got {text!r}, expected hosts such as 0-3 7"
            ) from None
    return found


def _labels(table: ParquetTable, name: str, kind: str) -> list[Any]:
    """Return ids or users as they were."""
    expected, test = ("int64", "is_int64") if kind == "int" else ("string", "is_string")
    values: list[Any] = table.column(name, expected, [test]).to_pylist()
    if kind != "json":
        return values
    try:
        return [None if value is None else json.loads(value) for value in values]
    except ValueError as error:
        raise InputError(f"{table.path}: {name}: not JSON: {error}") from None


def _are_totals(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def require_pyarrow() -> tuple[ModuleType, ModuleType]:
    """Import the library, which is only installed if asked for."""
    try:
        pyarrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            "Parquet: pyarrow is not installed, expected it from pip install 'noctule[parquet]'"
        ) from None
    return pyarrow, parquet
