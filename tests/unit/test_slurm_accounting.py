"""Fair share, priorities and limits through the model, worked out by hand."""

from __future__ import annotations

import pytest

from noctule.errors import InputError
from noctule.profile import Delay
from noctule.slurm.conf.associations import parse_associations
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.requests import Request, Requests
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import SlurmModel, simulate_slurm
from noctule.workload import Job, Workload
from noctule.workload import Request as HostRequest

LINEAR = """
ClusterName=test
SelectType=select/linear
NodeName=n[1-2] CPUs=4 RealMemory=1000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE
AccountingStorageType=accounting_storage/slurmdbd
"""
ACCOUNTS = """
Cluster - 'test':Fairshare=1
Parent - 'root'
User - 'root':Fairshare=1
Account - 'lab':Fairshare=10
Parent - 'lab'
User - 'ann':Fairshare=1
User - 'bob':Fairshare=1
"""


def simulated(conf, jobs, accounts=ACCOUNTS, **changes):
    """Run (user, submit time, runtime, changes of the request).

    The run begins at a date of the epoch, as those of sites do.
    """
    workload = Workload.from_jobs(
        Job(id=i, submit_time=submit, request=HostRequest(1), profile=Delay(runtime))
        for i, (_, submit, runtime, _) in enumerate(jobs)
    )
    requests = Requests.of(
        Request(**{"user": user, "limit": 10, "max_nodes": 1, **asked})
        for user, _, _, asked in jobs
    )
    return simulate_slurm(
        workload,
        settings_from(parse_conf(conf)),
        requests,
        associations=None if accounts is None else parse_associations(accounts),
        clocks=Clocks(**{"first_tick": 0.5, "tick_period": 1.0, "first_backfill": 1e6, **changes}),
        epoch=1_700_000_000,
    )


def starts(conf, jobs, accounts=ACCOUNTS, **changes):
    """Run jobs and return whole starts in order."""
    schedule, model = simulated(conf, jobs, accounts, **changes)
    rows = zip(
        schedule.column("job_id").tolist(), schedule.column("start_time").tolist(), strict=True
    )
    return [int(start) for _, start in sorted(rows)], model


FAIR = LINEAR.replace("n[1-2]", "n1") + "PriorityType=priority/multifactor\nPriorityCalcPeriod=1\n"


def test_who_used_less_comes_first_once_priorities_are_computed_afresh():
    # One node. ann's first job runs from 3 to 103; at 60 she has used 57 s, bob nothing, so that
    # his factor is 3/3 (with root's) and hers 1/3: bob is next, though he came last.
    jobs = [
        ("ann", 0.0, 100.0, {}),
        ("ann", 1.0, 20.0, {}),
        ("bob", 2.0, 20.0, {}),
    ]
    conf = FAIR + "PriorityWeightFairshare=1000\n"
    fair, _ = starts(conf, jobs)
    assert fair[2] < fair[1]
    # Without the accounts nothing is shared, and the model says so.
    first_come, model = starts(conf, jobs, accounts=None)
    assert first_come[1] < first_come[2]
    assert any("accounts were not given" in note for note in model.notes)


def test_priorities_before_the_first_computation_are_those_of_submission():
    jobs = [("ann", 0.0, 100.0, {}), ("ann", 1.0, 20.0, {}), ("bob", 2.0, 20.0, {})]
    conf = FAIR + "PriorityWeightFairshare=1000\n"
    late, _ = starts(conf, jobs, first_calculation=110.0)
    assert late[1] < late[2]


def test_large_jobs_come_first_where_size_counts():
    conf = LINEAR + "PriorityType=priority/multifactor\nPriorityWeightJobSize=1000\n"
    jobs = [
        ("ann", 0.0, 50.0, {"min_nodes": 2, "max_nodes": 2}),
        ("ann", 5.0, 50.0, {}),
        ("ann", 6.0, 50.0, {"min_nodes": 2, "max_nodes": 2}),
    ]
    large, _ = starts(conf, jobs)
    assert large[2] < large[1]


def test_a_limit_holds_a_user_back_but_nobody_else():
    conf = LINEAR + "AccountingStorageEnforce=limits\n"
    jobs = [("ann", 0.0, 50.0, {}), ("ann", 0.1, 50.0, {}), ("bob", 0.2, 50.0, {})]
    free, _ = starts(conf, jobs, ACCOUNTS + "QOS - 'normal'\n")
    limited, _ = starts(conf, jobs, ACCOUNTS + "QOS - 'normal':MaxJobsPerUser=1\n")
    assert free[0] == free[1] < free[2]
    assert limited[0] == limited[2] < limited[1]
    # Not enforced, not counted.
    assert starts(LINEAR, jobs, ACCOUNTS + "QOS - 'normal':MaxJobsPerUser=1\n")[0] == free


def test_a_job_that_a_limit_holds_back_closes_nothing_though_its_nodes_are_busy():
    # ann has one of two nodes, and may have two: three are too many, whoever has the other one
    conf = LINEAR + "AccountingStorageEnforce=limits\n"
    both = {"min_nodes": 2, "max_nodes": 2}
    jobs = [("ann", 0.0, 50.0, {}), ("ann", 5.0, 50.0, both), ("bob", 6.0, 50.0, {})]
    free, _ = starts(conf, jobs)
    limited, _ = starts(
        conf, jobs, ACCOUNTS.replace("'ann':Fairshare=1", "'ann':Fairshare=1:GrpTRES=node=2")
    )
    assert free[2] > free[1] > 50
    assert limited[2] < 10
    assert limited[1] > 50


