"""The driver that asks SimGrid: how it is built, and what it answers."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCES = [
    Path(__file__).with_name(name)
    for name in ("driver.cpp", "driver_commands.hpp", "driver_json.hpp")
]
BINARY = Path(__file__).parents[2] / "build" / "simgrid" / "driver"
HEADER = "simgrid/s4u.hpp"
NETWORKS = {  # of time-independent traces, as the published vectors name them
    "L07": [],
    "SMPI": ["--host-model", "default", "--cfg", "network/model:SMPI"],
    "LV08": ["--host-model", "default"],
}

Case = Mapping[str, Any]


class SimGridMissingError(Exception):
    """SimGrid or a compiler for it is not installed."""


def compiler() -> str:
    """Return a compiler that finds SimGrid."""
    found = shutil.which("g++")
    if found is None:
        raise SimGridMissingError("no g++ here to build the driver that asks SimGrid")
    probe = [found, "-E", "-include", HEADER, "-x", "c++", "/dev/null"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        raise SimGridMissingError(
            "SimGrid is not installed (Debian's libsimgrid-dev; `make test-simgrid`)"
        )
    return found


def is_fresh() -> bool:
    newest = max(source.stat().st_mtime for source in SOURCES)
    return BINARY.exists() and BINARY.stat().st_mtime >= newest


def build() -> None:
    """Compile the driver, unless that was done since it was last changed."""
    found = compiler()
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    with BINARY.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes may come at once
        if not is_fresh():
            compile_driver(found)


def compile_driver(compiler: str) -> None:
    options = ["-std=c++20", "-O2", "-Wall", "-Wextra"]
    fresh = BINARY.with_suffix(".new")
    subprocess.run([compiler, *options, SOURCES[0], "-o", fresh, "-lsimgrid"], check=True)
    fresh.rename(BINARY)


@dataclass(frozen=True)
class Driver:
    """A built driver."""

    binary: Path

    @classmethod
    def built(cls) -> Driver:
        build()
        return cls(BINARY)

    def answers(
        self, cases: Sequence[Case], *, processes: int = 2, limit_s: int = 60
    ) -> list[dict[str, Any]]:
        """Return what SimGrid says to each case, in their form of `expect`, with `cpu_seconds`."""
        with tempfile.TemporaryDirectory() as folder:
            lines = [self._written(Path(folder) / str(i), case) for i, case in enumerate(cases)]
            return self._batches(Path(folder), lines, processes, limit_s)

    def replays(
        self, cases: Sequence[Case], network: str, *, processes: int = 2, limit_s: int = 60
    ) -> list[dict[str, Any]]:
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
    ) -> list[dict[str, Any]]:
        """Deal the cases to processes in turns, and put their answers in order again."""

        def deal(number: int) -> list[dict[str, Any]]:
            batch = folder / f"batch{number}"
            batch.write_text("".join(f"{line}\n" for line in lines[number::processes]))
            words = [self.binary, "--limit", str(limit_s), "--batch", batch]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            return [json.loads(line) for line in done.stdout.splitlines()]

        found: list[dict[str, Any]] = [{} for _ in lines]
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
