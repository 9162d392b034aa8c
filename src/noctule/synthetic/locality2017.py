"""The workloads with which the locality of jobs was studied: jobs of a log that communicate.

Jobs that are neither short nor long and fit into one cluster are picked from a log. Each computes
in proportion to its recorded runtime, and every pair of its hosts exchanges bytes in proportion to
it, too. All are submitted at 0, with walltimes so long that none is ever stopped.

Poquet, "Simulation approach for resource management", thesis, Université Grenoble Alpes, 2017,
section 5.5.1.
"""

from __future__ import annotations

import math

import numpy as np

from noctule.columns import KIND_COMPUTE, KIND_DELAY, shown
from noctule.errors import InputError
from noctule.profile import HomogeneousTask
from noctule.synthetic.assembly import Origin
from noctule.synthetic.draws import Positions, Seed, count, generator, positive
from noctule.workload import Job, ReadingRule, Request, Workload


def locality2017(
    n_jobs: int = 300,
    *,
    seed: Seed,
    jobs_from: Workload,
    n_hosts: int = 16,
    shortest: float = 3600.0,
    longest: float = 14400.0,
    computation: float = 1e6,
    communication: float = 0.0,
    walltime_scale: float = 1000.0,
) -> Workload:
    """Draw jobs of a log, without replacement, in random order.

    Those have at most `n_hosts` hosts, the size of a cluster, and runtimes from `shortest` to
    `longest`. For each second of its runtime a job computes `computation` flops on every host and
    sends `communication` bytes from each host to each other; its walltime is `walltime_scale` times
    its runtime, or what was requested if that is more.
    """
    count("n_jobs", n_jobs)
    count("n_hosts", n_hosts)
    for name, value in (("computation", computation), ("walltime_scale", walltime_scale)):
        positive(f"locality2017: {name}", value)
    if not (math.isfinite(communication) and communication >= 0):
        raise InputError(
            f"locality2017: communication: got {shown(communication)}, expected a number >= 0"
        )
    eligible = _eligible(jobs_from, n_hosts, shortest, longest)
    if len(eligible) < n_jobs:
        raise InputError(
            f"{jobs_from.source}: got {len(eligible)} jobs of up to {n_hosts} hosts and "
            f"{shown(shortest)} to {shown(longest)} s, expected at least {n_jobs}"
        )
    rng = generator(seed)
    picked = eligible[np.argsort(rng.random(len(eligible)), kind="stable")[:n_jobs]]
    table = jobs_from.table
    runtimes, requested = table.amount[picked], table.walltime[picked]
    asked = np.where(np.isfinite(requested), requested, 0.0)
    walltimes = np.maximum(asked, runtimes * walltime_scale)
    rows = zip(table.n_hosts[picked].tolist(), runtimes.tolist(), walltimes.tolist(), strict=True)
    jobs = [
        Job(
            number,
            0.0,
            Request(size),
            HomogeneousTask(runtime * computation, runtime * communication),
            walltime,
            profile_name=f"job{number}",
        )
        for number, (size, runtime, walltime) in enumerate(rows, start=1)
    ]
    return Workload.from_jobs(
        jobs,
        headers=Origin("locality2017", seed).headers(n_jobs),
        reading=[ReadingRule("jobs that could be drawn", len(eligible))],
        source="locality2017",
    )


def _eligible(log: Workload, n_hosts: int, shortest: float, longest: float) -> Positions:
    kind, runtime = log.table.kind, log.table.amount
    recorded = (kind == KIND_COMPUTE) | (kind == KIND_DELAY)
    fits = log.table.n_hosts <= n_hosts
    return np.flatnonzero(recorded & fits & (runtime >= shortest) & (runtime <= longest))
