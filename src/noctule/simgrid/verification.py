"""A run done here, done again in SimGrid, and how far the two differ."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from noctule.errors import InputError
from noctule.formats.platforms import save_platform
from noctule.platform import Platform
from noctule.policies import make_policy
from noctule.policy import Policy, PolicySpec
from noctule.schedule import Schedule
from noctule.simgrid.driver import Answer, Driver
from noctule.simgrid.replay import Replay, RunOfJobs, replay_of, watched_hosts
from noctule.simgrid.starts import Starts
from noctule.simulation import OptionValues, ProgressReport, Simulation
from noctule.workload import Workload

# Options of a run for which SimGrid has no words.
_UNKNOWN_THERE = ("batsim_latency", "report_ranks")


@dataclass(frozen=True, slots=True)
class Difference:
    """How far numbers of the same things differ; `name` is the thing that differs relatively most.

    What SimGrid does not know of differs infinitely.
    """

    n: int = 0
    absolute: float = 0.0
    relative: float = 0.0
    name: str = ""
    ours: float = math.nan
    simgrid: float = math.nan

    @classmethod
    def of(cls, numbers: Iterable[tuple[Any, float, float]]) -> Difference:
        """Compare our numbers with SimGrid's, by name."""
        n, absolute, worst = 0, 0.0, cls()
        for name, ours, theirs in numbers:
            n += 1
            found = _relative(ours, theirs)
            absolute = max(absolute, math.inf if found == math.inf else abs(ours - theirs))
            if n == 1 or found > worst.relative:
                worst = cls(0, 0.0, found, str(name), ours, theirs)
        return cls(n, absolute, worst.relative, worst.name, worst.ours, worst.simgrid)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a run gave here, and how far it differs from SimGrid's.

    Attributes:
        schedule: what came out here.
        simgrid_version: the version that was asked.
        simgrid_seconds: CPU time that SimGrid needed.
        dates: of the ends of jobs.
        joules: of each host, if they were counted.
        all_joules: of all hosts together.
    """

    schedule: Schedule
    simgrid_version: str
    simgrid_seconds: float
    dates: Difference
    joules: Difference | None = None
    all_joules: Difference | None = None

    @property
    def relative(self) -> float:
        """The largest relative difference of all."""
        parts = (self.dates, self.joules, self.all_joules)
        return max(part.relative for part in parts if part is not None)


def verify(
    platform: Platform,
    workload: Workload,
    policy: str | PolicySpec | type | Policy,
    driver: Driver,
    *,
    with_energy: bool = False,
    progress: ProgressReport | None = None,
    **options: Unpack[OptionValues],
) -> Verification:
    """Simulate, do the same starts again in SimGrid, and compare the ends of jobs and the joules.

    With `with_energy`, joules are counted as SimGrid bills them. SimGrid reads the platform from
    its own file if that is plain XML, else from what we write.
    """
    for name in _UNKNOWN_THERE:
        if options.get(name):
            raise InputError(f"{name}: messages of Batsim cannot be replayed in SimGrid")
    options["energy"] = "simgrid" if with_energy else "off"
    decides = make_policy(policy)
    starts = Starts.of(decides) if isinstance(decides, Policy) else None
    simulation = Simulation(platform, workload, starts or policy, **options)
    schedule = simulation.run(progress)
    unit = workload.reference_speed
    run = RunOfJobs(
        schedule,
        workload,
        platform.reference_speed if unit is None else unit,
        starts,
        simulation.options.launch_delay,
        simulation.options.enforce_walltime,
        with_energy,
    )
    replay = replay_of(run)
    if not replay.rows:
        raise InputError(f"{workload.source or workload.name}: no job ran, so none can be compared")
    with _as_xml(platform) as (path, settings):
        try:
            answer = driver.answer(path, replay.commands, settings, energy=with_energy)
        except InputError as error:
            raise InputError(f"{platform.source or 'platform'}: {error}") from None
    return _compared(schedule, replay, answer, driver.simgrid_version)


@contextmanager
def _as_xml(platform: Platform) -> Iterator[tuple[Path, list[str]]]:
    """Give a file that SimGrid reads, and settings with which it finds what that file names."""
    source = Path(platform.source)
    if platform.source and _is_plain_xml(source):
        yield source, []
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "platform.xml"
        save_platform(platform, path)
        yield path, [f"path:{source.parent.absolute()}"] if platform.files else []


def _is_plain_xml(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4096).lstrip().startswith((b"<", b"\xef\xbb\xbf<"))


def _compared(
    schedule: Schedule, replay: Replay, answer: Answer, simgrid_version: str
) -> Verification:
    tasks = answer.get("tasks", {})
    job_ids, finish = schedule.column("job_id"), schedule.column("finish_time")
    dates = Difference.of(
        (job_ids[row], float(finish[row]), _end(tasks, row)) for row in replay.rows
    )
    found = Verification(schedule, simgrid_version, float(answer["cpu_seconds"]), dates)
    if "energy" not in answer:
        return found
    ours = dict(
        zip(schedule.energy.hosts["name"], schedule.energy.hosts["joules"].tolist(), strict=True)
    )
    theirs = answer["energy"]
    names = [host.name for host in watched_hosts(schedule)]
    joules = Difference.of((name, ours[name], float(theirs[name])) for name in names)
    total = math.fsum(ours[name] for name in names), math.fsum(theirs[name] for name in names)
    return Verification(
        schedule,
        simgrid_version,
        found.simgrid_seconds,
        dates,
        joules,
        Difference.of([("all hosts", *total)]),
    )


def _end(tasks: dict[str, Any], row: int) -> float:
    task = tasks.get(str(row))
    return math.nan if task is None else float(task["end"])


def _relative(ours: float, theirs: float) -> float:
    if ours == theirs:
        return 0.0
    if not (math.isfinite(ours) and math.isfinite(theirs)):
        return math.inf
    return abs(ours - theirs) / max(abs(ours), abs(theirs))
