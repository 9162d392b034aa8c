"""The platform of a configuration: a host is a node, or, where parts of nodes are given, a core."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from noctule.platform import HostKind, Hosts, Platform
from noctule.slurm.conf.nodes import Node
from noctule.slurm.conf.partitions import Partition
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.requests import NO_LIMIT, Request
from noctule.units import SIZE

_MEGABYTE = 2.0**20


def hosts_of_node(settings: SlurmSettings, node: Node) -> int:
    """Return how many hosts of the platform stand for a node."""
    return 1 if settings.select.is_linear else node.cores


def first_hosts(settings: SlurmSettings) -> list[int]:
    """Return the first host of each node; those of a node are a run."""
    counts = (hosts_of_node(settings, node) for node in settings.nodes)
    return list(itertools.accumulate(counts, initial=0))[:-1]


def platform_of(settings: SlurmSettings) -> Platform:
    """Return the hosts in the order of the nodes, named after them: `n1`, or `n1.0` for a core."""
    names: list[str] = []
    kinds: dict[HostKind, int] = {}
    kind_of: list[int] = []
    for node in settings.nodes:
        n_hosts = hosts_of_node(settings, node)
        is_core = not settings.select.is_linear
        names += [f"{node.name}.{i}" for i in range(n_hosts)] if is_core else [node.name]
        memory = node.memory_mb * _MEGABYTE / n_hosts
        kind = HostKind(
            cores=1 if is_core else node.cores,
            memory=memory,
            properties={"memory": SIZE.text(memory)},
        )
        kind_of += [kinds.setdefault(kind, len(kinds))] * n_hosts
    hosts = Hosts(names, list(kinds), np.array(kind_of, dtype=np.int32))
    return Platform(hosts, source=settings.files[0] if settings.files else "")


def partitions_of(settings: SlurmSettings, names: Sequence[str]) -> list[Partition]:
    """Return the partitions of a request that exist; the default one where it names none."""
    if not names:
        default = settings.default_partition
        return [] if default is None else [default]
    return [found for found in map(settings.partition, names) if found is not None]


class Capacity:
    """What a partition has: how many hosts a job gets there, and why it may never start."""

    def __init__(self, settings: SlurmSettings, partition: Partition) -> None:
        """Count the nodes of a partition once, for all jobs."""
        nodes = [settings.nodes[i] for i in partition.nodes]
        self.partition = partition
        self.is_linear = settings.select.is_linear
        self.is_exclusive = partition.oversubscribe[0] == "EXCLUSIVE"
        largest_first = sorted(nodes, key=lambda node: -node.cpus)
        # CPUs, and cores, of the so many largest nodes
        self.cpus = list(itertools.accumulate((node.cpus for node in largest_first), initial=0))
        self.cores = list(itertools.accumulate((node.cores for node in largest_first), initial=0))
        self.cpus_per_core = max(1, nodes[0].cpus // nodes[0].cores) if nodes else 1
        self.memory_mb = None
        if settings.select.memory and nodes:
            self.memory_mb = max(node.memory_mb - node.mem_spec_limit_mb for node in nodes)

    def hosts_wanted(self, request: Request) -> int:
        """Return the hosts that a job gets at least: nodes, or the cores that its CPUs are."""
        n_nodes = max(1, request.min_nodes)
        cpus = max(self._cpus_of(request), n_nodes)
        whole = max(n_nodes, bisect_left(self.cpus, cpus))
        if self.is_linear:
            return whole
        if request.exclusive or self.is_exclusive:
            return self.cores[min(whole, len(self.cores) - 1)] or whole
        return max(n_nodes, -(-cpus // self.cpus_per_core))

    def why_never(self, request: Request) -> str:
        """Say what keeps a job from ever starting; "" if nothing does."""
        partition = self.partition
        where = f"partition {partition.name}"
        least, most = max(1, request.min_nodes), request.max_nodes
        checks = (
            (least >= len(self.cpus), f"more nodes than {where} has"),
            (self._cpus_of(request) > self.cpus[-1], f"more CPUs than {where} has"),
            (least > _or_endless(partition.max_nodes), f"more nodes than MaxNodes of {where}"),
            (
                most is not None and max(least, most) < partition.min_nodes,
                f"fewer nodes than MinNodes of {where}",
            ),
            (
                (request.limit or 0) > _or_endless(partition.max_time),
                f"a longer limit than MaxTime of {where}",
            ),
            (self._is_too_much_memory(request), f"more memory than a node of {where} has"),
        )
        return next((text for is_so, text in checks if is_so), "")

    def _cpus_of(self, request: Request) -> int:
        return max(request.cpus, request.tasks * request.cpus_per_task)

    def _is_too_much_memory(self, request: Request) -> bool:
        if self.memory_mb is None or not request.memory_mb:
            return False
        per_node = request.memory_mb
        if request.memory_is_per_cpu:
            per_node *= request.cpus_per_task
        return per_node > self.memory_mb


def _or_endless(bound: int | None) -> int:
    return NO_LIMIT if bound is None else bound
