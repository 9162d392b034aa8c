"""What a Workload is made of, taken apart as columns, changed, and put together again.

A Workload is immutable: tools that select, change or join jobs work on Parts and make a new one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.columns import (
    KIND_DELAY,
    KIND_PROGRAM,
    Columns,
    Floats,
    IdColumn,
    id_column,
    shown,
)
from noctule.errors import InputError
from noctule.workload import LABELS, Dependency, Profile, ReadingRule, Workload

Column = npt.NDArray[Any]
Rows = npt.NDArray[np.intp]

# Job fields that a Batsim workload may have and that Job.extra repeats as they were read.
RANK_HOSTS = "smpi_ranks_to_hosts_mapping"
REPEATED = (
    *LABELS,
    "dependencies",
    "cancel_time",
    "launch_delay",
    "epilogue_delay",
    RANK_HOSTS,
)
_UNKNOWN = -1
# The largest number up to which all integers are exact.
_MAX_EXACT = 2.0**53


@dataclass(frozen=True, slots=True)
class About:
    """What a Workload knows besides its jobs."""

    name: str = "w0"
    reference_speed: float | None = 1.0
    profiles: Mapping[str, Profile] | None = None
    raw_profiles: Mapping[str, Mapping[str, Any]] | None = None
    headers: Mapping[str, Any] | None = None
    reading: Sequence[ReadingRule] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The columns of a Workload; all have one row a job.

    `labels` are arrays of integers with -1, or of objects with None, where one is not known.
    `extra` is columns (of numbers, -1 where one is not known), or an array of a mapping a job.
    """

    job_ids: Column
    submit_time: Floats
    n_hosts: npt.NDArray[np.int64]
    amount: Floats
    walltime: Floats
    kind: npt.NDArray[np.uint8]
    failing: npt.NDArray[np.uint8]
    cancel_time: Floats
    launch_delay: Floats
    epilogue_delay: Floats
    labels: Mapping[str, Column]
    extra: Mapping[str, Column] | Column
    profile_names: Column | None
    dependencies: Mapping[int, Sequence[Dependency]]
    rank_hosts: Mapping[int, Sequence[int]]
    about: About

    @classmethod
    def of(cls, workload: Workload) -> Parts:
        """Take a Workload apart."""
        table, n = workload.table, len(workload)
        # Workload tells these of one job at a time; whole columns are needed here.
        extra, names = workload._extra, workload._profile_names
        return cls(
            job_ids=table.job_ids,
            submit_time=table.submit_time,
            n_hosts=table.n_hosts.astype(np.int64),
            amount=table.amount,
            walltime=table.walltime,
            kind=table.kind,
            failing=table.failing,
            cancel_time=np.fromiter(map(table.cancel_time, range(n)), float, n),
            launch_delay=np.fromiter(map(table.launch_delay, range(n)), float, n),
            epilogue_delay=np.fromiter(map(table.epilogue_delay, range(n)), float, n),
            labels={name: _label_column(workload.labels(name)) for name in workload.label_names},
            extra=_extra_columns(extra),
            profile_names=None if names is None else objects(names),
            dependencies=dict(workload._dependencies),
            rank_hosts=dict(workload._rank_hosts),
            about=About(
                workload.name,
                workload.reference_speed,
                workload.profiles,
                workload.raw_profiles,
                workload.headers,
                workload.reading,
                workload.source,
            ),
        )

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.job_ids)

    @property
    def where(self) -> str:
        """What messages call the workload: its file, or its name."""
        return self.about.source or f"workload {self.about.name}"

    @property
    def speed(self) -> float:
        """Speed of the hosts on which a computation lasts as many seconds as its amount."""
        return self.about.reference_speed or 1.0

    @property
    def runtime(self) -> Floats:
        """Seconds that the jobs last on the hosts for which they were recorded."""
        return self.amount

    def refuse_untimed(self) -> None:
        """Refuse jobs of which nobody can tell beforehand how long they run."""
        untimed = np.flatnonzero(self.kind >= KIND_PROGRAM)
        if len(untimed):
            raise InputError(
                f"{self.where}: job {self.job_ids[untimed[0]]}: "
                "a profile whose run time is not known, expected delays and computations"
            )

    def recorded(self, name: str) -> Floats | None:
        """Return a column of `extra` as numbers, or None where the file had none."""
        return _recorded(self.extra, name)

    def with_extra(self, changes: Mapping[str, Floats | None]) -> Parts:
        """Return the jobs with other recorded numbers; None takes a column away."""
        gone = {name for name, column in changes.items() if column is None}
        new = {name: _compact(column) for name, column in changes.items() if column is not None}
        if isinstance(self.extra, Mapping):
            kept = {name: column for name, column in self.extra.items() if name not in gone}
            return replace(self, extra=kept | new)
        fields = [
            {name: value for name, value in old.items() if name not in gone}
            | {name: plain(float(column[row])) for name, column in new.items() if name in old}
            for row, old in enumerate(self.extra.tolist())
        ]
        return replace(self, extra=objects(fields))

    def rows(self, rows: Rows) -> Parts:
        """Return the parts of some jobs; dependencies on the others are dropped."""
        kept_ids = set(self.job_ids[rows].tolist())
        kept: dict[int, Sequence[Dependency]] = {}
        if self.dependencies:
            for new, old in enumerate(rows.tolist()):
                wanted = self.dependencies.get(old, ())
                found = [one for one in wanted if one.job_id in kept_ids]
                if found:
                    kept[new] = found
        placed = {
            new: self.rank_hosts[old]
            for new, old in enumerate(rows.tolist() if self.rank_hosts else ())
            if old in self.rank_hosts
        }
        columns = {name: getattr(self, name)[rows] for name in _JOB_COLUMNS}
        extra = self.extra
        return replace(
            self,
            **columns,
            labels={name: column[rows] for name, column in self.labels.items()},
            extra={name: column[rows] for name, column in extra.items()}
            if isinstance(extra, Mapping)
            else extra[rows],
            profile_names=None if self.profile_names is None else self.profile_names[rows],
            dependencies=kept,
            rank_hosts=placed,
        )

    def with_ids(self, numbers: Column) -> Parts:
        """Return the jobs under other ids; dependencies and preceding jobs follow."""
        new = dict(zip(self.job_ids.tolist(), numbers.tolist(), strict=True))
        dependencies = {
            row: tuple(Dependency(new[one.job_id], one.think_time) for one in wanted)
            for row, wanted in self.dependencies.items()
        }
        changed = replace(self, job_ids=numbers, dependencies=dependencies)
        preceding = self.recorded("preceding_job")
        if preceding is None:
            return changed
        followed = [new.get(int(number), _UNKNOWN) for number in preceding.tolist()]
        return changed.with_extra({"preceding_job": np.array(followed, dtype=float)})

    def unnamed(self) -> Parts:
        """Return parts whose profiles are told by kind and amount alone.

        After a change of amounts or sizes, the profiles of a file are no longer those of the jobs.
        """
        self.refuse_untimed()
        return replace(
            self, profile_names=None, about=replace(self.about, profiles={}, raw_profiles={})
        )

    def at_speed(self, speed: float) -> Parts:
        """Return the same jobs with the amounts of computations in seconds at another speed."""
        if not (math.isfinite(speed) and speed > 0):
            raise InputError(f"{self.where}: speed: got {shown(speed)}, expected a positive number")
        with np.errstate(over="ignore"):
            work = self.amount * self.speed / speed
        amount = np.where(self.kind == KIND_DELAY, self.amount, work)
        if not np.isfinite(amount).all():
            raise InputError(
                f"{self.where}: speed: got {shown(speed)}, at which computations never end"
            )
        return replace(self, amount=amount).unnamed().told(reference_speed=speed)

    def told(self, **changes: Any) -> Parts:
        """Return the same jobs with something else known about them: headers, name, reading."""
        return replace(self, about=replace(self.about, **changes))

    def workload(self) -> Workload:
        """Put the parts together."""
        about = self.about
        columns = Columns(
            job_ids=_ids(self.job_ids),
            submit_time=self.submit_time,
            n_hosts=self.n_hosts,
            amount=self.amount,
            walltime=self.walltime,
            kind=self.kind,
            failing=self.failing,
            cancel_time=_unless_all(math.inf, self.cancel_time),
            launch_delay=_unless_all(0.0, self.launch_delay),
            epilogue_delay=_unless_all(0.0, self.epilogue_delay),
        )
        return Workload(
            columns,
            name=about.name,
            reference_speed=about.reference_speed,
            dependencies=self.dependencies,
            rank_hosts=self.rank_hosts,
            labels={
                name: column if column.dtype.kind == "i" else column.tolist()
                for name, column in self.labels.items()
            },
            profiles=about.profiles,
            profile_names=None if self.profile_names is None else self.profile_names.tolist(),
            raw_profiles=about.raw_profiles,
            extra=self.extra if isinstance(self.extra, Mapping) else self._refreshed(),
            headers=about.headers,
            reading=about.reading,
            source=about.source,
        )

    def _refreshed(self) -> list[Mapping[str, Any]]:
        """Return the fields of each job, with those that are also elsewhere as they are now."""
        assert not isinstance(self.extra, Mapping)
        return [
            fields
            if fields.keys().isdisjoint(REPEATED)
            else {k: v for k, v in fields.items() if k not in REPEATED} | self.repeated(i)
            for i, fields in enumerate(self.extra.tolist())
        ]

    def repeated(self, row: int) -> dict[str, Any]:
        """Return the fields of REPEATED that a job has, as Batsim's JSON has them."""
        fields: dict[str, Any] = {}
        for name, column in self.labels.items():
            value = column[row]
            if isinstance(value, np.integer):
                value = int(value) if value >= 0 else None
            if value is not None:
                fields[name] = value
        wanted = self.dependencies.get(row)
        if wanted:
            fields["dependencies"] = [
                {"job": one.job_id, "think_time": plain(one.think_time)}
                if one.think_time
                else {"job": one.job_id}
                for one in wanted
            ]
        for name, usual in (
            ("cancel_time", math.inf),
            ("launch_delay", 0.0),
            ("epilogue_delay", 0.0),
        ):
            value = float(getattr(self, name)[row])
            if value != usual:
                fields[name] = plain(value)
        if row in self.rank_hosts:
            fields[RANK_HOSTS] = list(self.rank_hosts[row])
        return fields


