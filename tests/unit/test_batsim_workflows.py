"""Workflows: who submits what, and when it is over; with a scheduler in the same process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import noctule as nt
from noctule.batsim.inputs import StartedWorkflow
from noctule.batsim.workflows import WorkflowRules, Workflows
from noctule.formats.dax import read_dax
from noctule.messages import (
    Decision,
    Event,
    FinishRegistration,
    JobFinished,
    JobSubmitted,
    RejectJob,
    StartJob,
    SubmissionsEnded,
)
from noctule.policy import View
from noctule.workload import Delay, Job, Request

CHAIN = (
    b'<adag><job id="a" runtime="2"/><job id="b" runtime="3"/><job id="c" runtime="4"/>'
    b'<child ref="b"><parent ref="a"/></child><child ref="c"><parent ref="b"/></child></adag>'
)


class Scheduler:
    """Starts each job when it comes, but rejects some; keeps what it was told."""

    def __init__(self, *rejected: str, finishes_at: float | None = None) -> None:
        self.told: list[tuple[float, str]] = []
        self.known: dict[str, Mapping[str, Any]] = {}
        self._rejected = rejected
        self._finishes_at = finishes_at

    def add_job(self, job_id: str, job: Mapping[str, Any], profile: Mapping[str, Any]) -> None:
        self.known[job_id] = profile

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        for event in events:
            match event:
                case JobSubmitted(job=job):
                    self.told.append((event.time, f"{job.id} submitted"))
                    is_rejected = job.id in self._rejected
                    yield RejectJob(job) if is_rejected else StartJob(job)
                case JobFinished(job=job):
                    self.told.append((event.time, f"{job.id} ended"))
                case SubmissionsEnded():
                    self.told.append((event.time, "all submitted"))
        if self._finishes_at is not None and view.now >= self._finishes_at:
            self._finishes_at = None
            yield FinishRegistration()


def simulate(scheduler: Scheduler, *jobs: Job, **rules: Any) -> nt.Schedule:
    flow = StartedWorkflow("wf0", 1.0, read_dax(CHAIN, source="chain"))
    policy = Workflows(scheduler, [flow], WorkflowRules(has_static_jobs=bool(jobs), **rules))
    return nt.simulate(
        nt.Platform.homogeneous(4),
        nt.Workload.from_jobs(jobs),
        policy,
        batsim_events=True,
        open_registration=True,
        wait_for_timers=True,
    )


def test_a_task_is_submitted_when_all_that_it_waits_for_has_ended() -> None:
    scheduler = Scheduler()
    schedule = simulate(scheduler)
    assert scheduler.told == [
        (1.0, "wf0!0 submitted"),
        (3.0, "wf0!0 ended"),
        (3.0, "wf0!1 submitted"),
        (6.0, "wf0!1 ended"),
        (6.0, "wf0!2 submitted"),
        (10.0, "wf0!2 ended"),
        (10.0, "all submitted"),
    ]
    assert scheduler.known["wf0!2"] == {"type": "delay", "delay": 4.0}
    assert schedule.column("walltime").tolist() == [12.0, 13.0, 14.0]


def test_a_rejected_task_counts_as_ended() -> None:
    scheduler = Scheduler("wf0!1")
    states = simulate(scheduler).column("state").tolist()
    assert states == ["completed", "rejected", "completed"]
    assert (3.0, "wf0!2 submitted") in scheduler.told


def test_all_is_submitted_when_workloads_and_workflows_are_done() -> None:
    late = Job("w0!9", 20.0, Request(1), Delay(1.0))
    scheduler = Scheduler()
    simulate(scheduler, late)
    assert [one for one in scheduler.told if one[1] == "all submitted"] == [(20.0, "all submitted")]


def test_a_scheduler_that_registers_no_more_jobs_does_not_end_a_workflow() -> None:
    schedule = simulate(Scheduler(finishes_at=3.0), is_open=True)
    assert len(schedule) == 3
