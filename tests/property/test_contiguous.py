"""Contiguous allocation, against plain references and by what must always hold."""

from __future__ import annotations

import pytest
from contiguous_reference import ContiguousConservative, ContiguousEasy
from random_workloads import difference, random_workload

import noctule as nt
from noctule.testing import check_schedule


@pytest.mark.parametrize(
    ("name", "reference"), [("easy", ContiguousEasy), ("conservative", ContiguousConservative)]
)
def test_native_backfilling_on_neighbours_is_the_plain_one(name, reference):
    for seed in range(400):
        n_hosts = (3, 6, 9, 70)[seed % 4]
        workload = random_workload(seed, n_jobs=4 + seed % 25, n_hosts=n_hosts)
        platform = nt.Platform.homogeneous(n_hosts)
        native = nt.simulate(platform, workload, f"{name}(allocation=contiguous)")
        assert difference(native, nt.simulate(platform, workload, reference())) is None, seed


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
def test_every_job_gets_one_run_of_hosts_of_its_own(policy):
    for seed in range(50):
        workload = random_workload(seed, n_jobs=60, n_hosts=20)
        platform = nt.Platform.homogeneous(20)
        schedule = nt.simulate(platform, workload, f"{policy}(allocation=contiguous)")
        assert all(len(hosts.intervals()) == 1 for hosts in schedule.column("hosts"))
        assert check_schedule(schedule) == []
