"""What jobs may run: a list of profiles, each for any size or for one, to be drawn from."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from noctule.columns import shown
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.formats.batsim_profiles import read_profiles
from noctule.formats.json_object import JsonObject
from noctule.workload import Delay, Profile

_LINE = "a runtime, or a number of hosts and a runtime"


@dataclass(frozen=True, slots=True)
class Program:
    """A profile with its name, and the number of hosts it runs on; None is any number."""

    name: str
    profile: Profile
    n_hosts: int | None = None


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs, and their profiles as a file describes them."""

    programs: tuple[Program, ...]
    raw: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def fitting(self, n_hosts: int) -> list[int]:
        """Return the positions of the programs that run on so many hosts."""
        return [i for i, p in enumerate(self.programs) if p.n_hosts in (None, n_hosts)]


def delays(
    runtimes: Iterable[float] | Mapping[int, Iterable[float]], *, where: str = "runtimes"
) -> Programs:
    """Return programs that last so many seconds; a mapping gives runtimes by number of hosts."""
    if isinstance(runtimes, Mapping):
        pairs = [(n, float(t)) for n, some in sorted(runtimes.items()) for t in some]
        return _delays(where, pairs)
    return _delays(where, [(None, float(t)) for t in runtimes])


def read_programs(path: str | os.PathLike[str]) -> Programs:
    """Read the profiles of a Batsim JSON file, the runtimes of an SWF log, or a list in a text.

    A list has a runtime a line, or a number of hosts and a runtime; `#` begins a comment.
    """
    source = os.fspath(path)
    text = read_bytes(path)
    if text.lstrip()[:1] == b"{":
        return _of_json(source, text)
    try:
        lines = text.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{source}: not a text file, expected {_LINE} a line") from None
    fields = [line.partition("#")[0].split() for line in lines]
    first = next((words for words in fields if words and not words[0].startswith(";")), [])
    if len(first) > 2:
        amounts = load_workload(path).table.amount.tolist()
        return delays(amounts, where=source)
    return _of_lines(source, fields)


def _of_json(source: str, text: bytes) -> Programs:
    try:
        document = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{source}: not valid JSON: {error}") from None
    top = JsonObject(source, "", document)
    raw = document.get("profiles")
    if not isinstance(raw, dict) or not raw:
        top.refuse("profiles", "an object with at least one profile")
    sized = read_profiles(source, raw)
    programs = tuple(Program(name, entry.profile, entry.size) for name, entry in sized.items())
    return Programs(programs, raw)


def _of_lines(source: str, fields: Sequence[Sequence[str]]) -> Programs:
    pairs: list[tuple[int | None, float]] = []
    for number, words in enumerate(fields, start=1):
        if not words:
            continue
        try:
            (*sizes, runtime) = words
            (n_hosts,) = map(int, sizes or ["0"])
            pairs.append((n_hosts if sizes else None, float(runtime)))
        except ValueError:
            raise InputError(
                f"{source}: line {number}: got {' '.join(words)!r}, expected {_LINE}"
            ) from None
    return _delays(source, pairs)


def _delays(where: str, pairs: Sequence[tuple[int | None, float]]) -> Programs:
    if not pairs:
        raise InputError(f"{where}: got no runtime, expected at least one")
    for n_hosts, runtime in pairs:
        if not (math.isfinite(runtime) and runtime > 0):
            raise InputError(f"{where}: got {shown(runtime)}, expected positive runtimes")
        if n_hosts is not None and n_hosts < 1:
            raise InputError(f"{where}: got {n_hosts} hosts, expected at least 1")
    return Programs(tuple(Program(f"delay:{t!r}", Delay(t), n) for n, t in pairs))
