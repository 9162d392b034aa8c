"""More or fewer nodes, and more or less load: changes that slurm.conf does not spell out.

Nodes are added to and taken from each kind of node, that is nodes that are alike in the same
partitions, in proportion to their numbers. New ones are copies and stand last; those that go are
the last of their kind.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from noctule.errors import InputError
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.jobs.requests import Requests
from noctule.slurm.jobs.sources import SiteJobs
from noctule.units import shown

_NODES = re.compile(r"nodes\s*([+-])\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(%?)", re.ASCII)
_LOAD = re.compile(r"load\s*\*\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)", re.ASCII)
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)
_MOST_NODES = 1_000_000


@dataclass(frozen=True, slots=True)
class Resized:
    """Settings with other nodes; `copies` are the new ones, with what they are copies of."""

    settings: SlurmSettings
    copies: Mapping[str, str]
    gone: frozenset[str]


def nodes_change(text: str, n_nodes: int, where: str) -> int | None:
    """Return how many nodes a change adds or takes; None if it is another one."""
    match = _NODES.fullmatch(text.strip().lower())
    if match is None:
        return None
    amount = float(match[2]) * n_nodes / 100 if match[3] else float(match[2])
    if not amount.is_integer() and not match[3]:
        raise InputError(f"{where}: got {shown(match[2])}, expected a whole number of nodes")
    count = math.floor(amount + 0.5)
    if match[1] == "-" and count >= n_nodes:
        raise InputError(f"{where}: the cluster has {n_nodes} nodes, expected some to be left")
    if n_nodes + count > _MOST_NODES:
        raise InputError(f"{where}: expected at most {_MOST_NODES} nodes in all")
    return -count if match[1] == "-" else count


def load_change(text: str, where: str) -> float | None:
    """Return the factor of a change of load; None if it is another change."""
    match = _LOAD.fullmatch(text.strip().lower())
    if match is None:
        return None
    factor = float(match[1])
    if not 0.01 <= factor <= 100:
        raise InputError(f"{where}: got {shown(match[1])}, expected a factor from 0.01 to 100")
    return factor


def resized(settings: SlurmSettings, change: int, where: str) -> Resized:
    """Return settings with so many nodes more, or fewer."""
    kinds = _kinds(settings)
    shares = _shares([len(kind) for kind in kinds], change)
    if change < 0:
        gone = {i for kind, n in zip(kinds, shares, strict=True) for i in kind[len(kind) + n :]}
        return _without_nodes(settings, gone, where)
    names = _NewNames(node.name for node in settings.nodes)
    copies = [
        (kind[-1], names.after(settings.nodes[kind[-1]].name))
        for kind, n in zip(kinds, shares, strict=True)
        for _ in range(n)
    ]
    nodes = [dataclasses.replace(settings.nodes[like], name=name) for like, name in copies]
    first = len(settings.nodes)
    partitions = tuple(
        dataclasses.replace(
            p, nodes=(*p.nodes, *(first + i for i, (like, _) in enumerate(copies) if like in own))
        )
        for p in settings.partitions
        for own in (set(p.nodes),)
    )
    changed = dataclasses.replace(settings, nodes=(*settings.nodes, *nodes), partitions=partitions)
    told = {name: settings.nodes[like].name for like, name in copies}
    return Resized(changed, told, frozenset())


def _kinds(settings: SlurmSettings) -> list[list[int]]:
    """Return the nodes that are alike but for their names, in the order of the file."""
    partitions = [frozenset(p.nodes) for p in settings.partitions]
    kinds: dict[object, list[int]] = {}
    for i, node in enumerate(settings.nodes):
        alike = (dataclasses.replace(node, name=""), tuple(i in nodes for nodes in partitions))
        kinds.setdefault(alike, []).append(i)
    return list(kinds.values())


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """Divide a number in proportion to sizes; the largest remainders get what is left."""
    sign, amount, whole = (1 if total >= 0 else -1), abs(total), sum(sizes)
    exact = [amount * size / whole for size in sizes]
    shares = [math.floor(share) for share in exact]
    by_rest = sorted(range(len(sizes)), key=lambda i: (shares[i] - exact[i], i))
    for i in by_rest[: amount - sum(shares)]:
        shares[i] += 1
    return [sign * share for share in shares]


def _without_nodes(settings: SlurmSettings, gone: set[int], where: str) -> Resized:
    kept = [i for i in range(len(settings.nodes)) if i not in gone]
    position = {old: new for new, old in enumerate(kept)}
    partitions = []
    for partition in settings.partitions:
        left = tuple(position[i] for i in partition.nodes if i in position)
        if partition.nodes and not left:
            raise InputError(f"{where}: no node would be left in partition {partition.name}")
        partitions.append(dataclasses.replace(partition, nodes=left))
    changed = dataclasses.replace(
        settings, nodes=tuple(settings.nodes[i] for i in kept), partitions=tuple(partitions)
    )
    return Resized(changed, {}, frozenset(settings.nodes[i].name for i in gone))


class _NewNames:
    """Names that go on where the numbers of others end."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)
        self._last: dict[str, int] = {}

    def after(self, name: str) -> str:
        match = _NUMBERED.fullmatch(name)
        prefix, width = (match[1], len(match[2])) if match else (f"{name}-", 1)
        number = self._last.get(prefix, int(match[2]) if match else 0) + 1
        while f"{prefix}{number:0{width}}" in self._names:
            number += 1
        self._last[prefix] = number
        return f"{prefix}{number:0{width}}"


def loaded(jobs: SiteJobs, factor: float) -> SiteJobs:
    """Return jobs that come so many times as fast; what depends on their dates moves with them."""
    submit = [math.floor(date / factor) for date in jobs.submit]
    earlier = [old - new for old, new in zip(jobs.submit, submit, strict=True)]
    columns = dict(jobs.requests.told)
    for name in ("begin", "deadline", "release", "started"):
        if name in columns:
            columns[name] = [
                None if date is None else date - shift
                for date, shift in zip(columns[name], earlier, strict=True)
            ]
    return dataclasses.replace(
        jobs,
        submit=[float(date) for date in submit],
        cancel=[date - shift for date, shift in zip(jobs.cancel, earlier, strict=True)],
        requests=Requests(len(jobs), columns),
    )
