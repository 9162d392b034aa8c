"""Objects of a decoded JSON file, whose fields are checked when they are taken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from noctule.errors import InputError

_LONGEST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object and where it stands: the file, and the path inside it ("" at the top)."""

    source: str
    path: str
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, source: str, path: str, value: object) -> JsonObject:
        """Take a value that must be an object."""
        if isinstance(value, dict):
            return cls(source, path, value)
        raise InputError(f"{source}: {path}: got {shown_json(value)}, expected an object")

    def __contains__(self, key: str) -> bool:
        """Say whether the field is there."""
        return key in self.fields

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Say what is wrong with a field."""
        path = f"{self.path}.{key}" if self.path else key
        found = f"got {shown_json(self.fields[key])}" if key in self.fields else "missing"
        raise InputError(f"{self.source}: {path}: {found}, expected {expected}")

    def non_negative(self, key: str, default: float | None = None) -> float:
        """Return a finite number >= 0."""
        if default is not None and key not in self.fields:
            return default
        number = _finite(self.fields.get(key))
        if number is None or number < 0:
            self.refuse(key, "a number >= 0")
        return number

    def positive(self, key: str) -> float:
        """Return a finite number > 0."""
        number = _finite(self.fields.get(key))
        if number is None or number <= 0:
            self.refuse(key, "a positive number")
        return number

    def whole(self, key: str, *, least: int, default: int | None = None) -> int:
        """Return an integer that is `least` or more; a decimal point is refused."""
        if default is not None and key not in self.fields:
            return default
        value = self.fields.get(key)
        if type(value) is not int or value < least:
            self.refuse(key, f"a whole number >= {least}")
        return value

    def text(self, key: str) -> str:
        """Return a string."""
        value = self.fields.get(key)
        if not isinstance(value, str):
            self.refuse(key, "a string")
        return value

    def amounts(self, key: str) -> list[float]:
        """Return an array of finite numbers >= 0."""
        values = self.fields.get(key)
        if not isinstance(values, list):
            self.refuse(key, "an array of numbers >= 0")
        numbers = []
        for i, value in enumerate(values):
            number = _finite(value)
            if number is None or number < 0:
                path = f"{self.path}.{key}[{i}]"
                raise InputError(
                    f"{self.source}: {path}: got {shown_json(value)}, expected a number >= 0"
                )
            numbers.append(number)
        return numbers


def shown_json(value: object) -> str:
    """Write a value as a message shows it: strings in single quotes, the rest as JSON."""
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + "...")
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."


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
