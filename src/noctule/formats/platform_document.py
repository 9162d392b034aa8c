"""A platform as a document of Noctule's short form: tables, arrays, texts and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from noctule.errors import InputError
from noctule.formats.host_kinds import MEMORY, ROLE, described_kinds
from noctule.formats.platform_toml import ROUTINGS
from noctule.formats.power_properties import OFF, PER_STATE, SLEEP
from noctule.formats.ranges import ranges_text
from noctule.formats.simgrid_writing import half_name
from noctule.formats.toml_hosts import SLEEPING_SPEED, read_host_group
from noctule.formats.toml_table import Table
from noctule.network import (
    Cluster,
    Dragonfly,
    FatTree,
    HostLink,
    Link,
    Network,
    NumberedNames,
    Peer,
    Route,
    Sharing,
    Topology,
    Zone,
)
from noctule.platform import HostKind, Platform, PowerRange
from noctule.units import BANDWIDTH, DURATION, SIZE, SPEED

_DIGITS = re.compile("0|[1-9][0-9]{0,8}")
_POWER_PROPERTIES = (PER_STATE, OFF, SLEEP)
_ROUTING_NAMES = {routing: name for name, routing in ROUTINGS.items()}
Entry = dict[str, Any]


def platform_document(platform: Platform, network: Network) -> Entry:
    """Return the document of a platform; the network is its own, with all of its hosts."""
    return _Document(platform, network).entry()


class _Document:
    """Collects the entries of a document."""

    def __init__(self, platform: Platform, network: Network) -> None:
        self._network = network
        self._source = platform.source or "platform"
        self._kinds = described_kinds(platform)
        self._hosts: list[Entry] = []
        self._links: list[Entry] = []
        self._routes: list[Entry] = []

    def entry(self) -> Entry:
        zones = list(self._zones())
        if len(zones) == 1:
            for part in (*self._hosts, *self._links, *self._routes):
                del part["zone"]
        network: Entry = {"network": zones[0]} if len(zones) == 1 else {"zones": zones}
        traces = [trace._asdict() for trace in self._network.traces]
        document = {
            "options": dict(self._network.options),
            "hosts": self._hosts,
            **network,
            "links": self._links,
            "routes": self._routes,
            "traces": [{"name": trace["name"], **_without_empty(trace)} for trace in traces],
            "connections": [entry._asdict() for entry in self._network.connections],
        }
        return _without_empty(document)

    def _zones(self) -> Iterator[Entry]:
        waiting: list[tuple[Zone | Cluster, str]] = [(z, "") for z in reversed(self._network.zones)]
        while waiting:
            zone, parent = waiting.pop()
            head = {"name": zone.name, **({"in": parent} if parent else {})}
            if isinstance(zone, Cluster):
                yield {**head, **self._cluster(zone)}
            else:
                yield {**head, **self._plain_zone(zone)}
                waiting.extend((inner, zone.name) for inner in reversed(zone.zones))

    def _cluster(self, cluster: Cluster) -> Entry:
        names = cluster.hosts[0]
        single = len(cluster.hosts) == 1
        for group in cluster.hosts:
            kind = self._kinds[group[0]]
            self._hosts.append(self._group(cluster.name, group, kind))
        entry: Entry = {
            "topology": _topology(cluster.topology),
            "bandwidth": BANDWIDTH.text(cluster.bandwidth),
            "latency": DURATION.text(cluster.latency),
        }
        if cluster.sharing != Sharing.SPLITDUPLEX:
            entry["sharing"] = cluster.sharing.value.lower()
        if cluster.backbone is not None:
            entry["backbone"] = _joint(cluster.backbone, f"{cluster.name}_backbone", Sharing.SHARED)
        if cluster.loopback is not None:
            loopback = cluster.loopback
            entry["loopback"] = _joint(loopback, f"{cluster.name}_loopback", Sharing.FATPIPE)
        if cluster.limiter:
            entry["limiter"] = BANDWIDTH.text(cluster.limiter)
        if cluster.router != f"{names.prefix}{cluster.name}_router{names.suffix}":
            entry["router"] = cluster.router
        if not single and cluster.properties:
            entry["properties"] = dict(cluster.properties)
        return entry

    def _plain_zone(self, zone: Zone) -> Entry:
        entry: Entry = {"routing": _ROUTING_NAMES[zone.routing]}
        self._add_plain_hosts(zone)
        routers = [router.name for router in zone.routers]
        if any(router.coordinates for router in zone.routers):
            entry["routers"] = [_without_empty(_plain(router._asdict())) for router in zone.routers]
        elif routers:
            entry["routers"] = routers
        others = {*routers, *(inner.name for inner in zone.zones)}
        usual = [name for name in zone.members if name not in others]
        usual += [*routers, *(inner.name for inner in zone.zones)]
        if usual != list(zone.members):
            entry["members"] = list(zone.members)
        if zone.backbone is not None:
            entry["backbone"] = _joint(zone.backbone, f"{zone.name}_backbone", Sharing.SHARED)
        if zone.properties:
            entry["properties"] = dict(zone.properties)
        self._links += [{"zone": zone.name, **_link(link)} for link in zone.links]
        self._routes += [{"zone": zone.name, **_route(route)} for route in zone.routes]
        return entry

    def _add_plain_hosts(self, zone: Zone) -> None:
        ends = {host_link.host: host_link for host_link in zone.host_links}
        peers = {peer.host: peer for peer in zone.peers}
        hosts = [name for name in zone.members if name in self._kinds]
        for names in _groups(hosts, [self._more(name, ends, peers) for name in hosts]):
            kind, more = self._more(names[0], ends, peers)
            self._hosts.append({**self._group(zone.name, names, kind), **more})
        for cabinet in zone.cabinets:
            entry = self._group(zone.name, cabinet.hosts, self._kinds[cabinet.hosts[0]])
            entry["link"] = {
                "name": cabinet.name,
                "bandwidth": BANDWIDTH.text(cabinet.bandwidth),
                "latency": DURATION.text(cabinet.latency),
            }
            self._hosts.append(entry)

    def _more(
        self, name: str, ends: Mapping[str, HostLink], peers: Mapping[str, Peer]
    ) -> tuple[HostKind, Entry]:
        """Return the kind of a host and its links, which those of a group have in common."""
        more: Entry = {}
        if name in ends:
            more = {"up": half_name(ends[name].up), "down": half_name(ends[name].down)}
        if name in peers:
            _, into, out, latency = peers[name]
            links = {"in": BANDWIDTH.text(into), "out": BANDWIDTH.text(out)}
            more["peer"] = {**links, "latency": DURATION.text(latency)}
        return self._kinds[name], more

    def _group(self, zone: str, names: NumberedNames, kind: HostKind) -> Entry:
        if "{}" in names.prefix + names.suffix:
            text = f"{names.prefix}{names.suffix}"
            raise InputError(
                f"{self._source}: host {text!r}: the short form has no names with {{}}"
            )
        return {"zone": zone, **_numbered(names), **kind_entry(kind)}


def _groups(names: Sequence[str], alike: Sequence[object]) -> Iterator[NumberedNames]:
    """Put hosts together that are alike and whose names count up."""
    start = 0
    while start < len(names):
        best = NumberedNames(names[start])
        for match in _DIGITS.finditer(names[start]):
            first, end = int(match[0]), start
            prefix, suffix = names[start][: match.start()], names[start][match.end() :]
            while (
                end < len(names)
                and names[end] == f"{prefix}{first + end - start}{suffix}"
                and alike[end] == alike[start]
            ):
                end += 1
            if end - start > max(1, len(best)):
                best = NumberedNames(prefix, (range(first, first + end - start),), suffix)
        yield best
        start += len(best)


def _numbered(names: NumberedNames) -> Entry:
    if not names.numbers:
        return {"name": names.prefix}
    entry: Entry = {"name": f"{names.prefix}{{}}{names.suffix}"}
    if len(names.numbers) > 1:
        return {**entry, "numbers": ranges_text(names.numbers)}
    first = names.numbers[0][0]
    return {**entry, "count": len(names), **({"first": first} if first else {})}


def kind_entry(kind: HostKind) -> Entry:
    """Return what an entry of `hosts` says about their kind."""
    powered = _power_entry(kind)
    entry = powered if powered is not None and _reads_as(powered, kind) else _plain_entry(kind)
    if kind.cores != 1:
        entry["cores"] = kind.cores
    if kind.initial_state:
        entry["state"] = kind.initial_state
    if kind.coordinates:
        entry["coordinates"] = list(kind.coordinates)
    if kind.profiles:
        entry["profiles"] = dict(kind.profiles)
    if kind.disks:
        entry["disks"] = [
            _without_empty(
                {
                    "name": disk.name,
                    "read": BANDWIDTH.text(disk.read_bandwidth),
                    "write": BANDWIDTH.text(disk.write_bandwidth),
                    "properties": dict(disk.properties),
                }
            )
            for disk in kind.disks
        ]
    return entry


def _plain_entry(kind: HostKind, properties: Mapping[str, str] | None = None) -> Entry:
    """Return an entry that says all by speeds and properties."""
    left = dict(kind.properties if properties is None else properties)
    speeds = [SPEED.text(speed) for speed in kind.speeds]
    entry: Entry = {"speed": speeds[0] if len(speeds) == 1 else speeds}
    if left.get(ROLE):
        entry["role"] = left.pop(ROLE)
    if kind.memory is not None and left[MEMORY] == SIZE.text(kind.memory):
        entry["memory"] = left.pop(MEMORY)
    if left:
        entry["properties"] = left
    return entry


def _power_entry(kind: HostKind) -> Entry | None:
    """Return an entry with power and sleep as people write them; None where that is impossible."""
    n = len(kind.computing_states)
    triplets = [(s.sleep, s.switching_off, s.switching_on) for s in kind.sleep_states]
    in_order = [tuple(range(k, k + 3)) for k in range(n, len(kind.speeds), 3)]
    if kind.power_fault or not (kind.powers or kind.sleep_states) or triplets != in_order:
        return None
    others = {k: v for k, v in kind.properties.items() if k not in _POWER_PROPERTIES}
    entry = _plain_entry(replace(kind, speeds=kind.speeds[:n]), others)
    if kind.powers:
        entry["power"] = _watts(kind.powers[:n])
        if OFF in kind.properties:
            entry["power"]["off"] = _number(kind.power_off)
    sleeps = []
    for sleep, off, on in triplets:
        told: Entry = {"power": _number(kind.powers[sleep].idle)} if kind.powers else {}
        if kind.speeds[sleep] != SLEEPING_SPEED:
            told["speed"] = SPEED.text(kind.speeds[sleep])
        sleeps.append({**told, "off": _switch(kind, off), "on": _switch(kind, on)})
    return {**entry, **({"sleep": sleeps} if sleeps else {})}


def _watts(powers: Sequence[PowerRange]) -> Entry:
    columns = {
        "idle": [power.idle for power in powers],
        "epsilon": [power.epsilon for power in powers],
        "computing": [power.computing for power in powers],
    }
    if columns["epsilon"] == columns["idle"]:
        del columns["epsilon"]
    return {
        key: _number(values[0]) if len(set(values)) == 1 else [_number(v) for v in values]
        for key, values in columns.items()
    }


def _switch(kind: HostKind, state: int) -> Entry:
    speed = kind.speeds[state]
    if speed and 1 / (1 / speed) == speed:
        entry = {"time": DURATION.text(1 / speed)}
    else:
        entry = {"speed": SPEED.text(speed)}
    return {**entry, "power": _number(kind.powers[state].idle)} if kind.powers else entry


def _reads_as(entry: Entry, kind: HostKind) -> bool:
    """Say whether an entry means exactly this power."""
    try:
        read = read_host_group(Table("", "", entry)).kind((), {}, {})
    except InputError:
        return False
    return (read.speeds, read.powers, read.power_off, read.sleep_states) == (
        kind.speeds,
        kind.powers,
        kind.power_off,
        kind.sleep_states,
    )


def _topology(topology: Topology | None) -> str | Entry:
    if topology is None:
        return "flat"
    if isinstance(topology, FatTree):
        return {"fat_tree": _plain(asdict(topology))}
    if isinstance(topology, Dragonfly):
        return {"dragonfly": asdict(topology)}
    return {"torus": list(topology.dimensions)}


def _joint(link: Link, name: str, sharing: Sharing) -> Entry:
    entry = {"name": link.name} if link.name != name else {}
    entry["bandwidth"] = BANDWIDTH.text(link.bandwidth)
    if link.latency:
        entry["latency"] = DURATION.text(link.latency)
    if link.sharing != sharing:
        entry["sharing"] = link.sharing.value.lower()
    return entry


def _link(link: Link) -> Entry:
    entry: Entry = {"name": link.name}
    if link.rates:
        entry["rates"] = [BANDWIDTH.text(rate) for rate in link.rates]
    else:
        entry["bandwidth"] = BANDWIDTH.text(link.bandwidth)
    if link.latency:
        entry["latency"] = DURATION.text(link.latency)
    if not link.rates and link.sharing != Sharing.SHARED:
        entry["sharing"] = link.sharing.value.lower()
    return {
        **entry,
        **_without_empty({"properties": dict(link.properties), "profiles": dict(link.profiles)}),
    }


def _route(route: Route) -> Entry:
    entry: Entry = {"src": route.src, "dst": route.dst}
    if route.gw_src:
        entry["gateways"] = [route.gw_src, route.gw_dst]
    entry["links"] = [half_name(hop) for hop in route.hops]
    if route.bypass:
        entry["bypass"] = True
    if route.symmetrical == route.bypass:
        entry["symmetrical"] = route.symmetrical
    return entry


def _number(value: float) -> float | int:
    """Return a whole number without its decimal point."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _plain(entry: Mapping[str, Any]) -> Entry:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in entry.items()}


def _without_empty(entry: Mapping[str, Any]) -> Entry:
    return {key: value for key, value in entry.items() if value not in ("", [], {}, ())}