_JOB_COLUMNS = (
    "job_ids",
    "submit_time",
    "n_hosts",
    "amount",
    "walltime",
    "kind",
    "failing",
    "cancel_time",
    "launch_delay",
    "epilogue_delay",
)


def recorded(workload: Workload, name: str) -> Floats | None:
    """Return numbers of `Job.extra` as a column, -1 where one is not known; None if none is."""
    return _recorded(_extra_columns(workload._extra), name)


def plain(value: float) -> int | float:
    """Return a number without a decimal point where it needs none."""
    is_whole = float(value).is_integer() and abs(value) <= _MAX_EXACT
    return int(value) if is_whole else value


def objects(values: Sequence[Any]) -> Column:
    """Return an array of objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _compact(column: Floats) -> Column:
    """Return a column as integers where all of it is, as the readers do."""
    whole = bool(((column == np.floor(column)) & (np.abs(column) <= _MAX_EXACT)).all())
    return column.astype(np.int64) if whole else column


def _ids(ids: Column) -> IdColumn:
    return ids if ids.dtype.kind == "i" else id_column(ids.tolist())


def _label_column(values: Sequence[Any] | Column | None) -> Column:
    assert values is not None
    return values if isinstance(values, np.ndarray) else objects(values)


def _extra_columns(extra: Any) -> Mapping[str, Column] | Column:
    if extra is None:
        return {}
    return extra if isinstance(extra, Mapping) else objects(extra)


def _recorded(extra: Mapping[str, Column] | Column, name: str) -> Floats | None:
    if not isinstance(extra, Mapping):
        return _from_mappings(extra, name)
    column = extra.get(name)
    return None if column is None else np.asarray(column, dtype=float)


def _from_mappings(extra: Column, name: str) -> Floats | None:
    values = [fields.get(name, _UNKNOWN) for fields in extra.tolist()]
    if not all(isinstance(value, int | float) for value in values):
        return None
    column = np.array(values, dtype=float)
    return None if (column == _UNKNOWN).all() else column


def _unless_all(usual: float, values: Floats) -> Floats | None:
    return None if bool((values == usual).all()) else values
