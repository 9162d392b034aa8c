"""Distributions by name, with limits and rounding: how a field of the jobs is drawn.

A value is drawn, then taken as an exponent (`base`), then moved to a power of two, then rounded,
each if asked for; what then lies outside the limits is moved to the nearest limit or drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.synthetic.draws import (
    Positions,
    chosen,
    exponential,
    gamma,
    normal,
    redrawn,
    uniform,
    weibull,
)

Parameters = Mapping[str, Any]
Draw = Callable[[np.random.Generator, int, Parameters], Floats]
# Reads the column of a log: (log, column) -> values.
ReadColumn = Callable[[str, str], Floats]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A named distribution: its parameters, which of them must be positive, and how it draws."""

    parameters: tuple[str, ...]
    positive: tuple[str, ...]
    draw: Draw


def _constant(rng: np.random.Generator, n: int, p: Parameters) -> Floats:  # noqa: ARG001
    return np.full(n, float(p["value"]))


def _uniform(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    return np.asarray(p["low"] + (p["high"] - p["low"]) * uniform(rng, n))


def _exponential(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    return exponential(rng, n) * float(p["mean"])


def _normal(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    return float(p["mu"]) + float(p["sigma"]) * normal(rng, n)


def _lognormal(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    return np.exp(_normal(rng, n, p))


def _weibull(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    return weibull(rng, float(p["shape"]), n) * float(p["scale"])


def _gamma(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    return gamma(rng, float(p["shape"]), n) * float(p["scale"])


def _hyper_gamma(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    first = uniform(rng, n) <= p["p"]
    values = np.empty(n)
    for mask, a, b in ((first, "shape1", "scale1"), (~first, "shape2", "scale2")):
        values[mask] = gamma(rng, float(p[a]), int(np.count_nonzero(mask))) * float(p[b])
    return values


def _choice(rng: np.random.Generator, n: int, p: Parameters) -> Floats:
    values = np.array(p["values"], dtype=np.float64)
    weights = p.get("weights")
    return chosen(rng, values, n, None if weights is None else np.array(weights, dtype=np.float64))


_GAMMAS = ("shape1", "scale1", "shape2", "scale2")
DISTRIBUTIONS: Mapping[str, Distribution] = {
    "constant": Distribution(("value",), (), _constant),
    "uniform": Distribution(("low", "high"), (), _uniform),
    "exponential": Distribution(("mean",), ("mean",), _exponential),
    "normal": Distribution(("mu", "sigma"), ("sigma",), _normal),
    "lognormal": Distribution(("mu", "sigma"), ("sigma",), _lognormal),
    "weibull": Distribution(("shape", "scale"), ("shape", "scale"), _weibull),
    "gamma": Distribution(("shape", "scale"), ("shape", "scale"), _gamma),
    "hyper-gamma": Distribution(("p", *_GAMMAS), _GAMMAS, _hyper_gamma),
    "choice": Distribution(("values",), (), _choice),
    "empirical": Distribution(("log", "column"), (), _choice),
}
_OPTIONAL: Mapping[str, tuple[str, ...]] = {"choice": ("weights",)}
_TEXTS = ("log", "column")
_LISTS = ("values", "weights")
_SHAPING = ("min", "max", "outside", "round", "base", "power_of_two")
_OUTSIDE = ("clip", "redraw")
_SMALLEST = 2.0**-30
# Up to it whole numbers are exact.
_LARGEST = 2.0**53
# a hair, lest 8 become 4 or 16 for the last bit of its logarithm
_HAIR = 1e-12
_POWERS: Mapping[str, Callable[[Floats], Floats]] = {
    "nearest": lambda x: np.floor(x + 0.5),
    "down": lambda x: np.floor(x + _HAIR),
    "up": lambda x: np.ceil(x - _HAIR),
}


@dataclass(frozen=True, slots=True)
class Field:
    """How one field of the jobs is drawn."""

    where: str
    distribution: str
    parameters: Parameters
    least: float = -math.inf
    most: float = math.inf
    outside: str = "clip"
    step: float | None = None
    base: float | None = None
    power_of_two: str | None = None

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw n values."""
        draw = DISTRIBUTIONS[self.distribution].draw

        def values(positions: Positions) -> Floats:
            with np.errstate(all="ignore"):  # what is too large is refused below
                return self.shaped(draw(rng, len(positions), self.parameters))

        if self.outside == "clip":
            drawn = np.clip(values(np.arange(n)), self.least, self.most)
        else:
            what = f"{self.where}: a value from {shown(self.least)} to {shown(self.most)}"
            drawn = redrawn(n, values, lambda x: (x >= self.least) & (x <= self.most), what=what)
        wrong = np.flatnonzero(~(np.abs(drawn) <= _LARGEST))
        if len(wrong):
            found = shown(float(drawn[wrong[0]]))
            raise InputError(f"{self.where}: drew {found}, expected numbers up to {_LARGEST:g}")
        return drawn

    def shaped(self, values: Floats) -> Floats:
        """Take drawn values as exponents, move them to powers of two and round them, if asked."""
        if self.base is not None:
            values = np.power(self.base, values)
        if self.power_of_two is not None:
            exponent = _POWERS[self.power_of_two](np.log2(np.maximum(values, _SMALLEST)))
            values = np.ldexp(1.0, exponent.astype(np.int64))
        if self.step is not None:
            values = np.floor(values / self.step + 0.5) * self.step
        return values


def field_of(
    where: str, table: object, defaults: Mapping[str, Any], read_column: ReadColumn
) -> Field:
    """Make a Field of a TOML table, refusing what it cannot mean."""
    if not isinstance(table, dict):
        raise InputError(f"{where}: got {table!r}, expected a table with a distribution")
    name = table.get("distribution")
    if not isinstance(name, str) or name not in DISTRIBUTIONS:
        raise refusal(where, table, "distribution", f"one of {', '.join(DISTRIBUTIONS)}")
    known = (*DISTRIBUTIONS[name].parameters, *_OPTIONAL.get(name, ()), *_SHAPING)
    for key in table:
        if key != "distribution" and key not in known:
            raise InputError(f"{where}.{key}: unknown, expected one of {', '.join(known)}")
    parameters = _parameters(where, name, table)
    if name == "empirical":
        values = read_column(parameters["log"], parameters["column"])
        parameters = {"values": values}
    return _shaping(where, name, parameters, {**defaults, **table})


def _parameters(where: str, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    distribution = DISTRIBUTIONS[name]
    found: dict[str, Any] = {}
    for key in (*distribution.parameters, *_OPTIONAL.get(name, ())):
        if key in _TEXTS:
            found[key] = _text(where, table, key)
        elif key in _LISTS:
            if key in table or key not in _OPTIONAL.get(name, ()):
                found[key] = numbers(where, table, key)
        else:
            found[key] = number(where, table, key)
            if key in distribution.positive and not found[key] > 0:
                raise refusal(where, table, key, "a positive number")
    _check_together(where, table, found)
    return found


def _check_together(where: str, table: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    if "high" in found and found["high"] < found["low"]:
        raise refusal(where, table, "high", f"at least low, {shown(found['low'])}")
    if "p" in found and not 0 <= found["p"] <= 1:
        raise refusal(where, table, "p", "a probability from 0 to 1")
    weights = found.get("weights")
    if weights is None:
        return
    if len(weights) != len(found["values"]):
        raise refusal(where, table, "weights", f"{len(found['values'])} numbers, as in values")
    if min(weights) < 0 or not sum(weights) > 0:
        raise refusal(where, table, "weights", "numbers >= 0, not all of them zero")


def _shaping(where: str, name: str, parameters: Parameters, table: Mapping[str, Any]) -> Field:
    outside = table.get("outside", "clip")
    if outside not in _OUTSIDE:
        raise refusal(where, table, "outside", " or ".join(map(repr, _OUTSIDE)))
    power = table.get("power_of_two")
    if power is not None and not (isinstance(power, str) and power in _POWERS):
        raise refusal(where, table, "power_of_two", f"one of {', '.join(_POWERS)}")
    limits = {key: number(where, table, key) if key in table else None for key in _SHAPING[:2]}
    least, most = limits["min"], limits["max"]
    field = Field(
        where,
        name,
        parameters,
        least=-math.inf if least is None else least,
        most=math.inf if most is None else most,
        outside=outside,
        step=_positive_or_none(where, table, "round"),
        base=_positive_or_none(where, table, "base"),
        power_of_two=power,
    )
    if field.most < field.least:
        raise refusal(where, table, "max", f"at least min, {shown(field.least)}")
    return field


def number(where: str, table: Mapping[str, Any], key: str) -> float:
    """Return a finite number of a table."""
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise refusal(where, table, key, "a number")
    return float(value)


def numbers(where: str, table: Mapping[str, Any], key: str) -> tuple[float, ...]:
    """Return a list of finite numbers of a table, with at least one in it."""
    values = table.get(key)
    if not isinstance(values, Sequence) or isinstance(values, str) or not len(values):
        raise refusal(where, table, key, "a list of numbers")
    return tuple(number(f"{where}.{key}", {f"[{i}]": v}, f"[{i}]") for i, v in enumerate(values))


def refusal(where: str, table: Mapping[str, Any], key: str, expected: str) -> InputError:
    """Return the error that says what is wrong with a key of a table."""
    found = f"got {table[key]!r}" if key in table else "missing"
    place = f"{where}{key}" if key.startswith("[") else f"{where}.{key}" if where else key
    return InputError(f"{place}: {found}, expected {expected}")


def _positive_or_none(where: str, table: Mapping[str, Any], key: str) -> float | None:
    if table.get(key) is None:
        return None
    value = number(where, table, key)
    if not value > 0:
        raise refusal(where, table, key, "a positive number")
    return value


def _text(where: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise refusal(where, table, key, "a text")
    return value
