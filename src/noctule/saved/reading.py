"""Reads schedules back: Batsim's output files, of any version, and tables of our own columns.

A file is refused with the line and the column that are wrong; whether the schedule makes sense is
not judged here.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.columns import id_column
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.platform import MAX_HOSTS
from noctule.record import STATE_WORDS, Counts, Floats, JobState, PlainJobs, has_ended
from noctule.saved.text import (
    FINAL_STATES,
    HELD_NODE_SECONDS,
    HOST_STATES_COLUMNS,
    RECORDED_SUBMIT_TIME,
    SUSPENDED_TIME,
    USEFUL_TIME,
    JobColumns,
)

if TYPE_CHECKING:
    from noctule._core import HostSet

# our name: the names it goes by in files, the first being the one that messages use
_NAMES: Mapping[str, tuple[str, ...]] = {
    "job_id": ("job_id",),
    "workload": ("workload_name", "workload"),
    "profile": ("profile",),
    "user": ("user",),
    "submit_time": ("submission_time", "submit_time"),
    "n_hosts": ("requested_number_of_resources", "requested_number_of_processors", "n_hosts"),
    "walltime": ("requested_time", "walltime"),
    "state": ("final_state", "state"),
    "start_time": ("starting_time", "start_time"),
    "finish_time": ("finish_time",),
    "runtime": ("execution_time", "runtime"),
    "waiting_time": ("waiting_time",),
    "turnaround_time": ("turnaround_time",),
    "stretch": ("stretch",),
    "hosts": ("allocated_resources", "allocated_processors", "hosts"),
    "consumed_energy": ("consumed_energy", "energy"),
    "metadata": ("metadata",),
    "useful_time": (USEFUL_TIME,),
    "suspended_time": (SUSPENDED_TIME,),
    "recorded_submit_time": (RECORDED_SUBMIT_TIME,),
    "held_node_seconds": (HELD_NODE_SECONDS,),
}
_HOST_STATE_FIELDS = {
    title: title.replace("nb_", "host_state_") for title in HOST_STATES_COLUMNS[1:]
}
_ROWS_AT_ONCE = 256
_MOST_DIGITS = 20
_REQUIRED = ("job_id", "submit_time", "start_time", "finish_time")
_STATES = {word: state for state, word in FINAL_STATES.items()} | {
    word: JobState(code) for code, word in enumerate(STATE_WORDS)
}


@dataclass(frozen=True, slots=True)
class JobFile:
    """What a file of jobs said; `hosts` and `users` are None if it does not tell them."""

    columns: JobColumns
    hosts: Sequence[HostSet] | None
    users: Sequence[Any] | None


class CsvTable:
    """A CSV file as columns of text, each known by any of its names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = _text(path)
        rows = self._rows()
        self.header = next(rows, [])
        if not self.header:
            raise InputError(f"{path}: empty file, expected a line of column names")
        self._columns: list[list[str]] = [[] for _ in self.header]
        # a few rows at once: a list for each row of a large file keeps the garbage collector busy
        while some := [row for row in islice(rows, _ROWS_AT_ONCE) if row]:
            self._demand_width(some)
            for column, fields in zip(self._columns, zip(*some, strict=True), strict=True):
                column.extend(fields)

    def __len__(self) -> int:
        return len(self._columns[0])

    def _rows(self) -> Iterator[list[str]]:
        rows = csv.reader(self._text.splitlines(keepends=True), strict=True)
        try:
            yield from rows
        except csv.Error as error:
            raise InputError(f"{self.path}: line {rows.line_num}: {error}") from None

    def line(self, row: int) -> int:
        """Return the number of the line on which a row ends."""
        rows = csv.reader(self._text.splitlines(keepends=True))
        filled = (rows.line_num for fields in rows if fields)
        return next(islice(filled, row + 1, None))

    def _demand_width(self, rows: Sequence[Sequence[str]]) -> None:
        expected = len(self.header)
        for i, row in enumerate(rows):
            if len(row) != expected:
                line = self.line(len(self) + i)
                raise InputError(
                    f"{self.path}: line {line}: got {len(row)} fields, expected {expected}"
                )

    def column(self, names: Sequence[str]) -> tuple[str, Sequence[str] | None]:
        """Return the name and the texts of the first of these columns that the file has."""
        for name in names:
            if name in self.header:
                return name, self._columns[self.header.index(name)]
        return names[0], None

    def required(self, names: Sequence[str]) -> tuple[str, Sequence[str]]:
        """Return the name and the texts of a column, or say that the file has none."""
        name, texts = self.column(names)
        if texts is None:
            found = ", ".join(self.header)
            known = " or ".join(names)
            raise InputError(f"{self.path}: no column {known}; the columns are {found}")
        return name, texts

    def numbers(self, name: str, texts: Sequence[str], expected: str) -> Floats:
        """Turn a column into numbers; an empty field is not a number."""
        try:
            return np.array([float(text) if text else math.nan for text in texts], dtype=np.float64)
        except ValueError:
            row = next(i for i, text in enumerate(texts) if text and not _is_number(text))
            raise self.error(row, name, repr(texts[row]), expected) from None

    def demand(
        self, good: npt.NDArray[np.bool_], name: str, texts: Sequence[str], expected: str
    ) -> None:
        """Refuse the first row that is not good."""
        if not good.all():
            row = int(np.argmin(good))
            raise self.error(row, name, repr(texts[row]), expected)

    def error(self, row: int, name: str, found: str, expected: str) -> InputError:
        """Say what is wrong in one row."""
        line = self.line(row)
        return InputError(f"{self.path}: line {line}: {name}: got {found}, expected {expected}")


