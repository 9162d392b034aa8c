"""The store: revisions, history, and what watchers of a part of it see."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.kube.refusals import Refusal
from noctule.kube.selectors import Selector, parse_selector
from noctule.kube.store import EVENTS, NODES, PODS, Change, Resource, Store


def pod(name: str, phase: str = "Pending", namespace: str = "x") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "status": {"phase": phase}}


class Informer:
    """A watcher that keeps what it was told, as clients do."""

    def __init__(self, store: Store, namespace: str, selector: Selector) -> None:
        self.namespace, self.selector = namespace, selector
        self.known = {
            (e.object["metadata"]["namespace"], e.object["metadata"]["name"]): e.object
            for e in store.entries(PODS, namespace, selector)
        }
        self.told: list[str] = []

    def tell(self, change: Change) -> None:
        seen = change.seen(self.namespace, self.selector)
        if seen is None:
            return
        kind, entry = seen
        self.told.append(kind)
        assert entry.object["metadata"]["resourceVersion"] == str(change.revision)
        assert (change.key in self.known) == (kind != "ADDED")
        if kind == "DELETED":
            del self.known[change.key]
        else:
            self.known[change.key] = entry.object


def test_what_is_put_gets_a_revision_an_identifier_and_a_date() -> None:
    store = Store(now=lambda: 60.0)
    given = pod("a")
    stored = store.put(PODS, given)
    assert stored["apiVersion"] == "v1"
    assert stored["metadata"]["resourceVersion"] == str(store.revision)
    assert stored["metadata"]["creationTimestamp"] == "1970-01-01T00:01:00Z"
    assert given == pod("a")
    changed = store.put(PODS, pod("a", "Running"))
    for kept in ("uid", "creationTimestamp"):
        assert changed["metadata"][kept] == stored["metadata"][kept]
    assert changed["metadata"]["resourceVersion"] == str(store.revision)
    assert store.get(PODS, "a", "x") is changed
    assert store.delete(PODS, "a", "x") is changed
    assert store.get(PODS, "a", "x") is store.delete(PODS, "a", "x") is None


def test_two_runs_give_the_same_identifiers_and_two_objects_of_a_run_do_not() -> None:
    def run() -> list[str]:
        store = Store(now=lambda: 0.0)
        made = [store.put(PODS, pod("a"))]
        store.delete(PODS, "a", "x")
        made += [store.put(PODS, pod("a")), store.put(NODES, {"metadata": {"name": "a"}})]
        return [obj["metadata"]["uid"] for obj in made]

    assert run() == run()
    assert len(set(run())) == 3


def test_lists_are_in_the_order_of_names_and_of_one_namespace_or_all() -> None:
    store = Store()
    for name, namespace in (("b", "y"), ("c", "x"), ("a", "y")):
        store.put(PODS, pod(name, namespace=namespace))
    assert [obj["metadata"]["name"] for obj in store.list(PODS)] == ["c", "a", "b"]
    assert [obj["metadata"]["name"] for obj in store.list(PODS, "y")] == ["a", "b"]
    chosen = store.list(PODS, selector=parse_selector("metadata.name!=b"))
    assert [obj["metadata"]["name"] for obj in chosen] == ["c", "a"]


def test_json_is_made_once_for_a_revision_and_a_version() -> None:
    store = Store()
    store.put(PODS, pod("a"))
    entry = store.entry(PODS, "a", "x")
    assert entry is not None
    assert entry.json("v1") is entry.json("v1")
    assert b'"apiVersion":"v2"' in entry.json("v2")


def test_events_of_both_groups_are_one_and_the_oldest_go() -> None:
    store = Store(most_events=2)
    other = Resource("events.k8s.io", "v1", "events")
    for number in range(3):
        event = {"kind": "Event", "metadata": {"name": f"e{number}", "namespace": "x"}}
        store.put(other, {**event, "regarding": {"name": "p"}, "note": "Hello"})
    assert [e["metadata"]["name"] for e in store.list(EVENTS)] == ["e1", "e2"]
    entry = store.entry(EVENTS, "e1", "x")
    assert entry is not None
    assert b'"involvedObject":{"name":"p"},"message":"Hello"' in entry.json("v1")
    assert b'"regarding":{"name":"p"},"note":"Hello"' in entry.json("events.k8s.io/v1")


def test_a_store_forgets_and_says_so() -> None:
    store = Store(history=2)
    first = store.revision
    for number in range(3):
        store.put(PODS, pod(f"p{number}"))
    assert [change.key[1] for change in store.changes(PODS, first + 1)] == ["p1", "p2"]
    with pytest.raises(Refusal, match=f"too old resource version: {first} ") as refusal:
        store.changes(PODS, first)
    assert refusal.value.code == 410
    with pytest.raises(Refusal, match="Too large resource version: 99, current"):
        store.changes(PODS, 99)
    # other resources have their own history
    assert list(store.changes(NODES, first)) == []


WRITES = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["Pending", "Running", "Succeeded", None]),
    ),
    max_size=25,
)


def write(store: Store, name: str, namespace: str, phase: str | None) -> None:
    if phase is None:
        store.delete(PODS, name, namespace)
    else:
        store.put(PODS, pod(name, phase, namespace))


@given(WRITES, WRITES, st.sampled_from(["", "x"]), st.sampled_from(["Running", "Succeeded"]))
def test_who_watches_knows_what_a_list_would_say(
    before: list[Any], after: list[Any], namespace: str, phase: str
) -> None:
    store = Store()
    selector = parse_selector(f"status.phase!={phase}")
    for each in before:
        write(store, *each)
    informer = Informer(store, namespace, selector)
    store.watch(PODS, informer)
    for each in after:
        write(store, *each)
        listed = store.list(PODS, namespace, selector)
        assert sorted(informer.known) == [
            (obj["metadata"]["namespace"], obj["metadata"]["name"]) for obj in listed
        ]
        assert all(
            obj is informer.known[k] for k, obj in zip(sorted(informer.known), listed, strict=True)
        )
    store.unwatch(PODS, informer)
    told = len(informer.told)
    store.put(PODS, pod("z", "Other"))
    assert len(informer.told) == told


@given(WRITES)
def test_the_past_can_be_listed_while_it_is_remembered(writes: list[Any]) -> None:
    store = Store(history=10)
    past: dict[int, list[Any]] = {store.revision: []}
    for each in writes:
        write(store, *each)
        past[store.revision] = store.list(PODS)
    for revision, listed in past.items():
        try:
            found = [entry.object for entry in store.entries(PODS, revision=revision)]
        except Refusal:
            assert sum(other > revision for other in past) > 10
        else:
            assert found == listed
