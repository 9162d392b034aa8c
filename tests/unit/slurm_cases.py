"""Small runs of the model of Slurm for tests: jobs, a configuration, and what became of them.

There are ticks at each whole second and a quarter, a backfill cycle each half minute from 30.5 on,
a full pass each minute from 60 on, checks of time limits each half minute from 0.25 on, and the
run's zero is a whole minute of the epoch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import noctule as nt
from noctule.profile import Delay
from noctule.slurm.conf.associations import Associations
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import SlurmSettings, settings_from
from noctule.slurm.jobs.requests import Request, Requests
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import SlurmModel, simulate_slurm
from noctule.workload import Request as WorkloadRequest

#: Idle nodes are switched off after a minute.
SAVING = """SuspendProgram=/bin/off
ResumeProgram=/bin/on
SuspendTime=60
SuspendTimeout=20
ResumeTimeout=50
"""
CLOCKS = Clocks(
    first_tick=0.25,
    tick_period=1.0,
    first_backfill=30.5,
    first_full=60.0,
    first_limit_check=0.0,
    backfill_overhead=0.0,
)


@dataclasses.dataclass(frozen=True)
class Asked:
    """A job: when it comes, how long it runs, its nodes (or CPUs), partitions and limit."""

    submit: float
    runtime: float
    size: int
    partition: str = "low"
    limit: int = 10
    more: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A row of the schedule."""

    start: float
    end: float
    hosts: str
    state: str
    suspended: float = 0.0
    note: str = ""


def conf_of(
    *lines: str,
    n_nodes: int = 4,
    cores: bool = False,
    share: str = "NO",
    scheduling: str = "bf_interval=30",
    low: str = "",
    high: str = "",
) -> SlurmSettings:
    """Return a cluster with a partition `low` and one above it, `high`, of the same nodes."""
    select = ["SelectType=select/linear"]
    if cores:
        select = ["SelectType=select/cons_tres", "SelectTypeParameters=CR_Core"]
    text = [
        "ClusterName=test",
        f"SchedulerParameters={scheduling}",
        *select,
        *lines,
        f"NodeName=n[1-{n_nodes}] CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1",
        f"PartitionName=low Nodes=ALL Default=YES PriorityTier=1 OverSubscribe={share} {low}",
        f"PartitionName=high Nodes=ALL PriorityTier=10 OverSubscribe={share} {high}",
    ]
    return settings_from(parse_conf("\n".join(text) + "\n", "slurm.conf"))


def simulate_case(
    conf: SlurmSettings,
    jobs: Sequence[Asked],
    *,
    clocks: Clocks = CLOCKS,
    associations: Associations | None = None,
    **options: Any,
) -> tuple[nt.Schedule, SlurmModel]:
    """Run jobs under a configuration."""
    is_linear = conf.select.is_linear
    workload = nt.Workload.from_jobs(
        nt.Job(
            id=i,
            submit_time=job.submit,
            request=WorkloadRequest(job.size),
            profile=Delay(job.runtime),
        )
        for i, job in enumerate(jobs)
    )
    requests = Requests.of(
        Request(
            partitions=tuple(job.partition.split(",")),
            limit=job.limit,
            **({"min_nodes": job.size} if is_linear else {"tasks": job.size}),
            **job.more,
        )
        for job in jobs
    )
    return simulate_slurm(
        workload, conf, requests, clocks=clocks, epoch=600_000, associations=associations, **options
    )


def attempts(conf: SlurmSettings, jobs: Sequence[Asked], **options: Any) -> dict[str, Attempt]:
    """Return what became of each job, by id, with dates to a thousandth of a second."""
    schedule, _ = simulate_case(conf, jobs, **options)
    return attempts_of(schedule)


def attempts_of(schedule: nt.Schedule) -> dict[str, Attempt]:
    """Return the rows of a schedule by id."""
    return {
        str(row.job_id): Attempt(
            round(row.start_time, 3),
            round(row.finish_time, 3),
            str(row.hosts),
            row.state,
            round(getattr(row, "suspended_time", 0.0), 3),
            getattr(row, "metadata", ""),
        )
        for row in schedule.jobs.itertuples()
    }
