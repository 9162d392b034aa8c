"""What the API says it offers, and tables as kubectl prints them."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_objects import node, pod
from served_api import START, ServedApi
from tiny_client import TinyClient

from noctule.kube.store import NODES, PODS, Resource
from noctule.kube.tables import duration

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
DEFINITIONS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", namespaced=False)
QUEUES = {
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "queues.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Cluster",
        "names": {"plural": "queues", "kind": "Queue", "shortNames": ["q"]},
        "versions": [
            {
                "name": "v1beta1",
                "storage": True,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Weight", "type": "integer", "jsonPath": ".spec.weight"},
                    {"name": "Odd", "type": "string", "jsonPath": ".spec.list[0]"},
                ],
            }
        ],
    },
}


def test_groups_versions_and_resources_are_listed(client: TinyClient) -> None:
    assert client.get("/api")["versions"] == ["v1"]
    groups = {group["name"]: group for group in client.get("/apis")["groups"]}
    assert groups["policy"]["preferredVersion"]["groupVersion"] == "policy/v1"
    assert client.get("/apis/policy")["name"] == "policy"
    core = client.get("/api/v1")
    pods = {entry["name"]: entry for entry in core["resources"]}
    assert core["groupVersion"] == "v1"
    assert (pods["pods"]["kind"], pods["pods"]["shortNames"]) == ("Pod", ["po"])
    assert pods["pods/binding"]["verbs"] == ["create"]
    assert pods["pods/eviction"]["group"] == "policy"
    assert not pods["nodes"]["namespaced"]
    assert "configmaps/status" not in pods
    assert client.get("/apis/events.k8s.io/v1")["resources"][0]["kind"] == "Event"
    for path in ("/apis/nothing.org", "/apis/nothing.org/v1", "/apis/policy/v7", "/api/v2"):
        assert client.ask("GET", path)[0] == 404


def test_both_forms_of_discovery_agree(api: ServedApi, client: TinyClient) -> None:
    api.call(api.store.put, DEFINITIONS, QUEUES)
    plain = {
        (group["name"], version["version"], entry["name"])
        for group in client.get("/apis")["groups"]
        for version in group["versions"]
        for entry in client.get(f"/apis/{version['groupVersion']}")["resources"]
    }
    client.headers["Accept"] = f"{AGGREGATED},application/json"
    aggregated = client.get("/apis")
    assert aggregated["apiVersion"] == "apidiscovery.k8s.io/v2"
    found = set()
    for item in aggregated["items"]:
        for version in item["versions"]:
            for entry in version["resources"]:
                place = (item["metadata"]["name"], version["version"])
                found.add((*place, entry["resource"]))
                for part in entry.get("subresources", ()):
                    found.add((*place, f"{entry['resource']}/{part['subresource']}"))
    assert found == plain
    assert ("example.org", "v1beta1", "queues/status") in found
    assert client.get("/api")["items"][0]["versions"][0]["version"] == "v1"


def test_kubectl_learns_that_the_server_checks_fields(api: ServedApi, client: TinyClient) -> None:
    api.call(api.store.put, DEFINITIONS, QUEUES)
    places = client.get("/openapi/v3")["paths"]
    assert places["api/v1"] == {"serverRelativeURL": "/openapi/v3/api/v1"}
    document = client.get(places["apis/example.org/v1beta1"]["serverRelativeURL"])
    patch = document["paths"]["/apis/example.org/v1beta1/queues/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Queue"
    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]
    assert client.ask("GET", "/openapi/v2")[0] == 404
    assert client.ask("GET", "/openapi/v3/apis/nothing.org/v1")[0] == 404


def test_the_server_tells_its_version_and_health(client: TinyClient) -> None:
    version = client.get("/version")
    assert (version["major"], version["minor"]) == ("1", "36")
    client.connection.request("GET", "/healthz")
    assert client.connection.getresponse().read() == b"ok"


def cells(client: TinyClient, path: str, **query: Any) -> list[list[Any]]:
    client.headers["Accept"] = TABLE
    table = client.get(path, **query)
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    shown = [column["name"] for column in table["columnDefinitions"] if not column["priority"]]
    return [shown, *(row["cells"][: len(shown)] for row in table["rows"])]


def test_pods_and_nodes_are_tables(api: ServedApi, client: TinyClient) -> None:
    put = api.store.put
    api.call(put, NODES, node("n1", **{"node-role.kubernetes.io/gpu": ""}))
    api.call(put, NODES, {**node("n2"), "spec": {"unschedulable": True}})
    for name, phase in (("a", "Pending"), ("b", "Succeeded")):
        api.call(put, PODS, pod(name, phase))
    gone = pod("c")
    gone["metadata"]["deletionTimestamp"] = "2020-01-01T00:00:30Z"
    api.call(put, PODS, gone)
    api.store.now = lambda: START + 90
    assert cells(client, "/api/v1/nodes") == [
        ["Name", "Status", "Roles", "Age", "Version"],
        ["n1", "Ready", "gpu", "90s", "v1.36.0"],
        ["n2", "Ready,SchedulingDisabled", "<none>", "90s", "v1.36.0"],
    ]
    assert cells(client, "/api/v1/pods") == [
        ["Name", "Ready", "Status", "Restarts", "Age"],
        ["a", "0/1", "Pending", "0", "90s"],
        ["b", "0/1", "Completed", "0", "90s"],
        ["c", "0/1", "Terminating", "0", "90s"],
    ]
    assert cells(client, "/api/v1/namespaces/default/pods/a")[1][0] == "a"
    kind, table = client.watch("/api/v1/pods").next()
    assert (kind, table["rows"][0]["cells"][0]) == ("ADDED", "a")
    assert table["rows"][0]["object"]["metadata"]["name"] == "a"


def test_events_leases_and_custom_columns_are_tables(api: ServedApi, client: TinyClient) -> None:
    api.call(api.store.put, DEFINITIONS, QUEUES)
    queue = {"metadata": {"name": "q"}, "spec": {"weight": 3}}
    api.call(api.store.put, Resource("example.org", "v1beta1", "queues", namespaced=False), queue)
    event = {
        "metadata": {"name": "e"},
        "reason": "Scheduled",
        "type": "Normal",
        "involvedObject": {"kind": "Pod", "name": "a"},
        "message": "on n1",
    }
    client.ask("POST", "/api/v1/namespaces/default/events", event)
    lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
    client.ask("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", lease)
    assert cells(client, "/apis/example.org/v1beta1/queues")[1:] == [["q", "3"]]
    wanted = ["0s", "Normal", "Scheduled", "pod/a", "on n1"]
    assert cells(client, "/api/v1/events")[1:] == [wanted]
    assert cells(client, "/apis/events.k8s.io/v1/events")[1:] == [wanted]
    assert cells(client, "/apis/coordination.k8s.io/v1/leases")[1:] == [["l", "me", "0s"]]
    assert cells(client, "/api/v1/namespaces")[1:] == [
        ["default", "Active", "0s"],
        ["kube-system", "Active", "0s"],
    ]
    assert cells(client, "/api/v1/services")[0] == ["Name", "Age"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (150, "2m30s"),
        (600, "10m"),
        (10799, "179m"),
        (10800, "3h"),
        (14 * 1800, "7h"),
        (7 * 3600 + 120, "7h2m"),
        (47 * 3600, "47h"),
        (2 * 86400, "2d"),
        (3 * 86400 + 3600, "3d1h"),
        (9 * 86400 + 3600, "9d"),
        (800 * 86400, "2y70d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_ages_are_written_as_kubectl_does(seconds: int, text: str) -> None:
    assert duration(seconds) == text
