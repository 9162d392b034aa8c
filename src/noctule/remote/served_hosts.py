"""The hosts of a simulator at the other end of a wire: which are free, asleep, switching or gone.

Which power states a host has is told by the properties that Batsim sends: `wattage_per_state` has
an entry for each, `sleep_pstates` ("13:14:15") names those to sleep in and those that stand for
switching off and on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from noctule._core import HostSet

_PER_STATE = ("wattage_per_state", "watt_per_state")
_SLEEP = "sleep_pstates"


@dataclass(frozen=True, slots=True)
class PowerStates:
    """The power states of a host: how many, and which ones nobody computes in."""

    n_states: int = 0
    sleeping: frozenset[int] = frozenset()
    switching: frozenset[int] = frozenset()

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> PowerStates:
        """Read the properties of a host; those that make no sense tell nothing."""
        watts = next((properties[name] for name in _PER_STATE if name in properties), "")
        return _power_states(watts, properties.get(_SLEEP, ""))


@lru_cache(maxsize=256)  # many hosts have the same properties
def _power_states(watts: str, sleep: str) -> PowerStates:
    if not watts.strip():
        return PowerStates()
    sleeping, switching = set(), set()
    for entry in sleep.split(","):
        numbers = [text.strip() for text in entry.split(":")]
        if len(numbers) == 3 and all(text.isascii() and text.isdigit() for text in numbers):
            states = [int(text[:9]) for text in numbers]
            sleeping.add(states[0])
            switching.update(states[1:])
    return PowerStates(watts.count(",") + 1, frozenset(sleeping), frozenset(switching))


def host_range(n_hosts: int) -> HostSet:
    """Return the first so many hosts."""
    return HostSet(f"0-{n_hosts - 1}") if n_hosts else HostSet()


class ServedHosts:
    """Which hosts can run jobs now; ids from `n_hosts` on are those of storages."""

    def __init__(
        self, power_states: Sequence[PowerStates], n_storages: int, *, shared: bool
    ) -> None:
        """Begin with all hosts free; a shared host may run several jobs."""
        self.n_hosts = len(power_states)
        self.n_known = self.n_hosts + n_storages
        self.shared = shared
        self.all = self.free = host_range(self.n_hosts)
        self.asleep = self.unavailable = HostSet()
        self._switching_on = self._switching_off = HostSet()
        self._power_states = power_states
        self._states: dict[int, int] = {}
        self._has_overlaps = shared

    @property
    def switching(self) -> HostSet:
        """Hosts that are being switched on or off."""
        return self._switching_on | self._switching_off

    def power_state(self, host: int) -> int:
        """Return the power state of a host; 0 until another one is told."""
        if not 0 <= host < self.n_hosts or not self._power_states[host].n_states:
            raise IndexError(f"host {host} has no power states, or does not exist")
        return self._states.get(host, 0)

    def first_free(self, n_hosts: int) -> HostSet:
        """Return the first free hosts."""
        found = []
        for first, last in self.free.intervals():
            last = min(last, first + n_hosts - 1)  # noqa: PLW2901
            n_hosts -= last - first + 1
            found.append(f"{first}-{last}")
            if n_hosts == 0:
                break
        return HostSet(" ".join(found))

    def take(self, hosts: HostSet) -> None:
        """Let a job hold hosts."""
        if len(self.free & hosts) < len(self.all & hosts):
            self._has_overlaps = True
        self.free -= hosts

    def give(self, hosts: HostSet, held: Iterable[HostSet]) -> None:
        """Free the hosts of an ended job, but for those that cannot run any; `held` by others."""
        back = (hosts & self.all) - self._unusable()
        if self._has_overlaps:
            for others in held:
                back -= others
        self.free |= back

    def why_unusable(self, host: int) -> str:
        """Tell why a host cannot run another job now, or nothing."""
        if host >= self.n_hosts:  # storages serve everybody
            return ""
        for hosts, what in (
            (self._switching_off, "is being switched off"),
            (self.asleep, "is asleep"),
            (self._switching_on, "is being switched on"),
            (self.unavailable, "is unavailable"),
        ):
            if host in hosts:
                return f"host {host} {what}"
        return "" if self.shared or host in self.free else f"host {host} is busy"

    def make_unavailable(self, hosts: HostSet) -> None:
        """Take hosts away; what runs on them goes on."""
        self.unavailable |= hosts
        self.free -= hosts

    def make_available(self, hosts: HostSet, held: Iterable[HostSet]) -> None:
        """Bring hosts back; those of running jobs stay `held`."""
        self.unavailable -= hosts
        back = (hosts & self.all) - self._unusable()
        for others in held:
            back -= others
        self.free |= back

    def obstacle(self, host: int, state: int) -> str:
        """Tell why a host cannot go to a power state now, or nothing."""
        known, who = self._power_states[host], f"host {host}"
        sleeps = state in known.sleeping
        if known.n_states == 0:
            why = f"no message told power states of {who}"
        elif not 0 <= state < known.n_states:
            why = f"{who} has the power states 0-{known.n_states - 1}, not {state}"
        elif state in known.switching:
            why = f"power state {state} of {who} is one of switching, which hosts only pass through"
        elif host in self._switching_off or host in self._switching_on:
            why = f"{who} is switching"
        elif sleeps and host in self.asleep:
            why = f"{who} is already asleep"
        elif sleeps and host not in self.free:
            why = f"{who} is busy, and cannot sleep"
        else:
            why = ""
        return why

    def switch(self, hosts: HostSet, state: int) -> None:
        """Begin to bring hosts to a power state."""
        sleepers = HostSet(host for host in hosts if state in self._power_states[host].sleeping)
        wakers = (hosts & self.asleep) - sleepers
        self.free -= sleepers
        self._switching_off |= sleepers
        self._switching_on |= wakers
        self.asleep -= wakers
        for host in hosts - sleepers - wakers:
            self._states[host] = state

    def end_switch(self, hosts: HostSet, state: int, held: Iterable[HostSet]) -> None:
        """Note that all of these hosts have reached a power state."""
        sleepers = HostSet(host for host in hosts if state in self._power_states[host].sleeping)
        woken = (hosts & self._switching_on) | ((hosts - sleepers) & self.asleep)
        self._switching_on -= hosts
        self._switching_off -= hosts
        self.asleep = (self.asleep - hosts) | sleepers
        for host in hosts:
            self._states[host] = state
        self.free -= sleepers
        if woken:
            self.make_available(woken - self.unavailable, held)

    def _unusable(self) -> HostSet:
        return self.asleep | self._switching_on | self._switching_off | self.unavailable
