"""SimGrid's XML: clusters stay rules, whatever their size and topology."""

from __future__ import annotations

from pathlib import Path

import pytest
from platform_files import HERE, a_cluster, a_platform, cluster_of, load_text, refusal

from noctule.formats.platforms import load_platform
from noctule.formats.ranges import ranges_text, read_ranges
from noctule.formats.topologies import read_topology, topology_text
from noctule.network import (
    Cluster,
    Dragonfly,
    FatTree,
    Link,
    NumberedNames,
    Sharing,
    Torus,
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def test_a_cluster_is_kept_as_a_rule() -> None:
    cluster = cluster_of(load_platform(HERE / "cl_lim.xml"))

    assert cluster == Cluster(
        name="c",
        hosts=(NumberedNames("n", (range(8),)),),
        bandwidth=125e6,
        latency=50 * 1e-6,
        router="nc_router",
        sharing=Sharing.SPLITDUPLEX,
        topology=None,
        backbone=Link("c_backbone", 500e6, 100 * 1e-6),
        limiter=150e6,
        loopback=Link("c_loopback", 1e9, 1e-6, Sharing.FATPIPE),
    )


def test_a_cluster_can_have_a_router_name_and_sharing_policies() -> None:
    text = a_cluster(
        router_id="r", sharing_policy="FATPIPE", bb_bw="1GBps", bb_sharing_policy="FATPIPE"
    )
    cluster = cluster_of(load_text(a_platform(text)))

    assert (cluster.router, cluster.sharing) == ("r", Sharing.FATPIPE)
    assert cluster.backbone == Link("c_backbone", 1e9, 0.0, Sharing.FATPIPE)


def test_a_cluster_can_be_the_whole_platform() -> None:
    platform = load_text(f'<platform version="4.1">{a_cluster()}</platform>')

    assert platform.n_hosts == 4
    assert platform.host(0).zone == ("c",)


@pytest.mark.parametrize(
    ("file", "topology"),
    [
        ("cl_bb.xml", None),
        ("cl_fattree.xml", FatTree((4, 4), (1, 2), (1, 2))),
        ("cl_torus.xml", Torus((3, 2, 2))),
        ("cl_dragonfly.xml", Dragonfly(3, 4, 4, 3, 5, 1, 2)),
    ],
)
def test_topologies_are_read_and_written(file: str, topology: object) -> None:
    cluster = cluster_of(load_platform(HERE / file))

    assert cluster.topology == topology
    kind, parameters = topology_text(cluster.topology)
    n_hosts = len(cluster.hosts[0])
    assert read_topology(kind, parameters, n_hosts, "") == topology


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0-3", [0, 1, 2, 3]),
        ("7", [7]),
        (" 1 - 2 , 5 ", [1, 2, 5]),
        ("5,1-2", [5, 1, 2]),
        ("007", [7]),
    ],
)
def test_radicals_are_lists_of_ranges(text: str, numbers: list[int]) -> None:
    ranges = read_ranges(text)

    assert ranges is not None
    assert [number for numbers in ranges for number in numbers] == numbers
    assert read_ranges(ranges_text(ranges)) == ranges


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"radical": "3-1"}, "radical: got '3-1', expected numbers as in 0-7,12"),
        ({"radical": "0-"}, "radical: got '0-', expected numbers as in 0-7,12"),
        ({"radical": "-3"}, "radical: got '-3', expected numbers as in 0-7,12"),
        ({"radical": ""}, "radical: got '', expected numbers as in 0-7,12"),
        ({"radical": "0-1000000"}, "radical: got '0-1000000', expected 1000000 hosts at most"),
        (
            {"radical": "0-999999999,0-999999999"},
            "radical: got '0-999999999,0-999999999', expected 1000000 hosts at most",
        ),
        ({"radical": "0-3,2"}, "host 'n2': the name is taken already"),
        ({"bw": "0Bps"}, "bw: got '0Bps', expected a bandwidth such as 125MBps"),
        ({"lat": "-1s"}, "lat: got '-1s', expected a duration such as 50us"),
        ({"bb_lat": "1s"}, "bb_bw: missing, expected a bandwidth, since bb_lat is given"),
        (
            {"loopback_lat": "1s", "loopback_bw": "0"},
            "loopback_bw: got '0', expected a bandwidth, since loopback_lat is given",
        ),
        ({"router_id": "z"}, "router 'z': the name is taken already"),
        (
            {"sharing_policy": "ALL"},
            "sharing_policy: got 'ALL', expected SHARED or FATPIPE or SPLITDUPLEX or WIFI or "
            "FULLDUPLEX",
        ),
        (
            {"topology": "RING"},
            "topology: got 'RING', expected FLAT or FAT_TREE or TORUS or DRAGONFLY",
        ),
        (
            {"topology": "TORUS"},
            "topo_parameters: got '', expected dimensions as in 3,2,2",
        ),
        (
            {"topology": "TORUS", "topo_parameters": "2,0"},
            "topo_parameters: got '2,0', expected dimensions as in 3,2,2",
        ),
        (
            {"topology": "TORUS", "topo_parameters": "3,2"},
            "topo_parameters: got room for 6 hosts, expected 4",
        ),
        (
            {"topology": "FAT_TREE", "topo_parameters": "2;4;1;1"},
            "topo_parameters: got '2;4;1;1', expected levels;down;up;cables as in 2;4,4;1,2;1,2",
        ),
        (
            {"topology": "DRAGONFLY", "topo_parameters": "1,1"},
            "topo_parameters: got '1,1', expected groups,blue;chassis,black;routers,green;hosts "
            "as in 3,4;4,3;5,1;2",
        ),
        (
            {"topology": "DRAGONFLY", "topo_parameters": "2,1;1,1;1,1;2"},
            "topo_parameters: got 2 groups, expected 1 at most, the routers of a chassis",
        ),
    ],
)
def test_clusters_that_cannot_be_are_refused(more: dict[str, str], message: str) -> None:
    found = refusal(load_text, a_platform(a_cluster(**more)))

    assert found == f"p.xml: line 4, column 1: cluster 'c': {message}"


def test_more_hosts_than_anybody_means_are_refused() -> None:
    clusters = a_cluster("c", "0-999999") + "\n" + a_cluster("d", "1000000-1000000")

    message = refusal(load_text, a_platform(clusters))

    assert (
        message
        == "p.xml: line 5, column 1: cluster 'd': got 1000001 hosts, expected 1000000 at most"
    )


def test_a_cluster_of_100_000_hosts_stays_one_rule() -> None:
    Path("p.xml").write_text(a_platform(a_cluster(radical="0-99999")))

    platform = load_platform("p.xml")

    assert len(platform.hosts.kinds) == 1
    assert platform.n_hosts == 100_000
    assert platform.hosts[99_999].name == "n99999"
