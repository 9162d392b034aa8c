"""The two ends of a wire: ZeroMQ sockets that ask and that answer, one message at a time.

The side that asks connects, the side that answers binds, as in Batsim; either may come first. A
message is one frame of bytes. Whoever waits can be interrupted (Ctrl-C), gives up after a time, and
is told when the other side goes away.
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
import re
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from noctule.errors import InputError, ProtocolError

if TYPE_CHECKING:
    import zmq

__all__ = ["Answering", "Asking"]

#: Longer messages are refused: nothing that a scheduler decides in one go is so long.
MOST_BYTES = 64 * 2**20
# A frame beyond this is not even received: the peer is cut off.
_MOST_RECEIVED = 16 * MOST_BYTES
# How often a waiting side looks whether the peer went away.
_LOOK_SECONDS = 0.2
# What a peer had sent before it went may still be on its way.
_GRACE_SECONDS = 0.5
_LINGER_MS = 1000


def is_local(endpoint: str) -> bool:
    """Say whether only this machine can be at the other side of an endpoint."""
    transport, _, address = endpoint.partition("://")
    if transport in ("ipc", "inproc"):
        return True
    host = address.rpartition(":")[0].rpartition(";")[2].strip("[]")
    if host in ("localhost", "lo"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Endpoint(ABC):
    """A socket with its timeout; closed when a `with` is left."""

    # A reply that was on its way when the peer went never comes; a request may come from another.
    _takes_another_peer = False

    def __init__(self, endpoint: str, timeout: float | None, most_bytes: int) -> None:
        if not re.fullmatch(r"(tcp://[^/]+:[^/:]+|ipc://.+)", endpoint):
            raise InputError(
                f"endpoint: got {endpoint!r}, expected one such as "
                "tcp://localhost:28000 or ipc:///tmp/scheduler"
            )
        if timeout is not None and not timeout > 0:
            raise InputError(f"timeout: got {timeout:g}, expected a positive number of seconds")
        self.endpoint = endpoint
        self.timeout = math.inf if timeout is None else timeout
        self.most_bytes = most_bytes
        self._zmq = _import_zmq()
        self._context = self._zmq.Context()
        self._socket: zmq.Socket[bytes] | None = None
        self._monitor: zmq.Socket[bytes] | None = None
        self._look_seconds = min(_LOOK_SECONDS, self.timeout)
        self._left_at: float | None = None

    @property
    def warning(self) -> str | None:
        """What a user should know about who may be at the other side, if not this machine."""
        if is_local(self.endpoint):
            return None
        return (
            f"endpoint {self.endpoint} reaches beyond this machine: nothing is encrypted, "
            "and whoever is there is believed"
        )

    def __enter__(self) -> Self:
        """Open the socket."""
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the socket; what was sent but not taken is given up when an error passes."""
        self.close(abandon=error is not None)

    def close(self, *, abandon: bool = False) -> None:
        """Give the socket back."""
        if self._socket is not None:
            with contextlib.suppress(self._zmq.ZMQError):
                self._socket.disable_monitor()
            if self._monitor is not None:
                self._monitor.close(linger=0)
            self._socket.close(linger=0 if abandon else _LINGER_MS)
            self._socket = self._monitor = None
        self._context.term()

    @abstractmethod
    def _open(self) -> None: ...

    def _make(self, kind: int) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self._context.socket(kind)
        socket.setsockopt(self._zmq.MAXMSGSIZE, _MOST_RECEIVED)
        socket.setsockopt(self._zmq.RCVTIMEO, max(1, round(1000 * self._look_seconds)))
        self._monitor = socket.get_monitor_socket(
            self._zmq.EVENT_DISCONNECTED | self._zmq.EVENT_HANDSHAKE_SUCCEEDED
        )
        self._socket = socket
        return socket

    def _attach(self, attach: Any, what: str) -> None:
        try:
            attach(self.endpoint)
        except self._zmq.ZMQError as error:
            reason = str(error)
            self.close(abandon=True)
            raise InputError(
                f"endpoint {self.endpoint}: cannot {what}: {reason[:1].lower()}{reason[1:]}"
            ) from None

    def _receive(self, waited_for: str) -> bytes:
        """Return the next message, of one frame."""
        socket, again = self._socket, self._zmq.Again
        assert socket is not None, "the endpoint is open"
        began = None
        while True:
            try:
                message = socket.recv()
            except again:
                pass
            else:
                break
            began = began or time.monotonic() - self._look_seconds
            self._give_up_if(waited_for, time.monotonic() - began)
        if socket.getsockopt(self._zmq.RCVMORE):
            n_frames = 1 + len(socket.recv_multipart())
            raise ProtocolError(f"{self.endpoint}: got a message of {n_frames} frames, expected 1")
        if len(message) > self.most_bytes:
            raise ProtocolError(
                f"{self.endpoint}: got a message of {len(message)} bytes that begins with "
                f"{message[:40].decode('utf-8', 'backslashreplace')!r}, "
                f"expected at most {self.most_bytes}"
            )
        return message

    def _give_up_if(self, waited_for: str, waited: float) -> None:
        self._look_for_peer()
        if self._left_at is not None and time.monotonic() - self._left_at > _GRACE_SECONDS:
            raise ProtocolError(
                f"{self.endpoint}: the peer went away (or sent more than {_MOST_RECEIVED} bytes); "
                f"no {waited_for} came, after {waited:.3g} s of waiting"
            )
        if waited >= self.timeout:
            raise ProtocolError(
                f"{self.endpoint}: no {waited_for} came, after {self.timeout:g} s of waiting; "
                "--timeout sets how long that may be"
            )

    def _look_for_peer(self) -> None:
        """Note whether the peer has gone, or has come back."""
        from zmq.utils.monitor import recv_monitor_message

        monitor = self._monitor
        while monitor is not None and monitor.poll(0):
            event = recv_monitor_message(monitor)["event"]
            if event == self._zmq.EVENT_DISCONNECTED and self._misses_peer():
                self._left_at = self._left_at or time.monotonic()
            elif event != self._zmq.EVENT_DISCONNECTED and self._takes_another_peer:
                self._left_at = None

    def _misses_peer(self) -> bool:
        return True


