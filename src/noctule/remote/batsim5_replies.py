"""What a decision component of Batsim 5 replies, as decisions.

Events of a reply are carried out one after the other, each at its timestamp or, where that has
passed, at once; so the date of a decision is the latest timestamp up to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from noctule._core import HostSet
from noctule.errors import InputError, NoctuleError, ProtocolError
from noctule.formats.json_object import shown_json
from noctule.messages import (
    BusyUntil,
    CallAt,
    Decision,
    FinishRegistration,
    RegisterJob,
    RegisterProfile,
    SetPowerState,
    StartJob,
)
from noctule.platform import Platform
from noctule.policy import View
from noctule.remote import batsim5_reading as reading
from noctule.remote.batsim5_calls import Calls
from noctule.remote.batsim5_placement import Placer
from noctule.remote.batsim5_profiles import as_in_files
from noctule.remote.batsim5_writing import EdcSetup
from noctule.remote.batsim_names import NamesInReplies
from noctule.remote.batsim_registry import Registry

#: The call at which a simulation ends that is to be stopped later.
STOP = "stop"
_Made = Iterable[Decision]


class SimulationStopped(NoctuleError):  # noqa: N818  (nothing went wrong)
    """The decision component wants the simulation to end here."""


class MessageReader(NamesInReplies):
    """Turns replies into decisions, and knows what they may name.

    Attributes:
        can_sleep: whether any host can.
        power_requests: for hosts and a power state that were asked for, whether they are switched.
    """

    def __init__(self, setup: EdcSetup, registry: Registry, calls: Calls) -> None:
        """Take what is allowed and what is known."""
        super().__init__(setup.platform, registry)
        self._setup = setup
        self._calls = calls
        self._platform: Platform = setup.platform
        self._placer = Placer(setup.platform, registry, self._hosts)
        self._is_closed = False
        self.can_sleep = any(kind.sleep_states for kind in setup.platform.hosts.kinds)
        self.power_requests: dict[tuple[str, int], list[bool]] = {}
        self._view: View
        self._switched = self._held = HostSet()
        self._latest = 0.0
        self._makers: Mapping[type, Callable[[Any, float | None], _Made]]
        self._makers = {
            reading.ExecuteJob: self._execute,
            reading.RejectJob: self._reject,
            reading.KillJobs: self._kill,
            reading.RegisterJob: self._register_job,
            reading.RegisterProfile: self._register_profile,
            reading.FinishRegistration: self._finish_registration,
            reading.CallMeLater: self._call,
            reading.StopCallMeLater: self._stop_call,
            reading.CreateProbe: self._create_probe,
            reading.StopProbe: self._stop_probe,
            reading.TriggerProbe: self._refuse_event,
            reading.ResetProbe: self._refuse_event,
            reading.ChangeHostsPState: self._change_pstate,
            reading.TurnOnOffHosts: self._turn,
            reading.EdcHello: self._refuse_hello,
        }

    def read(self, text: bytes, view: View) -> list[Decision]:
        """Return what a reply says, then until when its component is busy."""
        now = view.now
        where = f"t={now:.15g}: reply"
        message = reading.read_message(text, where)
        self._view = view
        self._latest = now
        self._switched = self._held = HostSet()
        date: float | None = None
        decisions: list[Decision] = []
        for i, event in enumerate(message.events):
            if event.timestamp > self._latest:
                date = self._latest = event.timestamp
            if type(event) is reading.ForceSimulationStop:
                return [*decisions, BusyUntil(self._latest), CallAt(self._latest, STOP)]
            try:
                decisions += self._makers[type(event)](event.event, date)
            except InputError as error:
                kind = event.__struct_config__.tag
                raise ProtocolError(f"{where}: events[{i}]: {kind}: {error}") from None
        if message.now > now:
            decisions.append(BusyUntil(message.now))
        return decisions

    def _execute(self, data: reading.ExecuteData, date: float | None) -> _Made:
        job = self._job(data.job_id)
        at = self._placer.place(data)
        if self.can_sleep and date is None:
            self._refuse_sleeping(at.hosts)
            self._held = self._held | at.hosts
        return (StartJob(job, at.hosts, date, at.mapping, at.storages, at.profile),)

    def _refuse_sleeping(self, hosts: HostSet) -> None:
        switching = self._view.switching | self._switched
        for state, some in (("asleep", self._view.asleep), ("switching", switching)):
            for host in some & hosts:
                name = self._platform.hosts[host].name
                raise InputError(
                    f"allocation.host_allocation: machine {name!r} (id={host}) cannot compute jobs "
                    f"now (the machine is not computing nor idle: it is {state})"
                )

    def _reject(self, data: reading.JobData, date: float | None) -> _Made:
        return self._rejection(data.job_id, date)

    def _kill(self, data: reading.KillData, date: float | None) -> _Made:
        return self._kills(data.job_ids, date)

    def _register_profile(self, data: reading.RegisterProfileData, date: float | None) -> _Made:
        self._refuse_closed()
        told = data.profile
        workload, bang, name = told.id.partition("!")
        if not bang:
            raise InputError(f"profile.id: got {shown_json(told.id)}, expected workload!name")
        raw = as_in_files(told.profile_type, told.profile)
        if told.extra_data is not None:
            raw["extra_data"] = told.extra_data
        if isinstance(raw.get("seq"), list):
            raw["seq"] = [
                part.removeprefix(f"{workload}!") if isinstance(part, str) else part
                for part in raw["seq"]
            ]
        self._registry.add_profile(workload, name, raw)
        return (RegisterProfile(told.id, date),)

    def _register_job(self, data: reading.RegisterJobData, date: float | None) -> _Made:
        self._refuse_closed()
        workload, _, name = data.job_id.partition("!")
        fields = data.job
        owner, bang, profile = fields.profile_id.rpartition("!")
        owner = owner.rstrip("!") if bang else workload
        if workload and name:
            self._registry.add_workload(workload)
            self._registry.add_workload(owner)
        raw: dict[str, Any] = {
            "id": name,
            "subtime": self._latest,
            "res": fields.resource_request,
            "profile": profile,
        }
        if fields.walltime is not None:
            raw["walltime"] = fields.walltime
        if fields.extra_data is not None:
            raw["extra_data"] = fields.extra_data
        job = self._registry.add_job(data.job_id, raw, profile_workload=owner)
        self.jobs[str(job.id)] = str(job.id)
        return (RegisterJob(job, date),)

    def _finish_registration(self, _: reading.Nothing, date: float | None) -> _Made:
        self._is_closed = True
        return (FinishRegistration(date),)

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise InputError("got it after FinishRegistrationEvent, expected nothing more")

    def _call(self, data: reading.CallData, _: float | None) -> _Made:
        return self._calls.ask(data.call_me_later_id, data.when_type, data.when, self._latest)

    def _stop_call(self, data: reading.StopCallData, _: float | None) -> _Made:
        return self._calls.stop_call(data.call_me_later_id, self._latest)

    def _create_probe(self, data: reading.ProbeData, _: float | None) -> _Made:
        if not self._setup.energy:
            raise InputError("got it without --energy-host, expected that option")
        hosts = list(self._computing("resources.host_ids", data.resources.host_ids))
        return self._calls.create_probe(data, hosts, self._latest)

    def _stop_probe(self, data: reading.ProbeIdData, _: float | None) -> _Made:
        return self._calls.stop_probe(data.probe_id, self._latest)

    def _refuse_event(self, _: object, __: float | None) -> _Made:
        raise InputError("got an event that Batsim 5 does not handle, expected periodic probes")

    def _refuse_hello(self, _: object, __: float | None) -> _Made:
        raise InputError("got a second hello, expected one, at the beginning")

    def _computing(self, key: str, text: str) -> HostSet:
        hosts = self._hosts(key, text)
        if hosts.intervals()[-1][1] >= self._platform.n_hosts:
            raise InputError(
                f"{key}: got {shown_json(text)}, expected ids of hosts that compute, "
                f"below {self._platform.n_hosts}"
            )
        return hosts

    def _change_pstate(self, data: reading.PStateData, date: float | None) -> _Made:
        hosts = self._computing("host_ids", data.host_ids)
        for host in hosts:
            if data.pstate not in self._platform.hosts[host].kind.computing_states:
                raise InputError(
                    f"pstate: got {data.pstate} for host {host}, expected one in which it computes;"
                    " TurnOnOffHostsEvent lets hosts sleep"
                )
        return self._set_power_state(hosts, data.pstate, date, is_switch=False)

    def _turn(self, data: reading.OnOffData, date: float | None) -> _Made:
        hosts = self._computing("host_ids", data.host_ids)
        if date is None:
            for host in hosts:
                self._refuse_turn(host, data.state)
            self._switched = self._switched | hosts
        return self._set_power_state(hosts, data.state, date, is_switch=True)

    def _refuse_turn(self, host: int, state: int) -> None:
        known = self._platform.hosts[host]
        is_sleep = any(one.sleep == state for one in known.kind.sleep_states)
        is_asleep = host in self._view.asleep
        if state in known.kind.computing_states and not (is_asleep or host in self._view.switching):
            raise InputError(
                "Asked to turn ON a host already in a computing pstate: "
                f"state: got {state} for host {host} ({known.name})"
            )
        if is_sleep and is_asleep:
            raise InputError(
                "Asked to turn OFF a host already in a sleep pstate: "
                f"state: got {state} for host {host} ({known.name})"
            )
        if is_sleep and (
            host in self._held or any(host in job.hosts for job in self._view.running)
        ):
            raise InputError(
                f"state: got {state} for host {host}: jobs are running on machine {known.name!r}"
            )

    def _set_power_state(
        self, hosts: HostSet, state: int, date: float | None, *, is_switch: bool
    ) -> _Made:
        if state < 0:
            raise InputError(f"state: got {state}, expected a power state")
        self.power_requests.setdefault((str(hosts), state), []).append(is_switch)
        return (SetPowerState(hosts, state, date),)
