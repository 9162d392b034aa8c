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
    HOST_STATE_FIELDS,
    STATE_WORDS,
    Floats,
    JobsLike,
    PlainRecord,
    RecordLike,
    has_ended,
    host_state_columns,
    host_states_of,
)
from noctule.saved.parquet import (
    PARQUET_JOBS_FILE,
    ParquetSchedule,
    read_jobs_parquet,
    read_parquet,
    write_parquet,
)
from noctule.saved.power_parquet import PARQUET_POWER_FILES, read_power_parquet, write_power_parquet
from noctule.saved.power_reading import read_power
from noctule.saved.power_text import (
    ENERGY_FILE,
    POWER_FILE,
    POWER_FILE_NAMES,
    POWER_STATES_FILE,
    energy_text,
    mean_watts_of,
    power_states_text,
    power_text,
    switching_of,
)
from noctule.saved.reading import (
    JobFile,
    n_hosts_of,
    read_host_states,
    read_jobs,
    read_totals,
    tables_of,
)
from noctule.saved.text import (
    FILE_NAMES,
    HELD_NODE_SECONDS,
    HOST_STATES_FILE,
    JOBS_FILE,
    RECORDED_SUBMIT_TIME,
    SCHEDULE_FILE,
    SUSPENDED_TIME,
    USEFUL_TIME,
    HostTotals,
    JobColumns,
    Totals,
    host_states_text,
    jobs_text,
    known_energy,
    remove_files,
    schedule_text,
    totals_of,
)
from noctule.schedule_columns import MAKERS
from noctule.schedule_energy import SPENDINGS, Energy

if TYPE_CHECKING:
    import pandas as pd

    from noctule.report.cell import Cell

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
    "energy",
)


