"""What a kilowatt-hour emits, or costs, over time: grams and euros as step functions.

A rate holds from its date up to the next one. Areas under it are worked out from the steps between
two dates, so that they are as exact late in a long run as at its beginning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.record import Floats
from noctule.schedule_energy import Energy

__all__ = ["NO_RATES", "Rate", "Rates"]

#: What rates make of joules: the name of an amount, its rate, and the joules of which one unit of
#: the rate makes one of the amount (g/kWh make kilograms, EUR/kWh euros).
AMOUNTS: Mapping[str, tuple[str, float]] = {
    "co2_kg": ("carbon", 3.6e9),
    "cost_eur": ("price", 3.6e6),
}


@dataclass(frozen=True)
class Rate:
    """An amount a kilowatt-hour: `value[i]` from `time[i]` on, in seconds of the run.

    The last value holds for as long as the one before it, and a single one for ever; with a
    `period` all values come again after so many seconds, and came before.

    Attributes:
        source: the file that it was read from, and `last_line` the last of its lines.
    """

    time: tuple[float, ...]
    value: tuple[float, ...]
    period: float | None = None
    source: str = field(default="", compare=False)
    last_line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        """Refuse dates that do not rise, and what is not a number."""
        if not self.time or len(self.time) != len(self.value):
            self._refuse(f"{len(self.time)} dates and {len(self.value)} values", "as many, and one")
        for number in (*self.time, *self.value):
            if not math.isfinite(number):
                self._refuse(repr(number), "numbers")
        for before, date in zip(self.time, self.time[1:], strict=False):
            if not before < date:
                self._refuse(f"{date!r} after {before!r}", "dates that rise")
        if self.period is not None and not self.time[-1] - self.time[0] < self.period < math.inf:
            self._refuse(f"a period of {self.period!r} s", "one that is longer than the dates")

    def _refuse(self, found: str, expected: str) -> None:
        raise InputError(f"{self.source or 'rate'}: got {found}, expected {expected}")

    @classmethod
    def constant(cls, value: float) -> Rate:
        """Return a rate that never changes."""
        return cls((0.0,), (float(value),))

    @cached_property
    def start(self) -> float:
        """The date from which on it is known."""
        return -math.inf if self.period is not None else self.time[0]

    @cached_property
    def end(self) -> float:
        """The date up to which it is known."""
        if self.period is not None or len(self.time) == 1:
            return math.inf
        return 2 * self.time[-1] - self.time[-2]

    def demand(self, first: float, last: float) -> None:
        """Refuse a stretch of time in which it is not known."""
        if first < self.start:
            raise InputError(
                f"{self._line(2)}: got {self.start:.15g} s of the run as the first date, expected "
                f"{first:.15g} or before"
            )
        if last > self.end:
            raise InputError(
                f"{self._line(self.last_line)}: got values up to {self.end:.15g} s of the run, "
                f"expected some up to {last:.15g}, or a last line such as 86400,repeat"
            )

    def _line(self, number: int) -> str:
        return f"{self.source}: line {number}" if self.last_line else self.source or "rate"

    def at(self, dates: npt.ArrayLike) -> Floats:
        """Return the values at some dates; at the date of a change, the one after it."""
        _, step, _ = self._places(np.asarray(dates, dtype=np.float64))
        found: Floats = self._values[step]
        return found

    def areas(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        """Return the areas between first and last dates: value times seconds."""
        begin, end = np.asarray(first, dtype=np.float64), np.asarray(last, dtype=np.float64)
        if not begin.size:
            return np.zeros(begin.shape)
        self.demand(float(begin.min()), float(end.max()))
        lap, step, inside = self._places(begin)
        last_lap, last_step, last_inside = self._places(end)
        values, lengths, before = self._values, self._lengths, self._before
        with np.errstate(invalid="ignore"):  # of a step without end, in which both dates are
            tail = values[step] * (lengths[step] - inside)
            whole = before[last_step] - before[step + 1] + (last_lap - lap) * before[-1]
            apart: Floats = tail + whole + values[last_step] * last_inside
        together = (lap == last_lap) & (step == last_step)
        return np.where(together, values[step] * (end - begin), apart)

    def means(self, first: npt.ArrayLike, last: npt.ArrayLike) -> Floats:
        """Return the mean values between first and last dates; where they are one, its value."""
        begin, end = np.asarray(first, dtype=np.float64), np.asarray(last, dtype=np.float64)
        areas, spans = self.areas(begin, end), end - begin
        return np.divide(areas, spans, out=self.at(begin), where=spans > 0)

    def changes(self, first: float, last: float, most: int) -> Floats | None:
        """Return the dates between two at which a step begins; None if they are more than some."""
        laps = range(1)
        if self.period is not None:
            lap, _, _ = self._places(np.array([first, last]))
            if (lap[1] - lap[0] + 1) * len(self.time) > most + len(self.time):
                return None
            laps = range(int(lap[0]), int(lap[1]) + 1)
        dates = np.concatenate([self._times + i * (self.period or 0.0) for i in laps])
        dates = dates[(dates > first) & (dates < last)]
        return dates if len(dates) <= most else None

    @cached_property
    def _times(self) -> Floats:
        return np.array(self.time)

    @cached_property
    def _values(self) -> Floats:
        return np.array(self.value)

    @cached_property
    def _lengths(self) -> Floats:
        end = self.end if self.period is None else self.time[0] + self.period
        return np.diff(self._times, append=end)

    @cached_property
    def _before(self) -> Floats:
        """The area before each step, and before the end."""
        with np.errstate(invalid="ignore"):
            return np.concatenate([[0.0], np.cumsum(self._values * self._lengths)])

    def _places(self, dates: Floats) -> tuple[Floats, npt.NDArray[np.intp], Floats]:
        """Return the laps and the steps that dates are in, and the seconds since these began."""
        lap = np.zeros_like(dates)
        if self.period is not None:
            lap = np.floor((dates - self.time[0]) / self.period)
            dates = np.maximum(dates - lap * self.period, self.time[0])
            late = dates >= self.time[0] + self.period  # by rounding
            lap = lap + late
            dates = np.where(late, self.time[0], dates)
        step = np.maximum(np.searchsorted(self._times, dates, side="right") - 1, 0)
        return lap, step, dates - self._times[step]


@dataclass(frozen=True, slots=True)
class Rates:
    """Grams of carbon dioxide and euros a kilowatt-hour; None where nobody asks for them."""

    carbon: Rate | None = None
    price: Rate | None = None

    @property
    def by_amount(self) -> dict[str, tuple[Rate, float]]:
        """Of each amount of AMOUNTS that they tell: the rate, and the joules of a unit."""
        known = {name: (getattr(self, rate), joules) for name, (rate, joules) in AMOUNTS.items()}
        return {name: found for name, found in known.items() if found[0] is not None}

    def demand(self, first: float, last: float) -> None:
        """Refuse a stretch of time in which one of them is not known."""
        for rate, _ in self.by_amount.values():
            rate.demand(first, last)


#: What a run is looked at with where nobody asks for carbon or price.
NO_RATES = Rates()


def amounts_of(energy: Energy, rates: Rates, first: float, last: float) -> dict[str, float]:
    """Return what a run emitted and cost between two dates: the integral of power times rate."""
    time, watts = energy.steps
    edges = np.clip(np.append(time, energy.end), first, last)
    passing = edges[1:] > edges[:-1]
    return {
        name: _sum(watts[passing] * rate.areas(edges[:-1][passing], edges[1:][passing])) / joules
        for name, (rate, joules) in rates.by_amount.items()
    }


def _sum(values: Floats) -> float:
    parts: Sequence[float] = values.tolist()
    return math.fsum(parts) if np.isfinite(values).all() else float(values.sum())
