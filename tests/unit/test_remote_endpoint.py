"""Sockets that ask and answer, and what they say when the other side does not."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from noctule.errors import InputError, ProtocolError
from noctule.remote.endpoint import Answering, Asking, is_local

zmq = pytest.importorskip("zmq")


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/socket"


@pytest.fixture
def in_background() -> Iterator[Callable[[Callable[[], object]], None]]:
    threads: list[threading.Thread] = []

    def start(work: Callable[[], object]) -> None:
        threads.append(threading.Thread(target=work))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()


def echo(endpoint: str, n_times: int = 1) -> None:
    with Answering(endpoint, timeout=60) as answering:
        for _ in range(n_times):
            answering.reply(answering.receive().upper())


def test_a_request_gets_its_reply(endpoint: str, in_background: Any) -> None:
    in_background(lambda: echo(endpoint, 2))
    with Asking(endpoint, timeout=60) as ask:
        assert ask(b"one") == b"ONE"
        assert ask(b"two") == b"TWO"


def test_tcp_works_too(in_background: Any) -> None:
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        port = socket.bind_to_random_port("tcp://127.0.0.1")
    in_background(lambda: echo(f"tcp://127.0.0.1:{port}"))
    with Asking(f"tcp://localhost:{port}", timeout=60) as ask:
        assert ask(b"one") == b"ONE"


def test_the_side_that_asks_may_come_first(endpoint: str, in_background: Any) -> None:
    def late() -> None:
        time.sleep(0.4)
        echo(endpoint)

    in_background(late)
    with Asking(endpoint, timeout=60) as ask:
        assert ask(b"one") == b"ONE"


def test_a_peer_that_hangs_is_given_up_after_the_timeout(endpoint: str) -> None:
    with (
        Answering(endpoint),
        Asking(endpoint, timeout=0.3) as ask,
        pytest.raises(ProtocolError) as caught,
    ):
        ask(b"hello?")
    assert str(caught.value) == (
        f"{endpoint}: no reply came, after 0.3 s of waiting; --timeout sets how long that may be"
    )


def test_a_peer_that_dies_is_noticed_without_a_timeout(endpoint: str, in_background: Any) -> None:
    def die() -> None:
        with Answering(endpoint, timeout=60) as answering:
            answering.receive()

    in_background(die)
    with Asking(endpoint) as ask, pytest.raises(ProtocolError, match=r"the peer went away"):
        ask(b"hello?")


def test_a_server_notices_that_who_asked_has_gone(endpoint: str, in_background: Any) -> None:
    def ask_once() -> None:
        with Asking(endpoint, timeout=60) as ask:
            ask(b"one")

    in_background(ask_once)
    with Answering(endpoint) as answering:
        answering.reply(answering.receive())
        with pytest.raises(ProtocolError, match=r"the peer went away .* no request came"):
            answering.receive()


def test_a_server_waits_for_a_first_request_as_long_as_it_is_told(endpoint: str) -> None:
    with (
        Answering(endpoint, timeout=0.2) as answering,
        pytest.raises(ProtocolError, match=r"no request came, after 0.2 s"),
    ):
        answering.receive()


def test_a_message_that_is_too_long_is_quoted_from_its_beginning(
    endpoint: str, in_background: Any
) -> None:
    def babble() -> None:
        with Answering(endpoint, timeout=60) as answering:
            answering.receive()
            answering.reply(b"x" * 2000)

    in_background(babble)
    with (
        Asking(endpoint, timeout=60, most_bytes=1000) as ask,
        pytest.raises(ProtocolError, match=r"2000 bytes that begins with 'xxx.*expected at most"),
    ):
        ask(b"hello?")


def test_a_message_of_several_frames_is_refused(endpoint: str, in_background: Any) -> None:
    def split() -> None:
        with zmq.Context() as context, context.socket(zmq.REP) as socket:
            socket.bind(endpoint)
            socket.recv()
            socket.send_multipart([b"a", b"b", b"c"])

    in_background(split)
    with (
        Asking(endpoint, timeout=60) as ask,
        pytest.raises(ProtocolError, match="a message of 3 frames, expected 1"),
    ):
        ask(b"hello?")


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_the_waiting(endpoint: str) -> None:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with Asking(endpoint) as ask, pytest.raises(KeyboardInterrupt):
        ask(b"hello?")


def test_a_taken_endpoint_is_said_to_be_so(endpoint: str) -> None:
    port_of = "tcp://127.0.0.1:{}"
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        taken = port_of.format(socket.bind_to_random_port("tcp://127.0.0.1"))
        with pytest.raises(InputError, match=f"endpoint {taken}: cannot bind: address already"):
            Answering(taken).__enter__()


@pytest.mark.parametrize(
    "endpoint", ["", "28000", "localhost:28000", "tcp://localhost", "http://a:1"]
)
def test_what_is_no_endpoint_is_refused(endpoint: str) -> None:
    with pytest.raises(InputError, match="expected one such as tcp://localhost:28000"):
        Asking(endpoint)


def test_a_timeout_must_be_positive() -> None:
    with pytest.raises(InputError, match="timeout: got 0, expected a positive number of seconds"):
        Asking("tcp://localhost:1", timeout=0)


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [
        ("tcp://localhost:28000", True),
        ("tcp://127.0.0.1:28000", True),
        ("tcp://[::1]:28000", True),
        ("ipc:///tmp/x", True),
        ("tcp://*:28000", False),
        ("tcp://0.0.0.0:28000", False),
        ("tcp://example.org:28000", False),
    ],
)
def test_endpoints_that_others_can_reach_are_told_from_those_they_cannot(
    endpoint: str, local: bool
) -> None:
    assert is_local(endpoint) is local
    ask = Asking(endpoint)
    assert (ask.warning is None) is local
    ask.close()
