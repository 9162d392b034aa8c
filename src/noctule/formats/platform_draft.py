"""A platform while its file is read: names are claimed, hosts and zones collected, then checked.

All formats of platforms fill a draft. Links may be declared behind the routes that use them, so
routes are checked once everything is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from noctule.errors import InputError
from noctule.formats.host_choice import DEFAULT_MASTER, HostRules, choose_hosts
from noctule.formats.simgrid_options import is_known_option
from noctule.network import (
    Cabinet,
    Cluster,
    Hop,
    HostLink,
    Link,
    Network,
    Peer,
    Route,
    Router,
    Routing,
    Sharing,
    Trace,
    TraceConnection,
    Zone,
)
from noctule.platform import HostKind, Platform
from noctule.units import shown

# More would be hours of work for what is most probably a slip of the pen.
MAX_LISTED_HOSTS = 1_000_000
MAX_DEPTH = 100
TRACE_KINDS = ("HOST_AVAIL", "SPEED", "LINK_AVAIL", "BANDWIDTH", "LATENCY")
_HALF = re.compile("(.+)_(UP|DOWN)")


@dataclass(frozen=True, slots=True)
class RouteDraft:
    """A route before its links are known: their names, with UP, DOWN or ""."""

    where: str
    src: str
    dst: str
    hops: Sequence[tuple[str, str]]
    gw_src: str = ""
    gw_dst: str = ""
    symmetrical: bool = True
    bypass: bool = False


@dataclass(frozen=True, slots=True)
class HostLinkDraft:
    """The names of the links of a host of a star zone."""

    where: str
    host: str
    up: str
    down: str


@dataclass(slots=True)
class ZoneDraft:
    """A zone that is being filled.

    Attributes:
        all_properties: its own, and those of the zones around that it does not override.
        order: that of its members, if it is not as they came.
    """

    name: str
    routing: Routing
    path: tuple[str, ...]
    all_properties: dict[str, str]
    properties: dict[str, str] = field(default_factory=dict)
    order: Sequence[str] = ()
    members: list[str] = field(default_factory=list)
    zones: list[ZoneDraft | Cluster] = field(default_factory=list)
    routers: list[Router] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    routes: list[RouteDraft] = field(default_factory=list)
    backbone: Link | None = None
    cabinets: list[Cabinet] = field(default_factory=list)
    host_links: list[HostLinkDraft] = field(default_factory=list)
    peers: list[Peer] = field(default_factory=list)

    def add_properties(self, properties: Mapping[str, str]) -> None:
        """Add properties, which override those of the zones around."""
        self.properties.update(properties)
        self.all_properties.update(properties)


class PlatformDraft:
    """A platform that is being read; `where` is anything whose text says so in a message."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.zones: list[ZoneDraft | Cluster] = []
        self.options: dict[str, str] = {}
        self.traces: list[Trace] = []
        self.connections: list[TraceConnection] = []
        self._names: list[str] = []
        self._kind_of: list[int] = []
        self._kinds: list[HostKind] = []
        self._home: dict[str, str] = {}
        self._links: dict[str, Link] = {}
        self._clusters: dict[str, Cluster] = {}
        self._notes: dict[str, tuple[str, int]] = {}

    def note(self, about: str, text: str) -> None:
        """Keep a sentence; of those about the same thing only the first one, and their number."""
        first, n = self._notes.get(about, (text, 0))
        self._notes[about] = (first, n + 1)

    def add_option(self, name: str, value: str, where: object) -> None:
        """Keep an option of SimGrid; an unknown one gets a note."""
        if not is_known_option(name):
            text = f"{where}: unknown configuration key, kept but without effect"
            self.note(f"option {name}", text)
        self.options[name] = value

    def claim(self, name: str, zone: ZoneDraft | None, where: object) -> None:
        """Take a name for a router or a zone."""
        if not name:
            raise InputError(f"{where}: got an empty name")
        if name in self._home:
            raise InputError(f"{where}: the name is taken already")
        self._home[name] = zone.name if zone else ""
        if zone:
            zone.members.append(name)

    def begin_zone(
        self, name: str, routing: Routing, parent: ZoneDraft | None, where: object
    ) -> ZoneDraft:
        """Add a zone, to be filled."""
        self.claim(name, parent, where)
        path = (*(parent.path if parent else ()), name)
        if len(path) > MAX_DEPTH:
            raise InputError(f"{where}: got more than {MAX_DEPTH} zones inside each other")
        zone = ZoneDraft(name, routing, path, dict(parent.all_properties) if parent else {})
        (parent.zones if parent else self.zones).append(zone)
        return zone

    def add_kind(self, kind: HostKind) -> int:
        """Add what some hosts have in common, and return its number."""
        self._kinds.append(kind)
        return len(self._kinds) - 1

    def add_host(self, name: str, kind: int, zone: ZoneDraft, where: object) -> None:
        """Add a host of some kind to a zone."""
        self.claim(name, zone, where)
        self._refuse_too_many(1, where)
        self._names.append(name)
        self._kind_of.append(kind)

    def add_hosts(self, names: Sequence[str], kind: int, home: str, where: object) -> None:
        """Add the hosts of a cluster or a cabinet."""
        self._refuse_too_many(len(names), where)
        before = len(self._home)
        listed = list(names)
        taken = next((name for name in listed if name in self._home), None)
        if taken is None:
            self._home.update(zip(listed, repeat(home)))
            if len(self._home) != before + len(listed):
                taken = _first_repeated(listed)
        if taken is not None:
            raise InputError(f"{where}: host {shown(taken)}: the name is taken already")
        self._names += listed
        self._kind_of += repeat(kind, len(listed))

    def _refuse_too_many(self, n_more: int, where: object) -> None:
        n_hosts = len(self._names) + n_more
        if n_hosts > MAX_LISTED_HOSTS:
            raise InputError(f"{where}: got {n_hosts} hosts, expected {MAX_LISTED_HOSTS} at most")

    def add_cluster(self, cluster: Cluster, zone: ZoneDraft | None, where: object) -> None:
        """Add a cluster whose hosts have been added."""
        self.claim(cluster.name, zone, where)
        if cluster.router in self._home:
            raise InputError(f"{where}: router {shown(cluster.router)}: the name is taken already")
        self._home[cluster.router] = cluster.name
        self._clusters[cluster.name] = cluster
        (zone.zones if zone else self.zones).append(cluster)
        if cluster.backbone:
            self._links[cluster.backbone.name] = cluster.backbone

    def add_link(self, link: Link, where: object) -> Link:
        """Take the name of a link."""
        if link.name in self._links:
            raise InputError(f"{where}: the name is taken already")
        self._links[link.name] = link
        return link

    def finish(self, rules: HostRules) -> Platform:
        """Check what belongs together, give ids to the hosts, and return the platform."""
        if not self._names:
            raise InputError(f"{self.source}: got no host, expected one at least")
        zones = tuple(self._finished(zone) for zone in self.zones)
        network = Network(zones, self.options, tuple(self.traces), tuple(self.connections))
        chosen = choose_hosts(self._names, self._kinds, self._kind_of, rules, self.source)
        if chosen.master is None:
            self._note_likely_master(chosen.hosts.names)
        self._note_power_faults()
        return Platform(
            hosts=chosen.hosts,
            reference_speed=chosen.hosts.kinds[0].speed,
            storages=chosen.storages,
            master=chosen.master,
            network=network,
            source=self.source,
            notes=tuple(self._sentences()),
        )

    def _sentences(self) -> Iterator[str]:
        for text, n in self._notes.values():
            yield text if n == 1 else f"{text} (and {n - 1} more like it)"

    def _note_likely_master(self, names: Sequence[str]) -> None:
        likely = next((name for name in names if name.startswith(DEFAULT_MASTER)), None)
        if likely:
            text = f"{self.source}: no host is the master; {likely} computes like any other"
            self.note("master", f"{text} unless it is named as the master host")

    def _note_power_faults(self) -> None:
        faulty = {k: kind.power_fault for k, kind in enumerate(self._kinds) if kind.power_fault}
        for name, k in zip(self._names, self._kind_of, strict=True) if faulty else ():
            if k in faulty:
                text = f"{self.source}: host {name!r}: {faulty[k]}; its power is not known"
                self.note(f"power {faulty[k]}", text)

    def _finished(self, zone: ZoneDraft | Cluster) -> Zone | Cluster:
        if isinstance(zone, Cluster):
            return zone
        return Zone(
            name=zone.name,
            routing=zone.routing,
            members=self._members(zone),
            zones=tuple(self._finished(inner) for inner in zone.zones),
            routers=tuple(zone.routers),
            links=tuple(zone.links),
            routes=tuple(self._route(route, zone) for route in zone.routes),
            backbone=zone.backbone,
            cabinets=tuple(zone.cabinets),
            host_links=tuple(self._host_link(draft, zone) for draft in zone.host_links),
            peers=tuple(zone.peers),
            properties=zone.properties,
        )

    def _members(self, zone: ZoneDraft) -> tuple[str, ...]:
        if zone.order and sorted(zone.order) != sorted(zone.members):
            n = len(zone.members)
            raise InputError(
                f"{self.source}: zone {zone.name!r}: members: expected each of its {n} members once"
            )
        return tuple(zone.order or zone.members)

    def _host_link(self, draft: HostLinkDraft, zone: ZoneDraft) -> HostLink:
        if self._home.get(draft.host) != zone.name:
            raise InputError(f"{draft.where}: no such host in zone {zone.name!r}")
        up, down = (self._hop(name, "", draft.where) for name in (draft.up, draft.down))
        return HostLink(draft.host, up, down)

    def _route(self, route: RouteDraft, zone: ZoneDraft) -> Route:
        for key, name in (("src", route.src), ("dst", route.dst)):
            home = self._home.get(name)
            if home is None or (home != zone.name and not route.bypass):
                raise InputError(
                    f"{route.where}: {key}: got {shown(name)}, "
                    f"expected something in zone {zone.name!r}"
                )
        for key, name, around in (
            ("gw_src", route.gw_src, route.src),
            ("gw_dst", route.gw_dst, route.dst),
        ):
            if name and not self._is_inside(name, around):
                raise InputError(
                    f"{route.where}: {key}: got {shown(name)}, "
                    f"expected a host or a router in {around!r}"
                )
        hops = tuple(self._hop(name, half, route.where) for name, half in route.hops)
        return Route(
            route.src, route.dst, hops, route.gw_src, route.gw_dst, route.symmetrical, route.bypass
        )

    def _is_inside(self, name: str, around: str) -> bool:
        while name and name != around:
            name = self._home.get(name, "")
        return name == around

    def _hop(self, name: str, direction: str, where: str) -> Hop:
        """Find a link: by name and direction, or with the direction in the name as SimGrid 3.x."""
        link = self._links.get(name)
        is_split = link is not None and link.sharing == Sharing.SPLITDUPLEX
        if link is not None and is_split == bool(direction):
            return Hop(name, direction)
        if link is None and not direction:
            half = _HALF.fullmatch(name)
            whole = self._links.get(half[1]) if half else None
            if half and whole is not None and whole.sharing == Sharing.SPLITDUPLEX:
                return Hop(half[1], half[2])
        if direction and f"{name}_{direction}" in self._links:
            return Hop(f"{name}_{direction}")
        if link is not None:
            expected = "direction UP or DOWN" if is_split else "no direction"
            raise InputError(f"{where}: link {shown(name)}: expected {expected}")
        if not self._is_made_by_rule(name):
            raise InputError(f"{where}: link {shown(name)}: no such link")
        return Hop(name, direction)

    def _is_made_by_rule(self, name: str) -> bool:
        """Say whether a link belongs to a host of a cluster, a cabinet, or to a peer."""
        cluster, found, _ = name.rpartition("_link_")
        if found and cluster in self._clusters:
            return True
        host = _HALF.sub(r"\1", name.removeprefix("link_"))
        return name.startswith("link_") and host in self._home


def _first_repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
