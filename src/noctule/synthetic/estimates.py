"""Walltimes of jobs whose runtimes are known: none, exact, by a factor, or drawn by a model.

A walltime is at least the runtime, in whole seconds. The model of Tsafrir, Etsion and Feitelson is
in `noctule.synthetic.tsafrir`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.synthetic.draws import uniform
from noctule.workload import ReadingRule


@dataclass(frozen=True, slots=True)
class Walltimes:
    """Walltimes, and what had to be done to some of them."""

    walltime: Floats
    rules: tuple[ReadingRule, ...] = ()


class WalltimeModel(Protocol):
    """Gives each job a walltime."""

    def draw(self, runtime: Floats, rng: np.random.Generator) -> Walltimes:
        """Draw the walltimes of jobs with these runtimes."""


@dataclass(frozen=True, slots=True)
class NoWalltimes:
    """No job has a walltime."""

    def draw(self, runtime: Floats, rng: np.random.Generator) -> Walltimes:  # noqa: ARG002
        """Draw nothing."""
        return Walltimes(np.full(len(runtime), math.inf))


@dataclass(frozen=True, slots=True)
class FactorWalltimes:
    """Each walltime is the runtime times a factor; with 1, users know their jobs exactly."""

    factor: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a factor that would kill jobs."""
        _at_least("factor", self.factor, 1)

    def draw(self, runtime: Floats, rng: np.random.Generator) -> Walltimes:  # noqa: ARG002
        """Multiply; nothing is random."""
        with np.errstate(over="ignore"):  # a limit that no number can hold is none
            return Walltimes(np.ceil(runtime * self.factor))


@dataclass(frozen=True, slots=True)
class UniformWalltimes:
    """The "f-model": a walltime is uniform between the runtime and (1 + f) times that.

    Mu'alem and Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
    scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001.
    """

    f: float = 2.0

    def __post_init__(self) -> None:
        """Refuse a factor that would kill jobs."""
        _at_least("f", self.f, 0)

    def draw(self, runtime: Floats, rng: np.random.Generator) -> Walltimes:
        """Draw a factor for each job."""
        factor = 1.0 + self.f * uniform(rng, len(runtime))
        with np.errstate(over="ignore"):  # a limit that no number can hold is none
            return Walltimes(np.ceil(runtime * factor))


def _at_least(name: str, value: float, least: float) -> None:
    if not (math.isfinite(value) and value >= least):
        raise InputError(f"walltimes: {name}: got {shown(value)}, expected at least {least}")
