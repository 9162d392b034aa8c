"""slurm.conf as settings: defaults, inference, corrections, contradictions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noctule.errors import InputError
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import read_settings, setting_tables, settings_from

NODE = "NodeName=n[1-4] CPUs=8\n"
SMALL = NODE + "PartitionName=main Nodes=ALL Default=YES\n"
TRUTH = Path(os.environ.get("NOCTULE_SHARED", "../shared")) / "truth" / "slurm"


def settings(text):
    return settings_from(parse_conf(text))


def refusal(text):
    with pytest.raises(InputError) as error:
        settings(text)
    return str(error.value)


def node(line):
    return settings(f"NodeName=n1 {line}\nPartitionName=p Nodes=n1\n").nodes[0]


def scheduling(words, more=""):
    return settings(f"{SMALL}SchedulerParameters={words}\n{more}")


def test_a_small_file_has_slurms_defaults():
    found = settings(SMALL)
    assert (found.scheduler_type, found.select.unit) == ("sched/backfill", "node")
    assert (found.priority.priority_type, found.ends.kill_wait) == ("priority/basic", 30)
    partition = found.partitions[0]
    assert (partition.nodes, partition.max_time, partition.priority_tier) == ((0, 1, 2, 3), None, 1)
    assert found.default_partition is partition
    parameters = found.scheduling
    assert (parameters.bf_interval, parameters.default_queue_depth) == (30, 100)
    assert (parameters.bf_max_time, parameters.bf_node_space_size) == (30, 500)


def test_keys_are_the_same_whatever_their_case():
    assert settings(SMALL + "kILLwAIT=7\n").ends.kill_wait == 7


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("CPUs=48", (48, 48, 1, 1)),
        ("Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", (16, 2, 4, 2)),
        ("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", (8, 2, 4, 2)),
        ("CPUs=16 CoresPerSocket=4 ThreadsPerCore=2", (16, 2, 4, 2)),
        ("Procs=4", (4, 4, 1, 1)),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", (16, 4, 4, 1)),
        ("Boards=2 Sockets=2 CoresPerSocket=4", (8, 2, 4, 1)),
        ("", (1, 1, 1, 1)),
    ],
)
def test_cpus_and_sockets_follow_from_each_other(line, shape):
    found = node(line)
    assert (found.cpus, found.sockets, found.cores_per_socket, found.threads_per_core) == shape


def test_cpus_that_fit_nothing_are_corrected_as_slurm_does_and_told():
    found = settings("NodeName=n1 CPUs=7 Sockets=2 CoresPerSocket=4\nPartitionName=p Nodes=n1\n")
    assert found.nodes[0].cpus == 8
    assert any("line 1: NodeName=n1: CPUs=7 is neither" in note for note in found.notes)


def test_default_lines_hold_for_the_lines_after_them_and_add_up():
    found = settings(
        "NodeName=a\nNodeName=DEFAULT CPUs=4 Weight=3\nNodeName=b\n"
        "NodeName=DEFAULT RealMemory=1000\nNodeName=c CPUs=2\n"
        "PartitionName=DEFAULT MaxTime=10 State=DOWN\nPartitionName=x Nodes=a State=UP\n"
        "PartitionName=y Nodes=b,c MaxTime=UNLIMITED\n"
    )
    a, b, c = found.nodes
    assert [(n.cpus, n.weight, n.memory_mb) for n in (a, b, c)] == [
        (1, 1, 1),
        (4, 3, 1),
        (2, 3, 1000),
    ]
    assert [(p.max_time, p.state) for p in found.partitions] == [(10, "UP"), (None, "DOWN")]


def test_nodes_keep_the_order_of_the_file_and_partitions_may_come_first():
    found = settings("PartitionName=p Nodes=b2,a[1-2]\nNodeName=b[1-2]\nNodeName=a[1-2]\n")
    assert [n.name for n in found.nodes] == ["b1", "b2", "a1", "a2"]
    assert found.partitions[0].nodes == (1, 2, 3)


def test_sets_of_nodes_by_feature_and_by_name():
    found = settings(
        "NodeName=a[1-2] Features=big,fast\nNodeName=b[1-2]\nNodeSet=large Feature=big\n"
        "NodeSet=rest Nodes=b2\nPartitionName=p Nodes=large,rest\n"
    )
    assert found.partitions[0].nodes == (0, 1, 3)


def test_states_of_nodes_come_from_their_line_or_from_down_nodes():
    found = settings(
        "NodeName=a[1-3] State=UNKNOWN\nDownNodes=a[2-3] State=DRAIN\nPartitionName=p Nodes=ALL\n"
    )
    assert [n.state for n in found.nodes] == ["UNKNOWN", "DRAIN", "DRAIN"]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("10", 10),
        ("10:30", 11),
        ("1:00:00", 60),
        ("1-0", 1440),
        ("1-2:30", 1590),
        ("2-00:00:01", 2881),
        ("INFINITE", None),
        ("UNLIMITED", None),
        ("-1", None),
    ],
)
def test_times_are_minutes_rounded_up(text, minutes):
    found = settings(f"{NODE}PartitionName=p Nodes=ALL MaxTime={text}\n")
    assert found.partitions[0].max_time == minutes
    assert found.partitions[0].default_time == minutes


def test_partitions_take_from_the_cluster_what_they_do_not_say():
    found = settings(
        f"{NODE}OverTimeLimit=5\nDefMemPerCPU=100\nMaxMemPerNode=4000\n"
        "PartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL OverTimeLimit=1 DefMemPerNode=50\n"
    )
    p, q = found.partitions
    assert (p.over_time_limit, p.def_mem_per_cpu_mb, p.def_mem_per_node_mb) == (5, 100, None)
    assert (q.over_time_limit, q.def_mem_per_cpu_mb, q.def_mem_per_node_mb) == (1, None, 50)
    assert q.max_mem_per_node_mb == 4000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("NO", ("NO", 1)),
        ("EXCLUSIVE", ("EXCLUSIVE", 1)),
        ("YES", ("YES", 4)),
        ("force:2", ("FORCE", 2)),
    ],
)
def test_sharing_says_how_many_jobs(text, found):
    assert (
        settings(f"{NODE}PartitionName=p Nodes=ALL OverSubscribe={text}\n")
        .partitions[0]
        .oversubscribe
        == found
    )


def test_the_old_priority_of_a_partition_is_both_of_its_successors():
    partition = settings(f"{NODE}PartitionName=p Nodes=ALL Priority=7\n").partitions[0]
    assert (partition.priority_tier, partition.priority_job_factor) == (7, 7)


def test_scheduler_parameters_and_the_defaults_that_follow_from_them():
    found = scheduling(
        "bf_interval=60,bf_max_job_test=1000,defer,bf_licenses,max_job_bf=3"
    ).scheduling
    assert (found.bf_interval, found.bf_max_time) == (60, 60)
    assert (found.bf_max_job_test, found.bf_node_space_size) == (1000, 1000)
    assert found.defer
    assert found.bf_running_job_reserve
    assert scheduling("bf_interval=60,bf_max_time=5").scheduling.bf_max_time == 5
    assert scheduling("defer", "MessageTimeout=3\n").scheduling.max_sched_time == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "bf_interval=0",
            "bf_interval: got '0', expected seconds, or -1 for none; Slurm keeps its default",
        ),
        (
            "bf_interval=20000",
            "bf_interval: got '20000', expected a whole number from -1 to 10800 of seconds",
        ),
        ("bf_window=x", "bf_window: got 'x', expected a whole number from 1 to 43200 of minutes"),
        ("bf_resolution=60,bf_resolution=30", "bf_resolution: given twice, the first one counts"),
    ],
)
def test_parameters_that_slurm_would_not_take_are_told_and_left(words, said):
    found = scheduling(words)
    assert any(
        said in note and "slurm.conf: line 3: SchedulerParameters" in note for note in found.notes
    )
    assert (found.scheduling.bf_interval, found.scheduling.bf_window) == (30, 1440)


def test_unknown_keys_are_listed_with_their_lines_and_are_not_fatal():
    found = settings(
        SMALL
        + "SlurmctldPort=6817\nKilWait=3\nSchedulerParameters=bf_intervall=3,step_retry_count=1\n"
        "NodeName=x Colour=red\n"
    )
    assert [str(key) for key in found.unused] == [
        "slurm.conf: line 3: SlurmctldPort: not used by the model",
        "slurm.conf: line 4: KilWait: unknown to Slurm 22.05 (did you mean KillWait?)",
        "slurm.conf: line 5: SchedulerParameters bf_intervall: unknown to Slurm 22.05 "
        "(did you mean bf_interval?)",
        "slurm.conf: line 5: SchedulerParameters step_retry_count: not used by the model",
        "slurm.conf: line 6: NodeName Colour: unknown to Slurm 22.05",
    ]


def test_of_a_repeated_key_the_last_one_counts_and_that_is_told():
    found = settings(SMALL + "KillWait=3\nKillWait=4\n")
    assert found.ends.kill_wait == 4
    assert found.notes == (
        "slurm.conf: line 4: KillWait: given at slurm.conf: line 3 too; "
        "as in Slurm, this one counts",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PartitionName=p Nodes=n1\n", "slurm.conf: no NodeName line, expected at least one node"),
        (NODE, "slurm.conf: no PartitionName line, expected at least one partition"),
        (
            NODE + "PartitionName=p Nodes=n9\n",
            "slurm.conf: line 2: PartitionName=p: Nodes: 'n9' is no node of the configuration",
        ),
        (
            NODE + "NodeName=n2\nPartitionName=p Nodes=n1\n",
            "slurm.conf: line 2: NodeName=n2: node 'n2' stands at slurm.conf: line 1 too",
        ),
        (
            SMALL + "KillWait=soon\n",
            "slurm.conf: line 3: KillWait: got 'soon', "
            "expected a whole number from 0 on of seconds",
        ),
        (
            SMALL + "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core,CR_CPU\n",
            "slurm.conf: line 4: SelectTypeParameters: got CR_Core and CR_CPU, "
            "expected one of them",
        ),
        (
            SMALL + "SelectTypeParameters=CR_Core\n",
            "slurm.conf: line 3: SelectTypeParameters: got CR_Core with select/linear, "
            "expected CR_Memory or CR_ONE_TASK_PER_CORE",
        ),
        (
            SMALL + "PreemptMode=SUSPEND\nPreemptType=preempt/partition_prio\n",
            "slurm.conf: line 3: PreemptMode: got SUSPEND, expected SUSPEND,GANG",
        ),
        (
            SMALL + "PreemptType=preempt/qos\n",
            "slurm.conf: PreemptMode: got OFF with preempt/qos, "
            "expected CANCEL, REQUEUE or SUSPEND,GANG",
        ),
        (
            SMALL + "SchedulerType=sched/mine\n",
            "slurm.conf: line 3: SchedulerType: got 'sched/mine', "
            "expected one of sched/backfill, sched/builtin",
        ),
        (
            "NodeName=n1 Sockets=2 SocketsPerBoard=2\nPartitionName=p Nodes=n1\n",
            "slurm.conf: line 1: NodeName=n1: got Sockets and SocketsPerBoard, "
            "expected one of them",
        ),
        (
            "NodeName=n1 Gres=gpu:2,gpu:tesla:1\nPartitionName=p Nodes=n1\n",
            "slurm.conf: line 1: NodeName=n1: Gres: got gpu with and without a type, "
            "expected one of both",
        ),
        (
            "NodeName=ALL\nPartitionName=p Nodes=ALL\n",
            "slurm.conf: line 1: NodeName=ALL: ALL is no name that a node can have",
        ),
    ],
)
def test_impossible_values_are_refused_with_file_line_and_key(text, said):
    assert refusal(text) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("MinNodes=5 MaxNodes=2", "MinNodes=5 with MaxNodes=2: no job can be both"),
        (
            "DefMemPerCPU=1 DefMemPerNode=2",
            "DefMemPerCPU with DefMemPerNode; as in Slurm, the latter counts",
        ),
    ],
)
def test_contradictions_that_slurm_lives_with_are_told(words, said):
    found = settings(f"{NODE}PartitionName=p Nodes=ALL Default=YES {words}\n")
    assert found.notes == (f"slurm.conf: line 2: PartitionName=p: {said}",)
    assert found.partitions[0].def_mem_per_cpu_mb is None


def test_selection_says_what_is_consumed():
    def select(words):
        more = f"SelectTypeParameters={words}\n" if words else ""
        return settings(SMALL + "SelectType=select/cons_tres\n" + more).select

    assert [
        (select(w).unit, select(w).memory) for w in ("CR_Core", "CR_CPU_Memory", "CR_Socket", "")
    ] == [("core", False), ("cpu", True), ("socket", False), ("core", True)]
    assert select("CR_Core,CR_LLN").has("cr_lln")


def test_licences_and_weights():
    found = settings(SMALL + "Licenses=matlab:10,fluent\nPriorityWeightTRES=CPU=1000,Mem=10G\n")
    assert found.licenses == (("matlab", 10), ("fluent", 1))
    assert found.priority.weight_tres == (("cpu", 1000.0), ("mem", 10 / 1024))


def test_every_setting_is_declared_with_a_sentence():
    for facts in (f for table in setting_tables().values() for f in table):
        assert facts.says.endswith("."), facts.key


@pytest.mark.skipif(not TRUTH.is_dir(), reason=f"no {TRUTH}: set NOCTULE_SHARED")
def test_configurations_of_recorded_runs_are_read_without_a_note():
    found = {
        path.name.partition(".")[0]: read_settings(path) for path in TRUTH.glob("*.slurm.conf")
    }
    assert all(len(one.nodes) == 10 and not one.notes for one in found.values())
    assert all(key.known for one in found.values() for key in one.unused)
    short, low, main = found["parts"].partitions
    assert (short.nodes, short.max_time, short.max_nodes, short.priority_tier) == (
        (0, 1, 2, 3, 4, 5),
        1,
        4,
        10,
    )
    assert (low.nodes, main.nodes) == ((4, 5, 6, 7, 8, 9), tuple(range(10)))
    assert (found["cons"].select.unit, found["cons"].select.memory) == ("core", False)
    weights = found["multifactor"].priority
    assert (weights.weight_age, weights.max_age, weights.calc_period) == (1000, 1200, 60)
