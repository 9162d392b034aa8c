"""Speed of protocol 4, as a ratio to a bare ZeroMQ ping-pong with the same messages, and of 5.

    python bench/protocol.py [--quick] [SECTION...]

Sections: trips, log, library. A peer in a process of its own gives prepared replies, so that it
costs nothing; the log is read from $NOCTULE_SHARED/traces (default ../shared). `library` lets EASY
in a C library decide through protocol 5, and the native EASY; it needs a C compiler. Prints a
table; the exit code is 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import zmq
from measures import Measure, report

import noctule as nt
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, BatsimWorkload
from noctule.remote.batsim5 import EdcScheduler, EdcSetup, read_hello
from noctule.remote.edc_library import EdcLibrary
from noctule.remote.endpoint import Asking
from noctule.workload import Delay

LOG, LOG_HOSTS = "KTH-SP2-1996-2.1-cln", 100
Call = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Bench:
    """What the sections share."""

    folder: Path
    repeats: int
    quick: bool


@dataclass
class Recorder:
    """Decides in this process, and keeps what was said."""

    decide: Callable[[dict[str, object]], bytes]
    requests: list[bytes] = field(default_factory=list)
    replies: list[bytes] = field(default_factory=list)

    def __call__(self, request: bytes) -> bytes:
        self.requests.append(request)
        self.replies.append(self.decide(json.loads(request)))
        return self.replies[-1]


@dataclass(frozen=True)
class Exchange:
    """A run, and the messages of it."""

    run: Callable[[Call], None]
    requests: list[bytes]
    replies: Path

    @classmethod
    def of(
        cls, run: Callable[[Call], None], decide: Callable[..., bytes], replies: Path
    ) -> Exchange:
        recorder = Recorder(decide)
        run(recorder)
        replies.write_bytes(b"\n".join(recorder.replies))
        return cls(run, recorder.requests, replies)

    def best(self, n_turns: int) -> tuple[float, float]:
        """Return the best times of the run and of its messages alone, taken in turns."""
        with peer(self.replies) as endpoint:
            turns = [
                (self._seconds(endpoint), self._bare_seconds(endpoint)) for _ in range(n_turns)
            ]
        ours, bare = zip(*turns, strict=True)
        return min(ours), min(bare)

    def _seconds(self, endpoint: str) -> float:
        """Do the run."""
        with Asking(endpoint, timeout=60) as ask:
            began = time.perf_counter()
            self.run(ask)
            return time.perf_counter() - began

    def _bare_seconds(self, endpoint: str) -> float:
        """Only send the messages."""
        with zmq.Context() as context, context.socket(zmq.REQ) as socket:
            socket.connect(endpoint)
            began = time.perf_counter()
            for request in self.requests:
                socket.send(request)
                socket.recv()
            return time.perf_counter() - began


@contextmanager
def peer(replies: Path) -> Iterator[str]:
    """Start a process that gives these replies, one after the other and over again."""
    endpoint = f"ipc://{replies}.socket"
    process = subprocess.Popen([sys.executable, __file__, "--peer", endpoint, str(replies)])
    try:
        while not Path(f"{replies}.socket").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        yield endpoint
    finally:
        process.terminate()
        process.wait()


def give_replies(endpoint: str, path: Path) -> None:
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        replies = path.read_bytes().split(b"\n")
        socket.bind(endpoint)
        for reply in itertools.cycle(replies):
            socket.recv()
            socket.send(reply)


def simulated(workload: nt.Workload, setup: BatsimSetup, channel: Call) -> nt.Schedule:
    scheduler = BatsimScheduler(setup, channel)
    simulation = nt.Simulation(
        setup.platform,
        workload,
        scheduler,
        machine=True,
        batsim_events=True,
        wait_for_timers=True,
        reject_oversized=False,
    )
    schedule = simulation.run()
    scheduler.finish(simulation.now)
    return schedule


def trips(bench: Bench) -> Iterator[Measure]:
    """Calls that a scheduler asks for, one after the other: the least that a request can say.

    In many short turns, of which some fall into moments when nothing else uses the two processors
    that the two processes need.
    """
    n_calls = 1_000
    setup = BatsimSetup(platform=nt.Platform.homogeneous(4))
    none = nt.Workload.from_jobs([])

    def decide(request: dict[str, float]) -> bytes:
        now = request["now"]
        call = {"timestamp": now, "type": "CALL_ME_LATER", "data": {"timestamp": now + 1}}
        return json.dumps({"now": now, "events": [call] if now < n_calls else []}).encode()

    exchange = Exchange.of(
        lambda channel: assert_ended(simulated(none, setup, channel), 0),
        decide,
        bench.folder / "trips.jsonl",
    )
    ours, bare = exchange.best(10 if bench.quick else 60)
    n = len(exchange.requests)
    unit = f"ping-pong {n / bare:,.0f} /s"
    yield Measure("round trips", f"{n / ours:,.0f} /s", unit, bare / ours, 0.6, least=True)


def log(bench: Bench) -> Iterator[Measure]:
    """A log with EASY backfilling at the other side of the wire."""
    named, told = log_of(bench)
    workload = nt.Workload.from_jobs(named)
    platform = nt.Platform.homogeneous(LOG_HOSTS)
    setup = BatsimSetup(platform=platform, workloads=[told])
    exchange = Exchange.of(
        lambda channel: assert_ended(simulated(workload, setup, channel), len(named)),
        easy_replies(nt.simulate(platform, workload, "easy")),
        bench.folder / "log.jsonl",
    )
    ours, bare = exchange.best(bench.repeats)
    unit = f"ping-pong {bare:.2f} s, {len(exchange.requests)} trips"
    yield Measure(f"EASY, KTH-SP2, {len(named)} jobs", f"{ours:.2f} s", unit, ours / bare, 2)


def log_of(bench: Bench) -> tuple[list[nt.Job], BatsimWorkload]:
    """Return the jobs of the log, also as Batsim's schedulers are told of them."""
    path = bench.folder / f"{LOG}.swf"
    shared = Path(os.environ.get("NOCTULE_SHARED", "../shared"))
    with lzma.open(shared / "traces" / f"{LOG}.swf.xz") as packed:
        path.write_bytes(packed.read())
    jobs = list(nt.load_workload(path, processors="allocated", walltime_factor=None))
    jobs = jobs[:4000] if bench.quick else jobs
    named = [
        nt.Job(f"w0!{job.id}", job.submit_time, job.request, Delay(job.profile.work), job.walltime)
        for job in jobs
    ]
    raw = {
        job.id: {
            "id": job.id,
            "subtime": job.submit_time,
            "res": job.request.n_hosts,
            "walltime": job.walltime,
            "profile": f"{job.profile.duration:g}",
        }
        for job in named
    }
    delays = {job.profile.duration for job in named}
    profiles = {f"{delay:g}": {"type": "delay", "delay": delay} for delay in delays}
    return named, BatsimWorkload("w0", "kth.json", raw, profiles)


