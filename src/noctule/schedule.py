"""What happened: the tables that a simulation leaves, to look at, to measure, to save and to load.

The columns of a Schedule are the engine's own, shared and not copied. pandas is only needed for
the two DataFrames.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule._core import HostSet
from noctule.errors import InputError
from noctule.platform import MAX_HOSTS, Platform
from noctule.record import (
    STATE_WORDS,
    Floats,
    JobsLike,
    PlainJobs,
    PlainRecord,
    RecordLike,
    host_states_of,
)
from noctule.schedule_files import (
    FILE_NAMES,
    HOST_STATES_FILE,
    JOBS_FILE,
    SCHEDULE_FILE,
    JobColumns,
    Totals,
    host_states_text,
    jobs_text,
    schedule_text,
    totals_of,
)
from noctule.schedule_parquet import (
    PARQUET_JOBS_FILE,
    ParquetSchedule,
    read_parquet,
    write_parquet,
)
from noctule.schedule_reading import JobFile, n_hosts_of, read_host_states, read_jobs, read_totals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "Schedule"]

#: The columns of `Schedule.jobs`.
COLUMNS = (
    "job_id",
    "workload",
    "user",
    "submit_time",
    "start_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "runtime",
    "walltime",
    "n_hosts",
    "hosts",
    "state",
)


class Schedule:
    """What happened to each job, and to the hosts, in one run."""

    def __init__(self, platform: Platform, tables: Sequence[JobsLike], record: RecordLike) -> None:
        """Join a record with the jobs it speaks of.

        `tables` are the workload and, if the policy registered jobs of its own, those; the jobs of
        the record are positions in all of them, one after the other.
        """
        self.platform = platform
        self.tables = tuple(tables)
        self.record = record
        self._columns: dict[str, npt.NDArray[Any]] = {}
        self._printed: dict[str, npt.NDArray[Any]] = {}
        self._totals: Totals | None = None

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.record)

    def __repr__(self) -> str:
        """Name the workload and the size."""
        names = ", ".join(table.name for table in self.tables)
        return f"<Schedule of {names}: {len(self)} jobs on {self.platform.n_hosts} hosts>"

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return one of the columns of `jobs` as a NumPy array, without pandas."""
        if name not in self._columns:
            self._columns[name] = self._make_column(name)
        return self._columns[name]

    def printed(self, name: str) -> npt.NDArray[Any] | None:
        """Return a column that a file has printed; None if it follows from the dates."""
        return self._printed.get(name)

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """All jobs, in the order in which they ended, were rejected or cancelled."""
        import pandas as pd

        data: dict[str, Any] = {name: self.column(name) for name in COLUMNS}
        data["state"] = pd.Categorical.from_codes(
            self.record.state.astype(np.int8), categories=pd.Index(STATE_WORDS)
        )
        names = list(dict.fromkeys(table.name for table in self.tables))
        data["workload"] = pd.Categorical(data["workload"], categories=names)
        return pd.DataFrame(data, copy=False)

    @cached_property
    def host_states(self) -> pd.DataFrame:
        """How many hosts were idle and computing, from each change of any of them on."""
        import pandas as pd

        record = self.record
        data = {
            "time": record.host_state_time,
            "n_idle": record.host_state_idle,
            "n_computing": record.host_state_computing,
        }
        return pd.DataFrame(data, copy=False)

    def profile_names(self) -> list[str]:
        """Return the name of each job's profile."""
        names: list[str] = []
        for table in self.tables:
            names += table.profile_names
        return [names[job] for job in self.record.job.tolist()]

    def texts(self) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield the name and the text, in pieces, of each file that `save` writes."""
        columns = self._job_columns()
        record = self.record
        yield JOBS_FILE, jobs_text(columns, record.hosts_text)
        totals = self._totals
        if totals is None:
            n_hosts = self.platform.n_hosts
            totals = totals_of(columns, record.n_hosts, record.hosts_text, n_hosts, _version())
        yield SCHEDULE_FILE, iter([schedule_text(totals)])
        states = (record.host_state_time, record.host_state_idle, record.host_state_computing)
        yield HOST_STATES_FILE, host_states_text(*states)

    def save(self, directory: str | os.PathLike[str], *, parquet: bool = False) -> None:
        """Write jobs.csv, schedule.csv and machine_states.csv, as Batsim 4 does.

        With `parquet`, write Parquet files instead: exact, with users, but not Batsim's.
        """
        folder = Path(directory)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if parquet:
                self._write_parquet(folder)
                return
            for name, pieces in self.texts():
                with (folder / name).open("w", encoding="utf-8", newline="") as file:
                    file.writelines(pieces)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Schedule:
        """Read what `save` or Batsim wrote; dates are exact to the digits in the files.

        Parquet files, where there are some, are read rather than the others: they are exact.
        """
        folder = Path(directory)
        if (folder / PARQUET_JOBS_FILE).is_file():
            return cls._of_parquet(folder)
        for name in FILE_NAMES:
            if not (folder / name).is_file():
                expected = ", ".join(FILE_NAMES)
                raise InputError(f"{folder}: no file {name}, expected a folder with {expected}")
        totals = read_totals(folder / SCHEDULE_FILE)
        platform = Platform.homogeneous(n_hosts_of(folder / SCHEDULE_FILE, totals))
        file = read_jobs(folder / JOBS_FILE, HostSet.from_str)
        schedule = cls._of_file(platform, file, read_host_states(folder / HOST_STATES_FILE))
        schedule._totals = totals
        return schedule

    @classmethod
    def from_jobs_csv(cls, path: str | os.PathLike[str], n_hosts: int) -> Schedule:
        """Read the jobs.csv of any Batsim, or a CSV with the columns of `jobs`.

        It may be compressed (.xz, .gz, .bz2). Needed are job_id, submit_time, start_time,
        finish_time, and n_hosts or hosts.
        """
        platform = Platform.homogeneous(n_hosts)
        file = read_jobs(Path(path), HostSet.from_str)
        return cls._of_file(platform, file, None)

    @classmethod
    def _of_file(
        cls,
        platform: Platform,
        file: JobFile,
        host_states: tuple[Floats, npt.NDArray[np.uint32], npt.NDArray[np.uint32]] | None,
    ) -> Schedule:
        columns = file.columns
        if file.hosts is None:
            host_sets = [HostSet([])] * len(columns)
            held = columns.n_hosts
        else:
            host_sets = list(file.hosts)
            sizes = np.fromiter(map(len, host_sets), dtype=np.float64, count=len(host_sets))
            sizes = np.minimum(sizes, MAX_HOSTS).astype(np.uint32)
            held = np.where(np.isnan(columns.start_time), columns.n_hosts, sizes)
        if host_states is None:
            dates = (columns.start_time, columns.finish_time)
            host_states = host_states_of(platform.n_hosts, *dates, held)
        tables, position = _tables_of(file)
        record = PlainRecord(
            position,
            columns.state,
            held,
            columns.submit_time,
            columns.start_time,
            columns.finish_time,
            host_sets,
            *host_states,
        )
        schedule = cls(platform, tables, record)
        for name in ("waiting_time", "turnaround_time", "runtime", "stretch", "consumed_energy"):
            values = getattr(columns, name)
            if values is not None:
                # as printed: worked out again from rounded dates, the last digit could differ
                schedule._columns[name] = schedule._printed[name] = values
        return schedule

    def _write_parquet(self, folder: Path) -> None:
        record = self.record
        states = (record.host_state_time, record.host_state_idle, record.host_state_computing)
        content = ParquetSchedule(
            self.platform.n_hosts,
            self._job_columns(),
            self.column("user").tolist(),
            record.hosts_text,
            states,
            self._totals,
        )
        write_parquet(folder, content)

    @classmethod
    def _of_parquet(cls, folder: Path) -> Schedule:
        content = read_parquet(folder, HostSet.from_str)
        platform = Platform.homogeneous(content.n_hosts)
        schedule = cls._of_file(platform, content.file, content.host_states)
        schedule._totals = content.totals
        return schedule

    def _job_columns(self) -> JobColumns:
        return JobColumns(
            job_id=self.column("job_id"),
            workload=self.column("workload").tolist(),
            profile=self.profile_names(),
            submit_time=self.column("submit_time"),
            n_hosts=self.column("n_hosts"),
            walltime=self.column("walltime"),
            state=self.record.state,
            start_time=self.column("start_time"),
            finish_time=self.column("finish_time"),
            runtime=self.column("runtime"),
            waiting_time=self.column("waiting_time"),
            turnaround_time=self.column("turnaround_time"),
            stretch=self.column("stretch"),
            consumed_energy=self.printed("consumed_energy"),
        )

    def _make_column(self, name: str) -> npt.NDArray[Any]:
        try:
            make = _MAKERS[name]
        except KeyError:
            raise InputError(
                f"schedule: no column {name}; the columns are {', '.join(_MAKERS)}"
            ) from None
        return make(self)

    def _of_jobs(self, columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Arrange a column of each table as the rows of the record."""
        if len(columns) > 1 and len({column.dtype.kind for column in columns}) > 1:
            columns = [column.astype(object) for column in columns]
        joined = columns[0] if len(columns) == 1 else np.concatenate(columns)
        return joined[self.record.job]


