"""Stretches of time that are known beforehand in which hosts are not for every job.

A maintenance takes its hosts away; a reservation keeps its hosts for some jobs, which run nowhere
else. Policies see those that are announced, and the native ones plan around them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from noctule import _core
from noctule._core import HostSet
from noctule.errors import InputError
from noctule.workload import JobId, Label, Workload

__all__ = ["Maintenance", "Reservation", "Windows"]

_NOBODY = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Hosts that take no jobs from `start` to `end`.

    Jobs still running on them when it begins go on, or are killed with `kills`. Policies know of it
    from the date `announced` on.
    """

    hosts: HostSet
    start: float
    end: float
    name: str = ""
    announced: float = 0.0
    kills: bool = False


@dataclass(frozen=True, slots=True)
class Reservation:
    """Hosts that only some jobs may have from `start` to `end`: those named, and those of users.

    The hosts are named, or a number of them: the last ones that no other window wants meanwhile.
    """

    hosts: HostSet | int
    start: float
    end: float
    jobs: Collection[JobId] = ()
    users: Collection[Label] = ()
    name: str = ""
    announced: float = 0.0


AnyWindow = Maintenance | Reservation


@dataclass(frozen=True, slots=True)
class Windows:
    """Maintenances and reservations of a run.

    Attributes:
        windows: in any order; those without a name get one.
        source: where they come from, for errors.
    """

    windows: Sequence[AnyWindow] = ()
    source: str = "windows"

    def __post_init__(self) -> None:
        """Refuse windows that make no sense, and those that exclude each other."""
        named = []
        for number, window in enumerate(self.windows):
            kind = type(window).__name__.lower()
            named.append(window if window.name else replace(window, name=f"{kind} {number}"))
        object.__setattr__(self, "windows", tuple(named))
        seen: set[str] = set()
        for window in named:
            if window.name in seen:
                raise InputError(f"{self.source}: {window.name}: the name is there twice")
            seen.add(window.name)
            self._check(window)

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.windows)

    def __iter__(self) -> Iterator[AnyWindow]:
        """Yield the windows."""
        return iter(self.windows)

    def on(self, n_hosts: int) -> Windows:
        """Return the same with hosts for all, on a platform with so many of them."""
        resolved: list[AnyWindow] = []
        for window in sorted(self.windows, key=lambda one: isinstance(one.hosts, int)):
            hosts = window.hosts
            if isinstance(hosts, int):
                hosts = self._last_hosts(window, hosts, resolved, n_hosts)
            if len(hosts) and max(hosts) >= n_hosts:
                raise InputError(
                    f"{self.source}: {window.name}: hosts: there is no host {max(hosts)}; "
                    f"hosts are 0-{n_hosts - 1}"
                )
            resolved.append(replace(window, hosts=hosts))
        self._refuse_overlaps(resolved)
        position = {window.name: i for i, window in enumerate(self.windows)}
        resolved.sort(key=lambda window: position[window.name])
        return Windows(tuple(resolved), self.source)

    def as_core(self) -> list[_core.ViewWindow]:
        """Return the windows as the engine takes them; they must have hosts."""
        return [
            _core.ViewWindow(
                window.name,
                isinstance(window, Reservation),
                _host_set(window),
                window.start,
                window.end,
                window.announced,
                isinstance(window, Maintenance) and window.kills,
            )
            for window in self.windows
        ]

    def reservations_of(self, workload: Workload) -> list[int]:
        """Return the position of each job's reservation; nothing if there are none."""
        reservations = [
            (i, window) for i, window in enumerate(self.windows) if isinstance(window, Reservation)
        ]
        if not reservations:
            return []
        found = [_NOBODY] * len(workload)
        ids = workload.job_ids.tolist()
        position_of = {str(job_id): i for i, job_id in enumerate(ids)}
        for number, window in reservations:
            for job in self._jobs_of(window, workload, position_of):
                if found[job] != _NOBODY:
                    raise InputError(
                        f"{self.source}: {window.name}: job {ids[job]} also belongs to "
                        f"{self.windows[found[job]].name}, expected one reservation for a job"
                    )
                found[job] = number
        return found

    def _jobs_of(
        self, window: Reservation, workload: Workload, position_of: dict[str, int]
    ) -> set[int]:
        jobs = set()
        for job_id in window.jobs:
            if str(job_id) not in position_of:
                raise InputError(
                    f"{self.source}: {window.name}: jobs: no job has the id {job_id!r}"
                )
            jobs.add(position_of[str(job_id)])
        if window.users:
            wanted = {str(user) for user in window.users}
            users = (workload.label("user", i) for i in range(len(workload)))
            jobs |= {i for i, user in enumerate(users) if user is not None and str(user) in wanted}
        return jobs

    def _check(self, window: AnyWindow) -> None:
        where = f"{self.source}: {window.name}"
        for name in ("start", "announced"):
            value = getattr(window, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{where}: {name}: got {value}, expected a number >= 0")
        if not window.end > window.start:
            raise InputError(
                f"{where}: ends at {window.end}, expected a date after its beginning at "
                f"{window.start}"
            )
        if window.announced > window.start:
            raise InputError(
                f"{where}: announced: got {window.announced}, expected a date up to its beginning "
                f"at {window.start}"
            )
        n_hosts = window.hosts if isinstance(window.hosts, int) else len(window.hosts)
        if n_hosts < 1:
            raise InputError(f"{where}: hosts: got none, expected at least one")
        if isinstance(window, Reservation) and not window.jobs and not window.users:
            raise InputError(f"{where}: got neither jobs nor users, expected whom it is for")

    def _last_hosts(
        self, window: AnyWindow, n: int, others: Sequence[AnyWindow], n_hosts: int
    ) -> HostSet:
        taken: set[int] = set()
        for other in others:
            if _overlap(window, other):
                taken.update(_host_set(other))
        free = [host for host in range(n_hosts - 1, -1, -1) if host not in taken]
        if len(free) < n:
            raise InputError(
                f"{self.source}: {window.name}: hosts: got {n}, but only {len(free)} of the "
                f"{n_hosts} hosts are in no other window meanwhile"
            )
        return HostSet(free[:n])

    def _refuse_overlaps(self, windows: Sequence[AnyWindow]) -> None:
        reservations = [window for window in windows if isinstance(window, Reservation)]
        for i, window in enumerate(reservations):
            for other in reservations[:i]:
                common = set(_host_set(window)) & set(_host_set(other))
                if common and _overlap(window, other):
                    raise InputError(
                        f"{self.source}: {window.name}: reserves host {min(common)} from "
                        f"{window.start} to {window.end}, and {other.name} does from "
                        f"{other.start} to {other.end}, expected one reservation at a time"
                    )


def _overlap(one: AnyWindow, other: AnyWindow) -> bool:
    return one.start < other.end and other.start < one.end


def _host_set(window: AnyWindow) -> HostSet:
    assert isinstance(window.hosts, HostSet)
    return window.hosts
