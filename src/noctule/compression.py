"""Files as bytes, decompressed where their first bytes say so, whatever their name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path

from noctule.errors import InputError

_UTF8_MARK = b"\xef\xbb\xbf"


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a plain, gzip, xz or bzip2 file, without a leading UTF-8 mark."""
    where = os.fspath(path)
    data = _stored_bytes(where)
    for magic, name, decompress in _COMPRESSIONS:
        if data.startswith(magic):
            try:
                data = decompress(data)
            except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error):
                raise InputError(f"{where}: truncated or corrupt {name} data") from None
            break
    return data.removeprefix(_UTF8_MARK)


def _stored_bytes(where: str) -> bytes:
    try:
        return Path(where).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{where}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{where}: got a directory, expected a file") from None
    except PermissionError:
        raise InputError(f"{where}: no permission to read it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{where}: cannot be read: {reason}") from None


def _streams(data: bytes, new: Callable[[], lzma.LZMADecompressor | bz2.BZ2Decompressor]) -> bytes:
    """Decompress one or more streams after each other.

    The one-call functions of the standard library silently drop all that follows the first broken
    stream after a good one, and a log would lose its end.
    """
    parts = []
    while data:
        stream = new()
        parts.append(stream.decompress(data))
        if not stream.eof:
            raise EOFError
        data = stream.unused_data.lstrip(b"\0")  # xz pads between streams with zeros
    return b"".join(parts)


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", "gzip", gzip.decompress),
    (b"\xfd7zXZ\0", "xz", lambda data: _streams(data, lzma.LZMADecompressor)),
    (b"BZh", "bzip2", lambda data: _streams(data, bz2.BZ2Decompressor)),
)
