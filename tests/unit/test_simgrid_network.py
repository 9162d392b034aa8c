"""SimGrid's XML: zones, links, routes and clusters are kept as they are described."""

from __future__ import annotations

from pathlib import Path

import pytest
from platform_files import (
    HERE,
    a_cluster,
    a_host,
    a_platform,
    load_text,
    refusal,
    zone_of,
)

from noctule.formats.platforms import load_platform
from noctule.network import (
    Cabinet,
    Hop,
    HostLink,
    Link,
    NumberedNames,
    Peer,
    Route,
    Router,
    Routing,
    Sharing,
    Trace,
    TraceConnection,
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def a_link(name: str = "l", more: str = "") -> str:
    return f'<link id="{name}" bandwidth="1GBps" {more}/>'


def a_route(links: str = '<link_ctn id="l"/>', ends: str = 'src="a" dst="b"') -> str:
    return f"<route {ends}>{links}</route>"


TWO = a_host("a") + a_host("b")


# --- links and routes


def test_links_and_routes_are_kept_in_order() -> None:
    zone = zone_of(load_platform(HERE / "full4.xml"))

    assert (zone.name, zone.routing) == ("AS0", Routing.FULL)
    assert zone.members == ("h0", "h1", "h2", "h3")
    assert zone.links[0] == Link("l01", 100e6, 100 * 1e-6)
    assert [link.sharing for link in zone.links] == [
        *[Sharing.SHARED] * 3,
        Sharing.FATPIPE,
        Sharing.SHARED,
        Sharing.SPLITDUPLEX,
    ]
    assert zone.routes[0] == Route("h0", "h1", (Hop("l01"),))
    assert zone.routes[-1] == Route("h2", "h3", (Hop("l23", "UP"),))


def test_a_link_has_defaults_properties_and_profiles() -> None:
    link = (
        '<link id="l" bandwidth="1GBps" bandwidth_file="b" latency_file="l" state_file="s">'
        '<prop id="wattage_range" value="1:3"/></link>'
    )

    assert zone_of(load_text(a_platform(a_host() + link))).links == (
        Link(
            "l",
            1e9,
            0.0,
            Sharing.SHARED,
            properties={"wattage_range": "1:3"},
            profiles={"bandwidth": "b", "latency": "l", "state": "s"},
        ),
    )


def test_the_old_name_of_split_links_is_read() -> None:
    text = a_platform(a_host() + a_link(more='sharing_policy="FULLDUPLEX"'))

    assert zone_of(load_text(text)).links[0].sharing == Sharing.SPLITDUPLEX


def test_a_wifi_link_has_several_rates() -> None:
    text = a_platform(
        a_host() + '<link id="l" bandwidth="54Mbps,36Mbps" sharing_policy="WIFI"/>', "Wifi"
    )
    link = zone_of(load_text(text)).links[0]

    assert (link.bandwidth, link.rates) == (54e6 / 8, (54e6 / 8, 36e6 / 8))


def test_links_may_be_declared_behind_and_around_the_routes_that_use_them() -> None:
    inner = f'<zone id="y" routing="Full">{TWO}{a_route()}</zone>'

    outer = zone_of(load_text(a_platform(inner + a_link())))

    assert outer.zones[0].routes == (Route("a", "b", (Hop("l"),)),)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("links", "route", "hops"),
    [
        (
            a_link(more='sharing_policy="SPLITDUPLEX"'),
            '<link_ctn id="l" direction="UP"/><link_ctn id="l_DOWN"/>',
            (Hop("l", "UP"), Hop("l", "DOWN")),
        ),
        # before split links, people wrote two of them
        (a_link("l_UP"), '<link_ctn id="l" direction="UP"/>', (Hop("l_UP"),)),
        (a_link("l_UP"), '<link_ctn id="l_UP"/>', (Hop("l_UP"),)),
        (a_link(), '<link_ctn id="l" direction="NONE"/>', (Hop("l"),)),
        ("", "", ()),
    ],
)
def test_directions_can_be_attributes_or_endings(
    links: str, route: str, hops: tuple[Hop, ...]
) -> None:
    zone = zone_of(load_text(a_platform(TWO + links + a_route(route))))

    assert zone.routes[0].hops == hops


