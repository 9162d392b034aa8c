"""A Kubernetes client in a page: list, watch, bind, and anything else as a plain request."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


class TinyClient:
    def __init__(self, port: int, token: str | None = None) -> None:
        self.port = port
        self.headers = {"Accept": "application/json, */*"}
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.watches: list[Watching] = []

    def ask(
        self, method: str, path: str, body: Any = None, form: str = "application/json", **query: Any
    ) -> tuple[int, Any]:
        text = None if body is None else json.dumps(body)
        target = f"{path}?{urlencode(query)}" if query else path
        headers = {**self.headers, "Content-Type": form} if body is not None else self.headers
        self.connection.request(method, target, text, headers)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def get(self, path: str, **query: Any) -> Any:
        code, obj = self.ask("GET", path, **query)
        assert code == 200, obj
        return obj

    def bind(self, name: str, node: str, namespace: str = "default", **metadata: Any) -> Any:
        body = {
            "kind": "Binding",
            "apiVersion": "v1",
            "metadata": {"name": name, **metadata},
            "target": {"kind": "Node", "name": node},
        }
        return self.ask("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", body)

    def watch(self, path: str, **query: Any) -> Watching:
        self.watches.append(Watching(self, path, {"watch": "true", **query}))
        return self.watches[-1]

    def close(self) -> None:
        self.connection.close()
        for watch in self.watches:
            watch.close()


class Watching:
    """A watch that has begun: its events, one after the other."""

    def __init__(self, client: TinyClient, path: str, query: dict[str, Any]) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        self.connection.request("GET", f"{path}?{urlencode(query)}", headers=client.headers)
        self.answer = self.connection.getresponse()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        while line := self.answer.readline():
            event = json.loads(line)
            yield event["type"], event["object"]

    def next(self) -> tuple[str, Any]:
        return next(iter(self))

    def names(self, number: int) -> list[tuple[str, str]]:
        """The next events, as what happened to which object."""
        return [
            (kind, obj["metadata"]["name"]) for kind, obj in (self.next() for _ in range(number))
        ]

    def close(self) -> None:
        self.answer.close()
        self.connection.close()
