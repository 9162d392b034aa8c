"""Policies that decide what the scheduler of a recorded run of Batsim decided."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recorded_run import Decided, Recording, Row

import noctule as nt
from noctule.errors import NoctuleError
from noctule.messages import (
    AskEnergy,
    BusyUntil,
    CallAt,
    ChangeJobState,
    ContinueRegistration,
    Decision,
    Event,
    FinishRegistration,
    JobSubmitted,
    KillJob,
    KillJobs,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SendMessage,
    SetMetadata,
    SetPowerState,
    StartJob,
)
from noctule.workload import JobId

JOB_STATES = {
    "RUNNING": "running",
    "COMPLETED_SUCCESSFULLY": "completed",
    "COMPLETED_FAILED": "failed",
    "COMPLETED_WALLTIME_REACHED": "timed_out",
    "COMPLETED_KILLED": "killed",
    "REJECTED": "rejected",
}
PLAIN: Mapping[str, Callable[[Mapping[str, Any]], Decision]] = {
    "REJECT_JOB": lambda data: RejectJob(data["job_id"]),
    "KILL_JOB": lambda data: KillJobs(data["job_ids"]),
    "SET_JOB_METADATA": lambda data: SetMetadata(data["job_id"], data["metadata"]),
    "REGISTER_PROFILE": lambda data: RegisterProfile(data["profile_name"]),
    "NOTIFY": lambda _: FinishRegistration(),
    "CHANGE_JOB_STATE": lambda data: ChangeJobState(data["job_id"], JOB_STATES[data["job_state"]]),
    "QUERY": lambda _: AskEnergy(),
    "TO_JOB_MSG": lambda data: SendMessage(data["job_id"], data["msg"]),
}
# Batsim prints dates with six decimals.
ROUNDING = 6e-7


class Replay:
    """What both ways to replay a run have in common: decisions of Batsim's protocol as ours."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._registered = recording.registered()
        self._n_calls = 0

    def decision(self, kind: str, data: Mapping[str, Any]) -> Decision:
        """Return the decision that an event of the protocol stands for."""
        match kind:
            case "EXECUTE_JOB":
                return self._start(data)
            case "REGISTER_JOB":
                return RegisterJob(self._registered[data["job_id"]])
            case "SET_RESOURCE_STATE":
                return SetPowerState(self.recording.hosts(data["resources"]), int(data["state"]))
            case "CALL_ME_LATER":
                self._n_calls += 1
                return CallAt(float(data["timestamp"]), f"call {self._n_calls}")
            case "NOTIFY" if data["type"] == "continue_registration":
                return ContinueRegistration()
        if kind not in PLAIN:
            raise NoctuleError(f"{kind} cannot be replayed")
        return PLAIN[kind](data)

    def _start(self, data: Mapping[str, Any]) -> StartJob:
        hosts = self.recording.hosts(data["alloc"])
        if "additional_io_job" in data:
            hosts |= self.recording.hosts(data["additional_io_job"]["alloc"])
        mapping = {int(k): int(v) for k, v in data.get("mapping", {}).items()}
        storages = {
            k: self.recording.host_ids.get(int(v), int(v))
            for k, v in data.get("storage_mapping", {}).items()
        }
        return StartJob(
            data["job_id"],
            hosts,
            mapping=[mapping[i] for i in range(len(mapping))] or None,
            storages=storages or None,
        )


