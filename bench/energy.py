"""What counting joules and switching hosts cost, each as a ratio measured in the same run.

    python bench/energy.py [--quick] [SECTION...]

Sections: counting, switching. The logs are read from $NOCTULE_SHARED/traces (default ../shared).
Prints a table; the exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from measures import Measure, report

import noctule as nt
from noctule.messages import CallAt, SetPowerState
from noctule.platform import PowerModel
from noctule.workload import Delay, Request

LOGS = {
    "KTH-SP2": ("KTH-SP2-1996-2.1-cln", 100),
    "SDSC-SP2": ("SDSC-SP2-1998-4.2-cln", 128),
    "CEA-Curie": ("CEA-Curie-2011-2.1-cln", 93312),
}
#: The hosts of the thesis' studies.
POWER = PowerModel(
    idle=95.0,
    computing=190.738,
    off=9.75,
    switch_off_seconds=6.1,
    switch_off_watts=101.0,
    switch_on_seconds=151.52,
    switch_on_watts=125.17,
)
ASLEEP, AWAKE = 1, 0
N_SWITCHES = 40


def seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def counting(*, quick: bool) -> Iterator[Measure]:
    """Runs with joules, beside the same runs without them; in turns, the best of each."""
    shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
    for log in list(LOGS)[: 1 if quick else None]:
        file, n_hosts = LOGS[log]
        workload = nt.load_workload(shared / "traces" / f"{file}.swf.xz")
        platform = nt.Platform.homogeneous(n_hosts, power=POWER)
        for policy in ("easy", "fcfs", "conservative"):
            if (log, policy) == ("CEA-Curie", "conservative"):
                continue
            run = partial(nt.simulate, platform, workload, policy)
            best = {"off": float("inf"), "exact": float("inf")}
            for _ in range(3 if quick else 10):
                for energy, least in best.items():
                    best[energy] = min(least, seconds(partial(run, energy=energy)))
            yield Measure(
                f"{policy} with joules, {log}, {len(workload)} jobs",
                f"{1e3 * best['exact']:.1f} ms",
                f"without {1e3 * best['off']:.1f} ms",
                best["exact"] / best["off"],
                1.3,
            )


class Blinking:
    """Switches all hosts off and on again, so many times."""

    def __init__(self) -> None:
        self.left = N_SWITCHES

    def decide(self, view, _):
        if self.left == 0:
            return
        self.left -= 1
        yield SetPowerState(nt.HostSet(range(view.n_hosts)), ASLEEP if len(view.free) else AWAKE)
        yield CallAt(view.now + 200.0)


def switching(*, quick: bool) -> Iterator[Measure]:
    """State changes of many hosts in one decision."""
    jobs = [nt.Job(1, N_SWITCHES * 200.0, Request(1), Delay(1.0), cancel_time=N_SWITCHES * 200.0)]
    first = 0.0
    for n_hosts in (1_000, 10_000, 100_000):
        platform = nt.Platform.homogeneous(n_hosts, power=POWER)
        run = partial(nt.simulate, platform, nt.Workload.from_jobs(jobs), Blinking, energy="exact")
        rounds = range(2 if quick else 5)
        ns = 1e9 * min(seconds(run) for _ in rounds) / N_SWITCHES / n_hosts
        first = first or ns
        yield Measure(
            f"{n_hosts} hosts switched in one decision",
            f"{ns:.0f} ns/host",
            f"1000 hosts {first:.0f} ns/host",
            ns / first,
            1.5,
        )


SECTIONS = {"counting": counting, "switching": switching}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], metavar="SECTION")
    parser.add_argument("--quick", action="store_true", help="small logs, fewer turns")
    arguments = parser.parse_args()
    chosen = arguments.sections or SECTIONS
    return report(m for name in chosen for m in SECTIONS[name](quick=arguments.quick))


if __name__ == "__main__":
    sys.exit(main())
