"""Jobs to simulate: what each asks for, and what it does once started.

A Workload keeps its jobs as columns in one native table, in order of submission; Job objects are
made when somebody looks at one. Everything is checked once, here, when a Workload is made.
"""

from __future__ import annotations

import math
from collections import abc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.columns import (
    KIND_DELAY,
    KIND_PROGRAM,
    KIND_UNSUPPORTED,
    Columns,
    Floats,
    IdColumn,
    Order,
    aligned,
    aligned_extra,
    id_column,
    permuted,
    shown,
    sorted_columns,
)
from noctule.errors import InputError
from noctule.profile import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    MpiTrace,
    ParallelTask,
    Profile,
    Receive,
    Send,
    Sequence,
    StorageTransfer,
    UnsupportedProfile,
    Usage,
    UsageTrace,
    files_of,
)
from noctule.profile_facts import (
    amount_of,
    kind_of,
    name_of,
    return_code_of,
    same_but_for_amount,
    type_of,
)
from noctule.programs import NO_PROGRAM, Programs, check_rank_hosts, check_size

__all__ = [
    "Columns",
    "Compute",
    "DataStaging",
    "Delay",
    "Dependency",
    "HomogeneousTask",
    "Job",
    "JobId",
    "Label",
    "MpiTrace",
    "ParallelTask",
    "Profile",
    "ReadingRule",
    "Receive",
    "Request",
    "Send",
    "Sequence",
    "StorageTransfer",
    "UnsupportedProfile",
    "Usage",
    "UsageTrace",
    "Workload",
]

#: Within a workload, all ids are numbers or all are texts.
JobId = int | str
#: A user, a group or a queue; None where it is not known.
Label = int | str | None
LABELS = ("user", "group", "queue")


@dataclass(frozen=True, slots=True)
class Request:
    """What a job asks for."""

    n_hosts: int


