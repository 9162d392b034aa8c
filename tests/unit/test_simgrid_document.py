"""SimGrid's XML: what is noted, what is refused and where; entities stay out."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platform_files import DOCTYPE, a_cluster, a_host, a_platform, load_text, refusal

from noctule.errors import InputError
from noctule.formats.host_choice import HostRules
from noctule.formats.simgrid import read_simgrid


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def names_of(text: str, **options: object) -> list[str]:
    return [host.name for host in load_text(text, **options).hosts]


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
