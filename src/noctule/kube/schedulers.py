"""Starting schedulers: how they find the API, and flags that fit their versions.

Programs that say in their `--help` which flags they know (kube-scheduler and its kin) get those
that let them run against a simulated cluster, unless the user gave them. All others find the API by
the variable KUBECONFIG, or by {kubeconfig}, {server} and {name} in their arguments.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from noctule.errors import InputError
from noctule.kube.scheduler_config import complete_config
from noctule.kube.session import Access, Program
from noctule.kube.settings import Settings
from noctule.vclock.clock import Clock
from noctule.vclock.launching import find_program, is_go
from noctule.vclock.program import VirtualProgram
from noctule.vclock.real_time import RealTime, RealTimeProgram
from noctule.vclock.support import is_supported

DEFAULT_NAME = "default-scheduler"
_SECONDS_TO_ANSWER = 20.0
_FLAG = re.compile(r"^\s+(?:-\w, )?--([a-z][a-z0-9-]*)", re.MULTILINE)
_VERSION = re.compile(r"^(Kubernetes|Version)\b.*", re.MULTILINE)
# One kube-scheduler asks for 50 things a second of its own clock if nobody says otherwise.
_USUAL_FLAGS = {
    "leader-elect": "false",
    "kube-api-content-type": "application/json",
    "kube-api-qps": "5000",
    "kube-api-burst": "10000",
    "secure-port": "0",
    "port": "0",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A scheduler to start: which Pods are its, by `schedulerName`, and its words."""

    name: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        """Write it as it can be read again."""
        return f"{self.name}={shlex.join(self.words)}"


def commands_of(text: str) -> list[Command]:
    """Read schedulers from lines such as `NAME=COMMAND`; without a name it is the default one."""
    found: list[Command] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        named = re.match(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?)=(?=\S)", line)
        name = named[1] if named else DEFAULT_NAME
        words = words_of(f"scheduler {name}", line[named.end() :] if named else line)
        if name in (other.name for other in found):
            raise InputError(f"scheduler {name}: given twice, expected one command for each name")
        found.append(Command(name, tuple(words)))
    return found


def words_of(what: str, line: str) -> list[str]:
    """Split a command as a shell would; an error says whose it is."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise InputError(f"{what}: {error}, expected a command") from None


class Attached(RealTime):
    """A scheduler that the user starts: in real time, and nobody's to end."""

    name = "the scheduler"
    exit_status = None
    pid = 0

    def __init__(self, speed: float) -> None:
        """Simulated time is real time, `speed` times as fast."""
        super().__init__(speed, patience=0.05)

    def stop(self, grace: float = 2.0) -> int:  # noqa: ARG002
        """Leave it alone."""
        return 0

    def blocked_report(self) -> str:
        """Say that nobody knows."""
        return "the scheduler that was attached does not come to rest"


