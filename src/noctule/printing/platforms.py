"""A platform in words: a table of its hosts, and the tree of its zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from noctule.console import Result, Table
from noctule.network import Cluster, Dragonfly, FatTree, Link, Network, Torus, Zone
from noctule.platform import Host, HostKind, Platform
from noctule.units import BANDWIDTH, DURATION, POWER, SIZE, SPEED

_MOST_ROWS = 40
_MOST_RANGES = 4
_ROUTING_WORDS = {"Cluster": "star", "DijkstraCache": "dijkstra_cache"}


@dataclass(frozen=True, slots=True)
class ZoneFacts:
    """What there is to say about a zone: its name, its kind, and more."""

    name: str
    kind: str
    facts: Sequence[str]
    zones: Sequence[Zone | Cluster]

    def __str__(self) -> str:
        return f"{self.name}: {', '.join((self.kind, *self.facts))}"


@dataclass(frozen=True, slots=True)
class _Group:
    """Hosts of one kind."""

    ids: str
    n_hosts: int
    first: str
    last: str
    kind: HostKind


def platform_result(platform: Platform) -> Result:
    """Return the hosts of a platform as a table, and its zones as a tree."""
    groups = list(_groups(platform))
    kinds = kinds_by_name(platform)
    rows = [_row(group) for group in groups[:_MOST_ROWS]]
    headers = ["ids", "hosts", "names", "role", "speed", "cores", "memory", "power", "zone"]
    lines = [f"... and {len(groups) - _MOST_ROWS} more kinds"] if groups[_MOST_ROWS:] else []
    lines += ["", *zone_tree(platform.network, kinds)] if platform.network.zones else []
    data = {
        "file": platform.source,
        "n_hosts": platform.n_hosts,
        "n_storages": len(platform.storages),
        "master": platform.master.name if platform.master else None,
        "homogeneous": platform.is_homogeneous,
        "reference_speed": platform.reference_speed,
        "kinds": [_group_data(group) for group in groups],
        "zones": [_zone_data(zone, kinds) for zone in platform.network.zones],
        "options": dict(platform.network.options),
        "notes": list(platform.notes),
    }
    return Result(data, Table(headers, rows, of_numbers=False), lines)


def route_result(platform: Platform, src: str, dst: str) -> Result:
    """Return the links between two hosts, one a line, and the latency of the way."""
    path = platform.route(src, dst)
    data = {
        "src": src,
        "dst": dst,
        "links": list(path.links),
        "latency": path.latency,
        "missing": path.missing,
    }
    lines = [*path.links, f"latency {DURATION.short(path.latency)}"]
    if path.missing:
        lines.append("a zone on the way declares no route: what is sent there takes no time")
    return Result(data, lines=lines)


def _groups(platform: Platform) -> Iterator[_Group]:
    hosts = platform.hosts
    order = np.argsort(hosts.kind_of, kind="stable")
    ends = np.searchsorted(hosts.kind_of[order], np.arange(len(hosts.kinds)), side="right")
    start = 0
    for kind, end in zip(hosts.kinds, ends.tolist(), strict=True):
        ids = order[start:end].tolist()
        yield _Group(_ids_text(ids), len(ids), hosts.names[ids[0]], hosts.names[ids[-1]], kind)
        start = end
    others: list[Host] = [*platform.storages]
    if platform.master is not None:
        others.append(platform.master)
    for host in others:
        ids_text = str(host.id) if host.id >= 0 else "-"
        yield _Group(ids_text, 1, host.name, host.name, host.kind)


def _ids_text(ids: Sequence[int]) -> str:
    """Write ids as intervals: 0-3 7."""
    edges = [0, *(i for i in range(1, len(ids)) if ids[i] != ids[i - 1] + 1), len(ids)]
    texts = [f"{ids[a]}-{ids[b - 1]}" if b - a > 1 else str(ids[a]) for a, b in pairwise(edges)]
    return " ".join(texts)


def _cut(ids: str) -> str:
    texts = ids.split(" ")
    more = len(texts) - _MOST_RANGES
    return " ".join(texts[:_MOST_RANGES]) + (f" ... ({more} more)" if more > 0 else "")


def _row(group: _Group) -> list[str]:
    kind = group.kind
    return [
        _cut(group.ids),
        str(group.n_hosts),
        _names_text(group.n_hosts, group.first, group.last),
        kind.role.value,
        SPEED.short(kind.speed) + _states_text(kind),
        str(kind.cores),
        "-" if kind.memory is None else SIZE.short(kind.memory),
        _power_text(kind),
        "/".join(kind.zone),
    ]


def _names_text(n: int, first: str, last: str) -> str:
    return first if n == 1 else f"{first} ... {last}" if n > 2 else f"{first}, {last}"


def _states_text(kind: HostKind) -> str:
    n = len(kind.speeds)
    return f" ({n} states)" if n > 1 else ""


def _power_text(kind: HostKind) -> str:
    if kind.power_fault:
        return "not known"
    if not kind.powers:
        return "-"
    power = kind.powers[kind.initial_state]
    return f"{POWER.short(power.idle)} to {POWER.short(power.computing)}"


def zone_tree(network: Network, kinds: Mapping[str, HostKind]) -> Iterator[str]:
    """Yield the lines of a tree of the zones."""

    def branches(zones: Sequence[Zone | Cluster], margin: str) -> Iterator[str]:
        for zone in zones:
            last = zone is zones[-1]
            facts = zone_facts(zone, kinds)
            yield f"{margin}{'`-- ' if last else '|-- '}{facts}"
            yield from branches(facts.zones, margin + ("    " if last else "|   "))

    for zone in network.zones:
        facts = zone_facts(zone, kinds)
        yield str(facts)
        yield from branches(facts.zones, "")


def kinds_by_name(platform: Platform) -> dict[str, HostKind]:
    """Return the kind of every host by its name."""
    return {host.name: host.kind for host in platform.all_hosts()}


def zone_facts(zone: Zone | Cluster, kinds: Mapping[str, HostKind]) -> ZoneFacts:
    """Say what a zone is and has."""
    if isinstance(zone, Cluster):
        return _cluster_facts(zone, kinds)
    hosts = [name for name in zone.members if name in kinds]
    names = hosts + [name for cabinet in zone.cabinets for name in cabinet.hosts]
    facts = _hosts_facts(names, kinds)
    for n, word in (
        (len(zone.routers), "router"),
        (len(zone.links), "link"),
        (len(zone.routes), "route"),
        (len(zone.zones), "zone"),
    ):
        if n:
            facts.append(f"{n} {word}{'' if n == 1 else 's'}")
    if zone.backbone is not None:
        facts.append(f"backbone {_link_text(zone.backbone)}")
    routing = _ROUTING_WORDS.get(zone.routing.value, zone.routing.value.lower())
    kind = "no network" if routing == "none" else f"{routing} routing"
    return ZoneFacts(zone.name, kind, facts, zone.zones)


def _cluster_facts(cluster: Cluster, kinds: Mapping[str, HostKind]) -> ZoneFacts:
    facts = _hosts_facts([name for group in cluster.hosts for name in group], kinds)
    facts.append(f"links {BANDWIDTH.short(cluster.bandwidth)} {DURATION.short(cluster.latency)}")
    if cluster.backbone is not None:
        facts.append(f"backbone {_link_text(cluster.backbone)}")
    return ZoneFacts(cluster.name, _topology_text(cluster), facts, ())


def _hosts_facts(names: Sequence[str], kinds: Mapping[str, HostKind]) -> list[str]:
    if not names:
        return []
    n = len(names)
    speeds = {kinds[name].speed for name in names}
    slowest, fastest = SPEED.short(min(speeds)), SPEED.short(max(speeds))
    return [
        f"{n} host{'' if n == 1 else 's'} {_names_text(n, names[0], names[-1])}",
        slowest if slowest == fastest else f"{slowest} to {fastest}",
    ]


def _topology_text(cluster: Cluster) -> str:
    topology = cluster.topology
    if isinstance(topology, FatTree):
        return f"fat tree of {len(topology.down)} levels"
    if isinstance(topology, Torus):
        return f"torus {' x '.join(map(str, topology.dimensions))}"
    if isinstance(topology, Dragonfly):
        sizes = (topology.groups, topology.chassis, topology.routers, topology.hosts)
        return f"dragonfly {' x '.join(map(str, sizes))}"
    return "flat cluster"


def _link_text(link: Link) -> str:
    return f"{BANDWIDTH.short(link.bandwidth)} {DURATION.short(link.latency)}"


def _group_data(group: _Group) -> dict[str, Any]:
    kind = group.kind
    return {
        "ids": group.ids,
        "n_hosts": group.n_hosts,
        "first": group.first,
        "last": group.last,
        "role": kind.role.value,
        "speeds": list(kind.speeds),
        "cores": kind.cores,
        "memory": kind.memory,
        "zone": list(kind.zone),
        "powers": [[power.idle, power.epsilon, power.computing] for power in kind.powers],
        "power_off": kind.power_off,
        "properties": dict(kind.properties),
    }


def _zone_data(zone: Zone | Cluster, kinds: Mapping[str, HostKind]) -> dict[str, Any]:
    facts = zone_facts(zone, kinds)
    return {
        "name": facts.name,
        "kind": facts.kind,
        "facts": list(facts.facts),
        "zones": [_zone_data(inner, kinds) for inner in facts.zones],
    }
