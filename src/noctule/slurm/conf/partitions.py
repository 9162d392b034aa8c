"""Partitions: PartitionName lines of slurm.conf, with their defaults, and sets of nodes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import split_outside_brackets
from noctule.slurm.conf.lines import ConfLine, Place
from noctule.slurm.conf.nodes import NodeTable
from noctule.slurm.conf.values import (
    FLAG,
    MINUTES,
    TEXT,
    WEIGHTS,
    WORDS,
    Given,
    Kind,
    choice,
    keys_of,
    number,
    setting,
    told,
)

_PREEMPT_MODES = ("OFF", "CANCEL", "REQUEUE", "SUSPEND", "WITHIN", "GANG")
_SHARING = re.compile(r"(NO|EXCLUSIVE|YES|FORCE)(?::([0-9]{1,5}))?", re.IGNORECASE)
# what concerns people and commands, not when jobs start
_UNUSED = {"alternate", "cpubind", "hidden", "rootonly", "disablerootjobs", "allocnodes"}
_UNLIMITED_COUNT = number(0, 2**32 - 1, endless=True)
_MEMORY = Kind(
    "megabytes",
    lambda text: 0 if text.upper() in ("UNLIMITED", "INFINITE") else int(text),
    "a whole number of megabytes or UNLIMITED",
)


def _read_modes(text: str) -> tuple[str, ...]:
    words = tuple(word.strip().upper() for word in text.split(",") if word.strip())
    if not words or any(word not in _PREEMPT_MODES for word in words):
        raise ValueError
    return words


PREEMPT_MODE = Kind("list", _read_modes, "OFF, CANCEL, REQUEUE or SUSPEND, and GANG")


def _read_sharing(text: str) -> tuple[str, int]:
    """Return the rule and how many jobs share a resource at most."""
    match = _SHARING.fullmatch(text)
    if match is None:
        raise ValueError
    rule = match[1].upper()
    if rule in ("YES", "FORCE"):
        return rule, int(match[2] or 4)
    return rule, 1


_OVERSUBSCRIBE = Kind(
    "NO, EXCLUSIVE, YES[:n] or FORCE[:n]", _read_sharing, "NO, EXCLUSIVE, YES:n or FORCE:n"
)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition; `nodes` are positions in the table of nodes, in its order.

    None stands for what has no limit; of memory and of what the cluster tells too, for what the
    line does not say, until the cluster's value is filled in.
    """

    name: str
    nodes_text: str = setting("Nodes", TEXT, "", "Hosts, sets of nodes, or ALL.")
    state: str = setting(
        "State", choice("UP", "DOWN", "DRAIN", "INACTIVE"), "UP", "Whether jobs enter and start."
    )
    is_default: bool = setting("Default", FLAG, False, "Of jobs that name no partition.")
    max_time: int | None = setting("MaxTime", MINUTES, None, "Longest time limit.")
    default_time: int | None = setting(
        "DefaultTime", MINUTES, None, "Of jobs that ask for none; by default MaxTime."
    )
    min_nodes: int = setting("MinNodes", number(0, 2**32 - 1), 0, "Fewest nodes of a job.")
    max_nodes: int | None = setting("MaxNodes", _UNLIMITED_COUNT, None, "Most nodes of a job.")
    max_cpus_per_node: int | None = setting(
        "MaxCPUsPerNode", _UNLIMITED_COUNT, None, "CPUs of a node that its jobs may use."
    )
    def_mem_per_cpu_mb: int | None = setting(
        "DefMemPerCPU", _MEMORY, None, "Memory of jobs that ask for none, for each CPU."
    )
    def_mem_per_node_mb: int | None = setting(
        "DefMemPerNode", _MEMORY, None, "The same, for each node; 0: all."
    )
    max_mem_per_cpu_mb: int | None = setting(
        "MaxMemPerCPU", _MEMORY, None, "Most memory for each CPU; 0: no limit."
    )
    max_mem_per_node_mb: int | None = setting(
        "MaxMemPerNode", _MEMORY, None, "Most memory for each node; 0: no limit."
    )
    def_cpu_per_gpu: int | None = setting(
        "DefCpuPerGPU", number(0), None, "CPUs for each GPU of jobs that ask for none."
    )
    def_mem_per_gpu_mb: int | None = setting("DefMemPerGPU", number(0), None, "The same, memory.")
    oversubscribe: tuple[str, int] = setting(
        "OverSubscribe",
        _OVERSUBSCRIBE,
        ("NO", 1),
        "Whether jobs share nodes or cores, and how many of them.",
        aliases=("Shared",),
    )
    priority_tier: int = setting(
        "PriorityTier", number(0, 65_533), 1, "Jobs of higher tiers come first, whatever else."
    )
    priority_job_factor: int = setting(
        "PriorityJobFactor", number(0, 65_533), 1, "The partition's part of a job's priority."
    )
    preempt_mode: tuple[str, ...] | None = setting(
        "PreemptMode", PREEMPT_MODE, None, "By default the cluster's."
    )
    grace_time: int = setting(
        "GraceTime", number(0, unit="seconds"), 0, "What preempted jobs are left."
    )
    over_time_limit: int | None = setting(
        "OverTimeLimit",
        number(0, 65_533, unit="minutes", endless=True),
        0,
        "Minutes over the limit; by default the cluster's.",
    )
    lln: bool = setting("LLN", FLAG, False, "The least loaded nodes first.")
    exclusive_user: bool = setting("ExclusiveUser", FLAG, False, "Nodes for one user at a time.")
    qos: str = setting("QOS", TEXT, "", "Whose limits all jobs of the partition have.")
    allow_accounts: tuple[str, ...] = setting("AllowAccounts", WORDS, (), "(): all.")
    deny_accounts: tuple[str, ...] = setting("DenyAccounts", WORDS, (), "Accounts kept out.")
    allow_qos: tuple[str, ...] = setting("AllowQos", WORDS, (), "(): all.")
    deny_qos: tuple[str, ...] = setting("DenyQos", WORDS, (), "QOS kept out.")
    allow_groups: tuple[str, ...] = setting("AllowGroups", WORDS, (), "(): all.")
    tres_billing_weights: tuple[tuple[str, float], ...] = setting(
        "TRESBillingWeights", WEIGHTS, (), "What usage counts; by default CPUs."
    )
    select_type_parameters: tuple[str, ...] = setting(
        "SelectTypeParameters", WORDS, (), "By default the cluster's."
    )
    requires_reservation: bool = setting("ReqResv", FLAG, False, "Only jobs in reservations.")
    suspend_time: int | None = setting(
        "SuspendTime",
        number(0, unit="seconds", endless=True),
        None,
        "Idle before power-down; by default the cluster's.",
    )
    suspend_timeout: int | None = setting(
        "SuspendTimeout", number(0), None, "By default the cluster's."
    )
    resume_timeout: int | None = setting(
        "ResumeTimeout", number(0), None, "By default the cluster's."
    )
    nodes: tuple[int, ...] = ()
    is_told: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    place: Place = field(default=Place("", 0), compare=False, repr=False)