@dataclass(frozen=True, slots=True)
class Dependency:
    """A job that must end first, and the time its user thinks before submitting the next one."""

    job_id: JobId
    think_time: float = 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """A request for hosts, and the profile to run on them.

    A job with dependencies is submitted once all of them have ended and their think times have
    passed, and not before its `submit_time`. A job still waiting at `cancel_time` is cancelled.
    Its hosts are held from its start, through `launch_delay`, the profile and `epilogue_delay`;
    the walltime bounds the profile alone. `rank_hosts` says where the ranks of its traces run:
    for each, the position of a host among the job's; if it is empty, they go round.
    """

    id: JobId
    submit_time: float
    request: Request
    profile: Profile
    walltime: float = math.inf
    dependencies: tuple[Dependency, ...] = ()
    cancel_time: float = math.inf
    launch_delay: float = 0.0
    epilogue_delay: float = 0.0
    user: Label = None
    group: Label = None
    queue: Label = None
    profile_name: str = ""
    rank_hosts: tuple[int, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """A rule that was applied while a log was read, and how many jobs it touched."""

    rule: str
    n_jobs: int

    def __str__(self) -> str:
        """Say it as a line of a report."""
        return f"{self.rule}: {self.n_jobs}"


class Workload:
    """Jobs in order of submission, with what a report needs to know of their origin."""

    def __init__(
        self,
        columns: Columns,
        *,
        name: str = "w0",
        reference_speed: float | None = 1.0,
        dependencies: Mapping[int, abc.Sequence[Dependency]] | None = None,
        rank_hosts: Mapping[int, abc.Sequence[int]] | None = None,
        labels: Mapping[str, abc.Sequence[Any] | npt.NDArray[Any]] | None = None,
        profiles: Mapping[str, Profile] | None = None,
        profile_names: abc.Sequence[str] | None = None,
        raw_profiles: Mapping[str, Mapping[str, Any]] | None = None,
        extra: abc.Sequence[Mapping[str, Any]] | Mapping[str, npt.NDArray[Any]] | None = None,
        headers: Mapping[str, Any] | None = None,
        reading: abc.Sequence[ReadingRule] = (),
        source: str | None = None,
    ) -> None:
        """Sort the columns by submission and check them.

        `dependencies` maps a position in the columns to what that job waits for, `rank_hosts` to
        where its ranks run; `labels` may hold "user", "group" and "queue" (an array of integers
        has -1 where it is not known); `reference_speed` None means the amounts of Compute jobs are
        seconds at the platform's own reference speed. `extra` is a mapping a job, or columns.
        `headers` is what a file says of itself, `raw_profiles` are its profiles with all their
        fields.
        """
        where = source or f"workload {name}"
        _check_identity(where, name, reference_speed)
        self.name = name
        self.reference_speed = reference_speed
        self.profiles: Mapping[str, Profile] = profiles or {}
        self.raw_profiles: Mapping[str, Mapping[str, Any]] = raw_profiles or {}
        self.headers: Mapping[str, Any] = headers or {}
        self.reading = tuple(reading)
        self.source = source
        order, arrays = sorted_columns(where, columns)
        n = len(columns.job_ids)
        self._labels = {
            label: aligned(where, label, column, n, order)
            for label, column in (labels or {}).items()
        }
        self._profile_names: abc.Sequence[str] | None = (
            None
            if profile_names is None
            else aligned(where, "profile_names", profile_names, n, order)
        )
        self._extra = aligned_extra(where, extra, n, order)
        self._failing = arrays["failing"] if arrays["failing"].any() else None
        ids = permuted(_native_ids(columns.job_ids), order)
        programs = self._programs(where, ids, arrays["kind"], arrays["n_hosts"])
        self.table = _core.JobTable(ids, **(arrays | programs))
        self._rank_hosts: dict[int, tuple[int, ...]] = {}
        if rank_hosts:
            self._place_ranks(where, rank_hosts, order)
        self._dependencies: dict[int, tuple[Dependency, ...]] = {}
        if dependencies:
            self._link(where, dependencies, order)

    @classmethod
    def from_jobs(
        cls,
        jobs: Iterable[Job],
        *,
        name: str = "w0",
        reference_speed: float | None = 1.0,
        profiles: Mapping[str, Profile] | None = None,
        raw_profiles: Mapping[str, Mapping[str, Any]] | None = None,
        headers: Mapping[str, Any] | None = None,
        reading: abc.Sequence[ReadingRule] = (),
        source: str | None = None,
    ) -> Workload:
        """Make a Workload of Job objects; `profiles` are those known by name before them."""
        jobs = list(jobs)
        columns = Columns(
            job_ids=id_column([job.id for job in jobs]),
            submit_time=[job.submit_time for job in jobs],
            n_hosts=[job.request.n_hosts for job in jobs],
            amount=[amount_of(job.profile, job.request.n_hosts) for job in jobs],
            walltime=[job.walltime for job in jobs],
            kind=[kind_of(job.profile) for job in jobs],
            failing=[return_code_of(job.profile) != 0 for job in jobs],
            cancel_time=_unless_all(math.inf, [job.cancel_time for job in jobs]),
            launch_delay=_unless_all(0.0, [job.launch_delay for job in jobs]),
            epilogue_delay=_unless_all(0.0, [job.epilogue_delay for job in jobs]),
        )
        label_columns = {label: [getattr(job, label) for job in jobs] for label in LABELS}
        profiles = dict(profiles or {})
        names = _enter_profiles(source or f"workload {name}", jobs, profiles)
        return cls(
            columns,
            name=name,
            reference_speed=reference_speed,
            dependencies={i: j.dependencies for i, j in enumerate(jobs) if j.dependencies},
            rank_hosts={i: j.rank_hosts for i, j in enumerate(jobs) if j.rank_hosts},
            labels={k: v for k, v in label_columns.items() if any(x is not None for x in v)},
            profiles=profiles,
            profile_names=names,
            raw_profiles=raw_profiles,
            extra=[job.extra for job in jobs] if any(job.extra for job in jobs) else None,
            headers=headers,
            reading=reading,
            source=source,
        )

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.table)

    def __iter__(self) -> Iterator[Job]:
        """Yield the jobs in order of submission."""
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Job:
        """Return one job by its position."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"workload {self.name}: job {index} of {len(self)}")
        index %= len(self)
        table = self.table
        return Job(
            id=table.job_id(index),
            submit_time=float(table.submit_time[index]),
            request=Request(int(table.n_hosts[index])),
            profile=self._profile(index),
            walltime=float(table.walltime[index]),
            dependencies=self._dependencies.get(index, ()),
            cancel_time=table.cancel_time(index),
            launch_delay=table.launch_delay(index),
            epilogue_delay=table.epilogue_delay(index),
            user=self.label("user", index),
            group=self.label("group", index),
            queue=self.label("queue", index),
            profile_name=self.profile_name(index),
            rank_hosts=self._rank_hosts.get(index, ()),
            extra=self.extra(index),
        )

    def __repr__(self) -> str:
        """Name the workload and its size."""
        return f"<Workload {self.name}: {len(self)} jobs>"

    @property
    def job_ids(self) -> npt.NDArray[Any]:
        """All ids, in order of submission."""
        return self.table.job_ids

    @property
    def submit_time(self) -> Floats:
        """Dates of submission; read-only, not copied."""
        return self.table.submit_time

    @property
    def walltime(self) -> Floats:
        """Asked time limits; infinite where there is none."""
        return self.table.walltime

    @property
    def n_hosts(self) -> npt.NDArray[np.uint32]:
        """Asked numbers of hosts."""
        return self.table.n_hosts

    @property
    def files(self) -> tuple[str, ...]:
        """The files that its own file names, and that were read with it: traces of programs."""
        return files_of(self.profiles.values())

    @property
    def has_dependencies(self) -> bool:
        """Whether any job waits for another."""
        return bool(self._dependencies)

    @property
    def label_names(self) -> tuple[str, ...]:
        """Which of user, group and queue are known."""
        return tuple(self._labels)

    def labels(self, name: str) -> abc.Sequence[Any] | npt.NDArray[Any] | None:
        """Return the column of "user", "group" or "queue", or None where it is not known.

        An array of integers has -1 for a job whose label is not known, a sequence None.
        """
        return self._labels.get(name)

    def label(self, name: str, index: int) -> Label:
        """Return the user, group or queue of one job."""
        column = self._labels.get(name)
        if column is None:
            return None
        value: Label = column[index]
        if isinstance(value, np.integer):
            return int(value) if value >= 0 else None
        return value

    def profile_name(self, index: int) -> str:
        """Return the name of a job's profile, made up from what it does where it has none."""
        if self._profile_names is not None:
            return str(self._profile_names[index])
        return name_of(self._profile(index))

    @property
    def profile_names(self) -> abc.Sequence[str]:
        """Names of all jobs' profiles."""
        if self._profile_names is not None:
            return self._profile_names
        if self._failing is not None:
            return [self.profile_name(i) for i in range(len(self))]
        delays = (self.table.kind == KIND_DELAY).tolist()
        amounts = self.table.amount.tolist()
        return [
            f"{'delay' if is_delay else 'compute'}:{amount!r}"
            for is_delay, amount in zip(delays, amounts, strict=True)
        ]

    def extra(self, index: int) -> Mapping[str, Any]:
        """Return the fields of a job that Noctule keeps without using them."""
        if self._extra is None:
            return {}
        if isinstance(self._extra, dict):
            return {name: column[index].item() for name, column in self._extra.items()}
        fields: Mapping[str, Any] = self._extra[index]
        return fields

    def unsupported(self) -> list[tuple[JobId, str]]:
        """Return (job id, profile type) of the jobs that no simulation can run."""
        rows = np.flatnonzero(self.table.kind == KIND_UNSUPPORTED).tolist()
        return [(self.table.job_id(i), type_of(self._profile(i))) for i in rows]

    def _profile(self, index: int) -> Profile:
        # The amount is the table's: jobs of one name may differ in it (a total that is spread).
        named = None if self._profile_names is None else self.profiles.get(self.profile_name(index))
        if not (named is None or isinstance(named, Delay | Compute)):
            return named
        if named is not None:
            code = named.return_code
        else:
            code = 0 if self._failing is None else int(self._failing[index])
        amount = float(self.table.amount[index])
        if self.table.kind[index] == KIND_DELAY:
            return Delay(amount, code)
        return Compute(amount, code)

    def _programs(
        self, where: str, ids: Any, kind: npt.NDArray[np.uint8], n_hosts: npt.NDArray[np.uint32]
    ) -> dict[str, Any]:
        """Return what the native table takes of jobs that are neither delays nor computations."""
        rows = np.flatnonzero(kind >= KIND_PROGRAM).tolist()
        column = np.full(len(kind), NO_PROGRAM, dtype=np.uint32)
        programs = Programs(where, self.profiles)
        for row in rows:
            name = "" if self._profile_names is None else self._profile_names[row]
            profile = self.profiles.get(name)
            if profile is None or kind_of(profile) != kind[row]:
                raise InputError(
                    f"{where}: job {ids[row]}: kind: got {kind[row]}, "
                    f"expected that of its profile, {name!r}"
                )
            check_size(f"{where}: job {ids[row]}", profile, int(n_hosts[row]))
            if kind[row] == KIND_PROGRAM:
                column[row] = programs.add(profile)
        return {"program": column, "programs": programs.table} if rows else {}

    def _place_ranks(
        self, where: str, rank_hosts: Mapping[int, abc.Sequence[int]], order: Order | None
    ) -> None:
        new = np.arange(len(self)) if order is None else np.argsort(order)
        for old, hosts in rank_hosts.items():
            index = int(new[old])
            job = f"{where}: job {self.table.job_id(index)}: rank_hosts"
            check_rank_hosts(job, hosts, int(self.table.n_hosts[index]), self._profile(index))
            self._rank_hosts[index] = tuple(hosts)
            self.table.set_rank_hosts(index, list(hosts))

    def _link(
        self,
        where: str,
        dependencies: Mapping[int, abc.Sequence[Dependency]],
        order: Order | None,
    ) -> None:
        # Ids are compared as text, so that "3" finds job 3.
        position = {str(job_id): i for i, job_id in enumerate(self.table.job_ids.tolist())}
        new = np.arange(len(self)) if order is None else np.argsort(order)
        for old, wanted in dependencies.items():
            index = int(new[old])
            linked = []
            for dependency in wanted:
                on = position.get(str(dependency.job_id))
                _check_dependency(f"{where}: job {self.table.job_id(index)}", dependency, on)
                assert on is not None
                self.table.add_dependency(index, on, dependency.think_time)
                linked.append(replace(dependency, job_id=self.table.job_id(on)))
            self._dependencies[index] = tuple(linked)
        stuck = self.table.dependency_cycle()
        if stuck is not None:
            raise InputError(
                f"{where}: job {self.table.job_id(stuck)}: depends on itself, in a ring"
            )


