"""Hosts as Nodes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import noctule as nt
from noctule.errors import InputError
from noctule.kube.names import LONGEST, is_label_value, label_value, name_of, timestamp, unique
from noctule.kube.nodes import NodeRules, allocatable, node_names, node_objects, whole_host

DATE = "2020-01-01T00:00:00Z"


def host(name: str, properties: str = "", core: int = 1) -> str:
    return f'<host id="{name}" speed="1f" core="{core}">{properties}</host>'


def prop(name: str, value: str) -> str:
    return f'<prop id="{name}" value="{value}"/>'


@pytest.fixture
def read(tmp_path):
    def reader(body: str) -> nt.Platform:
        path = tmp_path / "platform.xml"
        path.write_text(f'<?xml version="1.0"?><platform version="4.1">{body}</platform>')
        return nt.load_platform(path)

    return reader


def flat(*hosts: str) -> str:
    return f'<zone id="all" routing="None">{"".join(hosts)}</zone>'


def test_a_node_has_what_its_host_has(read):
    gpus = prop("memory", "4Gi") + prop("gpu", "2") + prop("resource:example.com/fpga", "3")
    (node,) = node_objects(read(flat(host("h.Site", gpus, core=8))), DATE)
    assert node["metadata"]["name"] == "h.site"
    assert node["metadata"]["creationTimestamp"] == DATE
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "h.site"
    assert node["status"]["allocatable"] == {
        "cpu": "8",
        "memory": "4Gi",
        "ephemeral-storage": "1Ti",
        "pods": "110",
        "nvidia.com/gpu": "2",
        "example.com/fpga": "3",
    }
    assert node["status"]["capacity"] == node["status"]["allocatable"]
    assert node["status"]["conditions"][0]["type"] == "Ready"
    assert allocatable(node)["cpu"] == 8000
    assert allocatable(node)["memory"] == 2**32


def test_the_property_core_takes_the_place_of_the_cores_and_may_be_a_part_of_one(read):
    platform = read(flat(host("a", prop("core", "3500m"), core=4)))
    assert allocatable(node_objects(platform, DATE)[0])["cpu"] == 3500


def test_what_the_platform_does_not_tell_comes_from_the_rules():
    rules = NodeRules(memory="2Gi", pods=7)
    (node,) = node_objects(nt.Platform.homogeneous(1), DATE, rules)
    assert node["status"]["allocatable"]["memory"] == "2Gi"
    assert node["status"]["allocatable"]["pods"] == "7"
    assert "topology.kubernetes.io/zone" not in node["metadata"]["labels"]


def test_labels_and_taints_are_properties(read):
    words = prop("label:disk", "ssd") + prop("taint:dedicated", "gpu:NoSchedule")
    words += prop("taint:old", "NoExecute") + prop("zone", "z1") + prop("region", "eu")
    (node,) = node_objects(read(flat(host("a", words))), DATE)
    labels = node["metadata"]["labels"]
    assert labels["disk"] == "ssd"
    assert labels["topology.kubernetes.io/zone"] == "z1"
    assert labels["topology.kubernetes.io/region"] == "eu"
    assert node["spec"]["taints"] == [
        {"key": "dedicated", "effect": "NoSchedule", "value": "gpu"},
        {"key": "old", "effect": "NoExecute"},
    ]


def test_zones_and_racks_are_those_that_tell_hosts_apart(read):
    rows = "".join(
        f'<zone id="{row}" routing="None">'
        + "".join(
            f'<zone id="{row}{rack}" routing="None">{host(f"{row}{rack}-0")}</zone>'
            for rack in racks
        )
        + "</zone>"
        for row, racks in (("r1", "ab"), ("r2", "c"))
    )
    nodes = node_objects(read(f'<zone id="site" routing="None">{rows}</zone>'), DATE)
    places = [
        (
            node["metadata"]["labels"]["topology.kubernetes.io/zone"],
            node["metadata"]["labels"]["topology.kubernetes.io/rack"],
        )
        for node in nodes
    ]
    assert places == [("r1", "r1a"), ("r1", "r1b"), ("r2", "r2c")]


def test_a_cabinet_is_a_rack_and_the_only_zone_is_a_zone(read):
    cabinets = "".join(
        f'<cabinet id="cab{i}" prefix="c{i}-" suffix="" radical="0-0" '
        'speed="1f" bw="1Bps" lat="0"/>'
        for i in range(2)
    )
    zone = (
        f'<zone id="all" routing="Cluster">{cabinets}<backbone id="b" bandwidth="1" latency="0"/>'
    )
    labels = [n["metadata"]["labels"] for n in node_objects(read(zone + "</zone>"), DATE)]
    assert [label["topology.kubernetes.io/rack"] for label in labels] == ["cab0", "cab1"]
    (node,) = node_objects(read(flat(host("a"))), DATE)
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "all"


def test_storages_and_masters_are_no_nodes(read):
    others = host("s", prop("role", "storage")) + host("m", prop("role", "master"))
    platform = read(flat(host("a"), others))
    assert node_names(platform) == ["a"]
    assert len(node_objects(platform, DATE)) == 1


def test_a_whole_host_is_what_the_smallest_has():
    nodes = node_objects(nt.Platform.homogeneous(3), DATE)
    assert whole_host(nodes) == {"cpu": 1, "memory": 64 * 2**30}


def test_where_hosts_differ_shares_keep_whole_hosts_apart(read):
    platform = read(flat(host("a", prop("pods", "20"), core=2), host("b", core=4)))
    nodes = node_objects(platform, DATE)
    # either Node has as many shares as the most Pods that fit on one of them
    assert [node["status"]["allocatable"]["noctule/share"] for node in nodes] == ["110", "110"]
    assert whole_host(nodes) == {"cpu": 2, "memory": 64 * 2**30, "noctule/share": Fraction(110)}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (prop("core", "many"), "property core: got 'many', expected a Kubernetes quantity"),
        (prop("core", "-1"), "property core: got -1, expected >= 0"),
        (prop("gpu", "0.5"), "property gpu: got 0.5, expected a whole number"),
        (prop("resource:fpga", "1"), "property resource:fpga: expected a resource with a domain"),
        (prop("label:a b", "x"), "label a b: got 'x'"),
        (
            prop("taint:x", "Never"),
            "property taint:x: got 'Never', expected EFFECT or VALUE:EFFECT",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_host(read, words, told):
    platform = read(flat(host("ok"), host("h1", words)))
    with pytest.raises(InputError, match=f"host h1: {told}"):
        node_objects(platform, DATE)


def test_batkubes_platforms_give_batkubes_nodes(shared):
    folder = shared / "vectors" / "batkube" / "platforms"
    burst = node_objects(nt.load_platform(folder / "cluster16.xml"), DATE)
    assert [node["metadata"]["name"] for node in burst] == [f"a{i}" for i in range(16)]
    assert {node["status"]["allocatable"]["cpu"] for node in burst} == {"1"}
    (realistic,) = node_objects(nt.load_platform(folder / "1node_6core.xml"), DATE)
    assert realistic["status"]["allocatable"]["cpu"] == "6"
    assert realistic["status"]["allocatable"]["memory"] == "4Gi"


def test_names_that_kubernetes_does_not_allow_are_changed_and_stay_apart():
    assert unique(["n_1", "n-1", "N.1", "..", ""]) == ["n-1-0", "n-1", "n.1", "x", "x-4"]
    assert name_of("graphene-2.nancy.grid5000.fr") == "graphene-2.nancy.grid5000.fr"
    assert label_value("a b/c ") == "a-b-c"
    assert timestamp(1577836800.75) == DATE


@given(st.lists(st.text(max_size=80), max_size=20))
def test_all_names_are_allowed_and_no_two_are_the_same(texts):
    names = unique(texts)
    assert len(set(names)) == len(texts)
    assert all(name_of(name) == name and len(name) <= LONGEST for name in names)
    assert all(is_label_value(label_value(text)) for text in texts)
    assert unique(texts) == names
