"""Files of a site without names: what is kept, and that nothing else survives."""

from __future__ import annotations

import re
import stat

import pytest
from slurm_rows import T0, row, sacct_file

from noctule.cli import main
from noctule.errors import InputError
from noctule.slurm.site.anonymous.files import reduced_line
from noctule.slurm.site.anonymous.names import Names, read_key
from noctule.slurm.site.reading import SiteFiles, read_site

# every name of the site is one of these words, whatever it names
WORDS = "zebra yak wombat vole tapir skunk quokka puma okapi newt moose lemur koala jackal ibex"
SECRET = WORDS.split()
CONF = """
ClusterName=zebra
SlurmctldHost=yak.example.org
SlurmctldLogFile=/var/log/wombat.log
Epilog=/opt/vole/epilog
SchedulerParameters=bf_interval=45,bf_tapir=3,defer
Licenses=skunk:5
GresTypes=gpu,quokka
AccountingStorageTRES=gres/gpu:puma,license/skunk
PriorityWeightTRES=CPU=10,GRES/quokka=3
SuspendExcNodes=okapi-n[1-2]
NodeName=DEFAULT Features=newt,moose
NodeName=okapi-n[1-4] CPUs=8 RealMemory=16000 Gres=gpu:puma:2 Reason="lemur is ill"
NodeName=koala1,jackal7 CPUs=16
NodeSet=ibex Feature=newt
PartitionName=tapir Nodes=okapi-n[1-4] Default=YES MaxTime=1-0 AllowAccounts=vole,yak
PartitionName=moose Nodes=ibex QOS=lemur
# jackal wrote this
"""
ROWS = (
    row(
        "1",
        Partition="tapir",
        QOS="lemur",
        Account="vole",
        User="yak",
        ReqTRES="cpu=8,gres/gpu:puma=2,license/skunk=1,node=1,mem=4G",
        AllocTRES="cpu=8,gres/quokka=1,node=1",
        NodeList="okapi-n[1,3]",
        Reservation="wombat",
        Constraints="newt&moose",
        State="CANCELLED by 4711",
        Reason="skunk said so",
        JobName="ibex of zebra",
        SubmitLine="sbatch -J tapir -p tapir,moose -C newt -d afterok:7 --mem=4G -A vole "
        "-w okapi-n1 --begin=now+1hour --comment='zebra' -N 2-3 --exclusive=user "
        "/home/yak/koala.sh",
    ),
    row("2", Partition="moose", NodeList="zebra9", User="wombat", Account="yak", Submit=5),
    "a line that wombat added",
)
FILES = {
    "associations": "Cluster - 'zebra':QOS='lemur'\nParent - 'root'\n"
    "Account - 'vole':Description='of skunks':GrpTRES=gres/gpu:puma=4:Fairshare=3\n"
    "Parent - 'vole'\nUser - 'yak':DefaultAccount='vole':AdminLevel='None':Fairshare=parent\n",
    "qos": "Name|Priority|Flags|Description|Preempt\nlemur|5|NoReserve,Koala|for ibex|newt\n",
    "topology": "SwitchName=puma Nodes=okapi-n[1-4]\nSwitchName=koala Switches=puma\n",
    "gres": "NodeName=okapi-n[1-4] Name=gpu Type=puma File=/dev/quokka[0-1] Cores=0-3\n",
    "events": f"NodeName|TimeStart|TimeEnd|State|Reason\nokapi-n2|{T0}|{T0 + 9}|DOWN|moose\n",
    "reservations": f"Name|NodeNames|Start|End|Flags\nwombat|koala1|{T0}|{T0 + 5}|MAINT,TAPIR\n",
    "usage": "Account|User|RawUsage\nvole|yak|12\n",
}


@pytest.fixture
def made(tmp_path, capsys):
    """Return the folder of anonymous files, and the names of the original ones."""
    (tmp_path / "slurm.conf").write_text(CONF)
    words = ["--conf", str(tmp_path / "slurm.conf"), "--jobs", str(sacct_file(tmp_path, *ROWS))]
    for option, text in FILES.items():
        (tmp_path / option).write_text(text)
        words += [f"--{option}", str(tmp_path / option)]
    words += ["-o", str(tmp_path / "out"), "--key", str(tmp_path / "key")]
    assert main(["slurm", "anonymise", *words]) == 0
    capsys.readouterr()
    return tmp_path / "out"