class PartitionLines:
    """Collects PartitionName and NodeSet lines; nodes are looked up when all are known."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._defaults: dict[str, Given] = {}
        self._partitions: dict[str, Partition] = {}
        self._sets: dict[str, tuple[Place, dict[str, str]]] = {}
        self._unknown: list[tuple[str, Place]] = []

    def add(self, line: ConfLine) -> None:
        """Take a PartitionName line; one of the name DEFAULT changes what others leave open."""
        given = {key.lower(): Given(key, value, line.place) for key, value in line.entries}
        name = given.pop("partitionname").text
        self._unknown += [
            (f"PartitionName {value.key}", line.place)
            for key, value in given.items()
            if key not in _KEYS | _UNUSED
        ]
        given = _with_old_priority(given)
        if name.upper() == "DEFAULT":
            self._defaults |= given
            return
        if not name:
            raise InputError(f"{line.place}: PartitionName: got nothing, expected a name")
        values = told(Partition, {**self._defaults, **given})
        values.setdefault("default_time", values.get("max_time"))
        self.notes += drop_memory_per_cpu(values, f"{line.place}: PartitionName={name}")
        if name in self._partitions:
            self.notes.append(
                f"{line.place}: partition {name} stands at {self._partitions[name].place} too; "
                "as Slurm does, this one is taken"
            )
        told_keys = frozenset(values)
        self._partitions[name] = Partition(name, **values, is_told=told_keys, place=line.place)

    def add_set(self, line: ConfLine) -> None:
        """Take a NodeSet line."""
        values = line.values()
        self._sets[values["nodeset"]] = (line.place, values)

    def partitions(self, table: NodeTable, cluster: Mapping[str, Any]) -> tuple[Partition, ...]:
        """Return all partitions, with their nodes and with what the cluster tells for all."""
        return tuple(self._finished(p, table, cluster) for p in self._partitions.values())

    @property
    def unknown(self) -> Iterable[tuple[str, Place]]:
        """Keys of the lines that are not known, with their places."""
        return self._unknown

    def _finished(
        self, partition: Partition, table: NodeTable, cluster: Mapping[str, Any]
    ) -> Partition:
        where = f"{partition.place}: PartitionName={partition.name}: Nodes"
        changes: dict[str, Any] = {"nodes": self._nodes(partition.nodes_text, table, where)}
        told_keys = set(partition.is_told)
        for pair in _MEMORY_PAIRS:
            if told_keys & set(pair):
                told_keys |= set(pair)
        changes |= {key: value for key, value in cluster.items() if key not in told_keys}
        finished = dataclasses.replace(partition, **changes)
        if not finished.nodes:
            self.notes.append(f"{where}: none, so that no job can start there")
        elif finished.max_nodes is not None and finished.max_nodes < finished.min_nodes:
            self.notes.append(
                f"{partition.place}: PartitionName={partition.name}: MinNodes="
                f"{finished.min_nodes} with MaxNodes={finished.max_nodes}: no job can be both"
            )
        return finished

    def _nodes(self, text: str, table: NodeTable, where: str) -> tuple[int, ...]:
        found: set[int] = set()
        for part in split_outside_brackets(text):
            word = part.strip()
            if word.upper() == "ALL":
                return tuple(range(len(table.nodes)))
            if word in self._sets:
                found |= set(self._set(word, table))
            else:
                found |= set(table.indices(word, where))
        return tuple(sorted(found))

    def _set(self, name: str, table: NodeTable) -> tuple[int, ...]:
        place, values = self._sets[name]
        where = f"{place}: NodeSet={name}"
        if "feature" in values:
            feature = values["feature"]
            return tuple(i for i, node in enumerate(table.nodes) if feature in node.features)
        if "nodes" not in values:
            raise InputError(f"{where}: got neither Feature nor Nodes, expected one of them")
        return table.indices(values["nodes"], f"{where}: Nodes")


def _with_old_priority(given: dict[str, Given]) -> dict[str, Given]:
    """Replace Priority, which older files have, by the two keys that it became."""
    old = given.get("priority")
    if old is None:
        return given
    return {"prioritytier": old, "priorityjobfactor": old, **given}


def drop_memory_per_cpu(values: dict[str, Any], where: str) -> list[str]:
    """Leave out memory by CPU where it is told by node too, as Slurm does; say so."""
    notes = []
    for per_cpu, per_node in _MEMORY_PAIRS:
        if values.get(per_cpu) and values.get(per_node):
            del values[per_cpu]
            word = per_cpu[:3].title()
            notes.append(
                f"{where}: {word}MemPerCPU with {word}MemPerNode; as in Slurm, the latter counts"
            )
    return notes


_MEMORY_PAIRS = (
    ("def_mem_per_cpu_mb", "def_mem_per_node_mb"),
    ("max_mem_per_cpu_mb", "max_mem_per_node_mb"),
)
_KEYS = keys_of(Partition) | {"priority"}
