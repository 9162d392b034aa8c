"""How long it takes to find the sessions of CEA-Curie, and to replay those of KTH.

    python bench/sessions.py

Finding is set beside reading the log and a bare loop, which only tells where a user paused: no
graph, no think times. Replays with feedback are set beside the rigid one, in turns; what they need
to know of the sessions is found beforehand, and planned in the first run of a replay model, unless
that is said otherwise. The campaigns of the study of them are measured in seconds, on two
cores. The logs are read from $NOCTULE_SHARED/traces (default ../shared). Prints a table; the exit
code is 1 if a bound is missed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from measures import Measure, report

import noctule as nt
from noctule.campaign import Campaign, LocalWorkers, run_campaign
from noctule.sessions import (
    find_batches,
    find_sessions,
    load_sessions,
    save_sessions,
    session_stats,
)
from noctule.sessions.partition import CUTS

LOG = "CEA-Curie-2011-2.1-cln.swf.xz"
REPLAYED = "KTH-SP2-1996-2.1-cln.swf.xz"
THRESHOLD = 3600.0
REPEATS = 3
# runs of milliseconds
REPLAYS = 30
# how much longer a replay with feedback may take than a rigid one
FEEDBACK = 1.5
# all of it, with the reading, in seconds
WISH = 3.0
STUDY = Path(__file__).parents[1] / "studies" / "feedback"
# tables 1 and 2 of the article and its section 7.6, in seconds; its authors needed close to an hour
STUDY_WISH = 30.0
STUDY_LOGS = ("KTH-SP2-1996-2.1-cln.swf.xz", "SDSC-SP2-1998-4.2-cln.swf.xz")


def best(call: Callable[[], object], n_times: int = REPEATS) -> float:
    times = []
    for _ in range(n_times):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def bare_loop(workload: nt.Workload) -> int:
    """Count the sessions of a log, and nothing else."""
    last: dict[int, float] = {}
    n_sessions = 0
    users = workload.labels("user")
    assert users is not None
    for user, submit in zip(users.tolist(), workload.submit_time.tolist(), strict=True):
        n_sessions += user not in last or submit - last[user] >= THRESHOLD
        last[user] = submit
    return n_sessions


def measures(path: Path, folder: Path) -> Iterator[Measure]:
    read = partial(nt.load_workload, path, processors="allocated")
    workload = read()
    reading = best(read)
    loop = best(partial(bare_loop, workload))
    read_unit, loop_unit = f"reading {reading:.2f} s", f"bare loop {loop:.3f} s"

    def line(what: str, seconds: float, bound: float, unit: str = loop_unit) -> Measure:
        whole = reading if unit is read_unit else loop
        return Measure(what, f"{seconds:.3f} s", unit, seconds / whole, bound)

    hourly = find_sessions(workload, threshold=THRESHOLD)
    assert len(hourly) == bare_loop(workload)
    for cut in CUTS:
        find = partial(find_sessions, workload, threshold=THRESHOLD, cut=cut)
        yield line(f"sessions, {cut} 60 min", best(find), 2)
    single = partial(find_sessions, workload, threshold=0)
    yield line(f"sessions, arrival 0, {len(single().graph.dependency)} edges", best(single), 4)
    yield line("batches of sessions, arrival 60 min", best(partial(find_batches, hourly)), 2)
    yield line("statistics, arrival 60 min", best(partial(session_stats, hourly)), 2)

    users = folder / "users"
    save = partial(save_sessions, hourly, users, force=True)
    yield line("files written", best(save), 2, read_unit)
    yield line(
        "files read and put on the log", best(partial(load_sessions, users, workload)), 8, read_unit
    )

    def whole() -> None:
        find_sessions(read(), threshold=THRESHOLD)

    seconds = best(whole)
    yield line("reading and sessions, arrival 60 min", seconds, 1.5, read_unit)
    yield Measure("the same", f"{seconds:.2f} s", "seconds", seconds / WISH, 1.0)


def replays(path: Path) -> Iterator[Measure]:
    workload = nt.load_workload(path, walltime_factor=2)
    platform = nt.Platform.homogeneous(100)

    def seconds(replay: Callable[[], nt.replay.Replay]) -> float:
        began = time.perf_counter()
        schedule = nt.simulate(platform, workload, "easy", replay=replay())
        took = time.perf_counter() - began
        assert len(schedule) == len(workload)
        return took

    def kept(replay: nt.replay.Replay) -> Callable[[], nt.replay.Replay]:
        return lambda: replay

    single = find_sessions(workload, threshold=0)
    hourly = find_sessions(workload, threshold=THRESHOLD)
    for what, replay, bound in (
        ("feedback, arrival 0", kept(nt.Feedback(sessions=single)), FEEDBACK),
        ("feedback, arrival 60 min", kept(nt.Feedback(sessions=hourly)), FEEDBACK),
        ("feedback, arrival 0, planned anew", partial(nt.Feedback, sessions=single), 2),
        ("feedback, sessions found as well", partial(nt.Feedback, threshold=THRESHOLD), 3),
        ("adjusted, planned anew", partial(nt.Adjusted, sessions=hourly), 4),
        ("fluid, planned anew", partial(nt.Fluid, sessions=hourly), 5),
        (
            "distribution-based, planned anew",
            partial(nt.DistributionBased, sessions=hourly, seed=1),
            5,
        ),
    ):
        turns = [(seconds(replay), seconds(nt.Rigid)) for _ in range(REPLAYS)]
        took, rigid = (min(column) for column in zip(*turns, strict=True))
        unit = f"rigid {rigid * 1e3:.1f} ms"
        yield Measure(f"KTH, {what}", f"{took * 1e3:.1f} ms", unit, took / rigid, bound)


def study_measures(traces: Path, folder: Path) -> Iterator[Measure]:
    """Run the campaigns of the study, each once, from reading the logs to the table of results."""
    if not all((traces / log).exists() for log in STUDY_LOGS):
        print(f"{traces}: no {' or '.join(STUDY_LOGS)}, expected both for the study")
        return
    whole = 0.0
    for name in ("campaign", "campaign-parts"):
        began = time.perf_counter()
        campaign = Campaign.load(STUDY / f"{name}.toml", logs=traces)
        tally = run_campaign(campaign, folder / name, LocalWorkers(2))
        seconds = time.perf_counter() - began
        assert not tally.n_failed
        whole += seconds
        what = f"study feedback, {name}, {tally.n_runs} runs"
        yield Measure(what, f"{seconds:.2f} s", "seconds", seconds / STUDY_WISH, 1.0)
    yield Measure("both", f"{whole:.2f} s", "seconds", whole / STUDY_WISH, 1.0)


def main() -> int:
    shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
    paths = [shared / "traces" / name for name in (LOG, REPLAYED)]
    for path in paths:
        if not path.exists():
            print(f"{path}: no such file, expected the log; NOCTULE_SHARED can name its folder")
            return 0
    with tempfile.TemporaryDirectory() as folder:
        parts = (
            measures(paths[0], Path(folder)),
            replays(paths[1]),
            study_measures(shared / "traces", Path(folder) / "study"),
        )
        return report(chain.from_iterable(parts))


if __name__ == "__main__":
    sys.exit(main())