def library(bench: Bench) -> Iterator[Measure]:
    """The same log with EASY in a C library, and with the native one: CPU time of one thread."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("library: no C compiler")
        return
    built = bench.folder / "easy.so"
    source = Path(__file__).with_name("edc_easy.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", built, source], check=True)
    named, told = log_of(bench)
    workload = nt.Workload.from_jobs(named)
    setup = EdcSetup(platform=nt.Platform.homogeneous(LOG_HOSTS), workloads=[told])

    def through_library() -> nt.Schedule:
        with EdcLibrary(str(built), b"") as component:
            features = read_hello(component.hello).requested_simulation_features
            scheduler = EdcScheduler(setup, features, component)
            simulation = edc_simulation(setup, workload, scheduler)
            schedule = simulation.run()
            scheduler.finish(simulation.now)
        return schedule

    def native() -> nt.Schedule:
        return edc_simulation(setup, workload, "easy").run()

    ours: list[float] = []
    bare: list[float] = []
    for _ in range(3 * bench.repeats):
        schedules = []
        for do, times in ((through_library, ours), (native, bare)):
            began = time.process_time()
            schedules.append(do())
            times.append(time.process_time() - began)
        first, second = (
            dict(zip(one.column("job_id"), one.column("start_time"), strict=True))
            for one in schedules
        )
        assert first == second, "both decide the same"
        assert len(first) == len(named)
    unit = f"native {1000 * min(bare):.1f} ms"
    name = f"EASY in a library, {len(named)} jobs"
    yield Measure(name, f"{1000 * min(ours):.1f} ms", unit, min(ours) / min(bare), 2)


def edc_simulation(
    setup: EdcSetup, workload: nt.Workload, policy: EdcScheduler | str
) -> nt.Simulation:
    """Return a run as `noctule batsim5` does it."""
    is_edc = isinstance(policy, EdcScheduler)
    return nt.Simulation(
        setup.platform,
        workload,
        policy,
        machine=True,
        share_hosts=is_edc,
        batsim_events=is_edc,
        wait_for_timers=True,
        reject_oversized=False,
    )


def easy_replies(schedule: nt.Schedule) -> Callable[[dict[str, float]], bytes]:
    """Decide what a schedule says, when its dates come."""
    starts = defaultdict(list)
    hosts = schedule.record.hosts_text(0, len(schedule))
    columns = (schedule.column("job_id").tolist(), schedule.column("start_time").tolist())
    for job_id, start, alloc in zip(*columns, hosts, strict=True):
        starts[start].append({"job_id": job_id, "alloc": alloc})

    def decide(request: dict[str, float]) -> bytes:
        now = request["now"]
        events = [
            {"timestamp": now, "type": "EXECUTE_JOB", "data": data} for data in starts.pop(now, [])
        ]
        return json.dumps({"now": now, "events": events}).encode()

    return decide


def assert_ended(schedule: nt.Schedule, n_jobs: int) -> None:
    assert len(schedule) == n_jobs


SECTIONS = {"trips": trips, "log": log, "library": library}


def main() -> int:
    if sys.argv[1:2] == ["--peer"]:
        give_replies(sys.argv[2], Path(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), 2 if options.quick else 3, options.quick)
        names = options.sections or SECTIONS
        return report(measure for name in names for measure in SECTIONS[name](bench))


if __name__ == "__main__":
    sys.exit(main())
