"""The native policies and their readable Python versions give the same schedules, to the bit."""

from __future__ import annotations

import pytest
from random_workloads import difference, random_workload

import noctule as nt
from noctule.policies import Conservative, Easy, Fcfs, Filler
from noctule.policies.orders import NAMED_ORDERS

ORDERS = [*NAMED_ORDERS, "walltime + 3 * n_hosts", "-waiting_time / max(1, log(walltime))"]


@pytest.mark.parametrize(
    ("name", "policy"), [("easy", Easy), ("conservative", Conservative), ("filler", Filler)]
)
def test_a_thousand_random_workloads(name, policy):
    for seed in range(1000):
        n_hosts = (3, 4, 7, 16, 70)[seed % 5]
        workload = random_workload(seed, n_jobs=3 + seed % 40, n_hosts=n_hosts)
        platform = nt.Platform.homogeneous(n_hosts)
        order = ORDERS[seed % len(ORDERS)]
        native = nt.simulate(platform, workload, f'{name}(order="{order}")')
        python = nt.simulate(platform, workload, policy(order))
        assert difference(native, python) is None, (seed, order)


def test_first_come_first_served_on_a_thousand_random_workloads():
    for seed in range(1000):
        workload = random_workload(seed, n_jobs=5 + seed % 40, n_hosts=8)
        platform = nt.Platform.homogeneous(8)
        native = nt.simulate(platform, workload, "fcfs")
        assert difference(native, nt.simulate(platform, workload, Fcfs)) is None, seed


@pytest.mark.parametrize(
    ("n_jobs", "load"), [(1500, 12), pytest.param(2500, 6, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("order", ["fcfs", "sjf", "largest", "wfp3"])
@pytest.mark.parametrize(("name", "policy"), [("easy", Easy), ("filler", Filler)])
def test_deep_queues_where_the_native_ones_use_an_index(name, policy, order, n_jobs, load):
    # some 1000 jobs wait: more than the natives look through one by one, and than a group holds
    workload = random_workload(7, n_jobs=n_jobs, n_hosts=64, load=load)
    platform = nt.Platform.homogeneous(64)
    native = nt.simulate(platform, workload, f"{name}(order={order})")
    python = nt.simulate(platform, workload, policy(order))
    assert difference(native, python) is None


@pytest.mark.slow
@pytest.mark.parametrize("log", ["KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln"])
@pytest.mark.parametrize(
    ("name", "policy"),
    [("fcfs", Fcfs), ("easy", Easy), ("conservative", Conservative), ("filler", Filler)],
)
def test_real_logs(shared, log, name, policy):
    workload = nt.load_workload(shared / "traces" / f"{log}.swf.xz")
    platform = nt.Platform.homogeneous(100 if log.startswith("KTH") else 128)
    native = nt.simulate(platform, workload, name)
    assert difference(native, nt.simulate(platform, workload, policy)) is None
