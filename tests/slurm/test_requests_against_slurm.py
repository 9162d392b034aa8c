"""What jobs ask for besides nodes and CPUs, and who they are: the model against a real Slurm.

Each configuration has a cluster of its own. `make test-slurm` runs them.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import loopback_database
import pytest
from loopback_slurm import AGAINST_SLURM, loopback_slurm
from test_against_slurm import compared, starts

from noctule.cli import main
from noctule.slurm.truth.fidelity import deviation
from noctule.slurm.truth.sets import read_truth
from noctule.slurm.truth.submissions import Submission, trace_table

pytestmark = AGAINST_SLURM
CORES = "SelectType=select/cons_tres\nSchedulerParameters=bf_interval=10\nSelectTypeParameters="
NODES = "SelectType=select/linear\nSchedulerParameters=bf_interval=10\n"
TREE = """\
SwitchName=s1 Nodes=n[1-3]
SwitchName=s2 Nodes=n[4-5]
SwitchName=s3 Nodes=n[6-8]
SwitchName=s0 Switches=s[1-3]
"""
GPUS = """\
NodeName=n[1-2] Name=gpu Type=a File={folder}/gpu[0-1]
NodeName=n[1-2] Name=gpu Type=b File={folder}/gpu[2-3]
NodeName=n[3-4] Name=gpu Type=b File={folder}/gpu[0-3]
"""
WHOLE = {"nodes": (1, 1, 2, 3), "cpus": (0,)}
# lines of slurm.conf, numbers of nodes with more of their lines, files beside it; what jobs ask for
CONFIGURATIONS = {
    "gpus": (
        f"{CORES}CR_Core_Memory\nGresTypes=gpu\nDefMemPerCPU=500\n",
        [(2, "Gres=gpu:a:2,gpu:b:2"), (2, "Gres=gpu:b:4 RealMemory=16000"), (2, "")],
        {"gres.conf": GPUS},
        ["--gres=gpu:a:1", "--gpus=b:3", "--gres=gpu:2 --mem=2000", "--mem=9000", "--mem=0", ""],
        {},
    ),
    "loaded": (f"{CORES}CR_Core,CR_LLN\n", [(3, "")], {}, ["", "--nodes=2", "--nodes=1"], {}),
    "features": (
        NODES,
        [(2, "Weight=5 Features=x,y"), (3, "Features=y"), (3, "Weight=3 Features=z")],
        {},
        ["", "--constraint=y", "--constraint='x|z'", "--exclude=n5"],
        WHOLE,
    ),
    "leaves": (
        f"{CORES}CR_Core\nTopologyPlugin=topology/tree\n",
        [(8, "")],
        {"topology.conf": TREE},
        [""],
        {"cpus": (1, 4, 8, 12, 16, 30)},
    ),
    "switches": (
        f"{NODES}TopologyPlugin=topology/tree\n",
        [(8, "")],
        {"topology.conf": TREE},
        [""],
        {**WHOLE, "nodes": (1, 1, 2, 3, 4)},
    ),
}
FAIR = f"""{NODES}
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityWeightAge=1000
PriorityMaxAge=00:05:00
PriorityWeightQOS=2000
PriorityWeightJobSize=100
PriorityCalcPeriod=1
PriorityDecayHalfLife=01:00:00
AccountingStorageEnforce=limits,qos,associations
"""
USER = os.environ.get("USER") or "root"
ACCOUNTS = [
    "add cluster loopback",
    "add account a Fairshare=3",
    "add account b Fairshare=1",
    "add account c Fairshare=1 parent=b GrpTRES=node=3",
    "add qos high Priority=100",
    "add qos few MaxJobsPerUser=2",
    "modify qos normal set Priority=10",
    *(f"add user {USER} account={name}" for name in "abc"),
    f"modify user {USER} set qos=normal,high,few",
]


def drawn(
    options: Sequence[str],
    *,
    nodes: Sequence[int] = (0,),
    cpus: Sequence[int] = (1, 2, 3, 4, 6),
    n_jobs: int = 26,
) -> list[Submission]:
    """Return jobs that come in half a minute and run for about one."""
    rng = random.Random(5)
    date, jobs = 0.0, []
    for i in range(n_jobs):
        date += rng.expovariate(1.0)
        wanted = rng.choice(nodes), rng.choice(cpus)
        limit, duration = rng.choice([1, 1, 2, 5]), rng.choice([3, 6, 10, 14])
        jobs.append(Submission(date, *wanted, duration, limit, "", f"j{i}", rng.choice(options)))
    return jobs


def replay_all(path: Path, jobs: list[Submission], *, files: Mapping[str, str], **cluster) -> None:
    """Replay jobs on a Slurm of their own, and write a set."""
    trace = path.with_suffix(".jobs.csv")
    trace.write_text(trace_table(jobs))
    # a short path: those of sockets are bounded
    with tempfile.TemporaryDirectory(prefix="slurm-") as short:
        folder = Path(short)
        for i in range(4):
            (folder / f"gpu{i}").touch()
        texts = {name: text.format(folder=folder) for name, text in files.items()}
        with loopback_slurm(folder, files=texts, **cluster) as slurm:
            words = ["slurm", "replay", str(trace), "--conf", str(slurm.conf), "-o", str(path)]
            assert main(words) == 0


def check_decisions(path: Path, jobs: list[Submission], capsys) -> None:
    """Check by the command that the model's decisions are those that were made."""
    truth = read_truth(path)
    assert [job.options for job in truth.jobs] == [job.options for job in jobs], path.name
    assert {job.state for job in truth.jobs} == {"COMPLETED"}, path.name
    found = deviation(truth.jobs, starts(compared(truth, capsys)["decisions"], truth))
    assert (found.n_close_starts, found.n_exact_nodes) == (len(jobs), len(jobs)), path.name


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_memory_gpus_features_weights_and_switches(name, tmp_path, capsys):
    more, kinds, files, asked, sizes = CONFIGURATIONS[name]
    jobs = drawn(asked, **sizes)
    replay_all(tmp_path / name, jobs, more=more, kinds=kinds, files=files)
    check_decisions(tmp_path / name, jobs, capsys)


def test_fair_shares_and_limits_of_a_database(tmp_path, capsys):
    if missing := loopback_database.missing_commands():
        pytest.skip(f"no {', '.join(missing)} here, expected Debian's slurmdbd and mariadb-server")
    options = ["--account=a", "--account=b", "--account=a --qos=high", "--account=c"]
    jobs = drawn([*options, "--account=b --qos=few"], **WHOLE, n_jobs=36)
    path = tmp_path / "accounts"
    replay_all(path, jobs, more=FAIR, kinds=[(6, "")], accounts=ACCOUNTS, files={})
    assert path.with_suffix(".associations.txt").is_file()
    check_decisions(path, jobs, capsys)
