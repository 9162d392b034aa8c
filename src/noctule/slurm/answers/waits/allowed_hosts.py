"""Which hosts a job may have at a date: its partitions, its constraints, outages and windows."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from noctule.slurm.jobs.constraints import nodes_with
from noctule.slurm.site.hosts import first_hosts, hosts_of_node, partitions_of
from noctule.slurm.site.site import SlurmSite
from noctule.windows import AnyWindow, Reservation, Windows

Mask = npt.NDArray[np.bool_]


class AllowedHosts:
    """Masks over the hosts of a site."""

    def __init__(self, site: SlurmSite) -> None:
        """Prepare outages and windows once for all jobs."""
        self.site = site
        self.n_hosts = site.platform.n_hosts
        self._first = first_hosts(site.settings)
        self._count = [hosts_of_node(site.settings, node) for node in site.settings.nodes]
        self._up_dates, self._up_masks = self._outages()
        windows = site.extras.reservations or Windows()
        self._windows = [(w, self._mask(w)) for w in windows.on(self.n_hosts)]
        self.of_request = lru_cache(maxsize=256)(self._of_request)

    def of(self, job: int) -> Mask:
        """Return the hosts that a job may have whenever they are free."""
        column = self.site.requests.column
        return self.of_request(
            tuple(column("partitions")[job]),
            column("features")[job],
            column("excluded_nodes")[job],
        )

    def up(self, date: float) -> Mask:
        """Return the hosts that are not out of order."""
        return self._up_masks[bisect_right(self._up_dates, date)]

    def closed(self, job: int, date: float) -> tuple[Mask, str]:
        """Return the hosts that windows keep from a job that would start now, and their names."""
        blocked = np.zeros(self.n_hosts, dtype=bool)
        names = []
        limit = float(self.site.workload.walltime[job])
        for window, mask in self._windows:
            if window.start < date + limit and date < window.end and not self._is_of(job, window):
                blocked |= mask
                names.append(window.name)
        return blocked, ", ".join(names)

    def dates(self, job: int) -> Iterator[float]:
        """Yield the dates at which hosts come, go, or are kept for windows."""
        yield from self._up_dates
        limit = float(self.site.workload.walltime[job])
        for window, _ in self._windows:
            yield window.end
            if math.isfinite(limit):
                yield window.start - limit

    def _of_request(self, partitions: tuple[str, ...], features: str, excluded: str) -> Mask:
        settings = self.site.settings
        nodes = {i for p in partitions_of(settings, partitions) for i in p.nodes}
        if features:
            nodes &= set(nodes_with(features, settings.nodes, f"constraint {features}"))
        if excluded:
            nodes -= set(settings.node_table.indices(excluded, "excluded nodes"))
        mask = np.zeros(self.n_hosts, dtype=bool)
        for i in nodes:
            mask[self._first[i] : self._first[i] + self._count[i]] = True
        return mask

    def _is_of(self, job: int, window: AnyWindow) -> bool:
        if not isinstance(window, Reservation):
            return False
        workload = self.site.workload
        job_id = str(workload.job_ids[job])
        return any(str(named) == job_id for named in window.jobs) or (
            self.site.requests.column("user")[job] in window.users
        )

    def _mask(self, window: AnyWindow) -> Mask:
        mask = np.zeros(self.n_hosts, dtype=bool)
        assert not isinstance(window.hosts, int)  # Windows.on has named them
        for first, last in window.hosts.intervals():
            mask[first : last + 1] = True
        return mask

    def _outages(self) -> tuple[list[float], list[Mask]]:
        mask = np.ones(self.n_hosts, dtype=bool)
        dates: list[float] = []
        masks = [mask]
        for event in self.site.extras.outages or ():
            if event.hosts is None:
                continue
            mask = mask.copy()
            is_back = event.kind in ("restored", "available")
            for first, last in event.hosts.intervals():
                mask[first : last + 1] = is_back
            dates.append(event.time)
            masks.append(mask)
        return dates, masks
