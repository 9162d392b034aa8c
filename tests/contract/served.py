"""Runs in which the policy sits behind messages, but not behind a socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import noctule as nt
from noctule.formats.batsim_writing import batsim_text
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, BatsimWorkload
from noctule.remote.serving import PolicyServer

#: What became of a job: start, end, hosts and state.
Rows = dict[str, tuple[Any, ...]]
OPTIONS: dict[str, Any] = {"batsim_events": True, "wait_for_timers": True}


def with_full_ids(workload: nt.Workload, *, later: float = 0) -> nt.Workload:
    """Return a workload with the ids that messages give its jobs, `later` by some seconds."""
    jobs = [
        replace(job, id=f"w0!{job.id}", submit_time=job.submit_time + later) for job in workload
    ]
    return nt.Workload.from_jobs(jobs, reference_speed=workload.reference_speed)


def simulate_served(
    platform: nt.Platform,
    workload: nt.Workload,
    answer: Callable[[bytes], bytes],
    *,
    setup: dict[str, Any] | None = None,
    **options: Any,
) -> nt.Schedule:
    """Simulate a workload with full ids; requests are answered by a function."""
    text = json.loads("".join(batsim_text(workload)))
    jobs = {job["id"]: job for job in text["jobs"]}
    told = BatsimWorkload("w0", "/w0.json", jobs, text["profiles"])
    scheduler = BatsimScheduler(
        BatsimSetup(platform=platform, workloads=[told], **(setup or {})), answer
    )
    schedule = nt.simulate(
        platform, workload, scheduler, reject_oversized=False, **(OPTIONS | options)
    )
    scheduler.finish(schedule.end)
    return schedule


def served_rows(platform: nt.Platform, workload: nt.Workload, policy: Any, **options: Any) -> Rows:
    """Return what becomes of the jobs when a policy is served."""
    server = PolicyServer(policy)
    found = rows(simulate_served(platform, workload, server.answer, **options))
    assert server.ended
    return found


def rows(schedule: nt.Schedule) -> Rows:
    columns = ("start_time", "finish_time", "hosts", "state")
    table = schedule.jobs[["job_id", *columns]]
    return {
        job_id: (*(str(one) for one in dates), str(hosts), state)
        for job_id, *dates, hosts, state in table.itertuples(index=False)
    }
