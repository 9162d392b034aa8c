"""Classes of a site's jobs that answers are given for: all, by partition, size and account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.slurm.site.site import SlurmSite

#: Largest hosts of a job in each class of sizes; there is one more above them.
SIZE_BOUNDS = (1, 4, 16, 64, 256, 1024)
KINDS = ("all", "partition", "size", "account")


@dataclass(frozen=True, slots=True)
class JobClass:
    """Jobs that have something in common, by their positions in the workload."""

    kind: str
    name: str
    jobs: npt.NDArray[np.intp]


def job_classes(site: SlurmSite) -> list[JobClass]:
    """Return the classes of a site: all jobs, then by partition, size and account."""
    partitions = list(map(site.partition_of, site.requests))
    sizes = [size_class(n) for n in site.workload.n_hosts.tolist()]
    accounts = [account or "(none)" for account in site.requests.column("account")]
    unit = "node" if site.settings.select.is_linear else "core"
    order = {partition.name: i for i, partition in enumerate(site.settings.partitions)}
    return [
        JobClass("all", "all", np.arange(len(site.workload))),
        *_classes("partition", partitions, sorted(set(partitions), key=lambda p: order.get(p, -1))),
        *_classes("size", [_sized(s, unit) for s in sizes], [_sized(s, unit) for s in _SIZES]),
        *_classes("account", accounts, sorted(set(accounts))),
    ]


def size_class(n_hosts: int) -> str:
    """Return the name of the class of sizes that a number of hosts is in."""
    return _SIZES[int(np.searchsorted(SIZE_BOUNDS, n_hosts))]


def _sized(name: str, unit: str) -> str:
    return f"{name} {unit}" if name == "1" else f"{name} {unit}s"


def _names() -> tuple[str, ...]:
    lows = [1, *(bound + 1 for bound in SIZE_BOUNDS)]
    pairs = zip(lows, SIZE_BOUNDS, strict=False)
    return (*(str(a) if a == b else f"{a}-{b}" for a, b in pairs), f"{lows[-1]}+")


_SIZES = _names()


def _classes(kind: str, labels: Sequence[str], names: Sequence[str]) -> list[JobClass]:
    jobs: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        jobs.setdefault(label, []).append(i)
    return [JobClass(kind, name, np.array(jobs[name])) for name in names if name in jobs]
