"""A decision component in a process of its own: protocol 5 over ZeroMQ."""

from __future__ import annotations

import struct
from typing import Self

from noctule.errors import ProtocolError
from noctule.remote.batsim5_reading import refuse_binary
from noctule.remote.endpoint import MOST_BYTES, Asking
from noctule.remote.reply_decoding import quoted

__all__ = ["EdcProcess"]


class EdcProcess(Asking):
    """Asks a component that binds, after a handshake with what it is to be initialised with.

    Attributes:
        hello: its first message, once the connection is open.
    """

    def __init__(
        self,
        endpoint: str,
        init: bytes,
        *,
        timeout: float | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Take where the component binds, what it gets first, and how long it may think."""
        super().__init__(endpoint, timeout=timeout, most_bytes=most_bytes)
        self._init = init
        self.hello = b""

    def __enter__(self) -> Self:
        """Connect, and shake hands."""
        super().__enter__()
        try:
            reply = super().__call__(struct.pack("=I", len(self._init)) + self._init)
            if len(reply) < struct.calcsize("=I"):
                raise ProtocolError(
                    f"{self.endpoint}: handshake: got {quoted(reply)}, "
                    "expected four bytes of flags and a hello"
                )
            (flags,) = struct.unpack_from("=I", reply)
            self.hello = reply[struct.calcsize("=I") :]
            refuse_binary(flags, self.hello, f"{self.endpoint}: handshake")
        except BaseException:
            self.close(abandon=True)
            raise
        return self

    def __call__(self, request: bytes) -> bytes:
        """Send a message, which ends with a NUL on this wire, and return the reply."""
        return super().__call__(request + b"\0")
