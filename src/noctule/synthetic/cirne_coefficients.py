"""The coefficients of a model after Cirne and Berman: checked, read from TOML, written as TOML."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from noctule.columns import Floats
from noctule.formats.toml_table import Table
from noctule.formats.toml_writing import toml_text
from noctule.output_file import write_file
from noctule.synthetic.draws import gamma_cdf, uniform

#: Steps of a day in which the rate of arrivals is constant: quarters of hours.
STEPS = 96
# below it, drawing until a variate is in range takes too long
_LEAST_PROBABILITY = 0.01
_DIGITS = 6
_SMALLEST, _LARGEST, _LARGEST_SHAPE = 1e-6, 1e12, 1e4


@dataclass(frozen=True, slots=True)
class LogUniform:
    """A value whose logarithm is uniform from `low` to `high`, moved to at least and at most.

    In other words: the share of values at most x is a line of ln x, which reaches 0 at `low` and 1
    at `high`.
    """

    low: float
    high: float
    least: float
    most: float

    @classmethod
    def of(cls, table: Table) -> LogUniform:
        """Read one."""
        low, high, least, most = (_positive(table, k) for k in ("low", "high", "least", "most"))
        if high < low:
            table.refuse("high", f"at least low, {low:g}")
        if most < least:
            table.refuse("most", f"at least `least`, {least:g}")
        return cls(low, high, least, most)

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw n values."""
        first, last = math.log(self.low), math.log(self.high)
        values = np.exp(first + (last - first) * uniform(rng, n))
        return np.clip(values, self.least, self.most)

    def document(self) -> dict[str, float]:
        """Return it as a file has it."""
        return {name: _rounded(getattr(self, name)) for name in ("low", "high", "least", "most")}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Which share of their time jobs run that ask for at most `up_to` seconds.

    All of it with the probability `at_limit`; else a gamma variate, drawn again if it is above 1.
    """

    up_to: float
    at_limit: float
    shape: float
    scale: float

    @classmethod
    def of(cls, table: Table) -> Accuracy:
        """Read one; without `up_to` it is for all times."""
        up_to = _positive(table, "up_to") if "up_to" in table else math.inf
        shape, scale = _positive(table, "shape"), _positive(table, "scale")
        if shape > _LARGEST_SHAPE:
            table.refuse("shape", f"a number up to {_LARGEST_SHAPE:g}")
        found = cls(up_to, _share(table, "at_limit"), shape, scale)
        table.end()
        if gamma_cdf(shape, 1.0 / scale) < _LEAST_PROBABILITY:
            table.refuse("scale", "one that makes a share of at most 1 likely")
        return found

    def document(self) -> dict[str, float]:
        """Return it as a file has it."""
        names = ("at_limit", "shape", "scale")
        rest = {name: _rounded(getattr(self, name)) for name in names}
        return rest if math.isinf(self.up_to) else {"up_to": self.up_to, **rest}


@dataclass(frozen=True, slots=True)
class Coefficients:
    """All that the model needs.

    Attributes:
        source: where the coefficients are from, for people.
        n_hosts: of the machine; sizes grow with machines.
        mean_gap: seconds between two submissions.
        hours: a polynomial of t, lowest power first: how much faster than on average jobs come at
            the time of day 12 (t + 1) hours, t from -1 to 1.
        weekdays: how much faster than on average jobs come, from Monday on.
        sizes: hosts of a job.
        power_of_two: share of the jobs whose size is moved to the nearest power of two.
        requested_time: seconds that users ask for.
        step: requested times are multiples of it.
        accuracy: by classes of requested time, the last one for all that is above.
        cancelled: share of the jobs that would be cancelled if they waited for ever.
        cancellation: after how many seconds; None if no job is.
    """

    source: str
    n_hosts: int
    mean_gap: float
    hours: tuple[float, ...]
    weekdays: tuple[float, ...]
    sizes: LogUniform
    power_of_two: float
    requested_time: LogUniform
    step: float
    accuracy: tuple[Accuracy, ...]
    cancelled: float = 0.0
    cancellation: LogUniform | None = None

    @classmethod
    def of(cls, document: Table) -> Coefficients:
        """Check a document and read it."""
        model, arrivals = _table(document, "model"), _table(document, "arrivals")
        sizes, requested = _table(document, "sizes"), _table(document, "requested_time")
        cancellation = document.table("cancellation")
        found = cls(
            source=model.text("source"),
            n_hosts=model.whole("n_hosts", least=1),
            mean_gap=_positive(arrivals, "mean_gap"),
            hours=_polynomial(arrivals),
            weekdays=_weekdays(arrivals),
            sizes=LogUniform.of(sizes),
            power_of_two=_share(sizes, "power_of_two"),
            requested_time=LogUniform.of(requested),
            step=_positive(requested, "step"),
            accuracy=_classes(document),
            cancelled=0.0 if cancellation is None else _share(cancellation, "probability"),
            cancellation=None if cancellation is None else LogUniform.of(cancellation),
        )
        for table in (model, arrivals, sizes, requested, cancellation, document):
            if table is not None:
                table.end()
        return found

    def rate_of_day(self) -> list[float]:
        """Return the rate of arrivals in each quarter of an hour from midnight on."""
        return _rates(self.hours)

    def document(self) -> dict[str, Any]:
        """Return them as a file has them."""
        found: dict[str, Any] = {
            "model": {"source": self.source, "n_hosts": self.n_hosts},
            "arrivals": {
                "mean_gap": _rounded(self.mean_gap),
                "hours": [_rounded(value) for value in self.hours],
                "weekdays": [_rounded(value) for value in self.weekdays],
            },
            "sizes": {"power_of_two": _rounded(self.power_of_two), **self.sizes.document()},
            "requested_time": {"step": self.step, **self.requested_time.document()},
            "accuracy": [each.document() for each in self.accuracy],
        }
        if self.cancellation is not None:
            probability = {"probability": _rounded(self.cancelled)}
            found["cancellation"] = probability | self.cancellation.document()
        return found

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a TOML file that `cirne` reads."""
        write_file(path, toml_text(self.document()), force=force)


