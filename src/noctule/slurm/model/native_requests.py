"""Requests as the core takes them: by numbers, with what partitions say where jobs say nothing."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from noctule import _core
from noctule.errors import InputError
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.constraints import nodes_with
from noctule.slurm.jobs.requests import Requests
from noctule.slurm.model.native_settings import NO_BOUND, gres_kinds, minutes
from noctule.units import shown

_NO_DATE = 2**63 - 1
_DEPENDENCIES = ("after", "afterany", "afterok", "afternotok", "aftercorr", "singleton")
_SAME = (
    "min_nodes",
    "tasks",
    "cpus_per_task",
    "tasks_per_node",
    "memory_is_per_cpu",
    "exclusive",
    "exclusive_user",
    "contiguous",
    "oversubscribe",
    "ignores_term",
    "time_min",
    "nice",
    "held",
    "array_task",
    "array_throttle",
    "any_dependency",
)


class RequestCompiler:
    """Turns requests into numbers; what names mean is asked of the settings once."""

    def __init__(
        self,
        settings: SlurmSettings,
        requests: Requests,
        *,
        epoch: int,
        job_ids: Sequence[Any] | None = None,
    ) -> None:
        self.settings = settings
        self.requests = requests
        self.epoch = epoch
        self.positions = {str(job_id): i for i, job_id in enumerate(job_ids or ())}
        self.notes: list[str] = []
        self.constraints: dict[tuple[str, int], int] = {}  # features, and memory of each node
        self._partition_of = {p.name: i for i, p in enumerate(settings.partitions)}
        self._arrays: dict[str, list[int]] = {}
        for i, array in enumerate(requests.told.get("array", ())):
            if array:
                self._arrays.setdefault(array, []).append(i)

    def compile(self) -> tuple[list[list[int]], Callable[[_core.SlurmSettings], Any]]:
        """Return the nodes of each constraint, and what fills requests for compiled settings."""
        columns = self._columns()
        nodes = [self._allowed_nodes(features, least) for features, least in self.constraints]

        def fill(core_settings: _core.SlurmSettings) -> _core.SlurmRequests:
            core = _core.SlurmRequests(len(self.requests))
            for name, values in columns.items():
                core.set_column(name, np.asarray(values, dtype=np.int64))
            for job, partitions in enumerate(self._partitions):
                core.set_partitions(job, list(partitions))
            self._fill_lists(core, core_settings)
            return core

        return nodes, fill

    def _columns(self) -> dict[str, Sequence[int]]:
        self._partitions = self._partition_lists()
        told = self.requests.told
        same = {name: [int(value) for value in told[name]] for name in _SAME if name in told}
        return same | self._sizes() | self._dates() | self._names()

    def _sizes(self) -> dict[str, Sequence[int]]:
        requests = self.requests
        told = requests.told
        bounds = zip(requests.column("min_nodes"), requests.column("max_nodes"), strict=True)
        columns: dict[str, Sequence[int]] = {
            "limit": self._limits(),
            "max_nodes": [0 if most is None else max(least, most) for least, most in bounds],
        }
        if "switches" in told:
            longest = self.settings.scheduling.max_switch_wait
            columns["one_switch"] = [int(count == 1) for count in told["switches"]]
            columns["switch_wait"] = [
                longest if wait is None else min(longest, math.ceil(wait))
                for wait in self.requests.column("switch_wait")
            ]
        if "cpus" in told:
            columns["min_cpus"] = told["cpus"]
        if "memory_mb" in told:
            columns["memory_mb"] = [value or 0 for value in told["memory_mb"]]
            columns["all_memory"] = [int(value == 0) for value in told["memory_mb"]]
        return columns

    def _dates(self) -> dict[str, Sequence[int]]:
        told = self.requests.told
        columns: dict[str, Sequence[int]] = {}
        dates = {"begin": 0, "deadline": _NO_DATE, "release": _NO_DATE, "started": _NO_DATE}
        for name, default in dates.items():
            if name in told:
                columns[name] = [
                    default if value is None else self.epoch + math.floor(value)
                    for value in told[name]
                ]
        if "requeue" in told or not self.settings.ends.job_requeue:
            usual = self.settings.ends.job_requeue
            columns["requeue"] = [
                int(usual if value is None else value) for value in self.requests.column("requeue")
            ]
        if "suspended" in told:
            columns["suspended"] = [math.ceil(value) for value in told["suspended"]]
        if "priority" in told:
            columns["priority"] = [value or 0 for value in told["priority"]]
            # a priority of 0 is what a held job has
            both = zip(self.requests.column("held"), told["priority"], strict=True)
            columns["held"] = [int(held or priority == 0) for held, priority in both]
        return columns

    def _names(self) -> dict[str, Sequence[int]]:
        told = self.requests.told
        columns: dict[str, Sequence[int]] = {
            name: _numbers(told[name], blank=0 if name == "user" else NO_BOUND)
            for name in ("user", "name", "array")
            if name in told
        }
        if "het_group" in told:
            columns["het"] = _numbers(told["het_group"], blank=NO_BOUND)
        if "features" in told or "memory_mb" in told:
            columns["constraint"] = [
                self.constraints.setdefault(key, len(self.constraints)) if any(key) else NO_BOUND
                for key in zip(self.requests.column("features"), self._least_memory(), strict=True)
            ]
        if n := sum(count > 1 for count in told.get("switches", ())):
            self.notes.append(f"{n} jobs ask for several switches: Slurm 22.05 waits for one only")
        if any(partition.exclusive_user for partition in self.settings.partitions) or any(
            told.get("exclusive_user", ())
        ):
            n = sum(not user for user in self.requests.column("user"))
            if n:
                self.notes.append(f"{n} jobs have no user: for ExclusiveUser they are one user's")
        return columns

    def _least_memory(self) -> Iterator[int]:
        """Yield the memory of the smallest nodes that have enough for each job; 0: all or none do.

        Slurm leaves out nodes that are too small before it asks where and when a job fits.
        """
        sizes = sorted({node.memory_mb for node in self.settings.nodes})
        names = ("memory_mb", "memory_is_per_cpu", "cpus_per_task", "tasks_per_node")
        for memory, is_per_cpu, cpus, tasks in zip(*map(self.requests.column, names), strict=True):
            least = (memory or 0) * (cpus * max(1, tasks) if is_per_cpu else 1)
            yield sizes[bisect_left(sizes, least)] if sizes[0] < least <= sizes[-1] else 0

    def _allowed_nodes(self, features: str, least_mb: int) -> list[int]:
        nodes = self.settings.nodes
        allowed = (
            nodes_with(features, nodes, f"constraint {features}") if features else range(len(nodes))
        )
        return [i for i in allowed if nodes[i].memory_mb >= least_mb]

    def _partition_lists(self) -> list[tuple[int, ...]]:
        default = self.settings.default_partition
        known: dict[tuple[str, ...], tuple[int, ...]] = {}
        lists = []
        for job, names in enumerate(self.requests.column("partitions")):
            found = known.get(names)
            if found is None:
                asked = names or (() if default is None else (default.name,))
                unknown = [name for name in asked if name not in self._partition_of]
                if unknown or not asked:
                    what = (
                        f"partition {unknown[0]!r} is not configured"
                        if unknown
                        else "it names no partition, and none is the default"
                    )
                    raise InputError(f"requests: job {job + 1} of the workload: {what}")
                found = known[names] = tuple(self._partition_of[name] for name in asked)
            lists.append(found)
        return lists

    def _limits(self) -> list[int]:
        """Return limits in minutes: those asked for, or the default of the first partition."""
        defaults = []
        for partition in self.settings.partitions:
            told = partition.default_time
            defaults.append(minutes(partition.max_time if told is None else told))
        return [
            defaults[partitions[0]] if limit is None else minutes(limit)
            for limit, partitions in zip(
                self.requests.column("limit"), self._partitions, strict=True
            )
        ]

    def _fill_lists(self, core: _core.SlurmRequests, settings: _core.SlurmSettings) -> None:
        told = self.requests.told
        self._fill_nodes(core, settings)
        self._fill_gres(core)
        names = {name: i for i, (name, _) in enumerate(self.settings.licenses)}
        for job, licenses in enumerate(told.get("licenses", ())):
            for name, count in licenses:
                if name not in names:
                    raise InputError(f"requests: license {shown(name)} is not configured")
                core.add_license(job, names[name], count)
        for job, dependencies in enumerate(told.get("dependencies", ())):
            for dependency in dependencies:
                self._fill_dependency(core, job, dependency)

    def _fill_nodes(self, core: _core.SlurmRequests, settings: _core.SlurmSettings) -> None:
        names = ("required_nodes", "excluded_nodes", "started_on")
        if not {*names} & {*self.requests.told}:
            return
        table = self.settings.node_table
        lists = zip(*map(self.requests.column, names), strict=True)
        for job, texts in enumerate(lists):
            if any(texts):
                where = f"requests: job {job + 1} of the workload"
                required, excluded, started_on = (
                    _core.HostSet(list(table.indices(text, where)) if text else [])
                    for text in texts
                )
                core.set_nodes(settings, job, required, excluded)
                core.set_started_on(settings, job, started_on)

    def _fill_gres(self, core: _core.SlurmRequests) -> None:
        kinds = {name: i for i, name in enumerate(gres_kinds(self.settings))}
        for per, field in enumerate(("gres_per_node", "gres_per_job", "gres_per_task")):
            for job, asked in enumerate(self.requests.told.get(field, ())):
                for gres in asked:
                    name = f"{gres.name}:{gres.kind}" if gres.kind else gres.name
                    if name not in kinds:
                        raise InputError(
                            f"requests: no node has the generic resource {shown(name)}"
                        )
                    counts = [gres.count if i == per else 0 for i in range(3)]
                    core.add_gres(job, kinds[name], *counts)

    def _fill_dependency(self, core: _core.SlurmRequests, job: int, dependency: Any) -> None:
        if dependency.kind == "singleton":
            core.add_dependency(job, _DEPENDENCIES.index("singleton"), job, 0)
            return
        if dependency.kind not in _DEPENDENCIES:
            self.notes.append(f"dependency {dependency}: left out")
            return
        others = self._jobs_of(dependency.job_id, job, corresponding=dependency.kind == "aftercorr")
        if not others:
            self.notes.append(f"dependency {dependency}: no such job in the workload, left out")
        for other in others:
            core.add_dependency(
                job, _DEPENDENCIES.index(dependency.kind), other, dependency.minutes
            )

    def _jobs_of(self, job_id: str, job: int, *, corresponding: bool) -> list[int]:
        if job_id in self.positions:
            return [self.positions[job_id]]
        array = job_id.removesuffix("_*")
        tasks = self._arrays.get(array, [])
        if corresponding:
            numbers: Mapping[int, int] = {
                self.requests.column("array_task")[task]: task for task in tasks
            }
            own = self.requests.column("array_task")[job]
            return [numbers[own]] if own in numbers else []
        return tasks


def _numbers(names: Sequence[str], *, blank: int) -> list[int]:
    known: dict[str, int] = {}
    return [known.setdefault(name, len(known) + 1) if name else blank for name in names]
