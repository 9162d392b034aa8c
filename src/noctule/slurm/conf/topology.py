"""topology.conf: the tree of switches that topology/tree chooses nodes by."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.conf.lines import Conf, Place, read_conf
from noctule.slurm.conf.nodes import NodeTable


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch: the nodes below it, by position; how far it is from them, and what is above.

    Leaves have level 0; `parent` is the position of the switch above, None for a root.
    """

    name: str
    level: int
    nodes: tuple[int, ...]
    parent: int | None


@dataclass(frozen=True, slots=True)
class Topology:
    """Switches, leaves first, and sentences on what Slurm would warn of."""

    switches: tuple[Switch, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    place: Place
    children: tuple[str, ...]
    nodes: tuple[int, ...]


def read_topology(path: str | os.PathLike[str], table: NodeTable) -> Topology:
    """Read topology.conf for the nodes of a configuration."""
    return topology_from(read_conf(path), table)


def topology_from(conf: Conf, table: NodeTable) -> Topology:
    """Make the tree of the lines of a topology.conf."""
    lines = _switch_lines(conf, table)
    parents = _parents(lines)
    levels: dict[str, int] = {}
    for name in lines:
        _level(name, lines, levels)
    names = sorted(lines, key=lambda name: levels[name])  # stable: the file's order within a level
    position = {name: i for i, name in enumerate(names)}
    below = {name: lines[name].nodes for name in names}
    for name in names:
        more = [node for child in lines[name].children for node in below[child]]
        below[name] = tuple(sorted({*below[name], *more}))
    switches = tuple(
        Switch(name, levels[name], below[name], position.get(parents.get(name, "")))
        for name in names
    )
    return Topology(switches, tuple(_notes(conf, switches, table)))


def _switch_lines(conf: Conf, table: NodeTable) -> dict[str, _Line]:
    lines: dict[str, _Line] = {}
    for line in conf.lines:
        values = line.values()
        where = str(line.place)
        name = values.get("switchname", "")
        if not name:
            raise InputError(f"{where}: no SwitchName, expected one in every line")
        if name in lines:
            raise InputError(f"{where}: SwitchName={name} stands at {lines[name].place} too")
        if ("nodes" in values) == ("switches" in values):
            raise InputError(f"{where}: SwitchName={name}: expected either Nodes or Switches")
        children = tuple(expand_hosts(values.get("switches", ""), f"{where}: Switches"))
        nodes = table.indices(values.get("nodes", ""), f"{where}: Nodes")
        lines[name] = _Line(line.place, children, nodes)
    return lines


def _parents(lines: Mapping[str, _Line]) -> dict[str, str]:
    parents: dict[str, str] = {}
    for name, line in lines.items():
        for child in line.children:
            where = f"{line.place}: SwitchName={name}: Switches"
            if child not in lines:
                raise InputError(f"{where}: {child!r} is no switch of the file")
            if child in parents:
                raise InputError(f"{where}: {child} is below {parents[child]} already")
            parents[child] = name
    return parents


def _level(name: str, lines: Mapping[str, _Line], levels: dict[str, int]) -> None:
    """Enter the levels of a switch and of all below it, without recursion."""
    stack = [name]
    pending: set[str] = set()
    while stack:
        top = stack[-1]
        missing = [child for child in lines[top].children if child not in levels]
        if not missing:
            levels[top] = 1 + max((levels[c] for c in lines[top].children), default=-1)
            pending.discard(top)
            stack.pop()
            continue
        pending.add(top)
        ring = next((child for child in missing if child in pending), None)
        if ring is not None:
            raise InputError(f"{lines[top].place}: switch {ring} is below itself")
        stack += missing


def _notes(conf: Conf, switches: Sequence[Switch], table: NodeTable) -> list[str]:
    where = conf.files[0]
    seen = {node for switch in switches for node in switch.nodes}
    missing = [node.name for i, node in enumerate(table.nodes) if i not in seen]
    notes = []
    if missing:
        notes.append(f"{where}: no switch reaches {len(missing)} nodes, {missing[0]} first")
    roots = [switch.name for switch in switches if switch.parent is None]
    if len(roots) > 1:
        notes.append(f"{where}: {len(roots)} roots, {roots[0]} first: no job spans two of them")
    return notes
