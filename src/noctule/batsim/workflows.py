"""Workflows: whoever submits their tasks stands between a scheduler and its run.

A task becomes a job when all that it waits for has ended, well or not; its number is its place in
that order. Workflows are static submitters as workloads are: that all jobs were submitted is told
when the last of both is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from noctule.batsim.inputs import StartedWorkflow
from noctule.messages import (
    CallAt,
    ChangeJobState,
    ContinueRegistration,
    Decision,
    Event,
    FinishRegistration,
    JobFinished,
    JobSubmitted,
    RegisterJob,
    RejectJob,
    SimulationStarted,
    SubmissionsEnded,
    TimerFired,
)
from noctule.policy import View
from noctule.workload import Delay, Job, JobId, Request

# Batsim gives each task so much more than it needs.
_SPARE_SECONDS = 10.0
_TAG = "start of workflow "


class KnowsJobs(Protocol):
    """A policy that must hear of jobs before they are submitted."""

    def decide(self, view: View, events: Sequence[Event]) -> Iterable[Decision] | None:
        """Decide."""

    def add_job(self, job_id: str, job: Mapping[str, Any], profile: Mapping[str, Any]) -> None:
        """Take a job and its profile, as Batsim's workloads describe them."""


class _Progress:
    """How far one workflow has come."""

    def __init__(self, started: StartedWorkflow, limit: int) -> None:
        self.name, self.start = started.name, started.start
        self._tasks = started.workflow.tasks
        self._ready = deque(started.workflow.first)
        self._n_missing = [task.n_parents for task in self._tasks]
        self._task_of: dict[JobId, int] = {}
        self._limit = limit or len(self._tasks)
        self._n_submitted = 0
        self._n_ended = 0

    @property
    def is_over(self) -> bool:
        return self._n_ended == len(self._tasks)

    def runs(self, job_id: JobId) -> bool:
        return job_id in self._task_of

    def end(self, job_id: JobId) -> None:
        """Let go what waited for a job only."""
        self._n_ended += 1
        for child in self._tasks[self._task_of.pop(job_id)].children:
            self._n_missing[child] -= 1
            if self._n_missing[child] == 0:
                self._ready.append(child)

    def submit(self, now: float, scheduler: KnowsJobs) -> Iterator[RegisterJob]:
        """Submit what is ready, as far as the limit allows."""
        while self._ready and len(self._task_of) < self._limit:
            position = self._ready.popleft()
            task = self._tasks[position]
            job_id, profile = f"{self.name}!{self._n_submitted}", f"{self.name}_{task.id}"
            self._n_submitted += 1
            self._task_of[job_id] = position
            walltime = task.runtime + _SPARE_SECONDS
            raw = {
                "id": job_id,
                "subtime": now,
                "walltime": walltime,
                "res": task.n_hosts,
                "profile": profile,
            }
            scheduler.add_job(job_id, raw, {"type": "delay", "delay": task.runtime})
            yield RegisterJob(
                Job(
                    job_id,
                    now,
                    Request(task.n_hosts),
                    Delay(task.runtime),
                    walltime,
                    profile_name=f"{self.name}!{profile}",
                )
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowRules:
    """What the command line says about workflows.

    Attributes:
        limit: jobs of one workflow at a time; 0 for any number.
        drops_late_jobs: jobs submitted after the last workflow's end are forgotten.
        has_static_jobs: there are workloads besides.
        is_open: the scheduler may register jobs, until it says that it will not.
    """

    limit: int = 0
    drops_late_jobs: bool = False
    has_static_jobs: bool = False
    is_open: bool = False


class Workflows:
    """Submits tasks of workflows, and lets a scheduler decide.

    Run it with the options batsim_events and open_registration.

    Attributes:
        dropped: ids of jobs that came too late, and nobody was told of.
    """

    def __init__(
        self, scheduler: KnowsJobs, workflows: Sequence[StartedWorkflow], rules: WorkflowRules
    ) -> None:
        """Take the scheduler that decides, and what it is to be told of."""
        self.dropped: set[JobId] = set()
        self._scheduler = scheduler
        self._flows = {flow.name: _Progress(flow, rules.limit) for flow in workflows}
        self._rules = rules
        self._static_ended = not rules.has_static_jobs
        self._has_told_end = False
        self._is_open = rules.is_open
        self._is_closed = False

    def decide(self, view: View, events: Sequence[Event]) -> Iterator[Decision]:
        """Submit what has become ready, then ask the scheduler."""
        now = view.now
        told: list[Event] = []
        for event in events:
            yield from self._see(event, now, told)
        if self._is_over and self._static_ended and not self._has_told_end:
            self._has_told_end = True
            told.append(SubmissionsEnded(now))
        if told:
            for decision in self._scheduler.decide(view, told) or ():
                yield from self._pass_on(decision, now)
        if self._is_over and not self._is_open and not self._is_closed:
            self._is_closed = True
            yield FinishRegistration()

    @property
    def _is_over(self) -> bool:
        return all(flow.is_over for flow in self._flows.values())

    def _see(self, event: Event, now: float, told: list[Event]) -> Iterator[Decision]:
        """Do what an event means for workflows, and add it to what the scheduler is told."""
        match event:
            case SimulationStarted():
                for flow in self._flows.values():
                    if flow.start > 0:
                        yield CallAt(flow.start, f"{_TAG}{flow.name}")
                    else:
                        yield from flow.submit(now, self._scheduler)
            case TimerFired(tag=tag) if tag.startswith(_TAG):
                yield from self._flows[tag.removeprefix(_TAG)].submit(now, self._scheduler)
                return
            case SubmissionsEnded():
                self._static_ended = True
                return
            case JobFinished(job=job):
                yield from self._end(job.id, now)
            case JobSubmitted(job=job) if self._comes_late(job.id):
                self.dropped.add(job.id)
                yield RejectJob(job)
                return
        told.append(event)

    def _comes_late(self, job_id: JobId) -> bool:
        return (
            self._rules.drops_late_jobs
            and self._is_over
            and str(job_id).partition("!")[0] not in self._flows
        )

    def _end(self, job_id: JobId, now: float) -> Iterator[Decision]:
        flow = self._flows.get(str(job_id).partition("!")[0])
        if flow is not None and flow.runs(job_id):
            flow.end(job_id)
            yield from flow.submit(now, self._scheduler)

    def _pass_on(self, decision: Decision, now: float) -> Iterator[Decision]:
        """Pass a decision on, and see what it ends; workflows keep the registration open."""
        match decision:
            case FinishRegistration():
                self._is_open = False
                if not self._is_over:
                    return
                self._is_closed = True
            case ContinueRegistration():
                self._is_open, self._is_closed = True, False
        yield decision
        match decision:
            case RejectJob(job=job):
                yield from self._end(_id_of(job), now)
            case ChangeJobState(job=job, state=state) if state != "running":
                yield from self._end(_id_of(job), now)


def _id_of(job: object) -> JobId:
    job_id: JobId = job if isinstance(job, str | int) else job.id  # type: ignore[attr-defined]
    return job_id
