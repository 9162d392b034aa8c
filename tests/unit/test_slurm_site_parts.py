"""Generic resources, switches, accounts and QOS, and traces of BSC's simulator."""

from __future__ import annotations

import struct

import pytest
from slurm_rows import settings

from noctule.errors import InputError
from noctule.slurm.conf.associations import parse_associations, parse_qos
from noctule.slurm.conf.gres import gres_devices, parse_gres
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.topology import topology_from
from noctule.slurm.jobs.bsc import is_bsc_trace, read_bsc
from noctule.slurm.jobs.import_report import ImportReport

DUMP = """
# To edit this file start with a cluster line for the new cluster
Cluster - 'tux':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'cs':Description='Computer: Science':Fairshare=40:GrpTRES=cpu=100,mem=2G:MaxWall=1-0
Account - 'bio':Fairshare=60
Parent - 'cs'
Account - 'test':MaxJobs=1:Fairshare=parent
User - 'ada':DefaultAccount='cs':Fairshare=2:QOS='high,normal':DefaultQOS='high'
User - 'ada':Partition='long':MaxSubmitJobs=3
Parent - 'bio'
User - 'ada':MaxJobs=-1
"""


def test_accounts_form_a_tree_with_users_limits_and_shares():
    found = parse_associations(DUMP)
    assert found.cluster == "tux"
    assert [(a.account, a.parent, a.shares) for a in found.accounts] == [
        ("root", "", 1),
        ("cs", "root", 40),
        ("bio", "root", 60),
        ("test", "cs", None),
    ]
    cs = found.accounts[1].limits
    assert (cs.grp_tres, cs.max_wall) == ((("cpu", 100), ("mem", 2048)), 1440)
    ada = found.user("ada", "cs")
    assert (ada.shares, ada.qos, ada.default_qos) == (2, ("high", "normal"), "high")
    assert found.user("ada", "cs", "long").limits.max_submit_jobs == 3
    assert found.user("ada").account == "cs"
    assert found.user("ada", "bio").limits.max_jobs is None
    assert found.user("bob") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Parent - 'root'\n", "dump: no Cluster line, expected what sacctmgr dump writes"),
        ("Cluster - 'c'\nParent - 'x'\n", "line 2: Parent 'x': no account of the lines before it"),
        (
            "Cluster - 'c'\nAccount - 'a'\nAccount - 'a'\n",
            "Account 'a': stands at dump: line 2 too",
        ),
        ("Cluster - 'c'\nnonsense\n", "line 2: got 'nonsense', expected a line such as Account"),
        ("Cluster - 'c':GrpTRES=cpu\n", "line 1: GrpTRES: got 'cpu', expected amounts such as"),
        (
            "Cluster - 'c':Fairshare=x\n",
            "Fairshare: got 'x', expected a number of shares, or parent",
        ),
    ],
)
def test_a_broken_dump_is_refused(text, said):
    with pytest.raises(InputError) as error:
        parse_associations(text)
    assert said in str(error.value)


def test_qos_come_from_a_table():
    normal, high = parse_qos(
        "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES|MaxWall|MaxTRESPU\n"
        "normal|0|00:00:00||cluster||1.000000|||\n"
        "high|1000|00:05:00|normal|requeue|DenyOnLimit,NoReserve|2.0|cpu=64|1-00:00:00|node=4\n"
    )
    assert (normal.priority, normal.flags, normal.limits.max_wall) == (0, (), None)
    assert (high.priority, high.grace_time, high.preempt) == (1000, 300, ("normal",))
    assert high.has_flag("noreserve")
    assert (high.usage_factor, high.max_tres_per_user) == (2.0, (("node", 4),))
    assert (high.limits.grp_tres, high.limits.max_wall) == ((("cpu", 64),), 1440)
    with pytest.raises(InputError, match="qos: line 1: no column Name"):
        parse_qos("Priority\n1\n")


