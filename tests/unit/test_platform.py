"""Platforms made by hand: identical hosts, their sequence, speeds."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from noctule.errors import InputError
from noctule.formats.platforms import load_platform
from noctule.network import Network, NumberedNames
from noctule.platform import MAX_HOSTS, Host, HostKind, Hosts, Platform, SleepState


def two_speeds() -> Platform:
    slow, fast = HostKind(speeds=(1e9,)), HostKind(speeds=(4e9, 2e9), initial_state=1)
    return Platform(Hosts(("a", "b", "c"), [slow, fast], np.array([0, 1, 0], dtype=np.int32)))


def test_identical_hosts_have_numbers_names_and_one_speed() -> None:
    platform = Platform.homogeneous(3, speed=2)

    assert platform.n_hosts == 3
    assert platform.speed == 2.0
    assert platform.reference_speed == 1.0
    assert platform.is_homogeneous
    assert [host.name for host in platform.hosts] == ["host0", "host1", "host2"]
    assert platform.host(2) == Host(2, "host2", HostKind(speeds=(2.0,)))
    assert platform.speeds.tolist() == [2.0, 2.0, 2.0]
    assert platform.network == Network()
    assert platform.storages == ()
    assert platform.master is None


def test_the_largest_platform_costs_nothing() -> None:
    platform = Platform.homogeneous(MAX_HOSTS)

    assert platform.hosts[-1].name == f"host{MAX_HOSTS - 1}"
    assert platform.speeds.strides == (0,)
    assert len(pickle.dumps(platform)) < 2000


@pytest.mark.parametrize(
    ("n_hosts", "speed", "message"),
    [
        (0, 1.0, f"platform: n_hosts: got 0, expected 1 to {MAX_HOSTS}"),
        (MAX_HOSTS + 1, 1.0, f"platform: n_hosts: got {MAX_HOSTS + 1}, expected 1 to {MAX_HOSTS}"),
        (True, 1.0, "platform: n_hosts: got True, expected a whole number"),
        (2.0, 1.0, "platform: n_hosts: got 2.0, expected a whole number"),
        (1, 0.0, "platform: speed: got 0.0, expected a positive number"),
        (1, float("nan"), "platform: speed: got nan, expected a positive number"),
        (1, float("inf"), "platform: speed: got inf, expected a positive number"),
    ],
)
def test_what_cannot_be_a_platform_is_refused(n_hosts: int, speed: float, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Platform.homogeneous(n_hosts, speed)

    assert str(caught.value) == message


@pytest.mark.parametrize("host_id", [-1, 3])
def test_a_host_that_does_not_exist_is_refused(host_id: int) -> None:
    with pytest.raises(InputError) as caught:
        Platform.homogeneous(3).host(host_id)

    assert str(caught.value) == f"platform: host {host_id}: expected 0 to 2"


def test_hosts_of_several_speeds_have_no_common_one() -> None:
    platform = two_speeds()

    assert not platform.is_homogeneous
    assert platform.speeds.tolist() == [1e9, 2e9, 1e9]  # b begins in its second power state
    with pytest.raises(InputError) as caught:
        _ = platform.speed
    assert str(caught.value) == (
        "platform: speed: the hosts have several, 1000000000.0 to 2000000000.0; "
        "`speeds` has them all"
    )


def test_speeds_cannot_be_changed() -> None:
    for platform in (two_speeds(), Platform.homogeneous(2)):
        with pytest.raises(ValueError, match="read-only"):
            platform.speeds[0] = 3.0


def test_hosts_are_a_sequence() -> None:
    hosts = two_speeds().hosts

    assert len(hosts) == 3
    assert hosts[-1] == hosts[2] == Host(2, "c", hosts.kinds[0])
    assert [host.name for host in hosts[1:]] == ["b", "c"]
    assert [host.name for host in reversed(hosts)] == ["c", "b", "a"]
    assert repr(hosts) == "<3 hosts: a to c>"
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"host {index}: there are 3"):
            _ = hosts[index]


def test_a_host_answers_for_its_kind() -> None:
    kind = HostKind(speeds=(2.0, 1.0), cores=4, memory=8.0, zone=("z",), properties={"rack": "7"})
    host = Host(0, "a", kind)

    assert (host.speed, host.speeds, host.cores, host.memory) == (2.0, (2.0, 1.0), 4, 8.0)
    assert (host.role, host.zone, host.properties) == ("compute", ("z",), {"rack": "7"})


def test_jobs_run_in_the_power_states_that_are_not_for_sleeping_or_switching() -> None:
    kind = HostKind(speeds=(5.0, 4.0, 0.0, 0.1, 0.2, 3.0), sleep_states=(SleepState(2, 3, 4),))

    assert kind.computing_states == (0, 1, 5)


def test_platforms_are_compared_by_value() -> None:
    platform = two_speeds()
    one_kind = Hosts.alike(("host0", "host1"), HostKind(speeds=(1.0,)))

    assert platform == two_speeds()
    assert hash(platform) == hash(two_speeds())
    assert platform == replace(platform, source="elsewhere.xml", notes=("odd",))
    assert platform != replace(platform, reference_speed=2.0)
    assert platform != replace(platform, hosts=Hosts.alike(("a", "b", "c"), HostKind()))
    assert Platform(one_kind) == Platform.homogeneous(2)  # listed names, or made ones
    assert Platform.homogeneous(2) != Platform.homogeneous(3)
    assert platform.hosts != ["a", "b", "c"]


def test_platforms_can_be_sent_to_other_processes() -> None:
    for platform in (two_speeds(), Platform.homogeneous(5)):
        assert pickle.loads(pickle.dumps(platform)) == platform


def test_numbered_names_are_made_when_they_are_used() -> None:
    names = NumberedNames("n", (range(2, 4), range(7, 8)), ".x")

    assert list(names) == ["n2.x", "n3.x", "n7.x"]
    assert [names[i] for i in range(3)] == list(names)
    assert (len(names), names[-1], names[:2]) == (3, "n7.x", ["n2.x", "n3.x"])
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"name {index}: there are 3"):
            _ = names[index]


def test_without_numbers_there_is_one_name() -> None:
    names = NumberedNames("login")

    assert (list(names), len(names), names[0]) == (["login"], 1, "login")
    with pytest.raises(IndexError):
        _ = names[1]


def test_hosts_can_be_left_out_while_the_network_keeps_them(tmp_path: Path) -> None:
    text = """<platform version="4.1"><zone id="z" routing="Full">
      <cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>
    </zone></platform>"""
    (tmp_path / "p.xml").write_text(text)
    whole = load_platform(tmp_path / "p.xml")
    part = whole.with_first_hosts(2)
    assert list(part.hosts.names) == ["h0", "h1"]
    assert [host.name for host in part.unused] == ["h2", "h3"]
    assert part.route("h0", "h3") == whole.route("h0", "h3")
    assert whole.with_first_hosts(4) is whole
    with pytest.raises(InputError, match="got 5 hosts to use, expected 1 to 4"):
        whole.with_first_hosts(5)
