"""Who stood before whom in the queue, as far as a schedule and the requests tell it.

With priority/basic the order is known: tier of the partition, then asked or drawn priority, then
submission. Other priorities change over time, and what is left of them is who started first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.slurm.site.hosts import partitions_of
from noctule.slurm.site.site import SlurmSite

FIRST_PRIORITY = 2**32 - 65_537


class WaitingOrder:
    """Ranks of jobs; a lower one stands further in front."""

    def __init__(self, site: SlurmSite, start: Floats) -> None:
        """Rank all jobs once."""
        self.is_told = site.settings.priority.priority_type == "priority/basic"
        requests = site.requests
        found = [partitions_of(site.settings, names) for names in requests.column("partitions")]
        self.partitions = [frozenset(p.name for p in listed) for listed in found]
        tiers = [max((p.priority_tier for p in listed), default=0) for listed in found]
        n_jobs = len(tiers)
        if self.is_told:
            asked = zip(requests.column("priority"), requests.column("nice"), strict=True)
            second: Sequence[float] = [
                -(FIRST_PRIORITY - i - nice if priority is None else priority)
                for i, (priority, nice) in enumerate(asked)
            ]
        else:
            second = [math.inf if math.isnan(date) else date for date in start.tolist()]
        keys = sorted(range(n_jobs), key=lambda i: (-tiers[i], second[i], i))
        self.rank: npt.NDArray[np.int64] = np.empty(n_jobs, dtype=np.int64)
        self.rank[keys] = np.arange(n_jobs)
        nodes = {p.name: frozenset(p.nodes) for p in site.settings.partitions}
        self._meets = {
            one: frozenset(other for other in nodes if nodes[one] & nodes[other]) for one in nodes
        }

    def ahead_of(self, job: int, candidates: Sequence[int]) -> list[int]:
        """Return those of the candidates that stand before a job and may use its nodes."""
        near = frozenset().union(*(self._meets[name] for name in self.partitions[job]))
        return [
            other
            for other in candidates
            if self.rank[other] < self.rank[job] and not near.isdisjoint(self.partitions[other])
        ]