class Asking(_Endpoint):
    """Asks a peer: connects, sends a request, waits for the reply to it."""

    def __init__(
        self, endpoint: str, *, timeout: float | None = None, most_bytes: int = MOST_BYTES
    ) -> None:
        """Take where the peer binds, and how many seconds its reply may take (None: any)."""
        super().__init__(endpoint, timeout, most_bytes)

    def _open(self) -> None:
        socket = self._make(self._zmq.REQ)
        self._attach(socket.connect, "connect")

    def __call__(self, request: bytes) -> bytes:
        """Send a request and return the reply."""
        assert self._socket is not None, "the endpoint is open"
        self._socket.send(request)
        return self._receive("reply")


class Answering(_Endpoint):
    """Answers a peer: binds, waits for a request, sends the reply to it."""

    _takes_another_peer = True

    def __init__(
        self, endpoint: str, *, timeout: float | None = None, most_bytes: int = MOST_BYTES
    ) -> None:
        """Take where to bind, and how many seconds to wait for a request (None: for ever)."""
        super().__init__(endpoint, timeout, most_bytes)
        self._has_asked = False

    def _open(self) -> None:
        socket = self._make(self._zmq.REP)
        self._attach(socket.bind, "bind")

    def _misses_peer(self) -> bool:
        return self._has_asked

    def receive(self) -> bytes:
        """Wait for a request."""
        request = self._receive("request")
        self._has_asked = True
        return request

    def reply(self, message: bytes) -> None:
        """Answer the request."""
        assert self._socket is not None, "the endpoint is open"
        self._socket.send(message)


def _import_zmq() -> Any:
    try:
        import zmq
    except ImportError:
        raise InputError(
            "pyzmq is not installed, which endpoints need; pip install 'noctule[remote]' brings it"
        ) from None
    return zmq
