"""Our reading of a slurm.conf is that of the controller that reads it. `make test-slurm`."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.conf.settings import read_settings

_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "NOCTULE_TEST_SLURM" not in os.environ, reason="run by make test-slurm, which installs it"
    ),
]
_HEAD = """
ClusterName=reading
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
MpiDefault=none
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdParameters=config_overrides
"""
# ports of the nodes' daemons, which are never started
CASES = {
    "plain": "NodeName=n[1-4] NodeAddr=127.0.0.1 Port=[20001-20004] CPUs=48\n"
    "PartitionName=main Nodes=ALL Default=YES\n",
    "shapes": "NodeName=DEFAULT RealMemory=2000 Weight=3\n"
    "NodeName=a1 NodeAddr=127.0.0.1 Port=20001 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 "
    "Features=x,y\n"
    "NodeName=b1 NodeAddr=127.0.0.1 Port=20002 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CPUs=8\n"
    "NodeName=c1 NodeAddr=127.0.0.1 Port=20003 Sockets=2 CoresPerSocket=4 CPUs=7 RealMemory=64000\n"
    "NodeName=DEFAULT Weight=7\n"
    "NodeName=d1 NodeAddr=127.0.0.1 Port=20004 CPUs=16 CoresPerSocket=4 ThreadsPerCore=2\n"
    "NodeName=e1 NodeAddr=127.0.0.1 Port=20005 Boards=2 SocketsPerBoard=2 CoresPerSocket=4\n"
    "NodeName=f1 NodeAddr=127.0.0.1 Port=20006 Boards=2 Sockets=2 CoresPerSocket=4\n"
    "PartitionName=main Nodes=ALL Default=YES\n",
    "partitions": "KillWait=45\nOverTimeLimit=3\nCompleteWait=7\nMinJobAge=600\n"
    "EnforcePartLimits=ANY\nMaxArraySize=500\nMessageTimeout=20\nResvOverRun=2\n"
    "SelectType=select/cons_tres\nDefMemPerCPU=100\nUnkillableStepTimeout=99\n"
    "NodeName=n[08-12] NodeAddr=127.0.0.1 Port=[20001-20005] CPUs=4 RealMemory=8000 Features=big\n"
    "NodeName=m[1-3] NodeAddr=127.0.0.1 Port=[20006-20008] CPUs=2\n"
    "NodeSet=large Feature=big\n"
    "PartitionName=DEFAULT MaxTime=1-2:30 State=UP PriorityTier=4\n"
    "PartitionName=short Nodes=n[08-09] MaxTime=5:30 MaxNodes=2 MinNodes=1 DefaultTime=2\n"
    "PartitionName=wide Nodes=large,m2 Default=YES OverSubscribe=FORCE:3 LLN=YES\n"
    "PartitionName=whole Nodes=ALL MaxTime=UNLIMITED OverSubscribe=EXCLUSIVE Priority=9\n"
    "PartitionName=off Nodes=m[1-3] State=DRAIN OverTimeLimit=1 GraceTime=12 MaxCPUsPerNode=1\n"
    "PartitionName=memory Nodes=m1 DefMemPerCPU=10 DefMemPerNode=20 MaxMemPerNode=50\n"
    "PartitionName=memory2 Nodes=m1 MaxMemPerCPU=70 PriorityJobFactor=5 ExclusiveUser=YES\n",
    "priorities": "PriorityType=priority/multifactor\nPriorityWeightAge=1000\n"
    "PriorityWeightJobSize=7\nPriorityMaxAge=2-12\nPriorityDecayHalfLife=14-0\n"
    "PriorityCalcPeriod=10\nPriorityFavorSmall=YES\nPreemptType=preempt/partition_prio\n"
    "PreemptMode=REQUEUE\nSuspendTime=300\nSuspendTimeout=40\nResumeTimeout=90\nResumeRate=10\n"
    "KillWait=1\nKillWait=2\n"
    "NodeName=n[1-2] NodeAddr=127.0.0.1 Port=[20001-20002] CPUs=4\n"
    "PartitionName=p Nodes=ALL PreemptMode=OFF\nPartitionName=q Nodes=n2\n",
}
REFUSED = {
    "suspend without gang": "PreemptMode=SUSPEND\nPreemptType=preempt/partition_prio\n",
    "preemption that does nothing": "PreemptType=preempt/qos\n",
    "preemption of nobody": "PreemptMode=REQUEUE\n",
    "cores of whole nodes": "SelectTypeParameters=CR_Core\n",
    "two units": "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core,CR_CPU\n",
    "no period": "PriorityType=priority/multifactor\nPriorityCalcPeriod=0\n",
    "a word as a number": "KillWait=soon\n",
    "a node twice": "NodeName=n[1-2] CPUs=1\n",
    "no such node": "PartitionName=q Nodes=x9\n",
    "a line of nothing": "some words\n",
}


@contextmanager
def controller(text):
    """Start a controller alone; give its folder, or None where it ends by itself."""
    if shutil.which("slurmctld", path=_PATH) is None:
        pytest.skip("no slurmctld here, expected Debian's slurm-wlm")
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        folder = Path(name)
        (folder / "state").mkdir()
        with socket.socket() as asked:
            asked.bind(("127.0.0.1", 0))
            port = asked.getsockname()[1]
        head = _HEAD.format(
            host=socket.gethostname().partition(".")[0],
            port=port,
            user=getpass.getuser(),
            folder=folder,
        )
        (folder / "slurm.conf").write_text(head + text)
        words = [shutil.which("slurmctld", path=_PATH), "-D", "-f", str(folder / "slurm.conf")]
        nothing = subprocess.DEVNULL
        daemon = subprocess.Popen(words, stdout=nothing, stderr=nothing)
        try:
            yield folder if _answers(folder, daemon) else None
        finally:
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _answers(folder, daemon):
    ends = time.monotonic() + 30
    while daemon.poll() is None and time.monotonic() < ends:
        if "ClusterName" in shown(folder, "config"):
            return True
        time.sleep(0.3)
    return False


def shown(folder, what):
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    words = ["scontrol", "--oneliner", "show", what]
    asked = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return asked.stdout


def config(folder):
    lines = (line.partition("=") for line in shown(folder, "config").splitlines())
    return {key.strip(): value.strip() for key, equals, value in lines if equals}


def entities(folder, what):
    lines = shown(folder, what).splitlines()
    return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines if line.strip()]


def seconds(value):
    return int(value.partition(" ")[0])


def minutes(text):
    return None if text in ("UNLIMITED", "NONE") else _minutes(text)


def _minutes(text):
    days, _, clock = text.rpartition("-")
    hours, mins, secs = map(int, clock.split(":"))
    return (int(days or 0) * 24 + hours) * 60 + mins + (secs > 0)


def bound(text):
    return None if text == "UNLIMITED" else int(text)


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_what_the_controller_says(name):
    with controller(CASES[name]) as folder:
        assert folder is not None
        ours = read_settings(folder / "slurm.conf")
        told, nodes, parts = (
            config(folder),
            entities(folder, "node"),
            entities(folder, "partition"),
        )
    ends, limits = ours.ends, ours.limits
    for key, value in {
        "KillWait": ends.kill_wait,
        "CompleteWait": ends.complete_wait,
        "MinJobAge": ends.min_job_age,
        "MessageTimeout": ends.message_timeout,
        "OverTimeLimit": ends.over_time_limit,
        "ResvOverRun": ends.resv_over_run,
        "UnkillableStepTimeout": ends.unkillable_step_timeout,
        "MaxArraySize": limits.max_array_size,
        "SuspendTimeout": ours.power.suspend_timeout,
        "ResumeTimeout": ours.power.resume_timeout,
        "ResumeRate": ours.power.resume_rate,
        "SchedulerTimeSlice": ours.preemption.time_slice,
    }.items():
        assert seconds(told[key]) == value, key
    for key, value in {
        "SelectType": ours.select.select_type,
        "PriorityType": ours.priority.priority_type,
        "PreemptType": ours.preemption.preempt_type,
        "PreemptMode": ",".join(ours.preemption.preempt_mode),
        "EnforcePartLimits": limits.enforce_part_limits,
        "SchedulerType": ours.scheduler_type,
    }.items():
        assert told[key] == value, key
    if ours.priority.priority_type == "priority/multifactor":
        assert _minutes(told["PriorityMaxAge"]) * 60 == ours.priority.max_age
        assert _minutes(told["PriorityDecayHalfLife"]) * 60 == ours.priority.decay_half_life
        assert _minutes(told["PriorityCalcPeriod"]) * 60 == ours.priority.calc_period
    _same_nodes(nodes, ours.nodes)
    _same_partitions(parts, ours)


def _same_nodes(told, ours):
    # scontrol lists them by name
    assert sorted(n["NodeName"] for n in told) == sorted(node.name for node in ours)
    by_name = {node.name: node for node in ours}
    for one in told:
        node = by_name[one["NodeName"]]
        assert (
            int(one["CPUTot"]),
            int(one["Boards"]),
            int(one["Sockets"]),
            int(one["CoresPerSocket"]),
            int(one["ThreadsPerCore"]),
            int(one["RealMemory"]),
            int(one["Weight"]),
        ) == (
            node.cpus,
            node.boards,
            node.sockets,
            node.cores_per_socket,
            node.threads_per_core,
            node.memory_mb,
            node.weight,
        ), one["NodeName"]
        features = one["AvailableFeatures"]
        assert (features if features != "(null)" else "") == ",".join(node.features)


def _same_partitions(told, settings):
    assert sorted(p["PartitionName"] for p in told) == sorted(p.name for p in settings.partitions)
    for one in told:
        ours = settings.partition(one["PartitionName"])
        names = [settings.nodes[i].name for i in ours.nodes]
        assert sorted(expand_hosts(one["Nodes"])) == sorted(names)
        share = ours.oversubscribe[0]
        if share in ("YES", "FORCE"):
            share += f":{ours.oversubscribe[1]}"
        default = minutes(one["DefaultTime"])
        assert (
            one["State"],
            one["Default"] == "YES",
            minutes(one["MaxTime"]),
            minutes(one["MaxTime"]) if one["DefaultTime"] == "NONE" else default,
            bound(one["MaxNodes"]),
            int(one["MinNodes"]),
            int(one["PriorityTier"]),
            int(one["PriorityJobFactor"]),
            one["OverSubscribe"],
            one["LLN"] == "YES",
            int(one["GraceTime"]),
            bound(one["MaxCPUsPerNode"]),
            one["PreemptMode"],
            one["ExclusiveUser"] == "YES",
        ) == (
            ours.state,
            settings.default_partition is ours,
            ours.max_time,
            ours.default_time,
            ours.max_nodes,
            ours.min_nodes,
            ours.priority_tier,
            ours.priority_job_factor,
            share,
            ours.lln,
            ours.grace_time,
            ours.max_cpus_per_node,
            ",".join(ours.preempt_mode),
            ours.exclusive_user,
        ), one["PartitionName"]
        for key, value in {
            "DefMemPerCPU": ours.def_mem_per_cpu_mb,
            "DefMemPerNode": ours.def_mem_per_node_mb,
            "MaxMemPerCPU": ours.max_mem_per_cpu_mb,
            "MaxMemPerNode": ours.max_mem_per_node_mb,
        }.items():
            if key in one:
                assert (bound(one[key]) or 0) == (value or 0), key
        if one["OverTimeLimit"] != "NONE":
            assert int(one["OverTimeLimit"]) == ours.over_time_limit


@pytest.mark.parametrize("name", REFUSED)
def test_what_we_refuse_keeps_the_controller_from_starting(name, tmp_path):
    text = (
        "NodeName=n[1-2] NodeAddr=127.0.0.1 Port=[20001-20002] CPUs=4\n"
        "PartitionName=p Nodes=n1 Default=YES\n" + REFUSED[name]
    )
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    with pytest.raises(InputError):
        read_settings(path)
    with controller(text) as folder:
        assert folder is None