def _ids(schedule: Schedule) -> npt.NDArray[Any]:
    """Return numbers if all ids are, else all as text."""
    columns = [table.job_ids for table in schedule.tables]
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [np.array([str(i) for i in c.tolist()], dtype=object) for c in columns]
    return schedule._of_jobs(columns)


def _hosts(schedule: Schedule) -> npt.NDArray[Any]:
    record = schedule.record
    rows = range(len(record))
    return np.fromiter(map(record.hosts, rows), dtype=object, count=len(record))


def _users(schedule: Schedule) -> npt.NDArray[Any]:
    return schedule._of_jobs([_users_of(table) for table in schedule.tables])


def _users_of(table: JobsLike) -> npt.NDArray[Any]:
    labels = table.labels("user")
    if labels is None:
        return np.full(len(table), None, dtype=object)
    if not isinstance(labels, np.ndarray):
        return np.array(labels, dtype=object)
    unknown = labels < 0
    if unknown.any():
        labels = labels.astype(object)
        labels[unknown] = None
    return labels


def _workloads(schedule: Schedule) -> npt.NDArray[Any]:
    columns = [np.full(len(table), table.name, dtype=object) for table in schedule.tables]
    return schedule._of_jobs(columns)


def _stretch(schedule: Schedule) -> Floats:
    turnaround: Floats = schedule.column("turnaround_time")
    runtime: Floats = schedule.column("runtime")
    with np.errstate(divide="ignore", invalid="ignore"):
        return turnaround / runtime


# stretch is Batsim's word for the slowdown; its files need it, `jobs` does not show it
_MAKERS: Mapping[str, Callable[[Schedule], npt.NDArray[Any]]] = {
    "job_id": _ids,
    "workload": _workloads,
    "user": _users,
    "submit_time": lambda s: s.record.submit_time,
    "start_time": lambda s: s.record.start_time,
    "finish_time": lambda s: s.record.finish_time,
    "waiting_time": lambda s: s.record.start_time - s.record.submit_time,
    "turnaround_time": lambda s: s.record.finish_time - s.record.submit_time,
    "runtime": lambda s: s.record.finish_time - s.record.start_time,
    "walltime": lambda s: s._of_jobs([table.walltime for table in s.tables]),
    "n_hosts": lambda s: s._of_jobs([table.n_hosts for table in s.tables]),
    "hosts": _hosts,
    "state": lambda s: np.array(STATE_WORDS, dtype=object)[s.record.state],
    "stretch": _stretch,
}


def _version() -> str:
    return f"noctule-{metadata.version('noctule')}"


def _tables_of(file: JobFile) -> tuple[list[PlainJobs], npt.NDArray[np.uint32]]:
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
