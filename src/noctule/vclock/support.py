"""Whether programs can run on simulated time here, and if not, why."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from noctule.errors import NoctuleError
from noctule.vclock.failures import UnsupportedError
from noctule.vclock.machines import this_machine
from noctule.vclock.program import VirtualProgram

__all__ = ["Support", "is_supported"]

_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")


class Support(NamedTuple):
    """Whether it can be, and the reason if not; true where it can."""

    ok: bool
    reason: str

    def __bool__(self) -> bool:
        return self.ok


@cache
def is_supported() -> Support:
    """Try it with a small program, once."""
    try:
        this_machine()
        _check_files(Path(f"/proc/self/task/{os.getpid()}"))
        with VirtualProgram(
            [sys.executable, "-I", "-S", "-c", "import time; time.sleep(1000)"],
            stderr=subprocess.DEVNULL,
        ) as program:
            program.settle(timeout=10)
    except NoctuleError as error:
        return Support(False, f"{error}{_yama()}")
    except OSError as error:
        return Support(False, f"{error.filename or 'the system'}: {error.strerror}{_yama()}")
    return Support(True, "")


def _check_files(folder: Path) -> None:
    for name in ("syscall", "schedstat"):
        try:
            content = (folder / name).read_text()
        except OSError as error:
            raise UnsupportedError(f"/proc/PID/task/TID/{name}: {error.strerror}") from None
        if name == "schedstat" and content.split()[2:3] == ["0"]:
            raise UnsupportedError(f"/proc/PID/task/TID/{name}: this kernel counts nothing in it")


def _yama() -> str:
    try:
        scope = int(_YAMA.read_text())
    except (OSError, ValueError):
        return ""
    return f" (kernel.yama.ptrace_scope is {scope})" if scope > 1 else ""
