"""Hypothesis strategies for platforms, jobs and workloads that are nasty to schedulers.

Numbers are small and whole, so that dates and sizes tie all the time: submissions fall on ends,
ends on shadows, jobs fill a hole exactly. Needs `pip install noctule[testing]`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from noctule.platform import Platform
from noctule.testing.builders import a_job
from noctule.workload import Dependency, Job, JobId, Workload

__all__ = ["jobs", "platforms", "workloads"]

# Few values, of which sums and differences meet again.
_DATES = (0, 0, 0, 1, 2, 3, 4, 5, 8, 10, 13, 20)
_WALLTIMES = (1, 2, 3, 4, 5, 8, 10, 20)
_DELAYS = (0, 0, 0, 1, 2)


def platforms(
    *, max_hosts: int = 8, speeds: tuple[float, ...] = (1.0,)
) -> SearchStrategy[Platform]:
    """Return platforms of few identical hosts."""
    return st.builds(Platform.homogeneous, st.integers(1, max_hosts), speed=st.sampled_from(speeds))


@st.composite
def jobs(
    draw: DrawFn,
    job_id: JobId = 0,
    *,
    max_hosts: int = 8,
    overruns: bool = False,
    unlimited: bool = False,
    cancellations: bool = False,
    delays: bool = False,
) -> Job:
    """Return one job; about half of them end before their walltime.

    `overruns` adds jobs that are stopped at their walltime, `unlimited` jobs without one,
    `cancellations` users who give up, `delays` times to launch and to clean up.
    """
    submit = draw(st.sampled_from(_DATES))
    walltime: float = draw(st.sampled_from(_WALLTIMES))
    longest = int(walltime) + 2 if overruns else int(walltime)
    runtime = draw(st.one_of(st.just(int(walltime)), st.integers(1, longest)))
    if unlimited and draw(st.integers(0, 4)) == 0:
        walltime = math.inf
    cancel_time = math.inf
    if cancellations and draw(st.booleans()):
        cancel_time = submit + draw(st.sampled_from(_DATES))
    return a_job(
        job_id,
        hosts=draw(st.integers(1, max_hosts)),
        runtime=runtime,
        walltime=walltime,
        submit=submit,
        cancel_time=cancel_time,
        launch_delay=draw(st.sampled_from(_DELAYS)) if delays else 0,
        epilogue_delay=draw(st.sampled_from(_DELAYS)) if delays else 0,
    )


@st.composite
def workloads(
    draw: DrawFn,
    *,
    max_jobs: int = 12,
    max_hosts: int = 8,
    dependencies: bool = False,
    overruns: bool = False,
    unlimited: bool = False,
    cancellations: bool = False,
    delays: bool = False,
) -> Workload:
    """Return a few jobs, with whole numbers as ids.

    On a platform with fewer than `max_hosts` hosts, some of them are too large. `dependencies`
    lets a job follow earlier ones, with think times; see `jobs` for the other options.
    """

    def one(job_id: int) -> SearchStrategy[Job]:
        return jobs(
            job_id,
            max_hosts=max_hosts,
            overruns=overruns,
            unlimited=unlimited,
            cancellations=cancellations,
            delays=delays,
        )

    n_jobs = draw(st.integers(0, max_jobs))
    drawn = [draw(one(job_id)) for job_id in range(n_jobs)]
    if dependencies:
        drawn = [_depending(draw, job, i) for i, job in enumerate(drawn)]
    return Workload.from_jobs(drawn)


def _depending(draw: DrawFn, job: Job, n_before: int) -> Job:
    if n_before == 0 or draw(st.booleans()):
        return job
    chosen = draw(st.sets(st.integers(0, n_before - 1), min_size=1, max_size=2))
    think_times = [draw(st.sampled_from(_DELAYS)) for _ in chosen]
    after = tuple(map(Dependency, sorted(chosen), think_times))
    return replace(job, dependencies=after)
