"""What it costs to have an unmodified kube-scheduler decide, in seconds of processors.

    python bench/kube.py [--quick] [SCHEDULER]

SCHEDULER is a kube-scheduler; without one, the newest that tests/kube/install-kube-scheduler made.
Runs 5000 jobs of one Pod on 1000 hosts with room for all, then a tenth of that with some more load
than there is room for; --quick takes the tenth of both. The seconds of the API, the clock and the
engine stand beside those of the scheduler itself, which would decide the same on a real cluster.
Every job of the first run must be bound at the instant of its submission. The exit code is 1 if a
bound is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf
from pathlib import Path

from measures import Measure, report

import noctule as nt
from noctule.kube import KubeScheduler
from noctule.workload import Delay, Request

MOST_SECONDS = 60.0


def newest_scheduler() -> str | None:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = Path(os.environ.get("NOCTULE_KUBE", cache / "noctule/kube"))
    return max(map(str, folder.glob("kube-scheduler-*")), default=None)


def seconds_of(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def a_workload(n_jobs: int, every: float, lasting: float) -> nt.Workload:
    jobs = [nt.Job(i, i * every, Request(1), Delay(lasting)) for i in range(n_jobs)]
    return nt.Workload.from_jobs(jobs)


def measures(
    name: str, command: str, n_hosts: int, workload: nt.Workload, *, has_room: bool
) -> Iterator[Measure]:
    """Yield what one run has cost."""
    ours, theirs = seconds_of(resource.RUSAGE_SELF), seconds_of(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    schedule = nt.simulate(nt.Platform.homogeneous(n_hosts), workload, KubeScheduler(command))
    wall = time.perf_counter() - began
    ours = seconds_of(resource.RUSAGE_SELF) - ours
    theirs = seconds_of(resource.RUSAGE_CHILDREN) - theirs
    assert (schedule.column("state") == "completed").all()
    n_late = int((schedule.column("waiting_time") > 0).sum())
    both, limit = ours + theirs, f"limit {MOST_SECONDS:.0f} s"
    yield Measure(f"{name}: both, CPU", f"{both:.1f} s", limit, both / MOST_SECONDS, 1.0)
    yield Measure(
        f"{name}: Noctule, CPU", f"{ours:.1f} s", f"scheduler {theirs:.1f} s", ours / theirs, inf
    )
    yield Measure(f"{name}: clock", f"{wall:.1f} s", f"CPU {both:.1f} s", wall / both, inf)
    jobs = f"{len(workload)} jobs"
    bound = 0.0 if has_room else inf
    yield Measure(f"{name}: waited", f"{n_late} jobs", jobs, n_late / len(workload), bound)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scheduler", nargs="?", default=newest_scheduler())
    parser.add_argument("--quick", action="store_true", help="a tenth of the jobs and hosts")
    given = parser.parse_args(words)
    if given.scheduler is None:
        parser.error("no SCHEDULER, and tests/kube/install-kube-scheduler has made none")
    part = 10 if given.quick else 1
    n_jobs, n_hosts = 5000 // part, 1000 // part
    every = 0.5 * part
    # of 1000 hosts, 900 are used at once; of 100 hosts, 110 would be
    room, crowd = a_workload(n_jobs, every, 450), a_workload(500, 5.0, 550)
    command = given.scheduler
    return report(
        chain(
            measures("room", command, n_hosts, room, has_room=True),
            measures("crowd", command, 100, crowd, has_room=False),
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