def test_no_original_name_survives(made):
    for path in made.iterdir():
        text = path.read_text().lower()
        found = [word for word in SECRET if word in text]
        assert found == [], (path.name, text)
        assert "4711" not in text
        assert "/" not in text.replace("/bin/true", "").replace("gres/", "").replace(
            "license/", ""
        ).replace("select/", ""), path.name


def test_the_files_are_read_as_the_same_site(made, tmp_path):
    new = {name: str(made / file) for name, file in {
        "associations": "associations.txt", "qos": "qos.txt", "topology": "topology.conf",
        "gres": "gres.conf", "events": "events.txt", "reservations": "reservations.txt",
        "usage": "usage.txt",
    }.items()}  # fmt: skip
    old = {name: str(tmp_path / name) for name in FILES}
    before = read_site(SiteFiles(str(tmp_path / "slurm.conf"), str(tmp_path / "sacct.txt"), **old))
    after = read_site(SiteFiles(str(made / "slurm.conf"), str(made / "sacct.txt"), **new))
    a, b = before.site, after.site
    assert b.workload.job_ids.tolist() == a.workload.job_ids.tolist()
    assert b.workload.submit_time.tolist() == a.workload.submit_time.tolist()
    assert b.workload.n_hosts.tolist() == a.workload.n_hosts.tolist()
    assert b.recorded.start == a.recorded.start
    assert [n.cpus for n in b.settings.nodes] == [n.cpus for n in a.settings.nodes]
    assert [p.nodes for p in b.settings.partitions] == [p.nodes for p in a.settings.partitions]
    assert [p.max_time for p in b.settings.partitions] == [1440, None]
    assert b.settings.scheduling == a.settings.scheduling
    assert b.settings.ends.epilog == "/bin/true"
    first, was = b.requests[0], a.requests[0]
    assert (first.limit, first.min_nodes, first.max_nodes, first.cpus) == (
        was.limit, was.min_nodes, was.max_nodes, was.cpus
    )  # fmt: skip
    assert [g.count for g in first.gres_per_node] == [g.count for g in was.gres_per_node]
    assert (first.memory_mb, first.exclusive_user) == (4096, True)
    assert first.partitions == (b.settings.partitions[0].name, b.settings.partitions[1].name)
    assert first.required_nodes == "n1"
    assert b.recorded.nodes[0] == "n[1,3]"
    assert list(b.extras.outages) == list(a.extras.outages)
    assert b.extras.topology.switches[1].nodes == a.extras.topology.switches[1].nodes
    user = b.extras.associations.users[0]
    assert (user.account, user.user) == (first.account, first.user)
    assert b.extras.associations.qos[0].name == first.qos
    assert b.extras.associations.qos[0].flags == ("NoReserve",)
    assert [d.count for d in b.extras.gres] == [2]


def test_the_same_key_gives_the_same_names_and_another_one_others():
    one, again, other = Names(b"k" * 16), Names(b"k" * 16), Names(b"o" * 16)
    assert one.name("u", "ada") == again.name("u", "ada")
    assert one.name("u", "ada") != other.name("u", "ada")
    assert one.name("u", "ada") != one.name("a", "ada")
    assert re.fullmatch("u[0-9a-f]{12}", one.name("u", "ada"))


def test_a_key_is_made_for_its_owner_alone_and_then_used_again(tmp_path):
    path = tmp_path / "key"
    key = read_key(path)
    assert len(key) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(path) == key
    path.write_text("short")
    with pytest.raises(InputError, match="5 bytes, expected a key of 16 or more"):
        read_key(path)


def test_a_submitting_line_keeps_only_what_is_understood():
    names = Names(b"k" * 16)
    line = reduced_line(names, "srun --mail-user=me@x.org -n 4 --export=SECRET=1 -d bad:x ./a")
    assert line == "sbatch --ntasks=4"
    assert reduced_line(names, "./run.sh --nodes=3") == ""
