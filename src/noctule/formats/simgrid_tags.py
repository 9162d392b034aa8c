"""The tags of SimGrid's platform XML: where each may stand, and its attributes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tag:
    """What a tag may contain and must have."""

    required: frozenset[str]
    allowed: frozenset[str]
    children: frozenset[str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _tag(required: str = "", optional: str = "", children: str = "") -> Tag:
    needed = _words(required)
    return Tag(needed, needed | _words(optional), _words(children))


# Names of version 4.0 that mean the same as newer ones.
SYNONYMS = {
    "AS": "zone",
    "ASroute": "zoneRoute",
    "bypassASroute": "bypassZoneRoute",
    "process": "actor",
}

# Tags that SimGrid itself gave up, and what to write instead.
GONE = {
    "include": "the content of the other file",
    "storage": "a disk inside its host",
    "storage_type": "a disk inside each host",
    "mount": "a disk inside the host",
    "gpu": "a property of the host",
}

_NAMED = "prefix suffix radical speed bw lat"
_ZONE_PARTS = (
    "prop zone link backbone cabinet cluster peer trace trace_connect zoneRoute bypassZoneRoute "
    "host router host_link route bypassRoute"
)
_ACTOR = "start_time kill_time on_failure"

TAGS = {
    "platform": _tag("version", "", "config random zone cluster trace trace_connect actor"),
    "config": _tag("", "id", "prop"),
    "random": _tag("id", "min max mean std_deviation seed radical generator"),
    "prop": _tag("id value"),
    "zone": _tag("id routing", "", _ZONE_PARTS),
    "host": _tag(
        "id speed",
        "core pstate speed_file availability_file state_file coordinates",
        "prop disk",
    ),
    "disk": _tag("read_bw write_bw", "id", "prop"),
    "host_link": _tag("id up down"),
    "cluster": _tag(
        f"id {_NAMED}",
        "core sharing_policy topology topo_parameters bb_bw bb_lat bb_sharing_policy router_id "
        "limiter_link loopback_bw loopback_lat",
        "prop",
    ),
    "cabinet": _tag(f"id {_NAMED}"),
    "peer": _tag(
        "id speed bw_in bw_out", "lat coordinates speed_file availability_file state_file"
    ),
    "router": _tag("id", "coordinates"),
    "backbone": _tag("id bandwidth latency"),
    "link": _tag(
        "id bandwidth", "latency sharing_policy bandwidth_file latency_file state_file", "prop"
    ),
    "route": _tag("src dst", "symmetrical", "link_ctn"),
    "zoneRoute": _tag("src dst gw_src gw_dst", "symmetrical", "link_ctn"),
    "bypassRoute": _tag("src dst", "symmetrical", "link_ctn"),
    "bypassZoneRoute": _tag("src dst gw_src gw_dst", "symmetrical", "link_ctn"),
    "link_ctn": _tag("id", "direction"),
    "trace": _tag("id periodicity", "file"),
    "trace_connect": _tag("trace element", "kind"),
    "actor": _tag("host function", _ACTOR, "prop argument"),
    "argument": _tag("value"),
}
