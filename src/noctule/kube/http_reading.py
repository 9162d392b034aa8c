"""Requests of HTTP/1.1 out of the bytes of a connection, without a connection."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from noctule.kube.refusals import Refusal

LONGEST_HEAD = 64 * 1024
LONGEST_BODY = 3 * 1024 * 1024
_MOST_HEADERS = 200

_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) (/[!-~\x80-\xff]*) HTTP/1\.([01])")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*?)[ \t]*")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})(?:;[^\r\n]*)?")


@dataclass(slots=True)
class Request:
    """One request; names of headers are in small letters."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    keep_alive: bool = True
    old_version: bool = False
    _query: dict[str, str] | None = None

    @property
    def query(self) -> dict[str, str]:
        """The parameters after the question mark."""
        if self._query is None:
            text = self.target.partition("?")[2]
            try:
                pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=100) if text else ()
            except ValueError:
                raise Refusal(400, "the request has more than 100 parameters") from None
            self._query = dict(pairs)
        return self._query

    @property
    def steps(self) -> list[str]:
        """The parts of the path."""
        path = self.target.partition("?")[0]
        return [unquote(step) if "%" in step else step for step in path.split("/") if step]


class RequestReader:
    """Collects bytes until a request is whole.

    A `Refusal` says that the bytes are no request; nothing after it can be read.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._head: Request | None = None
        self._left = 0
        self._chunks: bytearray | None = None

    def feed(self, data: bytes) -> None:
        """Take in what arrived."""
        self._bytes += data

    @property
    def waiting(self) -> bool:
        """Whether a part of a request is here."""
        return self._head is not None or bool(self._bytes)

    def expects_continue(self) -> bool:
        """Whether the client wants to hear that it may send its body; asked once."""
        head = self._head
        if head is None or head.headers.get("expect", "").lower() != "100-continue":
            return False
        del head.headers["expect"]
        return True

    def next(self) -> Request | None:
        """The next request that is whole, if there is one."""
        if self._head is None:
            self._head = self._read_head()
            if self._head is None:
                return None
        head = self._head
        if self._chunks is not None:
            if not self._read_chunks(self._chunks):
                return None
            head.body = bytes(self._chunks)
        elif self._left:
            if len(self._bytes) < self._left:
                return None
            head.body = bytes(self._bytes[: self._left])
            del self._bytes[: self._left]
        self._head, self._chunks, self._left = None, None, 0
        return head

    def _read_head(self) -> Request | None:
        while self._bytes.startswith(b"\r\n"):
            del self._bytes[:2]
        end = self._bytes.find(b"\r\n\r\n")
        if end > LONGEST_HEAD or (end < 0 and len(self._bytes) > LONGEST_HEAD):
            raise Refusal(431, f"the head of the request is longer than {LONGEST_HEAD} bytes")
        if end < 0:
            return None
        line, *rest = bytes(self._bytes[:end]).split(b"\r\n")
        del self._bytes[: end + 4]
        found = _REQUEST_LINE.fullmatch(line)
        if found is None:
            raise Refusal(400, f"not a request of HTTP/1.1: {line[:80].decode('latin-1')!r}")
        headers = _headers(rest)
        self._find_body(headers)
        old = found[3] == b"0"
        connection = headers.get("connection", "keep-alive" if not old else "close").lower()
        return Request(
            found[1].decode("ascii"),
            found[2].decode("latin-1"),
            headers,
            keep_alive="close" not in connection,
            old_version=old,
        )

    def _find_body(self, headers: dict[str, str]) -> None:
        coding = headers.get("transfer-encoding")
        length = headers.get("content-length")
        if coding is not None:
            if coding.lower() != "chunked" or length is not None:
                raise Refusal(400, f"transfer-encoding {coding!r}: expected chunked, alone")
            self._chunks = bytearray()
        elif length is not None:
            if not (length.isascii() and length.isdigit()):
                raise Refusal(400, f"content-length {length[:40]!r}: expected a number")
            if len(length) > 12 or int(length) > LONGEST_BODY:
                raise Refusal(
                    413, f"the body has {length[:40]} bytes, expected at most {LONGEST_BODY}"
                )
            self._left = int(length)

    def _read_chunks(self, body: bytearray) -> bool:
        while True:
            end = self._bytes.find(b"\r\n")
            if end < 0:
                if len(self._bytes) > 1024:
                    raise Refusal(400, "the length of a chunk does not end")
                return False
            found = _CHUNK.fullmatch(self._bytes[:end])
            if found is None:
                raise Refusal(400, "a chunk does not begin with its length")
            size = int(found[1], 16)
            if len(body) + size > LONGEST_BODY:
                raise Refusal(413, f"the body has more than {LONGEST_BODY} bytes")
            whole = end + 2 + size + 2
            if len(self._bytes) < whole:
                return False
            if self._bytes[whole - 2 : whole] != b"\r\n":
                raise Refusal(400, "a chunk is not as long as it says, or has a trailer")
            body += self._bytes[end + 2 : whole - 2]
            del self._bytes[:whole]
            if size == 0:
                return True


def _headers(lines: list[bytes]) -> dict[str, str]:
    if len(lines) > _MOST_HEADERS:
        raise Refusal(431, f"the request has more than {_MOST_HEADERS} headers")
    headers: dict[str, str] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None:
            raise Refusal(400, f"not a header: {line[:80].decode('latin-1')!r}")
        name, value = found[1].decode("ascii").lower(), found[2].decode("latin-1")
        if name in ("content-length", "transfer-encoding") and headers.get(name, value) != value:
            raise Refusal(400, f"the request has two different {name}")
        headers[name] = (
            f"{headers[name]}, {value}" if name == "accept" and name in headers else value
        )
    return headers
