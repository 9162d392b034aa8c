"""Workloads after the model of Cirne and Berman: requested times and cancellations, too.

Arrivals: a Poisson process whose rate is a polynomial of the time of day, and less on some
weekdays. Sizes: uniform in their logarithm, most of them moved to a power of two. Users ask for a
time, uniform in its logarithm, and use a share of it, a gamma variate up to 1: a job's runtime is
what it asked for times that. Some users cancel a job that still waits after a time, uniform in its
logarithm.

The structure is that of Cirne and Berman, "A comprehensive model of the supercomputer workload",
WWC-4, 2001. Their coefficients are not: those of the patterns here were fitted to logs of the
Parallel Workloads Archive by `fit_cirne`, and files can replace them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.toml_table import read_toml
from noctule.synthetic.arrivals import DAY, Arrivals, Cycle
from noctule.synthetic.assembly import DrawnJobs, Origin, assembled
from noctule.synthetic.cirne_coefficients import Accuracy, Coefficients, LogUniform
from noctule.synthetic.draws import (
    Seed,
    count,
    exponential,
    gamma,
    generator,
    positive,
    redrawn,
    uniform,
)
from noctule.synthetic.estimates import WalltimeModel
from noctule.workload import Workload

PATTERNS = ("kth", "sdsc")
_ROUNDS = 60


def cirne(
    n_jobs: int,
    *,
    seed: Seed,
    pattern: str = "kth",
    coefficients: str | os.PathLike[str] | Coefficients | None = None,
    n_hosts: int | None = None,
    largest: int | None = None,
    load: float | None = None,
    arrivals: Arrivals | None = None,
    walltimes: WalltimeModel | None = None,
    profiles: str = "compute",
) -> Workload:
    """Draw a workload; time 0 is midnight, of a Monday.

    Args:
        n_jobs: how many jobs.
        seed: of the draws.
        pattern: whose coefficients: kth or sdsc.
        coefficients: others, or a TOML file of them; then the pattern does not matter.
        n_hosts: of the machine; by default that of the log. Sizes grow along with it.
        largest: hosts of the largest job; by default those of the machine, as in the log. Sizes
            then grow along with this instead.
        load: work of all jobs over what the machine does while they come, reached by the gaps
            between submissions; by default the gaps are those of the log.
        arrivals: laid over those of the model.
        walltimes: replace the times that users ask for.
        profiles: "compute" or "delay".
    """
    count("n_jobs", n_jobs)
    said = coefficients_of(pattern, coefficients)
    machine = said.n_hosts if n_hosts is None else count("n_hosts", n_hosts)
    most = machine if largest is None else count("largest", largest)
    if most > machine:
        raise InputError(f"largest: got {most}, expected at most the {machine} hosts there are")
    rng = generator(seed)
    sizes = _sizes(said, n_jobs, most, rng)
    asked = _rounded(said.requested_time.draw(rng, n_jobs), said.step)
    runtime = asked * _accuracy(said.accuracy, asked, rng)
    cycle = week(said)
    steady = np.cumsum(exponential(rng, n_jobs)) * said.mean_gap
    if load is not None:
        work = float(np.dot(sizes, np.maximum(np.floor(runtime), 1.0)))
        steady *= _stretch(cycle, float(steady[-1]), work / (positive("load", load) * machine))
    drawn = DrawnJobs(
        cycle.bent(steady),
        sizes,
        runtime,
        walltime=asked,
        cancelled_after=_cancelled_after(said, n_jobs, rng),
    )
    origin = Origin("cirne", seed, machine, said.source)
    return assembled(drawn, origin, rng, arrivals=arrivals, walltimes=walltimes, profiles=profiles)


def coefficients_of(
    pattern: str = "kth", coefficients: str | os.PathLike[str] | Coefficients | None = None
) -> Coefficients:
    """Return the coefficients of a pattern, or those that are given or that a file has."""
    if isinstance(coefficients, Coefficients):
        return coefficients
    if coefficients is not None:
        return Coefficients.of(read_toml(read_bytes(coefficients), os.fspath(coefficients)))
    if pattern not in PATTERNS:
        expected = " or ".join(PATTERNS)
        raise InputError(f"cirne: pattern: got {pattern!r}, expected {expected}")
    name = f"{pattern}.toml"
    text = (files("noctule.synthetic") / "patterns" / name).read_bytes()
    return Coefficients.of(read_toml(text, name))


def week(coefficients: Coefficients) -> Cycle:
    """Return how much faster than on average jobs come, by quarters of hours from Monday on."""
    day = coefficients.rate_of_day()
    weights = [weekday * rate for weekday in coefficients.weekdays for rate in day]
    return Cycle(tuple(weights), 7 * DAY)


def _stretch(cycle: Cycle, last: float, end: float) -> float:
    """Return the factor of steady dates with which the last of them is bent to the end."""
    low, high = 0.0, 1.0
    bent = cycle.bent
    while bent(np.array([last * high]))[0] < end:
        low, high = high, 2 * high
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        below = bent(np.array([last * middle]))[0] < end
        low, high = (middle, high) if below else (low, middle)
    return high


def _sizes(
    said: Coefficients, n: int, most: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    grown = most / said.n_hosts
    law = replace(said.sizes, high=said.sizes.high * grown, most=max(1.0, said.sizes.most * grown))
    if law.high < law.low:  # on a machine of a few hosts nothing may be left between them
        law = LogUniform(law.least, law.least, law.least, law.most)
    size = law.draw(rng, n)
    powers = uniform(rng, n) <= said.power_of_two
    # a power that was rounded up beyond the largest job becomes the one below
    exponent = np.minimum(np.floor(np.log2(size) + 0.5), np.floor(np.log2(law.most) + 1e-12))
    size = np.where(powers, np.exp2(exponent), np.floor(size + 0.5))
    return np.clip(size, 1, most).astype(np.int64)


def _rounded(seconds: Floats, step: float) -> Floats:
    """Return times as users write them: rounded up to multiples."""
    rounded: Floats = np.ceil(seconds / step) * step
    return rounded


def _accuracy(classes: tuple[Accuracy, ...], asked: Floats, rng: np.random.Generator) -> Floats:
    """Draw which share of the time that it asked for each job runs."""
    n = len(asked)
    edges = np.array([each.up_to for each in classes[:-1]])
    index = np.searchsorted(edges, asked, side="left")
    at_limit = uniform(rng, n) <= np.array([each.at_limit for each in classes])[index]
    share = np.empty(n)
    for i, law in enumerate(classes):
        mine = np.flatnonzero(index == i)
        share[mine] = _shares(law, len(mine), rng)
    return np.where(at_limit, 1.0, share)


def _shares(law: Accuracy, n: int, rng: np.random.Generator) -> Floats:
    return redrawn(
        n,
        lambda positions: gamma(rng, law.shape, len(positions)) * law.scale,
        lambda values: values <= 1.0,
        what="cirne: an accuracy up to 1",
    )


def _cancelled_after(said: Coefficients, n: int, rng: np.random.Generator) -> Floats | None:
    if said.cancellation is None:
        return None
    chosen = uniform(rng, n) <= said.cancelled
    return np.where(chosen, said.cancellation.draw(rng, n), np.inf)
