"""Until when a job could not have started whatever the machine did: dates, holds, dependencies."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from noctule.columns import Floats
from noctule.slurm.jobs.requests import SlurmDependency
from noctule.slurm.site.site import SlurmSite
from noctule.waits.causes import Cause

Told = tuple[Cause, str, tuple[int, ...]]


class Eligibility:
    """What keeps jobs from being looked at, in a schedule."""

    def __init__(self, site: SlurmSite, start: Floats, end: Floats) -> None:
        """Take a site and when its jobs ran."""
        self._site = site
        self._start, self._end = start, end
        self._position = {str(j): i for i, j in enumerate(site.workload.job_ids.tolist())}
        self._arrays: dict[str, list[int]] = {}
        for i, array in enumerate(site.requests.column("array")):
            if array:
                self._arrays.setdefault(array, []).append(i)
        self._columns = {
            name: site.requests.column(name)
            for name in ("begin", "release", "dependencies", "any_dependency", "array_throttle")
        }
        self._dates: dict[int, float] = {}

    def cause(self, job: int, date: float) -> Told | None:
        """Return what keeps a job at a date, if not the machine."""
        begin, release = self._columns["begin"][job], self._columns["release"][job]
        if begin is not None and date < begin:
            return Cause.NOT_ELIGIBLE, "its begin time lies ahead", ()
        if release is not None and date < release:
            return Cause.HELD, "", ()
        others = self._waits_for(job)
        if date < self._met(job):
            late = tuple(other for dependency, other, met in others if not met <= date)
            kinds = dict.fromkeys(d.kind for d, _, met in others if not met <= date)
            return Cause.DEPENDENCY, ", ".join(kinds), late
        running = self._running_tasks(job, date)
        throttle = self._columns["array_throttle"][job]
        if throttle and len(running) >= throttle:
            return Cause.LIMIT, f"{throttle} tasks of its array at a time", tuple(running[:3])
        return None

    def date(self, job: int) -> float:
        """Return from when on a job was eligible, but for limits of its array."""
        if job not in self._dates:
            named = (self._columns["begin"][job], self._columns["release"][job])
            dates = [date for date in named if date is not None]
            submit = float(self._site.workload.submit_time[job])
            self._dates[job] = max(submit, self._met(job), *dates)
        return self._dates[job]

    def dates(self, job: int) -> Iterator[float]:
        """Yield the dates at which the cause may change."""
        yield from (d for d in (self._columns["begin"][job], self._columns["release"][job]) if d)
        yield from (met for _, _, met in self._waits_for(job))
        if self._columns["array_throttle"][job]:
            for other in self._arrays[self._site.requests.column("array")[job]]:
                yield float(self._start[other])
                yield float(self._end[other])

    def _met(self, job: int) -> float:
        """Return when all of its dependencies are met, or the one that is enough."""
        dates = [met for _, _, met in self._waits_for(job)]
        if not dates:
            return -math.inf
        return min(dates) if self._columns["any_dependency"][job] else max(dates)

    def _waits_for(self, job: int) -> list[tuple[SlurmDependency, int, float]]:
        found = []
        for dependency in self._columns["dependencies"][job]:
            for other in self._others(dependency):
                dates = self._start if dependency.kind == "after" else self._end
                date = float(dates[other]) + 60.0 * dependency.minutes
                found.append((dependency, other, math.inf if math.isnan(date) else date))
        return found

    def _others(self, dependency: SlurmDependency) -> list[int]:
        if dependency.job_id in self._position:
            return [self._position[dependency.job_id]]
        return self._arrays.get(dependency.job_id.removesuffix("_*"), [])

    def _running_tasks(self, job: int, date: float) -> list[int]:
        if not self._columns["array_throttle"][job]:
            return []
        tasks = np.array(self._arrays[self._site.requests.column("array")[job]])
        running = (self._start[tasks] <= date) & ~(self._end[tasks] <= date)
        return [int(task) for task in tasks[running]]
