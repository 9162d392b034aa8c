"""What a scheduler of Batsim 4 replies, as decisions.

Events of a reply are carried out one after the other, each at its timestamp or, where that has
passed, at once; so the date of a decision is the latest timestamp up to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from noctule._core import HostSet
from noctule.errors import InputError, ProtocolError
from noctule.formats.json_object import shown_json
from noctule.messages import (
    AskEnergy,
    BusyUntil,
    CallAt,
    ChangeJobState,
    ContinueRegistration,
    Decision,
    FinishRegistration,
    RegisterJob,
    RegisterProfile,
    SendMessage,
    SetMetadata,
    SetPowerState,
    StartJob,
)
from noctule.remote import batsim4_reading as reading
from noctule.remote.batsim4_writing import BatsimSetup
from noctule.remote.batsim_names import NamesInReplies
from noctule.remote.batsim_registry import Registry

_STATES = {
    "RUNNING": "running",
    "COMPLETED_SUCCESSFULLY": "completed",
    "COMPLETED_FAILED": "failed",
    "COMPLETED_WALLTIME_REACHED": "timed_out",
    "COMPLETED_KILLED": "killed",
    "REJECTED": "rejected",
}
_Made = tuple[Decision, ...]
_IGNORED_ANSWER = "ANSWER of the scheduler was ignored: nothing had been asked"


class ReplyReader(NamesInReplies):
    """Turns replies into decisions, and knows what they may name.

    Attributes:
        allocations: hosts of the jobs that were started, without those of their IO jobs, by id.
    """

    def __init__(self, setup: BatsimSetup, registry: Registry, notes: list[str]) -> None:
        """Take what is allowed and what is known."""
        super().__init__(setup.platform, registry)
        self._setup = setup
        self._notes = notes
        self._n_hosts = setup.platform.n_hosts
        self._is_registering = setup.dynamic_jobs
        self._n_calls = 0
        self._told_now = 0.0
        self.allocations: dict[str, HostSet] = {}
        self._makers: Mapping[type, Callable[[Any, float | None], _Made]]
        self._makers = {
            reading.ExecuteJob: self._execute,
            reading.RejectJob: self._reject,
            reading.KillJob: self._kill,
            reading.CallMeLater: self._call,
            reading.RegisterProfile: self._register_profile,
            reading.RegisterJob: self._register_job,
            reading.SetResourceState: self._set_state,
            reading.SetJobMetadata: self._set_metadata,
            reading.ChangeJobState: self._change_state,
            reading.ToJobMessage: self._send,
            reading.Query: self._query,
            reading.Answer: self._ignore,
            reading.Notify: self._notify,
        }

    def end(self, job_id: str) -> None:
        """Hear that a job has ended."""
        super().end(job_id)
        self.allocations.pop(job_id, None)

    def read(self, text: bytes, now: float) -> tuple[list[Decision], float]:
        """Return what a reply to the request of a date says, and when its scheduler is ready."""
        where = f"t={now:.15g}: reply"
        reply = reading.read_reply(text, where)
        # The scheduler saw the date with six decimals: by that it means the true one.
        self._told_now = float(f"{now:.6f}")
        latest = now if self._setup.exact_dates else max(now, self._told_now)
        decisions = self._carried_out(reply, where, latest)
        if reply.now <= latest:
            return decisions, now
        decisions.append(BusyUntil(reply.now))
        return decisions, reply.now

    def _carried_out(self, reply: reading.Reply, where: str, latest: float) -> list[Decision]:
        date: float | None = None
        decisions: list[Decision] = []
        for i, event in enumerate(reply.events):
            if event.timestamp > latest:
                date = latest = event.timestamp
            try:
                decisions += self._makers[type(event)](event.data, date)
            except InputError as error:
                kind = event.__struct_config__.tag
                raise ProtocolError(f"{where}: events[{i}]: {kind}: {error}") from None
        return decisions

    def _execute(self, data: reading.ExecuteData, date: float | None) -> _Made:
        job_id, given = data.job_id, data.mapping
        job = self._job(job_id)
        hosts = self.allocations[job_id] = self._hosts("alloc", data.alloc)
        n_executors = len(hosts) if given is None else len(given)
        is_spread = self._registry.is_spread(job_id, n_executors)
        if not (is_spread or given or data.storage_mapping or data.additional_io_job):
            return (StartJob(job, hosts, date),)
        mapping = None if given is None else _mapping(given, len(hosts))
        storages = None
        if data.storage_mapping is not None:
            storages = {k: self._storage(k, v) for k, v in data.storage_mapping.items()}
        if data.additional_io_job is None:
            profile = self._registry.profile(job_id) if is_spread else None
            return (StartJob(job, hosts, date, mapping, storages, profile),)
        own = sorted(hosts)
        executors = own if mapping is None else [own[i] for i in mapping]
        return self._execute_with_io(data, hosts, executors, storages, date)

    def _execute_with_io(
        self,
        data: reading.ExecuteData,
        hosts: HostSet,
        executors: list[int],
        storages: dict[str, int] | None,
        date: float | None,
    ) -> _Made:
        job_id, io = data.job_id, data.additional_io_job
        assert io is not None
        io_hosts = self._hosts("additional_io_job.alloc", io.alloc)
        try:
            if io.profile is not None:
                workload = job_id.partition("!")[0]
                self._registry.add_profile(workload, io.profile_name, io.profile)
            profile = self._registry.with_io(job_id, executors, io.profile_name, sorted(io_hosts))
        except InputError as error:
            raise InputError(f"additional_io_job: {error}") from None
        start = StartJob(
            self._job(job_id), hosts | io_hosts, date, storages=storages, profile=profile
        )
        return (start,)

    def _storage(self, label: str, value: int | str) -> int:
        number = _whole(f"storage_mapping[{label!r}]", value)
        if not self._n_hosts <= number < self.n_resources:
            raise InputError(
                f"storage_mapping[{label!r}]: got {number}, expected the id of a storage: "
                + (
                    f"{self._n_hosts} to {self.n_resources - 1}"
                    if self.n_resources > self._n_hosts
                    else "there is none"
                )
            )
        return number

    def _reject(self, data: reading.RejectData, date: float | None) -> _Made:
        return self._rejection(data.job_id, date)

    def _kill(self, data: reading.KillData, date: float | None) -> _Made:
        return self._kills(data.job_ids, date)

    def _call(self, data: reading.CallData, date: float | None) -> _Made:
        asked = self._told_now if date is None else date
        if not data.timestamp > asked:
            raise InputError(
                f"timestamp: got {data.timestamp:.15g}, expected a date after {asked:.15g}, "
                "at which it is asked for"
            )
        self._n_calls += 1
        call = CallAt(data.timestamp, f"call {self._n_calls}")
        return (call,) if date is None else (BusyUntil(date), call)

    def _register_profile(self, data: reading.RegisterProfileData, date: float | None) -> _Made:
        self._refuse_closed()
        self._registry.add_profile(data.workload_name, data.profile_name, data.profile)
        return (RegisterProfile(data.profile_name, date),)

    def _register_job(self, data: reading.RegisterJobData, date: float | None) -> _Made:
        self._refuse_closed()
        job = self._registry.add_job(data.job_id, data.job)
        self.jobs[str(job.id)] = str(job.id)
        return (RegisterJob(job, date),)

    def _refuse_closed(self) -> None:
        if not self._setup.dynamic_jobs:
            raise InputError("got it without --enable-dynamic-jobs, expected that option")
        if not self._is_registering:
            raise InputError("got it after registration_finished, expected nothing more")

    def _set_state(self, data: reading.ResourceStateData, date: float | None) -> _Made:
        self._refuse_without_energy()
        state = _whole("state", data.state)
        return (SetPowerState(self._hosts("resources", data.resources), state, date),)

    def _refuse_without_energy(self) -> None:
        if not self._setup.energy:
            raise InputError("got it without --energy, expected that option")

    def _set_metadata(self, data: reading.MetadataData, date: float | None) -> _Made:
        if '"' in data.metadata:
            raise InputError(
                f"metadata: got {shown_json(data.metadata)}, expected a text without double quotes"
            )
        return (SetMetadata(self._job(data.job_id), data.metadata, date),)

    def _change_state(self, data: reading.JobStateData, date: float | None) -> _Made:
        job = self._job(data.job_id)
        state = _STATES.get(data.job_state)
        if state is None:
            raise InputError(
                f"job_state: got {shown_json(data.job_state)}, expected one of {', '.join(_STATES)}"
            )
        if state != "running":
            self._drop(data.job_id)
            self._registry.forget(data.job_id)
        return (ChangeJobState(job, state, date),)

    def _send(self, data: reading.ToJobData, date: float | None) -> _Made:
        return (SendMessage(self._job(data.job_id), data.msg, date),)

    def _query(self, data: reading.QueryData, date: float | None) -> _Made:
        if list(data.requests) != ["consumed_energy"] or data.requests["consumed_energy"]:
            raise InputError(
                f"requests: got {shown_json(data.requests)}, "
                'expected {"consumed_energy":{}}, the only question there is'
            )
        self._refuse_without_energy()
        return (AskEnergy(date),)

    def _ignore(self, _: reading.AnswerData, __: float | None) -> _Made:
        if _IGNORED_ANSWER not in self._notes:
            self._notes.append(_IGNORED_ANSWER)
        return ()

    def _notify(self, data: reading.NotifyData, date: float | None) -> _Made:
        known: dict[str, type[FinishRegistration | ContinueRegistration]] = {
            "registration_finished": FinishRegistration,
            "continue_registration": ContinueRegistration,
        }
        if data.type not in known:
            raise InputError(f"type: got {shown_json(data.type)}, expected {' or '.join(known)}")
        if not self._setup.dynamic_jobs:
            raise InputError("got it without --enable-dynamic-jobs, expected that option")
        self._is_registering = data.type == "continue_registration"
        return (known[data.type](date),)


def _mapping(given: Mapping[int, int | str], n_hosts: int) -> list[int]:
    """Return the position of the host of each executor."""
    positions = [_whole(f"mapping[{i}]", given[i]) for i in range(len(given)) if i in given]
    if len(positions) < len(given):
        raise InputError(
            f"mapping: got executors {', '.join(map(str, sorted(given)[:20]))}, "
            f"expected those from 0 to {len(given) - 1}"
        )
    for i, position in enumerate(positions):
        if not 0 <= position < n_hosts:
            raise InputError(
                f"mapping[{i}]: got {position}, expected a position among the {n_hosts} hosts"
            )
    return positions


def _whole(what: str, value: int | str) -> int:
    try:
        return int(value)
    except ValueError:
        raise InputError(f"{what}: got {shown_json(value)}, expected a whole number") from None
