"""Random platforms in SimGrid's XML: every kind of zone, with units written in many ways.

A family is a function of a generator; equal generators give equal platforms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

HEADER = (
    '<?xml version="1.0"?>\n'
    '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    '<platform version="4.1">\n'
)


class Draw(Random):
    """A generator that may keep to few round numbers, so that much happens at one instant."""

    round_numbers = False


@dataclass
class Drawn:
    """What was drawn so far: the hosts, the links that commands may change, the profiles."""

    rng: Draw
    energy: bool
    fatpipes: bool
    hosts: dict[str, int] = field(default_factory=dict)  # name: number of pstates
    links: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    body: str = ""
    routed: bool = True
    self_traffic: bool = True  # whether a host may send to itself

    @property
    def xml(self) -> str:
        return f"{HEADER}{self.body}\n</platform>\n"


@dataclass(frozen=True)
class Zone:
    """A zone as text, with the gateway that routes between zones name."""

    id: str
    xml: str
    gateway: str


def speed(rng: Draw) -> str:
    if rng.round_numbers:
        return f"{rng.choice([1, 2, 4, 10, 100])}Gf"
    value = 10 ** rng.uniform(8.5, 10.3)
    unit, factor = rng.choice([("Gf", 1e9), ("Mf", 1e6), ("f", 1.0), ("gigaflops", 1e9)])
    return f"{value / factor:.6g}{unit}" if factor > 1 else f"{value:.0f}f"


def bandwidth(rng: Draw) -> str:
    if rng.round_numbers:
        return f"{rng.choice([1, 10, 125, 1000])}MBps"
    value = 10 ** rng.uniform(7, 10)
    unit, factor = rng.choice(
        [("MBps", 1e6), ("GBps", 1e9), ("Gbps", 1.25e8), ("Mbps", 1.25e5), ("MiBps", 2.0**20)]
    )
    return f"{value / factor:.6g}{unit}"


def latency(rng: Draw) -> str:
    if rng.round_numbers:
        return rng.choice(["0s", "5us", "10us", "1ms"])
    if rng.random() < 0.15:
        return "0s"
    value = 10 ** rng.uniform(-6, -2.5)
    unit, factor = rng.choice([("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("ns", 1e-9)])
    return f"{value / factor:.5f}{unit}"


def policy(drawn: Drawn) -> str:
    sharing = drawn.rng.choice(["SHARED", "SHARED", "SPLITDUPLEX", "FATPIPE"])
    return sharing if drawn.fatpipes else sharing.replace("FATPIPE", "SHARED")


def watts(rng: Draw, n_pstates: int) -> str:
    """Return the properties of a host with that many pstates."""
    states = []
    for _ in range(n_pstates):
        idle = rng.uniform(20, 120)
        least = idle + rng.uniform(0, 30)
        full = least + rng.uniform(0, 200)
        short = rng.random() < 0.3
        states.append(f"{idle:.3f}:{full:.3f}" if short else f"{idle:.3f}:{least:.3f}:{full:.3f}")
    properties = f'<prop id="wattage_per_state" value="{",".join(states)}"/>'
    if rng.random() < 0.7:
        properties += f'<prop id="wattage_off" value="{rng.uniform(0, 15):.3f}"/>'
    return properties


def host_body(drawn: Drawn, names: Sequence[str]) -> tuple[str, str]:
    """Return attributes and properties for hosts that are all alike."""
    rng = drawn.rng
    n_pstates = rng.choice([1, 1, 2, 3])
    speeds = ",".join(speed(rng) for _ in range(n_pstates))
    attributes = f'speed="{speeds}"'
    if rng.random() < 0.5:
        attributes += f' core="{rng.choice([1, 2, 4, 8])}"'
    drawn.hosts.update(dict.fromkeys(names, n_pstates))
    return attributes, watts(rng, n_pstates) if drawn.energy else ""


def profile(drawn: Drawn, name: str, values: Callable[[], float]) -> str:
    """Write an availability profile and return the name of its file."""
    rng = drawn.rng
    date = 0.0
    lines = []
    for _ in range(rng.randint(1, 5)):
        lines.append(f"{date:.4f} {values():.6g}")
        date += rng.uniform(0.2, 4)
    repeats = rng.random()
    if repeats < 0.4:
        lines.insert(0, f"PERIODICITY {date + rng.uniform(0.5, 5):.4f}")
    elif repeats < 0.6:
        lines.append(f"LOOPAFTER {rng.uniform(0.5, 5):.4f}")
    drawn.files[name] = "\n".join(lines) + "\n"
    return name


def host(drawn: Drawn, name: str) -> str:
    rng = drawn.rng
    attributes, properties = host_body(drawn, [name])
    if drawn.hosts[name] > 1 and rng.random() < 0.3:
        attributes += f' pstate="{rng.randrange(drawn.hosts[name])}"'
    if rng.random() < 0.08:
        file = profile(drawn, f"{name}.speed", lambda: rng.choice([1, rng.uniform(0.1, 1)]))
        attributes += f' speed_file="{file}"'
    return f'<host id="{name}" {attributes}>{properties}</host>'


def link(drawn: Drawn, name: str) -> tuple[str, str]:
    """Return the element, and how a route goes through it."""
    rng = drawn.rng
    sharing = policy(drawn)
    attributes = f'bandwidth="{bandwidth(rng)}" latency="{latency(rng)}"'
    if sharing != "SHARED" or rng.random() < 0.5:
        attributes += f' sharing_policy="{sharing}"'
    if sharing != "SPLITDUPLEX":
        if rng.random() < 0.04:
            file = profile(drawn, f"{name}.bandwidth", lambda: 10 ** rng.uniform(7, 9))
            attributes += f' bandwidth_file="{file}"'
        if rng.random() < 0.04:
            file = profile(drawn, f"{name}.latency", lambda: 10 ** rng.uniform(-6, -3))
            attributes += f' latency_file="{file}"'
    if sharing == "SPLITDUPLEX":
        drawn.links += [f"{name}_UP", f"{name}_DOWN"]
        direction = rng.choice(["UP", "DOWN"])
        through = f'<link_ctn id="{name}" direction="{direction}"/>'
    else:
        drawn.links.append(name)
        through = f'<link_ctn id="{name}"/>'
    return f'<link id="{name}" {attributes}/>', through


def routes(drawn: Drawn, pairs: Sequence[tuple[str, str]], through: Sequence[str]) -> str:
    """Route each pair of hosts through some of the links, in one direction or both."""
    rng = drawn.rng
    lines = []
    for one, other in pairs:
        path = "".join(rng.sample(through, rng.randint(1, min(3, len(through)))))
        if rng.random() < 0.8:
            lines.append(f'<route src="{one}" dst="{other}">{path}</route>')
            continue
        back = "".join(rng.sample(through, rng.randint(1, min(3, len(through)))))
        lines.append(f'<route src="{one}" dst="{other}" symmetrical="NO">{path}</route>')
        lines.append(f'<route src="{other}" dst="{one}" symmetrical="NO">{back}</route>')
    return "\n".join(lines)


def table_zone(drawn: Drawn, name: str, routing: str = "Full") -> Zone:
    """Hosts with a route for (nearly) each pair, or for enough pairs to reach all."""
    rng = drawn.rng
    hosts = [f"{name}h{i}" for i in range(rng.randint(2, 8))]
    lines = [host(drawn, each) for each in hosts]
    through = []
    for i in range(rng.randint(1, 2 * len(hosts))):
        element, passage = link(drawn, f"{name}l{i}")
        lines.append(element)
        through.append(passage)
    drawn.self_traffic = drawn.fatpipes  # hosts share one loopback, which is a fatpipe
    pairs = [(one, other) for i, one in enumerate(hosts) for other in hosts[i + 1 :]]
    if routing == "Full":
        complete = rng.random() < 0.9
        pairs = [pair for pair in pairs if complete or rng.random() < 0.8]
    else:
        spine = list(pairwise(rng.sample(hosts, len(hosts))))
        known = {frozenset(pair) for pair in spine}
        extra = [p for p in pairs if frozenset(p) not in known and rng.random() < 0.25]
        pairs = spine + extra
    lines.append(routes(drawn, pairs, through))
    xml = f'<zone id="{name}" routing="{routing}">\n' + "\n".join(lines) + "\n</zone>"
    return Zone(name, xml, rng.choice(hosts))


def flat_cluster(drawn: Drawn, name: str) -> Zone:
    """A cluster element without topology: private links, backbone, limiter, loopback."""
    rng = drawn.rng
    n = rng.randint(2, 16)
    radical = (
        f"0-{n - 1}" if n < 4 or rng.random() < 0.6 else f"0-{n // 2 - 1},{n // 2 + 3}-{n + 2}"
    )
    numbers = list(range(n)) if "," not in radical else [*range(n // 2), *range(n // 2 + 3, n + 3)]
    suffix = rng.choice(["", ".site"])
    attributes, properties = host_body(drawn, [f"{name}n{i}{suffix}" for i in numbers])
    sharing = rng.choice(["SPLITDUPLEX", "SPLITDUPLEX", "SHARED", "FATPIPE"])
    options = f' sharing_policy="{sharing}"' if sharing != "SPLITDUPLEX" else ""
    half = "_UP" if sharing == "SPLITDUPLEX" else ""
    drawn.links += [f"{name}_link_{i}{half}" for i in numbers[:3]]
    if rng.random() < 0.7:
        options += f' bb_bw="{bandwidth(rng)}" bb_lat="{latency(rng)}"'
        drawn.links.append(f"{name}_backbone")
        if drawn.fatpipes and rng.random() < 0.5:
            options += ' bb_sharing_policy="FATPIPE"'
    options += limiter(drawn) + loopback(drawn)
    gateway = f"{name}n{name}_router{suffix}"
    if rng.random() < 0.3:
        gateway = f"{name}gate"
        options += f' router_id="{gateway}"'
    xml = (
        f'<cluster id="{name}" prefix="{name}n" suffix="{suffix}" radical="{radical}" {attributes} '
        f'bw="{bandwidth(rng)}" lat="{latency(rng)}"{options}>{properties}</cluster>'
    )
    return Zone(name, xml, gateway)


def limiter(drawn: Drawn) -> str:
    return f' limiter_link="{bandwidth(drawn.rng)}"' if drawn.rng.random() < 0.3 else ""


def loopback(drawn: Drawn) -> str:
    rng = drawn.rng
    if not drawn.fatpipes or rng.random() < 0.4:
        return ""
    return f' loopback_bw="{bandwidth(rng)}" loopback_lat="{latency(rng)}"'


def star_zone(drawn: Drawn, name: str) -> Zone:
    """Hosts with links up and down by name, perhaps shared among them, perhaps a backbone."""
    rng = drawn.rng
    hosts = [f"{name}h{i}" for i in range(rng.randint(2, 8))]
    lines = [host(drawn, each) for each in hosts]
    lines.append(f'<router id="{name}gate"/>')
    links, stars = [], []
    for i, each in enumerate(hosts):
        ends = []
        for way in ("up", "down"):
            id_ = f"{name}{way}{i}"
            sharing = policy(drawn).replace("SPLITDUPLEX", "SHARED")
            links.append(
                f'<link id="{id_}" bandwidth="{bandwidth(rng)}" latency="{latency(rng)}" '
                f'sharing_policy="{sharing}"/>'
            )
            drawn.links.append(id_)
            ends.append(id_)
        if rng.random() < 0.2:
            ends[1] = ends[0]
        stars.append(f'<host_link id="{each}" up="{ends[0]}" down="{ends[1]}"/>')
    lines += links + stars
    if rng.random() < 0.6:
        drawn.links.append(f"{name}bb")
        lines.append(
            f'<backbone id="{name}bb" bandwidth="{bandwidth(rng)}" latency="{latency(rng)}"/>'
        )
    xml = f'<zone id="{name}" routing="Cluster">\n' + "\n".join(lines) + "\n</zone>"
    return Zone(name, xml, f"{name}gate")


def topology(drawn: Drawn, name: str, kind: str, parameters: str, n_hosts: int) -> Zone:
    rng = drawn.rng
    hosts = [f"{name}n{i}" for i in range(n_hosts)]
    attributes, properties = host_body(drawn, hosts)
    sharing = rng.choice(["", "", ' sharing_policy="SHARED"'])
    options = loopback(drawn)
    if kind != "FAT_TREE":  # whose limiters take names that hosts have, which SimGrid refuses
        options += limiter(drawn)
    xml = (
        f'<cluster id="{name}" prefix="{name}n" suffix="" radical="0-{n_hosts - 1}" {attributes} '
        f'bw="{bandwidth(rng)}" lat="{latency(rng)}" topology="{kind}" '
        f'topo_parameters="{parameters}"{sharing}{options}>{properties}</cluster>'
    )
    return Zone(name, xml, rng.choice(hosts))


def fat_tree(drawn: Drawn, name: str) -> Zone:
    rng = drawn.rng
    levels = rng.randint(1, 3)
    down = [rng.randint(2, 4 if levels < 3 else 3) for _ in range(levels)]
    up = [1] + [rng.randint(1, 3) for _ in range(levels - 1)]
    cables = [rng.randint(1, 2) for _ in range(levels)]
    rows = [",".join(map(str, row)) for row in (down, up, cables)]
    return topology(drawn, name, "FAT_TREE", ";".join([str(levels), *rows]), math.prod(down))


def torus(drawn: Drawn, name: str) -> Zone:
    rng = drawn.rng
    sizes = [rng.randint(2, 5) for _ in range(rng.randint(1, 3))]
    while math.prod(sizes) > 40:
        sizes.pop()
    return topology(drawn, name, "TORUS", ",".join(map(str, sizes)), math.prod(sizes))


def dragonfly(drawn: Drawn, name: str) -> Zone:
    rng = drawn.rng
    routers = rng.randint(2, 4)
    groups = rng.randint(1, routers)
    chassis, nodes = rng.randint(1, 3), rng.randint(1, 3)
    blue, black, green = (rng.randint(1, 3) for _ in range(3))
    parameters = f"{groups},{blue};{chassis},{black};{routers},{green};{nodes}"
    return topology(drawn, name, "DRAGONFLY", parameters, groups * chassis * routers * nodes)


SIMPLE: list[Callable[[Drawn, str], Zone]] = [table_zone, flat_cluster, star_zone]


def joined(drawn: Drawn, name: str, zones: Sequence[Zone], routing: str = "Full") -> Zone:
    """Zones inside one; routes between them, by their gateways."""
    rng = drawn.rng
    lines = [zone.xml for zone in zones]
    through = []
    for i in range(rng.randint(1, 4)):
        element, passage = link(drawn, f"{name}w{i}")
        lines.append(element)
        through.append(passage)
    order = [(a, b) for i, a in enumerate(zones) for b in zones[i + 1 :]]
    if routing != "Full":
        order = list(pairwise(zones))
    for one, other in order:
        path = "".join(rng.sample(through, rng.randint(1, min(2, len(through)))))
        lines.append(
            f'<zoneRoute src="{one.id}" dst="{other.id}" gw_src="{one.gateway}" '
            f'gw_dst="{other.gateway}">{path}</zoneRoute>'
        )
    xml = f'<zone id="{name}" routing="{routing}">\n' + "\n".join(lines) + "\n</zone>"
    return Zone(name, xml, rng.choice(zones).gateway)


def one_zone(make: Callable[[Drawn, str], Zone]) -> Callable[[Drawn], None]:
    def family(drawn: Drawn) -> None:
        inner = make(drawn, "z")
        drawn.body = inner.xml
        if inner.xml.startswith("<cluster"):
            drawn.body = f'<zone id="world" routing="Full">\n{inner.xml}\n</zone>'

    return family


def nested(drawn: Drawn) -> None:
    rng = drawn.rng
    zones = []
    for i in range(rng.randint(2, 4)):
        if rng.random() < 0.25:
            parts = [rng.choice(SIMPLE)(drawn, f"z{i}{part}") for part in "ab"]
            zones.append(joined(drawn, f"z{i}", parts))
        else:
            zones.append(rng.choice([*SIMPLE, fat_tree, torus, dragonfly])(drawn, f"z{i}"))
    drawn.body = joined(drawn, "world", zones, rng.choice(["Full", "Full", "Floyd"])).xml


def vivaldi(drawn: Drawn) -> None:
    rng = drawn.rng
    peers = []
    for i in range(rng.randint(2, 6)):
        drawn.hosts[f"p{i}"] = 1
        place = " ".join(f"{rng.uniform(-50, 50):.3f}" for _ in range(3))
        peers.append(
            f'<peer id="p{i}" speed="{speed(rng)}" bw_in="{bandwidth(rng)}" '
            f'bw_out="{bandwidth(rng)}" coordinates="{place}"/>'
        )
    drawn.energy = False
    drawn.body = '<zone id="V" routing="Vivaldi">\n' + "\n".join(peers) + "\n</zone>"


def no_network(drawn: Drawn) -> None:
    hosts = "\n".join(host(drawn, f"h{i}") for i in range(drawn.rng.randint(2, 8)))
    drawn.body = f'<zone id="none" routing="None">\n{hosts}\n</zone>'
    drawn.routed = False


FAMILIES: dict[str, Callable[[Drawn], None]] = {
    "full": one_zone(table_zone),
    "cluster": one_zone(flat_cluster),
    "star": one_zone(star_zone),
    "floyd": one_zone(lambda drawn, name: table_zone(drawn, name, "Floyd")),
    "dijkstra": one_zone(lambda drawn, name: table_zone(drawn, name, "Dijkstra")),
    "dijkstra-cache": one_zone(lambda drawn, name: table_zone(drawn, name, "DijkstraCache")),
    "fat-tree": one_zone(fat_tree),
    "torus": one_zone(torus),
    "dragonfly": one_zone(dragonfly),
    "nested": nested,
    "vivaldi": vivaldi,
    "none": no_network,
}


def draw_platform(rng: Draw, family: str, *, energy: bool, fatpipes: bool) -> Drawn:
    drawn = Drawn(rng, energy, fatpipes)
    FAMILIES[family](drawn)
    return drawn
