"""What jobs ask of Slurm: partitions, nodes, CPUs, memory, limits, dependencies and all the rest.

A workload says when jobs are submitted and how long they run; `Requests` says the rest, as columns
in the same order. A column is left out where all jobs have its default.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.gres import Gres
from noctule.units import shown

_DEPENDENCY = re.compile(r"([0-9]+)(?:_([0-9]+|\*))?(?:\+([0-9]+))?", re.ASCII)
#: The limit of a job that asked for none at all, as Slurm writes it.
NO_LIMIT = 2**32 - 1
DEPENDENCY_KINDS = (
    "after",
    "afterany",
    "afterburstbuffer",
    "aftercorr",
    "afternotok",
    "afterok",
    "singleton",
)


@dataclass(frozen=True, slots=True)
class SlurmDependency:
    """A job, or a task of an array, that must have started or ended; `minutes` after its start."""

    kind: str
    job_id: str = ""
    minutes: int = 0

    def __str__(self) -> str:
        """Write it as sbatch reads it."""
        if self.kind == "singleton":
            return self.kind
        return f"{self.kind}:{self.job_id}" + (f"+{self.minutes}" if self.minutes else "")


@dataclass(frozen=True, slots=True)
class Request:
    """What one job asks for, as `sbatch` took it.

    Attributes:
        partitions: in the order asked for; empty: the default one.
        max_nodes: 0 where only `min_nodes` are asked for, None where there is no bound.
        tasks: 0 where it is not said.
        cpus: of the whole job; 0 where tasks and nodes say it.
        memory_mb: of each node, or of each CPU; None: the partition's default, 0: all of a node.
        exclusive_user: other jobs of its user may share its nodes, and nobody else's.
        switches: leaf switches of its nodes, for which it waits `switch_wait` seconds; None:
            `max_switch_wait`, which is also the most.
        features: an expression over features of nodes, as `--constraint` has it.
        required_nodes: a list of hosts; so is `excluded_nodes`.
        limit: minutes; None: the partition's; NO_LIMIT: none at all.
        begin: date of the workload's clock before which it does not start; so are `deadline`,
            after which it is cancelled, and `release`, until when it is held.
        priority: asked for; None: as the priority plugin says.
        dependencies: what it waits for: all of them, or one if `any_dependency`.
        array: number of the array, empty for none; `array_throttle` 0: no bound.
        started: date at which it starts whatever else waits, on the hosts of `started_on`: it ran
            already when the record begins.
        suspended: seconds of its run in which it was suspended.
        requeue: whether it waits again when it is preempted; None: as the configuration says.
        ignores_term: whether it ends only KillWait after it was told to.
        het_group: number of its heterogeneous job, empty for none.
    """

    partitions: tuple[str, ...] = ()
    min_nodes: int = 1
    max_nodes: int | None = 0
    tasks: int = 0
    cpus_per_task: int = 1
    tasks_per_node: int = 0
    cpus: int = 0
    memory_mb: int | None = None
    memory_is_per_cpu: bool = False
    gres_per_node: tuple[Gres, ...] = ()
    gres_per_job: tuple[Gres, ...] = ()
    gres_per_task: tuple[Gres, ...] = ()
    exclusive: bool = False
    exclusive_user: bool = False
    oversubscribe: bool = False
    contiguous: bool = False
    features: str = ""
    required_nodes: str = ""
    excluded_nodes: str = ""
    licenses: tuple[tuple[str, int], ...] = ()
    limit: int | None = None
    time_min: int = 0
    begin: float | None = None
    deadline: float | None = None
    nice: int = 0
    priority: int | None = None
    held: bool = False
    release: float | None = None
    user: str = ""
    account: str = ""
    qos: str = ""
    reservation: str = ""
    name: str = ""
    array: str = ""
    array_task: int = 0
    array_throttle: int = 0
    dependencies: tuple[SlurmDependency, ...] = ()
    any_dependency: bool = False
    started: float | None = None
    started_on: str = ""
    suspended: float = 0.0
    switches: int = 0
    switch_wait: float | None = None
    requeue: bool | None = None
    ignores_term: bool = False
    het_group: str = ""


FIELDS: Mapping[str, Any] = {field.name: field.default for field in dataclasses.fields(Request)}


class Requests(Sequence[Request]):
    """The requests of all jobs of a workload, in its order, as columns."""

    def __init__(self, n_jobs: int, columns: Mapping[str, Sequence[Any]] | None = None) -> None:
        """Take columns by the name of a field of Request."""
        self._n_jobs = n_jobs
        self._columns: dict[str, Sequence[Any]] = {}
        for name, column in (columns or {}).items():
            if name not in FIELDS:
                raise InputError(f"requests: {name!r} is no field of a request")
            if len(column) != n_jobs:
                raise InputError(f"requests: {name}: {len(column)} values for {n_jobs} jobs")
            default = FIELDS[name]
            if any(value != default for value in column):
                self._columns[name] = column

    @classmethod
    def of(cls, requests: Iterable[Request]) -> Requests:
        """Make columns of Request objects."""
        found = list(requests)
        return cls(len(found), {name: [getattr(r, name) for r in found] for name in FIELDS})

    def __len__(self) -> int:
        """Return the number of jobs."""
        return self._n_jobs

    def __getitem__(self, index: Any) -> Any:
        """Return the request of one job."""
        if not isinstance(index, int):
            raise TypeError(f"requests: expected the position of a job, got {index!r}")
        if not -self._n_jobs <= index < self._n_jobs:
            raise IndexError(f"requests: job {index} of {self._n_jobs}")
        return Request(**{name: column[index] for name, column in self._columns.items()})

    def __iter__(self) -> Iterator[Request]:
        """Yield the requests in the order of the workload."""
        return (self[i] for i in range(self._n_jobs))

    def __eq__(self, other: object) -> bool:
        """Whether all jobs ask for the same."""
        if not isinstance(other, Requests):
            return NotImplemented
        if len(self) != len(other) or set(self._columns) != set(other._columns):
            return False
        return all(list(c) == list(other._columns[n]) for n, c in self._columns.items())

    __hash__ = None  # type: ignore[assignment]

    @property
    def told(self) -> Mapping[str, Sequence[Any]]:
        """The columns in which not all jobs have the default."""
        return self._columns

    def column(self, name: str) -> Sequence[Any]:
        """Return one field of all jobs."""
        return self._columns.get(name) or [FIELDS[name]] * self._n_jobs

    def take(self, positions: Sequence[int]) -> Requests:
        """Return the requests of some jobs, in the order given."""
        columns = {name: [c[i] for i in positions] for name, c in self._columns.items()}
        return Requests(len(positions), columns)


def with_nodes_for_tasks(request: Request) -> Request:
    """Return what sbatch makes of fewer tasks than nodes: as many nodes as tasks."""
    if not request.tasks:
        return request
    most = request.max_nodes and min(request.max_nodes, request.tasks)
    if request.tasks < request.min_nodes:
        return dataclasses.replace(request, min_nodes=request.tasks, max_nodes=0)
    return dataclasses.replace(request, max_nodes=most) if most != request.max_nodes else request


def parse_dependencies(text: str, where: str) -> tuple[tuple[SlurmDependency, ...], bool]:
    """Read what `--dependency` takes; return it and whether one of them is enough."""
    if "," in text and "?" in text:
        raise InputError(f"{where}: got {shown(text)}, expected ',' or '?' between them, not both")
    found: list[SlurmDependency] = []
    for part in re.split(r"[,?]", text):
        words = part.strip().split(":")
        kind = words[0].lower()
        if kind not in DEPENDENCY_KINDS or (kind == "singleton") != (len(words) == 1):
            raise InputError(
                f"{where}: got {shown(text)}, expected dependencies such as afterok:12:13,singleton"
            )
        if kind == "singleton":
            found.append(SlurmDependency(kind))
        found += [_dependency(kind, word, where) for word in words[1:]]
    return tuple(found), "?" in text


def _dependency(kind: str, word: str, where: str) -> SlurmDependency:
    match = _DEPENDENCY.fullmatch(word.strip())
    if match is None or (match[3] and kind != "after"):
        raise InputError(
            f"{where}: got {shown(word)}, expected a job such as 12, 12_3 or, of after, 12+5"
        )
    job_id = match[1] + (f"_{match[2]}" if match[2] else "")
    return SlurmDependency(kind, job_id, int(match[3] or 0))
