"""Every kind of request that two versions of kube-scheduler were seen to make is answered."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cluster_objects import node, pod

from noctule.kube.api import Api
from noctule.kube.http import Answer
from noctule.kube.http_reading import Request
from noctule.kube.store import NODES, PODS, Store

LINE = re.compile(r" *\d+ (\w+) (\S+)  accept=(.*) ct=(\S+)")


class Seen(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: Any


def traffic(shared: Path, version: str) -> list[Seen]:
    file = shared / "specs" / f"kube-traffic-{version}.txt"
    if not file.exists():
        pytest.skip(f"no recorded traffic in {file}; NOCTULE_SHARED can name its folder")
    seen = []
    for line in file.read_text().splitlines():
        if found := LINE.fullmatch(line):
            method, target, accept, form = found.groups()
            seen.append(Seen(method, target, {"accept": accept, "content-type": form}, None))
        elif line.strip():
            seen[-1] = seen[-1]._replace(body=json.loads(line.partition("body: ")[2]))
    return seen


@pytest.mark.parametrize(("version", "kinds"), [("1.20.2", 25), ("1.36.4", 21)])
def test_what_kube_scheduler_asks_is_answered(shared: Path, version: str, kinds: int) -> None:
    seen = traffic(shared, version)
    assert len(seen) == kinds
    store = Store()
    api = Api(store)
    store.put(NODES, node("node-1"))
    watched: dict[str, list[Any]] = {}
    for each in seen:
        target = re.sub(r"(resourceVersion|timeout|timeoutSeconds)=N", r"\1=1", each.target)
        body = each.body
        if "NAME" in target:
            target = target.replace("NAME", body["metadata"]["name"])
            store.put(PODS, pod(body["metadata"]["name"]))
            del body["metadata"]["uid"]
        text = b"" if body is None else json.dumps(body).encode()
        answer = api.handle(Request(each.method, target, each.headers, text))
        if isinstance(answer, Answer):
            assert answer.code == (201 if each.method == "POST" else 200), target
        else:
            lines: list[bytes] = []
            answer.open(lines.append, lambda: pytest.fail("a watch ended"))
            watched[target.partition("?")[0]] = [json.loads(line) for line in lines]
    assert [each["type"] for each in watched["/api/v1/nodes"]][:1] == ["ADDED"]
    if version == "1.36.4":
        assert all(events[-1]["type"] == "BOOKMARK" for events in watched.values())
    assert store.get(PODS, body_name(seen), "default")["spec"]["nodeName"] == "node-1"


def body_name(seen: list[Seen]) -> str:
    (name,) = [each.body["metadata"]["name"] for each in seen if each.target.endswith("/binding")]
    return name
