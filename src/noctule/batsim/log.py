"""What Batsim tells on standard error, as far as scripts read it: messages that come and go."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import TextIO

_NOW = re.compile(rb'\{"now":([0-9.]+)')
# Batsim numbers its processes; the first of those that ask the scheduler is the third.
_FIRST_PROCESS = 3


class Verbosity(StrEnum):
    """What is told on standard error."""

    QUIET = "quiet"
    NETWORK_ONLY = "network-only"
    INFORMATION = "information"
    DEBUG = "debug"


class BatsimLog:
    """Writes lines as Batsim does, as many as its verbosity asks for."""

    def __init__(self, stream: TextIO, verbosity: Verbosity, master: str) -> None:
        """Take where to write, how much, and the name of the host that the scheduler is on."""
        self._stream = stream
        self._verbosity = verbosity
        self._master = master

    def info(self, text: str, *, about: str = "batsim") -> None:
        """Say something that is good to know."""
        if self._verbosity in (Verbosity.INFORMATION, Verbosity.DEBUG):
            self._write(f"[0.000000] [{about}/INFO] {text}\n")

    def warn(self, text: str) -> None:
        """Say something that may be wrong."""
        if self._verbosity is not Verbosity.QUIET:
            self._write(f"[0.000000] [batsim/WARNING] {text}\n")

    def watching(self, channel: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
        """Return the channel, with a line for each message unless everything is quiet."""
        if self._verbosity is Verbosity.QUIET:
            return channel
        process = _FIRST_PROCESS - 1

        def exchange(request: bytes) -> bytes:
            nonlocal process
            process += 1
            match = _NOW.match(request)
            now = match[1].decode() if match else "0.000000"
            start = f"[{self._master}:Scheduler REQ-REP:({process}) {now}] [network/INFO]"
            self._write(f"{start} Sending '{_text(request)}'\n")
            reply = channel(request)
            self._write(f"{start} Received '{_text(reply)}'\n")
            return reply

        return exchange

    def _write(self, line: str) -> None:
        # nobody listening must not end a run
        with suppress(OSError, ValueError, AttributeError):
            self._stream.write(line)
            self._stream.flush()


def _text(message: bytes) -> str:
    return message.decode("utf-8", "backslashreplace")
