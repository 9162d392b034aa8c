"""Speed and memory of replays, each as a ratio to something measured in the same run.

    python bench/replay.py [--quick] [SECTION...]

Sections: replay, windows, conservative, growth, overload, python, command. The logs are read from
$NOCTULE_SHARED/traces (default ../shared). Prints a table; the exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bare import BareLoop
from lublin_like import deepest_queue, lublin_like
from measures import Measure, report

import noctule as nt
from noctule.policies import Fcfs
from noctule.windows import Maintenance, Windows

LOGS = {
    "KTH-SP2": ("KTH-SP2-1996-2.1-cln", 100),
    "SDSC-SP2": ("SDSC-SP2-1998-4.2-cln", 128),
    "CEA-Curie": ("CEA-Curie-2011-2.1-cln", 93312),
}
GROWTH_HOSTS = 100_000


@dataclass(frozen=True)
class Bench:
    """What the sections share."""

    folder: Path
    repeats: int
    quick: bool

    @functools.cached_property
    def bare(self) -> BareLoop:
        return BareLoop(self.folder)

    def log(self, name: str) -> tuple[Path, int]:
        """Return a log as plain text, and the hosts of its machine."""
        file, n_hosts = LOGS[name]
        plain = self.folder / f"{file}.swf"
        if not plain.exists():
            shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
            with lzma.open(shared / "traces" / f"{file}.swf.xz") as packed, plain.open("wb") as out:
                shutil.copyfileobj(packed, out)
        return plain, n_hosts


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def simulation_s(
    platform: nt.Platform,
    workload: nt.Workload,
    policy: str | type,
    repeats: int = 1,
    windows: Windows | None = None,
) -> float:
    run = partial(nt.simulate, platform, workload, policy, windows=windows)
    return min(seconds(run) for _ in range(repeats))


def process_s(*words: str) -> float:
    return seconds(partial(subprocess.run, words, check=True, capture_output=True))


def interleaved(repeats: int, *calls: Callable[[], float]) -> list[float]:
    """Return the best time of each call, taken in turns."""
    times = [[call() for call in calls] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]


def milliseconds(time_s: float) -> str:
    return f"{time_s * 1e3:.1f} ms"


def replay(bench: Bench) -> Iterator[Measure]:
    """Native EASY and FCFS against the bare loop."""
    for name in LOGS:
        log, n_hosts = bench.log(name)
        workload = nt.load_workload(log, processors="allocated", walltime_factor=None)
        platform = nt.Platform.homogeneous(n_hosts)
        for policy in ("easy", "fcfs"):
            assert nt.simulate(platform, workload, policy).column("finish_time").max() > 0
            ours, bare = interleaved(
                bench.repeats,
                partial(simulation_s, platform, workload, policy, repeats=3),
                partial(bench.bare.seconds, log, n_hosts, policy, repeats=3),
            )
            what = f"{policy}, {name}, {len(workload)} jobs"
            unit = f"bare loop {milliseconds(bare)}"
            yield Measure(what, milliseconds(ours), unit, ours / bare, 2)


def maintenances(n: int, workload: nt.Workload, n_hosts: int) -> Windows:
    """Return so many, spread evenly over a log: half a day each, for a twentieth of the hosts."""
    hosts = nt.HostSet(range(n_hosts // 20))
    span = float(workload.submit_time.max())
    starts = [span * (i + 1) / (n + 1) for i in range(n)]
    return Windows([Maintenance(hosts, start, start + 43200) for start in starts])


def windows(bench: Bench) -> Iterator[Measure]:
    """Policies that plan around maintenances, known from the start, against runs without them."""
    for name in ("KTH-SP2", "CEA-Curie"):
        log, n_hosts = bench.log(name)
        workload = nt.load_workload(log, processors="allocated", walltime_factor=None)
        platform = nt.Platform.homogeneous(n_hosts)
        for policy, n in itertools.product(("easy", "fcfs", "filler"), (1, 12)):
            closed = maintenances(n, workload, n_hosts)
            ours, without = interleaved(
                bench.repeats,
                partial(simulation_s, platform, workload, policy, windows=closed),
                partial(simulation_s, platform, workload, policy),
            )
            what = f"{policy}, {name}, {n} maintenance{'s' * (n > 1)}"
            unit = f"without {milliseconds(without)}"
            yield Measure(what, milliseconds(ours), unit, ours / without, 3)


def conservative(bench: Bench) -> Iterator[Measure]:
    """Conservative backfilling against EASY, and how it grows with the queue."""
    log, n_hosts = bench.log("KTH-SP2")
    workload = nt.load_workload(log, processors="allocated", walltime_factor=None)
    platform = nt.Platform.homogeneous(n_hosts)
    for policy in ("conservative", "replanning"):
        ours, easy = interleaved(
            bench.repeats,
            partial(simulation_s, platform, workload, policy),
            partial(simulation_s, platform, workload, "easy"),
        )
        what = f"{policy}, KTH-SP2"
        bound = 8 if policy == "conservative" else float("inf")
        yield Measure(what, milliseconds(ours), f"easy {milliseconds(easy)}", ours / easy, bound)
    before = None
    platform = nt.Platform.homogeneous(1000)
    for n_jobs in (2500, 5000) if bench.quick else (2500, 5000, 10_000):
        workload = lublin_like(n_jobs, n_hosts=1000, load=2)
        queue = deepest_queue(nt.simulate(platform, workload, "conservative"))
        taken = simulation_s(platform, workload, "conservative") / n_jobs
        unit = "" if before is None else f"half the jobs {before * 1e6:.1f} µs/job"
        what = f"conservative, load 2, queue of {queue}"
        ratio = 1.0 if before is None else taken / before
        yield Measure(what, f"{taken * 1e6:.1f} µs/job", unit, ratio, float("inf"))
        before = taken


GROWTH_PROBE = """
import json, sys, time
sys.path.insert(0, {here!r})
import noctule as nt
from noctule.simulation import Simulation
from lublin_like import lublin_like
def peak():
    # not getrusage: that high-water mark is inherited from the parent
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
import noctule.formats
lublin_like(10, n_hosts=100, load=0.7)
before = peak()
workload = lublin_like({n_jobs}, n_hosts={n_hosts}, load=0.7)
platform = nt.Platform.homogeneous({n_hosts})
times = []
for _ in range({repeats}):
    began = time.perf_counter()
    schedule = nt.simulate(platform, workload, "easy")
    times.append(time.perf_counter() - began)
    assert len(schedule) == {n_jobs}
    if _ + 1 < {repeats}: del schedule
