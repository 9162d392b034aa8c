"""Tables of a TOML or JSON document, whose keys are checked when they are taken.

A key that nobody has taken by the end is refused, so that a mistyped one cannot go unnoticed.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from noctule.errors import InputError
from noctule.units import Dimension, shown

# Nine digits, as in SimGrid's ranges and topologies.
MAX_WHOLE = 999_999_999


def read_toml(text: bytes, source: str) -> Table:
    """Decode a TOML document."""
    try:
        return Table(source, "", tomllib.loads(text.decode()))
    except UnicodeDecodeError:
        raise InputError(f"{source}: got bytes that are not UTF-8 text") from None
    except RecursionError:
        raise InputError(f"{source}: not valid TOML: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at ")
        where = f"{source}: {place.removesuffix(')')}" if place else source
        raise InputError(f"{where}: not valid TOML: {what}") from None
    except ValueError:
        raise InputError(f"{source}: got a number with thousands of digits") from None


def read_json(text: bytes, source: str) -> Table:
    """Decode a JSON document, which must be an object."""
    try:
        document = msgspec.json.decode(text)
    except UnicodeDecodeError:
        raise InputError(f"{source}: got bytes that are not UTF-8 text") from None
    except RecursionError:
        raise InputError(f"{source}: not valid JSON: nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{source}: not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{source}: got {_shown(document)}, expected an object")
    return Table(source, "", document)


class Table:
    """A table, the file it is from, and its path inside it ("" at the top)."""

    def __init__(self, source: str, path: str, fields: Mapping[str, Any]) -> None:
        self.source = source
        self.path = path
        self._fields = fields
        self._known: set[str] = set()
        self._taken: set[str] = set()

    def __contains__(self, key: str) -> bool:
        self._known.add(key)
        return key in self._fields

    @property
    def keys(self) -> frozenset[str]:
        """The keys that are there."""
        return frozenset(self._fields)

    @property
    def where(self) -> str:
        """The place of the table, for messages."""
        return f"{self.source}: {self.path}" if self.path else self.source

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Say what is wrong with the value of a key."""
        found = f"got {_shown(self._fields[key])}" if key in self._fields else "missing"
        raise InputError(f"{self.place(key)}: {found}, expected {expected}")

    def place(self, key: str) -> str:
        """Return where a key stands, for messages."""
        return f"{self.source}: {self.path}.{key}" if self.path else f"{self.source}: {key}"

    def take(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, whatever it is."""
        self._taken.add(key)
        return self._fields.get(key, default)

    def end(self) -> None:
        """Refuse the keys that have not been taken."""
        for key in self._fields:
            if key not in self._taken:
                known = ", ".join(sorted(self._known | self._taken))
                raise InputError(f"{self.place(key)}: unknown key, expected {known}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; without a default it must be there."""
        value = self.take(key, default)
        if not isinstance(value, str):
            self.refuse(key, "a string")
        return value

    def choice(self, key: str, known: Iterable[str], default: str | None = None) -> str:
        """Return one of some words."""
        value = self.take(key, default)
        if not isinstance(value, str) or value not in known:
            self.refuse(key, " or ".join(known))
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            self.refuse(key, "true or false")
        return value

    def whole(
        self, key: str, *, least: int, most: int = MAX_WHOLE, default: int | None = None
    ) -> int:
        """Return a whole number."""
        value = self.take(key, default)
        if type(value) is not int or value < least:
            self.refuse(key, f"a whole number >= {least}")
        if value > most:
            self.refuse(key, f"{most} at most")
        return value

    def wholes(self, key: str) -> tuple[int, ...]:
        """Return an array of whole numbers above 0."""
        values = self.take(key)
        if not isinstance(values, list) or not all(type(v) is int and v > 0 for v in values):
            self.refuse(key, "an array of whole numbers >= 1")
        if max(values, default=1) > MAX_WHOLE:
            self.refuse(key, f"numbers up to {MAX_WHOLE}")
        return tuple(values)

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return an array of strings."""
        values = self.take(key, default)
        if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
            self.refuse(key, "an array of strings")
        return tuple(values)

    def numbers(self, key: str) -> tuple[float, ...]:
        """Return an array of numbers; an empty one if it is not there."""
        values = self.take(key, [])
        numbers = [_finite(v) for v in values] if isinstance(values, list) else [None]
        if None in numbers:
            self.refuse(key, "an array of numbers")
        return tuple(number for number in numbers if number is not None)

    def quantity(
        self, key: str, dimension: Dimension, default: float | None = None, *, least: float = 0.0
    ) -> float:
        """Return a quantity: a number in base units, or text with a unit."""
        value = self.take(key, default)
        amount = _amount(value, dimension)
        if amount is None or amount < least:
            self.refuse(key, dimension.expected)
        return amount

    def quantities(
        self, key: str, dimension: Dimension, default: float | None = None
    ) -> tuple[float, ...]:
        """Return one quantity or an array of them."""
        value = self.take(key, default)
        amounts = [_amount(v, dimension) for v in (value if isinstance(value, list) else [value])]
        if not amounts or None in amounts:
            self.refuse(key, f"{dimension.expected}, or an array of such")
        return tuple(amount for amount in amounts if amount is not None)

    def mapping(self, key: str) -> dict[str, str]:
        """Return a table of texts; numbers are taken as they are written."""
        value = self.take(key, {})
        if not isinstance(value, dict) or not all(
            isinstance(v, str) or type(v) in (int, float) for v in value.values()
        ):
            self.refuse(key, "a table of strings")
        return {name: str(v) for name, v in value.items()}

    def table(self, key: str) -> Table | None:
        """Return a table, or None if it is not there."""
        value = self.take(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.refuse(key, "a table")
        return Table(self.source, f"{self.path}.{key}" if self.path else key, value)

    def tables(self, key: str) -> list[Table]:
        """Return an array of tables; an empty one if it is not there."""
        values = self.take(key, [])
        if not isinstance(values, list) or not all(isinstance(v, dict) for v in values):
            self.refuse(key, "an array of tables")
        path = f"{self.path}.{key}" if self.path else key
        return [Table(self.source, f"{path}[{i}]", value) for i, value in enumerate(values)]


def _amount(value: object, dimension: Dimension) -> float | None:
    if isinstance(value, str):
        found = dimension.split(value)
        return found[0] if found else None
    number = _finite(value)
    return None if number is None or number < 0 else number


def _finite(value: object) -> float | None:
    """Return the value as a number, or None where it is not a finite one; true is no number."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is not int:
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _shown(value: object) -> str:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return "a table"
    text = repr(value).replace("True", "true").replace("False", "false")
    return text if len(text) <= 40 else text[:40] + "..."
