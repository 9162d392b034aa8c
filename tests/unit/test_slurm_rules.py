"""Rules of Slurm's schedulers that random configurations of a real one have shown.

Ticks are at a quarter past each second, the first backfill cycle is at 30.5; see slurm_cases.
"""

from __future__ import annotations

import pytest
from slurm_cases import Asked, attempts, conf_of, simulate_case

from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import SlurmSettings, settings_from


def cores_conf(
    parameters: str,
    node: str,
    *lines: str,
    n_nodes: int = 4,
    partitions: tuple[str, ...] = ("low Nodes=ALL Default=YES",),
    scheduling: str = "bf_interval=30",
) -> SlurmSettings:
    """Return a cluster whose nodes jobs share."""
    text = [
        "ClusterName=test",
        f"SchedulerParameters={scheduling}",
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


@pytest.mark.parametrize(("enforced", "start"), [("NO", 4.25), ("ALL", 30.5)])
def test_jobs_that_a_partition_never_takes_have_priorities_unless_they_are_refused(enforced, start):
    # the first job gets 4294901759, if it is taken at all; then the third is below what holds back
    # others, and the fourth has the last node
    conf = conf_of(
        f"EnforcePartLimits={enforced}",
        low="MaxNodes=3",
        scheduling="bf_interval=30,bf_min_prio_reserve=4294901758",
    )
    jobs = [Asked(1, 10, 4), Asked(2, 100, 3), Asked(2.5, 10, 3), Asked(3, 10, 1)]
    assert attempts(conf, jobs)["3"].start == start


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


def test_whole_nodes_must_have_memory_for_all_their_cpus_not_for_whole_tasks_only():
    # eight CPUs with 1000 MB each are 8000; that tasks of three use six of them changes nothing
    threes = {"cpus_per_task": 3, "exclusive": True}
    for memory, state in ((8000, "completed"), (7999, "rejected")):
        conf = cores_conf(
            "CR_Core_Memory",
            f"{TWO_SOCKETS} RealMemory={memory}",
            "DefMemPerCPU=1000",
            n_nodes=1,
        )
        assert attempts(conf, [Asked(1, 10, 1, more=threes)])["0"].state == state


def test_a_job_larger_than_one_of_its_partitions_is_not_looked_at_there():
    # its record in `a`, which comes first, would close it
    conf = settings_from(
        parse_conf(
            "ClusterName=test\nSelectType=select/linear\nNodeName=n[1-4] CPUs=4\n"
            "PartitionName=a Nodes=n[1-2] PriorityTier=2\n"
            "PartitionName=b Nodes=ALL Default=YES\n",
            "slurm.conf",
        )
    )
    jobs = [
        Asked(1, 100, 2, "b", more={"required_nodes": "n[3-4]"}),
        Asked(2, 10, 3, "a,b"),
        Asked(3, 10, 1, "a"),
    ]
    assert starts(conf, jobs) == [1.25, 102.25, 4.25]


def test_a_job_does_not_run_where_fewer_nodes_than_it_may_have_are_allowed():
    # MaxNodes=2 of `a`, and it would take three: `b` is where it waits
    conf = settings_from(
        parse_conf(
            "ClusterName=test\nSelectType=select/linear\nNodeName=n[1-4] CPUs=4\n"
            "PartitionName=a Nodes=ALL MaxNodes=2\nPartitionName=b Nodes=n[1-3] Default=YES\n",
            "slurm.conf",
        )
    )
    jobs = [
        Asked(1, 10, 3, "b"),
        Asked(2, 10, 1, "a,b", more={"max_nodes": 3}),
        Asked(2, 10, 1, "a"),
    ]
    assert starts(conf, jobs)[1:] == [12.25, 4.25]


def test_each_node_keeps_a_core_of_its_own_kind_for_the_next():
    # six CPUs on n2 and n3, which have cores of two threads: four and two of them, two cores and
    # one; n1, whose cores have one thread, is heavier
    conf = cores_conf(
        "CR_Core",
        "CPUs=6 Sockets=1 CoresPerSocket=6 ThreadsPerCore=1 Weight=9",
        "NodeName=n[2-3] CPUs=6 Sockets=1 CoresPerSocket=3 ThreadsPerCore=2",
        n_nodes=1,
    )
    found = attempts(conf, [Asked(1, 10, 6, more={"min_nodes": 2})])
    assert len(expanded(found["0"].hosts)) == 3


def test_the_search_for_the_least_loaded_node_ends_at_one_with_as_many_free_cpus_as_the_last():
    # n1 has 4 of 4 CPUs free, n2 4 of 8, n3 6 of 8: n1 comes first, and n2 before n3
    conf = cores_conf(
        "CR_Core,CR_LLN",
        FOUR_CORES,
        "NodeName=n[2-3] CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1",
        n_nodes=1,
    )
    jobs = [
        Asked(1, 100, 4, more={"required_nodes": "n2"}),
        Asked(1, 100, 2, more={"required_nodes": "n3"}),
        Asked(2, 10, 2, more={"min_nodes": 2}),
    ]
    # nodes in the order of the lines: n2 has hosts 0-7, n3 8-15, n1 16-19
    assert attempts(conf, jobs)["2"].hosts == "4 16"


def test_a_job_that_was_tried_where_nodes_are_exclusive_takes_whole_ones_elsewhere_too():
    # n1 is busy, so that it starts in `b`: on n2, all of it; the next one finds no core there
    conf = cores_conf(
        "CR_Core",
        FOUR_CORES,
        n_nodes=2,
        partitions=("a Nodes=n1 OverSubscribe=EXCLUSIVE", "b Nodes=ALL Default=YES"),
    )
    jobs = [Asked(1, 100, 4, "b"), Asked(2, 10, 1, "a,b"), Asked(2, 10, 1, "b")]
    assert starts(conf, jobs) == [1.25, 4.25, 15.25]


@pytest.mark.parametrize(
    ("asked", "tier", "start"), [("a,b", 1, 12.25), ("b,a", 1, 1.25), ("b,a", 2, 12.25)]
)
def test_partitions_are_tried_at_submission_until_one_could_run_the_job(asked, tier, start):
    # `a` has fewer nodes than the first job wants, and gives whole ones only: it takes whole ones
    # in `b` if `a` is tried before
    conf = cores_conf(
        "CR_Core",
        FOUR_CORES,
        n_nodes=2,
        partitions=(
            f"a Nodes=n1 OverSubscribe=EXCLUSIVE PriorityTier={tier}",
            "b Nodes=ALL Default=YES",
        ),
    )
    jobs = [Asked(1, 10, 2, asked, more={"min_nodes": 2}), Asked(1, 10, 1, "b")]
    assert starts(conf, jobs)[1] == start


def test_a_task_that_fits_nowhere_gets_what_is_left_also_where_tasks_share_no_core():
    # five nodes of four cores have room for a task of three CPUs each; the sixth has what is left
    # of the first node
    conf = cores_conf("CR_Core,CR_ONE_TASK_PER_CORE", FOUR_CORES, n_nodes=5)
    threes = {"cpus_per_task": 3, "max_nodes": None}
    found = attempts(conf, [Asked(1, 10, 6, more=threes), Asked(1, 10, 7, more=threes)])
    assert len(expanded(found["0"].hosts)) == 4 + 4 * 3
    assert found["1"].state == "rejected"


def test_whole_nodes_larger_than_a_partition_gives_of_each_are_never_given():
    conf = cores_conf(
        "CR_Core", FOUR_CORES, n_nodes=1, partitions=("low Nodes=ALL MaxCPUsPerNode=2",)
    )
    jobs = [Asked(1, 10, 1, more={"exclusive": True}), Asked(1, 10, 2)]
    assert [one.state for one in attempts(conf, jobs).values()] == ["rejected", "completed"]


def test_jobs_on_the_same_cores_are_not_counted_against_what_a_partition_gives_of_a_node():
    # two jobs of two CPUs are on the same cores; a third would be on others
    conf = cores_conf(
        "CR_Core",
        FOUR_CORES,
        n_nodes=1,
        partitions=("low Nodes=ALL MaxCPUsPerNode=2 OverSubscribe=FORCE:2",),
    )
    assert starts(conf, [Asked(1, 10, 2) for _ in range(3)]) == [1.25, 1.25, 12.25]


def test_predictions_with_bf_busy_nodes_take_an_idle_node_too_many():
    # n1 and n2 would do for the second job when the first has ended; n3 is planned as well, so
    # that the third, of ten minutes, does not start there before
    conf = cores_conf("CR_Core", FOUR_CORES, n_nodes=3, scheduling="bf_interval=30,bf_busy_nodes")
    whole = {"exclusive": True, "max_nodes": None}
    jobs = [
        Asked(1, 100, 8, limit=2, more=whole),
        Asked(2, 10, 8, more=whole),
        Asked(3, 10, 1, more=whole),
    ]
    assert starts(conf, jobs) == [1.25, 102.25, 102.25]


def test_tasks_that_share_no_core_leave_fewer_cpus_to_the_next_node():
    # a core of a socket on each node, then two of the other: a socket has two CPUs for such tasks
    conf = cores_conf("CR_Socket,CR_ONE_TASK_PER_CORE", TWO_THREADS, n_nodes=2)
    jobs = [Asked(1, 10, n, more={"min_nodes": 2}) for n in (2, 4)]
    assert starts(conf, jobs) == [1.25, 1.25]


@pytest.mark.parametrize(("n_waiting", "n_cycles"), [(1, 2), (2, 7)])
def test_backfilling_sleeps_on_while_a_single_job_waits_for_busy_nodes(n_waiting, n_cycles):
    # the first cycle at 30.5 plans a busy node, which is no change; the next comes when the node is
    # free, at 201.25. The plan of a second job is later than predicted, because of the first one's:
    # a change in each cycle until 180.5, and at 210.5
    jobs = [Asked(1, 200, 1), *[Asked(2, 10, 1)] * n_waiting]
    _, model = simulate_case(conf_of(n_nodes=1), jobs)
    assert model.statistics()["backfill"]["passes"] == n_cycles


def test_a_job_that_its_partition_never_takes_wakes_backfilling_twice():
    # besides those at 30.5 and after the end at 201.25: at 60.5 as it came at 32, and at 90.5 as
    # the pass of 60.25 kept the reason that the one of 32.25 had found
    jobs = [Asked(1, 200, 1), Asked(2, 10, 1), Asked(32, 10, 2)]
    _, model = simulate_case(conf_of(n_nodes=2, low="MaxNodes=1"), [Asked(0.5, 900, 1), *jobs])
    assert model.statistics()["backfill"]["passes"] == 4


def expanded(hosts: str) -> list[int]:
    found: list[int] = []
    for part in hosts.split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
