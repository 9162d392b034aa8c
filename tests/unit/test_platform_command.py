"""noctule platform: what is shown, drawn and converted."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import click
import numpy as np
import pytest
from platform_files import HERE, a_cluster, a_host, a_platform, refusal

from noctule.commands.platform import platform as command
from noctule.formats.platforms import load_platform, save_platform
from noctule.network import NumberedNames
from noctule.platform import HostKind, Hosts, Platform
from noctule.plots.zones import lay_out, zones_figure
from noctule.printing.platforms import kinds_by_name


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def run(*args: str | Path) -> int:
    code = command.main([str(arg) for arg in args], standalone_mode=False)
    return int(code)


# --- show


def test_the_route_between_two_hosts_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", HERE / "two_full.xml", "--route", "a0.x", "c0.x") == 0

    assert capsys.readouterr().out.splitlines() == [
        "A_link_0_UP",
        "A_backbone",
        "AC",
        "C_link_0_DOWN",
        "latency 5.09ms",
    ]


def test_hosts_are_a_table_and_zones_a_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", HERE / "two_full.xml") == 0

    assert capsys.readouterr().out.splitlines() == [
        "ids  hosts  names          role     speed  cores  memory  power  zone",
        "0-3  4      a0.x ... a3.x  compute  1Gf    1      -       -      W/A",
        "4-7  4      b0.x ... b3.x  compute  2Gf    1      -       -      W/B",
        "8-9  2      c0.x, c1.x     compute  4Gf    1      -       -      W/C",
        "",
        "W: full routing, 3 links, 3 routes, 3 zones",
        "|-- A: flat cluster, 4 hosts a0.x ... a3.x, 1Gf, links 125MBps 50us, backbone 1GBps 10us",
        "|-- B: flat cluster, 4 hosts b0.x ... b3.x, 2Gf, links 250MBps 20us, backbone 1GBps 10us",
        "`-- C: flat cluster, 2 hosts c0.x, c1.x, 4Gf, links 100MBps 30us",
    ]


def test_memory_power_roles_and_faults_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    hosts = (
        a_host("a0", memory="64GiB", wattage_per_state="95:190")
        + a_host("a1")
        + a_host("a2", memory="64GiB", wattage_per_state="95:190")
        + a_host("s", role="storage", wattage_per_state="x")
        + a_host("master_host")
    )
    Path("p.xml").write_text(a_platform(f'<zone id="y" routing="None">{hosts}</zone>'))

    assert run("show", "p.xml") == 0

    out, err = capsys.readouterr()
    assert out.splitlines()[:8] == [
        "ids  hosts  names        role     speed  cores  memory  power        zone",
        "0 2  2      a0, a2       compute  1Gf    1      64GiB   95W to 190W  z/y",
        "1    1      a1           compute  1Gf    1      -       -            z/y",
        "3    1      s            storage  1Gf    1      -       not known    z/y",
        "-    1      master_host  master   1Gf    1      -       -            z/y",
        "",
        "z: full routing, 1 zone",
        "`-- y: no network, 5 hosts a0 ... master_host, 1Gf",
    ]
    assert err == (
        "p.xml: host 's': wattage_per_state: got 'x', expected a number of watts; "
        "its power is not known\n"
    )


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("cl_fattree.xml", "`-- c: fat tree of 2 levels, 16 hosts"),
        ("cl_torus.xml", "`-- c: torus 3 x 2 x 2, 12 hosts"),
        ("cl_dragonfly.xml", "`-- c: dragonfly 3 x 4 x 5 x 2, 120 hosts"),
        ("ring_floyd.xml", "R: floyd routing, 6 hosts"),
        ("vivaldi.xml", "V: vivaldi routing, 2 hosts p0, p1"),
    ],
)
def test_every_kind_of_zone_has_words(
    file: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run("show", HERE / file)

    assert line in capsys.readouterr().out


def test_a_long_table_and_long_lists_of_ids_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    hosts = "".join(a_host(f"h{i}", rack=str(i)) for i in range(50))
    pairs = "".join(a_host(f"k{i}", rack=str(i % 2)) for i in range(12))
    Path("p.xml").write_text(a_platform(hosts))
    Path("q.xml").write_text(a_platform(pairs))

    run("show", "p.xml")
    assert "... and 10 more kinds" in capsys.readouterr().out.splitlines()
    run("show", "q.xml")
    assert "0 2 4 6 ... (2 more)" in capsys.readouterr().out


def test_programs_get_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", HERE / "full4.xml", "--json", "--quiet") == 0

    data = json.loads(capsys.readouterr().out)
    assert (data["n_hosts"], data["master"], data["homogeneous"]) == (4, None, False)
    assert data["kinds"][1]["ids"] == "1"
    assert data["kinds"][1]["speeds"] == [2e9, 1e9]
    assert data["kinds"][1]["powers"] == [[100, 120, 200], [90, 100, 150]]
    assert data["zones"][0]["facts"] == ["4 hosts h0 ... h3", "1Gf to 3Gf", "6 links", "6 routes"]


def test_order_master_and_roles_can_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.xml").write_text(a_platform(a_cluster(radical="0-11")))
    options = ["--host-order", "lexicographic", "--master-host", "n11", "--role", "n0=storage"]

    assert run("show", "p.xml", "--json", *options) == 0

    data = json.loads(capsys.readouterr().out)
    assert (data["n_hosts"], data["n_storages"], data["master"]) == (10, 1, "n11")
    assert data["kinds"][0]["last"] == "n9"


def test_a_role_without_a_host_is_a_mistake_of_use() -> None:
    with pytest.raises(click.BadParameter, match="'storage' is not HOST=ROLE"):
        run("show", HERE / "full4.xml", "--role", "storage")


# --- pictures


@pytest.mark.parametrize(
    ("suffix", "magic"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")]
)
def test_zones_are_drawn_the_same_each_time(suffix: str, magic: bytes) -> None:
    for name in ("a", "b"):
        assert run("show", HERE / "two_full.xml", "-o", f"{name}.{suffix}", "--quiet") == 0

    picture = Path(f"a.{suffix}").read_bytes()
    assert picture.startswith(magic)
    assert picture == Path(f"b.{suffix}").read_bytes()


def test_boxes_lie_in_their_zone_beside_each_other_and_routes_join_them() -> None:
    loaded = load_platform(HERE / "two_full.xml")
    box = lay_out(loaded.network.zones[0], kinds_by_name(loaded))
    (x0, y0, a), (x1, y1, b), (_, y2, c) = box.inside

    assert [inner.name for inner in (a, b, c)] == ["A", "B", "C"]
    assert x0 + a.width < x1  # two in the first row, one in the second
    assert y0 == y1
    assert y2 > y0 + max(a.height, b.height)
    assert x1 + b.width < box.width
    assert y2 + c.height < box.height
    assert box.joined == [(0, 1), (1, 2), (0, 2)]


def test_a_picture_of_very_many_zones_shows_some_of_them() -> None:
    zones = "".join(f'<zone id="y{i}" routing="Full"/>' for i in range(30))
    deep = "".join(f'<zone id="d{i}" routing="Full">' for i in range(50)) + "</zone>" * 50
    Path("p.xml").write_text(
        a_platform(f'<zone id="h" routing="Full">{a_host("$a^{")}</zone>' + deep + zones)
    )
    loaded = load_platform("p.xml")

    box = lay_out(loaded.network.zones[0], kinds_by_name(loaded))

    assert len(box.inside) == 13
    assert box.inside[-1][2].lines == ["... and 20 more"]
    assert zones_figure(loaded).get_size_inches()[0] < 30


def test_a_platform_without_zones_cannot_be_drawn() -> None:
    assert refusal(zones_figure, Platform.homogeneous(2)) == (
        "platform: no zone is described, nothing to draw"
    )


# --- convert


def test_a_platform_is_converted_there_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("convert", HERE / "two_full.xml", "p.toml") == 0
    assert capsys.readouterr().out == "p.toml: written\n"
    assert run("convert", "p.toml", "p.json.gz", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": "p.toml",
        "output": "p.json.gz",
        "n_hosts": 10,
    }
    assert run("convert", "p.json.gz", "p.xml", "--quiet") == 0

    assert load_platform("p.xml") == load_platform(HERE / "two_full.xml")
    assert ElementTree.parse("p.xml").getroot().attrib == {"version": "4.1"}


def test_the_short_form_is_short() -> None:
    run("convert", HERE / "cl_bb.xml", "p.toml", "--quiet")

    assert (
        Path("p.toml").read_text()
        == """[[hosts]]
