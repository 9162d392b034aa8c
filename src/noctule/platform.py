"""The machine: hosts with their names and speeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from noctule.errors import InputError

MAX_HOSTS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Host:
    """One schedulable computer."""

    id: int
    name: str
    speed: float


@dataclass(frozen=True, slots=True)
class Platform:
    """Hosts 0 to n_hosts - 1, and the speed that workloads without one of their own refer to."""

    n_hosts: int
    speed: float = 1.0
    reference_speed: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what cannot be a machine."""
        if isinstance(self.n_hosts, bool) or not isinstance(self.n_hosts, int):
            raise InputError(f"platform: n_hosts: got {self.n_hosts!r}, expected a whole number")
        if not 1 <= self.n_hosts <= MAX_HOSTS:
            raise InputError(f"platform: n_hosts: got {self.n_hosts}, expected 1 to {MAX_HOSTS}")
        for name, value in (("speed", self.speed), ("reference_speed", self.reference_speed)):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"platform: {name}: got {value!r}, expected a positive number")

    @classmethod
    def homogeneous(cls, n_hosts: int, speed: float = 1.0) -> Platform:
        """Return identical hosts; `speed` is relative: 2 runs a log in half the time."""
        return cls(n_hosts, speed=float(speed))

    def host(self, host_id: int) -> Host:
        """Return the host with this id."""
        if not 0 <= host_id < self.n_hosts:
            raise InputError(f"platform: host {host_id}: expected 0 to {self.n_hosts - 1}")
        return Host(host_id, f"host{host_id}", self.speed)
