"""The machine: hosts with their names, speeds and power states, and the network between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.network import Network, NumberedNames, Zone
from noctule.routes import Path, Routes

if TYPE_CHECKING:
    from noctule._core import NetworkPlan

__all__ = [
    "Disk",
    "Host",
    "HostKind",
    "Hosts",
    "Platform",
    "PowerModel",
    "PowerRange",
    "Role",
    "SleepState",
]

MAX_HOSTS = 2**31 - 1
NO_ID = -1


class Role(StrEnum):
    """What a host is for: only compute hosts run jobs."""

    COMPUTE = "compute"
    STORAGE = "storage"
    MASTER = "master"


@dataclass(frozen=True, slots=True)
class PowerRange:
    """Watts of a host in one power state.

    `idle` without load; otherwise epsilon + load x (computing - epsilon), where a load of 1 means
    that all cores compute.
    """

    idle: float
    epsilon: float
    computing: float


@dataclass(frozen=True, slots=True)
class SleepState:
    """A power state to sleep in, and those in which a host is while it is switched off and on.

    The speeds of the latter two say how long that takes: 1 / speed seconds.
    """

    sleep: int
    switching_off: int
    switching_on: int


@dataclass(frozen=True, slots=True)
class PowerModel:
    """What a host draws, for platforms that no file describes.

    `off` gives hosts a state to sleep in; switching takes time, and so many watts meanwhile. The
    defaults of switching were measured on Grid'5000's Taurus cluster. `slower` are other states to
    compute in: a factor of the speed, and the watts of an idle and of a computing host.

    The power states are 0, those of `slower`, then, with `off`, the one to sleep in and the two of
    switching off and on.
    """

    idle: float
    computing: float
    epsilon: float | None = None
    off: float | None = None
    switch_off_seconds: float = 6.1
    switch_off_watts: float = 101.0
    switch_on_seconds: float = 151.52
    switch_on_watts: float = 125.17
    slower: tuple[tuple[float, float, float], ...] = ()

    def __post_init__(self) -> None:
        """Refuse negative and meaningless numbers."""
        watts = [self.idle, self.computing, self.switch_off_watts, self.switch_on_watts]
        watts += [value for value in (self.epsilon, self.off) if value is not None]
        watts += [value for _, idle, computing in self.slower for value in (idle, computing)]
        if not all(math.isfinite(value) and value >= 0 for value in watts):
            raise InputError(f"power: got {self!r}, expected watts >= 0")
        positive = [self.switch_off_seconds, self.switch_on_seconds]
        positive += [factor for factor, _, _ in self.slower]
        if not all(math.isfinite(value) and value > 0 for value in positive):
            raise InputError(f"power: got {self!r}, expected seconds and factors > 0")

    def host_kind(self, speed: float) -> HostKind:
        """Return hosts of a speed that draw this."""
        epsilon = self.idle if self.epsilon is None else self.epsilon
        speeds = [speed, *(speed * factor for factor, _, _ in self.slower)]
        powers = [PowerRange(self.idle, epsilon, self.computing)]
        powers += [PowerRange(idle, idle, computing) for _, idle, computing in self.slower]
        sleep_states: tuple[SleepState, ...] = ()
        if self.off is not None:
            first = len(speeds)
            sleep_states = (SleepState(first, first + 1, first + 2),)
            speeds += [speed, 1.0 / self.switch_off_seconds, 1.0 / self.switch_on_seconds]
            for watts in (self.off, self.switch_off_watts, self.switch_on_watts):
                powers.append(PowerRange(watts, watts, watts))
        return HostKind(
            speeds=tuple(speeds),
            powers=tuple(powers),
            sleep_states=sleep_states,
            power_off=self.off or 0.0,
        )


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk of a host; bytes a second."""

    name: str
    read_bandwidth: float
    write_bandwidth: float
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class HostKind:
    """What hosts have in common with others that were described by the same words.

    Attributes:
        speeds: flops a second of one core, in each power state.
        initial_state: the power state at the beginning.
        memory: bytes, or None where it is not known.
        zone: names of the zones around the host, from the outermost to the innermost.
        properties: what the file says about the host, as text; all the rest is read from it.
        zone_properties: what it says about the zones around, inner ones overriding outer ones.
        powers: watts in each power state; empty if they are not known.
        power_off: watts of a host that is switched off.
        power_fault: why the power of the host cannot be known; "" if it can, or was not described.
        coordinates: position in a Vivaldi zone.
        profiles: files that change the host over time, by what they change: speed, state.
    """

    speeds: tuple[float, ...] = (1.0,)
    initial_state: int = 0
    cores: int = 1
    memory: float | None = None
    role: Role = Role.COMPUTE
    zone: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    zone_properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    powers: tuple[PowerRange, ...] = ()
    power_off: float = 0.0
    sleep_states: tuple[SleepState, ...] = ()
    power_fault: str = ""
    disks: tuple[Disk, ...] = ()
    coordinates: tuple[float, ...] = ()
    profiles: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def speed(self) -> float:
        """Flops a second of one core at the beginning."""
        return self.speeds[self.initial_state]

    @property
    def computing_states(self) -> tuple[int, ...]:
        """The power states in which jobs can run."""
        others = {
            state
            for entry in self.sleep_states
            for state in (entry.sleep, entry.switching_off, entry.switching_on)
        }
        return tuple(state for state in range(len(self.speeds)) if state not in others)


