"""FCFS, filler and EASY count hosts where no window is near: the same as naming them always."""

from __future__ import annotations

import numpy as np
import pytest
from random_workloads import difference, random_workload

import noctule as nt
from noctule import HostSet
from noctule.external_events import ExternalEvents
from noctule.policies.around_windows import (
    EasyAroundWindows,
    FcfsAroundWindows,
    FillerAroundWindows,
)
from noctule.synthetic import Failures
from noctule.windows import Maintenance, Reservation, Windows

TWINS = {"fcfs": FcfsAroundWindows, "filler": FillerAroundWindows, "easy": EasyAroundWindows}


def some_hosts(rng: np.random.Generator, n_hosts: int) -> HostSet:
    """Draw a run of hosts, or scattered ones."""
    first, last = sorted(rng.integers(0, n_hosts, 2).tolist())
    scattered = rng.choice(n_hosts, last - first + 1, replace=False).tolist()
    return HostSet(scattered if rng.random() < 0.3 else range(first, last + 1))


def random_windows(rng: np.random.Generator, workload: nt.Workload, n_hosts: int) -> Windows:
    """Draw maintenances over the run and beyond, some announced late, and one reservation."""
    span = int(workload.submit_time.max()) + 60
    found: list[Maintenance | Reservation] = []
    for _ in range(rng.integers(1, 5)):
        start = int(rng.integers(0, 2 * span))
        known = int(rng.choice([0, start // 2]))
        end = start + int(rng.choice([1, 10, 60]))
        hosts = some_hosts(rng, n_hosts)
        found.append(Maintenance(hosts, start, end, announced=known, kills=rng.random() < 0.3))
    if rng.random() < 0.4:
        start = int(rng.integers(0, span))
        mine = rng.choice(workload.job_ids, 3, replace=False).tolist()
        found.append(Reservation(some_hosts(rng, n_hosts), start, start + 50, mine))
    return Windows(found)


def random_failures(rng: np.random.Generator, n_hosts: int, seed: int) -> ExternalEvents | None:
    """Draw a few failures, or none."""
    if rng.random() < 0.7:
        return None
    return Failures.draw(n_hosts, mtbf=40 * n_hosts, mttr=15, seed=seed, until=300).events()


@pytest.mark.parametrize("name", TWINS)
def test_policies_that_count_hosts_are_those_that_name_them(name):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n_hosts = int(rng.choice([3, 24, 70, 130]))
        workload = random_workload(seed, n_jobs=10 + seed % 30, n_hosts=n_hosts)
        kept = {
            "windows": random_windows(rng, workload, n_hosts),
            "on_failure": "resubmit",
            "max_attempts": 3,
        }
        failures = random_failures(rng, n_hosts, seed)
        platform = nt.Platform.homogeneous(n_hosts)
        native = nt.simulate(platform, workload, name, failures, **kept)
        named = nt.simulate(platform, workload, TWINS[name](), failures, **kept)
        assert difference(native, named) is None, seed
