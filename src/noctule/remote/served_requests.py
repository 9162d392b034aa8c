"""What a simulator that speaks Batsim's protocol 4 tells, as events and as changes of a cluster.

Requests come from strangers: each part is checked when it is taken, and what is wrong is quoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import msgspec

from noctule._core import HostSet
from noctule.errors import InputError, ProtocolError
from noctule.formats.json_object import JsonObject, shown_json
from noctule.messages import (
    EnergyAnswered,
    Event,
    ExternalEventOccurred,
    ExternalEventsEnded,
    HostsAvailable,
    HostsUnavailable,
    JobFinished,
    JobsKilled,
    JobSubmitted,
    MessageSent,
    PowerStateChanged,
    SubmissionsEnded,
)
from noctule.platform import MAX_HOSTS
from noctule.remote.served_hosts import PowerStates, ServedHosts
from noctule.remote.served_view import Asked, Progress, ServedCluster, ServedJob
from noctule.workload import JobId, Label

#: Profiles of a workload by name, as files have them.
Profiles = dict[str, Any]

_PLACED = frozenset(("id", "subtime", "res", "profile", "walltime"))
_NO_WALLTIME = -1
_STATES = {
    "COMPLETED_SUCCESSFULLY": "completed",
    "COMPLETED_FAILED": "failed",
    "COMPLETED_WALLTIME_REACHED": "timed_out",
    "COMPLETED_KILLED": "killed",
}
# Dates are told to the microsecond: two that are one for the simulator may be so far apart.
_ROUNDING = 2e-6
_DEEPEST = 100


class Told(msgspec.Struct, frozen=True):
    """An event of a request, as it was told."""

    timestamp: float
    type: str
    data: dict[str, Any]


class Request(msgspec.Struct, frozen=True):
    """What the simulator tells at once."""

    now: float
    events: list[Told]


_DECODER = msgspec.json.Decoder(Request)


def decode_request(text: bytes, number: int, before: float) -> Request:
    """Check the form of a request, and that its dates go on from `before`."""
    try:
        request = _DECODER.decode(text)
    except RecursionError:
        refuse(f"request {number}: nested too deeply, expected a message of Batsim")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        refuse(f"request {number}: got {_quoted(text)}, expected a message of Batsim ({error})")
    if not before - _ROUNDING <= request.now < math.inf:
        refuse(f"request {number}: now: got {request.now}, expected a date from {before:.15g} on")
    for i, event in enumerate(request.events):
        if not 0 <= event.timestamp <= request.now + _ROUNDING:
            refuse(
                f"request {number}: events[{i}].timestamp: got {event.timestamp}, "
                f"expected a date up to {request.now:.15g}, the date of the request"
            )
    return request


@dataclass(frozen=True, slots=True)
class Rules:
    """What the simulator takes from a policy."""

    dynamic: bool
    acknowledged: bool
    reuses_profiles: bool


def read_profiles(told: Told) -> dict[str, Profiles]:
    """Read the profiles of SIMULATION_BEGINS, by workload and name."""
    found = told.data.get("profiles")
    profiles = found.items() if isinstance(found, dict) else ()
    return {workload: dict(named) for workload, named in profiles if isinstance(named, dict)}


def is_moldable(profiles: Profiles, name: object) -> bool:
    """Tell whether jobs with this profile can run on any number of hosts."""
    profile = profiles.get(name) if isinstance(name, str) else None
    if not isinstance(profile, dict):
        return False
    parts = profile.get("seq")
    if profile.get("type") == "composed" and isinstance(parts, list):
        inside = [profiles.get(part) for part in parts if isinstance(part, str)]
        return bool(inside) and all(_spreads_work(part) for part in inside)
    return _spreads_work(profile)


def _spreads_work(profile: object) -> bool:
    return isinstance(profile, dict) and profile.get("type") == "parallel_homogeneous_total"


def read_beginning(told: Told, number: int) -> tuple[ServedHosts, Rules]:
    """Read the hosts and the rules from SIMULATION_BEGINS."""
    data = Fields.of(number, 0, told.data)
    config = data.part("config")
    if config.fields.get("redis-enabled"):
        config.refuse("redis-enabled", "false: jobs are taken from messages only")
    hosts = [data.element("compute_resources", i) for i in range(data.length("compute_resources"))]
    n_storages = data.length("storage_resources")
    if not 0 < len(hosts) <= MAX_HOSTS or n_storages > MAX_HOSTS:
        data.refuse("compute_resources", f"1 to {MAX_HOSTS} hosts")
    storages = [data.element("storage_resources", i) for i in range(n_storages)]
    for i, host in enumerate([*hosts, *storages]):
        if host.fields.get("id") != i:
            host.refuse("id", f"{i}: hosts are numbered from 0, storages after them")
    power_states = [PowerStates.of(_texts(host)) for host in hosts]
    shared = data.fields.get("allow_compute_sharing") is True
    rules = Rules(
        *(
            config.fields.get(key) is True
            for key in (
                "dynamic-jobs-enabled",
                "dynamic-jobs-acknowledged",
                "profile-reuse-enabled",
            )
        )
    )
    return ServedHosts(power_states, n_storages, shared=shared), rules


class RequestReader:
    """Turns what was told into events, and keeps a cluster up to date."""

    def __init__(
        self, cluster: ServedCluster, profiles: dict[str, Profiles], *, reject_oversized: bool
    ) -> None:
        """Begin with a cluster, and profiles by workload and name.

        Jobs that are larger than the cluster can be kept from the policy.
        """
        self._cluster = cluster
        self.profiles = profiles
        self._reject_oversized = reject_oversized
        self.oversized: list[ServedJob] = []
        self.own_ids: dict[str, JobId] = {}  # of jobs of the policy, by those messages give them
        self._readers: Mapping[str, Callable[[float, Fields], Event | None]] = {
            "JOB_SUBMITTED": self._submitted,
            "JOB_COMPLETED": self._completed,
            "JOB_KILLED": self._killed,
            "RESOURCE_STATE_CHANGED": self._power_state,
            "ANSWER": self._answer,
            "NOTIFY": self._notify,
            "FROM_JOB_MSG": self._message,
        }

    def read(self, told: Told, number: int, position: int) -> Event | None:
        """Return the event that was told, if a policy is to know of it."""
        reader = self._readers.get(told.type)
        if reader is None:
            refuse(
                f"request {number}: events[{position}].type: got {shown_json(told.type)}, "
                f"expected one of {', '.join(self._readers)}, REQUESTED_CALL, SIMULATION_ENDS"
            )
        return reader(told.timestamp, Fields.of(number, position, told.data))

    def ended(self, told: Told) -> ServedJob | None:
        """Return the running job of which an event tells the end, if it does."""
        job_id = told.data.get("job_id") if told.type == "JOB_COMPLETED" else None
        if not isinstance(job_id, str):
            return None
        return self._cluster.running.get(self.own_ids.get(job_id, job_id))

    def _submitted(self, time: float, data: Fields) -> Event | None:
        told, job = data.text("job_id"), data.part("job")
        profiles = self.profiles.get(told.partition("!")[0], {})
        moldable = is_moldable(profiles, job.fields.get("profile"))
        asked = _asked(job, self.own_ids.get(told, told), moldable=moldable)
        if asked.id in self._cluster.jobs:
            data.refuse("job_id", "the id of a job that was not submitted before")
        submitted = self._cluster.submit(asked)
        if self._reject_oversized and asked.n_hosts > self._cluster.hosts.n_hosts:
            self.oversized.append(submitted)
            return None
        return JobSubmitted(time, submitted)  # type: ignore[arg-type]

    def _completed(self, time: float, data: Fields) -> Event:
        job = self._running(data, "job_id", data.text("job_id"))
        word = data.text("job_state")
        if word not in _STATES:
            data.refuse("job_state", " or ".join(_STATES))
        self._cluster.end(job, _STATES[word])
        return JobFinished(time, job, _STATES[word])  # type: ignore[arg-type]

    def _killed(self, time: float, data: Fields) -> Event:
        ids = data.fields.get("job_ids")
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            data.refuse("job_ids", "an array of ids of jobs")
        progress = data.part("job_progress")
        jobs = [self._known(data, "job_ids", told) for told in ids]
        for told, job in zip(ids, jobs, strict=True):
            has_come = told in progress.fields
            self._cluster.tell_progress(job, _progress(progress.part(told)) if has_come else [])
        return JobsKilled(time, tuple(jobs))  # type: ignore[arg-type]

    def _power_state(self, time: float, data: Fields) -> Event:
        hosts, text = self._hosts(data), data.fields.get("state")
        if not (isinstance(text, str) and re.fullmatch("[0-9]{1,9}", text)):
            data.refuse("state", "the number of a power state, as a string")
        self._cluster.hosts.end_switch(hosts, int(text), self._held())
        return PowerStateChanged(time, hosts, int(text))

    def _answer(self, time: float, data: Fields) -> Event:
        return EnergyAnswered(time, data.non_negative("consumed_energy"))

    def _notify(self, time: float, data: Fields) -> Event:
        match data.text("type"):
            case "no_more_static_job_to_submit":
                self._cluster.submissions_ended = True
                return SubmissionsEnded(time)
            case "no_more_external_event_to_occur":
                return ExternalEventsEnded(time)
            case "event_machine_unavailable":
                hosts = self._hosts(data)
                self._cluster.hosts.make_unavailable(hosts)
                return HostsUnavailable(time, hosts)
            case "event_machine_available":
                hosts = self._hosts(data)
                self._cluster.hosts.make_available(hosts, self._held())
                return HostsAvailable(time, hosts)
        return ExternalEventOccurred(time, msgspec.json.encode(data.fields).decode())

    def _message(self, time: float, data: Fields) -> Event:
        job = self._known(data, "job_id", data.text("job_id"))
        if "msg" not in data.fields:
            data.refuse("msg", "what the job told")
        message = msgspec.json.encode(data.fields["msg"]).decode()
        return MessageSent(time, job, message)  # type: ignore[arg-type]

    def _known(self, data: Fields, key: str, told: str) -> ServedJob:
        job = self._cluster.jobs.get(self.own_ids.get(told, told))
        if job is None:
            data.refuse(key, "the id of a job that was submitted")
        return job

    def _running(self, data: Fields, key: str, told: str) -> ServedJob:
        job = self._known(data, key, told)
        if job.id not in self._cluster.running:
            data.refuse(key, f"the id of a running job: this one is {self._cluster.state(job)}")
        return job

    def _hosts(self, data: Fields) -> HostSet:
        text = data.text("resources")
        try:
            hosts = HostSet.from_str(text)
        except (InputError, ValueError):
            hosts = None
        if hosts is None or hosts - self._cluster.hosts.all:
            data.refuse("resources", f"hosts among {self._cluster.hosts.all}, as in '0-3 7'")
        return hosts

    def _held(self) -> list[HostSet]:
        return [job.hosts for job in self._cluster.running.values()]


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of a request, whose fields are checked when they are taken."""

    fields: Mapping[str, Any]
    where: str
    path: str

    @classmethod
    def of(cls, number: int, position: int, data: Mapping[str, Any]) -> Fields:
        """Take the data of an event."""
        return cls(data, f"request {number}", f"events[{position}].data")

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Say what is wrong with a field."""
        found = f"got {shown_json(self.fields[key])}" if key in self.fields else "missing"
        refuse(f"{self.where}: {self.path}.{key}: {found}, expected {expected}")

    def text(self, key: str) -> str:
        """Return a string."""
        value = self.fields.get(key)
        if not isinstance(value, str):
            self.refuse(key, "a string")
        return value

    def non_negative(self, key: str) -> float:
        """Return a number >= 0."""
        value = self.fields.get(key)
        number = float(value) if isinstance(value, int | float) else math.nan
        if not 0 <= number < math.inf:
            self.refuse(key, "a number >= 0")
        return number

    def part(self, key: str) -> Fields:
        """Return an object inside this one."""
        value = self.fields.get(key)
        if not isinstance(value, dict):
            self.refuse(key, "an object")
        return Fields(value, self.where, f"{self.path}.{key}")

    def length(self, key: str) -> int:
        """Return how many elements an array has."""
        value = self.fields.get(key)
        if not isinstance(value, list):
            self.refuse(key, "an array")
        return len(value)

    def element(self, key: str, i: int) -> Fields:
        """Return an object in an array."""
        value = self.fields[key][i]
        path = f"{self.path}.{key}[{i}]"
        if not isinstance(value, dict):
            refuse(f"{self.where}: {path}: got {shown_json(value)}, expected an object")
        return Fields(value, self.where, path)


def _asked(fields: Fields, job_id: JobId, *, moldable: bool) -> Asked:
    checked = JsonObject(fields.where, fields.path, fields.fields)
    try:
        walltime = math.inf
        if fields.fields.get("walltime", _NO_WALLTIME) != _NO_WALLTIME:
            walltime = checked.positive("walltime")
        asked = Asked(
            id=job_id,
            submit_time=checked.non_negative("subtime"),
            n_hosts=checked.whole("res", least=1),
            walltime=walltime,
            moldable=moldable,
        )
    except InputError as error:
        refuse(str(error))
    if fields.fields.keys() <= _PLACED:
        return asked
    return replace(
        asked,
        user=_label(fields, "user"),
        group=_label(fields, "group"),
        queue=_label(fields, "queue"),
        extra={key: value for key, value in fields.fields.items() if key not in _PLACED},
    )


def _label(fields: Fields, key: str) -> Label:
    value = fields.fields.get(key)
    if not (value is None or isinstance(value, str) or type(value) is int):
        fields.refuse(key, "a string or a whole number")
    return value


def _texts(host: Fields) -> dict[str, str]:
    """Return the properties of a host that are texts, as all should be."""
    properties = host.part("properties").fields
    return {key: value for key, value in properties.items() if isinstance(value, str)}


def _progress(fields: Fields) -> Progress:
    """Read how far a job had come, from the whole to the part it was in."""
    levels: Progress = []
    while len(levels) < _DEEPEST:
        part = fields.fields.get("current_task_index", 0)
        done = fields.fields.get("progress", 0.0)
        if type(part) is not int or type(done) not in (int, float):
            refuse(
                f"{fields.where}: {fields.path}: got {shown_json(fields.fields)}, "
                "expected a progress from 0 to 1, or the index of a task"
            )
        levels.append((fields.text("profile_name"), part, float(done)))
        if "current_task" not in fields.fields:
            break
        fields = fields.part("current_task")
    return levels


def _quoted(text: bytes) -> str:
    shown = text if len(text) <= 60 else text[:60] + b"..."
    return f"{len(text)} bytes, {shown.decode(errors='replace')!r}"


def refuse(why: str) -> NoReturn:
    """Say what is wrong with what a simulator told."""
    raise ProtocolError(why)
