"""Routes between hosts: SimGrid's own, and a few worked out by hand for each kind of zone."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from platform_files import a_cluster, a_host, a_platform, load_text, refusal

from noctule import _core
from noctule.formats.platforms import load_platform
from noctule.platform import Platform

VECTORS = Path(__file__).parent.parent / "vectors" / "simgrid"
CASES = json.loads((VECTORS / "cases.json").read_text())["cases"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def renamed(link: str) -> str:
    """The name of a link in the published platform, whose names are not those that were asked."""
    if link == "backbone":
        return "uplink"
    return (
        link.replace("A_", "compute_", 1) if link[0] == "A" else link.replace("M_", "control_", 1)
    )


@pytest.mark.parametrize(
    "case", [case for case in CASES if "routes" in case["expect"]], ids=lambda case: case["name"]
)
def test_routes_are_those_of_simgrid(case: dict[str, Any]) -> None:
    platform = load_text(case["platform_xml"])

    for ends, expected in case["expect"]["routes"].items():
        links = expected["links"]
        if case["name"] == "cross_zone":
            links = [renamed(link) for link in links]
        path = platform.route(*ends.split("->"))
        assert list(path.links) == links
        assert path.latency == pytest.approx(expected["latency"], rel=1e-12, abs=0)
        assert not path.missing


def test_hosts_are_known_by_name_or_by_id() -> None:
    platform = load_platform(VECTORS / "cluster512.xml")

    assert platform.route(0, 511) == platform.route("a0", "a511")
    assert platform.route("m0", 3).links[-1] == "compute_link_3_DOWN"
    assert "host 512: expected 0 to 511" in refusal(lambda: platform.route(512, 0))
    assert "host 'x': no such host" in refusal(lambda: platform.route("x", 0))


def test_a_platform_with_routes_can_still_be_pickled() -> None:
    platform = load_platform(VECTORS / "cluster512.xml")
    path = platform.route(0, 1)

    assert pickle.loads(pickle.dumps(platform)).route(0, 1) == path


LINKS = "".join(f'<link id="l{i}" bandwidth="1GBps" latency="{i}s"/>' for i in range(1, 5))


def a_route(src: str, dst: str, *links: str, more: str = "") -> str:
    hops = "".join(f'<link_ctn id="{link}"/>' for link in links)
    return f'<route src="{src}" dst="{dst}" {more}>{hops}</route>'


HOSTS = a_host("a") + a_host("b") + a_host("c")


def test_full_zones_have_the_declared_routes_both_ways() -> None:
    platform = load_text(a_platform(HOSTS + LINKS + a_route("a", "b", "l1", "l2")))

    assert platform.route("a", "b").links == ("l1", "l2")
    assert platform.route("b", "a").links == ("l2", "l1")
    assert platform.route("a", "a").links == ("__loopback__",)


def test_a_missing_route_of_a_full_zone_is_free_and_said_to_be_missing() -> None:
    platform = load_text(
        a_platform(HOSTS + LINKS + a_route("a", "b", "l1", more='symmetrical="NO"'))
    )

    assert platform.route("b", "a") == ((), 0.0, True)
    network = _core.Network(platform.network_plan())
    network.message(1, 0, 5.0)
    network.message(2, 0, 5.0)
    assert network.warnings() == [
        "zone 'z' declares no route from 'b' to 'a': what is sent where it has none takes no time"
    ]


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra", "DijkstraCache"])
def test_shortest_paths_have_the_fewest_links(routing: str) -> None:
    # a-b and b-c are one link each, a-c is declared with three
    routes = a_route("a", "b", "l1") + a_route("b", "c", "l2") + a_route("a", "c", "l3", "l4", "l3")
    platform = load_text(a_platform(HOSTS + LINKS + routes, routing))

    assert platform.route("a", "c") == (("l1", "l2"), 3.0, False)
    assert platform.route("c", "a").links == ("l2", "l1")
    assert platform.route("b", "b").links == ("__loopback__",)


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra"])
def test_no_way_at_all_is_refused(routing: str) -> None:
    platform = load_text(a_platform(HOSTS + LINKS + a_route("a", "b", "l1"), routing))

    assert refusal(lambda: platform.route("a", "c")) == (
        "no route from 'a' to 'c' in zone 'z': it declares none, nor several that lead there"
    )


def test_a_zone_without_network_has_no_routes() -> None:
    platform = load_text(a_platform(HOSTS, "None"))

    assert refusal(lambda: platform.route("a", "b")) == (
        "no route from 'a' to 'b' in zone 'z': it has routing None, that is, no network"
    )


def test_a_platform_about_whose_network_nothing_is_known_has_no_routes() -> None:
    assert "no zone of the network contains both" in refusal(
        lambda: Platform.homogeneous(4).route(0, 1)
    )


def test_star_zones_go_up_and_down_and_drop_what_comes_twice() -> None:
    inside = (
        HOSTS
        + LINKS
        + '<host_link id="a" up="l1" down="l2"/><host_link id="b" up="l3" down="l3"/>'
        + '<backbone id="bb" bandwidth="1GBps" latency="5s"/>'
    )
    platform = load_text(a_platform(inside, "Cluster"))

    assert platform.route("a", "b") == (("l1", "bb", "l3"), 9.0, False)
    assert platform.route("b", "b").links == ("l3", "bb")
    assert platform.route("a", "c").links == ("l1", "bb")  # c is on no link
    assert platform.route("c", "a").links == ("bb", "l2")


def test_cabinets_have_links_named_after_their_hosts() -> None:
    cabinet = '<cabinet id="k" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1s"/>'
    platform = load_text(a_platform(cabinet, "Cluster"))

    assert platform.route("n1", "n3") == (("link_n1_UP", "link_n3_DOWN"), 2.0, False)


def test_limiters_stand_at_both_ends_of_a_flat_cluster() -> None:
    platform = load_text(a_platform(a_cluster("c", "4-7", limiter_link="1GBps")))

    assert platform.route("n4", "n6").links == (
        "c_link_4_limiter",
        "c_link_4_UP",
        "c_link_6_DOWN",
        "c_link_6_limiter",
    )


def test_routes_through_zones_start_and_end_with_the_ways_to_gateways() -> None:
    zones = (
        a_cluster("k", "0-3")
        + f'<zone id="inner" routing="Full">{HOSTS}{a_route("a", "b", "l1")}</zone>'
        + LINKS
        + '<zoneRoute src="k" dst="inner" gw_src="nk_router" gw_dst="a">'
        + '<link_ctn id="l4"/></zoneRoute>'
    )
    platform = load_text(a_platform(zones))

    assert platform.route("n2", "b").links == ("k_link_2_UP", "l4", "l1")
    assert platform.route("b", "n2").links == ("l1", "l4", "k_link_2_DOWN")
    assert platform.route("a", "n0").links == ("l4", "k_link_0_DOWN")


def test_zones_without_a_route_between_them_are_refused() -> None:
    platform = load_text(
        a_platform(a_cluster("c", "0-3") + a_cluster("d", "4-5", prefix="m"), "Full")
    )

    assert refusal(lambda: platform.route("n0", "m4")) == (
        "no route from 'c' to 'd' in zone 'z': it declares none"
    )


def test_a_route_that_is_declared_twice_is_refused() -> None:
    platform = load_text(
        a_platform(HOSTS + LINKS + a_route("a", "b", "l1") + a_route("b", "a", "l1"))
    )

    assert refusal(lambda: platform.route("a", "b")) == (
        "p.xml: zone 'z': the route from 'b' to 'a' is declared twice; "
        "routes go both ways unless they say NO"
    )


def test_a_bypass_takes_the_place_of_the_route() -> None:
    inside = HOSTS + LINKS + a_route("a", "b", "l1")
    bypass = '<bypassRoute src="a" dst="b"><link_ctn id="l4"/></bypassRoute>'
    platform = load_text(a_platform(inside + bypass))

    assert platform.route("a", "b").links == ("l4",)
    assert platform.route("b", "a").links == ("l1",)


def test_a_topology_with_too_many_links_is_refused() -> None:
    tree = a_cluster("c", "0-3", topology="FAT_TREE", topo_parameters="1;4;99999;99999")
    platform = load_text(a_platform(tree))

    assert "more than 16777216 links" in refusal(lambda: platform.route(0, 1))


def test_all_to_all_is_summed_by_link() -> None:
    platform = load_platform(VECTORS / "cluster512.xml")
    plan = platform.network_plan()
    hosts = np.arange(4, dtype=np.uint32)
    links, loads, latency, latency_bytes = _core.Network(plan).all_to_all(hosts, 10.0)

    # each sends to 3 and receives from 3; all 12 flows cross the backbone
    expected = {f"compute_link_{i}_{way}": 30.0 for i in range(4) for way in ("UP", "DOWN")}
    assert dict(zip(map(plan.link_name, links), loads, strict=True)) == {
        **expected,
        "compute_backbone": 120.0,
    }
    assert latency == pytest.approx(13e-6)
    assert latency_bytes == latency * 10
