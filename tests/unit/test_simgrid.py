"""SimGrid's XML: hosts, their ids and roles, their power; what is refused, and where."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platform_files import DOCTYPE, a_cluster, a_host, a_platform, load_text, refusal

from noctule.errors import InputError
from noctule.formats.host_choice import HostRules, natural_key
from noctule.formats.simgrid import read_simgrid
from noctule.platform import Disk, PowerRange, SleepState


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def names_of(text: str, **options: object) -> list[str]:
    return [host.name for host in load_text(text, **options).hosts]


# --- hosts


def test_a_host_has_speed_cores_memory_properties_and_a_zone() -> None:
    text = (
        '<host id="h" speed="2Gf,1.5Gf" core="4" pstate="1" coordinates="1 2.5 -3" '
        'speed_file="s.trace" state_file="up.trace">'
        '<prop id="memory" value="64GiB"/><prop id="rack" value="7"/>'
        '<disk id="d" read_bw="200MBps" write_bw="80MBps"><prop id="x" value="y"/></disk></host>'
    )
    platform = load_text(a_platform(f'<prop id="site" value="lab"/>{text}'))
    host = platform.host(0)

    assert (host.name, host.speeds, host.speed, host.cores) == ("h", (2e9, 1.5e9), 1.5e9, 4)
    assert host.memory == 64 * 1024**3
    assert host.properties == {"memory": "64GiB", "rack": "7"}
    assert host.zone == ("z",)
    assert host.kind.zone_properties == {"site": "lab"}
    assert host.kind.coordinates == (1.0, 2.5, -3.0)
    assert host.kind.profiles == {"speed": "s.trace", "state": "up.trace"}
    assert host.kind.disks == (Disk("d", 200e6, 80e6, {"x": "y"}),)
    assert platform.reference_speed == 1.5e9
    assert platform.source == "p.xml"
    assert platform.notes == ()


def test_the_old_name_of_a_speed_file_still_counts() -> None:
    platform = load_text(a_platform(a_host(more='availability_file="a.trace"')))

    assert platform.host(0).kind.profiles == {"speed": "a.trace"}


def test_a_memory_without_a_unit_is_a_property_only() -> None:
    host = load_text(a_platform(a_host(memory="128"))).host(0)

    assert host.memory is None
    assert host.properties["memory"] == "128"


def test_hosts_with_the_same_words_share_their_kind() -> None:
    hosts = load_text(a_platform(a_host("a") + a_host("b") + a_host("c", rack="1"))).hosts

    assert len(hosts.kinds) == 2
    assert hosts[0].kind is hosts[1].kind


def test_properties_of_inner_zones_override_those_of_outer_ones() -> None:
    inner = f'<zone id="inner" routing="Full"><prop id="a" value="2"/>{a_host()}</zone>'
    text = a_platform(f'<prop id="a" value="1"/><prop id="b" value="1"/>{inner}')

    kind = load_text(text).host(0).kind

    assert kind.zone == ("z", "inner")
    assert kind.zone_properties == {"a": "2", "b": "1"}


def test_properties_of_a_cluster_are_those_of_its_hosts_and_of_its_zone() -> None:
    cluster = a_cluster().replace("/>", '><prop id="rack" value="7"/></cluster>')

    host = load_text(a_platform(cluster)).host(0)

    assert host.properties == {"rack": "7"}
    assert host.kind.zone_properties == {"rack": "7"}
    assert host.zone == ("z", "c")


# --- ids


def test_ids_follow_the_natural_order_of_names() -> None:
    text = a_platform("".join(map(a_host, ("a10", "b1", "a2", "a1", "a02", "a", "a1b"))))

    # a02 and a2 are a tie of numbers, broken as text
    assert names_of(text) == ["a", "a1", "a1b", "a02", "a2", "a10", "b1"]


def test_ids_can_follow_the_lexicographic_order_as_in_batsim_4() -> None:
    text = a_platform(a_cluster(radical="0-11"))

    names = names_of(text, host_order="lexicographic")

    assert names == ["n0", "n1", "n10", "n11", *(f"n{i}" for i in range(2, 10))]


def test_ids_run_over_all_zones() -> None:
    zones = "".join(f'<zone id="{z}" routing="Full">{a_host(h)}</zone>' for z, h in ("xb", "ya"))

    assert names_of(a_platform(zones)) == ["a", "b"]


@given(st.lists(st.text("ab019", max_size=6), unique=True))
def test_natural_order_is_that_of_the_numbers_in_the_names(names: list[str]) -> None:
    def plain_key(name: str) -> tuple[list[int | str], str]:
        parts = re.split("([0-9]+)", name)
        return [int(part) if part.isdigit() else part for part in parts], name

    assert sorted(names, key=natural_key) == sorted(names, key=plain_key)


def test_a_number_of_any_length_can_be_sorted() -> None:
    text = a_platform(a_host("a" + "9" * 5000) + a_host("a1" + "0" * 5000))

    assert [len(name) for name in names_of(text)] == [5001, 5002]


def test_an_unknown_host_order_is_refused() -> None:
    message = refusal(load_text, a_platform(a_host()), host_order="random")

    assert message == "host_order: got 'random', expected natural or lexicographic"


# --- roles


def test_the_master_has_no_id_and_storages_follow_the_compute_hosts() -> None:
    text = a_platform(
        a_host("s2", role="storage")
        + a_host("master_host")
        + a_host("b", role="")
        + a_host("s1", role="storage")
        + a_host("a", role="compute_node")
    )
    platform = load_text(text)

    assert [(host.id, host.name) for host in platform.hosts] == [(0, "a"), (1, "b")]
    assert [(host.id, host.name) for host in platform.storages] == [(2, "s1"), (3, "s2")]
    assert platform.master is not None
    assert (platform.master.id, platform.master.name) == (-1, "master_host")
    assert [host.name for host in platform.all_hosts()] == ["a", "b", "s1", "s2", "master_host"]


def test_the_master_can_be_told_by_its_role_or_by_its_name() -> None:
    text = a_platform(a_host("a", role="master") + a_host("b"))
    plain = a_platform(a_host("a") + a_host("b"))

    for platform in (
        load_text(text),
        load_text(text, master_host="a"),  # twice the same is no contradiction
        load_text(plain, master_host="a"),
        load_text(plain, roles={"a": "master"}),
    ):
        assert platform.master is not None
        assert platform.master.name == "a"
        assert platform.n_hosts == 1


def test_roles_that_are_given_replace_those_of_the_file() -> None:
    text = a_platform(a_host("a", role="master") + a_host("b") + a_host("master_host"))

    platform = load_text(text, roles={"a": "storage", "b": "storage", "master_host": "compute"})

    assert [host.name for host in platform.hosts] == ["master_host"]
    assert [host.name for host in platform.storages] == ["a", "b"]
    assert platform.master is None


def test_a_platform_needs_no_master() -> None:
    platform = load_text(a_platform(a_host("master_host")), master_host=None)

    assert (platform.n_hosts, platform.master) == (1, None)


def test_a_likely_master_that_computes_is_noted() -> None:
    platform = load_text(a_platform(a_host("a") + a_host("master_host0")))

    assert platform.n_hosts == 2
    assert platform.notes == (
        "p.xml: no host is the master; master_host0 computes like any other "
        "unless it is named as the master host",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"master_host": "x"}, "p.xml: master_host: x: no such host"),
        ({"roles": {"x": "storage"}}, "p.xml: roles: x: no such host"),
        (
            {"roles": {"a": "boss"}},
            "roles: a: got 'boss', expected a role: compute, compute_node, storage, master",
        ),
        (
            {"master_host": "a", "roles": {"b": "master"}},
            "p.xml: 2 hosts are masters: a, b; expected one at most",
        ),
        (
            {"roles": {"a": "storage", "b": "storage"}},
            "p.xml: got no compute host, expected one at least",
        ),
    ],
)
def test_roles_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    assert refusal(load_text, a_platform(a_host("a") + a_host("b")), **options) == message


def test_a_cluster_of_masters_is_refused() -> None:
    cluster = a_cluster(radical="0-9").replace("/>", '><prop id="role" value="master"/></cluster>')

    message = refusal(load_text, a_platform(cluster + a_host()))

    assert message == "p.xml: 10 hosts are masters: n0, n1, n2, ...; expected one at most"


def test_only_compute_hosts_need_a_speed() -> None:
    still = '<host id="s" speed="0f">{}</host>'
    storage = still.format('<prop id="role" value="storage"/>')

    assert load_text(a_platform(a_host() + storage)).storages[0].speed == 0
    message = refusal(load_text, a_platform(a_host() + still.format("")))
    assert message == "p.xml: host 's': got speed 0, expected more: jobs run on it"


# --- power


def test_power_is_read_from_the_properties() -> None:
    text = (
        '<host id="h" speed="2Gf, 1Gf, 1e-9Mf, 0.5f, 0.25f">'
        '<prop id="wattage_per_state" value="95:190, 90:100:150, 9:9, 101:101, 125:125"/>'
        '<prop id="wattage_off" value="9.75"/><prop id="sleep_pstates" value=" 2 : 3 : 4 "/></host>'
    )
    kind = load_text(a_platform(text)).host(0).kind

    # two values: just above idle is idle
    assert kind.powers[:2] == (PowerRange(95, 95, 190), PowerRange(90, 100, 150))
    assert kind.power_off == 9.75
    assert kind.sleep_states == (SleepState(2, 3, 4),)
    assert kind.computing_states == (0, 1)
    assert 1 / kind.speeds[3] == 2.0  # seconds to switch off
    assert kind.power_fault == ""


def test_the_older_names_are_read_too() -> None:
    host = a_host(watt_per_state="95:190", watt_off="3")

    kind = load_text(a_platform(host)).host(0).kind

    assert (kind.powers, kind.power_off) == ((PowerRange(95, 95, 190),), 3.0)


@pytest.mark.parametrize(
    ("speeds", "properties", "fault"),
    [
        ("1f,2f", {"wattage_per_state": "1:2"}, "wattage_per_state: got 1 entry for 2 speeds"),
        ("1f", {"wattage_per_state": "1:2,3:4"}, "wattage_per_state: got 2 entries for 1 speed"),
        (
            "1f",
            {"wattage_per_state": "5"},
            "wattage_per_state: got '5', expected watts as in 95:190 or 95:100:190",
        ),
        (
            "1f",
            {"watt_per_state": "1:2:3"},
            "watt_per_state: got '1:2:3', expected watts as in 95:190; for three, "
            "wattage_per_state",
        ),
        (
            "1f",
            {"wattage_per_state": "1:x"},
            "wattage_per_state: got 'x', expected a number of watts",
        ),
        ("1f", {"wattage_off": "-1"}, "wattage_off: got '-1', expected a number of watts"),
        (
            "1f,2f",
            {"sleep_pstates": "1:2:3"},
            "sleep_pstates: got '1:2:3', expected power states from 0 to 1",
        ),
        (
            "1f",
            {"sleep_pstates": "1:99999999999:0"},
            "sleep_pstates: got '1:99999999999:0', expected power states from 0 to 0",
        ),
        (
            "1f,2f,3f",
            {"sleep_pstates": "1:2"},
            "sleep_pstates: got '1:2', expected power states as in 13:14:15",
        ),
        (
            "1f,2f,3f",
            {"sleep_pstates": "1:2:1"},
            "sleep_pstates: power state 1 is for sleeping and for switching",
        ),
        (
            "1f,2f,0f,3f",
            {"sleep_pstates": "1:2:3"},
            "power state 2: got speed 0, expected more: switching takes 1 / speed seconds",
        ),
        (
            "1f,0f",
            {"wattage_off": "1"},
            "power state 1: got speed 0, expected more: jobs run in it",
        ),
    ],
)
def test_power_that_does_not_fit_is_noted_and_not_known(
    speeds: str, properties: dict[str, str], fault: str
) -> None:
    host = a_host(**properties).replace('speed="1Gf"', f'speed="{speeds}"')
    platform = load_text(a_platform(host + host.replace('"h"', '"i"')))
    kind = platform.host(0).kind

    assert kind.power_fault == fault
    assert (kind.powers, kind.sleep_states) == ((), ())
    assert kind.properties == properties
    assert platform.notes == (
        f"p.xml: host 'h': {kind.power_fault}; its power is not known (and 1 more like it)",
    )


# --- what is noted


def test_unknown_configuration_keys_are_kept_and_noted() -> None:
    config = (
        '<config id="General"><prop id="network/TCP-gamma" value="0"/>'
        '<prop id="network/TCP_gamma" value="1"/><prop id="smpi/os" value="2"/>\n'
        '<prop id="network/coordinates" value="yes"/></config>'
    )
    platform = load_text(a_platform(a_host()).replace("<zone", config + "<zone"))

    assert platform.network.options == {
        "network/TCP-gamma": "0",
        "network/TCP_gamma": "1",
        "smpi/os": "2",
        "network/coordinates": "yes",
    }
    assert platform.notes == (
        "p.xml: line 4, column 1: prop 'network/coordinates': unknown configuration key, "
        "kept but without effect",
    )


def test_numbers_without_a_unit_are_taken_in_the_base_unit_and_noted_once() -> None:
    hosts = "".join(f'<host id="{name}" speed="{speed}"/>' for name, speed in ("a1", "b2", "c0"))
    platform = load_text(a_platform(hosts), roles={"c": "storage"})

    assert platform.speeds.tolist() == [1.0, 2.0]
    assert platform.notes == (
        "p.xml: line 4, column 1: host 'a': speed: got '1' without a unit, taken as f "
        "(and 1 more like it)",
    )


def test_actors_are_left_out_and_noted() -> None:
    actor = '<process host="h" function="f"><argument value="1"/></process></platform>'
    platform = load_text(a_platform(a_host()).replace("</platform>", actor))

    assert platform.notes == ("p.xml: line 5, column 8: actor: left out: jobs come from workloads",)


# --- the document


def test_version_4_and_its_names_are_read() -> None:
    text = f'<platform version="4"><AS id="z" routing="None">{a_host()}</AS></platform>'

    assert names_of(text) == ["h"]


def test_blanks_in_front_of_the_declaration_do_not_matter_and_lines_are_right() -> None:
    text = "\n \n" + a_platform(a_host())

    assert names_of(text) == ["h"]
    assert refusal(load_text, text.replace("1Gf", "1X")).startswith("p.xml: line 6, column 1: host")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_files_in_other_encodings_are_read(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>" + a_platform(a_host("é"))[22:]
    Path("p.xml").write_bytes(text.encode(encoding))

    draft = read_simgrid(Path("p.xml").read_bytes(), source="p.xml")

    assert draft.finish(HostRules()).host(0).name == "é"


def test_predefined_entities_and_characters_are_understood() -> None:
    host = load_text(a_platform(a_host("a&amp;b&#33;") + "<!-- R&D &nothing; -->")).host(0)

    assert host.name == "a&b!"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<platform", "p.xml: line 1, column 1: not valid XML: unclosed token"),
        ("<a></b>", "p.xml: line 1, column 1: got <a>, expected <platform>"),
        (
            '<platform version="4.1"><zone></platform>',
            "p.xml: line 1, column 25: zone: id: missing",
        ),
        (
            '<platform version="3"/>',
            "p.xml: line 1, column 1: platform: version: got '3', expected 4 or 4.1",
        ),
        (
            '<platform version="4.2"/>',
            "p.xml: line 1, column 1: platform: version: got '4.2', expected 4 or 4.1",
        ),
        ("<platform/>", "p.xml: line 1, column 1: platform: version: missing"),
        ('<platform version="4.1"/>', "p.xml: got no host, expected one at least"),
        (
            "<?xml version='1.0' encoding='klingon'?><platform/>",
            "p.xml: line 1: got an encoding that cannot be read",
        ),
        (
            "<?xml version='1.0' encoding='big5'?><platform/>",
            "p.xml: line 1: got an encoding that cannot be read",
        ),
        ("", "p.xml: empty file, expected a SimGrid XML platform, or a short one in TOML or JSON"),
    ],
)
def test_documents_that_are_no_platforms_are_refused(text: str, message: str) -> None:
    assert refusal(load_text, text) == message


BOMB = f"""<?xml version="1.0"?>
<!DOCTYPE platform [
<!ENTITY a "aaaaaaaaaa">{"".join(f'<!ENTITY a{i} "{"&a;" * 10}">' for i in range(10))}
]>
<platform version="4.1"><zone id="&a9;" routing="Full"/></platform>"""


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        BOMB.replace("DOCTYPE platform [", 'DOCTYPE platform SYSTEM "simgrid.dtd" ['),
        '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><platform version="&x;"/>',
        '<!DOCTYPE p [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]><platform version="4.1"/>',
        '<!DOCTYPE p [<!ATTLIST platform version CDATA "4.1">]><platform/>',
    ],
)
def test_entities_are_neither_expanded_nor_fetched(text: str) -> None:
    assert refusal(load_text, text).endswith(
        ": got declarations in the DOCTYPE, expected none: no entity is expanded"
    )


def test_a_reference_to_an_unknown_entity_is_refused_where_it_stands() -> None:
    # the parser would leave it out of the attribute, without a word
    message = refusal(load_text, a_platform(a_host() + '\n<host id="&who;" speed="1Gf"/>'))

    assert message == "p.xml: line 5, column 11: got the entity &who;, expected none"


def test_a_doctype_that_only_names_the_dtd_is_fine() -> None:
    assert DOCTYPE in a_platform(a_host())
    assert names_of(a_platform(a_host())) == ["h"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "<gadget/>",
            "line 4, column 1: got <gadget> in <zone>, expected backbone, bypassRoute, "
            "bypassZoneRoute, cabinet, cluster, host, host_link, link, peer, prop, route, router, "
            "trace, trace_connect, zone, zoneRoute",
        ),
        (
            '<host id="h" speed="1Gf"><mount/></host>',
            "line 4, column 26: got <mount>, which SimGrid no longer has, "
            "expected a disk inside the host",
        ),
        (
            "<router><host/></router>",
            "line 4, column 1: router: id: missing",
        ),
        (
            '<router id="r"><host/></router>',
            "line 4, column 16: got <host> in <router>, expected nothing",
        ),
        (
            '\n <host id="h" speed="1Gf" colour="red"/>',
            "line 5, column 2: host 'h': colour: unknown, expected availability_file, "
            "coordinates, core, id, pstate, speed, speed_file, state_file",
        ),
        ('<host id="h"/>', "line 4, column 1: host 'h': speed: missing"),
        (
            '<host id="h" speed="fast"/>',
            "line 4, column 1: host 'h': speed: got 'fast', expected a speed such as 1Gf",
        ),
        (
            '<host id="h" speed="1Gf,"/>',
            "line 4, column 1: host 'h': speed: got '1Gf,', expected a speed such as 1Gf",
        ),
        (
            a_host(more='core="0"'),
            "line 4, column 1: host 'h': core: got '0', expected a whole number from 1 on",
        ),
        (
            a_host(more='core="1.5"'),
            "line 4, column 1: host 'h': core: got '1.5', expected a whole number from 1 on",
        ),
        (
            a_host(more='pstate="1"'),
            "line 4, column 1: host 'h': pstate: got '1', "
            "expected one of the 1 power states, counted from 0",
        ),
        (
            a_host(more='coordinates="1 east"'),
            "line 4, column 1: host 'h': coordinates: got '1 east', "
            "expected numbers as in 25.5 9.4 1.4",
        ),
        (
            a_host(role="boss"),
            "line 4, column 1: host 'h': role: got 'boss', "
            "expected a role: compute, compute_node, storage, master",
        ),
        (a_host() + "\n" + a_host(), "line 5, column 1: host 'h': the name is taken already"),
        (a_host(""), "line 4, column 1: host: got an empty name"),
        (
            a_host() + '\n<prop id="a" value="b"/>',
            "line 5, column 1: prop 'a': expected in front of what the zone contains",
        ),
        (
            '<host id="h" speed="1Gf"><disk id="d" read_bw="1" write_bw="x"/></host>',
            "line 4, column 26: disk 'd': write_bw: got 'x', expected a bandwidth such as 125MBps",
        ),
        (
            '<zone id="y" routing="Random"/>',
            "line 4, column 1: zone 'y': routing: got 'Random', expected Full or Floyd or Dijkstra "
            "or DijkstraCache or Cluster or Vivaldi or Wifi or None",
        ),
        ('<zone id="z" routing="Full"/>', "line 4, column 1: zone 'z': the name is taken already"),
    ],
)
def test_mistakes_are_refused_where_they_stand(content: str, message: str) -> None:
    assert refusal(load_text, a_platform(content)) == f"p.xml: {message}"


def test_zones_cannot_be_nested_without_end() -> None:
    opening = "".join(f'<zone id="z{i}" routing="Full">' for i in range(100_000))

    message = refusal(load_text, f'<platform version="4.1">{opening}')

    assert message.endswith("zone 'z100': got more than 100 zones inside each other")


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 2000),
        st.integers(0, 40),
        st.one_of(st.binary(max_size=8), st.sampled_from([b'"', b"<", b"/>", b"&x;", b"9" * 9])),
    ),
    min_size=1,
    max_size=4,
)


@given(st.sampled_from(["heads", "tails"]), MUTATIONS)
def test_a_damaged_file_is_read_or_refused(
    side: str, mutations: list[tuple[int, int, bytes]]
) -> None:
    routes = '<link id="l" bandwidth="1GBps"/><route src="a" dst="b"><link_ctn id="l"/></route>'
    zone = f'<zone id="y" routing="Full">{a_host("a", role="")}{a_host("b")}{routes}</zone>'
    text = a_platform(zone + a_cluster() if side == "heads" else a_cluster(radical="1,5-9"))
    data = text.encode()
    for start, length, new in mutations:
        data = data[:start] + new + data[start + length :]

    with suppress(InputError):
        assert read_simgrid(data, source="p.xml").finish(HostRules()).n_hosts >= 1
