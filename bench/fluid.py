"""Speed of the fluid model, as a ratio to SimGrid's CPU time for the same tasks in the same run.

    python bench/fluid.py [--quick] [SECTION...]

Sections: blocks, random, many, wide, computing. The tasks are those of `fluid_tasks.py`; SimGrid is
asked by the driver of `noctule.simgrid`, where it is installed (Debian's libsimgrid-dev). Neither
side is charged for reading its input. Prints a table; the exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fluid_tasks import CLUSTER512, SPEED, Task, tasks
from measures import Measure, report

import noctule as nt
from noctule import _core
from noctule.simgrid.building import SimGridMissingError
from noctule.simgrid.driver import Driver

TCP_WINDOW = 4194304.0
TOLERANCE = 1e-9
FAIR_BOTTLENECK, NO_BILLING = 0, 0


@dataclass(frozen=True)
class Bench:
    """What the sections share."""

    folder: Path
    quick: bool

    @functools.cached_property
    def platform(self) -> nt.Platform:
        path = self.folder / "cluster512.xml"
        path.write_text(CLUSTER512)
        return nt.load_platform(path)

    @functools.cached_property
    def simgrid(self) -> Driver | None:
        try:
            return Driver.built()
        except SimGridMissingError as why:
            print(f"ours alone: {why}")
            return None

    def some(self, n_tasks: int) -> int:
        return n_tasks // 10 if self.quick else n_tasks


def ours(platform: nt.Platform, todo: Sequence[Task]) -> tuple[float, list[float]]:
    """Return the CPU seconds that we need, the best of three, and the dates at which tasks end."""
    n_hosts = sum(1 for _ in platform.all_hosts())
    alike = ([SPEED], [0], [], 0.0, [], 1, 0)
    plan = _core.MachinePlan(
        [alike], np.zeros(n_hosts, np.uint32), platform.network_plan(), [], TCP_WINDOW, 0
    )
    begins = np.array([task.start for task in todo])
    hosts = [task.hosts for task in todo]
    flops = np.array([task.flops for task in todo])
    sent = np.array([task.bytes for task in todo])
    times = []
    ends: list[float] = []
    for _ in range(3):
        began = time.process_time()
        ends = _core.Machine(plan, FAIR_BOTTLENECK, NO_BILLING).run_tasks(
            begins, hosts, flops, sent
        )
        times.append(time.process_time() - began)
    return min(times), ends


def theirs(simgrid: Driver, todo: Sequence[Task]) -> tuple[float, list[float]]:
    """Return the CPU seconds that SimGrid needs, and its dates."""
    case = {
        "platform_xml": CLUSTER512,
        "commands": [task.command(str(i)) for i, task in enumerate(todo)],
        "cfg": [],
        "host_model": "ptask_L07",
        "energy": False,
    }
    answer = simgrid.answers([case], processes=1, limit_s=3600)[0]
    return answer["cpu_seconds"], [answer["tasks"][str(i)]["end"] for i in range(len(todo))]


def compared(bench: Bench, what: str, todo: Sequence[Task], bound: float) -> Iterator[Measure]:
    """Yield our time as a ratio, and the largest difference of a date."""
    taken, ends = ours(bench.platform, todo)
    text = f"{taken * 1e3:.1f} ms"
    if bench.simgrid is None:
        yield Measure(what, text, "", math.nan, math.inf)
        return
    simgrid_s, dates = theirs(bench.simgrid, todo)
    yield Measure(what, text, f"SimGrid {simgrid_s:.2f} s", simgrid_s / taken, bound, least=True)
    worst = max(abs(a - b) / b for a, b in zip(ends, dates, strict=True))
    yield Measure("  largest difference of a date", f"{worst:.1e}", "1e-9", worst / TOLERANCE, 1)


def blocks(bench: Bench) -> Iterator[Measure]:
    """All-to-all on blocks of hosts that take turns."""
    n = bench.some(10_000)
    todo = list(tasks(n, at_once=16, n_hosts=16, fixed_blocks=True))
    yield from compared(bench, f"{n} × 16 hosts, all-to-all, fixed blocks", todo, 50)


def random(bench: Bench) -> Iterator[Measure]:
    """All-to-all on random hosts, which overlap."""
    n = bench.some(10_000)
    todo = list(tasks(n, at_once=16, n_hosts=16))
    yield from compared(bench, f"{n} × 16 random overlapping hosts", todo, 50)


def many(bench: Bench) -> Iterator[Measure]:
    """About 200 small tasks at a time."""
    n = bench.some(3000)
    todo = list(tasks(n, at_once=200, n_hosts=4))
    yield from compared(bench, f"{n} × 4 hosts, about 200 at a time", todo, 100)


def wide(bench: Bench) -> Iterator[Measure]:
    """All-to-all of many hosts."""
    for n_tasks, n_hosts, at_once in ((500, 64, 4), (50, 256, 2)):
        n = bench.some(n_tasks)
        todo = list(tasks(n, at_once=at_once, n_hosts=n_hosts))
        yield from compared(bench, f"{n} × {n_hosts} hosts, all-to-all", todo, 200)


def computing(bench: Bench) -> Iterator[Measure]:
    """No messages at all."""
    n = bench.some(10_000)
    todo = list(tasks(n, at_once=16, n_hosts=16, fixed_blocks=True, bytes_each=0))
    yield from compared(bench, f"{n} × 16 hosts, computation only", todo, 10)


SECTIONS = {section.__name__: section for section in (blocks, random, many, wide, computing)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    parser.add_argument("--quick", action="store_true", help="a tenth of the tasks")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), arguments.quick)
        names = arguments.sections or SECTIONS
        return report(measure for name in names for measure in SECTIONS[name](bench))


if __name__ == "__main__":
    sys.exit(main())
