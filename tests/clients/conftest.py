"""Schedulers and tools of others, and examples in other languages, where they were asked for."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from client_runs import Inputs

ROOT = Path(__file__).parents[2]
VENV = ROOT / "build" / "clients-venv"
BUILT = ROOT / "build" / "clients"
EXAMPLES = ROOT / "examples" / "clients"
BUILDS = {
    "cpp": ["g++", "-std=c++20", "-O2", "{source}/fcfs.cpp", "-lzmq", "-o", "{built}/fcfs-cpp"],
    "go": ["go", "build", "-C", "{source}", "-buildvcs=false", "-o", "{built}/fcfs-go", "."],
    "rust": [
        "cargo",
        "build",
        "--quiet",
        "--release",
        "--locked",
        "--manifest-path={source}/Cargo.toml",
        "--target-dir={built}/rust",
    ],
}
PROGRAMS = {"cpp": "fcfs-cpp", "go": "fcfs-go", "rust": "rust/release/fcfs"}
VERSIONS = {"cpp": ["g++", "--version"], "go": ["go", "version"], "rust": ["rustc", "--version"]}
# What compilers say where a library or a registry is missing.
MISSING = ("zmq.h", "json.hpp", "libzmq", "pkg-config", "dial tcp", "failed to download")
PACKAGES = ("pybatsim", "batsim-py", "evalys", "pyzmq", "procset", "sortedcontainers", "pandas")


@pytest.fixture(scope="session", autouse=True)
def _asked_for() -> None:
    if os.environ.get("NOCTULE_TEST_CLIENTS") != "1":
        pytest.skip("`make test-clients` runs schedulers and tools of others")


@pytest.fixture(scope="session")
def others() -> Path:
    """The folder of the programs of others."""
    if not (VENV / ".installed").exists():
        pytest.skip("pybatsim and evalys are not installed; see tests/clients/install-clients")
    return VENV / "bin"


@pytest.fixture(scope="session")
def fcfs(request: pytest.FixtureRequest) -> Path:
    """The program of FCFS in a language."""
    language = request.param
    command = [word.format(source=EXAMPLES / language, built=BUILT) for word in BUILDS[language]]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here, with which the example in {language} is built")
    BUILT.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode and any(one in done.stderr for one in MISSING):
        pytest.skip(f"what it is built with is not there: {done.stderr.strip().splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    return BUILT / PROGRAMS[language]


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """A small platform and a workload for it."""
    return Inputs.write(tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which clients there were."""
    if os.environ.get("NOCTULE_TEST_CLIENTS") != "1":
        return
    terminalreporter.section("clients")
    folders = [str(path) for path in VENV.glob("lib/python*/site-packages")]
    for found in importlib.metadata.distributions(path=folders):
        if found.name.lower() in PACKAGES:
            terminalreporter.write_line(f"{found.name} {found.version}")
    for language, command in VERSIONS.items():
        if shutil.which(command[0]) is not None:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            terminalreporter.write_line(f"fcfs in {language}: {done.stdout.splitlines()[0]}")
