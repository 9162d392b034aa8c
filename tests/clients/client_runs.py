"""`noctule batsim` against a scheduler in a process of its own."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import noctule as nt

N_HOSTS, N_JOBS = 8, 60
# Dates of schedulers that take some milliseconds to decide.
TOLERANCE = 0.05
SECONDS = 60

_HOST = """
    <host id="{name}" coordinates="0 0 0" speed="100Mf, 60Mf, 30Mf, 1f, 0.5f, 0.25f">
      <prop id="wattage_per_state" value="95:190, 90:160, 80:120, 9:9, 100:100, 120:120"/>
      <prop id="wattage_off" value="5"/>
      <prop id="sleep_pstates" value="3:4:5"/>
    </host>"""
_PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config id="General"><prop id="network/coordinates" value="yes"/></config>
  <zone id="site" routing="Vivaldi">{hosts}
  </zone>
</platform>
"""


@dataclass(frozen=True)
class Inputs:
    """Files of a platform and of a workload, in a folder for what comes out."""

    folder: Path
    platform: Path
    workload: Path

    @classmethod
    def write(cls, folder: Path) -> Inputs:
        """Write hosts without a network, and jobs on whole seconds, some as large as the machine.

        Ids are numbers, and no job comes at 0: pybatsim's newer schedulers want both.
        """
        names = ["master_host", *(f"node{i}" for i in range(N_HOSTS))]
        hosts = "".join(_HOST.format(name=name) for name in names)
        (folder / "platform.xml").write_text(_PLATFORM.format(hosts=hosts))
        jobs, profiles = [], {}
        for i in range(N_JOBS):
            seconds = 5 + 37 * i % 90
            profiles[f"delay{seconds}"] = {"type": "delay", "delay": seconds}
            jobs.append(
                {
                    "id": i,
                    "subtime": 1 + 11 * i + i % 3,
                    "res": 1 + (5 * i * i + i) % N_HOSTS,
                    "walltime": seconds + 1 + 13 * i % 60,
                    "profile": f"delay{seconds}",
                }
            )
        text = json.dumps({"nb_res": N_HOSTS, "jobs": jobs, "profiles": profiles})
        (folder / "workload.json").write_text(text)
        return cls(folder, folder / "platform.xml", folder / "workload.json")

    def with_workload(self, jobs: list[dict], profiles: dict) -> Inputs:
        """Write another workload."""
        path = self.folder / "other.json"
        path.write_text(json.dumps({"nb_res": N_HOSTS, "jobs": jobs, "profiles": profiles}))
        return Inputs(self.folder, self.platform, path)


@dataclass(frozen=True)
class Ended:
    """How a simulator and its scheduler came to an end."""

    simulator: int
    scheduler: int
    said: str
    prefix: Path

    @property
    def codes(self) -> tuple[int, int]:
        return self.simulator, self.scheduler

    def schedule(self, n_hosts: int = N_HOSTS) -> nt.Schedule:
        return nt.Schedule.from_jobs_csv(f"{self.prefix}_jobs.csv", n_hosts)

    def rows(self) -> dict[str, dict[str, str]]:
        """Return the rows of the jobs by id."""
        with Path(f"{self.prefix}_jobs.csv").open() as file:
            return {row["job_id"]: row for row in csv.DictReader(file)}


def run_with(
    scheduler: Sequence[str | Path], inputs: Inputs, *options: str, name: str = "out"
) -> Ended:
    """Run both sides; ENDPOINT in the words of the scheduler is where it is to listen."""
    endpoint = f"tcp://127.0.0.1:{_free_port()}"
    words = [str(word).replace("ENDPOINT", endpoint) for word in scheduler]
    prefix = inputs.folder / name
    files = ["-p", str(inputs.platform), "-w", str(inputs.workload), "-e", str(prefix)]
    simulator = [sys.executable, "-m", "noctule", "batsim", "-q", "-s", endpoint, *files, *options]
    log = inputs.folder / f"{name}.log"
    # programs of others may leave files where they run
    apart = inputs.folder if words[0] != sys.executable else None
    with log.open("w") as said, _started(words, said, apart=apart) as client:
        with _started(simulator, said) as batsim:
            simulated = batsim.wait(timeout=SECONDS)
        scheduled = client.wait(timeout=SECONDS if simulated == 0 else 5)
    return Ended(simulated, scheduled, log.read_text(), prefix)


@contextlib.contextmanager
def _started(
    words: Sequence[str], said, *, apart: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program, `apart` from our own packages in a folder; it does not outlive its test."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = subprocess.Popen(
        [Path(words[0]).absolute() if os.sep in words[0] else words[0], *words[1:]],
        stdout=said,
        stderr=subprocess.STDOUT,
        env=environment if apart else None,
        cwd=apart,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
