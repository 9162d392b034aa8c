"""Routes between hosts: a platform's network, handed to the core, which finds the paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.errors import InputError
from noctule.network import (
    Cluster,
    Dragonfly,
    FatTree,
    Hop,
    Link,
    Network,
    Peer,
    Route,
    Routing,
    Sharing,
    Torus,
    Zone,
)
from noctule.simgrid_options import simgrid_options

__all__ = ["Path"]

_ROUTINGS = {routing: getattr(_core.Routing, routing.name) for routing in Routing}
_OTHER_HALF = {"UP": "DOWN", "DOWN": "UP", "": ""}


class Path(NamedTuple):
    """The way from one host to another: names of its links in order, and seconds of latency.

    Attributes:
        missing: whether a zone on the way declares no route. Nothing is crossed there.
    """

    links: tuple[str, ...]
    latency: float
    missing: bool = False


class LocatedHost(Protocol):
    """A host, of which the network needs the name and where it lies in a Vivaldi zone."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def coordinates(self) -> tuple[float, ...]:
        """Three numbers, or none."""


class Routes:
    """The routes of a platform; made when they are first asked for, and never pickled."""

    __slots__ = ("_ids", "_network", "_plan")

    def __init__(self) -> None:
        self._plan: _core.NetworkPlan | None = None
        self._network: _core.Network | None = None
        self._ids: dict[str, int] = {}

    def __reduce__(self) -> tuple[type[Routes], tuple[()]]:
        return Routes, ()

    def plan(
        self, network: Network, names: Iterable[str], hosts: Iterable[LocatedHost], source: str
    ) -> _core.NetworkPlan:
        """Return the plan of a network between hosts in the order of their ids."""
        if self._plan is None:
            ids = {name: i for i, name in enumerate(names)}
            self._plan = _Builder(network, ids, hosts, source).plan()
            self._ids = ids
        return self._plan

    def path(self, plan: _core.NetworkPlan, src: str, dst: str) -> Path:
        """Return the way from one host to another."""
        if self._network is None:
            self._network = _core.Network(plan)
        links, latency, missing = self._network.route(self._id(src), self._id(dst))
        return Path(tuple(map(plan.link_name, links)), latency, missing)

    def _id(self, name: str) -> int:
        found = self._ids.get(name)
        if found is None:
            raise InputError(f"host {name!r}: no such host")
        return found


