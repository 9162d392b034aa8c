"""Where a job of Batsim 5 runs: which host each of its executors has, also part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from noctule._core import HostSet
from noctule.errors import InputError
from noctule.formats.json_object import shown_json
from noctule.platform import Platform
from noctule.profile_facts import within
from noctule.remote.batsim5_reading import Allocation, ExecuteData, Placement
from noctule.remote.batsim_registry import Registry
from noctule.remote.batsim_tasks import placed
from noctule.remote.batsim_workload import bare_name, parts_of
from noctule.workload import (
    DataStaging,
    Delay,
    MpiTrace,
    ParallelTask,
    Profile,
    StorageTransfer,
    UsageTrace,
)
from noctule.workload import Sequence as ProfileSequence

# Each executor has an entry in a list.
_MOST_EXECUTORS = 2**20

_SPREAD, _FILL = "SpreadOverHostsFirst", "FillOneHostCoresFirst"
_STRATEGY, _CUSTOM = "PredefinedExecutorPlacementStrategyWrapper", "CustomExecutorToHostMapping"


@dataclass(frozen=True, slots=True)
class PlacedJob:
    """Hosts of a job; what StartJob needs to know besides, where that is anything."""

    hosts: HostSet
    mapping: Sequence[int] | None = None
    storages: Mapping[str, int] | None = None
    profile: Profile | None = None


class Placer:
    """Finds out where jobs run."""

    def __init__(
        self, platform: Platform, registry: Registry, read_hosts: Callable[[str, str], HostSet]
    ) -> None:
        """Take what there is, and what reads a set of hosts that stands under a key."""
        self._platform = platform
        self._registry = registry
        self._read_hosts = read_hosts
        first = platform.n_hosts
        self._storages = {host.name: i for i, host in enumerate(platform.storages, first)}
        self._labels: dict[tuple[str, str], tuple[str, ...]] = {}

    def place(self, data: ExecuteData) -> PlacedJob:
        """Return where a job runs."""
        job_id, registry = data.job_id, self._registry
        hosts = self._read_hosts("allocation.host_allocation", data.allocation.host_allocation)
        n_wanted = registry.n_hosts(job_id)
        storages = self._storages_of(data)
        if data.profile_allocation_override:
            return self._place_parts(data, hosts, storages)
        if data.allocation.executor_placement is None and len(hosts) == n_wanted:
            return PlacedJob(hosts, None, storages)
        mapping = self._mapping("allocation", data.allocation, hosts, n_wanted)
        if len(mapping) == n_wanted:
            return PlacedJob(hosts, mapping, storages)
        profile = registry.profile(job_id)
        _refuse_inconsistent(job_id, profile, len(mapping), n_wanted)
        return PlacedJob(hosts, mapping, storages, profile)

    def _mapping(
        self, key: str, allocation: Allocation, hosts: HostSet, n_wanted: int
    ) -> list[int]:
        """Return the position of the host of each executor."""
        given = allocation.executor_placement
        kind = allocation.executor_placement_type or _STRATEGY
        n_hosts = len(hosts)
        if kind == _CUSTOM:
            return _custom_mapping(f"{key}.executor_placement", given, n_hosts)
        if n_wanted > _MOST_EXECUTORS:
            raise InputError(
                f"{key}: got a job of {n_wanted} executors on {n_hosts} hosts, "
                f"expected at most {_MOST_EXECUTORS}"
            )
        strategy = given.strategy if given is not None else _SPREAD
        if kind != _STRATEGY or strategy not in (_SPREAD, _FILL):
            found = kind if kind != _STRATEGY else strategy
            raise InputError(
                f"{key}.executor_placement: got {shown_json(found)}, "
                f"expected {_CUSTOM}, or {_STRATEGY} with {_SPREAD} or {_FILL}"
            )
        if strategy == _SPREAD:
            return [i % n_hosts for i in range(n_wanted)]
        mapping: list[int] = []
        while len(mapping) < n_wanted:
            for position, host in enumerate(hosts):
                mapping += [position] * self._cores(host)
                if len(mapping) >= n_wanted:
                    break
        return mapping[:n_wanted]

    def _cores(self, host: int) -> int:
        platform = self._platform
        if host < platform.n_hosts:
            return max(platform.hosts[host].kind.cores, 1)
        return max(platform.storages[host - platform.n_hosts].kind.cores, 1)

    def _storages_of(self, data: ExecuteData) -> dict[str, int] | None:
        """Return the storages of a job by the labels that its profile uses.

        A label that the message does not place is the name of a storage host.
        """
        if not (data.storage_placement or self._storages):
            return None
        given = {one.storage_name: one.host_id for one in data.storage_placement or ()}
        first, n = self._platform.n_hosts, len(self._platform.storages)
        for label, host in given.items():
            if not first <= host < first + n:
                known = f"{first} to {first + n - 1}" if n else "there is none"
                raise InputError(
                    f"storage_placement: got {host} for {shown_json(label)}, "
                    f"expected the id of a storage: {known}"
                )
        for label in self._labels_of(data.job_id):
            if label in self._storages:
                given.setdefault(label, self._storages[label])
        return given or None

    def _labels_of(self, job_id: str) -> tuple[str, ...]:
        key = self._registry.profile_of(job_id)
        if key not in self._labels:
            labels: list[str] = []
            for one in within(self._registry.profile(job_id)):
                if isinstance(one, StorageTransfer):
                    labels.append(one.storage)
                elif isinstance(one, DataStaging):
                    labels += [one.from_storage, one.to_storage]
            self._labels[key] = tuple(labels)
        return self._labels[key]

    def _place_parts(
        self, data: ExecuteData, hosts: HostSet, storages: dict[str, int] | None
    ) -> PlacedJob:
        """Make a profile for all hosts of a job, of which each part uses its own."""
        n_wanted = self._registry.n_hosts(data.job_id)
        workload, name = self._registry.profile_of(data.job_id)
        own = sorted(hosts)
        mapping = self._mapping("allocation", data.allocation, hosts, n_wanted)
        union = hosts
        executors: dict[str, list[int]] = {}
        for i, override in enumerate(data.profile_allocation_override or ()):
            key = f"profile_allocation_override[{i}]"
            part_hosts = self._read_hosts(f"{key}.host_allocation", override.host_allocation)
            positions = self._mapping(key, override, part_hosts, n_wanted)
            part = bare_name(override.profile_id)
            if override.profile_id != part and not override.profile_id.startswith(f"{workload}!"):
                raise InputError(
                    f"{key}.profile_id: got {shown_json(override.profile_id)}, "
                    f"expected a profile of workload {workload}"
                )
            ordered = sorted(part_hosts)
            executors[part] = [ordered[position] for position in positions]
            union = union | part_hosts
        parts = _Parts(self._registry, data.job_id, workload, executors, sorted(union))
        profile = parts.made(name, [own[i] for i in mapping])
        return PlacedJob(union, None, storages, profile)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Makes the parts of a profile anew, each on its own hosts."""

    registry: Registry
    job_id: str
    workload: str
    executors: Mapping[str, Sequence[int]]
    hosts: Sequence[int]

    def made(self, name: str, executors: Sequence[int]) -> Profile:
        """Return a profile for all hosts; its executors are these, unless others were said."""
        executors = self.executors.get(name, executors)
        profile = self.registry.sized_profile(self.workload, name).profile
        if isinstance(profile, ProfileSequence):
            raw = self.registry.profiles_of(self.job_id)[name]
            parts = tuple(self.made(bare_name(part), executors) for part in parts_of(raw))
            return ProfileSequence(parts, profile.repeat, profile.return_code)
        if isinstance(profile, Delay | DataStaging):
            return profile
        if isinstance(profile, StorageTransfer | MpiTrace | UsageTrace):
            raise InputError(
                f"profile_allocation_override: got it for a job with a {type(profile).__name__}, "
                "expected parallel tasks, delays and data staging, which can be placed one by one"
            )
        n_wanted = self.registry.n_hosts(self.job_id)
        _refuse_inconsistent(self.job_id, profile, len(executors), n_wanted)
        return placed(profile, executors, self.hosts)


def _custom_mapping(key: str, given: Placement | None, n_hosts: int) -> list[int]:
    mapping = given.mapping if given is not None and given.mapping else []
    for i, position in enumerate(mapping):
        if not 0 <= position < n_hosts:
            raise InputError(
                f"{key}.mapping[{i}]: got {position}, expected a position among the {n_hosts} hosts"
            )
    if not mapping:
        raise InputError(f"{key}.mapping: got no executors, expected at least one")
    return list(mapping)


def _refuse_inconsistent(job_id: str, profile: Profile, n_executors: int, n_wanted: int) -> None:
    """Refuse other numbers of executors for what is made for a number of them."""
    is_rigid = isinstance(profile, ParallelTask | MpiTrace | UsageTrace | DataStaging)
    if is_rigid and n_executors != n_wanted:
        raise InputError(
            f"inconsistent placement for job={job_id}: got a mapping of {n_executors} executors, "
            f"expected {n_wanted}, for which its rigid profile is"
        )
