"""A Slurm of one node on loopback, from Debian's packages, with all its files in one folder."""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from daemons import daemon

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = (*DAEMONS, "sbatch", "scancel", "sinfo", "squeue")
_START_S = 60
_CONFIGURATION = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={daemon_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
SchedulerParameters=sched_interval=2,batch_sched_delay=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=normal Nodes={host} Default=YES MaxTime=20 State=UP
"""


def missing_commands() -> list[str]:
    """Return the commands of Slurm and MUNGE that are not here."""
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    return [command for command in COMMANDS if shutil.which(command, path=places) is None]


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """Run the daemons; give the environment in which commands find them."""
    configuration = _configuration(folder)
    environment = {"SLURM_CONF": str(configuration)}
    with ExitStack() as stack:
        munge = f"--key-file={folder}/munge.key --socket={folder}/munge.socket".split()
        files = [f"--{kind}-file={folder}/munged.{kind}" for kind in ("pid", "log", "seed")]
        stack.enter_context(daemon("munged", "--foreground", "--force", *munge, *files))
        _wait_for((folder / "munge.socket").exists, folder / "munged.log")
        stack.enter_context(daemon("slurmctld", "-D", "-f", str(configuration), **environment))
        stack.enter_context(daemon("slurmd", "-D", "-f", str(configuration), **environment))
        _wait_for(lambda: _is_idle(environment), folder / "slurmctld.log", folder / "slurmd.log")
        yield environment


def _configuration(folder: Path) -> Path:
    for name in ("state", "spool"):
        (folder / name).mkdir()
    # its socket must be within reach of all users, its key of one
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    text = _CONFIGURATION.format(
        host=socket.gethostname().partition(".")[0],
        user=getpass.getuser(),
        folder=folder,
        controller_port=_free_port(),
        daemon_port=_free_port(),
    )
    path = folder / "slurm.conf"
    path.write_text(text)
    return path


def _is_idle(environment: dict[str, str]) -> bool:
    words = ["sinfo", "--noheader", "--format=%T"]
    asked = subprocess.run(
        words, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() == "idle"


def _wait_for(is_true, *logs: Path) -> None:
    ends = time.monotonic() + _START_S
    while not is_true():
        if time.monotonic() > ends:
            said = [f"{log}:\n{log.read_text()}" for log in logs if log.exists()]
            raise AssertionError("\n".join(["Slurm did not start", *said]))
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port
