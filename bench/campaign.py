"""What a campaign costs beside its simulations, how it uses two cores, and how it grows.

    python bench/campaign.py [--quick] [SECTION...]

Sections: overhead, cores, growth. Prints a table of ratios to what is measured in the same run; the
exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from measures import Measure, report

import noctule as nt
from noctule.campaign import Campaign, LocalWorkers, Plan, run_campaign
from noctule.campaign.results import gather
from noctule.campaign.store import Store
from noctule.formats.saving import save_workload

N_JOBS = 1000
N_HOSTS = 128
POLICY = "easy"


@dataclass(frozen=True)
class Bench:
    """What the sections share."""

    folder: Path
    n_runs: int
    repeats: int
    quick: bool

    def campaign(self, n_runs: int) -> Campaign:
        """Return a campaign of runs that differ in an option, on one workload."""
        log = self.folder / "jobs.swf"
        if not log.exists():
            save_workload(nt.synthetic.lublin(N_JOBS, seed=1, n_hosts=N_HOSTS), log)
        description = {
            "workloads": {"lublin": str(log)},
            "platforms": {"full": N_HOSTS},
            "policies": {"easy": POLICY},
            "options": {"until": [1e9 + i for i in range(n_runs)]},
        }
        return Campaign.of(description)

    def campaign_s(self, n_runs: int, n_workers: int, name: str) -> float:
        """Return how long a campaign takes, from its description to the table of results."""
        target = self.folder / f"{name}-{time.monotonic_ns()}"
        began = time.perf_counter()
        tally = run_campaign(self.campaign(n_runs), target, LocalWorkers(n_workers))
        taken = time.perf_counter() - began
        assert tally.n_done == n_runs
        assert tally.n_failed == 0
        return taken

    def bare_s(self, n_runs: int) -> float:
        """Return how long the simulations of such a campaign take alone."""
        platform = nt.Platform.homogeneous(N_HOSTS)
        workload = nt.load_workload(self.folder / "jobs.swf")
        assert len(workload) == N_JOBS
        began = time.perf_counter()
        for i in range(n_runs):
            nt.simulate(platform, workload, POLICY, until=1e9 + i)
        return time.perf_counter() - began

    def processes_s(self, n_runs: int, n_processes: int) -> float:
        """Return how long bare simulations take in processes side by side, so many in each."""
        words = [sys.executable, __file__, "--bare", str(n_runs), str(self.folder)]
        processes = [
            subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(n_processes)
        ]
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()  # it is ready
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return max(float(process.communicate()[0]) for process in processes)


def overhead(bench: Bench) -> Iterator[Measure]:
    """Plan, start, measure, record and gather, beside the simulations themselves."""
    bench.campaign(1)
    n = bench.n_runs
    pairs = [(bench.campaign_s(n, 1, "one"), bench.bare_s(n)) for _ in range(bench.repeats)]
    whole, bare = (min(column) / n for column in zip(*pairs, strict=True))
    yield Measure(
        f"overhead a run, {n} runs of {N_JOBS} jobs",
        f"{(whole - bare) * 1e6:.0f} µs",
        f"bare simulate {bare * 1e6:.0f} µs",
        (whole - bare) / bare,
        2.0,
    )
    yield Measure(
        "  of which the disk needs for a folder and a file",
        f"{files_s(bench.folder, n) / n * 1e6:.0f} µs",
        "",
        math.nan,
        math.inf,
    )


def files_s(folder: Path, n: int) -> float:
    """Return how long so many folders with a small file take."""
    began = time.perf_counter()
    for i in range(n):
        place = folder / f"files-{i}"
        place.mkdir()
        (place / "result.json").write_bytes(b"x" * 2000)
    return time.perf_counter() - began


def cores(bench: Bench) -> Iterator[Measure]:
    """The same campaign with one worker and with two.

    Cores that share a processor, or a host, are not twice as fast as one: how much faster two are
    is measured by bare simulations in one process and in two.
    """
    bench.campaign(1)
    n = bench.n_runs
    rounds = [
        (
            bench.campaign_s(n, 1, "one"),
            bench.campaign_s(n, 2, "two"),
            bench.processes_s(n, 1),
            bench.processes_s(n, 2),
        )
        for _ in range(bench.repeats)
    ]
    one, two, bare_one, bare_two = (min(column) for column in zip(*rounds, strict=True))
    ours, possible = one / two, 2 * bare_one / bare_two
    yield Measure(f"{n} runs, two workers", f"{two:.2f} s", f"one {one:.2f} s", ours, 1.8, True)
    yield Measure(
        "  the same of bare simulations in two processes",
        f"{bare_two:.2f} s",
        f"half as many in one {bare_one:.2f} s",
        possible,
        math.inf,
    )


def growth(bench: Bench) -> Iterator[Measure]:
    """Planning, resuming and gathering, for more and more recorded runs."""
    sizes = (200, 2000) if bench.quick else (1000, 10_000)
    found = [_grown(bench, n) for n in sizes]
    small, large = found
    for name in ("plan", "resume", "gather"):
        yield Measure(
            f"{name}, {sizes[1]} recorded runs",
            f"{large[name] / sizes[1] * 1e6:.0f} µs/run",
            f"{sizes[0]} runs {small[name] / sizes[0] * 1e6:.0f} µs/run",
            large[name] / sizes[1] / (small[name] / sizes[0]),
            1.5,
        )
    yield Measure(
        f"  memory at the peak, {sizes[1]} runs",
        f"{large['memory'] / 2**20:.0f} MiB",
        f"{sizes[0]} runs {small['memory'] / 2**20:.0f} MiB",
        large["memory"] / small["memory"],
        1.1,
    )


def _grown(bench: Bench, n_runs: int) -> dict[str, float]:
    """Measure in a process of its own, whose memory is that of this size alone."""
    bench.campaign(1)
    words = [sys.executable, __file__, "--measure-growth", str(n_runs), str(bench.folder)]
    answer = subprocess.run(words, check=True, capture_output=True, text=True)
    numbers: dict[str, float] = json.loads(answer.stdout)
    return numbers


def measure_growth(n_runs: int, folder: Path) -> dict[str, float]:
    bench = Bench(folder, n_runs, 1, True)
    target = folder / f"grown-{n_runs}"

    def taken(call: Callable[[], object]) -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    run_campaign(bench.campaign(n_runs), target, LocalWorkers(2))
    plan = Plan(bench.campaign(n_runs))
    return {
        "plan": taken(lambda: [None for run in plan if not run.spec.key]),
        "resume": taken(lambda: run_campaign(plan.campaign, target, LocalWorkers(2))),
        "gather": taken(lambda: gather(plan, Store(target))),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0,
    }


SECTIONS = {"overhead": overhead, "cores": cores, "growth": growth}


def main() -> int:
    if "--bare" in sys.argv:
        bench = Bench(Path(sys.argv[3]), int(sys.argv[2]), 1, True)
        bench.bare_s(50)
        print("ready", flush=True)
        sys.stdin.readline()
        print(bench.bare_s(bench.n_runs))
        return 0
    if "--measure-growth" in sys.argv:
        print(json.dumps(measure_growth(int(sys.argv[2]), Path(sys.argv[3]))))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), metavar="SECTION")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        n_runs, repeats = (200, 2) if options.quick else (1000, 5)
        bench = Bench(Path(folder), n_runs, repeats, options.quick)
        return report(measure for name in options.sections for measure in SECTIONS[name](bench))


if __name__ == "__main__":
    sys.exit(main())
