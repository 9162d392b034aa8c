"""A scheduler of Batsim 4 behind a wire, as a policy.

At each call the policy writes a request with what happened, sends it through its channel, and
decides what the reply says. Time passes as the reply says too: the scheduler is busy until its
`now`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from noctule import messages
from noctule.errors import ProtocolError
from noctule.messages import CallAt, Decision, Event, SimulationStarted
from noctule.policy import View
from noctule.remote.batsim4_replies import ReplyReader
from noctule.remote.batsim4_writing import (
    BatsimSetup,
    job_progress,
    job_submitted,
    json_text,
    simulation_begins,
)
from noctule.remote.batsim_names import outcome_of
from noctule.remote.batsim_registry import Registry
from noctule.remote.batsim_shortcut import AskingPolicy, Channel
from noctule.remote.batsim_workload import BatsimWorkload

__all__ = ["BatsimScheduler", "BatsimSetup", "BatsimWorkload", "Channel"]

_HELD = "held events"


class BatsimScheduler(AskingPolicy):
    """Decides what a scheduler that speaks protocol 4 replies.

    Jobs are known by their full ids (`w0!1`), which those of the simulated Workload must be. Run it
    with the options batsim_events, wait_for_timers and reject_oversized=False; after the run,
    `finish` tells the scheduler that it is over.

    Attributes:
        setup: what the scheduler is told at the beginning.
        notes: what was odd in replies, but could be done; each said once.
    """

    def __init__(self, setup: BatsimSetup, channel: Channel) -> None:
        """Take what the scheduler is told at the beginning, and the way to it."""
        self.setup = setup
        self.notes: list[str] = []
        keeps_names = setup.reuse_profiles or not setup.dynamic_jobs
        registry = Registry(setup.workloads, keeps_names=keeps_names)
        self._reader = ReplyReader(setup, registry, self.notes)
        super().__init__(registry, self._reader, channel)
        self._progress: dict[str, str] = {}
        self._held: list[str] = []
        self._is_holding = False  # until the call comes at which held events are told
        self._writers: Mapping[type, Callable[[Any], str]] = {
            messages.SimulationStarted: self._begins,
            messages.JobSubmitted: self._submitted,
            messages.JobFinished: self._finished,
            messages.JobCancelled: self._cancelled,
            messages.HostsReleased: lambda _: "",
            messages.TimerFired: self._called,
            messages.MessageSent: self._message_sent,
            messages.PowerStateChanged: self._state_changed,
            messages.HostFailed: lambda event: _unavailable(str(event.host)),
            messages.HostRestored: lambda event: _available(str(event.host)),
            messages.HostsUnavailable: lambda event: _unavailable(str(event.hosts)),
            messages.HostsAvailable: lambda event: _available(str(event.hosts)),
            messages.WindowAnnounced: lambda _: "",
            messages.WindowBegan: lambda event: _unavailable(str(event.window.hosts)),
            messages.WindowEnded: lambda event: _available(str(event.window.hosts)),
            messages.ExternalEventOccurred: self._occurred,
            messages.EnergyAnswered: _answered,
            messages.SubmissionsEnded: lambda _: _notify("no_more_static_job_to_submit"),
            messages.ExternalEventsEnded: lambda _: _notify("no_more_external_event_to_occur"),
            messages.JobsKilled: self._killed,
        }

    def decide(self, view: View, events: Sequence[Event]) -> list[Decision]:
        """Ask the scheduler, and return what it decided, then until when it is busy."""
        reply = self._caught_up()
        if reply is None:
            decisions = self._decided(view.now, events)
        else:
            decisions = self._reader.read(reply, view.now)[0]
        self._past.go_on()
        is_plain = type(self).decide is BatsimScheduler.decide and not self._is_holding
        if self.shortcut is None and is_plain:
            setup, registry = self.setup, self._registry
            write = functools.partial(registry.profile_text, write=json_text)
            self._past.open(
                view,
                is_batsim4=True,
                exact_dates=setup.exact_dates,
                profile_text=write if setup.forward_profiles else None,
            )
        return decisions

    def _caught_up(self) -> bytes | None:
        """Hear of what happened without this class; return the reply if that is to be read."""
        reply = self._past.catch_up()
        if self.shortcut is not None:
            self._reader.allocations.update(self.shortcut.allocations())
        return reply

    def _decided(self, now: float, events: Sequence[Event]) -> list[Decision]:
        told, self._held = self._held, []
        writers = self._writers
        for event in events:
            text = writers[type(event)](event)
            if text:
                told.append(f'{{"timestamp":{event.time:.6f},"type":{text}}}')
        if not told:
            return []
        if len(told) > 1 and type(events[0]) is SimulationStarted:
            return self._begin(now, told)
        return self._ask(now, told)[0]

    def finish(self, now: float) -> None:
        """Tell the scheduler that the simulation has ended at this date; it may not decide."""
        self._caught_up()
        event = f'{{"timestamp":{now:.6f},"type":"SIMULATION_ENDS","data":{{}}}}'
        decisions, _ = self._ask(now, [event])
        if decisions and not isinstance(decisions[0], messages.BusyUntil):
            raise ProtocolError(
                f"t={now:.15g}: reply: got {type(decisions[0]).__name__} when the simulation had "
                "ended, expected no events"
            )

    def add_job(self, job_id: str, job: Mapping[str, Any], profile: Mapping[str, Any]) -> None:
        """Take the object of a job that comes from elsewhere, such as a workflow, and its profile.

        It must be known when the job is submitted.
        """
        self._registry.enter(job_id, job, profile)

    def _begin(self, now: float, told: list[str]) -> list[Decision]:
        """Tell the beginning alone; all else that happened then is told when the reply allows."""
        decisions, ready = self._ask(now, told[:1])
        if ready > now:
            self._held = told[1:]
            self._is_holding = True
            return [*decisions, CallAt(ready, _HELD)]
        return decisions + self._ask(now, told[1:])[0]

    def _ask(self, now: float, told: list[str]) -> tuple[list[Decision], float]:
        reply = self._reply_to(f'{{"now":{now:.6f},"events":[{",".join(told)}]}}')
        return self._reader.read(reply, now)

    def _begins(self, _: SimulationStarted) -> str:
        return f'"SIMULATION_BEGINS","data":{simulation_begins(self.setup)}'

    def _submitted(self, event: messages.JobSubmitted) -> str:
        job_id = str(event.job.id)
        jobs = self._reader.jobs
        is_own = job_id in jobs
        jobs[job_id] = event.job
        if is_own and not self.setup.acknowledge_dynamic_jobs:
            return ""
        raw = self._registry.tell(job_id)
        profile = None
        if self.setup.forward_profiles:
            profile = self._registry.profile_text(job_id, json_text)
        return f'"JOB_SUBMITTED","data":{job_submitted(job_id, raw, profile, event.time)}'

    def _finished(self, event: messages.JobFinished) -> str:
        job_id = str(event.job.id)
        outcome = outcome_of(event, self._registry)
        if outcome.levels:
            self._progress[job_id] = job_progress(outcome.levels)
        hosts = self._reader.allocations.get(job_id, "")
        self._reader.end(job_id)
        self._registry.forget(job_id)
        return (
            f'"JOB_COMPLETED","data":{{"job_id":{json_text(job_id)},"job_state":"{outcome.state}",'
            f'"return_code":{outcome.code},"alloc":"{hosts}"}}'
        )

    def _killed(self, event: messages.JobsKilled) -> str:
        job_ids = [str(job.id) for job in event.jobs]
        progress = {one: self._progress.pop(one) for one in job_ids if one in self._progress}
        told = ",".join(f"{json_text(one)}:{text}" for one, text in progress.items())
        return f'"JOB_KILLED","data":{{"job_ids":{json_text(job_ids)},"job_progress":{{{told}}}}}'

    def _cancelled(self, event: messages.JobCancelled) -> str:
        raise ProtocolError(
            f"t={event.time:.15g}: job {event.job.id} was cancelled by its user, "
            "which protocol 4 has no word for"
        )

    def _called(self, event: messages.TimerFired) -> str:
        if event.tag == _HELD:
            self._is_holding = False
            return ""
        return '"REQUESTED_CALL","data":{}'

    def _message_sent(self, event: messages.MessageSent) -> str:
        message = _rewritten(event.message)
        return f'"FROM_JOB_MSG","data":{{"job_id":{json_text(event.job.id)},"msg":{message}}}'

    def _state_changed(self, event: messages.PowerStateChanged) -> str:
        hosts, state = event.hosts, event.state
        return f'"RESOURCE_STATE_CHANGED","data":{{"resources":"{hosts}","state":"{state}"}}'

    def _occurred(self, event: messages.ExternalEventOccurred) -> str:
        return f'"NOTIFY","data":{_rewritten(event.data)}'


def _notify(kind: str) -> str:
    return f'"NOTIFY","data":{{"type":"{kind}"}}'


def _unavailable(hosts: str) -> str:
    return f'"NOTIFY","data":{{"type":"event_machine_unavailable","resources":"{hosts}"}}'


def _available(hosts: str) -> str:
    return f'"NOTIFY","data":{{"type":"event_machine_available","resources":"{hosts}"}}'


def _answered(event: messages.EnergyAnswered) -> str:
    return f'"ANSWER","data":{{"consumed_energy":{event.joules:.6f}}}'


def _rewritten(text: str) -> str:
    """Write a JSON text with Batsim's numbers."""
    return json_text(msgspec.json.decode(text))
