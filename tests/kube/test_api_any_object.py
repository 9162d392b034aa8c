"""Objects of any shape: the API stores them or refuses them, and can always show what it has."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_client import APPLY, JSON_PATCH, MERGE, STRATEGIC

from noctule.kube.api import Api
from noctule.kube.http import Answer
from noctule.kube.http_reading import Request
from noctule.kube.refusals import Refusal
from noctule.kube.store import Store

SPACE = "/api/v1/namespaces/default"
COLLECTIONS = [
    f"{SPACE}/pods",
    "/api/v1/nodes",
    f"{SPACE}/events",
    "/apis/events.k8s.io/v1/namespaces/default/events",
    f"{SPACE}/services",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/example.org/v1/queues",
    "/api/v1/namespaces",
]
NAMES = """
name namespace uid resourceVersion labels annotations finalizers generateName creationTimestamp
deletionTimestamp deletionGracePeriodSeconds ownerReferences nodeName conditions type status phase
containers containerStatuses restartCount nodeInfo addresses schedulingGates unschedulable
terminationGracePeriodSeconds group names plural kind scope versions served storage subresources
additionalPrinterColumns jsonPath priority shortNames singular regarding note spec metadata target
$patch $setElementOrder/containers $retainKeys $deleteFromPrimitiveList/finalizers op path from
value
"""
TEXTS = """
a b n1 replace delete /metadata/labels /spec - example.org queues v1 Queue add .spec.x
queues.example.org Cluster Pod Event Binding
"""
WORDS = st.sampled_from(NAMES.split())
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-1, 3), st.sampled_from(TEXTS.split()))
JSON = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
QUEUES = {
    "metadata": {"name": "queues.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Cluster",
        "names": {"plural": "queues", "kind": "Queue"},
        "versions": [{"name": "v1"}],
    },
}


@st.composite
def objects(draw: st.DrawFn) -> Any:
    """Something that looks like an object at first sight, mostly."""
    if draw(st.integers(0, 9)) == 0:
        return draw(JSON)
    if draw(st.integers(0, 4)) == 0:
        spec = {**QUEUES["spec"], **draw(st.dictionaries(WORDS, JSON, max_size=2))}
        return {**QUEUES, "spec": spec}
    metadata = {"name": draw(st.sampled_from("ab"))}
    metadata |= draw(st.dictionaries(WORDS, JSON, max_size=2))
    rest = draw(st.dictionaries(WORDS, JSON, max_size=3))
    return {"spec": draw(st.dictionaries(WORDS, JSON, max_size=4)), **rest, "metadata": metadata}


@st.composite
def requests(draw: st.DrawFn) -> Request:
    path = draw(st.sampled_from(COLLECTIONS))
    method = draw(st.sampled_from(["POST", "POST", "PUT", "PATCH", "DELETE"]))
    body = draw(objects())
    form = "application/json"
    if method != "POST" or draw(st.integers(0, 3)) == 0:
        path += "/" + draw(st.sampled_from(["a", "b", "queues.example.org"]))
        path += draw(st.sampled_from(["", "", "/status", "/binding", "/eviction"]))
    if method == "PATCH":
        form = draw(st.sampled_from([MERGE, STRATEGIC, JSON_PATCH, APPLY]))
        if form == JSON_PATCH:
            body = draw(st.lists(st.fixed_dictionaries({"op": JSON, "path": JSON, "value": JSON})))
    return Request(method, path, {"content-type": form}, json.dumps(body).encode())


@pytest.mark.slow
@given(st.lists(requests(), max_size=12))
def test_whatever_clients_send_the_api_goes_on(sent: list[Request]) -> None:
    store = Store(now=lambda: 0.0, history=4)
    api = Api(store)
    store.on_bind = lambda pod, node: None
    store.on_delete = lambda pod, grace: None
    for request in sent:
        with suppress(Refusal):
            api.handle(request)
    table = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    for path in COLLECTIONS:
        for query in ("", "?fieldSelector=spec.nodeName=n1", "?labelSelector=a,b+notin+(c)"):
            for headers in ({}, table):
                with suppress(Refusal):
                    answer = api.handle(Request("GET", path + query, headers))
                    assert isinstance(answer, Answer)
                    assert json.loads(answer.body)["kind"]
    for path in ("/apis", "/openapi/v3", "/apis/example.org/v1"):
        with suppress(Refusal):
            api.handle(Request("GET", path, {}))
