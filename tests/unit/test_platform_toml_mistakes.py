"""Noctule's short form of platforms: what is refused, with its path."""

from __future__ import annotations

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
from noctule.formats.platforms import load_platform
from noctule.formats.toml_table import Table
from noctule.machine import refuse_unknown_power
from noctule.platform import Platform

POWER = "power = { idle = 1, computing = 2 }"
SWITCH = "{ time = 1, power = 1 }"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def load(text: str, **options: Any) -> Platform:
    return load_text(text, "p.toml", **options)


def refused(text: str) -> str:
    return refusal(load, text).removeprefix("p.toml: ")


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
        ("sleep = [{}]", "sleep[0].off: missing, expected a table with time and power"),
        (
            "sleep = [{ off = { time = 0 }, on = {} }]",
            "sleep[0].off.time: got 0, expected a duration such as 50us",
        ),
        (
            "power = { idle = -1, computing = 2 }",
            "power.idle: got -1, expected a power such as 200W, or an array of such",
        ),
        (
            "power = { idle = 1, computing = '-2W' }",
            "power.computing: got '-2W', expected a power such as 200W, or an array of such",
        ),
        (
            "power = { idle = 1, computing = inf }",
            "power.computing: got inf, expected a power such as 200W, or an array of such",
        ),
        (
            "power = { idle = 1, computing = 2, off = -1 }",
            "power.off: got -1, expected a power such as 200W",
        ),
        (
            f"{POWER}\nsleep = [{{ power = 1, off = {SWITCH} }}]",
            "sleep[0].on: missing, expected a table with time and power",
        ),
        (
            f"{POWER}\nsleep = [{{ off = {SWITCH}, on = {SWITCH} }}]",
            "sleep[0].power: missing, expected a power such as 200W",
        ),
        (
            f"{POWER}\nsleep = [{{ power = 1, off = {{ power = 1 }}, on = {SWITCH} }}]",
            "sleep[0].off.time: missing, expected a duration such as 50us",
        ),
        (
            f"{POWER}\nsleep = [{{ power = 1, off = {{ time = -3, power = 1 }}, on = {SWITCH} }}]",
            "sleep[0].off.time: got -3, expected a duration such as 50us",
        ),
        (
            f"{POWER}\nsleep = [{{ power = 1, off = {SWITCH}, on = {{ time = 1 }} }}]",
            "sleep[0].on.power: missing, expected a power such as 200W",
        ),
        (
            f"{POWER}\nsleep = [{{ power = -1, off = {SWITCH}, on = {SWITCH} }}]",
            "sleep[0].power: got -1, expected a power such as 200W",
        ),
        (
            f"{POWER}\nsleep = [{{ power = 1, off = {{ time = 1, speed = 1 }} }}]",
            "sleep[0].off.speed: got 1, expected either it or time",
        ),
        (
            f"sleep = [{{ power = 1, off = {SWITCH}, on = {SWITCH} }}]",
            "sleep[0].power: got 1, expected none, or power with idle and computing as well",
        ),
        (
            f"power = {{ off = 3 }}\nsleep = [{{ off = {SWITCH}, on = {SWITCH} }}]",
            "sleep[0].off.power: got 1, expected none, or power with idle and computing as well",
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


def test_hosts_cannot_begin_while_they_switch(tmp_path: Path) -> None:
    sleep = f"sleep = [{{ power = 1, off = {SWITCH}, on = {SWITCH} }}]"
    (tmp_path / "p.toml").write_text(f"[[hosts]]\nstate = 3\n{POWER}\n{sleep}\n")
    platform = load_platform(tmp_path / "p.toml")
    with pytest.raises(InputError) as refusal:
        refuse_unknown_power(platform)
    assert str(refusal.value) == (
        f"{tmp_path / 'p.toml'}: host host0: power state 3: got it as the first one, expected one "
        "to compute or to sleep in: hosts switch in it"
    )
