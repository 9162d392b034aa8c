"""The machine that jobs run on: hosts and links that activities share, with their power.

A run has one of its own where a timer a job is not enough. A Machine alone answers questions about
the models: when do these tasks end, what do they draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from noctule import _core
from noctule.errors import InputError
from noctule.formats.availability import availability_changes
from noctule.network import Zone
from noctule.platform import HostKind, Platform
from noctule.routes import Path
from noctule.simgrid_options import simgrid_options

__all__ = ["Billing", "Machine", "Solver"]

#: How tasks share hosts and links: SimGrid's numbers, or textbook max-min fairness.
Solver = Literal["simgrid", "max-min"]
#: How energy is counted: not at all, exactly, or at SimGrid's few moments.
Billing = Literal["off", "exact", "simgrid"]

SOLVERS: tuple[Solver, ...] = ("simgrid", "max-min")
BILLINGS: tuple[Billing, ...] = ("off", "exact", "simgrid")

_COMPUTING, _SLEEPING, _SWITCHING = 0, 1, 2
_WHAT = {
    ("host", "speed"): 0,
    ("host", "state"): 1,
    ("link", "bandwidth"): 2,
    ("link", "latency"): 3,
    ("link", "state"): 4,
}


def machine_plan(platform: Platform) -> _core.MachinePlan:
    """Return the hosts and links of a platform as the core shares them between runs."""
    kinds = list(platform.hosts.kinds)
    others = platform.others
    kind_of = np.concatenate(
        [
            np.asarray(platform.hosts.kind_of, dtype=np.uint32),
            len(kinds) + np.arange(len(others), dtype=np.uint32),
        ]
    ).astype(np.uint32)
    kinds += [host.kind for host in others]
    return _core.MachinePlan(
        [_model(kind) for kind in kinds],
        kind_of,
        platform.network_plan(),
        _availabilities(platform),
        simgrid_options(platform.network.options, platform.source or "platform").tcp_gamma,
        platform.n_hosts + len(platform.storages),
    )


def has_availabilities(platform: Platform) -> bool:
    """Tell whether hosts or links change by themselves."""
    kinds = [*platform.hosts.kinds, *(host.kind for host in platform.storages)]
    network = platform.network
    return (
        any(kind.profiles for kind in kinds)
        or bool(network.connections)
        or any(
            link.profiles
            for zone in network.walk()
            if isinstance(zone, Zone)
            for link in zone.links
        )
    )


def refuse_unknown_power(platform: Platform) -> None:
    """Refuse to count the energy of hosts whose power is not known."""
    where = platform.source or "platform"
    for position, kind in enumerate(platform.hosts.kinds):
        name = platform.hosts.names[int(np.argmax(platform.hosts.kind_of == position))]
        if kind.power_fault:
            raise InputError(f"{where}: host {name}: {kind.power_fault}")
        if not kind.powers:
            raise InputError(
                f"{where}: host {name}: no watts are known, expected the property "
                "wattage_per_state, or a PowerModel"
            )


def _model(
    kind: HostKind,
) -> tuple[
    list[float],
    list[int],
    list[tuple[float, float, float]],
    float,
    list[tuple[int, int, int]],
    int,
    int,
]:
    kinds = [_COMPUTING] * len(kind.speeds)
    for state in kind.sleep_states:
        kinds[state.sleep] = _SLEEPING
        kinds[state.switching_off] = kinds[state.switching_on] = _SWITCHING
    return (
        list(kind.speeds),
        kinds,
        [(power.idle, power.epsilon, power.computing) for power in kind.powers],
        kind.power_off,
        [(state.sleep, state.switching_off, state.switching_on) for state in kind.sleep_states],
        kind.cores,
        kind.initial_state,
    )


def _availabilities(
    platform: Platform,
) -> list[tuple[int, int, list[tuple[float, float]], float]]:
    changes = availability_changes(platform)
    if not changes:
        return []
    plan = platform.network_plan()
    hosts = {host.name: i for i, host in enumerate(platform.all_hosts())}
    found = []
    for change in changes:
        subject = hosts[change.name] if change.element == "host" else plan.find_link(change.name)
        if subject is None:
            raise InputError(f"{platform.source}: link {change.name}: no such link")
        period = change.availability.period
        found.append(
            (
                _WHAT[change.element, change.what],
                subject,
                list(change.availability.points),
                math.inf if period is None else period,
            )
        )
    return [one for one in found if one[2]]


class Machine:
    """A machine in simulated time, to start activities on and to ask.

    Hosts are named by id or by name. Activities have names of the caller's choice.
    """

    def __init__(
        self, platform: Platform, *, solver: Solver = "simgrid", energy: Billing = "off"
    ) -> None:
        """Take the platform, and which models to use."""
        if energy != "off":
            refuse_unknown_power(platform)
        self.platform = platform
        self._plan = platform.network_plan()
        self._core = _core.Machine(
            machine_plan(platform), SOLVERS.index(solver), BILLINGS.index(energy)
        )
        self._ids = {host.name: i for i, host in enumerate(platform.all_hosts())}
        self._names: list[str] = []
        self._activities: dict[str, int] = {}
        #: Dates at which activities ended, by name.
        self.ends: dict[str, float] = {}
        #: Names of activities that a failing host or link has ended.
        self.failed: set[str] = set()

    @property
    def now(self) -> float:
        """The date."""
        return self._core.now

    @property
    def next_time(self) -> float:
        """When something happens by itself; infinite if nothing does."""
        return self._core.next_time()

    def run_until(self, date: float = math.inf) -> None:
        """Go to a date, or until nothing is left to happen."""
        while (time := min(self._core.next_time(), date)) < math.inf:
            self.advance(time)
            if time == date and self._core.next_time() > date:
                return

    def advance(self, date: float) -> None:
        """Go to a date that is not after the next event, and let end what ends there.

        What is left goes on as before until something asks for the next event.
        """
        for token, failed in self._core.advance_to(date):
            name = self._names[token]
            self.ends[name] = date
            del self._activities[name]
            if failed:
                self.failed.add(name)

    def run(
        self,
        name: str,
        hosts: Sequence[int | str],
        flops: Sequence[float] = (),
        traffic: Sequence[float] = (),
    ) -> None:
        """Start a parallel task: flops of each executor, bytes of traffic from each to each."""
        ids = [self.host_id(host) for host in hosts]
        self._begin(name, self._core.run(ids, list(flops), list(traffic), self._token(name)))

    def run_alike(
        self,
        name: str,
        hosts: Sequence[int | str],
        flops: float,
        traffic: float,
    ) -> None:
        """Start a parallel task whose executors all compute and send the same."""
        ids = [self.host_id(host) for host in hosts]
        self._begin(name, self._core.run_alike(ids, flops, traffic, self._token(name)))

    def execute(self, name: str, host: int | str, flops: float) -> None:
        """Start a computation on one core."""
        self._begin(name, self._core.execute(self.host_id(host), flops, self._token(name)))

    def sleep(self, name: str, host: int | str, seconds: float) -> None:
        """Start to wait."""
        self._begin(name, self._core.sleep(self.host_id(host), seconds, self._token(name)))

    def send(self, name: str, src: int | str, dst: int | str, n_bytes: float) -> None:
        """Start a message."""
        ends = self.host_id(src), self.host_id(dst)
        self._begin(name, self._core.send(*ends, n_bytes, self._token(name)))

    def cancel(self, name: str) -> None:
        """Stop an activity; one that has ended is left alone."""
        activity = self._activities.pop(name, None)
        if activity is not None:
            self._core.cancel(activity)

    def set_power_state(self, host: int | str, state: int) -> None:
        """Bring a host to another power state, at once."""
        host_id = self.host_id(host)
        n_states = len(self._host_kind(host_id).speeds)
        if not 0 <= state < n_states:
            raise InputError(f"host {host}: power state {state}: expected 0 to {n_states - 1}")
        self._core.set_state(host_id, state)

    def switch_host(self, host: int | str, *, on: bool) -> None:
        """Switch a host on or off, at once; what runs there fails."""
        self._core.set_on(self.host_id(host), on)

    def set_bandwidth(self, link: str, bandwidth: float) -> None:
        """Give a link another bandwidth."""
        for number in self._links(link):
            self._core.set_bandwidth(number, bandwidth)

    def set_latency(self, link: str, latency: float) -> None:
        """Give a link another latency."""
        for number in self._links(link):
            self._core.set_latency(number, latency)

    def energy(self, host: int | str) -> float:
        """Return the joules that a host has drawn so far."""
        return self._core.joules(self.host_id(host))

    def power(self, host: int | str) -> float:
        """Return the watts that a host draws now."""
        return self._core.watts(self.host_id(host))

    def load(self, host: int | str) -> float:
        """Return the flops a second that a host computes now."""
        return self._core.load(self.host_id(host))

    def replay(self, trace: _core.MpiTrace, hosts: Sequence[int | str]) -> list[float]:
        """Replay the ranks of a trace on hosts, alone; return the dates at which they end."""
        return self._core.replay(trace, [self.host_id(host) for host in hosts])

    def route(self, src: int | str, dst: int | str) -> Path:
        """Return the links between two hosts, and the latency of the way as it is now."""
        links, latency, missing = self._core.route(self.host_id(src), self.host_id(dst))
        return Path(tuple(map(self._plan.link_name, links)), latency, missing)

    def host_id(self, host: int | str) -> int:
        """Return the number of a host: compute hosts, then storages, then the master."""
        found = self._ids.get(host) if isinstance(host, str) else host
        if found is None or not 0 <= found < len(self._ids):
            raise InputError(f"host {host!r}: no such host")
        return found

    def _host_kind(self, host_id: int) -> HostKind:
        if host_id < self.platform.n_hosts:
            return self.platform.hosts[host_id].kind
        return self.platform.others[host_id - self.platform.n_hosts].kind

    def _links(self, link: str) -> list[int]:
        named = [self._plan.find_link(name) for name in (link, f"{link}_UP", f"{link}_DOWN")]
        found = [number for number in named if number is not None]
        if not found:
            raise InputError(f"link {link!r}: no such link")
        return found

    def _token(self, name: str) -> int:
        if name in self._activities or name in self.ends:
            raise InputError(f"activity {name!r}: the name is taken")
        self._names.append(name)
        return len(self._names) - 1

    def _begin(self, name: str, activity: int) -> None:
        self._activities[name] = activity
