"""Noctule's short form of platforms: hosts, power, networks; unknown keys are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from platform_files import load_text

from noctule.network import (
    Cabinet,
    Cluster,
    Dragonfly,
    FatTree,
    Hop,
    HostLink,
    Link,
    NumberedNames,
    Peer,
    Route,
    Router,
    Routing,
    Sharing,
    Torus,
    Trace,
    TraceConnection,
    Zone,
)
from noctule.platform import Disk, HostKind, Platform, PowerRange, SleepState


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def load(text: str, **options: Any) -> Platform:
    return load_text(text, "p.toml", **options)


def kind_of(text: str) -> HostKind:
    return load(f"[[hosts]]\n{text}").host(0).kind


# --- hosts


def test_the_shortest_platform_is_one_host() -> None:
    platform = load("[[hosts]]")

    assert [host.name for host in platform.hosts] == ["host0"]
    assert platform.host(0).speed == platform.reference_speed == 1.0
    assert platform.network.zones == (Zone("platform", Routing.NONE, members=("host0",)),)


def test_groups_of_hosts_are_numbered() -> None:
    platform = load(
        """
        [[hosts]]
        count = 2
        name = "n{}.x"
        first = 9
        [[hosts]]
        numbers = "1-2,5"
        name = "m{}"
        [[hosts]]
        name = "login"
        role = "master"
        [[hosts]]
        name = "disks"
        role = "storage"
        """
    )

    assert [host.name for host in platform.hosts] == ["m1", "m2", "m5", "n9.x", "n10.x"]
    assert [host.name for host in platform.storages] == ["disks"]
    assert platform.master is not None
    assert platform.master.name == "login"


def test_a_group_says_all_about_its_hosts() -> None:
    kind = kind_of(
        """
        speed = ["2Gf", 1e9]
        cores = 16
        memory = "64GiB"
        state = 1
        properties = { rack = "7", price = 3 }
        coordinates = [1, 2.5, 0]
        profiles = { speed = "s.trace" }
        disks = [{ read = "200MBps", write = "80MBps" }]
        """
    )

    assert (kind.speeds, kind.speed, kind.cores, kind.memory) == ((2e9, 1e9), 1e9, 16, 64 * 2**30)
    assert kind.properties == {"rack": "7", "price": "3", "memory": "64GiB"}
    assert kind.coordinates == (1.0, 2.5, 0.0)
    assert kind.profiles == {"speed": "s.trace"}
    assert kind.disks == (Disk("/", 200e6, 80e6),)


# --- power


def test_power_becomes_the_properties_of_simgrid() -> None:
    kind = kind_of(
        """
        speed = ["2Gf", "1Gf"]
        power = { idle = 95, computing = [190.74, "0.15kW"], off = "9.75W" }
        [[hosts.sleep]]
        power = 9
        off = { time = "6.1s", power = 101 }
        on = { time = 151.52, power = 125 }
        """
    )

    assert kind.properties == {
        "wattage_per_state": "95:190.74, 95:150, 9:9, 101:101, 125:125",
        "wattage_off": "9.75",
        "sleep_pstates": "2:3:4",
    }
    assert kind.powers[1] == PowerRange(95.0, 95.0, 150.0)
    assert kind.sleep_states == (SleepState(2, 3, 4),)
    # Batsim's sleeping speed, then one flop in the time that switching takes
    assert kind.speeds == (2e9, 1e9, 1e-3, 1 / 6.1, 1 / 151.52)


def test_power_can_have_an_epsilon_and_sleep_no_power() -> None:
    assert kind_of("power = { idle = 1, epsilon = 2, computing = 3 }").powers == (
        PowerRange(1.0, 2.0, 3.0),
    )
    asleep = kind_of("sleep = [{ speed = 0, off = { speed = '1f' }, on = { time = 2 } }]")
    assert (asleep.speeds, asleep.powers) == ((1.0, 0.0, 1.0, 0.5), ())
    assert kind_of("power = { off = 3 }").power_off == 3.0


def test_power_can_be_given_as_properties_too() -> None:
    kind = kind_of('properties = { wattage_per_state = "1:2", sleep_pstates = "" }')

    assert kind.powers == (PowerRange(1.0, 1.0, 2.0),)


# --- networks


def test_one_network_joins_all_hosts() -> None:
    platform = load(
        """
        [[hosts]]
        count = 2
        properties = { rack = "7" }
        [network]
        topology = "flat"
        bandwidth = "1GBps"
        latency = "5us"
        backbone = { bandwidth = "3GBps", latency = "3us" }
        loopback = { bandwidth = "9GBps" }
        limiter = "1.5GBps"
        """
    )

    assert platform.network.zones == (
        Cluster(
            name="platform",
            hosts=(NumberedNames("host", (range(2),)),),
            bandwidth=1e9,
            latency=5 * 1e-6,
            router="hostplatform_router",
            backbone=Link("platform_backbone", 3e9, 3 * 1e-6),
            limiter=1.5e9,
            loopback=Link("platform_loopback", 9e9, 0.0, Sharing.FATPIPE),
            properties={"rack": "7"},
        ),
    )
    assert platform.host(1).kind.zone_properties == {"rack": "7"}


def test_hosts_of_several_groups_share_a_cluster() -> None:
    platform = load(
        """
        [[hosts]]
        name = "slow"
        speed = 1
        [[hosts]]
        name = "fast"
        speed = 2
        [network]
        topology = "flat"
        bandwidth = 1e9
        sharing = "shared"
        router = "r"
        properties = { site = "lab" }
        """
    )
    cluster = platform.network.zones[0]

    assert platform.speeds.tolist() == [2.0, 1.0]
    assert isinstance(cluster, Cluster)
    assert cluster.hosts == (NumberedNames("slow"), NumberedNames("fast"))
    assert (cluster.sharing, cluster.router) == (Sharing.SHARED, "r")
    assert platform.host(0).properties == {"site": "lab"}


@pytest.mark.parametrize(
    ("text", "count", "topology"),
    [
        ("{ torus = [3, 2] }", 6, Torus((3, 2))),
        (
            "{ fat_tree = { down = [4, 4], up = [1, 2], cables = [1, 2] } }",
            16,
            FatTree((4, 4), (1, 2), (1, 2)),
        ),
        (
            "{ dragonfly = { groups = 1, blue = 2, chassis = 3, black = 4, routers = 5, "
            "green = 6, hosts = 7 } }",
            105,
            Dragonfly(1, 2, 3, 4, 5, 6, 7),
        ),
    ],
)
def test_topologies_are_tables(text: str, count: int, topology: object) -> None:
    cluster = load(
        f"[[hosts]]\ncount = {count}\n[network]\ntopology = {text}\nbandwidth = 1"
    ).network.zones[0]

    assert isinstance(cluster, Cluster)
    assert cluster.topology == topology


ZONES = """
[[zones]]
name = "site"
properties = { who = "us" }

