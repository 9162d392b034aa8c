"""What Batsim 5 tells its decision component: the JSON texts of its events and of their parts.

FlatBuffers' JSON: a union has its type in a field of its own, `x_type` beside `x`; scalars are
written even where they have their default. Numbers are the shortest that mean the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from noctule.platform import Host, Platform
from noctule.remote.batsim5_profiles import as_told, extra_data_text
from noctule.remote.batsim_workload import BatsimWorkload, Level, parts_of, referenced_profiles

_encode = msgspec.json.encode


class Features(msgspec.Struct, frozen=True):
    """What a decision component asks of the simulation, in its hello."""

    dynamic_registration: bool = False
    profile_reuse: bool = False
    acknowledge_dynamic_jobs: bool = False
    forward_profiles_on_job_submission: bool = False
    forward_profiles_on_jobs_killed: bool = False
    forward_profiles_on_simulation_begins: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EdcSetup:
    """All that a decision component of Batsim 5 is told when a simulation begins.

    Attributes:
        platform: hosts with the ids that it uses, storages behind those that compute.
        workloads: in the order of the command line.
        event_lists: names and paths of lists of external events, in the same order.
        energy: probes may measure power.
        arguments: the words of the command line.
        context: the JSON text of the execution context.
        version: that of the simulator.
    """

    platform: Platform
    workloads: Sequence[BatsimWorkload] = ()
    event_lists: Mapping[str, str] = field(default_factory=dict)
    energy: bool = False
    arguments: Sequence[str] = ()
    context: str = "{}"
    version: str = ""


def json_text(value: Any) -> str:
    """Write a JSON value."""
    return _encode(value).decode()


def simulation_begins(setup: EdcSetup, features: Features) -> str:
    """Write SimulationBeginsEvent."""
    platform = setup.platform
    n_hosts, storages = platform.n_hosts, platform.storages
    begins = {
        "host_number": n_hosts + len(storages),
        "computation_host_number": n_hosts,
        "computation_hosts": [_host(i, host) for i, host in enumerate(platform.hosts)],
        "storage_host_number": len(storages),
        "storage_hosts": [_host(i, host) for i, host in enumerate(storages, n_hosts)],
        "batsim_arguments": list(setup.arguments),
        "batsim_execution_context_json": setup.context,
        "workloads": [{"name": one.name, "filename": one.path} for one in setup.workloads],
        "external_events": [
            {"name": name, "filename": path} for name, path in setup.event_lists.items()
        ],
        "batsim_version": setup.version,
    }
    if features.forward_profiles_on_simulation_begins:
        begins["profiles"] = [
            as_told(one.name, name, raw)
            for one in setup.workloads
            for name, raw in referenced_profiles(one).items()
        ]
    return f'"SimulationBeginsEvent","event":{json_text(begins)}'


def _host(number: int, host: Host) -> dict[str, Any]:
    kind = host.kind
    return {
        "id": number,
        "name": host.name,
        "pstate": kind.initial_state,
        "pstate_count": len(kind.speeds),
        "state": "IDLE",
        "properties": _pairs(kind.properties),
        "zone_properties": _pairs(kind.zone_properties),
        "core_count": kind.cores,
        "computation_speed": list(kind.speeds),
    }


def _pairs(properties: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in properties.items()]


def job_submitted(
    job_id: str, raw: Mapping[str, Any], profile_id: str, profile: str | None, now: float
) -> str:
    """Write JobSubmittedEvent: of the fields of a job, those that the protocol has."""
    walltime = raw.get("walltime", -1)
    limit = f'"walltime":{float(walltime)!r},' if walltime != -1 else ""
    extra = extra_data_text(raw, f"job {job_id}") if "extra_data" in raw else None
    more = f'"extra_data":{json_text(extra)},' if extra is not None else ""
    forwarded = f',"profile":{profile}' if profile is not None else ""
    return (
        f'"JobSubmittedEvent","event":{{"job_id":{json_text(job_id)},"job":{{'
        f'"resource_request":{raw["res"]},{limit}{more}"rigid":true,'
        f'"profile_id":{json_text(profile_id)}}},'
        f'"submission_time":{float(raw.get("subtime", now))!r}{forwarded}}}'
    )


def kill_progress(
    levels: Iterable[Level], workload: str, profiles: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return how far a killed job had come; for levels see `batsim_workload.named_levels`."""
    progress: dict[str, Any] = {}
    for name, part, done in reversed(list(levels)):
        told: dict[str, Any] = {"profile_id": f"{workload}!{name}"}
        if progress:
            n_parts = len(parts_of(profiles.get(name, {}))) or 1
            told["current_repetition"] = part // n_parts
            told["current_task_index"] = part % n_parts
            told["current_task_progress"] = progress
            kind = "KillProgressSequentialProfile"
        else:
            # nobody can tell how far a trace has come
            told["progress"] = done if part >= 0 else -1.0
            kind = "KillProgressAtomicProfile"
        progress = {"kill_progress_type": kind, "kill_progress": told}
    return progress
