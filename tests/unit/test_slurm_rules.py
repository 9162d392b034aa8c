"""Rules of Slurm's schedulers that random configurations of a real one have shown.

Ticks are at a quarter past each second, the first backfill cycle is at 30.5; see slurm_cases.
"""

from __future__ import annotations

import pytest
from slurm_cases import Asked, attempts, conf_of

from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import SlurmSettings, settings_from


def cores_conf(
    parameters: str,
    node: str,
    *lines: str,
    n_nodes: int = 4,
    partitions: tuple[str, ...] = ("low Nodes=ALL Default=YES",),
) -> SlurmSettings:
    """Return a cluster whose nodes jobs share."""
    text = [
        "ClusterName=test",
        "SchedulerParameters=bf_interval=30",
        "SelectType=select/cons_tres",
        f"SelectTypeParameters={parameters}",
        *lines,
        f"NodeName=n[1-{n_nodes}] {node}",
        *(f"PartitionName={words}" for words in partitions),
    ]
    return settings_from(parse_conf("\n".join(text) + "\n", "slurm.conf"))


FOUR_CORES = "CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1"
TWO_SOCKETS = "CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1"
TWO_THREADS = "CPUs=8 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2"


def starts(conf: SlurmSettings, jobs: list[Asked]) -> list[float]:
    found = attempts(conf, jobs)
    return [found[str(i)].start for i in range(len(jobs))]


def test_jobs_beyond_the_depth_of_their_partition_do_not_count_for_a_quick_pass():
    # looked at: the first job of `high`, and the one of `low`: as many as the depth and one more
    conf = conf_of(scheduling="bf_interval=30,default_queue_depth=1,partition_job_depth=1")
    jobs = [Asked(1, 20, 1, "high") for _ in range(3)] + [Asked(1, 20, 1, "low")]
    assert starts(conf, jobs)[0::3] == [1.25, 1.25]


def test_each_task_of_an_array_counts_for_the_depth_of_its_partition():
    conf = conf_of(scheduling="bf_interval=30,partition_job_depth=2")
    jobs = [Asked(1, 10, 1, more={"array": "7", "array_task": i}) for i in range(4)]
    # four nodes are free; the end of the first two, at 11.25, asks for the next pass
    assert starts(conf, jobs) == [1.25, 1.25, 12.25, 12.25]


def test_a_job_for_which_too_few_nodes_are_left_closes_its_partition_however_young_it_is():
    # the second job keeps n1 and n2 from others, so that two are left for the third, which wants
    # three; the fourth would have fitted
    conf = conf_of(scheduling="bf_interval=30,bf_min_age_reserve=600")
    both = {"required_nodes": "n[1-2]"}
    jobs = [
        Asked(1, 100, 2, more=both),
        Asked(2, 10, 2, more=both),
        Asked(3, 10, 3),
        Asked(4, 10, 1),
    ]
    assert starts(conf, jobs)[3] == 30.5


def test_a_job_that_names_some_of_its_nodes_closes_its_partition():
    # two nodes, and n1 must be one of them; n3 and n4 are idle
    jobs = [
        Asked(1, 100, 2, more={"required_nodes": "n[1-2]"}),
        Asked(2, 10, 2, limit=1, more={"required_nodes": "n1"}),
        Asked(3, 10, 1, limit=1),
    ]
    assert starts(conf_of(), jobs)[2] == 30.5


def test_a_job_that_the_nodes_left_to_it_could_never_serve_holds_nobody_back():
    # `a` is closed by its second job, which leaves n4 to `b`: its job of eight tasks will never
    # fit there, and the one of a single task starts
    conf = cores_conf(
        "CR_Core",
        FOUR_CORES,
        partitions=("a Nodes=n[1-3] PriorityTier=2 Default=YES", "b Nodes=n[3-4]"),
    )
    any_nodes = {"max_nodes": None}
    jobs = [
        Asked(1, 100, 12, "a", more=any_nodes),
        Asked(2, 10, 12, "a", more=any_nodes),
        Asked(2, 10, 8, "b", more=any_nodes),
        Asked(2, 10, 1, "b"),
    ]
    # the second follows the first, and the third, which needs n3, the second
    assert starts(conf, jobs) == [1.25, 102.25, 113.25, 4.25]


def test_a_job_that_is_too_many_of_its_user_does_not_count_for_its_partition():
    # planned: the first of four nodes; its user's second is one too many; so the third of the
    # partition is the second that counts
    conf = conf_of(scheduling="bf_interval=30,bf_max_job_user=1,bf_max_job_part=2")
    jobs = [
        Asked(1, 200, 3, more={"user": "ann"}),
        Asked(2, 10, 4, more={"user": "ann"}),
        Asked(3, 10, 4, more={"user": "ann"}),
        Asked(4, 10, 1, limit=1, more={"user": "bob"}),
    ]
    assert starts(conf, jobs)[3] == 30.5


@pytest.mark.parametrize("unit", ["CR_CPU", "CR_Core"])
def test_no_two_jobs_have_threads_of_one_core(unit):
    # four cores; five jobs of one CPU
    conf = cores_conf(unit, TWO_THREADS, n_nodes=1)
    assert starts(conf, [Asked(1, 10, 1) for _ in range(5)]) == [1.25] * 4 + [12.25]


@pytest.mark.parametrize(
    ("node", "n_tasks", "cpus", "fits"),
    [
        (TWO_SOCKETS, 2, 1, False),  # a core of each socket
        (TWO_SOCKETS, 2, 2, True),  # both on the first socket
        (TWO_SOCKETS, 2, 3, False),  # a second does not fit there
        (TWO_THREADS, 2, 1, True),  # the threads of one core
        (TWO_THREADS, 3, 1, False),  # two cores
    ],
)
def test_tasks_of_several_cpus_fill_a_socket_and_others_go_round(node, n_tasks, cpus, fits):
    conf = cores_conf("CR_Socket", node, n_nodes=1)
    jobs = [Asked(1, 10, n_tasks, more={"cpus_per_task": cpus}), Asked(1, 10, 1)]
    assert starts(conf, jobs)[1] == (1.25 if fits else 12.25)


def test_where_memory_is_asked_for_by_cpu_nodes_give_cpus_of_whole_tasks():
    # of eight CPUs six: eight tasks of three are on four nodes, and on three without memory
    threes = {"cpus_per_task": 3, "max_nodes": None}
    for parameters, n_nodes in (("CR_Core_Memory", 4), ("CR_Core", 3)):
        conf = cores_conf(
            parameters, f"{TWO_SOCKETS} RealMemory=8000", "DefMemPerCPU=100", n_nodes=5
        )
        found = attempts(conf, [Asked(1, 10, 8, more=threes)])
        hosts = found["0"].hosts
        assert len({int(host) // 8 for host in expanded(hosts)}) == n_nodes


def expanded(hosts: str) -> list[int]:
    found: list[int] = []
    for part in hosts.split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