def test_routes_say_whether_they_are_symmetrical_and_bypass_others() -> None:
    routes = (
        a_route(ends='src="a" dst="b" symmetrical="no"')
        + a_route(ends='src="b" dst="b"')
        + '<bypassRoute src="a" dst="b"><link_ctn id="l"/></bypassRoute>'
    )
    found = zone_of(load_text(a_platform(TWO + a_link() + routes))).routes

    assert [route.symmetrical for route in found] == [False, True, False]
    assert [route.bypass for route in found] == [False, False, True]


def test_routes_between_zones_have_gateways() -> None:
    zone = zone_of(load_platform(HERE / "two_full.xml"))

    assert zone.members == ("A", "B", "C")
    assert zone.routes[1] == Route("B", "C", (Hop("BC"),), "bB_router.x", "crt")
    assert [inner.name for inner in load_platform(HERE / "two_full.xml").network.walk()] == [
        "W",
        "A",
        "B",
        "C",
    ]


def test_old_names_of_zone_routes_are_read() -> None:
    inner = "".join(
        f'<AS id="{name}" routing="None">{a_host(host)}</AS>' for name, host in ("xa", "yb")
    )
    ends = 'src="x" dst="y" gw_src="a" gw_dst="b"'
    routes = (
        f'<ASroute {ends}><link_ctn id="l"/></ASroute>'
        f'<bypassASroute {ends}><link_ctn id="l"/></bypassASroute>'
    )
    found = zone_of(load_text(a_platform(inner + a_link() + routes))).routes

    assert found == (
        Route("x", "y", (Hop("l"),), "a", "b"),
        Route("x", "y", (Hop("l"),), "a", "b", symmetrical=False, bypass=True),
    )


def test_links_of_clusters_cabinets_and_peers_can_be_used_by_name() -> None:
    cluster = a_cluster(bb_bw="1GBps") + '<zone id="y" routing="Full">' + TWO
    route = a_route('<link_ctn id="c_backbone"/><link_ctn id="c_link_3_UP"/>')
    text = a_platform(cluster + route + "</zone>")

    inner = zone_of(load_text(text)).zones[1]

    assert inner.routes[0].hops == (Hop("c_backbone"), Hop("c_link_3_UP"))  # type: ignore[union-attr]


# --- zones


@pytest.mark.parametrize("routing", list(Routing))
def test_all_kinds_of_zones_are_read(routing: Routing) -> None:
    assert zone_of(load_text(a_platform(a_host(), routing.value))).routing == routing


def test_a_star_zone_has_cabinets_host_links_a_backbone_and_routers() -> None:
    cabinet = (
        '<cabinet id="cab" prefix="x" suffix=".s" radical="1-2,5" speed="3Gf" bw="56Gbps" '
        'lat="1us"/>'
    )
    split = a_link("m", 'sharing_policy="SPLITDUPLEX"')
    host_links = '<host_link id="a" up="l" down="l"/><host_link id="b" up="m_UP" down="m_DOWN"/>'
    backbone = '<backbone id="bb" bandwidth="2.25GBps" latency="500us"/>'
    router = '<router id="r" coordinates="1 2 3"/>'
    content = cabinet + cabinet.replace('"x"', '"y"') + TWO + a_link() + split
    platform = load_text(a_platform(content + host_links + backbone + router, "Cluster"))
    zone = zone_of(platform)

    # cabinets may share their id, as in Batsim's own platforms
    names = (range(1, 3), range(5, 6))
    assert zone.cabinets == (
        Cabinet("cab", NumberedNames("x", names, ".s"), 7e9, 1e-6),
        Cabinet("cab", NumberedNames("y", names, ".s"), 7e9, 1e-6),
    )
    assert zone.host_links == (
        HostLink("a", Hop("l"), Hop("l")),
        HostLink("b", Hop("m", "UP"), Hop("m", "DOWN")),
    )
    assert zone.backbone == Link("bb", 2.25e9, 500 * 1e-6)
    assert zone.routers == (Router("r", (1.0, 2.0, 3.0)),)
    assert zone.members == ("a", "b", "r")
    names_by_id = [host.name for host in platform.hosts]
    assert names_by_id == ["a", "b", "x1.s", "x2.s", "x5.s", "y1.s", "y2.s", "y5.s"]
    assert platform.host(3).zone == ("z",)


def test_peers_are_hosts_of_a_vivaldi_zone_with_links() -> None:
    platform = load_platform(HERE / "vivaldi.xml")
    zone = zone_of(platform)

    assert zone.peers == (Peer("p0", 10e6, 5e6), Peer("p1", 20e6, 8e6))
    assert zone.members == ("p0", "p1")
    assert platform.host(0).kind.coordinates == (10.0, 20.0, 1.5)


