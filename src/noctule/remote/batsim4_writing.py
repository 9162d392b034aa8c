"""What Batsim 4 tells its scheduler: the JSON texts of its events and of their parts.

Numbers that are not whole are written with six decimals, also within the jobs and profiles that are
forwarded as their file has them; those that are whole there stay so.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from noctule.errors import InputError
from noctule.platform import Host, Platform, Role
from noctule.remote.batsim_workload import BatsimWorkload, Level, referenced_profiles

# What is written as usual.
_PLAIN = frozenset((int, str, bool, type(None)))
_encode = msgspec.json.encode


@dataclass(frozen=True, slots=True, kw_only=True)
class BatsimSetup:
    """All that a scheduler of Batsim 4 is told when a simulation begins.

    Attributes:
        platform: hosts with the ids that the scheduler uses, storages behind those that compute.
        workloads: in the order of the command line, workflows among them.
        share_hosts: several jobs may use one host that computes.
        share_storages: several jobs may use one storage.
        energy: power states may be asked for, and joules.
        forward_profiles: JOB_SUBMITTED has the job's profile.
        dynamic_jobs: the scheduler may register jobs and profiles.
        acknowledge_dynamic_jobs: a registered job is told by JOB_SUBMITTED.
        reuse_profiles: profiles can be named after the first of their jobs has ended.
        forward_unknown_events: external events of unknown types are told.
        exact_dates: a date that the scheduler saw rounded up is waited for, as Batsim does; if not,
            it stands for the true one.
        scheduler_config: text for the scheduler, of which Batsim knows nothing.
        redis_hostname: echoed; there is no redis.
        redis_port: echoed.
        redis_prefix: echoed.
    """

    platform: Platform
    workloads: Sequence[BatsimWorkload] = ()
    share_hosts: bool = False
    share_storages: bool = True
    energy: bool = False
    forward_profiles: bool = False
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    reuse_profiles: bool = False
    forward_unknown_events: bool = False
    exact_dates: bool = False
    scheduler_config: str = ""
    redis_hostname: str = "127.0.0.1"
    redis_port: int = 6379
    redis_prefix: str = "default"

    def __post_init__(self) -> None:
        """Refuse an option that needs another."""
        if self.reuse_profiles and not self.dynamic_jobs:
            raise InputError("reuse_profiles: got true, expected dynamic_jobs with it")


def json_text(value: Any) -> str:
    """Write a JSON value as Batsim does."""
    kind = type(value)
    if kind is float:
        return f"{value:.6f}"
    if kind is int:
        return str(value)
    if kind is dict:
        return f"{{{','.join([f'{_key(k)}:{json_text(v)}' for k, v in value.items()])}}}"
    if kind is list:
        return f"[{','.join(map(json_text, value))}]"
    return _encode(value).decode()


@functools.lru_cache(maxsize=1024)
def _key(name: str) -> str:
    return _encode(str(name)).decode()


def simulation_begins(setup: BatsimSetup) -> str:
    """Write the data of SIMULATION_BEGINS."""
    platform = setup.platform
    n_hosts, storages = platform.n_hosts, platform.storages
    config = {
        "redis-enabled": False,
        "redis-hostname": setup.redis_hostname,
        "redis-port": setup.redis_port,
        "redis-prefix": setup.redis_prefix,
        "profiles-forwarded-on-submission": setup.forward_profiles,
        "dynamic-jobs-enabled": setup.dynamic_jobs,
        "dynamic-jobs-acknowledged": setup.acknowledge_dynamic_jobs,
        "profile-reuse-enabled": setup.reuse_profiles,
        "sched-config": setup.scheduler_config,
        "forward-unknown-events": setup.forward_unknown_events,
    }
    return json_text(
        {
            "nb_resources": n_hosts + len(storages),
            "nb_compute_resources": n_hosts,
            "nb_storage_resources": len(storages),
            "allow_compute_sharing": setup.share_hosts,
            "allow_storage_sharing": setup.share_storages,
            "config": config,
            "compute_resources": [_resource(i, host) for i, host in enumerate(platform.hosts)],
            "storage_resources": [_resource(i, host) for i, host in enumerate(storages, n_hosts)],
            "workloads": {one.name: one.path for one in setup.workloads},
            "profiles": {one.name: referenced_profiles(one) for one in setup.workloads},
        }
    )


def job_submitted(job_id: str, job: Mapping[str, Any], profile: str | None, now: float) -> str:
    """Write the data of JOB_SUBMITTED: a job with its full id, and the text of its profile."""
    told = {**job, "id": job_id}
    if "subtime" not in told:
        told["subtime"] = now
    text = f'{{"job_id":{json_text(job_id)},"job":{_object_text(told)}'
    return f"{text}}}" if profile is None else f'{text},"profile":{profile}}}'


def _object_text(fields: dict[str, Any]) -> str:
    for value in fields.values():
        if type(value) not in _PLAIN:
            return json_text(fields)
    return _encode(fields).decode()


def _resource(number: int, host: Host) -> dict[str, Any]:
    role = "storage" if host.role is Role.STORAGE else ""
    return {
        "id": number,
        "name": host.name,
        "state": "idle",
        "properties": {"role": role, **host.kind.properties},
        "zone_properties": dict(host.kind.zone_properties),
    }


def job_progress(levels: Iterable[Level]) -> str:
    """Write how far a killed job has come; see `named_levels`."""
    text = ""
    for name, part, done in reversed(list(levels)):
        start = f'{{"profile_name":{json_text(name)}'
        if text:
            text = f'{start},"current_task_index":{part},"current_task":{text}}}'
        elif part < 0:
            text = f'{start},"current_task_index":-1}}'
        else:
            text = f'{start},"progress":{done:.6f}}}'
    return text
