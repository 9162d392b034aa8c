"""The workload model of Lublin and Feitelson.

Two independent streams, batch and interactive jobs, or one of all jobs alike. Sizes: a share of
serial jobs, a share of powers of two, the exponents of parallel ones uniform in two stages.
Runtimes: e to a hyper-gamma variate whose mixture depends on the size. Arrivals: gaps e to a gamma
variate, bent by a daily cycle that is itself the density of a gamma variable.

Lublin and Feitelson, "The workload on parallel supercomputers: modeling the characteristics of
rigid jobs", JPDC 63(11), 2003, with the constants of the authors' program (m_lublin99).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.synthetic.arrivals import Arrivals, Cycle
from noctule.synthetic.assembly import EXACT, DrawnJobs, Origin, assembled
from noctule.synthetic.draws import (
    Positions,
    Seed,
    count,
    gamma,
    gamma_cdf,
    generator,
    redrawn,
    uniform,
)
from noctule.synthetic.estimates import WalltimeModel
from noctule.workload import Workload

_MAX_LOG_RUNTIME = 12.0
_MAX_LOG_GAP = 13.0
_SLOTS = 48
# The day of the model's arrivals begins with this half-hour.
_FIRST_SLOT = 11
# The machine that the constants are fitted to.
_FITTED_LOG2_HOSTS = 7.0


@dataclass(frozen=True, slots=True)
class Stream:
    """The constants of one stream of jobs, as the paper names them.

    Args:
        serial: probability of a serial job.
        power_of_two: probability of a parallel job whose size is a power of two.
        low, middle, high: limits of the two stages of log2(size).
        first_stage: probability of the first stage.
        a1, b1, a2, b2: shapes and scales of the two gamma variates of ln(runtime).
        pa, pb: the probability of the first one is pa x size + pb.
        a_gap, b_gap: shape and scale of ln(gap) in rush hours.
        a_day, b_day: shape and scale of the daily cycle, in half-hours.
        rush_ratio: what a_gap is multiplied with to hold for all hours ("ARAR").
    """

    serial: float
    power_of_two: float
    low: float
    middle: float
    high: float
    first_stage: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    a_gap: float
    b_gap: float
    a_day: float
    b_day: float
    rush_ratio: float


# fmt: off
BATCH = Stream(0.2927, 0.6686, 1.2, 5.0, 7.0, 0.875, 6.57, 0.823, 639.1, 0.0156, -0.003, 0.6986,
               6.0415, 0.8531, 6.1271, 5.2740, 1.0519)
INTERACTIVE = Stream(0.1541, 0.625, 1.0, 3.0, 5.5, 0.705, 3.8351, 0.6605, 7.073, 0.6856, -0.0118,
                     0.9156, 6.5510, 0.6621, 8.9186, 3.6680, 0.9797)
ALL_ALIKE = Stream(0.244, 0.576, 0.8, 4.5, 7.0, 0.86, 4.2, 0.94, 312.0, 0.03, -0.0054, 0.78,
                   10.2303, 0.4871, 8.1737, 3.9631, 1.0225)
# fmt: on


def lublin(
    n_jobs: int,
    *,
    seed: Seed,
    n_hosts: int = 128,
    typed: bool = True,
    streams: tuple[Stream, ...] | None = None,
    arrivals: Arrivals | None = None,
    walltimes: WalltimeModel = EXACT,
    profiles: str = "compute",
) -> Workload:
    """Draw a workload; `typed` jobs have the queue 0 (interactive) or 1 (batch).

    The constants are those of a machine of 128 hosts; for another one, the limits of the sizes'
    exponents move along with log2(n_hosts). `streams` replaces them, queue by queue.
    """
    count("n_jobs", n_jobs)
    count("n_hosts", n_hosts)
    rng = generator(seed)
    if streams is None:
        streams = (INTERACTIVE, BATCH) if typed else (ALL_ALIKE,)
    if not streams:
        raise InputError("lublin: streams: got none, expected at least one")
    drawn = [_drawn(stream, n_jobs, n_hosts, rng) for stream in streams]
    queue = np.repeat(np.arange(len(streams)), n_jobs)
    submit = np.concatenate([jobs.submit_time for jobs in drawn])
    first = np.argsort(submit, kind="stable")[:n_jobs]
    merged = DrawnJobs(
        submit[first],
        np.concatenate([jobs.n_hosts for jobs in drawn])[first],
        np.concatenate([jobs.runtime for jobs in drawn])[first],
        {"queue": queue[first]} if len(streams) > 1 else {},
    )
    origin = Origin("lublin", seed, n_hosts, "" if len(streams) > 1 else "jobs of one type")
    return assembled(merged, origin, rng, arrivals=arrivals, walltimes=walltimes, profiles=profiles)


def daily_cycle(stream: Stream) -> Cycle:
    """Return the arrivals over the day, in half-hours from midnight on."""
    weights = [0.0] * _SLOTS
    for i in range(_FIRST_SLOT, _FIRST_SLOT + _SLOTS):
        after, before = (gamma_cdf(stream.a_day, (i + d) / stream.b_day) for d in (0.5, -0.5))
        weights[(i - 1) % _SLOTS] = after - before
    return Cycle(tuple(weights))


def _drawn(stream: Stream, n: int, n_hosts: int, rng: np.random.Generator) -> DrawnJobs:
    shape = stream.a_gap * stream.rush_ratio
    log_gap = redrawn(
        n,
        lambda positions: gamma(rng, shape, len(positions)) * stream.b_gap,
        lambda logs: logs <= _MAX_LOG_GAP,
    )
    submit = daily_cycle(stream).bent(np.cumsum(np.exp(log_gap)))
    sizes = _sizes(stream, n, n_hosts, rng)
    return DrawnJobs(submit, sizes, _runtimes(stream, sizes, rng))


def _sizes(stream: Stream, n: int, n_hosts: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    shift = math.log2(n_hosts) - _FITTED_LOG2_HOSTS
    # on a machine of a few hosts nothing may be left of a stage
    middle = max(stream.middle + shift, stream.low)
    high = max(stream.high + shift, middle)
    kind, stage, position = uniform(rng, n), uniform(rng, n), uniform(rng, n)
    exponent = np.where(
        stage <= stream.first_stage,
        stream.low + (middle - stream.low) * position,
        middle + (high - middle) * position,
    )
    powers = kind <= stream.serial + stream.power_of_two
    exponent = np.where(powers, np.floor(exponent + 0.5), exponent)
    # the exponent of a power of two may have been rounded up beyond the machine
    exponent = np.minimum(exponent, np.where(powers, math.floor(math.log2(n_hosts)), math.inf))
    size = np.floor(np.exp2(exponent) + 0.5)
    size = np.where(kind <= stream.serial, 1.0, size)
    return np.minimum(size, n_hosts).astype(np.int64)


def _runtimes(stream: Stream, sizes: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    short = np.clip(stream.pa * sizes + stream.pb, 0.0, 1.0)

    def logs(positions: Positions) -> Floats:
        n = len(positions)
        first = uniform(rng, n) <= short[positions]
        drawn = np.empty(n)
        for mask, a, b in ((first, stream.a1, stream.b1), (~first, stream.a2, stream.b2)):
            drawn[mask] = gamma(rng, a, int(np.count_nonzero(mask))) * b
        return drawn

    return np.exp(redrawn(len(sizes), logs, lambda values: values <= _MAX_LOG_RUNTIME))
