"""Accounting for a Slurm on loopback: MariaDB and slurmdbd, with files in one folder."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from daemons import PLACES, daemon

COMMANDS = ("mariadbd", "mariadb-install-db", "slurmdbd", "sacctmgr")
_START_S = 60
_CONFIGURATION = """\
AuthType=auth/none
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database_port}
StorageUser=root
StorageLoc=accounting
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""


def missing_commands() -> list[str]:
    """Return the commands that accounting needs and that are not here."""
    return [command for command in COMMANDS if shutil.which(command, path=PLACES) is None]


@contextmanager
def accounting(folder: Path, port: int, setup: Sequence[str]) -> Iterator[None]:
    """Run a database and slurmdbd at two ports; `setup` are what sacctmgr is told.

    The slurm.conf that names them must be in the folder.
    """
    user, database_port = getpass.getuser(), port + 1
    data = folder / "database"
    made = subprocess.run(
        [
            "mariadb-install-db",
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            f"--user={user}",
            f"--datadir={data}",
        ],
        env=os.environ | {"PATH": PLACES},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    conf = folder / "slurmdbd.conf"
    conf.write_text(
        _CONFIGURATION.format(port=port, user=user, database_port=database_port, folder=folder)
    )
    conf.chmod(0o600)
    database = (
        "mariadbd",
        "--no-defaults",
        f"--user={user}",
        f"--datadir={data}",
        "--bind-address=127.0.0.1",
        f"--port={database_port}",
        f"--socket={folder}/database.sock",
        f"--pid-file={folder}/database.pid",
        "--innodb-buffer-pool-size=64M",
    )
    with daemon(*database):
        _wait_for_port(database_port)
        with daemon("slurmdbd", "-D", SLURM_CONF=str(folder / "slurmdbd.conf")):
            _wait_for_port(port)
            for words in setup:
                tell_accounting(folder, *words.split())
            yield


def tell_accounting(folder: Path, *words: str) -> str:
    """Run sacctmgr, and return what it prints."""
    told = subprocess.run(
        ["sacctmgr", "--immediate", *words],
        env=os.environ | {"SLURM_CONF": str(folder / "slurm.conf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def _wait_for_port(port: int) -> None:
    ends = time.monotonic() + _START_S
    while True:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < ends, f"nobody listens on port {port}"
        time.sleep(0.2)
