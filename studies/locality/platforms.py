"""Write the platforms of the study: eight clusters of sixteen hosts under one switch.

    python studies/locality/platforms.py

A cluster is a switch of its own (the backbone) with a link to each host; what crosses clusters goes
through the switches of both and through the one between them, which all share.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent / "platforms"
SPEED = 286.097e3
SWITCH = 1.25e9  # bytes a second: 10 Gbit/s
LATENCY = 24e-9


class Cluster(NamedTuple):
    """Speed of the hosts, bandwidth of the switch and of the links; the last as a number."""

    speed: float
    switch: float
    links: float = SWITCH


def _relative(switch: float, speed: float) -> Cluster:
    return Cluster(speed=round(speed * SPEED, 6), switch=switch * SWITCH)


# table 5.1: factors of the bandwidth of the switch, and of the speed
CLUSTERS = {
    "c1": _relative(2, 1),
    "c2": _relative(4, 2.02),
    "c3": _relative(1, 2.94),
    "c4": _relative(1, 1.24),
    "c5": _relative(2, 1.61),
    "c6": _relative(1, 1.72),
}
ORDERS = {
    "o1": (1, 1, 1, 2, 2, 2, 3, 3),
    "o2": (3, 3, 3, 2, 2, 2, 1, 1),
    "o3": (1, 2, 2, 3, 3, 2, 1, 1),
    "o4": (3, 1, 2, 3, 1, 2, 1, 2),
}


def text_of(clusters: list[Cluster], comment: str) -> str:
    """Return a SimGrid platform."""
    lines = ['<?xml version="1.0"?>', f"<!-- {comment} -->", '<platform version="4.1">']
    lines.append('  <zone id="machine" routing="Full">')
    for i, cluster in enumerate(clusters, start=1):
        lines.append(
            f'    <cluster id="cluster{i}" prefix="c{i}-" suffix="" radical="0-15" '
            f'speed="{cluster.speed!r}f" bw="{cluster.links!r}Bps" lat="{LATENCY!r}s" '
            f'bb_bw="{cluster.switch!r}Bps" bb_lat="0s" router_id="r{i}"/>'
        )
    lines.append(f'    <link id="switch" bandwidth="{SWITCH!r}Bps" latency="{LATENCY!r}s"/>')
    lines += [
        f'    <zoneRoute src="cluster{a}" dst="cluster{b}" gw_src="r{a}" gw_dst="r{b}">'
        '<link_ctn id="switch"/></zoneRoute>'
        for a, b in combinations(range(1, len(clusters) + 1), 2)
    ]
    return "\n".join([*lines, "  </zone>", "</platform>", ""])


def platforms() -> dict[str, str]:
    """Return all platforms by name."""
    homogeneous = Cluster(SPEED, SWITCH, links=1.25e8)
    found = {
        "homogeneous": text_of([homogeneous] * 8, "section 5.5.3, with the links of Griffon"),
        "as-printed": text_of(
            [homogeneous._replace(links=1.25e6)] * 8, "section 5.5.3, with links as printed"
        ),
    }
    for name, first in (("high", 1), ("low", 4)):
        for order, numbers in ORDERS.items():
            clusters = [CLUSTERS[f"c{number + first - 1}"] for number in numbers]
            found[f"{name}-{order}"] = text_of(clusters, f"section 5.5.4, order {order}")
    return found


if __name__ == "__main__":
    for name, text in platforms().items():
        (HERE / f"{name}.xml").write_text(text)
