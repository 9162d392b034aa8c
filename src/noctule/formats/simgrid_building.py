"""What each element of a SimGrid platform file adds to the draft of a platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from noctule.errors import InputError
from noctule.formats.host_kinds import KindWords, made_kind
from noctule.formats.platform_draft import (
    TRACE_KINDS,
    HostLinkDraft,
    PlatformDraft,
    RouteDraft,
    ZoneDraft,
)
from noctule.formats.simgrid_elements import Element
from noctule.formats.topologies import TOPOLOGIES, read_topology
from noctule.network import (
    Cabinet,
    Cluster,
    Link,
    Peer,
    Router,
    Routing,
    Sharing,
    Trace,
    TraceConnection,
)
from noctule.platform import Disk
from noctule.units import BANDWIDTH, DURATION, SPEED, shown

_OLDEST, _NEWEST = 4.0, 4.1
_DIRECTIONS = {"NONE": "", "UP": "UP", "DOWN": "DOWN"}
_SHARING = {**{sharing.value: sharing for sharing in Sharing}, "FULLDUPLEX": Sharing.SPLITDUPLEX}
_HOST_FILES = {"speed_file": "speed", "availability_file": "speed", "state_file": "state"}
_HOST_WORDS = ("speed", "core", "pstate", "coordinates", *_HOST_FILES)
_LINK_FILES = {"bandwidth_file": "bandwidth", "latency_file": "latency", "state_file": "state"}


class Builder:
    """Adds the elements of one file to a draft."""

    def __init__(self, draft: PlatformDraft) -> None:
        self._draft = draft
        self._kinds: dict[object, int] = {}
        self._words: dict[object, KindWords] = {}

    def begin_platform(self, element: Element) -> None:
        """Check the version."""
        text = element.attributes["version"].strip()
        if text not in ("4", "4.0", "4.1"):
            element.refuse("version", f"{_OLDEST:g} or {_NEWEST:g}")

    def begin_zone(self, element: Element) -> None:
        """Open a zone."""
        routing = Routing(element.choice("routing", list(Routing)))
        name = element.attributes["id"]
        element.zone = self._draft.begin_zone(name, routing, element.zone, element.where)

    def prop(self, element: Element) -> None:
        """Add a property to what it stands in."""
        parent = element.parent
        assert parent is not None
        name, value = element.attributes["id"], element.attributes["value"]
        if parent.tag == "config":
            self._draft.add_option(name, value, element)
        elif parent.tag == "zone":
            zone = element.in_zone
            if zone.members or zone.cabinets:
                raise InputError(f"{element.where}: expected in front of what the zone contains")
            zone.add_properties({name: value})
        else:
            parent.properties[name] = value

    def host(self, element: Element) -> None:
        """Add a host."""
        zone = element.in_zone
        kind = self._kind(element, zone.path, zone.all_properties)
        self._draft.add_host(element.attributes["id"], kind, zone, element)

    def _kind(
        self, element: Element, path: tuple[str, ...], zone_properties: Mapping[str, str]
    ) -> int:
        """Return the number of a kind; hosts of a zone with the same words share it."""
        words = tuple(map(element.attributes.get, _HOST_WORDS))
        key = (path, words, *element.properties.items(), *element.disks)
        number = self._kinds.get(key)
        if number is None:
            known = self._words.get(words)
            if known is None:
                known = self._words[words] = _meaning(element)
            kind = made_kind(
                element.properties,
                element,
                zone=path,
                zone_properties=zone_properties,
                disks=tuple(element.disks),
                **known,
            )
            number = self._kinds[key] = self._draft.add_kind(kind)
        return number

    def disk(self, element: Element) -> None:
        """Add a disk to its host."""
        assert element.parent is not None
        element.parent.disks.append(
            Disk(
                element.attributes.get("id", "/"),
                element.quantity("read_bw", BANDWIDTH),
                element.quantity("write_bw", BANDWIDTH),
                element.properties,
            )
        )

    def cluster(self, element: Element) -> None:
        """Add a cluster with its hosts."""
        names, zone = element.names(), element.zone
        name = element.attributes["id"]
        path = (*(zone.path if zone else ()), name)
        around = zone.all_properties if zone else {}
        kind = self._kind(element, path, {**around, **element.properties})
        topology = read_topology(
            element.choice("topology", TOPOLOGIES, "FLAT"),
            element.attributes.get("topo_parameters", ""),
            len(names),
            element.where,
        )
        cluster = Cluster(
            name=name,
            hosts=(names,),
            bandwidth=element.quantity("bw", BANDWIDTH, positive=True),
            latency=element.quantity("lat", DURATION),
            router=element.attributes.get("router_id")
            or f"{names.prefix}{name}_router{names.suffix}",
            sharing=_sharing(element, "sharing_policy", Sharing.SPLITDUPLEX),
            topology=topology,
            backbone=_extra_link(element, "bb", f"{name}_backbone"),
            limiter=element.quantity("limiter_link", BANDWIDTH, default=0.0),
            loopback=_extra_link(element, "loopback", f"{name}_loopback"),
            properties=element.properties,
        )
        self._draft.add_hosts(names, kind, name, element.where)
        self._draft.add_cluster(cluster, zone, element.where)

    def cabinet(self, element: Element) -> None:
        """Add a cabinet with its hosts to a star zone."""
        zone = _zone_of(element, Routing.STAR)
        names = element.names()
        zone.cabinets.append(
            Cabinet(
                element.attributes["id"],
                names,
                element.quantity("bw", BANDWIDTH, positive=True),
                element.quantity("lat", DURATION),
            )
        )
        kind = self._kind(element, zone.path, zone.all_properties)
        self._draft.add_hosts(names, kind, zone.name, element.where)

    def peer(self, element: Element) -> None:
        """Add a host with its links to a Vivaldi zone."""
        zone = _zone_of(element, Routing.VIVALDI)
        name = element.attributes["id"]
        kind = self._kind(element, zone.path, zone.all_properties)
        self._draft.add_host(name, kind, zone, element)
        zone.peers.append(
            Peer(
                name,
                element.quantity("bw_in", BANDWIDTH, positive=True),
                element.quantity("bw_out", BANDWIDTH, positive=True),
                element.quantity("lat", DURATION, default=0.0),
            )
        )

    def router(self, element: Element) -> None:
        """Add a router."""
        name = element.attributes["id"]
        self._draft.claim(name, element.zone, element)
        element.in_zone.routers.append(Router(name, element.numbers("coordinates")))

    def link(self, element: Element) -> None:
        """Add a link."""
        sharing = _sharing(element, "sharing_policy", Sharing.SHARED)
        texts = element.attributes["bandwidth"].split(",") if sharing == Sharing.WIFI else ()
        rates = tuple(element.amount("bandwidth", text, BANDWIDTH, positive=True) for text in texts)
        link = Link(
            name=element.attributes["id"],
            bandwidth=rates[0]
            if rates
            else element.quantity("bandwidth", BANDWIDTH, positive=True),
            latency=element.quantity("latency", DURATION, default=0.0),
            sharing=sharing,
            rates=rates,
            properties=element.properties,
            profiles=_profiles(element, _LINK_FILES),
        )
        element.in_zone.links.append(self._draft.add_link(link, element.where))

    def backbone(self, element: Element) -> None:
        """Add the backbone of a star zone."""
        zone = _zone_of(element, Routing.STAR)
        if zone.backbone is not None:
            raise InputError(f"{element.where}: zone {zone.name!r} has a backbone already")
        link = Link(
            element.attributes["id"],
            element.quantity("bandwidth", BANDWIDTH, positive=True),
            element.quantity("latency", DURATION),
        )
        zone.backbone = self._draft.add_link(link, element.where)

    def host_link(self, element: Element) -> None:
        """Add the links of a host of a star zone."""
        zone, attributes = _zone_of(element, Routing.STAR), element.attributes
        zone.host_links.append(
            HostLinkDraft(element.where, attributes["id"], attributes["up"], attributes["down"])
        )

    def hop(self, element: Element) -> None:
        """Add a link to its route."""
        assert element.parent is not None
        direction = _DIRECTIONS[element.choice("direction", _DIRECTIONS, "NONE")]
        element.parent.hops.append((element.attributes["id"], direction))

    def route(self, element: Element) -> None:
        """Add a route."""
        attributes, bypass = element.attributes, element.tag.startswith("bypass")
        symmetrical = element.choice(
            "symmetrical", ("YES", "NO", "yes", "no"), "NO" if bypass else "YES"
        )
        element.in_zone.routes.append(
            RouteDraft(
                where=element.where,
                src=attributes["src"],
                dst=attributes["dst"],
                hops=element.hops,
                gw_src=attributes.get("gw_src", ""),
                gw_dst=attributes.get("gw_dst", ""),
                symmetrical=symmetrical.upper() == "YES",
                bypass=bypass,
            )
        )

    def trace(self, element: Element) -> None:
        """Keep a change over time."""
        attributes = element.attributes
        periodicity = element.quantity("periodicity", DURATION)
        text = "".join(element.text).strip()
        self._draft.traces.append(
            Trace(attributes["id"], attributes.get("file", ""), periodicity, text)
        )

    def trace_connect(self, element: Element) -> None:
        """Keep what a trace changes."""
        kind = element.choice("kind", TRACE_KINDS, "HOST_AVAIL")
        attributes = element.attributes
        self._draft.connections.append(
            TraceConnection(kind, attributes["trace"], attributes["element"])
        )

    def actor(self, element: Element) -> None:
        """Leave out what runs on the hosts: jobs do."""
        self._draft.note("actor", f"{element.where}: left out: jobs come from workloads")


BUILDERS: dict[str, Callable[[Builder, Element], None]] = {
    "prop": Builder.prop,
    "host": Builder.host,
    "disk": Builder.disk,
    "cluster": Builder.cluster,
    "cabinet": Builder.cabinet,
    "peer": Builder.peer,
    "router": Builder.router,
    "link": Builder.link,
    "backbone": Builder.backbone,
    "host_link": Builder.host_link,
    "link_ctn": Builder.hop,
    "route": Builder.route,
    "zoneRoute": Builder.route,
    "bypassRoute": Builder.route,
    "bypassZoneRoute": Builder.route,
    "trace": Builder.trace,
    "trace_connect": Builder.trace_connect,
    "actor": Builder.actor,
}


def _meaning(element: Element) -> KindWords:
    """Read the attributes of a host that say what kind it is of."""
    texts = element.attributes["speed"].split(",")
    speeds = tuple(element.amount("speed", text, SPEED) for text in texts)
    state = element.whole("pstate", least=0, default=0)
    if state >= len(speeds):
        element.refuse("pstate", f"one of the {len(speeds)} power states, counted from 0")
    return {
        "speeds": speeds,
        "initial_state": state,
        "cores": element.whole("core", least=1, default=1),
        "coordinates": element.numbers("coordinates"),
        "profiles": _profiles(element, _HOST_FILES),
    }


def _zone_of(element: Element, routing: Routing) -> ZoneDraft:
    """Return the zone of an element that only one kind of zone can have."""
    zone = element.in_zone
    if zone.routing != routing:
        raise InputError(
            f"{element.where}: zone {shown(zone.name)} has routing {zone.routing}, "
            f"expected {routing}"
        )
    return zone


def _sharing(element: Element, key: str, default: Sharing) -> Sharing:
    return _SHARING[element.choice(key, _SHARING, default.value)]


def _extra_link(element: Element, prefix: str, name: str) -> Link | None:
    """Return the backbone or the loopback of a cluster, if it is described."""
    bandwidth = element.quantity(f"{prefix}_bw", BANDWIDTH, default=0.0)
    latency = element.quantity(f"{prefix}_lat", DURATION, default=0.0)
    if bandwidth == 0 and latency == 0:
        return None
    if bandwidth == 0:
        element.refuse(f"{prefix}_bw", f"a bandwidth, since {prefix}_lat is given")
    if prefix == "loopback":
        return Link(name, bandwidth, latency, Sharing.FATPIPE)
    return Link(name, bandwidth, latency, _sharing(element, "bb_sharing_policy", Sharing.SHARED))


def _profiles(element: Element, files: Mapping[str, str]) -> dict[str, str]:
    attributes = element.attributes
    return {changed: attributes[key] for key, changed in files.items() if attributes.get(key)}
