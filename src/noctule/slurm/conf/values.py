"""Values of Slurm's configuration: how each kind is written, and what it says in its own words.

A class of settings declares each field with `setting`: its key in the file, its kind, its default
and a sentence. `filled` makes one from what a file says, and the reference lists the same fields.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from noctule.errors import InputError
from noctule.slurm.conf.lines import Place
from noctule.units import shown

_T = TypeVar("_T")

_NEVER = ("unlimited", "infinite", "-1")
_TIME = re.compile(r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Kind:
    """How values are read; None is what has no limit. `expected` ends the sentence of an error."""

    name: str
    read: Callable[[str], Any]
    expected: str

    def parse(self, text: str, where: str) -> Any:
        """Return the value, or say what was expected."""
        try:
            return self.read(text)
        except ValueError:
            raise InputError(f"{where}: got {shown(text)}, expected {self.expected}") from None


@dataclass(frozen=True, slots=True)
class Given:
    """A value of the file and where it stands; `key` as it is written there."""

    key: str
    text: str
    place: Place

    @property
    def where(self) -> str:
        """What an error begins with."""
        return f"{self.place}: {self.key}"


@dataclass(frozen=True, slots=True)
class SettingFacts:
    """What the reference says of a setting."""

    key: str
    field: str
    kind: Kind
    default: Any
    says: str
    aliases: tuple[str, ...] = ()


def setting(key: str, kind: Kind, default: Any, says: str, *, aliases: tuple[str, ...] = ()) -> Any:
    """Declare a field that the file tells under a key, or under one of its older names."""
    facts = {"key": key, "kind": kind, "says": says, "aliases": aliases}
    return dataclasses.field(default=default, metadata=facts)


def settings_of(cls: type) -> Iterator[SettingFacts]:
    """Yield what is told of each field that was declared with `setting`."""
    for field in dataclasses.fields(cls):
        if "key" in field.metadata:
            facts = field.metadata
            yield SettingFacts(
                facts["key"],
                field.name,
                facts["kind"],
                field.default,
                facts["says"],
                facts["aliases"],
            )


def filled(cls: type[_T], given: Mapping[str, Given], **more: Any) -> _T:
    """Make settings from values by key in lower case; those not given keep their default."""
    return cls(**told(cls, given), **more)


def told(cls: type, given: Mapping[str, Given]) -> dict[str, Any]:
    """Return the fields that values tell."""
    found = {}
    for facts in settings_of(cls):
        for key in (facts.key, *facts.aliases):
            value = given.get(key.lower())
            if value is not None:
                found[facts.field] = facts.kind.parse(value.text, value.where)
                break
    return found


def keys_of(*classes: type) -> set[str]:
    """Return the keys that classes of settings know, in lower case."""
    facts = [facts for cls in classes for facts in settings_of(cls)]
    return {key.lower() for fact in facts for key in (fact.key, *fact.aliases)}


def number(low: int = 0, high: int = 2**63, *, unit: str = "", endless: bool = False) -> Kind:
    """Whole numbers within bounds; `endless` ones may be UNLIMITED, INFINITE or -1."""

    def read(text: str) -> int | None:
        if endless and text.lower() in _NEVER:
            return None
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError
        return int(text)

    bounds = f"a whole number from {low}" + (f" to {high}" if high < 2**31 else " on")
    name = unit or "number"
    expected = bounds + (f" of {unit}" if unit else "") + (" or UNLIMITED" if endless else "")
    return Kind(name, read, expected)


def real(low: float = 0.0) -> Kind:
    """Numbers with a fraction."""

    def read(text: str) -> float:
        value = float(text)
        if not (math.isfinite(value) and value >= low):
            raise ValueError
        return value

    return Kind("number", read, f"a number >= {low:g}")


def choice(*words: str) -> Kind:
    """One of some words, whatever its case; as it is written here."""
    known = {word.lower(): word for word in words}

    def read(text: str) -> str:
        if text.lower() not in known:
            raise ValueError
        return known[text.lower()]

    return Kind(" or ".join(words), read, "one of " + ", ".join(words))


def _read_flag(text: str) -> bool:
    word = text.lower()
    if word in ("yes", "up", "true", "1"):
        return True
    if word in ("no", "down", "false", "0"):
        return False
    raise ValueError


def _read_words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _read_seconds(text: str) -> int | None:
    if text.lower() in _NEVER:
        return None
    return time_seconds(text)


def _read_minutes(text: str) -> int | None:
    seconds = _read_seconds(text)
    return None if seconds is None else -(-seconds // 60)


def _read_weights(text: str) -> tuple[tuple[str, float], ...]:
    """Read CPU=1.0,Mem=0.25G,GRES/gpu=2: weights of one unit, of a megabyte for memory."""
    found = []
    for word in _read_words(text):
        name, equals, amount = word.partition("=")
        match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)([KMGTP]?)", amount.strip())
        if not (equals and name.strip() and match):
            raise ValueError
        # a weight per gigabyte is a 1024th of it per megabyte
        letters = "KMGTP"
        power = letters.index(match[2]) - 1 if match[2] else 0
        found.append((name.strip().lower(), float(match[1]) / 1024.0**power))
    return tuple(found)


def _read_counts(text: str) -> tuple[tuple[str, int], ...]:
    """Read matlab:10,fluent: names with a number, 1 where none is said."""
    found = []
    for word in re.split(r"[,;]", text):
        name, colon, amount = word.strip().rpartition(":")
        if not colon:
            name, amount = word.strip(), "1"
        if not name and not amount.strip():
            continue
        if not (name and _INTEGER.fullmatch(amount) and int(amount) >= 0):
            raise ValueError
        found.append((name, int(amount)))
    return tuple(found)


def time_seconds(text: str) -> int:
    """Read Slurm's times: minutes, min:sec, h:min:sec, days-h, days-h:min, days-h:min:sec."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError
    days, *rest = match.groups()
    parts = [int(part) for part in rest if part is not None]
    if days is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
        return ((int(days) * 24 + hours) * 60 + minutes) * 60 + seconds
    if len(parts) == 3:
        return (parts[0] * 60 + parts[1]) * 60 + parts[2]
    minutes, seconds = (*parts, 0)[:2]
    return minutes * 60 + seconds


FLAG = Kind("YES or NO", _read_flag, "YES or NO")
TEXT = Kind("text", str, "a text")
WORDS = Kind("list", _read_words, "words between commas")
TIMES = "minutes, min:sec, h:min:sec, days-h, days-h:min or days-h:min:sec"
MINUTES = Kind("time, in minutes", _read_minutes, f"a time: {TIMES}, or UNLIMITED")
AGE = Kind("time, in seconds", _read_seconds, f"a time: {TIMES}, or UNLIMITED")
SECONDS = number(unit="seconds")
WEIGHTS = Kind("weights", _read_weights, "weights such as CPU=1.0,Mem=0.25G,GRES/gpu=2")
COUNTS = Kind("counts", _read_counts, "names with counts such as matlab:10,fluent:2")