[[zones]]
name = "rack"
in = "site"
routing = "star"
routers = ["r"]
backbone = { name = "bb", bandwidth = 7 }

[[zones]]
name = "pair"
in = "site"
routing = "floyd"
members = ["b", "q", "a"]
routers = [{ name = "q", coordinates = [1, 2] }]

[[zones]]
name = "far"
in = "site"
routing = "vivaldi"

[[hosts]]
zone = "rack"
name = "x{}"
count = 2
link = { bandwidth = 5, latency = 1 }

[[hosts]]
zone = "rack"
name = "y{}"
count = 2
up = "l_UP"
down = "l_DOWN"

[[hosts]]
zone = "pair"
name = "a"

[[hosts]]
zone = "pair"
name = "b"

[[hosts]]
zone = "far"
name = "p"
peer = { in = 1, out = 2, latency = 3 }

[[links]]
zone = "rack"
name = "l"
bandwidth = 1
sharing = "splitduplex"

[[links]]
name = "w"
rates = [5, 4]
properties = { p = "v" }
profiles = { state = "s" }

[[routes]]
zone = "pair"
src = "a"
dst = "b"
links = ["l_UP", "w"]

[[routes]]
src = "rack"
dst = "pair"
gateways = ["r", "q"]
links = []
symmetrical = false

[[routes]]
src = "rack"
dst = "pair"
gateways = ["r", "q"]
links = ["w"]
bypass = true

[[traces]]
name = "t"
periodicity = "1s"
text = "0 1"

[[connections]]
kind = "SPEED"
trace = "t"
element = "a"
"""


def test_zones_links_and_routes_are_named_by_what_belongs_to_them() -> None:
    network = load(ZONES).network
    site = network.zones[0]
    assert isinstance(site, Zone)
    rack, pair, far = site.zones

    assert site == Zone(
        "site",
        Routing.FULL,
        members=("rack", "pair", "far"),
        zones=site.zones,
        links=(Link("w", 5.0, 0.0, Sharing.WIFI, (5.0, 4.0), {"p": "v"}, {"state": "s"}),),
        routes=(
            Route("rack", "pair", (), "r", "q", symmetrical=False),
            Route("rack", "pair", (Hop("w"),), "r", "q", symmetrical=False, bypass=True),
        ),
        properties={"who": "us"},
    )
    assert rack == Zone(
        "rack",
        Routing.STAR,
        members=("y0", "y1", "r"),
        routers=(Router("r"),),
        links=(Link("l", 1.0, 0.0, Sharing.SPLITDUPLEX),),
        backbone=Link("bb", 7.0),
        cabinets=(Cabinet("cabinet", NumberedNames("x", (range(2),)), 5.0, 1.0),),
        host_links=tuple(HostLink(y, Hop("l", "UP"), Hop("l", "DOWN")) for y in ("y0", "y1")),
    )
    assert pair == Zone(
        "pair",
        Routing.FLOYD,
        members=("b", "q", "a"),
        routers=(Router("q", (1.0, 2.0)),),
        routes=(Route("a", "b", (Hop("l", "UP"), Hop("w"))),),
    )
    assert isinstance(far, Zone)
    assert far.peers == (Peer("p", 1.0, 2.0, 3.0),)
    assert network.traces == (Trace("t", "", 1.0, "0 1"),)
    assert network.connections == (TraceConnection("SPEED", "t", "a"),)


def test_options_are_kept_and_unknown_ones_noted() -> None:
    platform = load('[options]\n"network/TCP-gamma" = 0\n"network/gama" = 1\n[[hosts]]')

    assert platform.network.options == {"network/TCP-gamma": "0", "network/gama": "1"}
    assert platform.notes == (
        "p.toml: options: 'network/gama': unknown configuration key, kept but without effect",
    )


def test_the_same_document_can_be_json() -> None:
    document = {"hosts": [{"count": 3, "speed": "1Gf"}]}

    assert load_text(json.dumps(document), "p.json") == load('[[hosts]]\ncount = 3\nspeed = "1Gf"')