@dataclass(frozen=True, slots=True)
class Host:
    """One computer: its id, its name, and what it has in common with others.

    Compute hosts have the ids 0 to n_hosts - 1, storage hosts those that follow, a master -1.
    """

    id: int
    name: str
    kind: HostKind

    @property
    def speed(self) -> float:
        """Flops a second of one core at the beginning."""
        return self.kind.speed

    @property
    def speeds(self) -> tuple[float, ...]:
        """Flops a second of one core, in each power state."""
        return self.kind.speeds

    @property
    def cores(self) -> int:
        """How many cores it has."""
        return self.kind.cores

    @property
    def memory(self) -> float | None:
        """Bytes of memory, or None where it is not known."""
        return self.kind.memory

    @property
    def role(self) -> Role:
        """What it is for."""
        return self.kind.role

    @property
    def zone(self) -> tuple[str, ...]:
        """Names of the zones around it, from the outermost to the innermost."""
        return self.kind.zone

    @property
    def properties(self) -> Mapping[str, str]:
        """What the file says about it, as text."""
        return self.kind.properties

    @property
    def coordinates(self) -> tuple[float, ...]:
        """Its position in a Vivaldi zone."""
        return self.kind.coordinates


class Hosts(Sequence[Host]):
    """Hosts in the order of their ids; each is made when it is asked for."""

    __slots__ = ("kind_of", "kinds", "names")

    def __init__(
        self,
        names: Sequence[str],
        kinds: Sequence[HostKind],
        kind_of: npt.NDArray[np.int32],
    ) -> None:
        """Give the name of each host, and the position of its kind among the kinds."""
        self.names = names
        self.kinds = tuple(kinds)
        self.kind_of = kind_of

    @classmethod
    def alike(cls, names: Sequence[str], kind: HostKind) -> Hosts:
        """Return hosts of one kind."""
        return cls(names, [kind], np.broadcast_to(np.int32(0), len(names)))

    def __reduce__(self) -> tuple[object, ...]:
        if len(self.kinds) == 1:
            return Hosts.alike, (self.names, self.kinds[0])
        return Hosts, (self.names, self.kinds, self.kind_of)

    def __len__(self) -> int:
        return len(self.kind_of)

    @overload
    def __getitem__(self, index: int) -> Host: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Host]: ...
    def __getitem__(self, index: int | slice) -> Host | Sequence[Host]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"host {index}: there are {len(self)}")
        return Host(position, self.names[position], self.kinds[self.kind_of[position]])

    def __iter__(self) -> Iterator[Host]:
        for i in range(len(self)):
            yield self[i]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hosts):
            return NotImplemented
        if len(self) != len(other) or not self._named_like(other):
            return False
        if len(self.kinds) == len(other.kinds) == 1:
            return self.kinds == other.kinds
        return all(
            self.kinds[a] == other.kinds[b]
            for a, b in set(zip(self.kind_of.tolist(), other.kind_of.tolist(), strict=True))
        )

    def __hash__(self) -> int:
        return hash((len(self), self.names[0]))

    def __repr__(self) -> str:
        return f"<{len(self)} hosts: {self.names[0]} to {self.names[len(self) - 1]}>"

    def _named_like(self, other: Hosts) -> bool:
        if self.names == other.names:
            return True
        return all(a == b for a, b in zip(self.names, other.names, strict=True))


