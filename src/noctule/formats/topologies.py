"""The topologies of clusters, as SimGrid writes their parameters.

FAT_TREE "levels;down;up;cables", TORUS "dimensions", DRAGONFLY "groups,blue;chassis,black;
routers,green;hosts": numbers with commas between them, in groups with semicolons between them.
"""

from __future__ import annotations

import re

from noctule.errors import InputError
from noctule.network import Dragonfly, FatTree, Topology, Torus
from noctule.units import shown

TOPOLOGIES = ("FLAT", "FAT_TREE", "TORUS", "DRAGONFLY")
_POSITIVE = re.compile("0{0,9}[1-9][0-9]{0,8}")
_EXPECTED = {
    "FAT_TREE": "levels;down;up;cables as in 2;4,4;1,2;1,2",
    "TORUS": "dimensions as in 3,2,2",
    "DRAGONFLY": "groups,blue;chassis,black;routers,green;hosts as in 3,4;4,3;5,1;2",
}


def read_topology(kind: str, parameters: str, n_hosts: int, where: str) -> Topology | None:
    """Read the topology of a cluster with so many hosts; None for a flat one."""
    if kind == "FLAT":
        return None
    topology = _made(kind, _groups(parameters))
    if topology is None:
        raise InputError(
            f"{where}: topo_parameters: got {shown(parameters)}, expected {_EXPECTED[kind]}"
        )
    check_topology(topology, n_hosts, f"{where}: topo_parameters")
    return topology


def check_topology(topology: Topology, n_hosts: int, where: str) -> None:
    """Refuse a topology that does not fit the number of hosts."""
    if topology.n_hosts != n_hosts:
        raise InputError(f"{where}: got room for {topology.n_hosts} hosts, expected {n_hosts}")
    if isinstance(topology, Dragonfly) and topology.groups > topology.routers:
        raise InputError(
            f"{where}: got {topology.groups} groups, "
            f"expected {topology.routers} at most, the routers of a chassis"
        )


def topology_text(topology: Topology | None) -> tuple[str, str]:
    """Return the kind and the parameters of a topology."""
    if isinstance(topology, FatTree):
        groups = [(len(topology.down),), topology.down, topology.up, topology.cables]
    elif isinstance(topology, Torus):
        groups = [topology.dimensions]
    elif isinstance(topology, Dragonfly):
        t = topology
        groups = [(t.groups, t.blue), (t.chassis, t.black), (t.routers, t.green), (t.hosts,)]
    else:
        return "FLAT", ""
    kind = {FatTree: "FAT_TREE", Torus: "TORUS", Dragonfly: "DRAGONFLY"}[type(topology)]
    return kind, ";".join(",".join(map(str, group)) for group in groups)


def _groups(text: str) -> list[tuple[int, ...]]:
    """Return the numbers; an empty list where something is not one, or is 0."""
    groups = []
    for part in text.split(";"):
        numbers = [number.strip() for number in part.split(",")]
        if not all(_POSITIVE.fullmatch(number) for number in numbers):
            return []
        groups.append(tuple(map(int, numbers)))
    return groups


def _made(kind: str, groups: list[tuple[int, ...]]) -> Topology | None:
    sizes = [len(group) for group in groups]
    if kind == "TORUS" and len(groups) == 1:
        return Torus(groups[0])
    if kind == "FAT_TREE" and len(groups) == 4 and sizes == [1, *groups[0] * 3]:
        return FatTree(*groups[1:])
    if kind == "DRAGONFLY" and sizes == [2, 2, 2, 1]:
        return Dragonfly(*groups[0], *groups[1], *groups[2], *groups[3])
    return None
