"""Builders that hide what does not matter to a test.

    schedule = run("easy", hosts=4, jobs=[a_job("A", hosts=3, runtime=100), a_job("B", hosts=4)])
    assert start_times(schedule) == {"A": 0, "B": 100}

Jobs are computations, so that one that lasts exactly its walltime succeeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from noctule.platform import Platform
from noctule.policy import Policy, PolicySpec
from noctule.schedule import Schedule
from noctule.simulation import OptionValues, simulate
from noctule.testing.case import Case
from noctule.workload import Compute, Dependency, Job, JobId, Label, Request, Workload


def a_job(
    job_id: JobId,
    *,
    hosts: int = 1,
    runtime: float = 10,
    walltime: float | None = None,
    submit: float = 0,
    after: Sequence[JobId | Dependency] = (),
    cancel_time: float = math.inf,
    launch_delay: float = 0,
    epilogue_delay: float = 0,
    user: Label = None,
) -> Job:
    """Return a job that computes for `runtime` seconds; its walltime is exact unless given.

    `after` are the jobs it depends on: ids, or Dependency where there is a think time.
    """
    dependencies = (one if isinstance(one, Dependency) else Dependency(one) for one in after)
    return Job(
        id=job_id,
        submit_time=submit,
        request=Request(hosts),
        profile=Compute(runtime),
        walltime=runtime if walltime is None else walltime,
        dependencies=tuple(dependencies),
        cancel_time=cancel_time,
        launch_delay=launch_delay,
        epilogue_delay=epilogue_delay,
        user=user,
    )


def a_workload(*jobs: Job, name: str = "w0") -> Workload:
    """Return a workload of these jobs."""
    return Workload.from_jobs(jobs, name=name)


def run(
    policy: str | PolicySpec | type | Policy,
    *,
    hosts: int = 4,
    jobs: Iterable[Job],
    **options: Unpack[OptionValues],
) -> Schedule:
    """Simulate jobs on identical hosts of speed 1."""
    return simulate(Platform.homogeneous(hosts), a_workload(*jobs), policy, **options)


def run_case(
    case: Case,
    policy: str | PolicySpec | type | Policy | None = None,
    **options: Unpack[OptionValues],
) -> Schedule:
    """Simulate a conformance case, with its own policy or another one."""
    return run(policy or case.policy, hosts=case.hosts, jobs=case_jobs(case), **options)


def case_jobs(case: Case) -> list[Job]:
    """Return the jobs of a conformance case."""
    return [
        a_job(
            job.id,
            hosts=job.n_hosts,
            runtime=job.runtime,
            walltime=job.walltime,
            submit=job.submit_time,
        )
        for job in case.jobs
    ]


def start_times(schedule: Schedule) -> dict[JobId, float]:
    """Return when each job started; those that never did are left out."""
    return _dates(schedule, "start_time")


def finish_times(schedule: Schedule) -> dict[JobId, float]:
    """Return when each job ended; those that never did are left out."""
    return _dates(schedule, "finish_time")


def states(schedule: Schedule) -> dict[JobId, str]:
    """Return what became of each job."""
    return dict(_pairs(schedule, "state"))


def _dates(schedule: Schedule, name: str) -> dict[JobId, float]:
    return {job_id: date for job_id, date in _pairs(schedule, name) if not math.isnan(date)}


def _pairs(schedule: Schedule, name: str) -> Iterable[tuple[JobId, Any]]:
    ids, values = schedule.column("job_id").tolist(), schedule.column(name).tolist()
    return zip(ids, values, strict=True)
