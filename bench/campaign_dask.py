"""What a run of a campaign costs on Dask, beside a task of Dask that does nothing.

    python bench/campaign_dask.py [--quick]

Both are measured in turns on one local cluster of two processes, with as many tasks under way. The
exit code is 1 if the bound is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from distributed import Client, LocalCluster
from measures import Measure, report

import noctule as nt
from noctule.campaign import Campaign, run_campaign
from noctule.campaign.dask_session import FEWEST_RUNS, RUNS_PER_THREAD
from noctule.campaign.dask_workers import DaskWorkers
from noctule.formats.saving import save_workload

N_JOBS = 1000
N_HOSTS = 128
N_WORKERS = 2
WINDOW = max(FEWEST_RUNS, RUNS_PER_THREAD * N_WORKERS)
BOUND = 3.0


async def _bare(address: str, n_tasks: int) -> float:
    async with Client(address, asynchronous=True, set_as_default=False) as client:
        began = time.perf_counter()
        left = iter(range(n_tasks))

        async def serve() -> None:
            for i in left:
                await client.submit(bytes, key=f"nothing-{began}-{i}")

        await asyncio.gather(*(serve() for _ in range(WINDOW)))
        return time.perf_counter() - began


def bare_s(address: str, n_tasks: int) -> float:
    """Return the time that tasks take which do nothing, from submission to result."""
    return asyncio.run(_bare(address, n_tasks)) / n_tasks


def campaign_s(address: str, n_runs: int, folder: Path) -> float:
    """Return the time a run, from the description of its campaign to the table of results."""
    log = folder / "jobs.swf"
    if not log.exists():
        save_workload(nt.synthetic.lublin(N_JOBS, seed=1, n_hosts=N_HOSTS), log)
    description = {
        "workloads": {"lublin": str(log)},
        "platforms": {"full": N_HOSTS},
        "policies": {"easy": "easy"},
        "options": {"until": [1e9 + i for i in range(n_runs)]},
    }
    began = time.perf_counter()
    target = folder / f"out-{time.monotonic_ns()}"
    tally = run_campaign(Campaign.of(description), target, DaskWorkers(address))
    assert (tally.n_done, tally.n_failed) == (n_runs, 0)
    return (time.perf_counter() - began) / n_runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, fewer runs")
    quick = parser.parse_args().quick
    n, repeats = (200, 2) if quick else (1000, 5)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
    ):
        address = cluster.scheduler_address
        campaign_s(address, 2 * WINDOW, Path(folder))
        pairs = [(campaign_s(address, n, Path(folder)), bare_s(address, n)) for _ in range(repeats)]
    ours, bare = (min(column) for column in zip(*pairs, strict=True))
    what = f"a run of {N_JOBS} jobs on Dask, {n} of them"
    unit = f"a task that does nothing {bare * 1e3:.2f} ms"
    return report([Measure(what, f"{ours * 1e3:.2f} ms", unit, ours / bare, BOUND)])


if __name__ == "__main__":
    sys.exit(main())