class Schedule:
    """What happened to each job, and to the hosts, in one run."""

    def __init__(
        self,
        platform: Platform,
        tables: Sequence[JobsLike],
        record: RecordLike,
        *,
        spent: npt.ArrayLike | Callable[[], npt.ArrayLike] = (),
        end: float | None = None,
        notes: Sequence[str] = (),
        recorded: Floats | None = None,
        held: Floats | None = None,
    ) -> None:
        """Join a record with the jobs it speaks of.

        `tables` are the workload and the jobs that the policy registered, if any; the jobs of the
        record are positions in both. `spent` are, or tells, the joules of each host for each of
        SPENDINGS up to the `end`, where they were counted. `notes` are what was odd, in sentences.
        `recorded` are the dates at which the jobs of the first table were submitted before the run
        moved them; None if it did not. `held` are the host-seconds that the jobs of all tables held
        before they started; None if none did.
        """
        self.platform = platform
        self.tables: tuple[JobsLike, ...] = tuple(tables)
        self.record: RecordLike = record
        self.notes = tuple(notes)
        self.recorded: Floats | None = recorded
        self.held: Floats | None = held
        self._tell_spent = spent
        self._end = end
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

    def _repr_html_(self) -> str:
        from noctule.report.cell import summary_html

        return summary_html(self)

    def explore(self, *, height: int = 900) -> Cell:
        """Return the interactive page of this schedule, which a notebook shows in its cell."""
        from noctule.report.cell import explore

        return explore({self.tables[0].name: self}, height=height)

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

        few = ("metadata", USEFUL_TIME, SUSPENDED_TIME)
        others = [name for name in few if len(getattr(self.record, name))]
        others += [RECORDED_SUBMIT_TIME] if self.moves_submissions else []
        others += [HELD_NODE_SECONDS] if self.held is not None else []
        names = (*COLUMNS, *others)
        data: dict[str, Any] = {name: self.column(name) for name in names}
        data["state"] = pd.Categorical.from_codes(
            self.record.state.astype(np.int8), categories=pd.Index(STATE_WORDS)
        )
        workloads = list(dict.fromkeys(table.name for table in self.tables))
        data["workload"] = pd.Categorical(data["workload"], categories=workloads)
        return pd.DataFrame(data, copy=False)

    @cached_property
    def host_states(self) -> pd.DataFrame:
        """How many hosts were idle and computing, from each change of any of them on.

        Where hosts had power states, also how many slept, and were switched on and off.
        """
        import pandas as pd

        return pd.DataFrame(host_state_columns(self.record), copy=False)

    @property
    def moves_submissions(self) -> bool:
        """Whether users reacted: jobs have a recorded date of submission besides their own."""
        return self.recorded is not None

    @property
    def counts_energy(self) -> bool:
        """Whether joules were counted."""
        return bool(len(self.record.energy_time) or len(self._spent))

    @cached_property
    def _spent(self) -> npt.NDArray[np.float64]:
        told = self._tell_spent() if callable(self._tell_spent) else self._tell_spent
        return np.array(told, dtype=float).reshape(-1, len(SPENDINGS))

    @cached_property
    def energy(self) -> Energy:
        """Joules of the run, of its hosts and of any time in it, where they were counted."""
        if not self.counts_energy:
            raise InputError(
                "schedule: no energy was counted, expected a run with the option energy='exact' "
                "or 'simgrid'"
            )
        names = [host.name for host in self.platform.all_hosts()]
        return Energy(self.record, self._spent, self.end, names)

    @property
    def end(self) -> float:
        """The date at which the run ended, as far as is known."""
        if self._end is not None:
            return self._end
        names = ("finish_time", "start_time", "energy_time", "power_time", "power_state_time")
        return float(np.nanmax(np.concatenate([[0.0], *(getattr(self.record, n) for n in names)])))

    @cached_property
    def power_states(self) -> pd.DataFrame:
        """Which power state hosts went to, and when; how they began, where energy was counted.

        The state is -1 while hosts are switched on, -2 while they are switched off.
        """
        import pandas as pd

        record = self.record
        hosts = np.fromiter(record.power_state_hosts, dtype=object)
        data = {"time": record.power_state_time, "hosts": hosts, "state": record.power_state_value}
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
            hosts = self._host_totals()
            made_by = f"noctule-{metadata.version('noctule')}"
            totals = totals_of(columns, record.n_hosts, record.hosts_text, hosts, made_by)
        yield SCHEDULE_FILE, iter([schedule_text(totals)])
        yield HOST_STATES_FILE, host_states_text(record)
        if self.counts_energy:
            yield ENERGY_FILE, energy_text(record, self._mean_watts())
        if len(record.power_state_time):
            yield POWER_STATES_FILE, power_states_text(record, self.platform.n_hosts)
        if len(self._spent) or len(record.power_time):
            yield POWER_FILE, power_text(*self.energy.steps, self.energy.end)

    def save(self, directory: str | os.PathLike[str], *, parquet: bool = False) -> None:
        """Write jobs.csv, schedule.csv and machine_states.csv, as Batsim 4 does.

        Where energy was counted, consumed_energy.csv, pstate_changes.csv and power.csv as well.
        With `parquet`, write Parquet files instead: exact, with users, but not Batsim's.
        """
        folder = Path(directory)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if parquet:
                self._write_parquet(folder)
                return
            texts = dict(self.texts())
            for name, pieces in texts.items():
                with (folder / name).open("w", encoding="utf-8", newline="") as file:
                    file.writelines(pieces)
            remove_files(folder, set(POWER_FILE_NAMES) - texts.keys())
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
        power = read_power(folder, HostSet.from_str)
        columns = read_host_states(folder / HOST_STATES_FILE, keep_all=power.is_known)
        schedule = cls._of_file(platform, file, {**columns, **power.columns})
        schedule._totals = totals
        if power.mean_watts is not None:
            schedule._printed["mean_watts"] = power.mean_watts
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
    def from_jobs_parquet(cls, path: str | os.PathLike[str]) -> Schedule:
        """Read a jobs.parquet alone, such as a campaign keeps; what hosts did follows from it."""
        n_hosts, file, _ = read_jobs_parquet(Path(path), HostSet.from_str)
        return cls._of_file(Platform.homogeneous(n_hosts), file, None)

    @classmethod
    def _of_file(
        cls,
        platform: Platform,
        file: JobFile,
        others: Mapping[str, Any] | None,
        spent: npt.ArrayLike = (),
        end: float | None = None,
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
        if others is None:
            dates = (columns.start_time, columns.finish_time)
            states = host_states_of(platform.n_hosts, *dates, held)
            others = dict(zip(HOST_STATE_FIELDS, states, strict=False))
        tables, position = tables_of(file)
        record = PlainRecord(
            position,
            columns.state,
            held,
            columns.submit_time,
            columns.start_time,
            columns.finish_time,
            host_sets,
            energy=known_energy(columns),
            metadata=columns.metadata,
            useful_time=np.empty(0) if columns.useful_time is None else columns.useful_time,
            suspended_time=np.empty(0)
            if columns.suspended_time is None
            else columns.suspended_time,
            **others,
        )
        recorded, kept = (
            None if values is None else _by_position(position, values)
            for values in (columns.recorded_submit_time, columns.held_node_seconds)
        )
        schedule = cls(platform, tables, record, spent=spent, end=end, recorded=recorded, held=kept)
        for name in ("waiting_time", "turnaround_time", "runtime", "stretch", "consumed_energy"):
            values = getattr(columns, name)
            if values is not None:
                # as printed: worked out again from rounded dates, the last digit could differ
                schedule._columns[name] = schedule._printed[name] = values
        return schedule

    def _write_parquet(self, folder: Path) -> None:
        printed = self.printed("consumed_energy")
        content = ParquetSchedule(
            self.platform.n_hosts,
            self._job_columns(),
            self.column("user").tolist(),
            self.record,
            None if printed is self.record.energy else printed,
            self._totals,
        )
        write_parquet(folder, content)
        if self.counts_energy or len(self.record.power_state_time):
            write_power_parquet(folder, self.record, self._mean_watts(), self._spent, self.end)
        else:
            remove_files(folder, PARQUET_POWER_FILES)

    @classmethod
    def _of_parquet(cls, folder: Path) -> Schedule:
        content = read_parquet(folder, HostSet.from_str)
        platform = Platform.homogeneous(content.n_hosts)
        power = read_power_parquet(folder, HostSet.from_str)
        if power is None:
            schedule = cls._of_file(platform, content.file, content.host_states)
        else:
            columns = {**content.host_states, **power.columns}
            schedule = cls._of_file(platform, content.file, columns, power.spent, power.end)
            schedule._printed["mean_watts"] = power.mean_watts
        schedule._totals = content.totals
        return schedule

    def _mean_watts(self) -> Floats:
        """Return the mean power before each row of the energy, as it was printed if it was."""
        printed, record = self.printed("mean_watts"), self.record
        if printed is not None:
            return printed
        return mean_watts_of(record.energy_time, record.energy_joules)

    def _host_totals(self) -> HostTotals:
        record, n_hosts = self.record, self.platform.n_hosts
        joules = 0.0
        ended = has_ended(record.state)
        if self.counts_energy and ended.any():
            window = record.submit_time.min(), record.finish_time[ended].max()
            joules = self.energy.joules(*map(float, window))
        if not len(record.power_state_time):
            return HostTotals(n_hosts, joules=joules)
        return HostTotals(n_hosts, switching_of(record, self.platform.hosts), joules)

    def _job_columns(self) -> JobColumns:
        printed = self.printed("consumed_energy")
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
            consumed_energy=self.record.energy
            if printed is None and self.counts_energy
            else printed,
            metadata=self.record.metadata,
            useful_time=self.record.useful_time if len(self.record.useful_time) else None,
            suspended_time=self.record.suspended_time if len(self.record.suspended_time) else None,
            recorded_submit_time=self.column(RECORDED_SUBMIT_TIME)
            if self.moves_submissions
            else None,
            held_node_seconds=self.column(HELD_NODE_SECONDS) if self.held is not None else None,
            user=self.column("user").tolist() if self.moves_submissions else None,
        )

    def _make_column(self, name: str) -> npt.NDArray[Any]:
        try:
            make = MAKERS[name]
        except KeyError:
            raise InputError(
                f"schedule: no column {name}; the columns are {', '.join(MAKERS)}"
            ) from None
        return make(self)

    def of_jobs(self, columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Arrange a column of each table as the rows of the record."""
        if len(columns) > 1 and len({column.dtype.kind for column in columns}) > 1:
            columns = [column.astype(object) for column in columns]
        joined = columns[0] if len(columns) == 1 else np.concatenate(columns)
        return joined[self.record.job]


def _by_position(position: npt.NDArray[Any], values: Floats) -> Floats:
    """Arrange a column of rows by the positions of their jobs."""
    arranged = np.full(len(values), np.nan)
    arranged[position] = values
    return arranged