def read_jobs(path: Path, parse: Callable[[str], HostSet]) -> JobFile:
    """Read the jobs.csv of Batsim (any version), or a CSV with the columns of `Schedule.jobs`.

    `parse` makes a set of hosts of a text such as "0-3 7".
    """
    table = CsvTable(path)
    for name in _REQUIRED:
        table.required(_NAMES[name])
    hosts = _hosts(table, parse)
    state = _states(table)
    started = has_ended(state) | (state == JobState.RUNNING)
    submit = _dates(table, "submit_time", np.full(len(table), True))
    start = _dates(table, "start_time", started)
    finish = _dates(table, "finish_time", has_ended(state))
    runtime = _given(table, "runtime", finish - start)
    turnaround = _given(table, "turnaround_time", finish - submit)
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = _given(table, "stretch", turnaround / runtime)
    columns = JobColumns(
        job_id=_job_ids(table),
        workload=_texts(table, "workload", "w0"),
        profile=_texts(table, "profile", ""),
        submit_time=submit,
        n_hosts=_asked_hosts(table, hosts),
        walltime=_walltimes(table),
        state=state,
        start_time=start,
        finish_time=finish,
        runtime=runtime,
        waiting_time=_given(table, "waiting_time", start - submit),
        turnaround_time=turnaround,
        stretch=stretch,
        consumed_energy=_given(table, "consumed_energy", np.full(len(table), -1.0)),
        metadata=_metadata(table),
        useful_time=_seconds(table, "useful_time"),
        suspended_time=_seconds(table, "suspended_time"),
        recorded_submit_time=_seconds(table, "recorded_submit_time"),
        held_node_seconds=_seconds(table, "held_node_seconds"),
    )
    _refuse_duplicates(table, columns)
    return JobFile(columns, hosts, _users(table))


def _users(table: CsvTable) -> Sequence[Any] | None:
    """Return numbers if all users have some, else texts; one that is empty is not known."""
    texts = table.column(_NAMES["user"])[1]
    if texts is None:
        return None
    known = id_column([text for text in texts if text])
    users = iter(known.tolist() if isinstance(known, np.ndarray) else known)
    return [next(users) if text else None for text in texts]


