"""Campaigns for the tests on clusters, and the processes of clusters that tests end themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from noctule.campaign import Campaign, LocalWorkers, run_campaign

EXAMPLES = Path(__file__).parents[2] / "examples"
LOG = """; MaxProcs: 4
1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 1 1 -1 -1 -1
2 1 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1
3 2 -1 50 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1
"""
MINE = {"easy": "easy", "mine": "mine.py:SmallestFirst"}
TEN_LINES = (EXAMPLES / "policy-ten-lines.py").read_text()


def overloaded(n_jobs: int) -> dict[str, Any]:
    """Return a workload whose queue grows, so that conservative backfilling has much to do."""
    return {"model": "lublin", "n_jobs": n_jobs, "n_hosts": 64, "load": 100}


def campaign(folder: Path, **changes: Any) -> Campaign:
    """Return a campaign of 20 runs on a shaken log in `folder`, where there is a policy, too."""
    (folder / "log.swf").write_text(LOG)
    (folder / "mine.py").write_text(TEN_LINES)
    description: dict[str, Any] = {
        "workloads": {"log": {"file": "log.swf", "shake": 10}},
        "policies": ["easy", "fcfs"],
        "seeds": "1-10",
        "keep_jobs": True,
    }
    return Campaign.of(description | changes, folder=folder)


def results(folder: Path) -> bytes:
    """Return the table of results of a campaign's folder."""
    return (folder / "results.parquet").read_bytes()


def results_here(wanted: Campaign, folder: Path) -> bytes:
    """Return the results that the workers of this machine get."""
    run_campaign(wanted, folder, LocalWorkers(2))
    return results(folder)


def local_cluster(**options: Any) -> LocalCluster:
    """Start a cluster of two processes with nannies on loopback."""
    defaults = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    return LocalCluster(**defaults | options, host="127.0.0.1", silence_logs=50)


@contextmanager
def process(*words: str, cwd: Path | None = None, **more: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process of this Python, with `more` in its environment; it is gone in the end."""
    started = subprocess.Popen(
        [sys.executable, *words], stderr=subprocess.PIPE, text=True, cwd=cwd, env=os.environ | more
    )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
        started.communicate()


@contextmanager
def scheduler_process(*prepare: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a scheduler on loopback, after some statements; give it and its address."""
    code = "; ".join([*prepare, "from distributed.cli.dask_scheduler import main", "main()"])
    where = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    with process("-c", code, *where) as scheduler:
        yield scheduler, _said(scheduler, r"Scheduler at: +(tcp://\S+)")


@contextmanager
def worker_process(
    scheduler: str, *words: str, cwd: Path | None = None, **more: str
) -> Iterator[str]:
    """Start a worker of one thread on loopback; give its address."""
    module = ["-m", "distributed.cli.dask_worker", scheduler, "--nthreads", "1", *words]
    where = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    with process(*module, *where, cwd=cwd, **more) as worker:
        yield _said(worker, r"Start worker at: +(tcp://\S+)")


def _said(started: subprocess.Popen[str], pattern: str) -> str:
    """Wait for a line in a log; return what the pattern finds in it."""
    stream = started.stderr
    assert stream is not None
    heard = ""
    for line in stream:
        heard += line
        if found := re.search(pattern, line):
            # what comes later must not fill the pipe
            threading.Thread(target=lambda: [None for _ in stream], daemon=True).start()
            return found[1]
    raise AssertionError(heard)


def wait_until(is_true: Callable[[], bool]) -> None:
    """Look again and again, for a minute."""
    ends = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < ends
        time.sleep(0.1)
