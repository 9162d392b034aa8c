"""Bytes that programs have sent to each other and that have not arrived, from /proc/net/tcp.

Two programs may both wait while the kernel holds back what one has sent (a small piece behind
another that nobody has acknowledged, for 40 ms of real time): then neither has come to rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_SOCKET = re.compile(r"socket:\[(\d+)\]")


class Socket(NamedTuple):
    """One end of a connection: its ports, bytes that nobody has acknowledged, and its number."""

    port: int
    remote_port: int
    n_unacknowledged: int
    inode: int


def is_under_way(processes: Iterable[int]) -> bool:
    """Tell whether something that processes have sent, or that was sent to them, is on its way."""
    own = {inode for process in processes for inode in _sockets_of(process)}
    sockets = list(_sockets())
    ports = {socket.port for socket in sockets if socket.inode in own}
    return any(
        socket.n_unacknowledged and (socket.inode in own or socket.remote_port in ports)
        for socket in sockets
    )


def _sockets_of(process: int) -> Iterator[int]:
    with suppress(OSError):
        for link in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                found = _SOCKET.match(str(link.readlink()))
                if found:
                    yield int(found[1])


def _sockets() -> Iterator[Socket]:
    for table in _TABLES:
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                words = line.split()
                yield Socket(
                    int(words[1].rpartition(":")[2], 16),
                    int(words[2].rpartition(":")[2], 16),
                    int(words[4].partition(":")[0], 16),
                    int(words[9]),
                )
