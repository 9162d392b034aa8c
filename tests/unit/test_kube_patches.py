"""JSON patches and merge patches, by the examples of their RFCs and against another library."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch
import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.kube.patches import json_patch, merge_patch
from noctule.kube.refusals import Refusal


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        # RFC 6902, appendix A
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "q"}], {"baz": "q", "foo": "bar"}),
        (
            {"foo": ["bar", "baz"]},
            [{"op": "add", "path": "/foo/1", "value": "qux"}],
            {"foo": ["bar", "qux", "baz"]},
        ),
        ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
        (
            {"foo": ["bar", "qux", "baz"]},
            [{"op": "remove", "path": "/foo/1"}],
            {"foo": ["bar", "baz"]},
        ),
        (
            {"baz": "qux", "foo": "bar"},
            [{"op": "replace", "path": "/baz", "value": "boo"}],
            {"baz": "boo", "foo": "bar"},
        ),
        (
            {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
            [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
            {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
        ),
        (
            {"foo": ["all", "grass", "cows", "eat"]},
            [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
            {"foo": ["all", "cows", "eat", "grass"]},
        ),
        (
            {"baz": "qux", "foo": ["a", 2, "c"]},
            [
                {"op": "test", "path": "/baz", "value": "qux"},
                {"op": "test", "path": "/foo/1", "value": 2},
            ],
            {"baz": "qux", "foo": ["a", 2, "c"]},
        ),
        (
            {"foo": "bar"},
            [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
            {"foo": "bar", "child": {"grandchild": {}}},
        ),
        ({"foo": "b"}, [{"op": "add", "path": "/c", "value": 1, "xyz": 1}], {"foo": "b", "c": 1}),
        ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
        (
            {"foo": ["bar"]},
            [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}],
            {"foo": ["bar", ["abc", "def"]]},
        ),
        # further ones
        ({"a": 1}, [{"op": "add", "path": "", "value": [1]}], [1]),
        ({"": {"": 1}}, [{"op": "replace", "path": "//", "value": 2}], {"": {"": 2}}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
        ({"a": [1]}, [], {"a": [1]}),
    ],
)
def test_json_patches_do_what_the_standard_says(before: Any, patch: Any, after: Any) -> None:
    kept = copy.deepcopy(before)
    assert json_patch(before, patch) == after
    assert before == kept


@pytest.mark.parametrize(
    ("patch", "code", "why"),
    [
        ({"op": "add"}, 400, "expected a list of operations"),
        ([3], 400, "operation 0: expected an object"),
        ([{"op": "add", "path": "/x"}], 400, "add without a value"),
        ([{"op": "spam", "path": "/x", "value": 1}], 400, "op 'spam', expected add, remove"),
        ([{"op": "add", "path": "x", "value": 1}], 400, "path 'x', expected a path"),
        ([{"op": "copy", "path": "/x"}], 400, "from None"),
        ([{"op": "remove", "path": "/nothing"}], 422, "there is no 'nothing'"),
        ([{"op": "replace", "path": "/nothing", "value": 1}], 422, "there is no 'nothing'"),
        ([{"op": "add", "path": "/a/b/c", "value": 1}], 422, "there is no 'b'"),
        ([{"op": "add", "path": "/l/4", "value": 1}], 422, "there is no element '4'"),
        ([{"op": "add", "path": "/l/01", "value": 1}], 422, "there is no element '01'"),
        ([{"op": "remove", "path": "/l/-"}], 422, "there is no element '-'"),
        ([{"op": "add", "path": "/n/x", "value": 1}], 422, "inside a plain value"),
        ([{"op": "move", "from": "/a", "path": "/a/b"}], 422, "/a cannot move into itself"),
        ([{"op": "test", "path": "/n", "value": True}], 422, "test failed: /n"),
        ([{"op": "test", "path": "/a"}, {"op": "remove", "path": "/a"}], 400, "operation 0"),
        ([{"op": "test", "path": "", "value": 0}] * 10_001, 413, "at most 10000"),
        (
            [{"op": "copy", "from": "", "path": path} for path in ("/x", "/y") * 20],
            413,
            "more than 100000 values copied",
        ),
        ([{"op": "remove", "path": "/a" * 101}], 422, "more than 100 steps"),
        ([{"op": "copy", "from": "", "path": "/a/a"}] * 60, 400, "nested deeper than 100 levels"),
    ],
)
def test_a_json_patch_that_cannot_be_carried_out_says_why(patch: Any, code: int, why: str) -> None:
    with pytest.raises(Refusal, match=why) as refusal:
        json_patch({"a": {}, "l": [1, 2, 3], "n": 1}, patch)
    assert refusal.value.code == code


NAMES = st.sampled_from(["a", "b", "", "0", "~", "x/y"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "t"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
STEPS = st.sampled_from(["a", "b", "", "0", "1", "2", "-", "~0", "x~1y"])
POINTERS = st.lists(STEPS, max_size=3).map(lambda steps: "".join(f"/{step}" for step in steps))
OPERATIONS = st.one_of(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "replace", "test"]), "path": POINTERS, "value": JSON}
    ),
    st.fixed_dictionaries({"op": st.just("remove"), "path": POINTERS}),
    st.fixed_dictionaries(
        {"op": st.sampled_from(["move", "copy"]), "from": POINTERS, "path": POINTERS}
    ),
)


def differs_by_the_peer(value: Any, operation: dict[str, Any]) -> bool:
    """Where the other library does not follow the standard."""
    whole = operation["path"] == "" or operation.get("from") == ""
    return whole or not isinstance(value, dict)


@given(st.dictionaries(NAMES, JSON, max_size=3), st.lists(OPERATIONS, max_size=4))
def test_json_patches_do_what_another_library_does(
    value: dict[str, Any], operations: list[dict[str, Any]]
) -> None:
    if any(differs_by_the_peer(value, operation) for operation in operations):
        return
    kept = copy.deepcopy(value)
    try:
        wanted = jsonpatch.apply_patch(value, operations)
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError):
        with pytest.raises(Refusal):
            json_patch(value, operations)
    else:
        try:
            found = json_patch(value, operations)
        except Refusal as refusal:
            # true is not 1 here
            assert "test failed" in refusal.message  # noqa: PT017
        else:
            assert found == wanted
    assert value == kept


@given(JSON, JSON)
def test_the_difference_of_two_values_leads_from_one_to_the_other(left: Any, right: Any) -> None:
    difference = jsonpatch.make_patch({"v": left}, {"v": right}).patch
    assert json_patch({"v": left}, difference) == {"v": right}


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        # RFC 7386, appendix A
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patches_do_what_the_standard_says(before: Any, patch: Any, after: Any) -> None:
    kept = copy.deepcopy(before)
    assert merge_patch(before, patch) == after
    assert before == kept


@given(JSON, JSON)
def test_a_merge_patch_put_on_twice_changes_nothing_more(value: Any, patch: Any) -> None:
    once = merge_patch(value, patch)
    assert merge_patch(once, patch) == once
