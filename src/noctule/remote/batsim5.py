"""A decision component (EDC) of Batsim 5, as a policy.

At each call the policy writes a message with what happened, sends it through its channel, and
decides what the reply says. Messages are JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from noctule import messages
from noctule.errors import ProtocolError
from noctule.messages import Decision, Event
from noctule.policy import View
from noctule.remote.batsim5_calls import Calls
from noctule.remote.batsim5_profiles import as_told
from noctule.remote.batsim5_reading import Hello, read_hello, read_message
from noctule.remote.batsim5_replies import STOP, MessageReader, SimulationStopped
from noctule.remote.batsim5_writing import (
    EdcSetup,
    Features,
    job_submitted,
    json_text,
    kill_progress,
    simulation_begins,
)
from noctule.remote.batsim_names import outcome_of
from noctule.remote.batsim_registry import Registry
from noctule.remote.batsim_shortcut import AskingPolicy, Channel

__all__ = [
    "EdcScheduler",
    "EdcSetup",
    "Features",
    "Hello",
    "SimulationStopped",
    "read_hello",
]

# Codes are unsigned in this revision of the protocol.
_CODES = 2**32


class EdcScheduler(AskingPolicy):
    """Decides what a decision component of Batsim 5 replies.

    Jobs are known by their full ids (`w0!1`), which those of the simulated Workload must be. Run it
    with the options batsim_events, share_hosts, machine, wait_for_timers and
    reject_oversized=False; open_registration and acknowledge_registered as the `features` say.
    When it raises SimulationStopped, the run is over as the component wants it. After the run,
    `finish` tells the component so.

    Attributes:
        setup: what the component is told at the beginning.
        features: what it asked for in its hello.
    """

    def __init__(self, setup: EdcSetup, features: Features, channel: Channel) -> None:
        """Take what the component is told at the beginning, what it wants, and the way to it."""
        self.setup = setup
        self.features = features
        keeps_names = features.profile_reuse or not features.dynamic_registration
        registry = Registry(setup.workloads, keeps_names=keeps_names)
        self._calls = Calls()
        self._reader = MessageReader(setup, registry, self._calls)
        super().__init__(registry, self._reader, channel)
        self._progress: dict[str, dict[str, Any]] = {}
        self._profile_texts: dict[tuple[str, str], str] = {}
        self._writers: Mapping[type, Callable[[Any], str]] = {
            messages.SimulationStarted: lambda _: simulation_begins(self.setup, self.features),
            messages.JobSubmitted: self._submitted,
            messages.JobFinished: self._finished,
            messages.JobCancelled: self._refuse,
            messages.HostsReleased: lambda _: "",
            messages.MessageSent: self._refuse,
            messages.PowerStateChanged: self._state_changed,
            messages.HostFailed: lambda _: "",
            messages.HostRestored: lambda _: "",
            messages.HostsUnavailable: self._refuse,
            messages.HostsAvailable: self._refuse,
            messages.WindowAnnounced: lambda _: "",
            messages.WindowBegan: self._refuse,
            messages.WindowEnded: self._refuse,
            messages.ExternalEventOccurred: _occurred,
            messages.EnergyAnswered: lambda _: "",
            messages.SubmissionsEnded: lambda _: '"AllStaticJobsHaveBeenSubmittedEvent","event":{}',
            messages.ExternalEventsEnded: lambda _: (
                '"AllStaticExternalEventsHaveBeenInjectedEvent","event":{}'
            ),
            messages.JobsKilled: self._killed,
        }

    def decide(self, view: View, events: Sequence[Event]) -> list[Decision]:
        """Ask the component, and return what it decided, then until when it is busy."""
        timers: list[Decision] = []
        reply = self._past.catch_up()
        if reply is None:
            told, timers = self._written(view, events)
            if not told:
                return timers
            reply = self._ask(view.now, told)
        decisions = self._reader.read(reply, view)
        self._past.go_on()
        if self.shortcut is None and self._is_plain():
            self._past.open(view, is_batsim4=False, hosts_sleep=self._reader.can_sleep)
        return [*timers, *decisions] if timers else decisions

    def _is_plain(self) -> bool:
        """Say whether there may be anything that can be told and decided without this class."""
        return (
            type(self).decide is EdcScheduler.decide
            and not self.setup.platform.storages
            and not self.features.forward_profiles_on_job_submission
        )

    def _written(self, view: View, events: Sequence[Event]) -> tuple[list[str], list[Decision]]:
        """Return the texts of events, and the timers that follow."""
        told: list[str] = []
        timers: list[Decision] = []
        writers = self._writers
        for event in events:
            if type(event) is messages.TimerFired:
                if event.tag == STOP:
                    raise SimulationStopped("stopped by the decision component")
                due, following = self._calls.fired(event.tag, view)
                timers += following
                told += [f'{{"timestamp":{event.time!r},"event_type":{text}}}' for text in due]
                continue
            text = writers[type(event)](event)
            if text:
                told.append(f'{{"timestamp":{event.time!r},"event_type":{text}}}')
        return told, timers

    def finish(self, now: float) -> None:
        """Tell the component that the simulation has ended at this date; it may not decide."""
        event = f'{{"timestamp":{now!r},"event_type":"SimulationEndsEvent","event":{{}}}}'
        where = f"t={now:.15g}: reply"
        found = read_message(self._ask(now, [event]), where).events
        if found:
            kind = found[0].__struct_config__.tag
            raise ProtocolError(
                f"{where}: got {kind} when the simulation had ended, expected no events"
            )

    def _ask(self, now: float, told: list[str]) -> bytes:
        return self._reply_to(f'{{"now":{now!r},"events":[{",".join(told)}]}}')

    def _submitted(self, event: messages.JobSubmitted) -> str:
        job_id = str(event.job.id)
        jobs = self._reader.jobs
        is_own = job_id in jobs
        jobs[job_id] = event.job
        raw = self._registry.tell(job_id)
        if is_own and not self.features.acknowledge_dynamic_jobs:
            return ""
        workload, name = self._registry.profile_of(job_id)
        profile = None
        if self.features.forward_profiles_on_job_submission:
            profile = self._profile_text(workload, name, job_id)
        return job_submitted(job_id, raw, f"{workload}!{name}", profile, event.time)

    def _profile_text(self, workload: str, name: str, job_id: str) -> str:
        key = workload, name
        if key not in self._profile_texts:
            raw = self._registry.profiles_of(job_id)[name]
            self._profile_texts[key] = json_text(as_told(workload, name, raw))
        return self._profile_texts[key]

    def _finished(self, event: messages.JobFinished) -> str:
        job_id = str(event.job.id)
        outcome = outcome_of(event, self._registry)
        if outcome.levels:
            workload = self._registry.profile_of(job_id)[0]
            profiles = self._registry.profiles_of(job_id)
            wrapper = kill_progress(outcome.levels, workload, profiles)
            self._progress[job_id] = {"job_id": job_id, "wrapper": wrapper}
        self._reader.end(job_id)
        self._registry.forget(job_id)
        return (
            f'"JobCompletedEvent","event":{{"job_id":{json_text(job_id)},"state":"{outcome.state}",'
            f'"return_code":{outcome.code % _CODES}}}'
        )

    def _killed(self, event: messages.JobsKilled) -> str:
        job_ids = [str(job.id) for job in event.jobs]
        progresses = [self._progress.pop(one) for one in job_ids if one in self._progress]
        told: dict[str, Any] = {"job_ids": job_ids, "progresses": progresses}
        if self.features.forward_profiles_on_jobs_killed:
            names = {self._registry.profile_of(one): one for one in job_ids}
            told["profiles"] = [
                as_told(*key, self._registry.profiles_of(one)[key[1]]) for key, one in names.items()
            ]
        return f'"JobsKilledEvent","event":{json_text(told)}'

    def _state_changed(self, event: messages.PowerStateChanged) -> str:
        key = str(event.hosts), event.state
        waiting = self._reader.power_requests.get(key, [False])
        is_switch = waiting.pop(0) if waiting else False
        if is_switch:
            return (
                f'"HostsTurnedOnOffEvent","event":{{"host_ids":"{key[0]}","state":{event.state}}}'
            )
        return f'"HostsPStateChangedEvent","event":{{"host_ids":"{key[0]}","pstate":{event.state}}}'

    def _refuse(self, event: Any) -> str:
        raise ProtocolError(
            f"t={event.time:.15g}: got a {type(event).__name__}, "
            "which protocol 5 has no word for, expected inputs without it"
        )


def _occurred(event: messages.ExternalEventOccurred) -> str:
    data = msgspec.json.decode(event.data)
    told = {
        "id": data["id"],
        "external_event_type": "GenericExternalEvent",
        "external_event": {"data": data["data"]},
    }
    return f'"ExternalEventOccurredEvent","event":{json_text(told)}'
