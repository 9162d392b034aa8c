"""Field and label selectors: which objects they select."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.kube.refusals import Refusal
from noctule.kube.selectors import parse_selector

POD: dict[str, Any] = {
    "metadata": {
        "name": "p",
        "namespace": "x",
        "labels": {"app": "web", "tier": "a", "gen": "7", "example.org/zone": "", "in": "x"},
    },
    "spec": {"nodeName": "n1", "schedulerName": "s", "hostNetwork": True, "priority": 5},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("fields", "selected"),
    [
        ("", True),
        ("metadata.name=p", True),
        ("metadata.name==p,metadata.namespace=x", True),
        ("metadata.name!=p", False),
        ("status.phase!=Succeeded,status.phase!=Failed", True),
        ("status.phase!=Succeeded,status.phase!=Running", False),
        ("spec.nodeName=", False),
        ("spec.nodeName!=", True),
        ("spec.hostNetwork=true", True),
        ("spec.priority=5", True),
        ("spec.nothing.there=", True),  # what is not there is the empty text
        ("spec.nothing!=x", True),
        ("spec.nodeName.deeper=", True),
        (r"metadata.name=p\,q", False),
        ("metadata.name=p,", True),
    ],
)
def test_field_selectors_compare_the_text_of_a_path(fields: str, selected: bool) -> None:
    assert parse_selector(fields).matches(POD) is selected


@pytest.mark.parametrize(
    ("labels", "selected"),
    [
        (" ", True),
        ("app=web", True),
        ("app==web,tier!=b", True),
        ("app = web , tier != a", False),
        ("app!=web", False),
        ("missing!=x", True),  # a label that is not there has no value
        ("missing=", False),
        ("example.org/zone=", True),
        ("tier in (a,b)", True),
        ("tier in (b, c)", False),
        ("tier notin (b,c)", True),
        ("missing notin (b)", True),
        ("missing in (b)", False),
        ("app", True),
        ("!app", False),
        ("! missing", True),
        ("missing", False),
        ("gen>6,gen<8", True),
        ("gen>7", False),
        ("app>1", False),
        ("app in (web),tier", True),
        ("in", True),  # also a name
        ("in in (x)", True),
        ("example.org/zone in (,a)", True),
    ],
)
def test_label_selectors_know_equality_sets_and_presence(labels: str, selected: bool) -> None:
    assert parse_selector("", labels).matches(POD) is selected


def test_an_object_without_labels_has_none() -> None:
    assert parse_selector("", "!app,app!=x").matches({"metadata": {}})
    assert not parse_selector("", "app").matches({"metadata": {"labels": None}})


@pytest.mark.parametrize("fields", ["a", "a,b=c", "=x", "a=b=c", "a!b", ",a=b", "\\=x"])
def test_a_field_selector_that_is_not_readable_is_refused(fields: str) -> None:
    with pytest.raises(Refusal, match="expected terms such as spec") as refusal:
        parse_selector(fields)
    assert refusal.value.code == 400


@pytest.mark.parametrize(
    "labels",
    [
        "a b",
        "a in b",
        "a in (b",
        "-a",
        "a=b c",
        "!a=b",
        ",a",
        "a in ((b))",
        "a=-x",
        "a>b",
        "a=%",
        "a,",
        "a>-1",
    ],
)
def test_a_label_selector_that_is_not_readable_is_refused(labels: str) -> None:
    with pytest.raises(Refusal, match="labelSelector") as refusal:
        parse_selector("", labels)
    assert refusal.value.code == 400


KEYS = st.sampled_from(["a", "b", "x/c"])
VALUES = st.sampled_from(["", "1", "2", "v-1"])
LABELS = st.dictionaries(KEYS, VALUES)


@given(LABELS, st.lists(st.tuples(KEYS, st.booleans(), st.lists(VALUES, min_size=1)), max_size=4))
def test_every_term_of_a_selector_must_hold(
    labels: dict[str, str], terms: list[tuple[str, bool, list[str]]]
) -> None:
    text = ",".join(
        f"{key} {'in' if among else 'notin'} ({','.join(values)})" for key, among, values in terms
    )
    wanted = all((labels.get(key) in values) == among for key, among, values in terms)
    assert parse_selector("", text).matches({"metadata": {"labels": labels}}) is wanted


@given(st.text(alphabet="ab=!,()<>in /.-\\%", max_size=30))
def test_any_text_selects_or_is_refused(text: str) -> None:
    for fields, labels in ((text, ""), ("", text)):
        with suppress(Refusal):
            assert parse_selector(fields, labels).matches(POD) in (True, False)