def _rates(polynomial: tuple[float, ...]) -> list[float]:
    middle = (np.arange(STEPS) + 0.5) * (2.0 / STEPS) - 1.0
    rates: list[float] = np.polynomial.polynomial.polyval(middle, polynomial).tolist()
    return rates


def _polynomial(table: Table) -> tuple[float, ...]:
    values = table.numbers("hours")
    if not values:
        table.refuse("hours", "the coefficients of a polynomial")
    rates = _rates(values)
    if min(rates) < 0 or not sum(rates) > 0:
        hour = rates.index(min(rates)) * 24 / STEPS
        table.refuse("hours", f"a rate >= 0 at all times; it is {min(rates):.3g} at {hour:g} h")
    return values


def _weekdays(table: Table) -> tuple[float, ...]:
    values = table.numbers("weekdays")
    if len(values) != 7 or min(values) < 0 or not sum(values) > 0:
        table.refuse("weekdays", "seven numbers >= 0, from Monday on, not all of them zero")
    return values


def _classes(document: Table) -> tuple[Accuracy, ...]:
    found = tuple(Accuracy.of(table) for table in document.tables("accuracy"))
    limits = [each.up_to for each in found]
    if not found or not math.isinf(limits[-1]) or sorted(set(limits)) != limits:
        document.refuse("accuracy", "tables with growing up_to, the last one without")
    return found


def _table(document: Table, key: str) -> Table:
    return document.table(key) or document.refuse(key, "a table")


def _positive(table: Table, key: str) -> float:
    value = _number(table, key)
    if not _SMALLEST <= value <= _LARGEST:
        table.refuse(key, f"a number from {_SMALLEST:g} to {_LARGEST:g}")
    return value


def _share(table: Table, key: str) -> float:
    value = _number(table, key)
    if not 0 <= value <= 1:
        table.refuse(key, "a share from 0 to 1")
    return value


def _number(table: Table, key: str) -> float:
    value = table.take(key)
    if type(value) not in (int, float) or not math.isfinite(value):
        table.refuse(key, "a number")
    return float(value)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
