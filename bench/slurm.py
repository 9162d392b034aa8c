"""How long the model of Slurm takes: E5's size, and CEA-Curie's thin nodes with their own log.

    python bench/slurm.py [DAYS]

Seconds are of the processor. The long queue is that of `studies/slurm`: more jobs come than the
machine can run, so that a thousand wait; what it remembers of failed tests is measured against runs
whose tests cost next to nothing, which therefore remember nothing. Curie's log is read from
$NOCTULE_SHARED/traces (default ../shared); DAYS leaves all but the first ones out. Prints a table;
the exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import lzma
import math
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from lublin_like import deepest_queue, lublin_like
from measures import Measure, report

import noctule as nt
from noctule import synthetic
from noctule.columns import Columns
from noctule.formats.swf import read_swf_log
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import SlurmSettings, settings_from
from noctule.slurm.jobs.requests import Requests
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import simulate_slurm
from noctule.traces import scale_load, scale_runtimes
from noctule.traces.scaling import factor_to_load

LOG = "CEA-Curie-2011-2.1-cln.swf.xz"
STANDARD = 10  # the partition of the thin nodes
THIN_NODES, CORES = 5040, 16
E5_NODES = 3456
CONF = """ClusterName=bench
SelectType=select/linear
SchedulerParameters=bf_interval=30,bf_max_job_test={tests}
NodeName=n[1-{n}] CPUs={cpus}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def settings(n_nodes: int, cpus: int, tests: int) -> SlurmSettings:
    return settings_from(parse_conf(CONF.format(n=n_nodes, cpus=cpus, tests=tests), "bench.conf"))


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


def long_queue(n_jobs: int, load: float) -> nt.Workload:
    """Draw jobs of up to 128 nodes and 8610 s in the mean that come faster than 3456 nodes work."""
    fitted = synthetic.coefficients_of("kth")
    sizes = synthetic.LogUniform(0.7, fitted.n_hosts, 1.0, fitted.n_hosts)
    drawn = synthetic.cirne(
        n_jobs,
        seed=1,
        coefficients=replace(fitted, sizes=sizes, cancelled=0.0, cancellation=None),
        n_hosts=E5_NODES,
        largest=128,
        profiles="delay",
    )
    mean = float(np.mean(drawn.table.amount))
    drawn = scale_runtimes(drawn, 8610.0 / mean, whole_seconds=True)
    return scale_load(drawn, factor_to_load(drawn, load, E5_NODES), whole_seconds=True)


def ran(
    workload: nt.Workload, conf: SlurmSettings, costs: dict[str, float] | None = None
) -> tuple[float, str]:
    """Run a workload; return the seconds it took, and how much that was."""
    began = time.process_time()
    schedule, model = simulate_slurm(
        workload, conf, requests_of(workload), clocks=Clocks(), costs=costs
    )
    seconds = time.process_time() - began
    told = model.statistics()["backfill"]
    assert isinstance(told, dict)
    return seconds, (
        f"{told['passes']} cycles, {told['tested']} tests, queue {deepest_queue(schedule)}"
    )


def measured(what: str, workload: nt.Workload, conf: SlurmSettings, bound: float) -> Measure:
    seconds, unit = ran(workload, conf)
    return Measure(what, f"{seconds:.1f} s", unit, seconds, bound)


def measures(path: Path, days: float) -> Iterator[Measure]:
    drawn = lublin_like(5000, n_hosts=E5_NODES, load=0.9)
    yield measured("5000 jobs on 3456 nodes", drawn, settings(E5_NODES, 48, 500), 5.0)
    queue = long_queue(5000, load=1.27)
    for tests, bound in ((100, 5.0), (500, math.inf)):
        what = f"more than these can run, {tests} tests a cycle"
        yield measured(what, queue, settings(E5_NODES, 48, tests), bound)
    some, conf = long_queue(1200, load=1.8), settings(E5_NODES, 48, 500)
    fast, _ = ran(some, conf)
    slow, unit = ran(some, conf, {"backfill_test": 1e-9})
    yield Measure("remembering failed tests", f"{fast:.1f} s", unit, slow / fast, 2.0, least=True)
    if path.exists():
        log = curie(path, days)
        what = f"CEA-Curie, {len(log)} jobs on {THIN_NODES} nodes"
        yield measured(what, log, settings(THIN_NODES, CORES, 500), 600.0)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield Measure("memory", f"{gigabytes:.2f} GB", "", gigabytes, 2.0)


def main() -> int:
    days = float(sys.argv[1]) if len(sys.argv) > 1 else math.inf
    shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
    return report(measures(shared / "traces" / LOG, days))


if __name__ == "__main__":
    sys.exit(main())
