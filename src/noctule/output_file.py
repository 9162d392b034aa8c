"""Files that appear complete or not at all, compressed as their names say."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import secrets
import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

from noctule.errors import InputError

COMPRESSIONS = (".gz", ".xz", ".bz2")


def check_file(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a file that must not, or cannot, be written; one that is there only by `force`."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target}: got a directory, expected a file to write")
    if target.exists() and not force:
        raise InputError(f"{target}: exists already; --force replaces it")
    parent = next((parent for parent in target.absolute().parents if parent.exists()), None)
    if parent is None or not parent.is_dir():
        raise InputError(f"{target}: cannot be written: {parent} is not a folder")


def write_file(path: str | os.PathLike[str], pieces: Iterable[str], *, force: bool = False) -> None:
    """Write a text, whole or not at all; .gz, .xz and .bz2 compress it.

    The same text gives the same bytes: no date and no name is stored with it.
    """
    check_file(path, force=force)
    # a link is followed, so that what it points to is replaced and not the link
    target = Path(path).resolve()
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as file:
                with _compressing(target.suffix, file) as stream:
                    for piece in pieces:
                        stream.write(piece.encode())
                file.flush()
                os.fsync(file.fileno())
            _put_in_place(partial, target, force=force)
        finally:
            partial.unlink(missing_ok=True)
    except FileExistsError:
        raise InputError(f"{Path(path)}: exists already; --force replaces it") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{Path(path)}: cannot be written: {reason}") from error


def _put_in_place(partial: Path, target: Path, *, force: bool) -> None:
    if force:
        partial.replace(target)
        return
    try:
        target.hardlink_to(partial)  # fails if somebody was faster
    except FileExistsError:
        raise
    except OSError:
        # a file system without hard links
        if target.exists():
            raise FileExistsError from None
        partial.rename(target)


def _compressing(suffix: str, file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    stream: AbstractContextManager[IO[bytes]] = _STREAMS.get(suffix, nullcontext)(file)
    return stream


_STREAMS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115  (its user closes it)
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
}


def check_folder(
    path: str | os.PathLike[str], *, replaceable: Callable[[Path], bool], force: bool = False
) -> None:
    """Refuse a folder that must not be written; one that is there only by `force`.

    Only a folder that holds nothing but replaceable files is ever replaced.
    """
    target = Path(path)
    if not target.exists():
        parent = next((parent for parent in target.absolute().parents if parent.exists()), None)
        if parent is None or not parent.is_dir():
            raise InputError(f"{target}: cannot be written: {parent} is not a folder")
        return
    if not target.is_dir():
        raise InputError(f"{target}: exists and is not a folder, expected a folder to create")
    if not force:
        raise InputError(f"{target}: exists already; --force replaces it")
    foreign = sorted(file.name for file in target.iterdir() if not replaceable(file))
    if foreign:
        raise InputError(
            f"{target}: not replaced: it holds {', '.join(foreign[:3])}, "
            "expected nothing but what is replaced"
        )


def write_folder(
    path: str | os.PathLike[str],
    files: Iterable[tuple[str, bytes]],
    *,
    replaceable: Callable[[Path], bool],
    force: bool = False,
) -> None:
    """Write a folder of files, whole or not at all."""
    check_folder(path, replaceable=replaceable, force=force)
    target = Path(path).resolve()
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
        try:
            for name, content in files:
                (partial / name).write_bytes(content)
            put_folder_in_place(partial, target, force=force)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{Path(path)}: cannot be written: {reason}") from error


def put_folder_in_place(partial: Path, target: Path, *, force: bool) -> None:
    """Rename a complete folder to its name; what stood there goes once the new one is there."""
    if not (force and target.exists()):
        # fails if somebody else has put files there in the meantime
        partial.rename(target)
        return
    old = partial.with_suffix(".old")
    target.rename(old)
    try:
        partial.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