class AnsweringReplay(Replay):
    """Gives the recorded reply to each request, which must come at the recorded date."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        if not recording.messages:
            raise NoctuleError("there are no recorded messages")
        self._exchanges = iter(zip(recording.requests, recording.replies, strict=False))

    def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        request, reply = next(self._exchanges, ({"now": -1.0}, {}))
        if not abs(float(request["now"]) - view.now) <= 2 * ROUNDING + 4 * math.ulp(view.now):
            raise NoctuleError(
                f"t={view.now}: a request, where the next one was at {request['now']}"
            )
        for event in reply["events"]:
            yield BusyUntil(float(event["timestamp"]))
            yield self.decision(event["type"], event["data"])
        yield BusyUntil(float(reply["now"]))


@dataclass(order=True)
class Step:
    """A decision and its date."""

    date: float
    number: int
    decision: Decision = field(compare=False)


class DatedReplay(Replay):
    """Makes each decision at the date at which Batsim carried it out.

    Dates were rounded: what another event may have caused is done with that event.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        self._shares = "--enable-compute-sharing" in recording.command.flags
        n_hosts = recording.platform.n_hosts
        self._storages = nt.HostSet(n_hosts + i for i in range(len(recording.platform.storages)))
        self._waiting: set[JobId] = set()
        self._steps: list[Step] = []
        self._power_dates = [
            float(row["time"])
            for row in recording.table("consumed_energy")
            if row["event_type"] == "p"
        ]
        if recording.messages:
            self._plan_messages()
        else:
            self._plan_rows()
        self._steps.sort()

    def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        self._waiting.update(event.job.id for event in events if isinstance(event, JobSubmitted))
        due = bisect_right(self._steps, view.now + ROUNDING, key=lambda step: step.date)
        late = []
        free = view.free
        for step in self._steps[:due]:
            decision = step.decision
            if self._is_possible(decision, view, free):
                yield decision
                free -= decision.hosts if isinstance(decision, StartJob) else nt.HostSet()
            else:
                late.append(step)
        self._steps[:due] = late
        if len(late) < len(self._steps):
            yield CallAt(self._steps[len(late)].date)

    def _is_possible(self, decision: Decision, view: nt.View, free: nt.HostSet) -> bool:
        """Tell whether what a decision waits for has happened."""
        match decision:
            case StartJob(job=job, hosts=hosts):
                return job in self._waiting and (self._shares or not hosts - self._storages - free)
            case SetPowerState(hosts=hosts, state=state) if self._is_sleep(hosts, state):
                return not hosts - free
            case SetPowerState(hosts=hosts):
                return not hosts & view.switching
        return True

    def _is_sleep(self, hosts: nt.HostSet, state: int) -> bool:
        kinds = (self.recording.platform.hosts[host].kind for host in hosts)
        return any(sleep.sleep == state for kind in kinds for sleep in kind.sleep_states)

    def _add(self, date: float, decision: Decision) -> None:
        self._steps.append(Step(date, len(self._steps), decision))

    def _plan_rows(self) -> None:
        for job_id, row in self.recording.jobs.items():
            if row["final_state"] == "REJECTED":
                self._add(float(row["submission_time"]), RejectJob(job_id))
            else:
                self._plan_job(
                    StartJob(job_id, self.recording.hosts(row["allocated_resources"])), row
                )

    def _plan_messages(self) -> None:
        """Plan starts and kills at the dates of jobs.csv, all else at those of the messages."""
        for decided in self.recording.decisions():
            decision = self.decision(decided.kind, decided.data)
            match decision:
                case StartJob(job=job_id):
                    if job_id not in self.recording.jobs:
                        raise NoctuleError(f"jobs.csv does not tell when {job_id} was started")
                    self._plan_job(decision, self.recording.jobs[job_id])
                case SetPowerState():
                    self._add(self._power_date(decided), decision)
                case KillJobs() | CallAt() | AskEnergy() | RegisterProfile():
                    pass
                case _:
                    self._add(decided.date, decision)

    def _plan_job(self, start: StartJob, row: Row) -> None:
        self._add(float(row["starting_time"]), start)
        if row["final_state"] == "COMPLETED_KILLED":
            self._add(float(row["finish_time"]), KillJob(start.job))

    def _power_date(self, decided: Decided) -> float:
        """Return when a power state was asked for: its decision travelled for some time."""
        following = bisect_left(self._power_dates, decided.date - ROUNDING)
        if following == len(self._power_dates):
            return decided.date
        return self._power_dates.pop(following)
