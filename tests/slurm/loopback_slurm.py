"""A Slurm of several nodes on loopback: slurmctld and a slurmd for each node, without systemd.

Nodes have CPUs that are not there (`config_overrides`): jobs only sleep. The daemons are started
under the names of their programs, because the role is taken from that name.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from daemons import PLACES, daemon
from loopback_database import accounting

COMMANDS = ("slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo")
_START_S = 60
_CONFIGURATION = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmctldDebug=debug2
DebugFlags=Backfill,Priority
LogTimeFormat=iso8601_ms
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
{accounting}
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.txt
ReturnToService=2
SlurmdTimeout=0
InactiveLimit=0
MinJobAge=3600
KillWait=30
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
{more}
NodeName=DEFAULT CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=8000 State=UNKNOWN
{nodes}
{partitions}
"""


_NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none"
_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}"""


@dataclass(frozen=True, slots=True)
class LoopbackSlurm:
    """Where its files are."""

    folder: Path

    @property
    def conf(self) -> Path:
        return self.folder / "slurm.conf"


def missing_commands() -> list[str]:
    """Return the commands of Slurm that are not here."""
    return [command for command in COMMANDS if shutil.which(command, path=PLACES) is None]


_MISSING = missing_commands()
#: On a busy machine a node may answer on the other side of a pass than the log tells, and all that
#: follows is another schedule: then it is tried again. Where the model is wrong, it fails again.
AGAINST_SLURM = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "NOCTULE_TEST_SLURM" not in os.environ, reason="run by make test-slurm, which installs it"
    ),
    pytest.mark.skipif(
        bool(_MISSING), reason=f"no {', '.join(_MISSING)} here, expected Debian's slurm-wlm"
    ),
    pytest.mark.flaky(reruns=2, only_rerun=["AssertionError"]),
]


@contextmanager
def loopback_slurm(
    folder: Path,
    *,
    n_nodes: int = 6,
    kinds: Sequence[tuple[int, str]] = (),
    files: Mapping[str, str] | None = None,
    accounts: Sequence[str] = (),
    more: str = "SelectType=select/linear\nSchedulerParameters=bf_interval=30",
    partitions: str = "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
) -> Iterator[LoopbackSlurm]:
    """Run the daemons until the nodes are idle; `more` and `partitions` are lines of slurm.conf.

    `kinds` are numbers of nodes and what the line of each says more, if they are not all alike;
    `files` lie beside slurm.conf. `accounts` are what sacctmgr is told before the daemons start:
    there is a database if there are any.
    """
    kinds = kinds or [(n_nodes, "")]
    n_nodes = sum(n for n, _ in kinds)
    host = socket.gethostname().partition(".")[0]
    first = _free_ports(n_nodes + 3)
    (folder / "state").mkdir()
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    (folder / "slurm.conf").write_text(
        _CONFIGURATION.format(
            host=host,
            user=getpass.getuser(),
            folder=folder,
            controller_port=first,
            accounting=_ACCOUNTING.format(port=first + n_nodes + 1) if accounts else _NO_ACCOUNTING,
            nodes="\n".join(_node_lines(kinds, host, first + 1)),
            more=more,
            partitions=partitions,
        )
    )
    found = LoopbackSlurm(folder)
    with ExitStack() as stack:
        if accounts:
            stack.enter_context(accounting(folder, first + n_nodes + 1, accounts))
        calls = [["slurmctld", "-D", "-c"]]
        calls += [["slurmd", "-D", "-N", f"n{i}"] for i in range(1, n_nodes + 1)]
        daemons = [stack.enter_context(daemon(*words, "-f", str(found.conf))) for words in calls]
        _wait_until_idle(found, daemons)
        yield found


def _node_lines(kinds: Sequence[tuple[int, str]], host: str, port: int) -> Iterator[str]:
    i = 1
    for n, more in kinds:
        names, ports = f"n[{i}-{i + n - 1}]", f"[{port}-{port + n - 1}]"
        yield f"NodeName={names} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports} {more}"
        i, port = i + n, port + n


def _wait_until_idle(found: LoopbackSlurm, daemons: list[subprocess.Popen[bytes]]) -> None:
    ends = time.monotonic() + _START_S
    words = ["sinfo", "--noheader", "--Node", "--format=%N %T"]
    environment = os.environ | {"SLURM_CONF": str(found.conf)}
    while True:
        asked = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        idle = {line.split()[0] for line in asked.stdout.splitlines() if line.endswith(" idle")}
        alive = all(daemon.poll() is None for daemon in daemons)
        if alive and len(idle) == len(daemons) - 1:
            return
        if not alive or time.monotonic() > ends:
            said = [f"{log}:\n{log.read_text()[-2000:]}" for log in found.folder.glob("*.log")]
            raise AssertionError("\n".join(["Slurm did not start", asked.stderr, *said]))
        time.sleep(0.5)


def _free_ports(n: int) -> int:
    """Return the first of n ports in a row that nobody listens on; others look elsewhere first."""
    begin = os.getpid() % 150
    for first in (17000 + (begin + i) % 150 * 100 for i in range(150)):
        if all(_is_free(port) for port in range(first, first + n)):
            return first
    raise AssertionError(f"no {n} free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as asked:
        asked.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asked.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