def test_switches_are_leaves_first_with_all_nodes_below():
    table = settings().node_table
    text = (
        "SwitchName=top Switches=s[0-1]\nSwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Nodes=n[3-4]\n"
    )
    found = topology_from(parse_conf(text, "topology.conf"), table)
    assert [(s.name, s.level, s.nodes, s.parent) for s in found.switches] == [
        ("s0", 0, (0, 1), 2),
        ("s1", 0, (2, 3), 2),
        ("top", 1, (0, 1, 2, 3), None),
    ]
    assert found.notes == ("topology.conf: no switch reaches 1 nodes, big1 first",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nodes=n1", "line 1: no SwitchName, expected one in every line"),
        ("SwitchName=a", "SwitchName=a: expected either Nodes or Switches"),
        ("SwitchName=a Nodes=x", "line 1: Nodes: 'x' is no node of the configuration"),
        ("SwitchName=a Switches=b", "Switches: 'b' is no switch of the file"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a", "is below itself"),
        ("SwitchName=a Switches=a", "is below itself"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2", "SwitchName=a stands at"),
        (
            "SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a",
            "a is below b already",
        ),
    ],
)
def test_switches_that_form_no_tree_are_refused(text, said):
    with pytest.raises(InputError) as error:
        topology_from(parse_conf(text, "topology.conf"), settings().node_table)
    assert said in str(error.value)


def test_generic_resources_are_read_as_they_are_written():
    found = parse_gres("gpu:tesla:2(S:0-1),shard,lustre:no_consume:4K", "Gres")
    assert [(g.name, g.kind, g.count, g.consumed) for g in found] == [
        ("gpu", "tesla", 2, True),
        ("shard", "", 1, True),
        ("lustre", "", 4096, False),
    ]
    with pytest.raises(InputError, match="Gres: got 'a:b:c:d', expected resources such as"):
        parse_gres("a:b:c:d", "Gres")


def test_devices_of_gres_conf():
    conf = parse_conf(
        "AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=tesla File=/dev/nvidia[0-3] Cores=0-1,4\n"
        "Name=lic Count=8\n"
    )
    gpu, lic = gres_devices(conf)
    assert (gpu.nodes, gpu.kind, gpu.count, gpu.cores) == (("n1", "n2"), "tesla", 4, (0, 1, 4))
    assert (lic.nodes, lic.count) == ((), 8)


def bsc_record(job_id, submit, tasks, **more):
    """Pack a record as the C structure lies in memory."""
    values = {"user": b"u1", "qos": b"q", "partition": b"main", "account": b"acc"} | more
    head = struct.pack(
        "@i30sliii30s30s30sii30s1024s",
        job_id,
        values["user"],
        submit,
        100,
        5,
        tasks,
        values["qos"],
        values["partition"],
        values["account"],
        8,
        1,
        b"",
        more.get("dependency", b""),
    )
    return head.ljust(2256, b"\0")


def test_records_of_bsc_are_jobs(tmp_path):
    path = tmp_path / "sim.trace"
    records = [bsc_record(2, 1050, 1, dependency=b"afterok:1"), bsc_record(1, 1000, 3)]
    path.write_bytes(b"".join(records))
    assert is_bsc_trace(path)
    jobs = read_bsc(path, ImportReport())
    assert (jobs.ids, jobs.submit, jobs.runtime) == (["1", "2"], [0.0, 50.0], [100.0, 100.0])
    first, second = jobs.requests
    assert (first.min_nodes, first.max_nodes, first.cpus, first.limit) == (3, 0, 24, 5)
    assert (first.user, first.partitions, first.account) == ("u1", ("main",), "acc")
    assert [str(d) for d in second.dependencies] == ["afterok:1"]


def test_lines_of_bsc_are_jobs(tmp_path):
    path = tmp_path / "log.sim"
    path.write_text("1;u1;10;29;2;4;main;acc;48;1\n2;u2;13;20;2;1;main;acc;48;1\n3;u\n")
    report = ImportReport()
    jobs = read_bsc(path, report)
    assert (jobs.submit, jobs.runtime) == ([0.0, 3.0], [29.0, 20.0])
    assert [(r.min_nodes, r.cpus, r.limit) for r in jobs.requests] == [(4, 192, 2), (1, 48, 2)]
    assert report.dropped["cut off: too few columns"].count == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty file, expected a trace of BSC's simulator"),
        (b"\0" * 100, "100 bytes, expected records of 2256 or 1224"),
        (b"1;u;x;2;3;4;p;a;1;1\n", "line 1: submit: got 'x', expected a whole number"),
        (b"1;u;5;-2;3;4;p;a;1;1\n", "line 1: duration: got -2, expected a number >= 0"),
    ],
)
def test_broken_traces_of_bsc_are_refused(tmp_path, data, said):
    path = tmp_path / "x.sim"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read_bsc(path, ImportReport())
    assert said in str(error.value)
