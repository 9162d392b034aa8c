"""What it costs to explain a log: the waits of all jobs, one wait, and where host-seconds went.

    python bench/waits.py [--quick]

KTH and Curie under EASY, from $NOCTULE_SHARED/traces (default ../shared); --quick takes KTH alone.
Prints a table of ratios to the simulation of the same log; the exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measures import Measure, report

import noctule as nt
from noctule.capacity import lost_capacity
from noctule.waits import Waits, wait_totals

LOGS = {"KTH-SP2": ("KTH-SP2-1996-2.1-cln", 100), "CEA-Curie": ("CEA-Curie-2011-2.1-cln", 93312)}
ROUNDS = 3


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what some work gives, and the least seconds that it took."""
    best, found = math.inf, None
    for _ in range(ROUNDS):
        began = time.process_time()
        found = work()
        best = min(best, time.process_time() - began)
    return found, best


def measures(log: str) -> Iterator[Measure]:
    file, n_hosts = LOGS[log]
    shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
    workload = nt.load_workload(shared / "traces" / f"{file}.swf.xz")
    platform = nt.Platform.homogeneous(n_hosts)
    schedule, simulated = timed(lambda: nt.simulate(platform, workload, "easy"))
    unit = f"{simulated:.2f} s to simulate it"
    longest = int(schedule.column("waiting_time").argmax())
    waits = Waits(schedule)
    parts = (
        ("the waits of all jobs", lambda: wait_totals(schedule), 2.0),
        ("the longest wait, with the others ready", lambda: waits.explain_row(longest), math.inf),
        ("lost capacity", lambda: lost_capacity(schedule), math.inf),
    )
    for what, work, bound in parts:
        _, seconds = timed(work)
        yield Measure(f"{log}: {what}", f"{seconds:.2f} s", unit, seconds / simulated, bound)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="KTH alone")
    logs = ["KTH-SP2"] if parser.parse_args().quick else list(LOGS)
    return report(measure for log in logs for measure in measures(log))


if __name__ == "__main__":
    sys.exit(main())
