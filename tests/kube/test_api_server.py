"""The server itself: tokens, limits, clients that misbehave, what is left to be read."""

from __future__ import annotations

import asyncio
import json
import random
import re
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from cluster_objects import pod
from served_api import ServedApi, served
from tiny_client import TinyClient

from noctule.errors import InputError
from noctule.kube.api import Api
from noctule.kube.http import Server
from noctule.kube.store import PODS, Store

BINDING = (
    b"POST /api/v1/namespaces/default/pods/a/binding HTTP/1.1\r\nHost: x\r\n"
    b"Content-Type: application/json\r\nContent-Length: 33\r\n\r\n"
    b'{"target":{"kind":"","name":"n"}}'
)


def exchange(port: int, data: bytes) -> bytes:
    """Send bytes, and give back all that comes until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_token_is_asked_for_in_a_header_or_in_the_path() -> None:
    with served(token="secret") as api:
        stranger, friend = TinyClient(api.server.port), TinyClient(api.server.port, "secret")
        code, status = stranger.ask("GET", "/api/v1/pods")
        assert (code, status["reason"]) == (401, "Unauthorized")
        wrong = TinyClient(api.server.port, "wrong")
        assert wrong.ask("GET", "/version")[0] == 401
        assert friend.get("/api/v1/pods")["items"] == []
        assert stranger.get("/secret/api/v1/pods", limit=5)["items"] == []
        assert stranger.get("/secret")["paths"][0] == "/api"
        assert stranger.ask("GET", "/secretly/api/v1/pods")[0] == 401
        assert api.server.url == f"http://127.0.0.1:{api.server.port}/secret"
        for client in (stranger, friend, wrong):
            client.close()


def test_only_this_machine_can_connect() -> None:
    with served() as api:
        (listener,) = api.server._listening.sockets
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_an_error_in_a_sentence() -> None:
    with served() as api, pytest.raises(InputError, match=r"cannot listen on 127\.0\.0\.1: "):
        asyncio.run(Server(Api(Store())).start(api.server.port))


def test_protobuf_is_refused_unless_json_will_do() -> None:
    with served() as api:
        client = TinyClient(api.server.port)
        protobuf = "application/vnd.kubernetes.protobuf"
        client.headers["Accept"] = protobuf
        assert client.ask("GET", "/api/v1/pods")[0] == 406
        client.headers["Accept"] = f"{protobuf},application/json"
        assert client.ask("GET", "/api/v1/pods")[0] == 200
        assert client.ask("POST", "/api/v1/nodes", {}, form=protobuf)[0] == 415
        client.close()


def test_what_is_no_json_is_refused() -> None:
    with served() as api:
        for body in (b"{", b"\xff", b"[" * 100_000, b"", b"NaN"):
            head = b"POST /api/v1/nodes HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            assert exchange(api.server.port, head % len(body) + body).startswith(b"HTTP/1.1 400 ")


def test_requests_one_after_the_other_are_answered_in_order() -> None:
    with served() as api:
        api.call(api.store.put, PODS, pod("a"))
        last = BINDING.replace(b"Host: x", b"Connection: close")
        answer = exchange(api.server.port, BINDING + b"GET /version HTTP/1.1\r\n\r\n" + last)
        assert re.findall(rb"HTTP/1.1 (\d+) ", answer) == [b"201", b"200", b"409"]


def test_a_client_that_waits_for_a_word_before_its_body_gets_it() -> None:
    with served() as api, socket.create_connection(("127.0.0.1", api.server.port)) as connection:
        head, _, body = BINDING.partition(b"\r\n\r\n")
        connection.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert api.server.unread_requests() == 1
        connection.sendall(body)
        assert connection.recv(1000).startswith(b"HTTP/1.1 404 ")


def test_a_head_without_a_body_and_an_old_client() -> None:
    with served() as api:
        answer = exchange(api.server.port, b"HEAD /version HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert answer.endswith(b"\r\n\r\n")
        api.call(api.store.put, PODS, pod("a"))
        with socket.create_connection(("127.0.0.1", api.server.port), timeout=60) as connection:
            connection.sendall(b"GET /api/v1/pods?watch=1 HTTP/1.0\r\n\r\n")
            with connection.makefile("rb") as stream:
                while stream.readline() != b"\r\n":
                    pass
                assert json.loads(stream.readline())["type"] == "ADDED"


def test_a_request_that_does_not_end_is_given_up() -> None:
    with served(patience=0.05) as api:
        with socket.create_connection(("127.0.0.1", api.server.port), timeout=60) as connection:
            connection.sendall(b"GET /api")
            assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
            assert connection.recv(1000) == b""
        assert "the rest of the request did not come in 0.05 s" in api.server.closings[-1]


def test_more_connections_than_allowed_are_refused_and_the_others_stay() -> None:
    with served(most_connections=2) as api:
        clients = [TinyClient(api.server.port) for _ in range(2)]
        for client in clients:
            client.get("/version")
        third = TinyClient(api.server.port)
        code, status = third.ask("GET", "/version")
        assert (code, status["message"]) == (503, "more than 2 connections")
        clients[0].close()
        until(lambda: len(api.server.connections) == 1)
        third.close()
        assert third.get("/version")["major"] == "1"
        assert clients[1].get("/version")["major"] == "1"
        for client in (clients[1], third):
            client.close()


def fill(api: ServedApi, pieces: int) -> None:
    """Change a pod of 100 kB so often without a pause."""
    big = pod("big")
    big["spec"]["filler"] = "x" * 100_000

    def flood() -> None:
        for _ in range(pieces):
            api.store.put(PODS, big)

    api.call(flood)


@pytest.mark.parametrize(("patience", "pieces"), [(0.02, 100), (60, 300)])
def test_a_watcher_that_does_not_read_is_cut_off_and_the_others_hear_on(
    patience: float, pieces: int
) -> None:
    with served(most_unsent=1_000_000, patience=patience) as api:
        with socket.create_connection(("127.0.0.1", api.server.port)) as sleeper:
            sleeper.sendall(b"GET /api/v1/pods?watch=true HTTP/1.1\r\n\r\n")
            until(lambda: api.store.watchers(PODS) == 1)
            fill(api, pieces)
            until(lambda: api.store.watchers(PODS) == 0)
        assert "does not read what it watches" in api.server.closings[-1]
        client = TinyClient(api.server.port)
        assert len(client.get("/api/v1/pods")["items"]) == 1
        client.close()


def test_a_watcher_that_reads_slowly_gets_everything() -> None:
    with served(most_unsent=1_000_000, patience=0.2) as api:
        client = TinyClient(api.server.port)
        watch = client.watch("/api/v1/pods")
        fill(api, 100)
        assert api.server.unsent_bytes() > 1_000_000
        assert len(watch.names(100)) == 100
        assert not api.server.closings
        client.close()


def test_no_room_is_said_rather_than_found_out() -> None:
    with served(Store(most_objects=1)) as api:
        client = TinyClient(api.server.port)
        budgets = "/apis/policy/v1/namespaces/x/poddisruptionbudgets"
        assert client.ask("POST", budgets, {"metadata": {"name": "a"}})[0] == 201
        code, status = client.ask("POST", budgets, {"metadata": {"name": "b"}})
        assert (code, status["reason"]) == (429, "TooManyRequests")
        client.close()


def test_a_watch_that_is_closed_is_forgotten() -> None:
    with served() as api:
        client = TinyClient(api.server.port)
        client.watch("/api/v1/pods", resourceVersion="1")
        until(lambda: api.store.watchers(PODS) == 1)
        before = api.store.activity
        client.close()
        until(lambda: api.store.watchers(PODS) == 0)
        assert api.store.activity > before


def test_bytes_that_the_loop_has_not_read_are_unread_requests() -> None:
    """As a bridge does that drives the loop itself, step by step."""
    store = Store()
    loop = asyncio.new_event_loop()
    server = Server(Api(store))
    loop.run_until_complete(server.start())
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        until(lambda: server.unread_requests() == 1)  # the connection itself
        loop.run_until_complete(asyncio.sleep(0.01))
        assert server.unread_requests() == 0
        connection.sendall(BINDING[:50])
        until(lambda: server.unread_requests() == 1)
        loop.run_until_complete(asyncio.sleep(0.01))
        assert server.unread_requests() == 1  # a part of a request
        activity = store.activity
        connection.sendall(BINDING[50:])
        until(lambda: server.unread_requests() == 2)
        loop.run_until_complete(asyncio.sleep(0.01))
        assert (server.unread_requests(), server.unsent_bytes()) == (0, 0)
        assert store.activity > activity
        assert connection.recv(1000).startswith(b"HTTP/1.1 404 ")
    loop.run_until_complete(server.close())
    assert server.unread_requests() == 0
    loop.close()


SEEDS = [
    BINDING,
    b"GET /api/v1/pods?watch=true&timeoutSeconds=1&fieldSelector=a%3Db HTTP/1.1\r\n\r\n",
    b"GET /api/v1/pods?limit=1&continue=abc&labelSelector=a+in+(b) HTTP/1.1\r\n\r\n",
    b"PATCH /api/v1/namespaces/default/pods/a HTTP/1.1\r\nContent-Type: "
    b"application/json-patch+json\r\nContent-Length: 47\r\n\r\n"
    b'[{"op":"add","path":"/metadata/x","value":"y"}] ',
    b"PATCH /api/v1/namespaces/default/pods/a/status HTTP/1.1\r\nContent-Type: "
    b"application/strategic-merge-patch+json\r\nContent-Length: 45\r\n\r\n"
    b'{"status":{"conditions":[{"type":"Ready"}]}}\n',
    b"PUT /api/v1/namespaces/default/pods/a HTTP/1.1\r\nContent-Length: 31\r\n\r\n"
    b'{"metadata":{"name":"a"}      }',
    b"DELETE /api/v1/namespaces/default/pods/a HTTP/1.1\r\nContent-Length: 33\r\n\r\n"
    b'{"gracePeriodSeconds":5         }',
]


def damaged(chance: random.Random) -> bytes:
    data = bytearray(chance.choice(SEEDS))
    for _ in range(chance.randint(0, 6)):
        place = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data[place] = chance.randrange(256)
            case 1:
                del data[place : place + chance.randint(1, 8)]
            case _:
                data[place:place] = chance.choice([b"{", b"\r\n", b"null", b"/", b"%00", b"1e9"])
        if not data:
            break
    return bytes(data)


def test_damaged_requests_never_end_the_server() -> None:
    chance = random.Random(11)
    with served(Store(history=16), patience=0.2) as api:
        for _ in range(250):
            api.call(api.store.put, PODS, pod("a"))
            with socket.create_connection(("127.0.0.1", api.server.port), timeout=60) as connection:
                connection.sendall(damaged(chance))
                if chance.random() < 0.5:
                    connection.settimeout(0.002)
                    try:
                        answer = connection.recv(65536)
                    except TimeoutError:
                        continue
                    assert not answer or answer.startswith(b"HTTP/1.1 ")
                    assert not answer.startswith(b"HTTP/1.1 500"), answer
        client = TinyClient(api.server.port)
        assert client.get("/api/v1/namespaces/default/pods/a")["kind"] == "Pod"
        client.close()
        assert api.server.failure is None
