"""An executable `batsim`, for scripts and tools that start one."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from noctule.errors import InputError

_MARK = "# Written by `noctule batsim --install-shim`."


def install_shim(directory: str | os.PathLike[str], words: Sequence[str] = ()) -> Path:
    """Write the executable into a folder, and return its path; a real Batsim is left alone.

    The words come before those that it will be called with.
    """
    path = Path(directory) / "batsim"
    # -P: what lies in the current folder is not imported
    program = shlex.join([sys.executable, "-P", "-m", "noctule", "batsim", *words])
    command = f'exec {program} "$@"'
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
        if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace"):
            raise InputError(f"{path}: exists already, and is no shim of Noctule; remove it first")
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{_MARK}\n{command}\n", encoding="utf-8")
        path.chmod(0o755)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path
