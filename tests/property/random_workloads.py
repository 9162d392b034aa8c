"""Random workloads full of ties, which is where schedulers differ."""

from __future__ import annotations

import numpy as np

import noctule as nt
from noctule.columns import Columns


def random_workload(seed: int, *, n_jobs: int, n_hosts: int, load: float = 1.5) -> nt.Workload:
    """Draw jobs whose dates, sizes and walltimes are small whole numbers; some end early."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, n_hosts + 1, n_jobs)
    small = rng.random(n_jobs) < 0.5
    sizes[small] = rng.integers(1, max(2, n_hosts // 4), n_jobs)[small]
    walltimes = rng.choice([1, 2, 3, 5, 8, 10, 10, 20, 40], n_jobs)
    runtimes = np.where(rng.random(n_jobs) < 0.5, walltimes, rng.integers(1, walltimes + 1))
    span = (sizes * runtimes).sum() / (n_hosts * load)
    submit = np.sort(rng.integers(0, max(1, int(span)) + 1, n_jobs))
    return nt.Workload(
        Columns(
            job_ids=np.arange(n_jobs),
            submit_time=submit,
            n_hosts=sizes,
            amount=runtimes,
            walltime=walltimes,
        )
    )


def difference(one: nt.Schedule, other: nt.Schedule) -> str | None:
    """Name the first column in which two schedules differ."""
    for name in ("job_id", "submit_time", "start_time", "finish_time", "state"):
        # rejected jobs have no dates
        dates = name.endswith("_time")
        if not np.array_equal(one.column(name), other.column(name), equal_nan=dates):
            return name
    hosts = [str(h) for h in one.column("hosts")], [str(h) for h in other.column("hosts")]
    return None if hosts[0] == hosts[1] else "hosts"
