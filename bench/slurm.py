"""How long the model of Slurm takes: E5's size, and CEA-Curie's thin nodes with their own log.

    python bench/slurm.py [DAYS]

Curie's log is read from $NOCTULE_SHARED/traces (default ../shared); DAYS leaves all but the first
ones out. Prints a table; the exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import lzma
import math
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from lublin_like import deepest_queue, lublin_like
from measures import Measure, report

import noctule as nt
from noctule.columns import Columns
from noctule.formats.swf import read_swf_log
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import SlurmSettings, settings_from
from noctule.slurm.jobs.requests import Requests
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import simulate_slurm

LOG = "CEA-Curie-2011-2.1-cln.swf.xz"
STANDARD = 10  # the partition of the thin nodes
THIN_NODES, CORES = 5040, 16
CONF = """ClusterName=bench
SelectType=select/linear
SchedulerParameters=bf_interval=30
NodeName=n[1-{n}] CPUs={cpus}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def settings(n_nodes: int, cpus: int) -> SlurmSettings:
    return settings_from(parse_conf(CONF.format(n=n_nodes, cpus=cpus), "bench.conf"))


def requests_of(workload: nt.Workload) -> Requests:
    """Ask for the hosts and walltimes of a workload, in whole minutes."""
    limits = np.where(np.isfinite(workload.walltime), workload.walltime, 86400.0)
    return Requests(
        len(workload),
        {
            "min_nodes": workload.n_hosts.tolist(),
            "limit": np.maximum(1, np.ceil(limits / 60)).astype(int).tolist(),
        },
    )


def curie(path: Path, days: float) -> nt.Workload:
    """Read the jobs of the thin nodes, as whole nodes."""
    log = read_swf_log(lzma.decompress(path.read_bytes()), source=str(path))
    submit = log.column("submit time")
    procs = np.maximum(log.column("allocated processors"), log.column("requested processors"))
    runtime = log.column("run time")
    kept = (log.column("partition") == STANDARD) & (procs > 0) & (runtime > 0)
    kept &= submit - submit[kept].min() <= days * 86400
    walltime = log.column("requested time")[kept]
    nodes = np.minimum(np.ceil(procs[kept] / CORES), THIN_NODES)
    return nt.Workload(
        Columns(
            job_ids=log.column("job number")[kept].astype(np.int64),
            submit_time=submit[kept] - submit[kept].min(),
            n_hosts=nodes,
            amount=runtime[kept],
            walltime=np.where(walltime > 0, walltime, 86400.0),
        )
    )


def measured(what: str, workload: nt.Workload, n_nodes: int, cpus: int, bound: float) -> Measure:
    conf = settings(n_nodes, cpus)
    began = time.perf_counter()
    schedule, model = simulate_slurm(workload, conf, requests_of(workload), clocks=Clocks())
    seconds = time.perf_counter() - began
    told = model.statistics()["backfill"]
    assert isinstance(told, dict)
    unit = f"{told['passes']} cycles, {told['tested']} tests, queue {deepest_queue(schedule)}"
    return Measure(what, f"{seconds:.1f} s", unit, seconds, bound)


def measures(path: Path, days: float) -> Iterator[Measure]:
    drawn = lublin_like(5000, n_hosts=3456, load=0.9)
    yield measured("5000 jobs on 3456 nodes", drawn, 3456, 48, 5.0)
    if path.exists():
        log = curie(path, days)
        what = f"CEA-Curie, {len(log)} jobs on {THIN_NODES} nodes"
        yield measured(what, log, THIN_NODES, CORES, 600.0)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield Measure("memory", f"{gigabytes:.2f} GB", "", gigabytes, 2.0)


def main() -> int:
    days = float(sys.argv[1]) if len(sys.argv) > 1 else math.inf
    shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
    return report(measures(shared / "traces" / LOG, days))


if __name__ == "__main__":
    sys.exit(main())
