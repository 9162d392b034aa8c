"""Traces in files of their own: a list of files, one a rank, named by a workload.

The workload is a stranger's: what it names must be a plain file of a sane size.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.workload import Usage

_MOST_BYTES = 2**31
_MOST_RANKS = 1_000_000
_USAGE = "rank m_usage, a share of the cores from 0 to 1, and flops >= 0"


@dataclass(frozen=True, slots=True)
class RankFiles:
    """The texts of the files of all ranks, and their names."""

    texts: tuple[str, ...]
    sources: tuple[str, ...]


def read_rank_files(path: Path, *, where: str) -> RankFiles:
    """Read a list of files, relative to its own folder; `where` says who names it."""
    texts: list[str] = []
    sources: list[str] = []
    read: dict[str, str] = {}
    n_bytes = 0
    for number, line in enumerate(_text(path, where).splitlines(), start=1):
        if not line.strip():
            continue
        file = path.parent / line.strip()
        if str(file) not in read:
            read[str(file)] = _text(file, f"{path}:{number}")
        texts.append(read[str(file)])
        sources.append(str(file))
        n_bytes += len(texts[-1])
        if n_bytes > _MOST_BYTES or len(texts) > _MOST_RANKS:
            raise InputError(
                f"{path}:{number}: got a trace of more than {_MOST_RANKS} ranks or "
                f"{_MOST_BYTES} characters, expected a smaller one"
            )
    if not texts:
        raise InputError(f"{path}: got no file, expected one a line for each rank")
    return RankFiles(tuple(texts), tuple(sources))


def usages_of(files: RankFiles) -> tuple[tuple[Usage, ...], ...]:
    """Read the usages of each rank."""
    return tuple(
        tuple(_usages(rank, text, source))
        for rank, (text, source) in enumerate(zip(files.texts, files.sources, strict=True))
    )


def _usages(rank: int, text: str, source: str) -> Iterator[Usage]:
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        where = f"{source}:{number}"
        try:
            told, action, share, flops = words
            usage = Usage(float(share), float(flops))
        except ValueError:
            raise InputError(f"{where}: got {_short(line)}, expected {_USAGE}") from None
        good = 0 <= usage.share <= 1 and 0 <= usage.flops < float("inf")
        if action != "m_usage" or not good:
            raise InputError(f"{where}: got {_short(line)}, expected {_USAGE}")
        if told != str(rank):
            raise InputError(f"{where}: got rank {told!r}, expected {rank}, whose file this is")
        yield usage


def _text(path: Path, where: str) -> str:
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = "no such file" if missing else f"cannot be read: {_reason(error)}"
        raise InputError(f"{where}: {path}: {reason}") from None
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{where}: {path}: got a folder or a device, expected a file")
    if found.st_size > _MOST_BYTES:
        raise InputError(
            f"{where}: {path}: got {found.st_size} bytes, expected at most {_MOST_BYTES}"
        )
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError:
        raise InputError(f"{where}: {path}: not a text file") from None


def _reason(error: OSError | ValueError) -> object:
    return getattr(error, "strerror", None) or error


def _short(line: str) -> str:
    return repr(line if len(line) <= 40 else line[:40] + "...")
