"""The program that asks SimGrid, compiled on demand and kept in the user's cache.

Its name there tells the source, SimGrid's version and the compiler, so that none of them can change
unnoticed. What is compiled is in the package; nothing of it, nor of the command, comes from inputs.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from noctule.archive import CACHE_VARIABLE
from noctule.errors import InputError

SOURCES = tuple(
    Path(__file__).with_name(name)
    for name in (
        "driver.cpp",
        "driver_commands.hpp",
        "driver_json.hpp",
        "driver_steps.hpp",
        "driver_words.hpp",
    )
)
COMPILERS = ("g++", "clang++", "c++")
_OPTIONS = ("-std=c++20", "-O2")
_VERSION = re.compile(r"#define SIMGRID_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", re.MULTILINE)


class SimGridMissingError(InputError):
    """SimGrid or a compiler for it is not installed."""


def find_compiler() -> str:
    """Return the path of a C++ compiler."""
    for name in COMPILERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise SimGridMissingError(
        f"SimGrid: no C++ compiler is installed ({', '.join(COMPILERS)}), "
        "expected one to build the program that asks it"
    )


def simgrid_version(compiler: str) -> str:
    """Return the version of the SimGrid that a compiler finds, as in 3.32.0."""
    probe = [compiler, "-E", "-dM", "-include", "simgrid/version.h", "-x", "c++", os.devnull]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    numbers = dict(_VERSION.findall(done.stdout))
    if done.returncode != 0 or len(numbers) != 3:
        raise SimGridMissingError(
            "SimGrid: not installed, expected its headers and library where the compiler finds "
            "them: Debian's package libsimgrid-dev"
        )
    return f"{numbers['MAJOR']}.{numbers['MINOR']}.{numbers['PATCH']}"


def build_folder() -> Path:
    """Return where programs are kept: in $NOCTULE_CACHE, or in the user's cache."""
    told = os.environ.get(CACHE_VARIABLE)
    if told:
        return Path(told) / "simgrid"
    user_cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(user_cache) if user_cache else Path.home() / ".cache") / "noctule" / "simgrid"


def binary_path(compiler: str, version: str) -> Path:
    """Return the file that the program has for a SimGrid and a compiler."""
    told = hashlib.sha256("\n".join([compiler, version, *_OPTIONS]).encode())
    for source in SOURCES:
        told.update(source.read_bytes())
    return build_folder().absolute() / f"driver-{version}-{told.hexdigest()[:16]}"


def build(compiler: str, version: str) -> Path:
    """Return the program, compiled unless it is there already; it appears whole or not at all."""
    binary = binary_path(compiler, version)
    if binary.is_file():
        return binary
    try:
        binary.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=binary.parent) as folder:
            fresh = Path(folder) / "driver"
            _compile(compiler, fresh)
            fresh.replace(binary)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{binary.parent}: cannot be written: {reason}") from None
    return binary


def _compile(compiler: str, target: Path) -> None:
    words = [compiler, *_OPTIONS, str(SOURCES[0]), "-o", str(target), "-lsimgrid"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        why = next((line for line in lines if "error" in line), lines[-1] if lines else "no reason")
        raise InputError(
            f"SimGrid: the program that asks it cannot be built with {compiler}: {why}"
        )
