"""Jobs that look like Lublin and Feitelson's, cheap to draw by the ten million.

Sizes: a quarter are serial, most of the others powers of two, log-uniform up to an eighth of the
machine. Runtimes: log-normal around ten minutes, larger jobs longer. Walltimes: one to ten times
the runtime. Arrivals: Poisson, at the rate that gives the wanted load.
"""

from __future__ import annotations

import numpy as np

import noctule as nt
from noctule.columns import Columns


def lublin_like(n_jobs: int, *, n_hosts: int, load: float, seed: int = 1) -> nt.Workload:
    """Draw jobs for a machine, in dates of whole seconds."""
    rng = np.random.default_rng(seed)
    exponent = rng.uniform(0, np.log2(n_hosts / 8), n_jobs)
    powers = rng.random(n_jobs) < 0.6
    exponent[powers] = np.floor(exponent[powers])
    sizes = np.floor(2**exponent)
    sizes[rng.random(n_jobs) < 0.25] = 1
    runtimes = np.ceil(np.exp(rng.normal(6.0, 1.6, n_jobs)) * (1 + np.log2(sizes) / 8))
    np.clip(runtimes, 1, 3 * 86400, out=runtimes)
    walltimes = np.ceil(runtimes * rng.choice([1.0, 1.5, 2.0, 4.0, 10.0], n_jobs))
    gap = float((sizes * runtimes).mean()) / (n_hosts * load)
    submit = np.floor(np.cumsum(rng.exponential(gap, n_jobs)))
    submit -= submit[0]
    columns = Columns(
        job_ids=np.arange(n_jobs),
        submit_time=submit,
        n_hosts=sizes,
        amount=runtimes,
        walltime=walltimes,
    )
    del exponent, powers
    return nt.Workload(columns)


def deepest_queue(schedule: nt.Schedule) -> int:
    """Return the largest number of jobs that waited at once."""
    submitted = np.sort(schedule.column("submit_time"))
    started = np.sort(schedule.column("start_time"))
    waiting = np.arange(1, len(submitted) + 1) - np.searchsorted(started, submitted)
    return int(waiting.max())
