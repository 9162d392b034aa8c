"""Bytes that were sent count as under way until the other end has them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from noctule.kube.deliveries import Counts, Deliveries

Pair = tuple[socket.socket, socket.socket]


@dataclass
class End:
    """What our end of a connection has given and received, as its program counts."""

    given: int
    received: int
    port: int
    remote_port: int

    @classmethod
    def of(cls, ours: socket.socket, given: int, received: int) -> End:
        return cls(given, received, ours.getsockname()[1], ours.getpeername()[1])


@pytest.fixture
def deliveries() -> Iterator[Deliveries]:
    deliveries = Deliveries()
    yield deliveries
    deliveries.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A connection that cannot hold much: our end, and that of a client."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(listener.getsockname())
            ours, _ = listener.accept()
            with ours:
                yield ours, client


def settled(deliveries: Deliveries, *ends: End) -> list[Counts | None]:
    """What has arrived once the kernel has done its work, which others may delay."""
    for _ in range(10_000):
        counts = deliveries.arrived(ends)
        if counts is not None:
            return counts
    pytest.fail("something was under way all the time")


def fill(sender: socket.socket) -> int:
    """Send more than the other end takes."""
    sender.setblocking(False)
    n_bytes = 0
    try:
        while True:
            n_bytes += sender.send(bytes(65536))
    except BlockingIOError:
        return n_bytes


def drain(receiver: socket.socket, n_bytes: int) -> None:
    receiver.settimeout(10)
    while n_bytes:
        n_bytes -= len(receiver.recv(65536))


def test_what_has_arrived_is_counted_whether_the_client_has_read_it_or_not(
    deliveries: Deliveries, pair: Pair
) -> None:
    ours, client = pair
    ours.send(b"seven b")
    client.send(b"three")
    assert client.recv(2) == b"se"
    assert settled(deliveries, End.of(ours, 7, 5)) == [Counts(given=5, received=7)]


def test_what_was_not_read_here_is_under_way(deliveries: Deliveries, pair: Pair) -> None:
    ours, client = pair
    client.send(b"three")
    assert settled(deliveries, End.of(ours, 0, 5)) == [Counts(given=5, received=0)]
    assert deliveries.arrived([End.of(ours, 0, 0)]) is None


def test_bytes_that_the_client_has_no_room_for_are_under_way(
    deliveries: Deliveries, pair: Pair
) -> None:
    ours, client = pair
    n_bytes = fill(ours)
    end = End.of(ours, n_bytes, 0)
    assert deliveries.arrived([end]) is None
    drain(client, n_bytes)
    assert settled(deliveries, end) == [Counts(given=0, received=n_bytes)]


def test_nothing_is_under_way_to_a_client_that_is_gone(deliveries: Deliveries, pair: Pair) -> None:
    ours, client = pair
    ours.send(b"never read")
    end = End.of(ours, 10, 0)
    client.close()
    assert settled(deliveries, end) == [None]


def test_many_connections_are_asked_about_at_once(deliveries: Deliveries, pair: Pair) -> None:
    ours, client = pair
    client.send(b"1")
    assert settled(deliveries, *[End.of(ours, 0, 1)] * 300) == [Counts(1, 0)] * 300


def test_a_kernel_that_does_not_tell_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch, pair: Pair
) -> None:
    ours, _ = pair
    end = End.of(ours, fill(ours), 0)

    def refused(*_: object) -> socket.socket:
        raise OSError(93, "Protocol not supported")

    monkeypatch.setattr("noctule.kube.deliveries.socket.socket", refused)
    assert Deliveries().arrived([end]) == [None]
