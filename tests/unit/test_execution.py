"""What jobs do on a simulated machine: whole runs, small enough to be worked out by hand."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from execution_runs import CLUSTER, cluster_in, pair, simulate, starting
from small_runs import Scripted, finishes, hosts_of, job, starts, states

import noctule as nt
from noctule.errors import DecisionError, InputError
from noctule.messages import (
    CallAt,
    KillJob,
    SimulationStarted,
    StartJob,
    TimerFired,
)
from noctule.workload import (
    Compute,
    DataStaging,
    Delay,
    HomogeneousTask,
    ParallelTask,
    Sequence,
    StorageTransfer,
)


@pytest.fixture
def cluster(tmp_path: Path) -> nt.Platform:
    return cluster_in(tmp_path)


# Tasks


def test_a_task_computes_and_communicates_at_one_rate(cluster):
    # 500 flops at 100 a second take 5 s, 80 bytes over links of 10 bytes a second 8 s
    task = ParallelTask((500.0, 0.0), (0.0, 80.0, 0.0, 0.0))
    schedule = simulate(cluster, "fcfs", job("A", hosts=2, profile=task))
    assert finishes(schedule) == pytest.approx({"A": 8})


def test_jobs_on_hosts_of_their_own_share_what_is_between_them(cluster):
    # each job sends 100 bytes both ways over the one link of each of its hosts: 200 bytes a link
    task = HomogeneousTask(0.0, 100.0)
    jobs = [job(name, hosts=2, profile=task) for name in "AB"]
    assert finishes(simulate(cluster, "fcfs", *jobs)) == pytest.approx({"A": 20, "B": 20})


@pytest.mark.parametrize(
    ("amounts", "seconds"), [("each", 60), ("spread", 60 / 6), ("spread_flops", 60 / 3)]
)
def test_amounts_are_of_each_host_or_of_all(cluster, amounts, seconds):
    # three hosts: 150 bytes each way to each of two others, 600 over each link, unless spread
    task = HomogeneousTask(1.0, 150.0, amounts)
    schedule = simulate(cluster, "fcfs", job("A", hosts=3, profile=task))
    assert finishes(schedule) == pytest.approx({"A": seconds})


def test_max_min_fairness_is_another_way_to_share(tmp_path):
    # SimGrid lowers a fat pipe by the smallest of its users alone: the larger one overruns it
    text = CLUSTER.replace('"SHARED"/>', '"SHARED" bb_bw="1Bps" bb_sharing_policy="FATPIPE"/>')
    (tmp_path / "fat.xml").write_text(text)
    platform = nt.load_platform(tmp_path / "fat.xml")
    jobs = [
        job("A", hosts=2, profile=ParallelTask((0.0, 0.0), (0.0, 8.0, 0.0, 0.0))),
        job("B", hosts=2, profile=ParallelTask((1000.0, 0.0), (0.0, 1.0, 0.0, 0.0))),
    ]
    ours = [simulate(platform, "fcfs", *jobs, solver=solver) for solver in ("simgrid", "max-min")]
    assert finishes(ours[1]) == pytest.approx({"A": 8, "B": 10})
    assert finishes(ours[0])["A"] < 2


def test_a_task_on_hosts_without_a_route_is_free_and_noted(tmp_path):
    schedule = simulate(
        pair(tmp_path), "fcfs", job("A", hosts=2, profile=HomogeneousTask(100.0, 1e9))
    )
    assert finishes(schedule) == {"A": 10}
    assert len(schedule.notes) == 1
    assert "no route from a to b" in schedule.notes[0].replace("'", "")


# Sequences


def test_a_sequence_does_its_parts_in_order_and_again(cluster):
    parts = (Delay(3.0), ParallelTask((100.0,)))
    schedule = simulate(cluster, "fcfs", job("A", profile=Sequence(parts, repeat=3)))
    assert finishes(schedule) == pytest.approx({"A": 12})


def test_a_part_that_fails_ends_the_whole(cluster):
    parts = (Delay(3.0), Delay(2.0, return_code=7), Delay(50.0))
    schedule = simulate(cluster, "fcfs", job("A", profile=Sequence(parts)))
    assert finishes(schedule) == {"A": 5}
    assert states(schedule) == {"A": "failed"}


def test_a_killed_sequence_tells_how_far_it_came():
    seen = []
    inner = Sequence((Delay(1.0), Compute(10.0)), repeat=2)
    outer = Sequence((Delay(4.0), inner))

    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield StartJob("A", [0])
            yield CallAt(18.5)
        elif isinstance(events[0], TimerFired):
            yield KillJob("A")
        else:
            seen.extend(events[0].job.progress)

    schedule = simulate(
        nt.Platform.homogeneous(1), Scripted(decide), job("A", profile=outer), machine=True
    )
    assert finishes(schedule) == {"A": 18.5}
    assert states(schedule) == {"A": "killed"}
    # 4 s, then 1 s and 10 s, 1 s again, and 2.5 s of the second 10 s
    assert [(part, round(done, 9)) for _, part, done in seen] == [(1, 0.0), (3, 0.0), (0, 0.25)]


# Walltimes


@pytest.mark.parametrize("machine", [False, True])
@pytest.mark.parametrize(
    ("profile", "state"), [(Delay(10.0), "timed_out"), (Compute(10.0), "completed")]
)
def test_what_lasts_as_long_as_its_walltime(machine, profile, state):
    schedule = simulate(
        nt.Platform.homogeneous(1),
        "fcfs",
        job("A", profile=profile, walltime=10),
        machine=machine,
    )
    assert (states(schedule), finishes(schedule)) == ({"A": state}, {"A": 10})


@pytest.mark.parametrize(
    ("parts", "state"),
    [
        ((ParallelTask((500.0,)), ParallelTask((500.0,))), "completed"),
        ((ParallelTask((500.0,)), Delay(5.0)), "timed_out"),
        ((Delay(5.0), ParallelTask((500.0,))), "completed"),
        ((Delay(5.0), ParallelTask((501.0,))), "timed_out"),
    ],
)
def test_the_parts_of_a_sequence_share_its_walltime(cluster, parts, state):
    schedule = simulate(cluster, "fcfs", job("A", profile=Sequence(parts), walltime=10))
    assert (states(schedule), finishes(schedule)) == ({"A": state}, {"A": 10})


def test_walltimes_may_be_left_to_the_policy(cluster):
    schedule = simulate(
        cluster,
        "fcfs",
        job("A", profile=Sequence((Delay(20.0),)), walltime=10),
        enforce_walltime=False,
    )
    assert (states(schedule), finishes(schedule)) == ({"A": "completed"}, {"A": 20})


@pytest.mark.parametrize("seed", range(20))
def test_timers_and_the_machine_agree_where_jobs_are_alone(seed):
    drawn = random.Random(seed)
    jobs = [
        job(
            str(i),
            hosts=drawn.randint(1, 4),
            submit=drawn.randint(0, 50),
            walltime=drawn.choice([math.inf, 8, 16]),
            profile=drawn.choice([Compute, Delay])(float(drawn.choice([4, 8, 16]))),
            launch=drawn.choice([0, 2]),
            epilogue=drawn.choice([0, 2]),
        )
        for i in range(12)
    ]
    platform = nt.Platform.homogeneous(4)
    plain, exact = (simulate(platform, "easy", *jobs, machine=flag) for flag in (False, True))
    for column in (starts, finishes, states):
        assert column(plain) == column(exact)


# Placement


def test_a_mapping_puts_executors_on_hosts(cluster):
    task = ParallelTask((100.0, 200.0, 400.0), (0.0,) * 9)
    policy = starting(StartJob("A", [0, 1], mapping=[0, 0, 1]))
    schedule = simulate(cluster, policy, job("A", hosts=3, profile=task))
    # the first host computes for two executors, 300 flops in all; the other one for 400
    assert finishes(schedule) == pytest.approx({"A": 4})
    assert hosts_of(schedule) == {"A": "0-1"}
    assert schedule.record.n_hosts.tolist() == [2]


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        (
            StartJob("A", [0, 1], mapping=[0, 2, 1]),
            "hosts=0-1): the mapping names host 2 of the allocation, which has 2",
        ),
        (StartJob("A", [0, 1], mapping=[0, 1]), "hosts=0-1): the job asks for 3 hosts, got 2"),
        (StartJob("A", [0, 1]), "hosts=0-1): the job asks for 3 hosts, got 2"),
        (
            StartJob("A", [0, 1, 2], storages={"pfs": 1}),
            "hosts=0-2): storage 'pfs' is mapped to host 1, which is no storage",
        ),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(cluster, decision, why):
    task = ParallelTask((100.0,) * 3, (1.0,) * 9)
    with pytest.raises(DecisionError) as refused:
        simulate(cluster, starting(decision), job("A", hosts=3, profile=task))
    assert str(refused.value) == f"t=0 StartJob(job_id=A, {why}"


@pytest.mark.parametrize(("n_hosts", "seconds"), [(1, 12), (2, 6), (3, 4), (4, 3)])
def test_work_that_is_spread_takes_any_number_of_hosts(cluster, n_hosts, seconds):
    task = HomogeneousTask(1200.0, 0.0, "spread")
    policy = starting(StartJob("A", range(n_hosts)))
    schedule = simulate(cluster, policy, job("A", hosts=2, profile=task))
    assert finishes(schedule) == pytest.approx({"A": seconds})
    assert schedule.column("n_hosts").tolist() == [2]  # asked
    assert schedule.record.n_hosts.tolist() == [n_hosts]  # held
    assert nt.metrics.utilisation(schedule) == pytest.approx(n_hosts / 4)


def test_work_of_each_host_is_for_as_many_as_were_asked(cluster):
    policy = starting(StartJob("A", [0, 1, 2]))
    with pytest.raises(DecisionError, match="the job asks for 2 hosts, got 3"):
        simulate(cluster, policy, job("A", hosts=2, profile=HomogeneousTask(1200.0, 1.0)))


# Storages


def test_hosts_read_from_a_storage_and_write_to_it(cluster):
    # each of two hosts reads 20 bytes and writes 10: 40 out of the disk and 20 into it, 5 a second
    transfer = StorageTransfer(20.0, 10.0, "pfs")
    policy = starting(StartJob("A", [0, 1], storages={"pfs": 4}))
    schedule = simulate(cluster, policy, job("A", hosts=2, profile=transfer))
    assert finishes(schedule) == pytest.approx({"A": 8})


def test_data_is_staged_from_one_storage_to_another(cluster):
    staging = DataStaging(30.0, "from", "to")
    policy = starting(StartJob("A", [0], storages={"from": 4, "to": 5}))
    schedule = simulate(cluster, policy, job("A", profile=staging))
    assert finishes(schedule) == pytest.approx({"A": 6})


def test_a_storage_that_nobody_named_is_refused(cluster):
    with pytest.raises(InputError) as refused:
        simulate(cluster, "fcfs", job("A", profile=StorageTransfer(1.0, 0.0, "nvme")))
    message = str(refused.value)
    assert message.startswith("t=0 job A: profile ")
    assert message.endswith(
        ": storage 'nvme': the job was given no host for it, and the platform has 2 storage hosts, "
        "expected one of the two"
    )


@pytest.mark.parametrize("shared", [True, False])
def test_a_storage_in_an_allocation_is_shared_or_not(cluster, shared):
    # host 4 is a storage; work that is spread takes it beside a host that computes
    task = HomogeneousTask(1200.0, 0.0, "spread")
    policy = starting(StartJob("A", [0, 4]), StartJob("B", [1, 4]))
    jobs = [job(name, hosts=2, profile=task) for name in "AB"]
    if shared:
        assert starts(simulate(cluster, policy, *jobs)) == {"A": 0, "B": 0}
        return
    with pytest.raises(DecisionError, match="host 4, a storage, is used by another job"):
        simulate(cluster, policy, *jobs, share_storages=False)


def test_a_storage_that_is_not_shared_serves_one_job_after_the_other(cluster):
    class OneAfterTheOther:
        def decide(self, view, events):
            if not view.running:
                return [StartJob(job, [0, 4]) for job in list(view.waiting)[:1]]
            return []

    task = HomogeneousTask(1200.0, 0.0, "spread")
    jobs = [job(name, hosts=2, profile=task) for name in "AB"]
    found = simulate(cluster, OneAfterTheOther(), *jobs, share_storages=False)
    assert states(found) == {"A": "completed", "B": "completed"}
    assert starts(found)["B"] == finishes(found)["A"]


# Sharing


def test_jobs_that_share_a_host_share_its_cores():
    platform = nt.Platform.homogeneous(1)
    policy = starting(StartJob("A", [0]), StartJob("B", [0]))
    jobs = [job("A", runtime=10), job("B", runtime=4)]
    schedule = simulate(platform, policy, *jobs, share_hosts=True)
    # half of the host each until B is done at 8, then A has it alone
    assert finishes(schedule) == pytest.approx({"A": 14, "B": 8})
    assert schedule.host_states["n_computing"].tolist() == [1, 1, 1, 0]


def test_cores_are_shared_only_when_there_are_too_few(tmp_path):
    for names, seconds in (("AB", 6), ("ABC", 9)):
        policy = starting(*(StartJob(name, [0]) for name in names))
        jobs = [job(name, profile=ParallelTask((60.0,))) for name in names]
        schedule = simulate(pair(tmp_path), policy, *jobs, share_hosts=True)
        assert finishes(schedule) == pytest.approx(dict.fromkeys(names, seconds))


def test_hosts_are_not_shared_unless_asked_for():
    policy = starting(StartJob("A", [0]), StartJob("B", [0]))
    with pytest.raises(DecisionError, match="host 0 is busy with job A"):
        simulate(nt.Platform.homogeneous(1), policy, job("A"), job("B"), machine=True)
