"""What joins the hosts: zones, links and routes, as a platform file describes them.

Nothing is worked out here: a cluster of 100 000 hosts is one Cluster, and its links are named by a
rule. Execution models turn the description into paths. Names are unique over the whole platform;
hosts, routers and zones share one set of names, links have another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, overload

__all__ = [
    "Cabinet",
    "Cluster",
    "Dragonfly",
    "FatTree",
    "Hop",
    "HostLink",
    "Link",
    "Network",
    "NumberedNames",
    "Peer",
    "Route",
    "Router",
    "Routing",
    "Sharing",
    "Topology",
    "Torus",
    "Trace",
    "TraceConnection",
    "Zone",
]


class Routing(StrEnum):
    """How a zone finds the route between two of its members."""

    FULL = "Full"
    FLOYD = "Floyd"
    DIJKSTRA = "Dijkstra"
    DIJKSTRA_CACHE = "DijkstraCache"
    STAR = "Cluster"
    VIVALDI = "Vivaldi"
    WIFI = "Wifi"
    NONE = "None"


class Sharing(StrEnum):
    """What happens to flows that use a link at the same time."""

    SHARED = "SHARED"
    FATPIPE = "FATPIPE"
    SPLITDUPLEX = "SPLITDUPLEX"
    WIFI = "WIFI"


class Hop(NamedTuple):
    """A link of a route, and which half of it if the link has two: "UP", "DOWN" or ""."""

    link: str
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A link: bytes a second, seconds, and how flows share it.

    Attributes:
        rates: bandwidths of a Wifi link, of which `bandwidth` is the first; empty for others.
        profiles: files that change it over time, by what they change: bandwidth, latency, state.
    """

    name: str
    bandwidth: float
    latency: float = 0.0
    sharing: Sharing = Sharing.SHARED
    rates: tuple[float, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    profiles: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Route:
    """A declared route between two members of a zone.

    Between zones, the gateways are the hosts or routers at which they are left and entered;
    otherwise they are "". A bypass takes the place of the route that would be found.
    """

    src: str
    dst: str
    hops: tuple[Hop, ...]
    gw_src: str = ""
    gw_dst: str = ""
    symmetrical: bool = True
    bypass: bool = False


@dataclass(frozen=True, slots=True)
class NumberedNames(Sequence[str]):
    """Names that differ by a number only: prefix, number, suffix; each is made when it is used.

    Without any number it is the one name that prefix and suffix make.
    """

    prefix: str
    numbers: tuple[range, ...] = ()
    suffix: str = ""

    def __len__(self) -> int:
        return sum(map(len, self.numbers)) if self.numbers else 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        left = index + len(self) if index < 0 else index
        if not self.numbers and left == 0:
            return self.prefix + self.suffix
        for numbers in self.numbers if left >= 0 else ():
            if left < len(numbers):
                return f"{self.prefix}{numbers[left]}{self.suffix}"
            left -= len(numbers)
        raise IndexError(f"name {index}: there are {len(self)}")

    def __iter__(self) -> Iterator[str]:
        prefix, suffix = self.prefix, self.suffix
        if not self.numbers:
            yield prefix + suffix
        for numbers in self.numbers:
            for number in numbers:
                yield f"{prefix}{number}{suffix}"


@dataclass(frozen=True, slots=True)
class FatTree:
    """Switches in levels: links down and up, and cables side by side, from the lowest level on."""

    down: tuple[int, ...]
    up: tuple[int, ...]
    cables: tuple[int, ...]

    @property
    def n_hosts(self) -> int:
        """How many hosts it joins."""
        return math.prod(self.down)


@dataclass(frozen=True, slots=True)
class Torus:
    """Hosts in a grid whose ends are joined; the first dimension runs fastest."""

    dimensions: tuple[int, ...]

    @property
    def n_hosts(self) -> int:
        """How many hosts it joins."""
        return math.prod(self.dimensions)


@dataclass(frozen=True, slots=True)
class Dragonfly:
    """Groups of chassis of routers of hosts, with so many parallel blue, black, green links."""

    groups: int
    blue: int
    chassis: int
    black: int
    routers: int
    green: int
    hosts: int

    @property
    def n_hosts(self) -> int:
        """How many hosts it joins."""
        return self.groups * self.chassis * self.routers * self.hosts


#: How the hosts of a cluster that is not flat are joined.
Topology = FatTree | Torus | Dragonfly


@dataclass(frozen=True, slots=True)
class Cluster:
    """A zone of many hosts, each on a link of its own.

    Link i of the i-th number is called NAME_link_i, with _UP and _DOWN if it is split; others are
    NAME_link_i_limiter and NAME_link_i_loopback.

    Attributes:
        sharing: of the links to the hosts; anything but SPLITDUPLEX makes one shared link each.
        topology: None for a flat one, where links meet in the backbone or in the router.
        limiter: bytes a second that a host can send and receive together; 0 for no limit.
        loopback: from a host to itself; without one, traffic goes up and down again.
    """

    name: str
    hosts: tuple[NumberedNames, ...]
    bandwidth: float
    latency: float
    router: str
    sharing: Sharing = Sharing.SPLITDUPLEX
    topology: Topology | None = None
    backbone: Link | None = None
    limiter: float = 0.0
    loopback: Link | None = None
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Cabinet:
    """Hosts of a star zone on split links, called link_HOST_UP and link_HOST_DOWN."""

    name: str
    hosts: NumberedNames
    bandwidth: float
    latency: float


class HostLink(NamedTuple):
    """The links that a host of a star zone sends and receives on."""

    host: str
    up: Hop
    down: Hop


class Peer(NamedTuple):
    """A host of a Vivaldi zone, on links called link_HOST_UP and link_HOST_DOWN.

    The latency is kept, but as in SimGrid it changes nothing: the distance between hosts does.
    """

    host: str
    bandwidth_in: float
    bandwidth_out: float
    latency: float = 0.0


class Router(NamedTuple):
    """A place where routes end that is no host."""

    name: str
    coordinates: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the network, with a rule of its own for routes.

    Attributes:
        members: names of its hosts, routers and zones in the order of declaration, on which the
            routes of Floyd and Dijkstra depend; hosts of cabinets are not among them.
        backbone: what all routes of a star zone go through.
    """

    name: str
    routing: Routing
    members: tuple[str, ...] = ()
    zones: tuple[Zone | Cluster, ...] = ()
    routers: tuple[Router, ...] = ()
    links: tuple[Link, ...] = ()
    routes: tuple[Route, ...] = ()
    backbone: Link | None = None
    cabinets: tuple[Cabinet, ...] = ()
    host_links: tuple[HostLink, ...] = ()
    peers: tuple[Peer, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


class Trace(NamedTuple):
    """A change over time written in the platform file itself, or the file that has it."""

    name: str
    file: str
    periodicity: float
    text: str


class TraceConnection(NamedTuple):
    """What a trace changes: SPEED, HOST_AVAIL, BANDWIDTH, LATENCY or LINK_AVAIL of something."""

    kind: str
    trace: str
    element: str


@dataclass(frozen=True, slots=True)
class Network:
    """All zones of a platform; none where nothing was said about the network.

    Attributes:
        options: SimGrid options that the file sets, by name, as text.
    """

    zones: tuple[Zone | Cluster, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    traces: tuple[Trace, ...] = ()
    connections: tuple[TraceConnection, ...] = ()

    def walk(self) -> Iterator[Zone | Cluster]:
        """Yield every zone, outer ones before inner ones, in the order of declaration."""
        waiting = list(reversed(self.zones))
        while waiting:
            zone = waiting.pop()
            yield zone
            if isinstance(zone, Zone):
                waiting.extend(reversed(zone.zones))
