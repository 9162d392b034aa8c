"""Bytes between the API and its clients that have not arrived, from the kernel's own counts.

What is sent to a socket of the same machine has usually arrived when the call returns. A busy
kernel leaves it to a thread of its own; then, for some milliseconds, sender and receiver both seem
to rest. Counts of a socket are read under its lock: bytes that count as received have woken who
waits for them.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple, Protocol

# Of the kernel's interface: sock_diag(7), linux/inet_diag.h, struct tcp_info of linux/tcp.h.
_SOCK_DIAG = 4
_BY_FAMILY = 20
_A_REQUEST = 1
_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBBI")
_ATTRIBUTE = struct.Struct("=HH")
_ANSWER_SIZE = _HEADER.size + 72
_ABOUT_TCP = 2
_ANYTHING = 0xFFFF_FFFF
_LOOPBACK = socket.inet_aton("127.0.0.1") + bytes(12)
_INFO = struct.Struct("=128xQ8xI52xQQ")  # bytes received, not sent yet, sent, sent again
_LARGEST_ANSWER = 4096
_AT_A_TIME = 64

_BACKLOG = "/proc/net/softnet_stat"
_BACKLOG_WORD = 11  # since Linux 5.10
_LARGEST_BACKLOG = 1 << 16


class Counts(NamedTuple):
    """How many bytes a program has given to a socket, and how many have come to it."""

    given: int
    received: int


class OurEnd(Protocol):
    """Our end of a connection: bytes that were written to it and read from it, and both ports."""

    given: int
    received: int
    port: int
    remote_port: int


class Deliveries:
    """Tells whether everything that was sent between sockets of this machine has arrived.

    Where the kernel does not tell, everything has.
    """

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._kernel: socket.socket | None = None
        self._backlog = -1
        self._asked: Sequence[OurEnd] = []
        self._questions: list[tuple[int, bytes]] = []
        self._place = 0  # of what is told about TCP
        try:
            self._kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG)
            self._opened.enter_context(self._kernel)
            backlog = os.open(_BACKLOG, os.O_RDONLY | os.O_CLOEXEC)
            self._opened.callback(os.close, backlog)
        except OSError:
            return
        if len(os.pread(backlog, _LARGEST_BACKLOG, 0).split(b"\n")[0].split()) > _BACKLOG_WORD:
            self._backlog = backlog

    def close(self) -> None:
        """Give the descriptors back."""
        self._opened.close()
        self._kernel, self._backlog = None, -1

    def arrived(self, connections: Sequence[OurEnd]) -> list[Counts | None] | None:
        """Return the counts of the other ends, None for those that are closed.

        None if something is under way, or not read here. Two equal answers say that nothing was
        sent in between.
        """
        if self._has_backlog():
            return None
        beyond = self._beyond(connections)
        for ours, theirs in zip(connections, beyond, strict=True):
            if theirs is not None and theirs != (ours.received, ours.given):
                return None
        return beyond

    def _has_backlog(self) -> bool:
        """Whether packets wait for the kernel: also those of connections that nobody knows yet."""
        if self._backlog < 0:
            return False
        processors = map(bytes.split, os.pread(self._backlog, _LARGEST_BACKLOG, 0).splitlines())
        return any(int(words[_BACKLOG_WORD], 16) for words in processors)

    def _beyond(self, connections: Sequence[OurEnd]) -> list[Counts | None]:
        """Ask the kernel about the other ends, some at a time: its answers must have room."""
        if self._kernel is None:
            return [None] * len(connections)
        if connections != self._asked:
            self._asked, self._questions = connections, _questions(connections)
        beyond: list[Counts | None] = []
        for n_answers, questions in self._questions:
            self._kernel.send(questions)
            beyond += [self._read(self._kernel.recv(_LARGEST_ANSWER)) for _ in range(n_answers)]
        return beyond

    def _read(self, answer: bytes) -> Counts | None:
        """Most answers are laid out like the one before."""
        if not _is_info(answer, self._place):
            self._place = _place_of_info(answer)
        return _counts(answer, self._place + _ATTRIBUTE.size) if self._place else None


def _questions(connections: Sequence[OurEnd]) -> list[tuple[int, bytes]]:
    """Return what to send to the kernel, and how many answers each message has."""
    groups = (connections[i : i + _AT_A_TIME] for i in range(0, len(connections), _AT_A_TIME))
    return [(len(group), b"".join(map(_question, group))) for group in groups]


def _question(connection: OurEnd) -> bytes:
    ports = struct.pack(">HH", connection.remote_port, connection.port)
    body = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 1 << (_ABOUT_TCP - 1), 0, _ANYTHING)
    body += ports + _LOOPBACK * 2 + struct.pack("=III", 0, _ANYTHING, _ANYTHING)
    return _HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _A_REQUEST, 0, 0) + body


def _is_info(answer: bytes, at: int) -> bool:
    """Whether a whole tcp_info is at a place of an answer."""
    if not _ANSWER_SIZE <= at <= len(answer) - _ATTRIBUTE.size - _INFO.size:
        return False
    return bool(_ATTRIBUTE.unpack_from(answer, at)[1] == _ABOUT_TCP)


def _place_of_info(answer: bytes) -> int:
    """Return where the tcp_info is; 0 where there is none: in an error, of a closed socket."""
    at = _ANSWER_SIZE
    while at + _ATTRIBUTE.size <= len(answer) and not _is_info(answer, at):
        size, _ = _ATTRIBUTE.unpack_from(answer, at)
        at += max(size + 3 & ~3, _ATTRIBUTE.size)
    return at if _is_info(answer, at) else 0


def _counts(info: bytes, at: int = 0) -> Counts:
    received, waiting, sent, repeated = _INFO.unpack_from(info, at)
    return Counts(sent - repeated + waiting, received)
