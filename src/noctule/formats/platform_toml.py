"""Noctule's short form of a platform, in TOML or JSON: see docs/reference/platforms.md.

    [[hosts]]
    count = 100
    name = "n{}"
    speed = "1Gf"
    power = { idle = 95, computing = 190.74, off = 9.75 }

    [network]
    topology = "flat"
    bandwidth = "1GBps"
    latency = "5us"

Hosts, links and routes name the zone that they belong to; without one it is the first zone.
"""

from __future__ import annotations

import math

from noctule.errors import InputError
from noctule.formats.platform_draft import (
    MAX_LISTED_HOSTS,
    TRACE_KINDS,
    HostLinkDraft,
    PlatformDraft,
    RouteDraft,
    ZoneDraft,
)
from noctule.formats.toml_hosts import HostGroup, read_host_group
from noctule.formats.toml_table import Table
from noctule.formats.topologies import check_topology
from noctule.network import (
    Cabinet,
    Cluster,
    Dragonfly,
    FatTree,
    Link,
    NumberedNames,
    Peer,
    Router,
    Routing,
    Sharing,
    Topology,
    Torus,
    Trace,
    TraceConnection,
)
from noctule.units import BANDWIDTH, DURATION

ROUTINGS = {
    "full": Routing.FULL,
    "floyd": Routing.FLOYD,
    "dijkstra": Routing.DIJKSTRA,
    "dijkstra_cache": Routing.DIJKSTRA_CACHE,
    "star": Routing.STAR,
    "vivaldi": Routing.VIVALDI,
    "wifi": Routing.WIFI,
    "none": Routing.NONE,
}
SHARINGS = {sharing.value.lower(): sharing for sharing in Sharing}
DEFAULT_ZONE = "platform"
_TINY = math.ulp(0.0)
_PARTS = ("hosts", "links", "routes")


def read_platform_document(top: Table) -> PlatformDraft:
    """Read a document of the short form into a draft."""
    return _Reader(top).read()


