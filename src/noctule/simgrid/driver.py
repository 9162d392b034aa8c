"""The program that asks SimGrid, and what it answers."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noctule.errors import InputError
from noctule.simgrid.building import binary_path, build, find_compiler, simgrid_version

NETWORKS: Mapping[str, Sequence[str]] = {
    # of time-independent traces, as the published vectors name them
    "L07": [],
    "SMPI": ["--host-model", "default", "--cfg", "network/model:SMPI"],
    "LV08": ["--host-model", "default"],
}

Case = Mapping[str, Any]
Answer = dict[str, Any]
# what SimGrid writes before a message: where, when, and which part of it complains
_LOG_PREFIX = re.compile(r"^(driver: )?(\S+:\d+: )?(\[[^]]*\] )*")


@dataclass(frozen=True, slots=True)
class Driver:
    """A built program, and the version of the SimGrid that it asks."""

    binary: Path
    simgrid_version: str

    @classmethod
    def built(cls, say: Callable[[str], object] | None = None) -> Driver:
        """Return the program; it is compiled if that was not done before, which is said."""
        compiler = find_compiler()
        version = simgrid_version(compiler)
        binary = binary_path(compiler, version)
        if say is not None and not binary.is_file():
            say(f"SimGrid {version}: building the program that asks it, to be kept as {binary}")
        return cls(build(compiler, version), version)

    def answer(
        self,
        platform: Path,
        commands: Sequence[str],
        settings: Sequence[str] = (),
        *,
        energy: bool = False,
    ) -> Answer:
        """Return what SimGrid says to commands on a platform file; refuse what it refuses.

        `settings` are KEY:VALUE, as SimGrid takes them.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "commands"
            file.write_text("".join(f"{command}\n" for command in commands))
            words = [str(self.binary), *(["--energy"] if energy else [])]
            for setting in settings:
                words += ["--cfg", setting]
            words += [str(platform.absolute()), str(file)]
            done = subprocess.run(
                words, capture_output=True, check=False, encoding="utf-8", errors="replace"
            )
        if done.returncode != 0:
            raise InputError(
                f"SimGrid {self.simgrid_version} refuses it, or what is done on it: "
                f"{_complaint(done)}"
            )
        found: Answer = json.loads(done.stdout)
        return found

    def answers(
        self, cases: Sequence[Case], *, processes: int = 2, limit_s: int = 60
    ) -> list[Answer]:
        """Return what SimGrid says to each case, in their form of `expect`, with `cpu_seconds`."""
        with tempfile.TemporaryDirectory() as folder:
            lines = [self._written(Path(folder) / str(i), case) for i, case in enumerate(cases)]
            return self._batches(Path(folder), lines, processes, limit_s)

    def replays(
        self, cases: Sequence[Case], network: str, *, processes: int = 2, limit_s: int = 60
    ) -> list[Answer]:
        """Return the dates at which the ranks of SMPI traces end."""
        with tempfile.TemporaryDirectory() as folder:
            lines = []
            for i, case in enumerate(cases):
                place = Path(folder) / str(i)
                place.mkdir()
                actions = [
                    f"{rank} {action}"
                    for rank, part in enumerate(case["traces"])
                    for action in part
                ]
                words = [*NETWORKS[network], "--smpi", ",".join(case["hosts"])]
                lines.append(self._placed(place, case, actions, words))
            return self._batches(Path(folder), lines, processes, limit_s)

    def _batches(
        self, folder: Path, lines: Sequence[str], processes: int, limit_s: int
    ) -> list[Answer]:
        """Deal the cases to processes in turns, and put their answers in order again."""

        def deal(number: int) -> list[Answer]:
            batch = folder / f"batch{number}"
            batch.write_text("".join(f"{line}\n" for line in lines[number::processes]))
            words = [str(self.binary), "--limit", str(limit_s), "--batch", str(batch)]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            return [json.loads(line) for line in done.stdout.splitlines()]

        found: list[Answer] = [{} for _ in lines]
        with ThreadPoolExecutor(processes) as pool:
            for number, part in enumerate(pool.map(deal, range(processes))):
                found[number::processes] = part
        return found

    def _written(self, place: Path, case: Case) -> str:
        place.mkdir()
        words = ["--host-model", case["host_model"]]
        for setting in case["cfg"]:
            words += ["--cfg", setting]
        if case["energy"]:
            words.append("--energy")
        return self._placed(place, case, case["commands"], words)

    @staticmethod
    def _placed(place: Path, case: Case, commands: Sequence[str], words: Sequence[str]) -> str:
        """Write the files of a case; return its line of a batch."""
        for name, text in case.get("files", {}).items():
            (place / name).write_text(text)
        (place / "platform.xml").write_text(case["platform_xml"])
        (place / "commands").write_text("".join(f"{command}\n" for command in commands))
        return "\t".join([*words, str(place / "platform.xml"), str(place / "commands")])


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    """Return the first thing that SimGrid said before it ended, or how it ended."""
    lines = [_LOG_PREFIX.sub("", line).strip() for line in done.stderr.splitlines()]
    said = [line for line in lines if line]
    if said:
        return said[0]
    code = done.returncode
    return f"ended by signal {-code}" if code < 0 else f"ended with the code {code}"
