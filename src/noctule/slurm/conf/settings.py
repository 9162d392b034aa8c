"""What a site's slurm.conf says, typed: nodes, partitions, and all that decides when jobs start.

Every field that stands for a key is declared with `setting`, so that the reference's table of keys
and the reader are one. Keys that the model does not use are listed with their places; what Slurm
would correct by itself is corrected alike and told as a note; what it would refuse is an error.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.cluster_settings import (
    Accounting,
    Ends,
    Limits,
    PowerSaving,
    Preemption,
    Priority,
    Select,
)
from noctule.slurm.conf.known_keys import did_you_mean, is_slurms
from noctule.slurm.conf.lines import Conf, Place, read_conf
from noctule.slurm.conf.nodes import Node, NodeLines, NodeTable
from noctule.slurm.conf.partitions import Partition, PartitionLines, drop_memory_per_cpu
from noctule.slurm.conf.scheduler_parameters import SchedulerParameters, parse_scheduler_parameters
from noctule.slurm.conf.values import (
    COUNTS,
    Given,
    SettingFacts,
    choice,
    filled,
    keys_of,
    settings_of,
    told,
)

_SECTIONS = {
    "priority": Priority,
    "select": Select,
    "preemption": Preemption,
    "power": PowerSaving,
    "ends": Ends,
    "limits": Limits,
    "accounting": Accounting,
}
_SCHEDULER_TYPE = choice("sched/backfill", "sched/builtin")
# lines of their own, which are not settings of the whole cluster
_LINES = ("nodename", "partitionname", "downnodes", "nodeset", "frontendname")


@dataclass(frozen=True, slots=True)
class UnusedKey:
    """A key of the file that the model does not use; `known` if Slurm does."""

    key: str
    place: Place
    known: bool

    def __str__(self) -> str:
        """Say it as a line of a report."""
        if self.known:
            return f"{self.place}: {self.key}: not used by the model"
        return f"{self.place}: {self.key}: unknown to Slurm 22.05{did_you_mean(self.key)}"


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """A configuration: what its file says, and Slurm's defaults for all the rest."""

    cluster_name: str
    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...]
    scheduler_type: str = "sched/backfill"
    scheduling: SchedulerParameters = field(default_factory=SchedulerParameters)
    priority: Priority = field(default_factory=Priority)
    select: Select = field(default_factory=Select)
    preemption: Preemption = field(default_factory=Preemption)
    power: PowerSaving = field(default_factory=PowerSaving)
    ends: Ends = field(default_factory=Ends)
    limits: Limits = field(default_factory=Limits)
    accounting: Accounting = field(default_factory=Accounting)
    licenses: tuple[tuple[str, int], ...] = ()
    unused: tuple[UnusedKey, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    files: tuple[str, ...] = field(default=(), compare=False)

    @property
    def default_partition(self) -> Partition | None:
        """The partition of jobs that name none; the last one marked so."""
        marked = [partition for partition in self.partitions if partition.is_default]
        return marked[-1] if marked else None

    def partition(self, name: str) -> Partition | None:
        """Return the partition of a name."""
        return next((found for found in self.partitions if found.name == name), None)

    @property
    def node_table(self) -> NodeTable:
        """The nodes with their positions by name."""
        return NodeTable(self.nodes, {node.name: i for i, node in enumerate(self.nodes)})


def read_settings(path: str | os.PathLike[str]) -> SlurmSettings:
    """Read a slurm.conf and the files it includes."""
    return settings_from(read_conf(path))


def settings_from(conf: Conf) -> SlurmSettings:
    """Make settings of the lines of a slurm.conf."""
    nodes, partitions = NodeLines(), PartitionLines()
    given: dict[str, Given] = {}
    notes: list[str] = []
    for line in conf.lines:
        first = line.entries[0][0].lower()
        if first == "nodename":
            nodes.add(line)
        elif first == "partitionname":
            partitions.add(line)
        elif first == "downnodes":
            nodes.add_down(line)
        elif first == "nodeset":
            partitions.add_set(line)
        elif first == "frontendname":
            notes.append(f"{line.place}: FrontendName: front ends are not used by the model")
        else:
            _take(given, line.entries, line.place, notes)
    return _Assembly(conf, given, notes, nodes, partitions).settings()


def _take(
    given: dict[str, Given], entries: Iterable[tuple[str, str]], place: Place, notes: list[str]
) -> None:
    for key, text in entries:
        if key.lower() in _LINES:
            raise InputError(f"{place}: {key}: within a line, expected at its beginning")
        before = given.get(key.lower())
        if before is not None and key.lower() not in _REPEATED and before.text != text:
            notes.append(
                f"{place}: {key}: given at {before.place} too; as in Slurm, this one counts"
            )
        given[key.lower()] = Given(key, text, place)


class _Assembly:
    """What was read, put together."""

    def __init__(
        self,
        conf: Conf,
        given: dict[str, Given],
        notes: list[str],
        nodes: NodeLines,
        partitions: PartitionLines,
    ) -> None:
        self.conf = conf
        self.given = given
        self.notes = notes
        self.nodes = nodes
        self.partitions = partitions

    def settings(self) -> SlurmSettings:
        sections: dict[str, Any] = {
            name: filled(cls, self.given) for name, cls in _SECTIONS.items()
        }
        sections["limits"] = self._limits()
        scheduling, notes, unknown = parse_scheduler_parameters(
            self.given.get("schedulerparameters"), message_timeout=sections["ends"].message_timeout
        )
        table = self.nodes.table()
        if not table.nodes:
            where = self.conf.files[0]
            raise InputError(f"{where}: no NodeName line, expected at least one node")
        shared = self._shared(sections)
        partitions = self.partitions.partitions(table, shared)
        self.notes += [*self.nodes.notes, *self.partitions.notes, *notes]
        self._check(sections, partitions)
        name = self.given.get("clustername")
        kind = self.given.get("schedulertype")
        licenses = self.given.get("licenses")
        return SlurmSettings(
            cluster_name="" if name is None else name.text,
            nodes=table.nodes,
            partitions=partitions,
            scheduler_type="sched/backfill"
            if kind is None
            else _SCHEDULER_TYPE.parse(kind.text, kind.where),
            scheduling=scheduling,
            licenses=() if licenses is None else COUNTS.parse(licenses.text, licenses.where),
            unused=tuple(self._unused(unknown)),
            notes=tuple(self.notes),
            files=self.conf.files,
            **sections,
        )

    def _limits(self) -> Limits:
        values = told(Limits, self.given)
        self.notes += drop_memory_per_cpu(values, self.conf.files[0])
        return Limits(**values)

    def _shared(self, sections: Mapping[str, Any]) -> dict[str, Any]:
        """Return what partitions take from the cluster where their line does not say it."""
        limits, power = sections["limits"], sections["power"]
        names = [f.name for f in dataclasses.fields(Limits) if "_mem_per_" in f.name]
        shared = {name: getattr(limits, name) for name in [*names, "def_cpu_per_gpu"]}
        return shared | {
            "over_time_limit": sections["ends"].over_time_limit,
            "preempt_mode": sections["preemption"].preempt_mode,
            "select_type_parameters": sections["select"].parameters,
            "suspend_time": power.suspend_time,
            "suspend_timeout": power.suspend_timeout,
            "resume_timeout": power.resume_timeout,
        }

    def _check(self, sections: Mapping[str, Any], partitions: tuple[Partition, ...]) -> None:
        where = self.conf.files[0]
        if not partitions:
            raise InputError(f"{where}: no PartitionName line, expected at least one partition")
        if not any(partition.is_default for partition in partitions):
            self.notes.append(f"{where}: no partition has Default=YES; jobs must name theirs")
        for section in sections.values():
            self.notes += section.contradictions(self._where)

    def _where(self, key: str) -> str:
        given = self.given.get(key.lower())
        return given.where if given is not None else f"{self.conf.files[0]}: {key}"

    def _unused(self, parameters: Iterable[str]) -> Iterable[UnusedKey]:
        for given in self.given.values():
            if given.key.lower() not in _KEYS:
                yield UnusedKey(given.key, given.place, is_slurms(given.key))
        for name in parameters:
            place = self.given["schedulerparameters"].place
            yield UnusedKey(f"SchedulerParameters {name}", place, is_slurms(name))
        for key, place in [*self.nodes.unknown, *self.partitions.unknown]:
            yield UnusedKey(key, place, known=False)


def setting_tables() -> dict[str, tuple[SettingFacts, ...]]:
    """Return every setting that the model uses, by the part of the file it belongs to."""
    titles = {
        "Nodes": Node,
        "Partitions": Partition,
        "SchedulerParameters": SchedulerParameters,
        "Priority": Priority,
        "Selection": Select,
        "Preemption": Preemption,
        "Power saving": PowerSaving,
        "Ends of jobs": Ends,
        "Limits": Limits,
        "Accounting": Accounting,
    }
    return {title: tuple(settings_of(cls)) for title, cls in titles.items()}


_KEYS = keys_of(*_SECTIONS.values()) | {
    "clustername",
    "schedulertype",
    "schedulerparameters",
    "licenses",
}
# each of them names one more controller
_REPEATED = ("slurmctldhost",)
