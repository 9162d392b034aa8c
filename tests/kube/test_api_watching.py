"""Lists and watches over the wire, as informers of both styles read them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster_objects import node, pod
from served_api import ServedApi, served
from tiny_client import TinyClient

from noctule.kube.store import NODES, PODS, Store

ALIVE = "status.phase!=Succeeded,status.phase!=Failed"
PODS_PATH = "/api/v1/pods"


@pytest.fixture
def api() -> Iterator[ServedApi]:
    with served(Store(now=lambda: 1577836800.0, history=8)) as running:
        yield running


def put(api: ServedApi, *pods: dict) -> None:
    for each in pods:
        api.call(api.store.put, PODS, each)


def test_a_list_gives_a_revision_and_a_watch_from_there_gives_what_came_after(
    api: ServedApi, client: TinyClient
) -> None:
    put(api, pod("a"))
    listed = client.get(PODS_PATH, limit=500, resourceVersion=0)
    assert (listed["kind"], listed["apiVersion"]) == ("PodList", "v1")
    assert [each["metadata"]["name"] for each in listed["items"]] == ["a"]
    put(api, pod("b"))
    watch = client.watch(PODS_PATH, resourceVersion=listed["metadata"]["resourceVersion"])
    put(api, pod("a", "Running"))
    api.call(api.store.delete, PODS, "b", "default")
    assert watch.names(3) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]


def test_a_watch_list_gives_the_objects_and_a_bookmark_where_they_end(
    api: ServedApi, client: TinyClient
) -> None:
    put(api, pod("b"), pod("a"))
    watch = client.watch(
        PODS_PATH,
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
    )
    assert watch.names(2) == [("ADDED", "a"), ("ADDED", "b")]
    kind, mark = watch.next()
    assert (kind, mark["kind"], mark["apiVersion"]) == ("BOOKMARK", "Pod", "v1")
    assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert mark["metadata"]["resourceVersion"] == str(api.store.revision)


def test_where_watch_lists_are_refused_clients_list_before_they_watch() -> None:
    with served(watch_lists=False) as api:
        client = TinyClient(api.server.port)
        put(api, pod("b"), pod("a"))
        asked = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        code, answer = client.ask("GET", PODS_PATH + asked)
        assert (code, answer["reason"]) == (422, "Invalid")
        listed = client.get(PODS_PATH)
        assert [each["metadata"]["name"] for each in listed["items"]] == ["a", "b"]
        client.close()


def test_an_object_that_leaves_the_selector_is_deleted_for_that_watch(
    api: ServedApi, client: TinyClient
) -> None:
    put(api, pod("a", "Succeeded"))
    watch = client.watch(PODS_PATH, resourceVersion=str(api.store.revision), fieldSelector=ALIVE)
    put(api, pod("a", "Running"), pod("a", "Failed"), pod("b"))
    assert watch.next()[0] == "ADDED"
    kind, left = watch.next()
    # the last state that the watch knew, with the revision at which it left
    assert (kind, left["status"]["phase"]) == ("DELETED", "Running")
    assert left["metadata"]["resourceVersion"] == str(api.store.revision - 1)
    assert watch.names(1) == [("ADDED", "b")]


def test_a_watch_of_a_namespace_does_not_hear_of_others(api: ServedApi, client: TinyClient) -> None:
    watch = client.watch("/api/v1/namespaces/mine/pods", resourceVersion="1")
    put(api, pod("theirs"), pod("mine", namespace="mine"))
    assert watch.names(1) == [("ADDED", "mine")]


def test_a_revision_that_is_forgotten_is_gone(api: ServedApi, client: TinyClient) -> None:
    put(api, *(pod(f"p{number}") for number in range(12)))
    kind, status = client.watch(PODS_PATH, resourceVersion="2").next()
    assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")
    code, status = client.ask("GET", PODS_PATH, resourceVersion=999)
    assert (code, status["reason"]) == (504, "Timeout")


def test_pages_of_a_list_are_of_one_revision(api: ServedApi, client: TinyClient) -> None:
    put(api, *(pod(f"p{number}") for number in range(5)))
    first = client.get(PODS_PATH, limit=2)
    put(api, pod("p1", "Failed"), pod("p9"))
    api.call(api.store.delete, PODS, "p3", "default")
    names = [each["metadata"]["name"] for each in first["items"]]
    page = first
    while token := page["metadata"].get("continue"):
        page = client.get(PODS_PATH, **{"limit": 2, "continue": token})
        assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        names += [each["metadata"]["name"] for each in page["items"]]
    assert names == ["p0", "p1", "p2", "p3", "p4"]


def test_watches_end_with_a_bookmark_when_the_client_said_how_long(
    api: ServedApi, client: TinyClient
) -> None:
    watch = client.watch(
        PODS_PATH, resourceVersion="1", timeoutSeconds=1, allowWatchBookmarks="true"
    )
    assert [kind for kind, _ in watch] == ["BOOKMARK"]


def test_resources_that_nobody_has_are_empty_rather_than_missing(client: TinyClient) -> None:
    for path in ("/apis/storage.k8s.io/v1/csinodes", "/apis/policy/v1beta1/poddisruptionbudgets"):
        assert client.get(path)["items"] == []


def test_versions_of_a_resource_share_their_objects(client: TinyClient) -> None:
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}}
    code, _ = client.ask("POST", "/apis/policy/v1/namespaces/x/poddisruptionbudgets", budget)
    assert code == 201
    old = client.get("/apis/policy/v1beta1/poddisruptionbudgets")
    assert [each["apiVersion"] for each in old["items"]] == ["policy/v1beta1"]


def test_a_bound_pod_tells_its_watchers(api: ServedApi, client: TinyClient) -> None:
    api.call(api.store.put, NODES, node("n1"))
    put(api, pod("a"))
    watch = client.watch(PODS_PATH, resourceVersion=str(api.store.revision))
    code, status = client.bind("a", "n1")
    assert (code, status["status"]) == (201, "Success")
    kind, bound = watch.next()
    assert (kind, bound["spec"]["nodeName"]) == ("MODIFIED", "n1")
    assert bound["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        }
    ]