def _metadata(table: CsvTable) -> Sequence[str]:
    """Return what was written down about the jobs; nothing if that is so for all of them."""
    texts = table.column(_NAMES["metadata"])[1] or ()
    return texts if any(texts) else ()


def _seconds(table: CsvTable, column: str) -> Floats | None:
    """Return a column that only some files have."""
    name, texts = table.column(_NAMES[column])
    return None if texts is None else table.numbers(name, texts, "a number of seconds")


def read_totals(path: Path) -> dict[str, str]:
    """Read a schedule.csv as the texts of its values."""
    table = CsvTable(path)
    if len(table) != 1:
        raise InputError(f"{path}: got {len(table)} lines of values, expected 1")
    return {name: table.required((name,))[1][0] for name in table.header}


def n_hosts_of(path: Path, totals: Mapping[str, str]) -> int:
    """Return the number of hosts that a schedule.csv tells."""
    name = "nb_computing_machines"
    text = totals.get(name)
    if text is None:
        raise InputError(f"{path}: no column {name}; the columns are {', '.join(totals)}")
    short = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if not (short and 1 <= int(text) <= MAX_HOSTS):
        raise InputError(f"{path}: line 2: {name}: got {text!r}, expected a whole number >= 1")
    return int(text)


def read_host_states(path: Path, *, keep_all: bool) -> dict[str, npt.NDArray[Any]]:
    """Read the columns of a record from a machine_states.csv.

    Those of hosts that sleep or switch are left out if there are none, unless all are kept.
    """
    table = CsvTable(path)
    columns: dict[str, npt.NDArray[Any]] = {"host_state_time": non_negative(table, "time")}
    for title in HOST_STATES_COLUMNS[-2:]:
        columns[_HOST_STATE_FIELDS[title]] = _counts(table, *table.required((title,)))
    power = {
        _HOST_STATE_FIELDS[title]: _counts(table, *table.required((title,)))
        for title in HOST_STATES_COLUMNS[1:-2]
        if title in table.header
    }
    if len(power) == 3 and (keep_all or any(column.any() for column in power.values())):
        columns |= power
    return columns