def _native_ids(ids: IdColumn) -> npt.NDArray[np.int64] | list[str]:
    """Return the ids as the native table takes them."""
    if isinstance(ids, np.ndarray):
        return np.ascontiguousarray(ids, dtype=np.int64)
    return list(ids)


def _check_identity(where: str, name: str, reference_speed: float | None) -> None:
    if not name or "!" in name:
        raise InputError(f"{where}: name: got {name!r}, expected a name without '!'")
    if reference_speed is None or (math.isfinite(reference_speed) and reference_speed > 0):
        return
    raise InputError(
        f"{where}: reference_speed: got {shown(reference_speed)}, expected a positive number"
    )


def _check_dependency(where: str, dependency: Dependency, position: int | None) -> None:
    if position is None:
        raise InputError(f"{where}: depends on job {dependency.job_id}, which is unknown")
    if not (math.isfinite(dependency.think_time) and dependency.think_time >= 0):
        raise InputError(
            f"{where}: think time of job {dependency.job_id}: "
            f"got {shown(dependency.think_time)}, expected a number >= 0"
        )


def _unless_all(default: float, values: list[float]) -> list[float] | None:
    return None if all(v == default for v in values) else values


def _enter_profiles(where: str, jobs: abc.Sequence[Job], profiles: dict[str, Profile]) -> list[str]:
    """Return the name of each job's profile; enter those that are not known yet."""
    names: list[str] = []
    unnamed: dict[int, str] = {}
    for job in jobs:
        name = job.profile_name or name_of(job.profile)
        if not (job.profile_name or isinstance(job.profile, Delay | Compute)):
            name = unnamed.setdefault(id(job.profile), f"{name}:{job.id}")
        known = profiles.setdefault(name, job.profile)
        if not same_but_for_amount(known, job.profile):
            raise InputError(
                f"{where}: job {job.id}: profile {name!r} is not that of the jobs before it"
            )
        names.append(name)
    return names
