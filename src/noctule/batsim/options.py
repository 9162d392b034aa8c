"""What command lines of Batsim are made of, whatever its version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from noctule.errors import InputError
from noctule.units import shown

#: The exit code of a command line that is wrong, where a version has no other.
USAGE = 255


class BatsimError(InputError):
    """What is wrong with the command line, and the exit code that says so."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


class Takes(Enum):
    """How many values an option takes."""

    NOTHING = 0
    ONE = 1
    MANY = 2
    PAIRS = 3


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its names, what it takes, and what it is for."""

    name: str
    takes: Takes
    help: str
    short: str = ""
    alias: str = ""
    value: str = ""


@dataclass(slots=True)
class Given:
    """What a command line says: values by the long name of their option."""

    values: dict[str, list[str]] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def one(self, name: str, default: str) -> str:
        """Return the value of an option that is given once at most."""
        return self.values.get(name, [default])[0]

    def all(self, name: str) -> tuple[str, ...]:
        """Return the values of an option that may be repeated."""
        return tuple(self.values.get(name, ()))


def refuse_odd_words(words: Sequence[str]) -> None:
    """Refuse words that are no text: some of them are told to the scheduler, in JSON."""
    for word in words:
        if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
            raise BatsimError(f"arguments: got {shown(word)}, expected UTF-8 text")


def help_lines(usage: str, about: str, sections: Mapping[str, Sequence[Option]]) -> str:
    """Return a text about all options."""
    lines = [usage, "", about]
    for title, options in sections.items():
        lines += ["", f"{title}:"]
        for option in options:
            names = ", ".join(filter(None, (option.short, option.alias, option.name)))
            lines.append(f"  {names} {option.value}".rstrip())
            lines.append(f"          {option.help}")
    return "\n".join(lines) + "\n"