class _Reader:
    """Reads zones in their order, each with the hosts, links and routes that name it."""

    def __init__(self, top: Table) -> None:
        self._top = top
        self._draft = PlatformDraft(top.source)
        self._zones: dict[str, ZoneDraft] = {}
        self._parts: dict[str, dict[str, list[Table]]] = {}

    def read(self) -> PlatformDraft:
        top = self._top
        described = self._described_zones()
        first = described[0].text("name", DEFAULT_ZONE) if described else DEFAULT_ZONE
        for part in _PARTS:
            self._parts[part] = {}
            for table in top.tables(part):
                self._parts[part].setdefault(table.text("zone", first), []).append(table)
        for name, value in top.mapping("options").items():
            self._draft.add_option(name, value, f"{top.place('options')}: {name!r}")
        self._read_traces(top)
        top.end()
        if not described:
            described = [Table(top.source, "", {"routing": "none"})]
        for table in described:
            self._read_zone(table)
        for part, by_zone in self._parts.items():
            for tables in by_zone.values():
                expected = "a plain zone" if part != "hosts" else "a zone that is described"
                tables[0].refuse("zone", expected)
        return self._draft

    def _described_zones(self) -> list[Table]:
        network, zones = self._top.table("network"), self._top.tables("zones")
        if network is not None and zones:
            self._top.refuse("network", "either network or zones")
        return zones if network is None else [network]

    def _read_traces(self, top: Table) -> None:
        for table in top.tables("traces"):
            self._draft.traces.append(
                Trace(
                    table.text("name"),
                    table.text("file", ""),
                    table.quantity("periodicity", DURATION),
                    table.text("text", ""),
                )
            )
            table.end()
        for table in top.tables("connections"):
            self._draft.connections.append(
                TraceConnection(
                    table.choice("kind", TRACE_KINDS), table.text("trace"), table.text("element")
                )
            )
            table.end()

    def _read_zone(self, table: Table) -> None:
        name = table.text("name", DEFAULT_ZONE)
        parent = None
        if "in" in table:
            parent = self._zones.get(table.text("in"))
            if parent is None:
                table.refuse("in", "a plain zone that is described before")
        properties = table.mapping("properties")
        groups = [read_host_group(entry) for entry in self._parts["hosts"].pop(name, [])]
        if "topology" in table:
            self._read_cluster(table, name, parent, properties, groups)
        else:
            self._read_plain_zone(table, name, parent, properties, groups)
        table.end()

    def _read_cluster(
        self,
        table: Table,
        name: str,
        parent: ZoneDraft | None,
        properties: dict[str, str],
        groups: list[HostGroup],
    ) -> None:
        n_hosts = sum(len(group.names) for group in groups)
        if not 0 < n_hosts <= MAX_LISTED_HOSTS:
            expected = f"expected 1 to {MAX_LISTED_HOSTS}"
            raise InputError(f"{table.where}: got {n_hosts} hosts, {expected}")
        topology = _topology(table, n_hosts)
        path = (*(parent.path if parent else ()), name)
        inherited = dict(properties)
        if len(groups) == 1:
            # as in SimGrid, where a cluster and its hosts have the same properties
            properties.update(groups[0].properties)
        around = {**(parent.all_properties if parent else {}), **properties}
        cluster = Cluster(
            name=name,
            hosts=tuple(group.names for group in groups),
            bandwidth=table.quantity("bandwidth", BANDWIDTH, least=_TINY),
            latency=table.quantity("latency", DURATION, 0.0),
            router=table.text("router", _router_name(name, groups[0].names)),
            sharing=SHARINGS[table.choice("sharing", SHARINGS, "splitduplex")],
            topology=topology,
            backbone=_joint(table, "backbone", f"{name}_backbone", Sharing.SHARED),
            limiter=table.quantity("limiter", BANDWIDTH, 0.0),
            loopback=_joint(table, "loopback", f"{name}_loopback", Sharing.FATPIPE),
            properties=properties,
        )
        for group in groups:
            group.refuse_links()
            kind = self._draft.add_kind(group.kind(path, around, inherited))
            self._draft.add_hosts(group.names, kind, name, group.where)
        self._draft.add_cluster(cluster, parent, table.where)

    def _read_plain_zone(
        self,
        table: Table,
        name: str,
        parent: ZoneDraft | None,
        properties: dict[str, str],
        groups: list[HostGroup],
    ) -> None:
        routing = ROUTINGS[table.choice("routing", ROUTINGS, "full")]
        zone = self._zones[name] = self._draft.begin_zone(name, routing, parent, table.where)
        zone.add_properties(properties)
        zone.order = table.texts("members", [])
        for group in groups:
            self._add_hosts(group, zone)
        self._add_routers(table, zone)
        for entry in self._parts["links"].pop(name, []):
            zone.links.append(self._draft.add_link(_link(entry), entry.where))
            entry.end()
        backbone = _joint(table, "backbone", f"{name}_backbone", Sharing.SHARED)
        if backbone is not None:
            if routing != Routing.STAR:
                table.refuse("backbone", "none but in a zone with routing star")
            zone.backbone = self._draft.add_link(backbone, table.where)
        zone.routes.extend(_route(entry) for entry in self._parts["routes"].pop(name, []))

    def _add_hosts(self, group: HostGroup, zone: ZoneDraft) -> None:
        kind = self._draft.add_kind(group.kind(zone.path, zone.all_properties, {}))
        if group.link is not None:
            group.require(zone, "link", Routing.STAR)
            zone.cabinets.append(Cabinet(group.cabinet, group.names, *group.link))
            self._draft.add_hosts(group.names, kind, zone.name, group.where)
            return
        for name in group.names:
            self._draft.add_host(name, kind, zone, group.where)
            if group.up:
                group.require(zone, "up", Routing.STAR)
                zone.host_links.append(HostLinkDraft(group.where, name, group.up, group.down))
            if group.peer is not None:
                group.require(zone, "peer", Routing.VIVALDI)
                zone.peers.append(Peer(name, *group.peer))

    def _add_routers(self, table: Table, zone: ZoneDraft) -> None:
        entries = table.take("routers", [])
        if not isinstance(entries, list) or all(isinstance(entry, str) for entry in entries):
            for name in table.texts("routers", []):
                self._draft.claim(name, zone, f"{table.place('routers')}: {name!r}")
                zone.routers.append(Router(name))
        else:
            for router in table.tables("routers"):
                name = router.text("name")
                self._draft.claim(name, zone, router.place("name"))
                zone.routers.append(Router(name, router.numbers("coordinates")))
                router.end()


