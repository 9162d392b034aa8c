"""Allocation in groups of hosts, against plain references and by what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from local_reference import BEST_EFFORT, LOCAL, BestEffort
from random_workloads import difference, random_workload

import noctule as nt
from noctule.network import NumberedNames
from noctule.platform import HostKind, Hosts
from noctule.testing import check_schedule


def random_platform(seed: int) -> nt.Platform:
    """Draw hosts in up to six zones, in runs or scattered."""
    rng = np.random.default_rng(seed)
    n_hosts = int(rng.choice([3, 6, 9, 24, 70]))
    n_groups = int(rng.integers(1, min(6, n_hosts) + 1))
    zone_of = rng.integers(0, n_groups, n_hosts)
    if rng.random() < 0.5:
        zone_of = np.sort(zone_of)
    kinds = [HostKind(zone=("all", f"zone{i}")) for i in range(n_groups)]
    names = NumberedNames("host", (range(n_hosts),))
    return nt.Platform(Hosts(names, kinds, zone_of.astype(np.int32)))


def groups_of(platform: nt.Platform) -> list[set[int]]:
    zones: dict[tuple[str, ...], set[int]] = {}
    for host in platform.hosts:
        zones.setdefault(host.zone, set()).add(host.id)
    return list(zones.values())


@pytest.mark.parametrize("name", LOCAL)
def test_native_policies_in_groups_are_the_plain_ones(name):
    for seed in range(120):
        platform = random_platform(seed)
        workload = random_workload(seed, n_jobs=4 + seed % 25, n_hosts=platform.n_hosts)
        native = nt.simulate(platform, workload, f"{name}(allocation=local)")
        assert difference(native, nt.simulate(platform, workload, LOCAL[name]())) is None, seed


@pytest.mark.parametrize("rule", ["contiguous", "local"])
@pytest.mark.parametrize("name", BEST_EFFORT)
def test_best_effort_changes_the_hosts_and_nothing_else(name, rule):
    for seed in range(60):
        platform = random_platform(seed)
        workload = random_workload(seed, n_jobs=4 + seed % 25, n_hosts=platform.n_hosts)
        native = nt.simulate(platform, workload, f"{name}(allocation=best_effort_{rule})")
        plain = nt.simulate(platform, workload, BestEffort(BEST_EFFORT[name](), rule))
        assert difference(native, plain) is None, seed
        basic = nt.simulate(platform, workload, name)
        assert difference(native, basic) in (None, "hosts"), seed


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
def test_every_job_stays_in_one_group_or_is_rejected(policy):
    for seed in range(60):
        platform = random_platform(seed)
        groups = groups_of(platform)
        workload = random_workload(seed, n_jobs=60, n_hosts=platform.n_hosts)
        schedule = nt.simulate(platform, workload, f"{policy}(allocation=local)")
        assert check_schedule(schedule) == []
        most = max(map(len, groups))
        rows = zip(
            schedule.column("hosts"),
            schedule.column("state").tolist(),
            schedule.column("n_hosts").tolist(),
            strict=True,
        )
        for hosts, state, n in rows:
            assert (state == "rejected") == (n > most)
            assert n > most or any(group.issuperset(hosts) for group in groups)


@pytest.mark.parametrize("policy", ["easy", "conservative", "replanning"])
def test_hosts_in_epilogues_are_waited_for(policy):
    for seed in range(40):
        platform = random_platform(seed)
        workload = random_workload(seed, n_jobs=40, n_hosts=platform.n_hosts)
        schedule = nt.simulate(
            platform, workload, f"{policy}(allocation=local)", launch_delay=1, epilogue_delay=2
        )
        assert not {"waiting", "running"} & set(schedule.column("state").tolist())
