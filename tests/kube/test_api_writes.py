"""Creating, changing, deleting, binding: what is done, what is refused and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cluster_objects import node, pod
from served_api import ServedApi, served
from tiny_client import APPLY, JSON_PATCH, MERGE, STRATEGIC, TinyClient

from noctule.kube.refusals import Refusal
from noctule.kube.store import EVENTS, NODES, PODS

SPACE = "/api/v1/namespaces/default"
POD = f"{SPACE}/pods/a"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"

GROUPS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "podgroups.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"plural": "podgroups", "kind": "PodGroup"},
        "versions": [{"name": "v1alpha1", "served": True, "storage": True}],
    },
}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CUSTOM = "/apis/example.org/v1alpha1/namespaces/default/podgroups"


@pytest.fixture
def api() -> Iterator[ServedApi]:
    with served() as running:
        running.call(running.store.put, NODES, node("n1"))
        running.call(running.store.put, PODS, pod("a"))
        yield running


def refused(answer: tuple[int, Any]) -> tuple[int, str]:
    code, status = answer
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", code)
    assert status["message"]
    return code, status["reason"]


def test_a_new_object_is_completed_and_cannot_be_made_twice(client: TinyClient) -> None:
    sent = {"metadata": {"name": "b", "uid": "mine", "resourceVersion": "7"}, "spec": {}}
    code, made = client.ask("POST", f"{SPACE}/pods", {**sent, "status": {"phase": "Running"}})
    assert (code, made["kind"], made["apiVersion"]) == (201, "Pod", "v1")
    assert made["metadata"]["namespace"] == "default"
    assert made["metadata"]["uid"] != "mine"
    assert made["metadata"]["creationTimestamp"] == "2020-01-01T00:00:00Z"
    assert made["status"] == {"phase": "Pending"}
    assert refused(client.ask("POST", f"{SPACE}/pods", sent)) == (409, "AlreadyExists")


def test_generated_names_differ_and_have_the_beginning_asked_for(client: TinyClient) -> None:
    sent = {"metadata": {"generateName": "job-"}, "spec": {}}
    names = [client.ask("POST", f"{SPACE}/pods", sent)[1]["metadata"]["name"] for _ in range(3)]
    assert len(set(names)) == 3
    assert all(name.startswith("job-") and len(name) == 9 for name in names)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([], 400),
        ("text", 400),
        ({"kind": "Node", "metadata": {"name": "b"}}, 400),
        ({"apiVersion": "v2", "metadata": {"name": "b"}}, 400),
        ({}, 422),
        ({"metadata": []}, 422),
        ({"metadata": {}}, 422),
        ({"metadata": {"name": "Not_A_Name"}}, 422),
        ({"metadata": {"name": "../../etc"}}, 422),
        ({"metadata": {"name": "x" * 254}}, 422),
        ({"metadata": {"name": 3}}, 422),
        ({"metadata": {"name": "b", "labels": "x"}}, 422),
        ({"metadata": {"name": "b"}, "spec": []}, 422),
        ({"metadata": {"name": "b", "namespace": "other"}, "spec": {}}, 400),
        ({"metadata": {"name": "b"}}, 422),
        ({"metadata": {"name": "b", "labels": {"x": "a b"}}, "spec": {}}, 422),
        ({"metadata": {"name": "b", "labels": {"x": 1}}, "spec": {}}, 422),
        ({"metadata": {"name": "b", "annotations": {"x": []}}, "spec": {}}, 422),
        ({"metadata": {"name": "b", "finalizers": [{}]}, "spec": {}}, 422),
    ],
)
def test_what_is_no_object_is_refused(client: TinyClient, body: Any, code: int) -> None:
    assert refused(client.ask("POST", f"{SPACE}/pods", body))[0] == code


def test_an_update_needs_the_latest_state_if_it_names_one(client: TinyClient) -> None:
    old = client.get(POD)
    changed = {**old, "metadata": {**old["metadata"], "labels": {"x": "y"}}}
    code, new = client.ask("PUT", POD, changed)
    assert (code, new["metadata"]["labels"]) == (200, {"x": "y"})
    assert refused(client.ask("PUT", POD, changed)) == (409, "Conflict")
    blind = {**changed, "metadata": {"name": "a", "labels": {}}}
    assert client.ask("PUT", POD, blind)[0] == 200
    stranger = {**blind, "metadata": {"name": "a", "uid": "another"}}
    assert refused(client.ask("PUT", POD, stranger)) == (409, "Conflict")
    renamed = {**blind, "metadata": {"name": "b"}}
    assert refused(client.ask("PUT", POD, renamed)) == (400, "BadRequest")
    assert refused(client.ask("PUT", f"{SPACE}/pods/z", blind)) == (404, "NotFound")


def test_an_update_that_changes_nothing_makes_no_revision(
    api: ServedApi, client: TinyClient
) -> None:
    code, same = client.ask("PUT", POD, client.get(POD))
    assert (code, same["metadata"]["resourceVersion"]) == (200, str(api.store.revision))
    revision = api.store.revision
    client.ask("PATCH", POD, {}, MERGE)
    assert api.store.revision == revision


def test_specs_and_statuses_change_apart_from_each_other(
    api: ServedApi, client: TinyClient
) -> None:
    told = []
    api.store.on_status = told.append
    both = {"spec": {"priority": 9}, "status": {"phase": "Running"}}
    _, new = client.ask("PATCH", POD, both, MERGE)
    assert (new["spec"]["priority"], new["status"]["phase"]) == (9, "Pending")
    assert told == []
    _, new = client.ask("PATCH", f"{POD}/status", {**both, "spec": {"priority": 1}}, MERGE)
    assert (new["spec"]["priority"], new["status"]["phase"]) == (9, "Running")
    assert [each["status"]["phase"] for each in told] == ["Running"]


def test_a_scheduler_says_that_a_pod_does_not_fit(client: TinyClient) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    patch = {
        "status": {
            "$setElementOrder/conditions": [{"type": "PodScheduled"}],
            "conditions": [condition],
        }
    }
    code, new = client.ask("PATCH", f"{POD}/status", patch, STRATEGIC)
    assert (code, new["status"]["conditions"]) == (200, [condition])


def test_json_patches_change_objects(client: TinyClient) -> None:
    patch = [{"op": "add", "path": "/metadata/labels/x", "value": "y"}]
    assert client.ask("PATCH", POD, patch, JSON_PATCH)[1]["metadata"]["labels"] == {"x": "y"}
    failing = [{"op": "test", "path": "/metadata/name", "value": "b"}]
    assert refused(client.ask("PATCH", POD, failing, JSON_PATCH)) == (422, "Invalid")
    removing = [{"op": "remove", "path": "/metadata"}]
    assert refused(client.ask("PATCH", POD, removing, JSON_PATCH)) == (422, "Invalid")
    assert refused(client.ask("PATCH", POD, {}, "application/json"))[0] == 415
    stale = {"metadata": {"resourceVersion": "1"}}
    assert refused(client.ask("PATCH", POD, stale, MERGE)) == (409, "Conflict")


def test_applying_creates_what_is_missing_and_merges_what_is_not(client: TinyClient) -> None:
    body = {"metadata": {"name": "b", "labels": {"x": "1"}}, "spec": {"minAvailable": 1}}
    path = f"{BUDGETS}/b"
    assert client.ask("PATCH", path, body, APPLY, fieldManager="me")[0] == 201
    code, new = client.ask("PATCH", path, {"metadata": {"labels": {"y": "2"}}}, APPLY)
    assert (code, new["metadata"]["labels"]) == (200, {"x": "1", "y": "2"})
    client.connection.request("PATCH", path, "a: b", {"Content-Type": APPLY})
    answer = client.connection.getresponse()
    assert (answer.status, b"only bodies that are JSON" in answer.read()) == (415, True)


def test_a_binding_puts_a_pod_on_a_node_once(api: ServedApi, client: TinyClient) -> None:
    asked: list[tuple[str, str]] = []
    api.store.on_bind = lambda pod, name: asked.append((pod["metadata"]["name"], name))
    uid = client.get(POD)["metadata"]["uid"]
    assert refused(client.bind("a", "n1", uid="another")) == (409, "Conflict")
    assert client.bind("a", "n1", uid=uid)[0] == 201
    assert client.get(POD)["spec"]["nodeName"] == "n1"
    code, status = client.bind("a", "n1")
    assert (code, status["reason"]) == (409, "Conflict")
    assert 'pod a is already assigned to node "n1"' in status["message"]
    assert refused(client.bind("z", "n1")) == (404, "NotFound")
    assert asked == [("a", "n1")]


def test_the_simulation_can_refuse_a_binding(api: ServedApi, client: TinyClient) -> None:
    api.store.on_bind = lambda pod, name: Refusal(409, f"node {name} has 0 of 1 cores left")
    code, status = client.bind("a", "n1")
    assert (code, status["message"]) == (409, "node n1 has 0 of 1 cores left")
    assert "nodeName" not in client.get(POD)["spec"]


def test_what_the_simulation_writes_while_it_is_asked_stays(
    api: ServedApi, client: TinyClient
) -> None:
    def annotate(pod: dict[str, Any], *_: Any) -> None:
        metadata = {**pod["metadata"], "annotations": {"seen": "yes"}}
        api.store.put(PODS, {**pod, "metadata": metadata})

    api.store.on_bind = api.store.on_delete = annotate
    assert client.bind("a", "n1")[0] == 201
    bound = client.get(POD)
    assert (bound["spec"]["nodeName"], bound["metadata"]["annotations"]) == ("n1", {"seen": "yes"})
    client.ask("PATCH", POD, {"metadata": {"annotations": None}}, MERGE)
    marked = client.ask("DELETE", POD)[1]["metadata"]
    assert (marked["annotations"], "deletionTimestamp" in marked) == ({"seen": "yes"}, True)


def test_a_pod_that_goes_while_it_is_bound_does_not_come_back(
    api: ServedApi, client: TinyClient
) -> None:
    api.store.on_bind = lambda pod, name: api.store.delete(PODS, "a", "default") and None
    assert refused(client.bind("a", "n1")) == (404, "NotFound")
    assert client.ask("GET", POD)[0] == 404


def test_a_hook_that_fails_is_an_internal_error_and_is_kept(
    api: ServedApi, client: TinyClient
) -> None:
    problem = ValueError("secret")

    def fail(*_: Any) -> None:
        raise problem

    api.store.on_bind = fail
    code, status = client.bind("a", "n1")
    assert (code, "secret" in str(status)) == (500, False)
    assert api.server.failure is problem
    assert client.get(POD)["metadata"]["name"] == "a"
    api.server.failure = None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"target": {"kind": "Node", "name": ""}}, 422),
        ({"target": {"kind": "Pod", "name": "n1"}}, 422),
        ({"target": {"name": 5}}, 422),
        ({}, 422),
        ([], 400),
        ({"kind": "Pod", "target": {"name": "n1"}}, 400),
        ({"metadata": {"name": "b"}, "target": {"name": "n1"}}, 400),
    ],
)
def test_a_binding_without_a_node_is_refused(client: TinyClient, body: Any, code: int) -> None:
    assert refused(client.ask("POST", f"{POD}/binding", body))[0] == code


def test_the_old_place_for_bindings_works_too(client: TinyClient) -> None:
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}
    assert client.ask("POST", f"{SPACE}/bindings", body)[0] == 201
    assert client.get(POD)["spec"]["nodeName"] == "n1"


def test_a_pod_gets_its_node_by_a_binding_only(client: TinyClient) -> None:
    patch = {"spec": {"nodeName": "n1"}}
    assert refused(client.ask("PATCH", POD, patch, MERGE)) == (422, "Invalid")
    gated = {"spec": {"schedulingGates": [{"name": "wait"}]}}
    client.ask("PATCH", POD, gated, MERGE)
    assert refused(client.bind("a", "n1")) == (409, "Conflict")


def test_a_pod_that_waits_is_deleted_at_once(api: ServedApi, client: TinyClient) -> None:
    told = []
    api.store.on_delete = lambda pod, grace: told.append((pod["metadata"]["name"], grace))
    wrong = {"preconditions": {"uid": "another"}}
    assert refused(client.ask("DELETE", POD, wrong)) == (409, "Conflict")
    code, gone = client.ask("DELETE", POD, {"gracePeriodSeconds": 30})
    assert (code, gone["metadata"]["name"], told) == (200, "a", [("a", 0)])
    assert refused(client.ask("DELETE", POD)) == (404, "NotFound")


def test_a_pod_that_runs_gets_its_grace_period(api: ServedApi, client: TinyClient) -> None:
    told = []
    api.store.on_delete = lambda pod, grace: told.append(grace)
    client.bind("a", "n1")
    code, marked = client.ask("DELETE", POD)
    assert (code, marked["metadata"]["deletionTimestamp"]) == (200, "2020-01-01T00:00:30Z")
    assert client.get(POD)["metadata"]["deletionGracePeriodSeconds"] == 30
    client.ask("DELETE", POD, {"gracePeriodSeconds": 60})  # it does not get longer
    client.ask("DELETE", POD, gracePeriodSeconds=5)
    assert client.get(POD)["metadata"]["deletionTimestamp"] == "2020-01-01T00:00:05Z"
    for wrong in ({"gracePeriodSeconds": -1}, {"gracePeriodSeconds": 10**30}, []):
        assert refused(client.ask("DELETE", POD, wrong))[0] == 400
    client.ask("DELETE", POD, {"gracePeriodSeconds": 0})
    assert (told, client.ask("GET", POD)[0]) == ([30, 5, 0], 404)


def test_an_eviction_deletes_a_pod(api: ServedApi, client: TinyClient) -> None:
    told = []
    api.store.on_delete = lambda pod, grace: told.append(grace)
    client.bind("a", "n1")
    eviction = {
        "kind": "Eviction",
        "apiVersion": "policy/v1",
        "metadata": {"name": "a"},
        "deleteOptions": {"gracePeriodSeconds": 0},
    }
    assert client.ask("POST", f"{POD}/eviction", eviction)[0] == 201
    assert (told, client.ask("GET", POD)[0]) == ([0], 404)


def test_the_simulation_can_refuse_a_deletion(api: ServedApi, client: TinyClient) -> None:
    api.store.on_delete = lambda pod, grace: Refusal(403, "preemption is off")
    assert refused(client.ask("DELETE", POD)) == (403, "Forbidden")
    assert client.get(POD)["metadata"]["name"] == "a"


def test_selected_objects_are_deleted_together(api: ServedApi, client: TinyClient) -> None:
    for name in ("b", "c"):
        api.call(api.store.put, PODS, pod(name, app="x"))
    code, gone = client.ask("DELETE", f"{SPACE}/pods", labelSelector="app=x")
    assert (code, [each["metadata"]["name"] for each in gone["items"]]) == (200, ["b", "c"])
    assert [each["metadata"]["name"] for each in client.get("/api/v1/pods")["items"]] == ["a"]


def test_finalizers_hold_an_object_until_they_are_gone(client: TinyClient) -> None:
    client.ask("POST", BUDGETS, {"metadata": {"name": "b", "finalizers": ["x/y"]}})
    code, held = client.ask("DELETE", f"{BUDGETS}/b")
    assert (code, "deletionTimestamp" in held["metadata"]) == (200, True)
    code, _ = client.ask("PATCH", f"{BUDGETS}/b", {"metadata": {"finalizers": None}}, MERGE)
    assert (code, client.ask("GET", f"{BUDGETS}/b")[0]) == (200, 404)


def test_a_dry_run_checks_and_changes_nothing(api: ServedApi, client: TinyClient) -> None:
    revision = api.store.revision
    sent = {"metadata": {"name": "b"}, "spec": {}}
    assert client.ask("POST", f"{SPACE}/pods", sent, dryRun="All")[0] == 201
    assert client.ask("PATCH", POD, {"spec": {"x": 1}}, MERGE, dryRun="All")[0] == 200
    assert client.ask("DELETE", POD, dryRun="All")[0] == 200
    assert api.store.revision == revision


def test_custom_resources_come_and_go_with_their_definition(client: TinyClient) -> None:
    assert refused(client.ask("GET", CUSTOM)) == (404, "NotFound")
    code, made = client.ask("POST", DEFINITIONS, GROUPS)
    assert (code, made["status"]["conditions"][1]["type"]) == (201, "Established")
    group = {"metadata": {"name": "g"}, "spec": {"minMember": 2}}
    assert client.ask("POST", CUSTOM, group)[1]["kind"] == "PodGroup"
    assert refused(client.ask("PATCH", f"{CUSTOM}/g", {}, STRATEGIC))[0] == 415
    patch = {"spec": {"minMember": 3}}
    assert client.ask("PATCH", f"{CUSTOM}/g", patch, MERGE)[1]["spec"] == {"minMember": 3}
    assert client.get(CUSTOM)["kind"] == "PodGroupList"
    assert client.ask("GET", f"{CUSTOM}/g/status")[0] == 404
    assert client.ask("DELETE", f"{DEFINITIONS}/podgroups.example.org")[0] == 200
    assert client.ask("GET", CUSTOM)[0] == 404
    client.ask("POST", DEFINITIONS, GROUPS)
    assert client.get(CUSTOM)["items"] == []


@pytest.mark.parametrize(
    "change", [{"spec": {}}, {"metadata": {"name": "x"}}, {"spec": {**GROUPS["spec"], "scope": 1}}]
)
def test_a_definition_that_defines_nothing_is_refused(
    client: TinyClient, change: dict[str, Any]
) -> None:
    assert refused(client.ask("POST", DEFINITIONS, {**GROUPS, **change})) == (422, "Invalid")


def test_events_of_both_groups_are_heard(api: ServedApi, client: TinyClient) -> None:
    told = []
    api.store.on_event = told.append
    old = {"metadata": {"name": "e"}, "reason": "Scheduled", "message": "m"}
    new = {"metadata": {"name": "f"}, "reason": "FailedScheduling", "note": "n"}
    assert client.ask("POST", f"{SPACE}/events", old)[0] == 201
    assert client.ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events", new)[0] == 201
    assert client.ask("PATCH", f"{SPACE}/events/e", {"count": 2}, STRATEGIC)[0] == 200
    assert [each["reason"] for each in told] == ["Scheduled", "FailedScheduling", "Scheduled"]
    listed = client.get(f"{SPACE}/events")["items"]
    assert [each["message"] for each in listed] == ["m", "n"]
    assert api.store.count(EVENTS) == 2


def test_leases_can_be_held(client: TinyClient) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    lease = {"metadata": {"name": "kube-scheduler"}, "spec": {"holderIdentity": "me"}}
    assert client.ask("POST", leases, lease)[0] == 201
    held = client.get(f"{leases}/kube-scheduler")
    held["spec"]["renewTime"] = "2020-01-01T00:00:00.000000Z"
    assert client.ask("PUT", f"{leases}/kube-scheduler", held)[0] == 200
    assert refused(client.ask("PUT", f"{leases}/kube-scheduler", held)) == (409, "Conflict")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("POST", "/api/v1/pods", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", "/api/v1/pods/a", 404),
        ("GET", "/apis/unknown.org/v1/things", 404),
        ("GET", "/apis/apps/nonsense/deployments", 404),
        ("GET", "/api/v2/pods", 404),
        ("GET", f"{POD}/log", 404),
        ("GET", f"{POD}/binding", 405),
        ("PUT", "/api/v1/nodes", 405),
        ("POST", POD, 405),
        ("POST", "/version", 405),
        ("GET", "/nowhere", 404),
        ("GET", f"{POD}/status/more", 404),
    ],
)
def test_paths_that_lead_nowhere_are_refused(
    client: TinyClient, method: str, path: str, code: int
) -> None:
    body = {"metadata": {"name": "a"}} if method in ("POST", "PUT") else None
    assert refused(client.ask(method, path, body))[0] == code


def test_a_namespace_has_a_status_of_its_own(client: TinyClient) -> None:
    assert client.get("/api/v1/namespaces/default")["status"] == {"phase": "Active"}
    assert client.get("/api/v1/namespaces/default/status")["kind"] == "Namespace"