zone = "c"
name = "n{}"
count = 8
speed = "1Gf"

[[zones]]
name = "AS0"
routing = "full"

[[zones]]
name = "c"
in = "AS0"
topology = "flat"
bandwidth = "125MBps"
latency = "50us"
backbone = { bandwidth = "500MBps", latency = "100us" }
"""
    )


def test_a_file_is_only_replaced_by_force() -> None:
    Path("p.toml").write_text("mine")

    message = refusal(run, "convert", HERE / "cl_bb.xml", "p.toml")

    assert message == "p.toml: exists already; --force replaces it"
    assert run("convert", HERE / "cl_bb.xml", "p.toml", "--force", "--quiet") == 0
    assert load_platform("p.toml").n_hosts == 8


def test_the_name_says_the_format() -> None:
    message = refusal(run, "convert", HERE / "cl_bb.xml", "p.yaml")

    assert message == "p.yaml: got the suffix '.yaml', expected .xml, .toml or .json"


def test_identical_hosts_are_written_without_a_network() -> None:
    save_platform(Platform.homogeneous(3, speed=2), "p.toml")

    assert (
        Path("p.toml").read_text()
        == """[[hosts]]
name = "host{}"
count = 3
speed = "2f"

[network]
name = "platform"
routing = "none"
"""
    )
    assert [host.name for host in load_platform("p.toml").hosts] == ["host0", "host1", "host2"]


def test_too_many_hosts_are_not_written() -> None:
    assert refusal(save_platform, Platform.homogeneous(1_000_001), "p.toml") == (
        "platform: got 1000001 hosts, expected 1000000 at most"
    )


def test_roles_that_were_given_do_not_change_what_is_written() -> None:
    Path("p.xml").write_text(a_platform(a_cluster()))
    save_platform(load_platform("p.xml", roles={"n0": "storage"}), "q.xml")

    assert load_platform("q.xml") == load_platform("p.xml")


MIXED = """
[[hosts]]
name = "a{}"
count = 2
cores = 4
[[hosts]]
name = "login"
[network]
topology = "flat"
bandwidth = "1GBps"
backbone = { bandwidth = "2GBps" }
"""


def test_a_cluster_of_hosts_that_differ_is_spelled_out_in_xml() -> None:
    Path("p.toml").write_text(MIXED)
    save_platform(load_platform("p.toml"), "p.xml")
    zone = ElementTree.parse("p.xml").getroot()[0]

    assert zone.attrib == {"id": "platform", "routing": "Cluster"}
    assert [element.tag for element in zone] == [
        *["host"] * 3,
        *["link"] * 3,
        *["host_link"] * 3,
        "router",
        "backbone",
    ]
    again = load_platform("p.xml")
    assert [(host.name, host.cores) for host in again.hosts] == [("a0", 4), ("a1", 4), ("login", 1)]
    assert again.notes == ()


def test_a_topology_of_hosts_that_differ_cannot_be_written_as_xml() -> None:
    Path("p.toml").write_text(MIXED.replace('"flat"', "{ torus = [3] }"))

    assert refusal(save_platform, load_platform("p.toml"), "p.xml") == (
        "p.toml: zone 'platform': SimGrid's XML has no cluster of hosts that differ, "
        "expected a flat one without limiter and loopback"
    )


def test_cabinets_of_hosts_with_more_than_a_speed_are_spelled_out_in_xml() -> None:
    Path("p.toml").write_text(
        '[[hosts]]\ncount = 2\ncores = 4\nlink = { bandwidth = 5 }\n[network]\nrouting = "star"'
    )
    save_platform(load_platform("p.toml"), "p.xml")
    zone = ElementTree.parse("p.xml").getroot()[0]

    assert [element.tag for element in zone] == ["host", "link", "host_link"] * 2
    assert load_platform("p.xml").host(1).cores == 4


def test_characters_that_xml_does_not_have_are_refused() -> None:
    Path("p.toml").write_text('[[hosts]]\nname = "a\\u0001"')

    assert refusal(save_platform, load_platform("p.toml"), "p.xml") == (
        "p.toml: 'a\\x01': XML has no such characters"
    )


def test_names_that_the_short_form_does_not_have_are_refused() -> None:
    hosts = Hosts.alike(("a{}",), HostKind())

    assert refusal(save_platform, Platform(hosts), "p.toml") == (
        "platform: host 'a{}': the short form has no names with {}"
    )


def test_odd_texts_survive_every_format() -> None:
    odd = "quote \" backslash \\ tab \t newline \n delete \x7f é \U0001f987 <&>'"
    kind = HostKind(properties={odd: odd}, speeds=(1.0,))
    names = NumberedNames("h", (range(1),))
    platform = Platform(Hosts(tuple(names), [kind], np.zeros(1, dtype=np.int32)))
    for suffix in (".xml", ".toml", ".json"):
        save_platform(platform, f"p{suffix}")
        assert load_platform(f"p{suffix}").host(0).properties == {odd: odd}
