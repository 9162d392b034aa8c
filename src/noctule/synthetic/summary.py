"""What a drawn workload is like, in a few numbers."""

from __future__ import annotations

import math

import numpy as np

from noctule.columns import KIND_COMPUTE, KIND_DELAY
from noctule.formats.headers import hosts_told
from noctule.workload import Workload


def summary(workload: Workload) -> dict[str, float | int]:
    """Return means of a workload whose jobs' amounts are seconds; NaN where nothing is known.

    `offered_load` is the work of all jobs divided by what the hosts, of which the headers tell how
    many there are, do up to the last submission.
    """
    submit, sizes = workload.submit_time, workload.n_hosts.astype(np.float64)
    known = bool(np.isin(workload.table.kind, (KIND_DELAY, KIND_COMPUTE)).all())
    runtime = workload.table.amount if known else np.full(len(workload), math.nan)
    walltime = workload.walltime[np.isfinite(workload.walltime)]
    n_hosts, last = hosts_told(workload.headers), float(submit[-1])
    work = math.fsum((sizes * runtime).tolist())
    return {
        "n_jobs": len(workload),
        "last_submit_time": last,
        "mean_inter_arrival_time": last / len(workload),
        "mean_n_hosts": _mean(sizes.tolist()),
        "max_n_hosts": int(sizes.max()),
        "serial_share": float(np.count_nonzero(sizes == 1)) / len(workload),
        "mean_runtime": _mean(runtime.tolist()),
        "median_runtime": float(np.median(runtime)),
        "max_runtime": float(runtime.max()),
        "mean_walltime": _mean(walltime.tolist()),
        "offered_load": work / (n_hosts * last) if n_hosts and last > 0 else math.nan,
    }


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