class _Builder:
    """Hands zones, links and routes to the core."""

    def __init__(
        self, network: Network, ids: dict[str, int], hosts: Iterable[LocatedHost], source: str
    ) -> None:
        options = simgrid_options(network.options, source or "platform")
        self._builder = _core.NetworkBuilder(
            list(ids), options.loopback_bandwidth, options.loopback_latency
        )
        self._network = network
        self._source = source or "platform"
        self._ids = ids
        self._points = dict(ids)
        self._hosts = hosts
        self._coordinates: dict[str, tuple[float, ...]] | None = None
        self._links: dict[str, int] = {}
        self._zones: dict[str, int] = {}

    def plan(self) -> _core.NetworkPlan:
        try:
            for zone in self._network.zones:
                self._add(zone, None)
            for inner in self._network.walk():
                if isinstance(inner, Zone):
                    self._add_host_links(inner)
                    for route in inner.routes:
                        self._add_route(inner, route)
            return self._builder.finish()
        except InputError as error:
            raise InputError(f"{self._source}: {error}") from None

    def _add(self, zone: Zone | Cluster, parent: int | None) -> None:
        if isinstance(zone, Cluster):
            self._add_cluster(zone, parent)
            return
        builder = self._builder
        number = builder.add_zone(zone.name, _ROUTINGS[zone.routing], parent)
        self._zones[zone.name] = number
        self._points[zone.name] = builder.point_of_zone(number)
        inner = {child.name: child for child in zone.zones}
        routers = {router.name for router in zone.routers}
        for name in zone.members:
            if name in inner:
                self._add(inner[name], number)
            elif name in routers:
                self._points[name] = builder.add_router(number, name)
            else:
                builder.add_host(number, self._host(name, zone.name))
        for link in zone.links:
            self._add_link(link)
        if zone.backbone is not None:
            builder.set_backbone(number, self._add_link(zone.backbone))
        for cabinet in zone.cabinets:
            hosts = self._host_ids(cabinet.hosts, zone.name)
            for host in hosts.tolist():
                builder.add_host(number, host)
            speed = cabinet.bandwidth
            builder.add_pairs(number, hosts, speed, speed, cabinet.latency)
        if zone.routing == Routing.VIVALDI:
            self._add_peers(zone, number)

    def _host(self, name: str, zone: str) -> int:
        found = self._ids.get(name)
        if found is None:
            raise InputError(f"zone {zone!r}: {name!r} is no host of the platform")
        return found

    def _host_ids(self, names: Iterable[str], zone: str) -> npt.NDArray[np.uint32]:
        try:
            return np.array([self._ids[name] for name in names], dtype=np.uint32)
        except KeyError as error:
            raise InputError(
                f"zone {zone!r}: {error.args[0]!r} is no host of the platform"
            ) from None

    def _add_link(self, link: Link) -> int:
        if link.sharing == Sharing.SPLITDUPLEX:
            for half in ("_UP", "_DOWN"):
                self._add_half(link, link.name + half)
            return self._links[f"{link.name}_UP"]
        return self._add_half(link, link.name)

    def _add_half(self, link: Link, name: str) -> int:
        fatpipe = link.sharing == Sharing.FATPIPE
        self._links[name] = self._builder.add_link(name, link.bandwidth, link.latency, fatpipe)
        return self._links[name]

    def _add_cluster(self, cluster: Cluster, parent: int | None) -> None:
        names = list(chain.from_iterable(cluster.hosts))
        loopback = cluster.loopback
        kind, sizes = _topology(cluster)
        number = self._builder.add_cluster(
            name=cluster.name,
            numbers=_numbers(cluster),
            parent=parent,
            hosts=self._host_ids(names, cluster.name),
            router=cluster.router,
            bandwidth=cluster.bandwidth,
            latency=cluster.latency,
            split=cluster.sharing == Sharing.SPLITDUPLEX,
            limiter=cluster.limiter,
            backbone=self._backbone(cluster),
            loopback=(loopback.bandwidth, loopback.latency) if loopback else None,
            topology=kind,
            sizes=sizes,
        )
        self._zones[cluster.name] = number
        self._points[cluster.name] = self._builder.point_of_zone(number)
        # a router is the point that follows its zone's own
        self._points[cluster.router] = self._points[cluster.name] + 1

    def _backbone(self, cluster: Cluster) -> int | None:
        if cluster.backbone is None or cluster.topology is not None:
            return None
        return self._add_half(cluster.backbone, cluster.backbone.name)

    def _add_peers(self, zone: Zone, number: int) -> None:
        coordinates = self._all_coordinates()
        for peer in zone.peers:
            self._add_peer(peer, number)
        routers = {router.name: router.coordinates for router in zone.routers}
        inner = {child.name for child in zone.zones}
        for name in zone.members:
            if name in inner:
                continue
            place = routers[name] if name in routers else coordinates.get(name, ())
            if len(place) != 3:
                raise InputError(
                    f"zone {zone.name!r}: {name!r}: got {len(place)} coordinates, expected 3"
                )
            self._builder.set_coordinates(number, self._points[name], place)

    def _add_peer(self, peer: Peer, number: int) -> None:
        host = np.array([self._ids[peer.host]], dtype=np.uint32)
        # SimGrid gives its links no latency: the distance is all
        self._builder.add_pairs(number, host, peer.bandwidth_out, peer.bandwidth_in, 0.0)

    def _all_coordinates(self) -> dict[str, tuple[float, ...]]:
        if self._coordinates is None:
            self._coordinates = {host.name: host.coordinates for host in self._hosts}
        return self._coordinates

    def _add_host_links(self, zone: Zone) -> None:
        number = self._zones[zone.name]
        for host, up, down in zone.host_links:
            self._builder.set_host_links(
                number, self._host(host, zone.name), self._link(up), self._link(down)
            )

    def _link(self, hop: Hop) -> int:
        name = f"{hop.link}_{hop.direction}" if hop.direction else hop.link
        found = self._links.get(name)
        if found is None:
            found = self._builder.find_link(name)
        if found is None:
            raise InputError(f"link {name!r}: no such link")
        return found

    def _add_route(self, zone: Zone, route: Route) -> None:
        forth = [self._link(hop) for hop in route.hops]
        self._add_way(zone, route, forth, (route.src, route.dst), (route.gw_src, route.gw_dst))
        if route.symmetrical and route.src != route.dst:
            hops = [Hop(hop.link, _OTHER_HALF[hop.direction]) for hop in reversed(route.hops)]
            back = [self._link(hop) for hop in hops]
            self._add_way(zone, route, back, (route.dst, route.src), (route.gw_dst, route.gw_src))

    def _add_way(
        self,
        zone: Zone,
        route: Route,
        links: Sequence[int],
        ends: tuple[str, str],
        gateways: tuple[str, str],
    ) -> None:
        src, dst = (self._points[name] for name in ends)
        between = None
        if all(gateways):
            between = (self._points[gateways[0]], self._points[gateways[1]])
        number = self._zones[zone.name]
        self._builder.add_route(number, src, dst, between, list(links), route.bypass)


def _topology(cluster: Cluster) -> tuple[str, list[list[int]]]:
    topology = cluster.topology
    if isinstance(topology, FatTree):
        return "fat_tree", [list(topology.down), list(topology.up), list(topology.cables)]
    if isinstance(topology, Torus):
        return "torus", [list(topology.dimensions)]
    if isinstance(topology, Dragonfly):
        t = topology
        return "dragonfly", [[t.groups, t.blue, t.chassis, t.black, t.routers, t.green, t.hosts]]
    return "flat", []


def _numbers(cluster: Cluster) -> list[tuple[int, int]]:
    """Return the numbers in the names of links; none where they are the ranks of the hosts."""
    first = cluster.hosts[0]
    alike = all(
        group.numbers and (group.prefix, group.suffix) == (first.prefix, first.suffix)
        for group in cluster.hosts
    )
    ranges: Iterator[range] = chain.from_iterable(group.numbers for group in cluster.hosts)
    return [(numbers[0], len(numbers)) for numbers in ranges] if alike else []
