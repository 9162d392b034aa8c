"""Quantities with their units, as text: "1Gf", "125MBps", "50us", "4GiB", "200W".

This is the only place that reads and writes them. The units are those of SimGrid, case-sensitive:
decimal prefixes k M G T P E Z Y, binary ones Ki Mi Gi ... for bytes and bits, `m` for minutes.
Added to them: `min` for minutes, watts, and `4Gi` for 4 GiB as Kubernetes writes it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noctule.errors import InputError

_NUMBER_AND_UNIT = re.compile(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*([A-Za-z]*)\s*")
_LONGEST_SHOWN = 40

_LETTERS = "kMGTPEZY"
_WORDS = ("kilo", "mega", "giga", "tera", "peta", "exa", "zetta", "yotta")


@dataclass(frozen=True, slots=True)
class Dimension:
    """A kind of quantity: its units, and the one of a bare number.

    Attributes:
        name: what messages call it, with its article.
        example: what messages show.
        base: the unit of a bare number.
        factors: what one of each unit is in base units.
        written: the units that text is written in, the preferred ones first.
    """

    name: str
    example: str
    base: str
    factors: Mapping[str, float]
    written: Sequence[str]

    def split(self, text: str) -> tuple[float, str] | None:
        """Return the value in base units and the unit, "" for a bare number; None if it is none."""
        match = _NUMBER_AND_UNIT.fullmatch(text)
        if match is None:
            return None
        mantissa, exponent, unit = match.groups()
        factor = self.factors.get(unit or self.base)
        if factor is None:
            return None
        value = float(mantissa + (exponent or "")) * factor
        return (value, unit) if math.isfinite(value) else None

    def parse(self, text: str, where: str) -> float:
        """Return the value in base units; `where` stands in front of the error's text."""
        found = self.split(text)
        if found is None:
            raise InputError(f"{where}: got {shown(text)}, expected {self.expected}")
        return found[0]

    @property
    def expected(self) -> str:
        """What messages say was expected."""
        return f"{self.name} such as {self.example}"

    def text(self, value: float) -> str:
        """Return a text that reads back as exactly this value, short and with a fitting unit."""
        texts = []
        for unit in self.written:
            number = repr(value / self.factors[unit]).removesuffix(".0")
            if self.split(number + unit) == (value, unit):
                fits = 1 <= float(number) < 1000
                texts.append((len(number) if fits else len(number) + 3, number + unit))
        return min(texts, key=lambda text: text[0], default=(0, f"{value!r}{self.base}"))[1]

    def short(self, value: float) -> str:
        """Return a text for people: four digits, and the largest unit of which there is one."""
        fitting = [unit for unit in self.written if value >= self.factors[unit]]
        unit = max(fitting, key=self.factors.__getitem__, default=self.base)
        number = value / self.factors[unit]
        return (f"{number:.4g}" if number < 1e4 else f"{number:.0f}") + unit


def shown(text: str) -> str:
    """Quote a text for a message, cut where it is long."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "...")


def _decimal(symbol: str, scale: float = 1.0) -> dict[str, float]:
    prefixes = ("", *_LETTERS)
    return {prefix + symbol: scale * 1000.0**i for i, prefix in enumerate(prefixes)}


def _binary(symbol: str, scale: float = 1.0) -> dict[str, float]:
    prefixes = [letter.upper() + "i" for letter in _LETTERS]
    return {prefix + symbol: scale * 1024.0**i for i, prefix in enumerate(prefixes, start=1)}


def _bytes_and_bits(of_bytes: str, of_bits: str) -> dict[str, float]:
    return {
        **_decimal(of_bytes),
        **_binary(of_bytes),
        **_decimal(of_bits, 0.125),
        **_binary(of_bits, 0.125),
    }


SPEED = Dimension(
    name="a speed",
    example="1Gf",
    base="f",
    factors={
        **_decimal("f"),
        "flops": 1.0,
        **{word + "flops": 1000.0**i for i, word in enumerate(_WORDS, start=1)},
    },
    written=tuple(_decimal("f")),
)
BANDWIDTH = Dimension(
    name="a bandwidth",
    example="125MBps",
    base="Bps",
    factors=_bytes_and_bits("Bps", "bps"),
    written=tuple(_decimal("Bps")),
)
DURATION = Dimension(
    name="a duration",
    example="50us",
    base="s",
    factors={
        "w": 604800.0,
        "d": 86400.0,
        "h": 3600.0,
        "min": 60.0,
        "m": 60.0,
        "s": 1.0,
        "ms": 1e-3,
        "us": 1e-6,
        "ns": 1e-9,
        "ps": 1e-12,
    },
    written=("s", "ms", "us", "ns", "ps"),
)
SIZE = Dimension(
    name="a size",
    example="4GiB",
    base="B",
    factors={**_bytes_and_bits("B", "b"), **_binary("")},
    written=("B", *_binary("B")),
)
POWER = Dimension(
    name="a power",
    example="200W",
    base="W",
    factors={"mW": 1e-3, "W": 1.0, "kW": 1e3, "MW": 1e6},
    written=("W",),
)
