"""When and where the jobs of a site ran, simulated or recorded, and which hosts that left free."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.slurm.answers.waits.reasons import Reasons
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.jobs.stamps import Stamps
from noctule.slurm.model.site_run import SiteRun
from noctule.slurm.site.extras import SiteMap
from noctule.slurm.site.site import SlurmSite

Hosts = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """When and where jobs ran, and who started them.

    `main` and `backfill` are the dates of passes, `reasons` what they had against jobs; None where
    they are not known. `boots` are dates at which jobs were given nodes that had to boot.
    """

    start: Floats
    end: Floats
    hosts: Callable[[int], Hosts]
    scheduler: Sequence[str]
    main: Floats | None = None
    backfill: Floats | None = None
    reasons: Reasons | None = None
    boots: Mapping[int, float] = field(default_factory=dict)


def simulated_lifetimes(run: SiteRun) -> Lifetimes:
    """Return what a run tells; its passes must have been kept."""

    def hosts(job: int) -> Hosts:
        ranges = [np.arange(first, last + 1) for first, last in run.hosts(job)]
        return np.concatenate(ranges) if ranges else np.empty(0, dtype=np.intp)

    main, backfill = run.main_passes, run.backfill_passes
    reasons = None if run.reasons is None else Reasons(run.reasons, main, backfill)
    return Lifetimes(run.start, run.end, hosts, run.scheduler, main, backfill, reasons, run.boots)


def recorded_lifetimes(site: SlurmSite) -> Lifetimes:
    """Return what accounting tells; it knows nothing of passes, nor which cores a job had."""
    recorded = site.recorded
    if recorded is None:
        raise InputError(f"{site.workload.name}: the jobs have no recorded starts")
    hosts_of = SiteMap(site.settings, site.origin, Stamps(None))

    def hosts(job: int) -> Hosts:
        names = expand_hosts(recorded.nodes[job]) if recorded.nodes[job] else []
        return np.array(hosts_of.hosts(names), dtype=np.intp)

    def dates(column: Sequence[float | None]) -> Floats:
        return np.array([math.nan if date is None else date for date in column])

    return Lifetimes(dates(recorded.start), dates(recorded.end), hosts, recorded.scheduler)


class BusyHosts:
    """The hosts that others hold while a job waits, from date to date."""

    def __init__(
        self,
        lives: Lifetimes,
        job: int,
        begin: float,
        end: float,
        allowed: npt.NDArray[np.bool_],
    ) -> None:
        """Find the jobs that run meanwhile on any of the allowed hosts."""
        runs = (lives.start < end) & ~(lives.end <= begin)
        runs[job] = False
        self._hosts: dict[int, Hosts] = {}
        self._changes: list[tuple[float, int, int]] = []  # date, -1 for an end or 1, job
        for other in np.flatnonzero(runs).tolist():
            hosts = lives.hosts(other)
            hosts = hosts[allowed[hosts]]
            if len(hosts):
                self._hosts[other] = hosts
                self._changes.append((float(lives.start[other]), 1, other))
                end_of_run = float(lives.end[other])
                if not math.isnan(end_of_run):
                    self._changes.append((end_of_run, -1, other))
        self._changes.sort()
        self._next = 0
        self._n_jobs = np.zeros(len(allowed), dtype=np.int64)
        self._holding: dict[int, int] = {}

    def dates(self) -> Iterator[float]:
        """Yield the dates at which hosts are taken or given back."""
        return (date for date, _, _ in self._changes)

    def free(self, date: float) -> npt.NDArray[np.bool_]:
        """Return the hosts that nobody holds at a date, which is not before the one asked last."""
        while self._next < len(self._changes) and self._changes[self._next][0] <= date:
            _, change, job = self._changes[self._next]
            self._n_jobs[self._hosts[job]] += change
            if change > 0:
                self._holding[job] = len(self._hosts[job])
            else:
                del self._holding[job]
            self._next += 1
        return np.asarray(self._n_jobs == 0)

    def largest(self, n_jobs: int) -> list[int]:
        """Return the jobs that hold most hosts at the date asked last."""
        return sorted(self._holding, key=lambda job: (-self._holding[job], job))[:n_jobs]

    def last_release(self, date: float) -> float:
        """Return when hosts were last given back before a date."""
        ends = (when for when, change, _ in self._changes if change < 0 and when < date)
        return max(ends, default=-math.inf)