def _router_name(zone: str, names: NumberedNames) -> str:
    return f"{names.prefix}{zone}_router{names.suffix}"


def _topology(table: Table, n_hosts: int) -> Topology | None:
    if table.take("topology") == "flat":
        return None
    value = table.take("topology")
    known = ("fat_tree", "torus", "dragonfly")
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in known:
        table.refuse("topology", f'"flat", or a table with one of {", ".join(known)}')
    parameters = table.table("topology")
    assert parameters is not None
    topology = _made_topology(parameters)
    check_topology(topology, n_hosts, table.place("topology"))
    return topology


def _made_topology(table: Table) -> Topology:
    if "torus" in table:
        return Torus(table.wholes("torus"))
    if "fat_tree" in table:
        levels = table.table("fat_tree")
        assert levels is not None
        tree = FatTree(levels.wholes("down"), levels.wholes("up"), levels.wholes("cables"))
        if not len(tree.down) == len(tree.up) == len(tree.cables):
            levels.refuse("up", "as many numbers as down and cables have")
        levels.end()
        return tree
    sizes = table.table("dragonfly")
    assert sizes is not None
    keys = ("groups", "blue", "chassis", "black", "routers", "green", "hosts")
    dragonfly = Dragonfly(*(sizes.whole(key, least=1) for key in keys))
    sizes.end()
    return dragonfly


def _joint(table: Table, key: str, name: str, sharing: Sharing) -> Link | None:
    """Read a backbone or a loopback."""
    entry = table.table(key)
    if entry is None:
        return None
    link = Link(
        entry.text("name", name),
        entry.quantity("bandwidth", BANDWIDTH, least=_TINY),
        entry.quantity("latency", DURATION, 0.0),
        SHARINGS[entry.choice("sharing", SHARINGS, sharing.value.lower())],
    )
    entry.end()
    return link


def _link(table: Table) -> Link:
    rates = table.quantities("rates", BANDWIDTH) if "rates" in table else ()
    return Link(
        name=table.text("name"),
        bandwidth=rates[0] if rates else table.quantity("bandwidth", BANDWIDTH, least=_TINY),
        latency=table.quantity("latency", DURATION, 0.0),
        sharing=SHARINGS[table.choice("sharing", SHARINGS, "wifi" if rates else "shared")],
        rates=rates,
        properties=table.mapping("properties"),
        profiles=table.mapping("profiles"),
    )


def _route(table: Table) -> RouteDraft:
    gateways = table.texts("gateways", [])
    if len(gateways) not in (0, 2):
        table.refuse("gateways", "two names: where src is left and dst is entered")
    bypass = table.flag("bypass", default=False)
    src, dst = table.text("src"), table.text("dst")
    route = RouteDraft(
        where=f"{table.where}: {src} -> {dst}",
        src=src,
        dst=dst,
        hops=[(link, "") for link in table.texts("links")],
        gw_src=gateways[0] if gateways else "",
        gw_dst=gateways[1] if gateways else "",
        symmetrical=table.flag("symmetrical", default=not bypass),
        bypass=bypass,
    )
    table.end()
    return route
