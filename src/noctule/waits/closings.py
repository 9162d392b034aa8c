"""Windows that kept hosts from jobs: from when on, for whom, and how many idle ones.

A window closes its hosts to a job that could still run when the window begins, by its walltime,
from the date on at which the window is known, and until its end. A maintenance closes them to all;
a reservation to those who are not among its jobs, and these have no other hosts.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from noctule._core import HostSet
from noctule.columns import Floats
from noctule.record import attempted_id
from noctule.schedule import Schedule
from noctule.waits.hosts import HostSteps
from noctule.waits.queue import Asked, Rows
from noctule.windows import AnyWindow, Maintenance, Reservation, Windows
from noctule.workload import Label


class Closings:
    """The windows of a run, with hosts for all."""

    def __init__(self, schedule: Schedule, windows: Windows | None) -> None:
        """Give the windows hosts."""
        self._schedule = schedule
        n_hosts = schedule.platform.n_hosts
        self.windows: tuple[AnyWindow, ...] = tuple((windows or Windows()).on(n_hosts))

    def reservations(self, asked: Asked) -> Rows:
        """Return the reservation of each row; -1 where there is none."""
        found = np.full(len(self._schedule), -1, dtype=np.intp)
        kept = [(n, w) for n, w in enumerate(self.windows) if isinstance(w, Reservation)]
        if not kept:
            return found
        ids = [attempted_id(job_id) for job_id in self._schedule.column("job_id").tolist()]
        users = [str(user) for user in self._users(asked)]
        for number, window in kept:
            for labels, named in ((ids, window.jobs), (users, window.users)):
                texts = {str(label) for label in named}
                if texts:
                    found[[label in texts for label in labels]] = number
        return found

    def _users(self, asked: Asked) -> list[Label | None]:
        """Return who submitted each job, as the schedule tells it or else the workload."""
        users: list[Label | None] = self._schedule.column("user").tolist()
        workload = asked.workload
        if workload is None:
            return users
        places = asked.place.tolist()
        return [
            workload.label("user", place) if user is None and place >= 0 else user
            for user, place in zip(users, places, strict=True)
        ]

    def names(self, numbers: Iterable[int]) -> str:
        """Return the names of some windows."""
        return ", ".join(self.windows[number].name for number in sorted(numbers))

    def idle_in(self, numbers: Iterable[int], begin: float, end: float) -> HostSteps:
        """Return how many hosts of some windows nobody held, between two dates.

        Hosts that are in maintenance are nobody's, and not counted.
        """
        hosts = HostSet()
        for number in numbers:
            hosts |= self._hosts(number)
        maintenances = [w for w in self.windows if isinstance(w, Maintenance)]
        dates = {w.start for w in maintenances} | {w.end for w in maintenances}
        cuts = [begin, *sorted(date for date in dates if begin < date < end), end]
        parts = []
        for first, last in pairwise(cuts):
            open_hosts = hosts
            for window in maintenances:
                if window.start <= first < window.end:
                    open_hosts -= window.hosts
            parts.append(self._not_held(open_hosts, first, last))
        time = np.concatenate([part.time for part in parts])
        return HostSteps(time, np.concatenate([part.value for part in parts]), 0)

    def reserved(self, begin: float, end: float) -> list[tuple[float, float, HostSteps]]:
        """Return from when to when reservations held, and how many hosts were idle in them."""
        kept = [
            (number, max(window.start, begin), min(window.end, end))
            for number, window in enumerate(self.windows)
            if isinstance(window, Reservation)
        ]
        return [(a, b, self.idle_in([number], a, b)) for number, a, b in kept if a < b]

    def _hosts(self, number: int) -> HostSet:
        hosts = self.windows[number].hosts
        assert isinstance(hosts, HostSet)  # Windows.on has named them
        return hosts

    def _not_held(self, hosts: HostSet, begin: float, end: float) -> HostSteps:
        """Return how many of the hosts no job held; a first step tells of the beginning."""
        record = self._schedule.record
        rows = np.flatnonzero((record.start_time < end) & ~(record.finish_time <= begin))
        held = np.array([len(record.hosts(row) & hosts) for row in rows.tolist()], dtype=np.int64)
        start: Floats = np.maximum(record.start_time[rows], begin)
        finish = record.finish_time[rows]
        ended = finish < end
        time = np.concatenate([[begin], start, finish[ended]])
        change = np.concatenate([[len(hosts)], -held, held[ended]])
        dates, place = np.unique(time, return_inverse=True)
        changes = np.bincount(place, weights=change, minlength=len(dates)).astype(np.int64)
        return HostSteps(dates, np.maximum(np.cumsum(changes), 0), 0)
