"""A program and everything it started: begun in a session of its own, ended without a trace.

Where Python itself dies, a guard notices that the pipe between them is closed, and kills the
program's group. (The kernel's own PR_SET_PDEATHSIG looks at the thread that started a program, not
at the process, and forgets what the program started in turn.)
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from noctule.errors import InputError
from noctule.vclock.tracing import exit_code

_GUARD = 'read -r word || kill -s KILL -- "-$1"'
_NAP = 0.002


class Family:
    """A process in a group of its own, its exit code, and the guard that outlives Python."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        inherited: Sequence[int] = (),
    ) -> None:
        try:
            self._process = subprocess.Popen(
                arguments,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                pass_fds=inherited,
            )
        except OSError as error:
            raise InputError(
                f"{arguments[0]}: found a program that does not start: {error.strerror}"
            ) from None
        self.pid = self._process.pid
        try:
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "guard", str(self.pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    @property
    def exit_status(self) -> int | None:
        """The exit code, negative for a signal; None while the program runs."""
        return self._process.poll()

    def told(self, status: int) -> None:
        """Take an exit status that waitpid gave to somebody else."""
        self._process.returncode = exit_code(status)

    def stop(self, grace: float, meanwhile: Callable[[], object] = lambda: None) -> int:
        """End the program: ask it, and after `grace` seconds kill it and all it started.

        `meanwhile` is called now and then while the program may still end by itself.
        """
        if self._guard.returncode is not None:
            return self._process.wait()
        others = list(_descendants(self.pid))
        if self.exit_status is None and grace > 0:
            self._signal_group(signal.SIGTERM)
            deadline = time.monotonic() + grace
            while self.exit_status is None and time.monotonic() < deadline:
                meanwhile()
                time.sleep(_NAP)
            others += _descendants(self.pid)
        self._signal_group(signal.SIGKILL)
        for process in others:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        status = self._process.wait()
        self._dismiss_guard()
        return status

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _dismiss_guard(self) -> None:
        pipe = self._guard.stdin
        if pipe is not None and not pipe.closed:
            with suppress(BrokenPipeError):
                pipe.write(b"done\n")
                pipe.flush()
            pipe.close()
        self._guard.wait()


def _descendants(process: int) -> Iterator[int]:
    """Processes that a process started, and those that they started."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return
    for thread in threads:
        with suppress(OSError):
            for child in (thread / "children").read_text().split():
                yield int(child)
                yield from _descendants(int(child))