def _text(path: Path) -> str:
    """Return the text of a file, decompressed where its first bytes say so."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file, expected CSV") from None
    if "\0" in text:
        raise InputError(f"{path}: not a text file, expected CSV")
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _dates(table: CsvTable, name: str, needed: npt.NDArray[np.bool_]) -> Floats:
    """Return a column of dates: numbers >= 0 where needed, NaN elsewhere."""
    title, texts = table.required(_NAMES[name])
    expected = "a number >= 0"
    numbers = table.numbers(title, texts, expected)
    table.demand(~needed | (np.isfinite(numbers) & (numbers >= 0)), title, texts, expected)
    return np.where(needed, numbers, math.nan)


def non_negative(table: CsvTable, name: str) -> Floats:
    """Return a column of numbers >= 0."""
    title, texts = table.required((name,))
    expected = "a number >= 0"
    numbers = table.numbers(title, texts, expected)
    table.demand(np.isfinite(numbers) & (numbers >= 0), title, texts, expected)
    return numbers


def _given(table: CsvTable, name: str, otherwise: Floats) -> Floats:
    """Return a column that the file may leave out, since it follows from others."""
    title, texts = table.column(_NAMES[name])
    return otherwise if texts is None else table.numbers(title, texts, "a number")


def _texts(table: CsvTable, name: str, otherwise: str) -> list[str]:
    texts = table.column(_NAMES[name])[1]
    return [otherwise] * len(table) if texts is None else list(texts)


def _states(table: CsvTable) -> npt.NDArray[np.uint8]:
    """Return the codes of the states; without such a column, jobs with a start have completed."""
    title, texts = table.column(_NAMES["state"])
    if texts is None:
        _, starts = table.required(_NAMES["start_time"])
        codes = [JobState.COMPLETED if start else JobState.REJECTED for start in starts]
        return np.array(codes, dtype=np.uint8)
    try:
        return np.array([_STATES[text] for text in texts], dtype=np.uint8)
    except KeyError as error:
        row = texts.index(error.args[0])
        known = ", ".join(FINAL_STATES.values())
        raise table.error(row, title, repr(texts[row]), f"one of {known}") from None


def _job_ids(table: CsvTable) -> npt.NDArray[Any]:
    """Return the ids: whole numbers if all of them are written as such."""
    title, texts = table.required(_NAMES["job_id"])
    if "" in texts:
        raise table.error(texts.index(""), title, "''", "the id of a job")
    ids = id_column(texts)
    return ids if isinstance(ids, np.ndarray) else np.array(ids, dtype=object)


def _refuse_duplicates(table: CsvTable, columns: JobColumns) -> None:
    keys = list(zip(columns.workload, columns.job_id.tolist(), strict=True))
    if len(set(keys)) == len(keys):
        return
    seen: set[tuple[str, Any]] = set()
    for row, key in enumerate(keys):
        if key in seen:
            raise table.error(row, "job_id", f"{key[1]} of {key[0]} once more", "each job once")
        seen.add(key)


def _hosts(table: CsvTable, parse: Callable[[str], HostSet]) -> list[HostSet] | None:
    title, texts = table.column(_NAMES["hosts"])
    if texts is None:
        return None
    found: list[HostSet] = []
    for row, text in enumerate(texts):
        try:
            found.append(parse(text))
        except (InputError, ValueError):
            raise table.error(row, title, repr(text), "hosts such as 0-3 7") from None
    return found


def _asked_hosts(table: CsvTable, hosts: Sequence[HostSet] | None) -> Counts:
    """Return how many hosts each job asked for; without such a column, how many it got."""
    title, texts = table.column(_NAMES["n_hosts"])
    if texts is None:
        if hosts is None:
            table.required((*_NAMES["n_hosts"], *_NAMES["hosts"]))
        counts = np.array([len(some) for some in hosts or ()], dtype=np.float64)
        return np.minimum(counts, MAX_HOSTS).astype(np.uint32)
    return _counts(table, title, texts)


def _counts(table: CsvTable, title: str, texts: Sequence[str]) -> Counts:
    expected = f"a whole number from 0 to {MAX_HOSTS}"
    numbers = table.numbers(title, texts, expected)
    whole = (numbers >= 0) & (numbers <= MAX_HOSTS) & (numbers == np.floor(numbers))
    table.demand(whole, title, texts, expected)
    return numbers.astype(np.uint32)


def _walltimes(table: CsvTable) -> Floats:
    """Return the time limits; Batsim writes -1 where there is none."""
    title, texts = table.column(_NAMES["walltime"])
    if texts is None:
        return np.full(len(table), math.inf)
    expected = "a positive number, or -1 for none"
    numbers = table.numbers(title, texts, expected)
    none = (numbers == -1) | np.array([not text for text in texts], dtype=np.bool_)
    table.demand(none | (numbers > 0), title, texts, expected)
    return np.where(none, math.inf, numbers)


def tables_of(file: JobFile) -> tuple[list[PlainJobs], npt.NDArray[np.uint32]]:
    """Split the jobs of a file by workload; also return the position of each row in these."""
    columns = file.columns
    names = list(dict.fromkeys(columns.workload)) or ["w0"]
    code = {name: i for i, name in enumerate(names)}
    codes = np.array([code[name] for name in columns.workload], dtype=np.intp)
    tables = []
    for i, name in enumerate(names):
        rows = np.flatnonzero(codes == i)
        users = None if file.users is None else [file.users[row] for row in rows.tolist()]
        profiles = [columns.profile[row] for row in rows.tolist()]
        tables.append(
            PlainJobs(
                name,
                columns.job_id[rows],
                columns.n_hosts[rows],
                columns.walltime[rows],
                profiles,
                users,
            )
        )
    position = np.empty(len(codes), dtype=np.uint32)
    position[np.argsort(codes, kind="stable")] = np.arange(len(codes), dtype=np.uint32)
    return tables, position
