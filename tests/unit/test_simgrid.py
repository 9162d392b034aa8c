"""SimGrid's XML: hosts, their ids and roles, their power; what is refused, and where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platform_files import a_cluster, a_host, a_platform, load_text, refusal

from noctule.formats.host_choice import natural_key
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
            "1f,2f,1e-320f,3f",
            {"sleep_pstates": "1:2:3"},
            "power state 2: got speed 9.99989e-321, expected more: switching takes 1 / speed "
            "seconds",
        ),
        (
            "1f,0f",
            {"wattage_off": "1"},
            "power state 1: got speed 0, expected more: jobs run in it",
        ),
        (
            "1f",
            {"wattage_per_state": "1:-2"},
            "wattage_per_state: got '-2', expected a number of watts",
        ),
        (
            "1f",
            {"wattage_per_state": "nan:2"},
            "wattage_per_state: got 'nan', expected a number of watts",
        ),
        (
            "1f",
            {"wattage_per_state": "1:1e999"},
            "wattage_per_state: got '1e999', expected a number of watts",
        ),
        (
            "1f,2f,3f,4f",
            {"sleep_pstates": "1::3"},
            "sleep_pstates: got '1::3', expected power states as in 13:14:15",
        ),
        (
            "1f,2f,3f,4f",
            {"sleep_pstates": "-1:2:3"},
            "sleep_pstates: got '-1:2:3', expected power states as in 13:14:15",
        ),
        (
            "1f,2f,3f,4f,5f,6f",
            {"sleep_pstates": "1:2:3,1:4:5"},
            "sleep_pstates: power state 1 is there twice, expected one way to sleep in it",
        ),
        (
            "1f,2f,3f",
            {"sleep_pstates": "0:1:2"},
            "sleep_pstates: got all power states, expected one that is left to compute in",
        ),
        (
            '1f,2f,3f,4f" pstate="3',
            {"sleep_pstates": "1:2:3"},
            "power state 3: got it as the first one, expected one to compute or to sleep in: "
            "hosts switch in it",
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