def test_traces_are_kept() -> None:
    traces = (
        '<trace id="t" periodicity="1s">\n0 1.0\n5 0.5\n</trace>'
        '<trace id="u" periodicity="2" file="u.trace"/>'
        '<trace_connect kind="SPEED" trace="t" element="h"/>'
        '<trace_connect trace="u" element="h"/>'
    )
    network = load_text(a_platform(a_host() + traces)).network

    assert network.traces == (Trace("t", "", 1.0, "0 1.0\n5 0.5"), Trace("u", "u.trace", 2.0, ""))
    assert network.connections == (
        TraceConnection("SPEED", "t", "h"),
        TraceConnection("HOST_AVAIL", "u", "h"),
    )


# --- what is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            TWO + "\n" + a_route(),
            "line 5, column 1: route 'a -> b': link 'l': no such link",
        ),
        (
            a_link() + TWO + "\n" + a_route(ends='src="a" dst="q"'),
            "line 5, column 1: route 'a -> q': dst: got 'q', expected something in zone 'z'",
        ),
        (
            a_link(more='sharing_policy="SPLITDUPLEX"') + TWO + "\n" + a_route(),
            "line 5, column 1: route 'a -> b': link 'l': expected direction UP or DOWN",
        ),
        (
            a_link() + TWO + "\n" + a_route('<link_ctn id="l" direction="UP"/>'),
            "line 5, column 1: route 'a -> b': link 'l': expected no direction",
        ),
        (
            a_link() + TWO + "\n" + a_route('<link_ctn id="l" direction="LEFT"/>'),
            "line 5, column 24: link_ctn 'l': direction: got 'LEFT', expected NONE or UP or DOWN",
        ),
        (
            a_link() + TWO + "\n" + a_route(ends='src="a" dst="b" symmetrical="maybe"'),
            "line 5, column 1: route 'a -> b': symmetrical: got 'maybe', "
            "expected YES or NO or yes or no",
        ),
        (a_link() + "\n" + a_link(), "line 5, column 1: link 'l': the name is taken already"),
        (
            '<link id="l" bandwidth="0"/>',
            "line 4, column 1: link 'l': bandwidth: got '0', expected a bandwidth such as 125MBps",
        ),
        (
            '<backbone id="b" bandwidth="1Bps" latency="0"/>',
            "line 4, column 1: backbone 'b': zone 'z' has routing Full, expected Cluster",
        ),
        (
            '<host_link id="a" up="l" down="l"/>',
            "line 4, column 1: host_link 'a': zone 'z' has routing Full, expected Cluster",
        ),
        (
            '<peer id="p" speed="1f" bw_in="1Bps" bw_out="1Bps"/>',
            "line 4, column 1: peer 'p': zone 'z' has routing Full, expected Vivaldi",
        ),
        (
            '<trace_connect kind="COLOUR" trace="t" element="h"/>',
            "line 4, column 1: trace_connect: kind: got 'COLOUR', expected HOST_AVAIL or SPEED or "
            "LINK_AVAIL or BANDWIDTH or LATENCY",
        ),
    ],
)
def test_mistakes_are_refused_where_they_stand(content: str, message: str) -> None:
    assert refusal(load_text, a_platform(content)) == f"p.xml: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '<backbone id="b" bandwidth="1Bps" latency="0"/>' * 2,
            "line 4, column 48: backbone 'b': zone 'z' has a backbone already",
        ),
        (
            a_host() + '\n<host_link id="q" up="l" down="l"/>',
            "line 5, column 1: host_link 'q': no such host in zone 'z'",
        ),
        (
            a_host() + '\n<host_link id="h" up="l" down="l"/>',
            "line 5, column 1: host_link 'h': link 'l': no such link",
        ),
    ],
)
def test_mistakes_in_a_star_zone_are_refused(content: str, message: str) -> None:
    assert refusal(load_text, a_platform(content, "Cluster")) == f"p.xml: {message}"


def test_gateways_must_be_in_their_zones() -> None:
    text = (HERE / "two_full.xml").read_text().replace('gw_dst="crt"', 'gw_dst="a0.x"', 1)

    assert refusal(load_text, text) == (
        "p.xml: line 10, column 2: zoneRoute 'B -> C': gw_dst: got 'a0.x', "
        "expected a host or a router in 'C'"
    )
