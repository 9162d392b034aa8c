"""Strategic merge patches: lists of named things are merged by their names."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.kube.refusals import Refusal
from noctule.kube.strategic import strategic_merge


def named(*names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


def test_a_condition_changes_by_its_type_and_the_others_stay() -> None:
    # what kube-scheduler sends about a pod that does not fit
    pod = {
        "kind": "Pod",
        "status": {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "reason": "Was"},
                {"type": "Ready", "status": "False"},
            ],
        },
    }
    patch = {
        "status": {
            "$setElementOrder/conditions": [{"type": "PodScheduled"}],
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": None, "message": "0/1 nodes"}
            ],
            "nominatedNodeName": "n1",
        }
    }
    kept = copy.deepcopy(pod)
    assert strategic_merge(pod, patch)["status"] == {
        "phase": "Pending",
        "conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/1 nodes"},
            {"type": "Ready", "status": "False"},
        ],
        "nominatedNodeName": "n1",
    }
    assert pod == kept


def test_containers_are_merged_by_name_and_what_they_hold_too() -> None:
    pod = {
        "spec": {
            "containers": [
                {"name": "a", "image": "1", "env": [{"name": "X", "value": "1"}], "args": ["x"]},
                {"name": "b", "image": "2", "ports": [{"containerPort": 80, "name": "web"}]},
            ]
        }
    }
    patch = {
        "spec": {
            "containers": [
                {"name": "b", "image": "3", "ports": [{"containerPort": 81}]},
                {"name": "a", "env": [{"name": "Y", "value": "2"}], "args": ["y"]},
                {"name": "c", "image": "4"},
            ]
        }
    }
    # in the order of the patch
    assert strategic_merge(pod, patch)["spec"]["containers"] == [
        {
            "name": "b",
            "image": "3",
            "ports": [{"containerPort": 81}, {"containerPort": 80, "name": "web"}],
        },
        {
            "name": "a",
            "image": "1",
            "env": [{"name": "Y", "value": "2"}, {"name": "X", "value": "1"}],
            "args": ["y"],  # a plain list is replaced
        },
        {"name": "c", "image": "4"},
    ]


def test_ports_of_services_are_told_apart_by_port() -> None:
    service = {"kind": "Service", "spec": {"ports": [{"port": 80, "name": "a"}, {"port": 81}]}}
    patch = {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}}
    assert strategic_merge(service, patch)["spec"]["ports"] == [
        {"port": 80, "name": "a", "targetPort": 8080},
        {"port": 81},
    ]


def test_ports_of_endpoint_slices_are_a_list_like_any_other() -> None:
    ports = {"kind": "EndpointSlice", "ports": [{"port": 80}, {"port": 81}]}
    assert strategic_merge(ports, {"ports": [{"port": 82}]})["ports"] == [{"port": 82}]


def test_lists_that_are_not_sets_are_replaced() -> None:
    node = {"spec": {"taints": [{"key": "a"}, {"key": "b"}]}}
    assert strategic_merge(node, {"spec": {"taints": [{"key": "c"}]}}) == {
        "spec": {"taints": [{"key": "c"}]}
    }


def test_finalizers_are_a_set_of_texts() -> None:
    obj = {"metadata": {"finalizers": ["a", "b"]}}
    assert strategic_merge(obj, {"metadata": {"finalizers": ["b", "c"]}}) == {
        "metadata": {"finalizers": ["a", "b", "c"]}
    }
    gone = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert strategic_merge(obj, gone) == {"metadata": {"finalizers": ["b"]}}


@pytest.mark.parametrize(
    ("patch", "wanted"),
    [
        ([{"name": "b", "$patch": "delete"}], named("a", "c")),
        ([{"name": "z", "$patch": "delete"}], named("a", "b", "c")),
        ([{"$patch": "replace"}, {"name": "z"}], named("z")),
        # one that says so replaces the whole list, and is not part of it
        ([{"name": "b", "$patch": "replace"}, {"name": "z"}], named("z")),
        ([], named("a", "b", "c")),
    ],
)
def test_directives_delete_and_replace(patch: Any, wanted: Any) -> None:
    merged = strategic_merge({"containers": named("a", "b", "c")}, {"containers": patch})
    assert merged == {"containers": wanted}


def test_null_removes_a_list() -> None:
    assert strategic_merge({"containers": named("a")}, {"containers": None}) == {}


def test_a_map_can_be_replaced_deleted_or_trimmed() -> None:
    obj = {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}, "x": 1}
    replaced = strategic_merge(obj, {"strategy": {"$patch": "replace", "type": "Recreate"}})
    assert replaced["strategy"] == {"type": "Recreate"}
    assert strategic_merge(obj, {"strategy": {"$patch": "delete"}})["strategy"] == {}
    trimmed = strategic_merge(obj, {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}})
    assert trimmed["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("order", "patch", "wanted"),
    [
        (["c", "a"], [], ["b", "c", "a"]),  # b stood before c
        (["a", "d", "c"], ["d"], ["a", "d", "b", "c"]),  # d is new, and goes before b
        (["c", "b", "a"], [], ["c", "b", "a"]),
    ],
)
def test_elements_come_in_the_order_that_the_patch_asks_for(
    order: list[str], patch: list[str], wanted: list[str]
) -> None:
    patched = {"$setElementOrder/containers": named(*order), "containers": named(*patch)}
    merged = strategic_merge({"containers": named("a", "b", "c")}, patched)
    assert merged["containers"] == named(*wanted)


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ([], "expected an object"),
        ({"containers": [{"image": "x"}]}, "an element of containers without name"),
        ({"containers": ["x"]}, "an element of containers without name"),
        ({"metadata": {"$patch": "spam"}}, "'spam', expected merge, replace or delete"),
    ],
)
def test_a_patch_that_makes_no_sense_is_refused(patch: Any, why: str) -> None:
    with pytest.raises(Refusal, match=why) as refusal:
        strategic_merge({"containers": named("a")}, patch)
    assert refusal.value.code == 400


def without_directives(value: Any) -> Any:
    """What is left when typed objects are made of it: no directives, and nothing that is null."""
    if isinstance(value, dict):
        return {
            name: without_directives(part)
            for name, part in value.items()
            if part is not None and not name.startswith("$")
        }
    return [without_directives(part) for part in value] if isinstance(value, list) else value


RECORDED = Path(__file__).with_name("kube_strategic_merges.jsonl")


def test_random_patches_give_what_the_library_of_kubernetes_gives() -> None:
    """Answers of k8s.io/apimachinery 0.36.4 for pods, without patches that are an error there.

    Nor with those that delete elements of a list and order it too, the places of which differ.
    """
    lines = RECORDED.read_text().splitlines()
    assert len(lines) == 120
    for line in lines:
        pod, patch, wanted = json.loads(line)
        assert without_directives(strategic_merge(pod, patch)) == without_directives(wanted)


NAMES = st.lists(st.sampled_from("abcdef"), unique=True)


@given(NAMES, NAMES, NAMES)
def test_order_is_that_of_the_patch_and_of_what_was_there(
    old: list[str], sent: list[str], rest: list[str]
) -> None:
    order = sent + [name for name in rest if name not in sent]
    patch = {"containers": named(*sent), "$setElementOrder/containers": named(*order)}
    merged = strategic_merge({"containers": named(*old)}, patch)
    names = [element["name"] for element in merged["containers"]]
    assert sorted(names) == sorted({*old, *sent})
    assert [name for name in names if name in order] == [name for name in order if name in names]
    others = [name for name in old if name not in order]
    assert [name for name in names if name not in order] == others
