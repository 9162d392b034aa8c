"""The text of slurm.conf, and of files written like it: lines of Key=Value with their places.

As Slurm reads them: `#` begins a comment unless a backslash stands before it, a backslash at the
end joins the next line, keys are the same whatever their case, values with spaces are quoted,
`Include FILE` is replaced by the file. What the keys mean is told by `noctule.slurm.conf.settings`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.units import shown

_DEEPEST_INCLUDE = 10
_MOST_BYTES = 64 * 2**20
_KEY_VALUE = re.compile(
    r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*=[ \t]*(?:"([^"]*)"(?=\s|$)|([^\s"]\S*))?', re.ASCII
)
_INCLUDE = re.compile(r"\s*include\s+(\S.*?)\s*", re.ASCII | re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\\)#.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        """Say it as errors begin."""
        return f"{self.file}: line {self.line}"


@dataclass(frozen=True, slots=True)
class ConfLine:
    """The keys and values of one line, as they are written; continued lines count as one."""

    place: Place
    entries: tuple[tuple[str, str], ...]

    def values(self) -> dict[str, str]:
        """Return the values by key in lower case; the last one where a key is repeated."""
        return {key.lower(): value for key, value in self.entries}


@dataclass(frozen=True, slots=True)
class Conf:
    """All lines of a file and of those it includes, in order, and the names of the files."""

    lines: tuple[ConfLine, ...]
    files: tuple[str, ...]


def read_conf(path: str | os.PathLike[str]) -> Conf:
    """Read a file and those it includes, which must lie in its folder or below."""
    reader = _Reader(Path(path).parent)
    lines = tuple(reader.read(Path(path), ()))
    return Conf(lines, tuple(reader.files))


def parse_conf(text: str, name: str = "slurm.conf") -> Conf:
    """Read a text that includes no other files."""
    return Conf(tuple(_Reader(None).parse(text, name, ())), (name,))


class _Reader:
    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.files: list[str] = []
        self.n_bytes = 0

    def read(self, path: Path, stack: tuple[Path, ...]) -> Iterator[ConfLine]:
        data = read_bytes(path)
        self.files.append(str(path))
        self.n_bytes += len(data)
        if self.n_bytes > _MOST_BYTES:
            raise InputError(f"{path}: more than {_MOST_BYTES} bytes with all that is included")
        return self.parse(data.decode(errors="replace"), str(path), (*stack, path.resolve()))

    def parse(self, text: str, name: str, stack: tuple[Path, ...]) -> Iterator[ConfLine]:
        for number, line in _joined_lines(text):
            place = Place(name, number)
            include = _INCLUDE.fullmatch(line)
            if include is not None:
                yield from self._include(include[1], place, stack)
            elif line.strip():
                yield ConfLine(place, _entries(line, place))

    def _include(self, named: str, place: Place, stack: tuple[Path, ...]) -> Iterator[ConfLine]:
        where = f"{place}: Include {shown(named)}"
        if self.folder is None:
            raise InputError(f"{where}: expected a text that includes no other files")
        path = self._path(named, where)
        if path.resolve() in stack:
            raise InputError(f"{where}: includes itself")
        if len(stack) > _DEEPEST_INCLUDE:
            raise InputError(f"{where}: more than {_DEEPEST_INCLUDE} files include each other")
        return self.read(path, stack)

    def _path(self, named: str, where: str) -> Path:
        """Return the file in the configuration's folder; a copied one lies there by its name."""
        assert self.folder is not None
        home = self.folder.resolve()
        candidates = [self.folder / named, self.folder / PurePosixPath(named).name]
        for candidate in candidates:
            try:
                if candidate.resolve().is_relative_to(home) and candidate.is_file():
                    return candidate
            except (OSError, ValueError):
                continue
        raise InputError(
            f"{where}: no such file in {self.folder} or below, expected it there: copy it"
        )


def _joined_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments, joined where they are continued, and their first number."""
    parts: list[str] = []
    begin = 0
    for number, line in enumerate(text.split("\n"), start=1):
        begin = begin or number
        told = _COMMENT.sub("", line.rstrip("\r"))
        n_backslashes = len(told) - len(told.rstrip("\\"))
        if n_backslashes % 2:
            parts.append(told[:-1])
            continue
        parts.append(told)
        yield begin, "".join(parts)
        parts, begin = [], 0
    if parts:
        yield begin, "".join(parts)


def _entries(line: str, place: Place) -> tuple[tuple[str, str], ...]:
    found = []
    at = 0
    while line[at:].strip():
        match = _KEY_VALUE.match(line, at)
        if match is None:
            raise InputError(f"{place}: got {shown(line[at:].strip())}, expected Key=Value")
        key, quoted, plain = match.groups()
        value = quoted if quoted is not None else plain or ""
        found.append((key, value.replace("\\#", "#").strip()))
        at = match.end()
    return tuple(found)
