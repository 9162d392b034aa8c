"""A platform as SimGrid XML, version 4.1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from noctule.errors import InputError
from noctule.formats.host_kinds import described_kinds
from noctule.formats.ranges import ranges_text
from noctule.formats.topologies import topology_text
from noctule.network import (
    Cabinet,
    Cluster,
    Hop,
    Link,
    Network,
    NumberedNames,
    Route,
    Router,
    Sharing,
    Zone,
)
from noctule.platform import HostKind, Platform
from noctule.units import BANDWIDTH, DURATION, SPEED, shown

_HEADER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
"""
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROFILE_SUFFIX = "_file"


def simgrid_text(platform: Platform, network: Network) -> str:
    """Return the XML of a platform; the network is its own, with all of its hosts."""
    root = _Writer(platform).platform(network)
    ElementTree.indent(root)
    return f"{_HEADER}{ElementTree.tostring(root, encoding='unicode')}\n"


class _Writer:
    """Makes elements of what a platform consists of."""

    def __init__(self, platform: Platform) -> None:
        self._source = platform.source or "platform"
        self._kinds = described_kinds(platform)

    def platform(self, network: Network) -> ElementTree.Element:
        root = ElementTree.Element("platform", {"version": "4.1"})
        if network.options:
            self._add_properties(self._add(root, "config", {}), network.options)
        for zone in network.zones:
            self._add_zone(root, zone)
        for trace in network.traces:
            attributes = {"id": trace.name, "periodicity": DURATION.text(trace.periodicity)}
            if trace.file:
                attributes["file"] = trace.file
            self._add(root, "trace", attributes).text = self._checked(trace.text)
        for kind, trace_name, element in network.connections:
            attributes = {"kind": kind, "trace": trace_name, "element": element}
            self._add(root, "trace_connect", attributes)
        return root

    def _add(
        self, parent: ElementTree.Element, tag: str, attributes: Mapping[str, str]
    ) -> ElementTree.Element:
        checked = {key: self._checked(value) for key, value in attributes.items()}
        return ElementTree.SubElement(parent, tag, checked)

    def _checked(self, text: str) -> str:
        if _NOT_XML.search(text):
            raise InputError(f"{self._source}: {shown(text)}: XML has no such characters")
        return text

    def _add_properties(self, parent: ElementTree.Element, properties: Mapping[str, str]) -> None:
        for name, value in properties.items():
            self._add(parent, "prop", {"id": name, "value": value})

    def _add_zone(self, parent: ElementTree.Element, zone: Zone | Cluster) -> None:
        if isinstance(zone, Cluster):
            self._add_cluster(parent, zone)
            return
        element = self._add(parent, "zone", {"id": zone.name, "routing": zone.routing.value})
        self._add_properties(element, zone.properties)
        self._add_members(element, zone)
        for cabinet in zone.cabinets:
            self._add_cabinet(element, cabinet)
        for link in zone.links:
            self._add_link(element, link)
        for host, up, down in zone.host_links:
            self._add_host_link(element, host, half_name(up), half_name(down))
        if zone.backbone is not None:
            self._add_backbone(element, zone.backbone)
        for route in zone.routes:
            self._add_route(element, route)

    def _add_members(self, element: ElementTree.Element, zone: Zone) -> None:
        inner = {child.name: child for child in zone.zones}
        routers = {router.name: router for router in zone.routers}
        peers = {peer.host: peer for peer in zone.peers}
        for name in zone.members:
            if name in inner:
                self._add_zone(element, inner[name])
            elif name in routers:
                self._add_router(element, routers[name])
            elif name in peers:
                _, into, out, latency = peers[name]
                attributes = {
                    "id": name,
                    **self._host_attributes(self._kinds[name], cores=False),
                    "bw_in": BANDWIDTH.text(into),
                    "bw_out": BANDWIDTH.text(out),
                    "lat": DURATION.text(latency),
                }
                self._add(element, "peer", attributes)
            else:
                self._add_host(element, name, self._kinds[name])

    def _add_router(self, element: ElementTree.Element, router: Router) -> None:
        attributes = {"id": router.name}
        if router.coordinates:
            attributes["coordinates"] = " ".join(map(repr, router.coordinates))
        self._add(element, "router", attributes)

    def _add_host(self, parent: ElementTree.Element, name: str, kind: HostKind) -> None:
        host = self._add(parent, "host", {"id": name, **self._host_attributes(kind)})
        self._add_properties(host, kind.properties)
        for disk in kind.disks:
            attributes = {
                "id": disk.name,
                "read_bw": BANDWIDTH.text(disk.read_bandwidth),
                "write_bw": BANDWIDTH.text(disk.write_bandwidth),
            }
            self._add_properties(self._add(host, "disk", attributes), disk.properties)

    def _host_attributes(self, kind: HostKind, *, cores: bool = True) -> dict[str, str]:
        attributes = {"speed": ", ".join(map(SPEED.text, kind.speeds))}
        if cores and kind.cores != 1:
            attributes["core"] = str(kind.cores)
        if kind.initial_state:
            attributes["pstate"] = str(kind.initial_state)
        if kind.coordinates:
            attributes["coordinates"] = " ".join(map(repr, kind.coordinates))
        for changed, file in kind.profiles.items():
            attributes[changed + _PROFILE_SUFFIX] = file
        return attributes

    def _add_cluster(self, parent: ElementTree.Element, cluster: Cluster) -> None:
        names, kind = cluster.hosts[0], self._kinds[next(iter(cluster.hosts[0]))]
        if not self._is_plain(cluster, kind):
            self._add_spelled_out(parent, cluster)
            return
        attributes = {
            "id": cluster.name,
            **_numbered(names.prefix, cluster.hosts, names.suffix),
            **self._host_attributes(kind),
            "bw": BANDWIDTH.text(cluster.bandwidth),
            "lat": DURATION.text(cluster.latency),
        }
        if cluster.sharing != Sharing.SPLITDUPLEX:
            attributes["sharing_policy"] = cluster.sharing.value
        if cluster.topology is not None:
            attributes["topology"], attributes["topo_parameters"] = topology_text(cluster.topology)
        if cluster.backbone is not None:
            attributes["bb_bw"] = BANDWIDTH.text(cluster.backbone.bandwidth)
            attributes["bb_lat"] = DURATION.text(cluster.backbone.latency)
            attributes["bb_sharing_policy"] = cluster.backbone.sharing.value
        if cluster.loopback is not None:
            attributes["loopback_bw"] = BANDWIDTH.text(cluster.loopback.bandwidth)
            attributes["loopback_lat"] = DURATION.text(cluster.loopback.latency)
        if cluster.limiter:
            attributes["limiter_link"] = BANDWIDTH.text(cluster.limiter)
        if cluster.router != f"{names.prefix}{cluster.name}_router{names.suffix}":
            attributes["router_id"] = cluster.router
        self._add_properties(self._add(parent, "cluster", attributes), cluster.properties)

    def _is_plain(self, cluster: Cluster, kind: HostKind) -> bool:
        """Say whether a <cluster> can say all that there is to say."""
        names = cluster.hosts[0]
        alike = all(
            group.numbers and (group.prefix, group.suffix) == (names.prefix, names.suffix)
            for group in cluster.hosts
        )
        simple = not (kind.initial_state or kind.disks or kind.coordinates or kind.profiles)
        of_simgrid = cluster.backbone is None or cluster.backbone.name == f"{cluster.name}_backbone"
        same = alike and all(self._kinds[name] == kind for group in cluster.hosts for name in group)
        return same and simple and of_simgrid and kind.properties == cluster.properties

    def _add_spelled_out(self, parent: ElementTree.Element, cluster: Cluster) -> None:
        """Write a cluster whose hosts differ as a star of hosts, each with a link."""
        if cluster.topology is not None or cluster.limiter or cluster.loopback is not None:
            raise InputError(
                f"{self._source}: zone {cluster.name!r}: SimGrid's XML has no cluster of hosts "
                "that differ, expected a flat one without limiter and loopback"
            )
        star = self._add(parent, "zone", {"id": cluster.name, "routing": "Cluster"})
        self._add_properties(star, cluster.properties)
        names = [name for group in cluster.hosts for name in group]
        for name in names:
            self._add_host(star, name, self._kinds[name])
        split = cluster.sharing == Sharing.SPLITDUPLEX
        sharing = Sharing.SPLITDUPLEX if split else Sharing.SHARED
        for i in range(len(names)):
            link_name = f"{cluster.name}_link_{i}"
            self._add_link(star, Link(link_name, cluster.bandwidth, cluster.latency, sharing))
        for i, name in enumerate(names):
            link_name = f"{cluster.name}_link_{i}"
            up, down = (link_name + half if split else link_name for half in ("_UP", "_DOWN"))
            self._add_host_link(star, name, up, down)
        self._add_router(star, Router(cluster.router))
        if cluster.backbone is not None:
            self._add_backbone(star, cluster.backbone)

    def _add_host_link(self, parent: ElementTree.Element, host: str, up: str, down: str) -> None:
        self._add(parent, "host_link", {"id": host, "up": up, "down": down})

    def _add_cabinet(self, parent: ElementTree.Element, cabinet: Cabinet) -> None:
        """Write a cabinet, or its hosts one by one if a <cabinet> cannot say all about them."""
        names = cabinet.hosts
        kind = self._kinds[names[0]]
        if not names.numbers or kind.properties or kind.cores != 1 or kind.disks:
            for name in names:
                link = Link(f"link_{name}", cabinet.bandwidth, cabinet.latency, Sharing.SPLITDUPLEX)
                self._add_host(parent, name, kind)
                self._add_link(parent, link)
                self._add_host_link(parent, name, f"{link.name}_UP", f"{link.name}_DOWN")
            return
        attributes = {
            "id": cabinet.name,
            **_numbered(names.prefix, (names,), names.suffix),
            **self._host_attributes(kind),
            "bw": BANDWIDTH.text(cabinet.bandwidth),
            "lat": DURATION.text(cabinet.latency),
        }
        self._add(parent, "cabinet", attributes)

    def _add_link(self, parent: ElementTree.Element, link: Link) -> None:
        rates = link.rates or (link.bandwidth,)
        attributes = {"id": link.name, "bandwidth": ",".join(map(BANDWIDTH.text, rates))}
        if link.latency:
            attributes["latency"] = DURATION.text(link.latency)
        if link.sharing != Sharing.SHARED:
            attributes["sharing_policy"] = link.sharing.value
        for changed, file in link.profiles.items():
            attributes[changed + _PROFILE_SUFFIX] = file
        self._add_properties(self._add(parent, "link", attributes), link.properties)

    def _add_backbone(self, parent: ElementTree.Element, link: Link) -> None:
        attributes = {
            "id": link.name,
            "bandwidth": BANDWIDTH.text(link.bandwidth),
            "latency": DURATION.text(link.latency),
        }
        self._add(parent, "backbone", attributes)

    def _add_route(self, parent: ElementTree.Element, route: Route) -> None:
        tag = "zoneRoute" if route.gw_src else "route"
        attributes = {"src": route.src, "dst": route.dst}
        if route.gw_src:
            attributes |= {"gw_src": route.gw_src, "gw_dst": route.gw_dst}
        if route.bypass:
            tag = f"bypass{tag[0].upper()}{tag[1:]}"
        elif not route.symmetrical:
            attributes["symmetrical"] = "NO"
        element = self._add(parent, tag, attributes)
        for link, direction in route.hops:
            way = {"direction": direction} if direction else {}
            self._add(element, "link_ctn", {"id": link, **way})


def half_name(hop: Hop) -> str:
    """Return the name of a link, or of the half of it that is meant."""
    return f"{hop.link}_{hop.direction}" if hop.direction else hop.link


def _numbered(prefix: str, groups: tuple[NumberedNames, ...], suffix: str) -> dict[str, str]:
    numbers = [numbers for group in groups for numbers in group.numbers]
    return {"prefix": prefix, "suffix": suffix, "radical": ranges_text(numbers)}
