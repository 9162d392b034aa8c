"""Programs that run in the background of a test, and end with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

# daemons are often out of the way of those who are not root
PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


@contextmanager
def daemon(*words: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in the foreground of its own process, and end it."""
    program = shutil.which(words[0], path=PLACES)
    assert program is not None
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        [program, *words[1:]], env=os.environ | environment, stdout=nothing, stderr=nothing
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
