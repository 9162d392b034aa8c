"""What the schedulers of the model had against a job, from the reasons that its passes noted.

A main pass that closes a partition before a job, or ends before it, says nothing of the job itself;
then what the backfill cycle found counts, and the other way round.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from noctule.columns import Floats
from noctule.slurm.model.policy import ReasonChange
from noctule.waits.causes import Cause

_VAGUE = ("priority", "not tested")
_HOLDS = {
    "limit": (Cause.LIMIT, "{}"),
    "licenses": (Cause.LIMIT, "licences of {}"),
    "partition": (Cause.NOT_ELIGIBLE, "partition {} is closed to it"),
}


class Reasons:
    """Reasons of jobs by date."""

    def __init__(
        self, changes: Callable[[int], Sequence[ReasonChange]], main: Floats, backfill: Floats
    ) -> None:
        """Take the changes of each job's reason and the dates of all passes."""
        self._changes = changes
        self._passes = {True: backfill, False: main}
        self._known: dict[int, dict[bool, list[ReasonChange]]] = {}

    def dates(self, job: int) -> Iterator[float]:
        """Yield the dates at which a reason may change."""
        for changes in self._of(job).values():
            yield from (change.date for change in changes)

    def hold(self, job: int, date: float) -> tuple[Cause, str] | None:
        """Return what kept a job whatever nodes were free: a limit, licences, its partition."""
        told = self._told(job, date)
        if told is None or told.reason not in _HOLDS:
            return None
        cause, detail = _HOLDS[told.reason]
        return cause, detail.format(told.detail)

    def untested(self, job: int, date: float) -> str | None:
        """Return the parameters by which no pass came to a job, if none did."""
        told = self._last(job, date)
        if not told or any(one.reason != "not tested" for one in told):
            return None
        return ", ".join(dict.fromkeys(one.detail for one in told))

    def holds(self, job: int) -> list[tuple[float, float]]:
        """Return the stretches in which a job was held whatever nodes were free."""
        dates = sorted({*self.dates(job)})
        return [one for one in pairwise([*dates, math.inf]) if self.hold(job, one[0]) is not None]

    def _told(self, job: int, date: float) -> ReasonChange | None:
        """Return what the last pass found that came to the job."""
        told = self._last(job, date)
        return next((one for one in told if one.reason not in _VAGUE), None)

    def _last(self, job: int, date: float) -> list[ReasonChange]:
        """Return what the last main pass and the last backfill cycle found, the later one first."""
        found = []
        for is_backfill, changes in self._of(job).items():
            i = bisect_right(changes, date, key=lambda change: change.date)
            if i:
                passes = self._passes[is_backfill]
                last = int(np.searchsorted(passes, date, side="right"))
                found.append((float(passes[last - 1]), changes[i - 1]))
        found.sort(key=lambda one: -one[0])
        return [change for _, change in found]

    def _of(self, job: int) -> dict[bool, list[ReasonChange]]:
        if job not in self._known:
            split: dict[bool, list[ReasonChange]] = {True: [], False: []}
            for change in self._changes(job):
                split[change.kind == "backfill"].append(change)
            self._known[job] = split
        return self._known[job]
