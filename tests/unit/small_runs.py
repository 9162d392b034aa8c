"""Builders for the tests of the engine: jobs in one line, policies that follow a script."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import noctule as nt
from noctule.messages import Decision, StartJob
from noctule.workload import Compute, Delay, Dependency, Profile, Request


def job(
    name: str,
    *,
    hosts: int = 1,
    runtime: float = 10,
    walltime: float = math.inf,
    submit: float = 0,
    profile: Profile | None = None,
    after: dict[str, float] | None = None,
    cancel: float = math.inf,
    launch: float = 0,
    epilogue: float = 0,
) -> nt.Job:
    return nt.Job(
        id=name,
        submit_time=submit,
        request=Request(hosts),
        profile=profile or Compute(runtime),
        walltime=walltime,
        dependencies=tuple(Dependency(on, think) for on, think in (after or {}).items()),
        cancel_time=cancel,
        launch_delay=launch,
        epilogue_delay=epilogue,
    )


def delay(name: str, duration: float, **asked: float) -> nt.Job:
    return job(name, profile=Delay(duration), **asked)


def run(
    policy, jobs: Iterable[nt.Job], *, hosts: int = 4, speed: float = 1, **options
) -> nt.Schedule:
    platform = nt.Platform.homogeneous(hosts, speed)
    return nt.simulate(platform, nt.Workload.from_jobs(jobs), policy, **options)


def starts(schedule: nt.Schedule) -> dict[str, float]:
    return _by_job(schedule, "start_time")


def finishes(schedule: nt.Schedule) -> dict[str, float]:
    return _by_job(schedule, "finish_time")


def states(schedule: nt.Schedule) -> dict[str, str]:
    return _by_job(schedule, "state")


def hosts_of(schedule: nt.Schedule) -> dict[str, str]:
    ids = schedule.column("job_id").tolist()
    return {i: str(h) for i, h in zip(ids, schedule.column("hosts"), strict=True)}


def _by_job(schedule: nt.Schedule, column: str) -> dict:
    ids = schedule.column("job_id").tolist()
    return dict(zip(ids, schedule.column(column).tolist(), strict=True))


class Scripted:
    """Does at each call what a function of (view, events) says, and keeps what it saw."""

    def __init__(self, decide: Callable[..., Iterable[Decision] | None]) -> None:
        self._decide = decide
        self.calls: list[tuple[float, list[str]]] = []

    def decide(self, view, events):
        self.calls.append((view.now, [type(event).__name__ for event in events]))
        return self._decide(view, events)


def start_everything(view, events):
    return [StartJob(job) for job in view.waiting]
