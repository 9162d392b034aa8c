"""The workloads with which Batsim was validated.

Gaps between submissions are Weibull(shape 2, scale 15), sizes 2 ** floor(u) with u lognormal
(mu 0.25, sigma 0.5) and floor(u) in [0, 5], and each job runs one of the given programs that fit
its size. The authors say of it that it is not meant to compare policies.

Dutot, Mercier, Poquet and Richard, "Batsim: a realistic language-independent resources and jobs
management systems simulator", JSSPP 2016, section 6.2. How a program is chosen is not told there:
here, each that fits the size is as likely as the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.synthetic.arrivals import Arrivals
from noctule.synthetic.assembly import EXACT, DrawnJobs, Origin, dated
from noctule.synthetic.draws import (
    Positions,
    Seed,
    count,
    generator,
    normal,
    positive,
    redrawn,
    weibull,
)
from noctule.synthetic.estimates import NoWalltimes, WalltimeModel
from noctule.synthetic.programs import Program, Programs, delays
from noctule.workload import Delay, Job, ReadingRule, Request, Workload


def batsim2016(
    n_jobs: int = 800,
    *,
    seed: Seed,
    runtimes: Programs | Iterable[float] | Mapping[int, Iterable[float]],
    n_hosts: int = 32,
    shape: float = 2.0,
    scale: float = 15.0,
    mu: float = 0.25,
    sigma: float = 0.5,
    arrivals: Arrivals | None = None,
    walltimes: WalltimeModel = EXACT,
) -> Workload:
    """Draw a workload; `runtimes` are what to draw from, in all or by size.

    Sizes go up to the largest power of two in `n_hosts`. Jobs are delays, or have the profiles of
    the `Programs` given.
    """
    count("n_jobs", n_jobs)
    count("n_hosts", n_hosts)
    for name, value in (("shape", shape), ("scale", scale), ("sigma", sigma)):
        positive(f"batsim2016: {name}", value)
    rng = generator(seed)
    programs = runtimes if isinstance(runtimes, Programs) else delays(runtimes)
    gaps = weibull(rng, shape, n_jobs) * scale
    sizes = _sizes(n_jobs, n_hosts, mu, sigma, rng)
    chosen = _chosen(programs, sizes, rng)
    submit = np.cumsum(gaps)
    known = np.array([_runtime_of(program) for program in programs.programs])
    drawn = dated(DrawnJobs(submit, sizes, known[chosen], {"program": chosen}), arrivals, rng)
    origin = Origin("batsim2016", seed, n_hosts)
    return _workload(drawn, programs, origin, walltimes, rng)


def _sizes(
    n: int, n_hosts: int, mu: float, sigma: float, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    largest = math.floor(math.log2(n_hosts))

    def exponents(positions: Positions) -> Floats:
        return np.floor(np.exp(mu + sigma * normal(rng, len(positions))))

    what = f"batsim2016: a size up to {n_hosts}"
    exponent = redrawn(n, exponents, lambda values: values <= largest, what=what)
    return np.left_shift(1, exponent.astype(np.int64))


def _chosen(
    programs: Programs, sizes: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Draw the position of a program for each job."""
    u = rng.random(len(sizes))
    chosen = np.empty(len(sizes), dtype=np.intp)
    for size in np.unique(sizes).tolist():
        fitting = np.array(programs.fitting(size), dtype=np.intp)
        if not len(fitting):
            raise InputError(
                f"runtimes: got none for jobs of {size} hosts, expected one for each power of two"
            )
        rows = sizes == size
        chosen[rows] = fitting[(u[rows] * len(fitting)).astype(np.intp)]
    return chosen


def _workload(
    drawn: DrawnJobs,
    programs: Programs,
    origin: Origin,
    walltimes: WalltimeModel,
    rng: np.random.Generator,
) -> Workload:
    run = [programs.programs[i] for i in drawn.labels["program"].tolist()]
    walltime = np.full(len(run), math.inf)
    rules: tuple[ReadingRule, ...] = ()
    if not isinstance(walltimes, NoWalltimes):
        _refuse_unknown(run, drawn.runtime)
        asked = walltimes.draw(np.ceil(drawn.runtime), rng)
        # a delay must be over before its walltime
        walltime, rules = np.maximum(asked.walltime, np.floor(drawn.runtime) + 1.0), asked.rules
    jobs = [
        Job(i + 1, submit, Request(size), program.profile, limit, profile_name=program.name)
        for i, (submit, size, program, limit) in enumerate(
            zip(
                drawn.submit_time.tolist(),
                drawn.n_hosts.tolist(),
                run,
                walltime.tolist(),
                strict=True,
            )
        )
    ]
    return Workload.from_jobs(
        jobs,
        profiles={program.name: program.profile for program in programs.programs},
        raw_profiles=programs.raw,
        headers=origin.headers(len(jobs)),
        reading=[ReadingRule("jobs drawn", len(jobs)), *rules],
        source=origin.model,
    )


def _runtime_of(program: Program) -> float:
    """Return the runtime of a delay; that of other programs depends on the hosts."""
    return program.profile.duration if isinstance(program.profile, Delay) else math.nan


def _refuse_unknown(run: Sequence[Program], runtime: Floats) -> None:
    unknown = np.isnan(runtime)
    if unknown.any():
        name = run[int(np.argmax(unknown))].name
        raise InputError(
            f"profile {name!r}: got one whose runtime is not known beforehand, "
            "expected a delay, or no walltimes"
        )
