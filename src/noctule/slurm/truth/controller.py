"""A live Slurm, spoken to by its own commands: scontrol, sbatch and scancel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from noctule.errors import InputError
from noctule.slurm.truth.submissions import Submission

COMMANDS = ("scontrol", "sbatch", "scancel")
_PAIR = re.compile(r"(\w+)=(\S*)")
_SETTING = re.compile(r"(\w+)\s*=\s?(.*)")
_PATIENCE = 60
_AT_ONCE = 500  # job numbers in one call


class Controller:
    """The Slurm that answers here, with the configuration file or that of the machine."""

    def __init__(self, conf: str | None = None) -> None:
        missing = [command for command in COMMANDS if shutil.which(command) is None]
        if missing:
            raise InputError(
                f"{', '.join(missing)}: no such command, expected the commands of a Slurm here"
            )
        # epoch seconds whatever the time zone, and nothing that changes what jobs ask for
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SBATCH_", "SLURM_")) or name == "SLURM_CONF"
        }
        self._environment["SLURM_TIME_FORMAT"] = "%s"
        if conf is not None:
            self._environment["SLURM_CONF"] = str(Path(conf).resolve())
        self._check_answer()

    def _check_answer(self) -> None:
        said = self._try(["scontrol", "ping"])
        if " is UP" not in said.stdout:
            reason = " ".join((said.stdout + said.stderr).split()) or "no answer"
            raise InputError(f"scontrol ping: {reason}; expected a Slurm controller that is up")

    def _try(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                words,
                env=self._environment,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_PATIENCE,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us: a submission under way is finished
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"{words[0]}: no answer within {_PATIENCE} s") from None
        except OSError as error:
            raise InputError(f"{words[0]}: cannot be called: {error.strerror or error}") from None

    def _ask(self, words: Sequence[str]) -> str:
        said = self._try(words)
        if said.returncode:
            raise InputError(f"{words[0]}: {' '.join(said.stderr.split()) or 'failed'}")
        return said.stdout

    def settings(self) -> dict[str, str]:
        """Return the configuration in force, by name."""
        text = self._ask(["scontrol", "show", "config"])
        found = (_SETTING.fullmatch(line.strip()) for line in text.splitlines())
        return {match[1]: match[2].strip() for match in found if match is not None}

    def accounts(self, cluster: str) -> dict[str, str]:
        """Return what the database knows of a cluster: its accounts, and QOS as a table."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dump"
            self._ask(["sacctmgr", "--immediate", "dump", cluster, f"File={path}"])
            dump = path.read_text()
        qos = self._ask(["sacctmgr", "--parsable2", "show", "qos"])
        return {".associations.txt": dump, ".qos.txt": qos}

    def submit(self, job: Submission) -> int:
        """Submit a job that sleeps, and return its number."""
        words = ["sbatch", "--parsable", "--output=/dev/null", "--chdir=/", *job.words()]
        text = self._ask(words).strip().partition(";")[0]
        if not text.isdigit():
            raise InputError(f"sbatch: got {text!r}, expected the number of a job")
        return int(text)

    def cancel(self, numbers: Sequence[int]) -> None:
        """Cancel jobs, as many of them as are there."""
        for i in range(0, len(numbers), _AT_ONCE):
            self._try(["scancel", *map(str, numbers[i : i + _AT_ONCE])])

    def jobs(self) -> dict[int, Mapping[str, str]]:
        """Return what the controller knows of jobs, by number: dates are epoch seconds."""
        text = self._ask(["scontrol", "--oneliner", "--all", "show", "jobs"])
        return {int(row["JobId"]): row for row in map(pairs, text.splitlines()) if "JobId" in row}


def pairs(line: str) -> dict[str, str]:
    """Return the parts of a line like `JobId=1 JobState=RUNNING`."""
    found: dict[str, str] = {}
    for match in _PAIR.finditer(line):
        found.setdefault(match[1], match[2])
    return found