print(json.dumps([min(times), peak() - before]))
"""


def growth(bench: Bench) -> Iterator[Measure]:
    """Time and memory a job from 10^4 to 10^7 jobs, each in a process of its own."""
    smallest = None
    for power in (4, 5, 6) if bench.quick else (4, 5, 6, 7):
        n_jobs = 10**power
        probe = GROWTH_PROBE.format(
            here=str(Path(__file__).parent),
            n_jobs=n_jobs,
            n_hosts=GROWTH_HOSTS,
            repeats=max(1, min(10, 10 ** (7 - power))),
        )
        answer = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True)
        taken, memory = json.loads(answer.stdout)
        a_job = taken / n_jobs
        smallest = smallest or a_job
        what = f"easy, 10^{power} jobs on {GROWTH_HOSTS} hosts, load 0.7"
        unit = f"10^4 jobs {smallest * 1e9:.0f} ns"
        yield Measure(what, f"{a_job * 1e9:.0f} ns/job", unit, a_job / smallest, 1.5)
        if power >= 6:
            bytes_a_job = memory / n_jobs
            memory_text = f"{bytes_a_job:.0f} B/job"
            yield Measure("  memory at the peak", memory_text, "400 B/job", bytes_a_job / 400, 1)


def overload(bench: Bench) -> Iterator[Measure]:
    """A queue of 10^5 jobs against the same log at load 0.7."""
    n_jobs = 200_000 if bench.quick else 500_000
    platform = nt.Platform.homogeneous(1000)
    calm = lublin_like(n_jobs, n_hosts=1000, load=0.7)
    deep = lublin_like(n_jobs, n_hosts=1000, load=3)
    for policy in ("easy", "easy(order=sjf)", "fcfs", "filler"):
        queue = deepest_queue(nt.simulate(platform, deep, policy))
        ours, unit = interleaved(
            3,
            partial(simulation_s, platform, deep, policy),
            partial(simulation_s, platform, calm, policy),
        )
        yield Measure(
            f"{policy}, load 3, queue of {queue}",
            f"{ours / n_jobs * 1e9:.0f} ns/job",
            f"load 0.7 {unit / n_jobs * 1e9:.0f} ns/job",
            ours / unit,
            5,
        )


def python(bench: Bench) -> Iterator[Measure]:
    """A policy of ten lines of Python against the native one."""
    log, n_hosts = bench.log("KTH-SP2")
    workload = nt.load_workload(log, processors="allocated", walltime_factor=None)
    platform = nt.Platform.homogeneous(n_hosts)
    ours, native = interleaved(
        bench.repeats,
        partial(simulation_s, platform, workload, Fcfs),
        partial(simulation_s, platform, workload, "fcfs"),
    )
    unit = f"native {milliseconds(native)}"
    yield Measure("Python fcfs, KTH-SP2", milliseconds(ours), unit, ours / native, 10)


def command(bench: Bench) -> Iterator[Measure]:
    """The whole command, files in and out, and its help."""
    log, n_hosts = bench.log("KTH-SP2")
    noctule = str(Path(sys.executable).with_name("noctule"))
    out = bench.folder / "run"
    whole = [noctule, "run", str(log), "--hosts", str(n_hosts), "--policy", "easy", "-o", str(out)]
    quiet = ["--quiet", "--force"]

    ours, unit, asked, click = interleaved(
        bench.repeats,
        partial(process_s, *whole, *quiet),
        partial(process_s, sys.executable, "-c", "import numpy, pandas"),
        partial(process_s, noctule, "--help"),
        partial(process_s, sys.executable, "-c", "import click"),
    )
    yield Measure(
        "noctule run, KTH-SP2, files in and out",
        milliseconds(ours),
        f"import numpy, pandas {milliseconds(unit)}",
        ours / unit,
        4,
    )
    unit_text = f"import click {milliseconds(click)}"
    yield Measure("noctule --help", milliseconds(asked), unit_text, asked / click, 3)


SECTIONS = {
    f.__name__: f for f in (replay, windows, conservative, growth, overload, python, command)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller inputs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), 3 if arguments.quick else 10, arguments.quick)
        names = arguments.sections or SECTIONS
        return report(measure for name in names for measure in SECTIONS[name](bench))


if __name__ == "__main__":
    sys.exit(main())
