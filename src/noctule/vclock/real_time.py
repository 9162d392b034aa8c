"""The interface of `VirtualProgram` on the wall clock, for machines without simulated time.

Nothing stops: simulated time is real time, `speed` times as fast, while the program's own clock is
real. A program that retries after a second does so after `speed` simulated seconds. Results depend
on the machine and differ from run to run.
"""

import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from noctule.errors import InputError
from noctule.vclock.failures import ProgramError
from noctule.vclock.family import Family
from noctule.vclock.launching import environment_of, find_program
from noctule.vclock.program import Idle, ending

__all__ = ["RealTimeProgram"]


class RealTime:
    """Simulated time that passes by itself: idle is who had time to react to the last date."""

    is_virtual = False

    def __init__(self, speed: float, patience: float) -> None:
        """Let so many simulated seconds pass in a real one, and give so many real ones to react."""
        self._speed = speed
        self._patience = patience
        self._began = time.monotonic()
        self._idle_at = self._began + patience

    @property
    def now(self) -> float:
        """Simulated seconds since the start; they pass by themselves."""
        return (time.monotonic() - self._began) * self._speed

    def set_ticking(self, on: bool) -> None:
        """Nothing to do: the wall clock ticks."""

    def poll_idle(self) -> Idle | None:
        """None until the date of `advance` has come, and there was time to react."""
        return Idle(None) if time.monotonic() >= self._idle_at else None

    def glance(self) -> Idle | None:
        """Nothing is seen at a glance that is not known."""
        return self.poll_idle()

    def has_rested(self) -> bool:
        """Nothing to prove: idle is who had time."""
        return True

    def rests_again(self) -> bool:
        """Nothing to prove."""
        return True

    def advance(self, to: float) -> None:
        """Be busy until a date, in simulated seconds since the start; this does not wait for it."""
        self._idle_at = max(self._began + to / self._speed, time.monotonic()) + self._patience


class RealTimeProgram(RealTime):
    """A program in real time: `advance` sets a date, and the program is busy until it has come."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        speed: float = 1.0,
        patience: float = 0.05,
    ) -> None:
        """Start a program.

        Args:
            argv: the program and its arguments; a name without slash is searched in PATH.
            env: its environment; that of Python without it.
            stdout: where its output goes, as for `subprocess.Popen`.
            stderr: where its errors go.
            speed: simulated seconds that pass in a real one.
            patience: real seconds that the program gets at each date before it counts as idle.
        """
        if not 0 < speed < float("inf"):
            raise InputError(f"speed: found {speed}, expected a number above 0")
        environment = environment_of(argv, env)
        program = find_program(argv[0], environment)
        self.name = program.name
        self._family = Family(
            [str(program), *argv[1:]], env=environment, stdout=stdout, stderr=stderr
        )
        self.pid = self._family.pid
        super().__init__(speed, patience)

    @property
    def exit_status(self) -> int | None:
        """The exit code, negative for a signal; None while the program runs."""
        return self._family.exit_status

    def poll_idle(self) -> Idle | None:
        """None until the date of `advance` has come, and the program had its time to react.

        Raises:
            ProgramError: the program has ended.
        """
        status = self.exit_status
        if status is not None:
            raise ProgramError(ending(self.name, status, self.now))
        return super().poll_idle()

    def stop(self, grace: float = 2.0) -> int:
        """End the program and everything it started; its exit status."""
        return self._family.stop(grace)

    def blocked_report(self) -> str:
        """Why the program is not idle."""
        status = self.exit_status
        if status is not None:
            return ending(self.name, status, self.now)
        left = self._idle_at - time.monotonic()
        return f"{self.name} runs in real time, and is idle {max(left, 0):.3g} s from now"

    def __enter__(self) -> "RealTimeProgram":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
