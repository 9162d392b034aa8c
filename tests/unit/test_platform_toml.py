"""Noctule's short form of platforms: hosts, power, networks; unknown keys are refused."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platform_files import load_text, refusal

from noctule.errors import InputError
from noctule.formats.host_choice import HostRules
from noctule.formats.platform_toml import read_platform_document
from noctule.formats.toml_table import Table
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


def refused(text: str) -> str:
    return refusal(load, text).removeprefix("p.toml: ")


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


# --- what is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hosts = 3", "hosts: got 3, expected an array of tables"),
        (
            "[[host]]",
            "host: unknown key, expected connections, hosts, links, network, options, routes, "
            "traces, zones",
        ),
        (
            "[[hosts]]\n[[hosts]]\nspede = 1",
            "hosts[1].spede: unknown key, expected coordinates, cores, count, disks, down, first, "
            "link, memory, name, numbers, peer, power, profiles, properties, role, sleep, speed, "
            "state, up, zone",
        ),
        ("[network]", "got no host, expected one at least"),
        (
            "[[hosts]]\n[network]\n[[zones]]",
            "network: got a table, expected either network or zones",
        ),
        ("[[hosts]]\nname = 'a'\n[[hosts]]\nname = 'a'", "hosts[1]: the name is taken already"),
    ],
)
def test_documents_that_cannot_be_are_refused(text: str, message: str) -> None:
    assert refused(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("count = 0", "count: got 0, expected a whole number >= 1"),
        ("count = 2.0", "count: got 2.0, expected a whole number >= 1"),
        ("count = true", "count: got true, expected a whole number >= 1"),
        ("count = 1000001", "count: got 1000001, expected 1000000 at most"),
        ("count = 2\nname = 'a'", "name: got 'a', expected {} where the number of each host goes"),
        ("numbers = '3-1'", "numbers: got '3-1', expected numbers as in 0-7,12"),
        (
            "numbers = '0-3'\ncount = 1",
            "count: got 1, expected either numbers, or count and first",
        ),
        ("name = 3", "name: got 3, expected a string"),
        ("speed = 'fast'", "speed: got 'fast', expected a speed such as 1Gf, or an array of such"),
        ("speed = -1", "speed: got -1, expected a speed such as 1Gf, or an array of such"),
        ("speed = []", "speed: got [], expected a speed such as 1Gf, or an array of such"),
        ("speed = nan", "speed: got nan, expected a speed such as 1Gf, or an array of such"),
        ("cores = 0", "cores: got 0, expected a whole number >= 1"),
        ("memory = '64G'", "memory: got '64G', expected a size such as 4GiB"),
        (
            "memory = 1\nproperties = { memory = '2' }",
            "memory: got 1, expected either it or the property memory",
        ),
        ("state = 1", "state: got 1, expected one of the 1 power states, counted from 0"),
        (
            "role = 'boss'",
            "role: got 'boss', expected a role: compute, compute_node, storage, master",
        ),
        ("properties = { a = [1] }", "properties: got a table, expected a table of strings"),
        ("coordinates = ['a']", "coordinates: got ['a'], expected an array of numbers"),
        ("coordinates = 3", "coordinates: got 3, expected an array of numbers"),
        ("power = 3", "power: got 3, expected a table"),
        (
            "power = { idle = 1 }",
            "power.computing: missing, expected a power such as 200W, or an array of such",
        ),
        (
            "power = { idle = [1, 2, 3], computing = 4 }\nspeed = [1, 2]",
            "power.idle: got [1, 2, 3], expected one power, or 2 as there are speeds",
        ),
        (
            "power = { idle = 1, computing = 2, of = 3 }",
            "power.of: unknown key, expected computing, epsilon, idle, off",
        ),
        (
            "power = { idle = 1, computing = 2 }\nproperties = { wattage_per_state = '1:2' }",
            "power: got a table, expected either it or the property wattage_per_state",
        ),
        ("sleep = [{ power = 1 }]", "sleep[0].off: missing, expected a table with time and power"),
        (
            "sleep = [{ off = { time = 0 }, on = {} }]",
            "sleep[0].off.time: got 0, expected a duration such as 50us",
        ),
        ("zone = 'moon'", "zone: got 'moon', expected a zone that is described"),
        (
            "link = { bandwidth = 1 }",
            "link: zone 'platform' has routing none, expected star",
        ),
        ("up = 'l'", "up: zone 'platform' has routing none, expected star"),
        ("peer = { in = 1, out = 1 }", "peer: zone 'platform' has routing none, expected vivaldi"),
        ("disks = [{ read = 1 }]", "disks[0].write: missing, expected a bandwidth such as 125MBps"),
    ],
)
def test_mistakes_in_a_group_of_hosts_are_refused(text: str, message: str) -> None:
    assert refused(f"[[hosts]]\n{text}") == f"hosts[0].{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "routing = 'best'",
            "routing: got 'best', expected full or floyd or dijkstra or dijkstra_cache or star or "
            "vivaldi or wifi or none",
        ),
        (
            "colour = 1",
            "colour: unknown key, expected backbone, in, members, name, properties, "
            "routers, routing, topology",
        ),
        ("in = 'moon'", "in: got 'moon', expected a plain zone that is described before"),
        ("members = ['a']", "zone 'platform': members: expected each of its 2 members once"),
        ("routers = 3", "routers: got 3, expected an array of strings"),
        ("routers = ['host0']", "routers: 'host0': the name is taken already"),
        (
            "backbone = { bandwidth = 1 }",
            "backbone: got a table, expected none but in a zone with routing star",
        ),
        (
            "topology = 'flat'",
            "bandwidth: missing, expected a bandwidth such as 125MBps",
        ),
        (
            "topology = 'ring'",
            "topology: got 'ring', expected \"flat\", or a table with one of fat_tree, torus, "
            "dragonfly",
        ),
        ("topology = { torus = [3] }", "topology: got room for 3 hosts, expected 2"),
        (
            "topology = { torus = [2, 0] }",
            "topology.torus: got [2, 0], expected an array of whole numbers >= 1",
        ),
        (
            "topology = { fat_tree = { down = [2], up = [1, 1], cables = [1] } }",
            "topology.fat_tree.up: got [1, 1], expected as many numbers as down and cables have",
        ),
        (
            "topology = { fat_tree = { down = [2], up = [1], cables = [1], p = 1 } }",
            "topology.fat_tree.p: unknown key, expected cables, down, up",
        ),
        (
            "topology = { dragonfly = { groups = 1 } }",
            "topology.dragonfly.blue: missing, expected a whole number >= 1",
        ),
        (
            "topology = 'flat'\nbandwidth = 1\nsharing = 'mine'",
            "sharing: got 'mine', expected shared or fatpipe or splitduplex or wifi",
        ),
    ],
)
def test_mistakes_in_a_network_are_refused(text: str, message: str) -> None:
    found = refused(f"[[hosts]]\ncount = 2\n[network]\n{text}")

    assert found == (message if message.startswith("zone") else f"network.{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[links]]\nbandwidth = 1", "links[0].name: missing, expected a string"),
        (
            "[[links]]\nname = 'l'",
            "links[0].bandwidth: missing, expected a bandwidth such as 125MBps",
        ),
        (
            "[[links]]\nname = 'l'\nbandwidth = 1\nzone = 'moon'",
            "links[0].zone: got 'moon', expected a plain zone",
        ),
        (
            "[[links]]\nname = 'l'\nbandwidth = 1\nlat = 1",
            "links[0].lat: unknown key, expected bandwidth, latency, name, profiles, properties, "
            "rates, sharing, zone",
        ),
        (
            "[[routes]]\nsrc = 'host0'\ndst = 'host1'",
            "routes[0].links: missing, expected an array of strings",
        ),
        (
            "[[routes]]\nsrc = 'host0'\ndst = 'host1'\nlinks = ['l']",
            "routes[0]: host0 -> host1: link 'l': no such link",
        ),
        (
            "[[routes]]\nsrc = 'host0'\ndst = 'host1'\nlinks = []\ngateways = ['a']",
            "routes[0].gateways: got ['a'], expected two names: where src is left and dst is "
            "entered",
        ),
        (
            "[[routes]]\nsrc = 'host0'\ndst = 'host1'\nlinks = []\nsymmetrical = 'no'",
            "routes[0].symmetrical: got 'no', expected true or false",
        ),
        (
            "[[traces]]\nname = 't'",
            "traces[0].periodicity: missing, expected a duration such as 50us",
        ),
    ],
)
def test_mistakes_in_links_and_routes_are_refused(text: str, message: str) -> None:
    assert refused(f"[[hosts]]\ncount = 2\n{text}") == message


def test_hosts_of_a_topology_have_no_links_of_their_own() -> None:
    text = "[[hosts]]\nup = 'l'\n[network]\ntopology = 'flat'\nbandwidth = 1"

    assert refused(text) == "hosts[0].up: expected none: the topology has the links"


def test_a_cluster_needs_hosts() -> None:
    text = "[[hosts]]\nzone='a'\n[[zones]]\nname='a'\n[[zones]]\nname='b'\ntopology='flat'"

    assert refused(text) == "zones[1]: got 0 hosts, expected 1 to 1000000"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a = ", "p: end of document: not valid TOML: Invalid value"),
        (b"\x89PNG\r\n", "p: got bytes that are not UTF-8 text"),
        (
            b"# Platforms\nare machines",
            "p: line 2, column 5: not valid TOML: Expected '=' after a key in a key/value pair",
        ),
        (
            b"a = " + b"9" * 5000,
            "p: got a number with thousands of digits",
        ),
        (b'{"hosts": 1', "p: not valid JSON: Input data was truncated"),
        (b'{"a": "\xff"}', "p: got bytes that are not UTF-8 text"),
        (b" \n", "p: empty file, expected a SimGrid XML platform, or a short one in TOML or JSON"),
        (
            b'{"clusters": [], "dc_network": "x"}',
            "p: got the input of Batsim's generate_platform.py, "
            "expected the XML platform that it writes",
        ),
    ],
)
def test_files_that_are_no_documents_are_refused(data: bytes, message: str) -> None:
    from noctule.formats.platforms import load_platform

    Path("p").write_bytes(data)

    assert refusal(load_platform, "p") == message


@pytest.mark.parametrize(("opening", "closing"), [("a = " + "[" * 9999, "]" * 9999), ('{"a":', "")])
def test_documents_nested_without_end_are_refused(opening: str, closing: str) -> None:
    text = opening * (1 if closing else 9999) + closing

    assert "not valid" in refusal(load_text, text, "p")


KEYS = (
    "hosts",
    "zones",
    "links",
    "routes",
    "network",
    "name",
    "in",
    "zone",
    "count",
    "numbers",
    "speed",
    "power",
    "sleep",
    "idle",
    "computing",
    "off",
    "on",
    "time",
    "topology",
    "torus",
    "bandwidth",
    "latency",
    "routing",
    "routers",
    "members",
    "src",
    "dst",
    "gateways",
    "up",
    "link",
    "peer",
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.sampled_from(
            ["", "a", "h{}", "flat", "star", "1Gf", "1GBps", "5us", "x_UP", "platform"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=30,
)


@given(
    st.fixed_dictionaries(
        {"hosts": VALUES},
        optional=dict.fromkeys(("zones", "network", "links", "routes", "options"), VALUES),
    )
)
def test_any_document_is_read_or_refused(document: dict[str, Any]) -> None:
    with suppress(InputError):
        platform = read_platform_document(Table("p", "", document)).finish(HostRules())
        assert platform.n_hosts >= 1