def test_backfilling_plans_nothing_for_a_job_that_a_limit_holds_back_now():
    # Four nodes: ann has n1 for an hour, bob n2 for ten minutes, and his job of four nodes, next in
    # the queue, closes the partition to the main scheduler. ann's job of three could have n[2-4] in
    # ten minutes, but she may have three nodes in all: bob's half hour on n3 need not wait for it.
    conf = LINEAR.replace("n[1-2]", "n[1-4]") + "AccountingStorageEnforce=limits\n"
    jobs = [
        ("ann", 0.0, 3600.0, {"limit": 60}),
        ("bob", 0.1, 600.0, {"limit": 10}),
        ("bob", 4.0, 60.0, {"limit": 5, "min_nodes": 4, "max_nodes": 4}),
        ("ann", 4.1, 60.0, {"limit": 5, "min_nodes": 3, "max_nodes": 3}),
        ("bob", 4.2, 1800.0, {"limit": 30}),
    ]
    bounded = ACCOUNTS.replace("'ann':Fairshare=1", "'ann':Fairshare=1:GrpTRES=node=3")
    free, _ = starts(conf, jobs, first_backfill=10.0)
    limited, _ = starts(conf, jobs, bounded, first_backfill=10.0)
    stopping = conf + "SchedulerParameters=assoc_limit_stop\n"
    stopped, _ = starts(stopping, jobs, bounded, first_backfill=10.0)
    assert free[4] > free[3] > 600
    assert limited[4] == 10
    assert limited[3] > 3600
    assert stopped[4] > 600


def test_limits_of_accounts_count_all_who_are_in_them():
    conf = LINEAR + "AccountingStorageEnforce=limits\n"
    jobs = [("ann", 0.0, 50.0, {}), ("bob", 0.1, 50.0, {})]
    accounts = ACCOUNTS.replace("'lab':Fairshare=10", "'lab':Fairshare=10:GrpTRES=node=1")
    limited, _ = starts(conf, jobs, accounts)
    assert limited[1] >= limited[0] + 50


def test_a_partition_has_the_limits_of_its_qos():
    conf = LINEAR.replace("MaxTime=INFINITE", "MaxTime=INFINITE QOS=few")
    conf += "AccountingStorageEnforce=limits\n"
    jobs = [("ann", 0.0, 50.0, {}), ("bob", 0.1, 50.0, {})]
    limited, _ = starts(conf, jobs, ACCOUNTS + "QOS - 'few':GrpJobs=1\n")
    assert limited[1] >= limited[0] + 50
    with pytest.raises(InputError, match="main: QOS 'few' is not among those"):
        starts(conf, jobs, ACCOUNTS)


def test_what_nothing_counts_is_said():
    settings = settings_from(parse_conf(LINEAR + "AccountingStorageEnforce=limits\n"))
    accounts = parse_associations(
        ACCOUNTS + "QOS - 'normal':GrpTRES=energy=5,cpu=4:Flags=PartitionTimeLimit\n"
    )
    model = SlurmModel(settings, Requests.of([Request(user="eve")]), associations=accounts)
    assert model.notes == (
        "QOS normal: flag PartitionTimeLimit is left out",
        "limits and weights of energy are left out: nothing counts them",
        "1 jobs have no association: no limit of accounts, no fair share",
    )
    with pytest.raises(InputError, match="job 1 of the workload: QOS 'gold' is not among those"):
        SlurmModel(settings, Requests.of([Request(qos="gold")]), associations=accounts)


SHARED = """
ClusterName=test
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=n[1-2] CPUs=4 CoresPerSocket=4 RealMemory=1000 Gres=gpu:a100:2
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE
"""


@pytest.mark.parametrize(
    ("asked", "together"),
    [
        ({"tasks": 4, "memory_mb": 1}, 2),  # a node each
        ({"tasks": 2, "memory_mb": 1}, 4),
        ({"tasks": 1, "memory_mb": 400}, 4),
        ({"tasks": 1, "memory_mb": 600}, 2),
        ({"tasks": 3, "memory_mb": 100, "memory_is_per_cpu": True}, 2),
        ({"tasks": 1, "memory_mb": 1, "exclusive": True}, 2),
    ],
)
def test_as_many_jobs_start_together_as_cores_and_memory_allow(asked, together):
    jobs = [("ann", 0.0, 50.0, {"max_nodes": None, **asked})] * 6
    found, _ = starts(SHARED, jobs, accounts=None)
    assert found.count(found[0]) == together


def test_limits_that_refuse_jobs_are_named_with_the_jobs_that_they_refused():
    # ann's second and third jobs are over her own limit, bob's third over that of the QOS
    users = ["ann", "ann", "bob", "ann", "bob", "bob"]
    accounts = ACCOUNTS.replace("'ann':", "'ann':MaxSubmitJobs=1:")
    schedule, _ = simulated(
        LINEAR + "AccountingStorageEnforce=limits\n",
        [(user, 0.1 * i, 50.0, {}) for i, user in enumerate(users)],
        accounts + "QOS - 'normal':MaxSubmitJobsPerUser=2\n",
    )
    assert [note for note in schedule.notes if "refused" in note] == [
        "slurm: 3 jobs: exceed limits of accounting, and were refused: "
        "AssocMaxSubmitJobLimit of ann (2), QOSMaxSubmitJobPerUserLimit of normal (1)"
    ]
    named = dict(zip(schedule.jobs["job_id"], schedule.jobs["metadata"], strict=True))
    assert [named[i] for i in (1, 3, 5)] == [
        *["AssocMaxSubmitJobLimit of ann"] * 2,
        "QOSMaxSubmitJobPerUserLimit of normal",
    ]
