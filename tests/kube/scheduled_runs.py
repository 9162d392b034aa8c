"""Runs that schedulers of Kubernetes decide: the tiny one of the tests, and real ones."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import noctule as nt
from noctule.kube import KubeScheduler
from noctule.vclock.support import is_supported
from noctule.windows import Windows
from noctule.workload import Delay, Request

TINY = Path(__file__).with_name("tiny_scheduler.py")
VERSIONS = ("1.36.4", "1.20.2")

needs_simulated_time = pytest.mark.skipif(
    not is_supported(), reason=f"no simulated time here: {is_supported().reason}"
)
needs_real_ones = pytest.mark.skipif(
    "NOCTULE_TEST_KUBE" not in os.environ,
    reason="NOCTULE_TEST_KUBE is not set: make test-kube runs real schedulers",
)


def tiny(misdeed: str = "") -> str:
    """Return the command of the tiny scheduler."""
    words = [sys.executable, "-S", str(TINY), "{kubeconfig}", "{name}", misdeed]
    return shlex.join(filter(None, words))


def real(version: str) -> str:
    """Return the command of a real kube-scheduler."""
    return built(f"kube-scheduler-{version}")


def built(name: str) -> str:
    """Return the path of a scheduler that was built for these tests."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    program = Path(os.environ.get("NOCTULE_KUBE", cache / "noctule/kube")) / name
    if not program.exists():
        pytest.skip(f"{program}: tests/kube/install-kube-scheduler has not made it")
    return str(program)


def job(name: str, submit: float, lasts: float, hosts: int = 1, **fields: Any) -> nt.Job:
    walltime = fields.pop("walltime", float("inf"))
    return nt.Job(name, submit, Request(hosts), Delay(lasts), walltime=walltime, extra=fields)


def scheduled(
    jobs: list[nt.Job],
    command: str | None = None,
    *,
    hosts: int | nt.Platform = 2,
    events: nt.ExternalEvents | None = None,
    windows: Windows | None = None,
    **settings: Any,
) -> nt.Schedule:
    """Return what schedulers make of some jobs."""
    platform = nt.Platform.homogeneous(hosts) if isinstance(hosts, int) else hosts
    policy = KubeScheduler(tiny() if command is None else command, **settings)
    return nt.simulate(platform, nt.Workload.from_jobs(jobs), policy, events, windows=windows)


def starts(schedule: nt.Schedule) -> dict[str, float]:
    return column(schedule, "start_time")


def column(schedule: nt.Schedule, name: str) -> dict[str, Any]:
    ids = schedule.column("job_id").tolist()
    return dict(zip(ids, schedule.column(name).tolist(), strict=True))


def children() -> Iterator[int]:
    """Yield the processes that this one has started and that still run."""
    for thread in Path("/proc/self/task").iterdir():
        yield from map(int, (thread / "children").read_text().split())
