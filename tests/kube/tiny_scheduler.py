"""A scheduler in a page: watches Pods, and puts each on the first node with room for it.

    python tiny_scheduler.py KUBECONFIG [NAME] [MISDEED] [...]

It is for tests, and can misbehave: `crash`, `stall`, `spin`, `twice`, `overcommit`, `ghost` (binds
to a node that is not there), `flood`, `silent` (never watches), `idle` (binds nothing),
`old` (talks a version of the API that there never was), `delete` (deletes what it has bound).
"""

from __future__ import annotations

import http.client
import json
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit


class Api:
    def __init__(self, kubeconfig: str) -> None:
        config = json.loads(Path(kubeconfig).read_text())
        place = urlsplit(config["clusters"][0]["cluster"]["server"])
        self.host, self.prefix = place.netloc, place.path
        self.connection = http.client.HTTPConnection(self.host)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict]:
        text = None if body is None else json.dumps(body)
        kind = {"Content-Type": "application/json"}
        self.connection.request(method, self.prefix + path, text, kind)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def watch(self, path: str):
        connection = http.client.HTTPConnection(self.host)
        connection.request("GET", f"{self.prefix}{path}?watch=true")
        answer = connection.getresponse()
        while line := answer.readline():
            event = json.loads(line)
            yield event["type"], event["object"]

    def bind(self, pod: str, node: str) -> int:
        body = {"metadata": {"name": pod}, "target": {"kind": "Node", "name": node}}
        return self.ask("POST", f"/api/v1/namespaces/default/pods/{pod}/binding", body)[0]


def thousandths(text: str) -> int:
    return int(text[:-1]) if text.endswith("m") else round(float(text) * 1000)


class Scheduler:
    def __init__(self, api: Api, name: str, misdeed: str) -> None:
        self.api, self.name, self.misdeed = api, name, misdeed
        nodes = api.ask("GET", "/api/v1/nodes")[1]["items"]
        self.free = {
            node["metadata"]["name"]: thousandths(node["status"]["allocatable"]["cpu"])
            for node in nodes
        }
        self.waiting: dict[str, int] = {}
        self.placed: dict[str, tuple[str, int]] = {}

    def run(self) -> None:
        for kind, pod in self.api.watch("/api/v1/pods"):
            name, phase = pod["metadata"]["name"], pod["status"]["phase"]
            if kind == "DELETED" or phase in ("Succeeded", "Failed"):
                self.waiting.pop(name, None)
                node, asked = self.placed.pop(name, (None, 0))
                if node is not None:
                    self.free[node] += asked
            else:
                self.see(name, pod["spec"])
            self.place()

    def see(self, name: str, spec: dict) -> None:
        asked = thousandths(spec["containers"][0]["resources"]["requests"]["cpu"])
        node = spec.get("nodeName")
        if node is None and spec["schedulerName"] == self.name:
            self.waiting[name] = asked
        elif node is not None and name not in self.placed:  # by somebody else
            self.free[node] -= asked
            self.placed[name] = (node, asked)

    def place(self) -> None:
        if self.waiting and self.misdeed:
            getattr(self, self.misdeed)()
        for name, asked in list(self.waiting.items()):
            node = next((node for node, left in self.free.items() if left >= asked), None)
            if node is not None:
                self.note(name, node)
                self.api.bind(name, node)

    def note(self, name: str, node: str) -> None:
        asked = self.waiting.pop(name)
        self.free[node] -= asked
        self.placed[name] = (node, asked)

    def crash(self) -> None:
        sys.stderr.write("out of ideas\n")
        sys.exit(3)

    def stall(self) -> None:
        signal.pause()

    def spin(self) -> None:
        while True:
            pass

    def idle(self) -> None:
        self.waiting.clear()

    def twice(self) -> None:
        name = next(iter(self.waiting))
        node = next(iter(self.free))
        for _ in range(2):
            self.api.bind(name, node)
        self.note(name, node)
        self.misdeed = ""

    def overcommit(self) -> None:
        first = next(iter(self.free))
        for name in list(self.waiting):
            if self.api.bind(name, first) == 201:
                self.note(name, first)

    def ghost(self) -> None:
        while True:
            self.api.bind(next(iter(self.waiting)), "atlantis")

    def flood(self) -> None:
        while True:
            self.api.ask("GET", "/api/v1/namespaces/default/pods/nobody")

    def delete(self) -> None:
        for name in list(self.placed):
            self.api.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")


def main(kubeconfig: str, name: str = "default-scheduler", misdeed: str = "", *_: str) -> None:
    api = Api(kubeconfig)
    if misdeed == "silent":
        while True:
            time.sleep(3600)
    if misdeed == "old":
        code, answer = api.ask("GET", "/apis/scheduling.example.com/v0/pods")
        sys.exit(f"{code}: {answer['message']}")
    Scheduler(api, name, misdeed).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