@dataclass(frozen=True, slots=True)
class Platform:
    """Compute hosts 0 to n_hosts - 1, with all that is around them.

    Attributes:
        hosts: those that run jobs.
        reference_speed: the speed that workloads without one of their own refer to.
        storages: storage hosts; their ids follow those of the compute hosts.
        master: the host kept apart for a batch system's own use, if there is one.
        unused: hosts of the network that are left out: they have no ids, and run nothing.
        source: the file that the platform was read from.
        notes: what was odd about the file, in sentences.
    """

    hosts: Hosts
    reference_speed: float = 1.0
    storages: tuple[Host, ...] = ()
    master: Host | None = None
    unused: tuple[Host, ...] = ()
    network: Network = field(default_factory=Network)
    source: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    _routes: Routes = field(default_factory=Routes, init=False, repr=False, compare=False)

    @classmethod
    def homogeneous(
        cls, n_hosts: int, speed: float = 1.0, *, power: PowerModel | None = None
    ) -> Platform:
        """Return identical hosts; `speed` is relative: 2 runs a log in half the time."""
        if isinstance(n_hosts, bool) or not isinstance(n_hosts, int):
            raise InputError(f"platform: n_hosts: got {n_hosts!r}, expected a whole number")
        if not 1 <= n_hosts <= MAX_HOSTS:
            raise InputError(f"platform: n_hosts: got {n_hosts}, expected 1 to {MAX_HOSTS}")
        speed = float(speed)
        if not (math.isfinite(speed) and speed > 0):
            raise InputError(f"platform: speed: got {speed!r}, expected a positive number")
        names = NumberedNames("host", (range(n_hosts),))
        kind = HostKind(speeds=(speed,)) if power is None else power.host_kind(speed)
        return cls(Hosts.alike(names, kind))

    @property
    def n_hosts(self) -> int:
        """How many hosts run jobs."""
        return len(self.hosts)

    @property
    def is_homogeneous(self) -> bool:
        """Whether all compute hosts have the same speed."""
        return len({kind.speed for kind in self.hosts.kinds}) == 1

    @property
    def speed(self) -> float:
        """The speed of every compute host; a platform with several speeds has no such thing."""
        if not self.is_homogeneous:
            slowest, fastest = float(self.speeds.min()), float(self.speeds.max())
            raise InputError(
                f"{self.source or 'platform'}: speed: the hosts have several, "
                f"{slowest!r} to {fastest!r}; `speeds` has them all"
            )
        return self.hosts.kinds[0].speed

    @property
    def speeds(self) -> npt.NDArray[np.float64]:
        """The speed of each compute host, by id; read-only."""
        of_kinds = np.array([kind.speed for kind in self.hosts.kinds])
        if len(of_kinds) == 1:
            return np.broadcast_to(of_kinds[0], self.n_hosts)
        speeds = of_kinds[self.hosts.kind_of]
        speeds.flags.writeable = False
        return speeds

    @property
    def others(self) -> tuple[Host, ...]:
        """The hosts that run no jobs: the storage hosts, the master, those left out."""
        masters = () if self.master is None else (self.master,)
        return (*self.storages, *masters, *self.unused)

    def all_hosts(self) -> Iterator[Host]:
        """Yield the compute hosts, then the others."""
        yield from self.hosts
        yield from self.others

    def with_first_hosts(self, n_hosts: int) -> Platform:
        """Return the platform with so many compute hosts; the network keeps the rest, unused."""
        if not 1 <= n_hosts <= self.n_hosts:
            raise InputError(
                f"{self.source or 'platform'}: got {n_hosts} hosts to use, "
                f"expected 1 to {self.n_hosts}"
            )
        if n_hosts == self.n_hosts:
            return self
        names = self.hosts.names[:n_hosts]
        used, kind_of = np.unique(self.hosts.kind_of[:n_hosts], return_inverse=True)
        kinds = [self.hosts.kinds[kind] for kind in used.tolist()]
        return replace(
            self,
            hosts=Hosts(tuple(names), kinds, kind_of.astype(np.int32)),
            storages=tuple(replace(host, id=n_hosts + i) for i, host in enumerate(self.storages)),
            unused=(*(replace(host, id=NO_ID) for host in self.hosts[n_hosts:]), *self.unused),
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The files that its own file names: what changes hosts and links over time."""
        kinds = [*self.hosts.kinds, *(host.kind for host in self.others)]
        named = [file for kind in kinds for file in kind.profiles.values()]
        for zone in self.network.walk():
            for link in zone.links if isinstance(zone, Zone) else ():
                named += link.profiles.values()
        named += [trace.file for trace in self.network.traces if trace.file]
        folder = FilePath(self.source).parent
        return tuple(dict.fromkeys(str(folder / file) for file in named))

    def host(self, host_id: int) -> Host:
        """Return the compute host with this id."""
        if not 0 <= host_id < self.n_hosts:
            raise InputError(f"platform: host {host_id}: expected 0 to {self.n_hosts - 1}")
        return self.hosts[host_id]

    def network_plan(self) -> NetworkPlan:
        """Return the network as the core has it: hosts in the order of `all_hosts`."""
        names = chain(self.hosts.names, (host.name for host in self.others))
        return self._routes.plan(self.network, names, self.all_hosts(), self.source)

    def route(self, src: str | int, dst: str | int) -> Path:
        """Return the links between two hosts, by name or id, and the latency of the way.

        In a zone of routing None there is no way. Where a zone of routing Full declares no route,
        nothing is crossed, and `missing` says so.
        """
        plan = self.network_plan()
        return self._routes.path(plan, self._name_of(src), self._name_of(dst))

    def _name_of(self, host: str | int) -> str:
        if isinstance(host, str):
            return host
        known = self.n_hosts + len(self.storages)
        if not 0 <= host < known:
            raise InputError(f"platform: host {host}: expected 0 to {known - 1}")
        if host < self.n_hosts:
            return self.hosts.names[host]
        return self.storages[host - self.n_hosts].name
