"""HTTP/1.1 as schedulers and kubectl speak it: keep-alive, chunked streams, limits, a token.

Requests are answered in the order they come, at once, inside the event loop that the server was
started in. The server listens on the loopback interface only. There is no TLS; since clients that
read a kubeconfig send no token without it, the token may also be the first part of the path, as it
is in `Server.url`.
"""

from __future__ import annotations

import asyncio
import hmac
import selectors
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from noctule.errors import InputError
from noctule.kube.http_reading import Request, RequestReader
from noctule.kube.refusals import Refusal

_encode = msgspec.json.Encoder().encode

_PHRASES = {
    200: "OK",
    201: "Created",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    409: "Conflict",
    410: "Gone",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler gives back at once."""

    body: bytes
    code: int = 200
    content_type: str = "application/json"


class Stream(Protocol):
    """What a handler gives back bit by bit: it sends until either side closes."""

    content_type: str
    # seconds after which the server ends it, if it does
    timeout: float | None

    def open(self, send: Callable[[bytes], None], end: Callable[[], None]) -> None:
        """Begin: `send` takes pieces, `end` closes the stream in good order."""
        ...

    def ending(self) -> None:
        """The timeout is over; what is sent now is still received."""
        ...

    def close(self) -> None:
        """The client has gone, or the server closes: nothing can be sent any more."""
        ...


class Handler(Protocol):
    """What requests mean."""

    def handle(self, request: Request) -> Answer | Stream:
        """Carry a request out; raises `Refusal` where it does not."""
        ...


def refused(refusal: Refusal) -> Answer:
    """The answer that tells a client why not."""
    return Answer(_encode(refusal.status()), refusal.code)


class Server:
    """Listens on the loopback interface, and has a handler answer.

    Args:
        api: what requests mean.
        token: what clients must know; None lets everybody in.
        most_connections: further ones are refused.
        most_unsent: bytes that may wait for a client for longer than it takes it to read some;
            with 16 times as many it is cut off at once.
        patience: seconds a client may take to go on with what it does: to send the rest of a
            request, or to read when too much waits for it.

    Attributes:
        failure: the first error of a handler that is not a refusal, for whoever runs the server;
            its client was told of an internal error.
        closings: why connections were cut off, the latest ones.
    """

    def __init__(
        self,
        api: Handler,
        token: str | None = None,
        *,
        most_connections: int = 512,
        most_unsent: int = 64 * 1024 * 1024,
        patience: float = 60.0,
    ) -> None:
        self.api = api
        self.token = token
        self.most_connections = most_connections
        self.most_unsent = most_unsent
        self.patience = patience
        self.failure: Exception | None = None
        self.closings: deque[str] = deque(maxlen=100)
        self.connections: set[Connection] = set()
        self.port = 0
        self._listening: asyncio.Server | None = None
        self._sockets = selectors.DefaultSelector()

    @property
    def url(self) -> str:
        """Where the API is, with the token in the path if there is one."""
        return f"http://127.0.0.1:{self.port}" + (f"/{self.token}" if self.token else "")

    async def start(self, port: int = 0) -> None:
        """Begin to listen; port 0 takes one that is free."""
        loop = asyncio.get_running_loop()
        try:
            self._listening = await loop.create_server(
                lambda: Connection(self, loop), "127.0.0.1", port, backlog=128
            )
        except (OSError, OverflowError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
            raise InputError(f"port {port}: cannot listen on 127.0.0.1: {reason}") from None
        listener = self._listening.sockets[0]
        self.port = listener.getsockname()[1]
        self._sockets.register(listener.fileno(), selectors.EVENT_READ)

    async def close(self) -> None:
        """Stop listening, end all streams and close all connections."""
        if self._listening is None:
            return
        listening, self._listening = self._listening, None
        listening.close()
        for connection in tuple(self.connections):
            connection.finish()
        await asyncio.sleep(0)
        for connection in tuple(self.connections):
            connection.abort()
        await asyncio.sleep(0)
        await listening.wait_closed()
        self._sockets.close()

    def unread_requests(self) -> int:
        """How many connections have sent something that is not answered yet.

        Counts new connections as well, and bytes that the loop has not read: with 0, and
        `unsent_bytes` 0, it is the clients' turn.
        """
        if self._listening is None:
            return 0
        begun = sum(connection.reader.waiting for connection in self.connections)
        return begun + len(self._sockets.select(0))

    def unsent_bytes(self) -> int:
        """How many bytes wait for clients that have not read what came before."""
        return sum(connection.unsent() for connection in self.connections)

    def follow(self, connection: Connection, fileno: int) -> None:
        """Count a connection in."""
        self.connections.add(connection)
        self._sockets.register(fileno, selectors.EVENT_READ)

    def forget(self, connection: Connection, fileno: int) -> None:
        """Count a connection out."""
        if connection in self.connections:
            self.connections.discard(connection)
            self._sockets.unregister(fileno)


class Connection(asyncio.Protocol):
    """One connection of a client: request after request, then perhaps a stream.

    Attributes:
        given: bytes that were written for the client, also those that wait to be sent.
        received: bytes that it has sent, as far as they were read.
        port: the server's.
        remote_port: the client's.
    """

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self.reader = RequestReader()
        self.given = self.received = self.port = self.remote_port = 0
        self._loop = loop
        self._stream: Stream | None = None
        self._chunked = True
        self._timer: asyncio.TimerHandle | None = None
        self._fileno = -1
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let the client in, unless there are too many."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        ours = transport.get_extra_info("socket")
        ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._fileno = ours.fileno()
        self.port = transport.get_extra_info("sockname")[1]
        peer = transport.get_extra_info("peername")  # None if it has gone already
        self.remote_port = peer[1] if peer else 0
        if len(self.server.connections) >= self.server.most_connections:
            self._cut(Refusal(503, f"more than {self.server.most_connections} connections"))
            return
        self.server.follow(self, self._fileno)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Forget the client and what it watched."""
        self.server.forget(self, self._fileno)
        self._stop_timer()
        if self._reading is not None:
            self._reading.cancel()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def pause_writing(self) -> None:
        """The client does not read: take no further requests from it until it does."""
        if self._stream is None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client has read: go on."""
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Answer the requests that are whole now."""
        self.received += len(data)
        if self._stream is not None or self._transport.is_closing():
            return
        self._stop_timer()
        self.reader.feed(data)
        try:
            while self._stream is None and not self._transport.is_closing():
                request = self.reader.next()
                if request is None:
                    break
                self._answer(request)
        except Refusal as refusal:
            self._cut(refusal)
            return
        if self._stream is None and self.reader.waiting and not self._transport.is_closing():
            self._await_rest()

    def unsent(self) -> int:
        """How many bytes the client has not taken yet."""
        return self._transport.get_write_buffer_size()

    def send(self, piece: bytes) -> None:
        """Send a piece of the stream."""
        if self._transport.is_closing():
            return
        chunk = b"%x\r\n%b\r\n" % (len(piece), piece) if self._chunked else piece
        self._give(chunk)
        unsent = self.unsent()
        if unsent > 16 * self.server.most_unsent:
            self._give_up()
        elif unsent > self.server.most_unsent and self._reading is None:
            self._expect_reading()

    def finish(self) -> None:
        """End a stream in good order, and the connection."""
        if self._stream is not None and self._chunked and not self._transport.is_closing():
            self._give(b"0\r\n\r\n")
        self._transport.close()

    def abort(self) -> None:
        """Close the connection whether the client has read everything or not."""
        self._transport.abort()

    def _give(self, piece: bytes) -> None:
        self.given += len(piece)
        self._transport.write(piece)

    def _answer(self, request: Request) -> None:
        try:
            self._admit(request)
            result = self.server.api.handle(request)
        except Refusal as refusal:
            result = refused(refusal)
        except Exception as failure:  # a defect here or in a hook must not end the other clients
            self.server.failure = self.server.failure or failure
            result = refused(Refusal(500, f"internal error: {type(failure).__name__}"))
        if isinstance(result, Answer):
            self._write(request, result)
            return
        try:
            self._begin(request, result)
        except Exception as failure:
            self.server.failure = self.server.failure or failure
            self._transport.abort()

    def _admit(self, request: Request) -> None:
        token = self.server.token
        if token is None:
            return
        first, _, rest = request.target[1:].partition("/")
        if _alike(first.partition("?")[0], token):
            request.target = f"/{rest}"
            return
        scheme, _, said = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not _alike(said.strip(), token):
            raise Refusal(401, "Unauthorized: the request does not carry the token of this server")

    def _write(self, request: Request, answer: Answer) -> None:
        head = (
            f"HTTP/1.1 {answer.code} {_PHRASES.get(answer.code, '')}\r\n"
            f"Content-Type: {answer.content_type}\r\nContent-Length: {len(answer.body)}\r\n"
        )
        if not request.keep_alive:
            head += "Connection: close\r\n"
        body = b"" if request.method == "HEAD" else answer.body
        self._give(head.encode() + b"\r\n" + body)
        if not request.keep_alive:
            self._transport.close()

    def _begin(self, request: Request, stream: Stream) -> None:
        self._stream = stream
        self._chunked = not request.old_version
        coding = "Transfer-Encoding: chunked\r\n" if self._chunked else "Connection: close\r\n"
        self._give(
            f"HTTP/1.1 200 OK\r\nContent-Type: {stream.content_type}\r\n{coding}\r\n".encode()
        )
        if stream.timeout is not None:
            self._timer = self._loop.call_later(stream.timeout, self._time_out)
        stream.open(self.send, self.finish)

    def _expect_reading(self) -> None:
        """Look later whether the client took something of what waits for it."""
        taken = self.given - self.unsent()

        def look() -> None:
            self._reading = None
            if self._transport.is_closing() or self.unsent() <= self.server.most_unsent:
                return
            if self.given - self.unsent() == taken:
                self._give_up()
            else:
                self._expect_reading()

        self._reading = self._loop.call_later(self.server.patience, look)

    def _give_up(self) -> None:
        self.server.closings.append(
            f"a client of {self._transport.get_extra_info('peername')} does not read what it "
            f"watches: {self.unsent()} bytes wait, expected at most {self.server.most_unsent}"
        )
        self._transport.abort()

    def _time_out(self) -> None:
        if self._stream is not None:
            self._stream.ending()
        self.finish()

    def _await_rest(self) -> None:
        if self.reader.expects_continue():
            self._give(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._timer = self._loop.call_later(
            self.server.patience,
            lambda: self._cut(
                Refusal(408, f"the rest of the request did not come in {self.server.patience:g} s")
            ),
        )

    def _cut(self, refusal: Refusal) -> None:
        self.server.closings.append(
            f"a client of {self._transport.get_extra_info('peername')}: {refusal.message}"
        )
        self._write(Request("GET", "/", {}, keep_alive=False), refused(refusal))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _alike(said: str, token: str) -> bool:
    return hmac.compare_digest(said.encode(), token.encode())
