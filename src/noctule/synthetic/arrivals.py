"""When jobs come: cycles of days and weeks, and bursts, laid over the arrivals of any model.

A cycle bends time: where its weight is 2, jobs come twice as fast as on average, and the mean rate
over whole periods stays that of the model. Bursts gather jobs: runs of consecutive jobs, of random
length, follow the first of them closely; the first ones stay where they were, and so does the
mean rate. Both together: first the cycle, then the bursts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.synthetic.draws import exponential, positive

HOUR = 3600.0
DAY = 24 * HOUR

# Submissions by hour and by weekday, local time: the mean of KTH-SP2, SDSC-SP2 and CEA-Curie.
_HOURS = (
    *(0.50, 0.45, 0.37, 0.30, 0.31, 0.37, 0.50, 0.65, 0.95, 1.44, 1.70, 1.79),
    *(1.51, 1.60, 1.85, 1.81, 1.76, 1.41, 1.19, 0.87, 0.70, 0.66, 0.68, 0.63),
)
_LARGEST = 2.0**53
_WEEKDAYS = (1.03, 1.19, 1.28, 1.27, 1.11, 0.53, 0.59)


@dataclass(frozen=True, slots=True)
class Cycle:
    """How much faster than on average jobs come, in slots of equal length that fill a period."""

    weights: tuple[float, ...]
    period: float = DAY

    def __post_init__(self) -> None:
        """Refuse what is no rate."""
        positive("arrivals: period", self.period)
        for weight in self.weights:
            if not (math.isfinite(weight) and weight >= 0):
                raise InputError(f"arrivals: weight: got {shown(weight)}, expected a number >= 0")
        if not sum(self.weights) > 0:
            raise InputError("arrivals: weights: got none above zero, expected at least one")

    def bent(self, date: Floats) -> Floats:
        """Return the dates at which as many jobs have come as steadily came by the given ones."""
        slot = self.period / len(self.weights)
        steady = np.array(self.weights) * (len(self.weights) / math.fsum(self.weights)) * slot
        edges = np.concatenate([[0.0], np.cumsum(steady)])
        n_periods, rest = np.divmod(date, edges[-1])
        # the last slot that begins by then: one with a weight, for others take no time
        index = np.searchsorted(edges[:-1], rest, side="right") - 1
        share = (rest - edges[index]) / steady[index]
        bent: Floats = n_periods * self.period + (index + share) * slot
        return bent


CYCLES = {
    "daily": Cycle(_HOURS),
    "weekly": Cycle(tuple(day * hour for day in _WEEKDAYS for hour in _HOURS), 7 * DAY),
}


@dataclass(frozen=True, slots=True)
class Bursts:
    """Runs of jobs: `size` jobs, `spacing` seconds apart, both on average.

    Sizes are geometric and spacings exponential; without a spacing, a run comes at one instant.
    """

    size: float
    spacing: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no burst."""
        if not (math.isfinite(self.size) and self.size >= 1):
            raise InputError(f"arrivals: burst size: got {shown(self.size)}, expected at least 1")
        if self.size > _LARGEST:
            raise InputError(
                f"arrivals: burst size: got {shown(self.size)}, expected {_LARGEST:g} at most"
            )
        if not (math.isfinite(self.spacing) and self.spacing >= 0):
            raise InputError(
                f"arrivals: burst spacing: got {shown(self.spacing)}, expected a number >= 0"
            )

    def gathered(self, date: Floats, rng: np.random.Generator) -> Floats:
        """Return the dates with each run moved up to its first job, in the order of the jobs."""
        first = _firsts(self._sizes(len(date), rng), len(date))
        steps = np.cumsum(exponential(rng, len(date)) * self.spacing)
        gathered: Floats = date[first] + (steps - steps[first])
        return gathered

    def _sizes(self, n: int, rng: np.random.Generator) -> Floats:
        if self.size == 1:
            return np.ones(n)
        # an exponential variate rounded up is geometric; this mean makes that of the sizes right
        mean = -1.0 / math.log1p(-1.0 / self.size)
        return np.ceil(exponential(rng, n) * mean)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What is laid over the arrivals of a model; nothing by default."""

    cycle: Cycle | None = None
    bursts: Bursts | None = None

    def applied(self, date: Floats, rng: np.random.Generator) -> Floats:
        """Return dates of submission, in the order of the jobs; sort them with the jobs."""
        if self.cycle is not None:
            date = self.cycle.bent(date)
        if self.bursts is not None:
            date = self.bursts.gathered(date, rng)
        return date


def cycle_named(name: str) -> Cycle:
    """Return the cycle of this name."""
    if name not in CYCLES:
        raise InputError(f"arrivals: cycle: got {name!r}, expected one of {', '.join(CYCLES)}")
    return CYCLES[name]


def _firsts(sizes: Floats, n: int) -> npt.NDArray[np.intp]:
    """Return the position of the first job of its run, for each of n jobs."""
    ends = np.cumsum(sizes)
    run = np.searchsorted(ends, np.arange(n), side="right")
    firsts: npt.NDArray[np.intp] = (ends - sizes)[run].astype(np.intp)
    return firsts