class Launcher:
    """Starts programs beside an API, on one clock.

    Attributes:
        versions: what programs said of their version, by name.
    """

    def __init__(self, access: Access, settings: Settings, log: IO[bytes]) -> None:
        """Take where the API is, and where the output of programs goes."""
        self.versions: dict[str, str] = {}
        self._access = access
        self._settings = settings
        self._log = log
        self._clock: Clock | None = None
        if settings.clock == "virtual":
            support = is_supported()
            if not support:
                raise InputError(
                    f"kube: clock: programs cannot run on simulated time here: {support.reason}; "
                    "the clock `real` needs nothing, but its results vary"
                )
            self._clock = Clock()

    def start(self, command: Command) -> Program:
        """Start a scheduler."""
        return self._launch(self._words(command))

    def start_beside(self, words: Sequence[str]) -> Program:
        """Start something that schedulers talk to, such as an extender, as it is."""
        return self._launch(self._filled(words, ""))

    def close(self) -> None:
        """Give the clock back."""
        if self._clock is not None:
            self._clock.close()

    def _launch(self, words: Sequence[str]) -> Program:
        environment = self._environment()
        if self._clock is None:
            return RealTimeProgram(
                words,
                env=environment,
                stdout=self._log,
                stderr=self._log,
                speed=self._settings.speed,
            )
        seed = self._settings.seed
        return VirtualProgram(
            words,
            env=environment,
            stdout=self._log,
            stderr=self._log,
            seed=seed.to_bytes(16, "little") if seed else None,
            clock=self._clock,
        )

    def _environment(self) -> dict[str, str]:
        environment = {**os.environ, "KUBECONFIG": str(self._access.kubeconfig)}
        # a proxy of the site is not for the loopback interface
        for name in ("NO_PROXY", "no_proxy"):
            environment[name] = ",".join(filter(None, (environment.get(name), "127.0.0.1")))
        environment.setdefault("GOGC", "400")
        # Volcano opens a socket, by default at a place that all runs would share
        environment.setdefault("DEBUG_SOCKET_DIR", str(self._access.folder))
        if self._settings.seed:
            environment.setdefault("GODEBUG", "randautoseed=0")
            environment.setdefault("PYTHONHASHSEED", str(self._settings.seed % 2**32))
        return environment

    def _words(self, command: Command) -> list[str]:
        words = self._filled(command.words, command.name)
        program = find_program(words[0], self._environment())
        if not is_go(program):
            return words
        known = set(_FLAG.findall(self._said_by(program, "--help")))
        if "kubeconfig" not in known and "master" not in known:
            raise InputError(
                f"{words[0]}: its --help tells neither of --kubeconfig nor of --master, "
                "expected a scheduler of Kubernetes"
            )
        if "version" in known:
            said = self._said_by(program, "--version=true").strip()
            version = _VERSION.search(said)
            self.versions[command.name] = version[0] if version else said.partition("\n")[0]
        return self._with_flags(words, known, command)

    def _with_flags(self, words: list[str], known: set[str], command: Command) -> list[str]:
        given = _given_flags(words)
        added: dict[str, str] = {}
        if "config" in given:
            words = self._with_config(words, command.name)
            added["master"] = self._access.url
        elif "scheduler-name" in known:
            added["scheduler-name"] = command.name
        elif (command.name != DEFAULT_NAME or self._settings.seed) and "config" in known:
            path = self._completed(None, command.name)
            added |= {"config": str(path), "master": self._access.url}
        added |= {"kubeconfig": str(self._access.kubeconfig), **_USUAL_FLAGS}
        flags = [
            f"--{name}={value}"
            for name, value in added.items()
            if name in known and name not in given
        ]
        return [words[0], *flags, *words[1:]]

    def _with_config(self, words: list[str], name: str) -> list[str]:
        """Let the scheduler read a copy of the user's file that knows the API."""
        found = list(words)
        for i, word in enumerate(words):
            flag, equals, value = word.partition("=")
            if flag not in ("--config", "-config"):
                continue
            if equals:
                found[i] = f"{flag}={self._completed(Path(value), name)}"
            elif i + 1 < len(words):
                found[i + 1] = str(self._completed(Path(words[i + 1]), name))
        return found

    def _completed(self, path: Path | None, name: str) -> Path:
        return complete_config(path, self._access, name, is_repeatable=self._settings.seed > 0)

    def _filled(self, words: Sequence[str], name: str) -> list[str]:
        places = {
            "{kubeconfig}": str(self._access.kubeconfig),
            "{server}": self._access.url,
            "{name}": name,
        }
        found = list(words)
        for place, value in places.items():
            found = [word.replace(place, value) for word in found]
        return found

    def _said_by(self, program: Path, flag: str) -> str:
        try:
            answer = subprocess.run(
                [program, flag],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS_TO_ANSWER,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{program}: did not end with {flag} in {_SECONDS_TO_ANSWER:g} s, "
                "expected a scheduler of Kubernetes"
            ) from None
        except OSError as error:
            raise InputError(f"{program}: cannot be run: {error.strerror}") from None
        return (answer.stdout + answer.stderr).decode(errors="replace")


def _given_flags(words: Sequence[str]) -> set[str]:
    return {word.lstrip("-").partition("=")[0] for word in words[1:] if word.startswith("-")}


def write_kubeconfig(access: Access) -> None:
    """Write the file by which clients find the API; the token is in the address."""
    content: Mapping[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "noctule", "cluster": {"server": access.url}}],
        "users": [{"name": "noctule", "user": {}}],
        "contexts": [{"name": "noctule", "context": {"cluster": "noctule", "user": "noctule"}}],
        "current-context": "noctule",
    }
    access.kubeconfig.touch(mode=0o600)
    access.kubeconfig.write_text(json.dumps(content, indent=2) + "\n")
