"""A page that follows what goes on: on loopback, while it lasts, for those who have its address.

The page that is served is a frame around ordinary pages: whenever there is something newer, and
somebody looks, it puts the newer one in the place of the older, with the same view of it. What is
shown is therefore made only when it is asked for.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from noctule.errors import InputError
from noctule.report.page import frame_text

#: What makes a page; it is called in a thread of the server, if somebody asks for the page.
Making = Callable[[], Iterable[str]]

_ADDRESS = "127.0.0.1"
# how long a question for something newer may stay open
_PATIENCE_S = 15.0
# between two pages; more if they take long to make
_PAUSE_S = 1.0
_PAUSE_BY_MAKING = 4.0
# for pages to fetch what was shown last
_FAREWELL_S = 10.0


class LivePage:
    """A page on loopback, under an address that cannot be guessed."""

    def __init__(self, title: str) -> None:
        """Listen at once, on a port that is free; show nothing yet."""
        self._changed = threading.Condition()
        self._title = title
        self._token = secrets.token_urlsafe(18)
        self._make: Making | None = None
        self._status = "Nothing has happened yet."
        self._revision = 0
        self._is_last = self._is_closed = False
        self._fetched = 0
        self._n_waiting = 0
        self._due = 0.0
        self._making = threading.Lock()
        try:
            self._server = _Server((_ADDRESS, 0), _Handler)
        except OSError as error:
            raise InputError(f"--watch: cannot listen on {_ADDRESS}: {error.strerror}") from None
        self._server.page = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_ADDRESS}:{self._server.server_port}/{self._token}/"

    @property
    def is_awaited(self) -> bool:
        """Whether somebody looks who could be shown something newer now."""
        return self._n_waiting > 0 and time.monotonic() >= self._due

    def show(self, make: Making, status: str, *, is_last: bool = False) -> None:
        """Offer a page that is newer, with a sentence on how far things are."""
        with self._changed:
            self._make, self._status, self._is_last = make, status, is_last
            self._revision += 1
            self._due = time.monotonic() + _PAUSE_S
            self._changed.notify_all()

    def close(self, *, patience: float = _FAREWELL_S) -> None:
        """Stop; wait a little for pages to fetch what was shown last, and for a first one."""
        with self._changed:
            if self._is_last:
                self._changed.wait_for(lambda: self._fetched == self._revision, patience)
            self._is_closed = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        """Give the page, which is closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Stop; at once if something went wrong."""
        self.close(patience=_FAREWELL_S if kind is None else 0.0)

    def answer(self, target: str) -> tuple[str, Iterable[str]] | None:
        """Return the kind and the pieces of what stands at an address; None if nothing does."""
        parts = urlsplit(target)
        _, token, *rest = parts.path.split("/")
        if not hmac.compare_digest(token.encode(), self._token.encode()) or len(rest) != 1:
            return None
        if rest == [""]:
            return "text/html", frame_text(self._title)
        if rest == ["state"]:
            after = parse_qs(parts.query).get("after", ["0"])[0]
            return "application/json", [self._state(int(after) if after.isdecimal() else 0)]
        if rest == ["page"]:
            return "text/html", self._page()
        return None

    def _state(self, after: int) -> str:
        """Tell the newest revision, as soon as it is newer than one that is known."""
        with self._changed:
            self._n_waiting += 1
            self._changed.wait_for(lambda: self._revision > after or self._is_closed, _PATIENCE_S)
            self._n_waiting -= 1
            if self._is_closed and not self._is_last:
                broken = f"{self._status} Then it was broken off."
                return json.dumps({"revision": after, "status": broken, "is_last": True})
            told = {"revision": self._revision, "status": self._status, "is_last": self._is_last}
            return json.dumps(told)

    def _page(self) -> Iterable[str]:
        with self._changed:
            make, revision = self._make, self._revision
        if make is None:
            return []
        # one at a time: two readers must not slow down what they look at
        with self._making:
            began = time.monotonic()
            pieces = list(make())
            took = time.monotonic() - began
        with self._changed:
            self._due = max(self._due, time.monotonic() + _PAUSE_BY_MAKING * took)
            self._fetched = revision
            self._changed.notify_all()
        return pieces


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    page: LivePage

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a reader who goes away in the middle of an answer is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "noctule"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        port = self.server.server_port
        # another site must not get at the page under a name of its own
        known = self.headers.get("Host") in (f"{_ADDRESS}:{port}", f"localhost:{port}")
        found = self.server.page.answer(self.path) if known else None
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind, pieces = found
        body = b"".join(piece.encode() for piece in pieces)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""
