"""Files with the hashes of what is in them: those that a run reads, and those that it writes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from noctule.errors import InputError


class FileHash(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file as it was: an input by its path as given, an output by its name."""

    path: str
    size: int
    sha256: str


def hash_of(path: str) -> FileHash:
    """Hash an input."""
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return FileHash(path=path, size=file.tell(), sha256=digest.hexdigest())
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: got a directory, expected a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def write_hashed(path: Path, pieces: Iterable[str]) -> FileHash:
    """Write a file down to the disk, and hash it on the way."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for piece in pieces:
            data = piece.encode()
            digest.update(data)
            file.write(data)
        file.flush()
        os.fsync(file.fileno())
        return FileHash(path=path.name, size=file.tell(), sha256=digest.hexdigest())


def hash_of_text(name: str, pieces: Iterable[str]) -> FileHash:
    """Hash an output that is not written."""
    digest = hashlib.sha256()
    size = 0
    for piece in pieces:
        data = piece.encode()
        size += len(data)
        digest.update(data)
    return FileHash(path=name, size=size, sha256=digest.hexdigest())


def sync(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
