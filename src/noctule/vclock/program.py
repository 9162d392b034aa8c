"""A program on simulated time: it runs until all its threads wait, and time passes when told.

From timer to timer, for example, as long as it has any::

    with VirtualProgram(["kube-scheduler", "--kubeconfig", path]) as program:
        idle = program.settle()
        while idle.next_timer is not None:
            program.advance(program.now + idle.next_timer)
            idle = program.settle()
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any, NamedTuple

from noctule.vclock.clock import DEFAULT_START, SECOND, Clock, nanoseconds
from noctule.vclock.failures import ProgramError
from noctule.vclock.launching import environment_of, find_program, is_go, launch
from noctule.vclock.machines import this_machine
from noctule.vclock.threads import Threads, Wait
from noctule.vclock.tracing import end_wait, interrupt
from noctule.vclock.waits import FOREVER, GENERAL_CALLS, GO_CALLS, Surroundings

__all__ = ["Idle", "VirtualProgram"]

# Dates as floating-point seconds are some nanoseconds off after years.
_ROUNDING = 1_000
_FIRST_NAP, _LONGEST_NAP = 0.000_02, 0.001


def ending(name: str, status: int, now: float) -> str:
    """How and when a program ended, in words."""
    how = f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
    return f"{name} {how} at {now:.9g} s of simulated time"


class Idle(NamedTuple):
    """All threads wait; the first timer is due in so many seconds, None where there is none."""

    next_timer: float | None


class VirtualProgram:
    """An unmodified program of this machine that reads the time from a clock of ours.

    Everything it started ends with `stop`, also where Python dies before.
    """

    is_virtual = True

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        start: float = DEFAULT_START,
        seed: bytes | None = None,
        tick: bool = True,
        clock: Clock | None = None,
    ) -> None:
        """Start a program.

        Args:
            argv: the program and its arguments; a name without slash is searched in PATH.
            env: its environment; that of Python without it.
            stdout: where its output goes, as for `subprocess.Popen`.
            stderr: where its errors go.
            start: what its wall clock shows at first, in seconds since 1970.
            seed: what the random bytes that the kernel gives to programs are made of instead.
            tick: readings of the wall clock are a nanosecond apart, so that no two are equal.
            clock: a clock to share with other programs, instead of `start` and `tick`.
        """
        environment = environment_of(argv, env)
        program = find_program(argv[0], environment)
        self.name = program.name
        self._machine = this_machine()
        self._calls = GO_CALLS if is_go(program) else GENERAL_CALLS
        self._waits: list[Wait] = []
        self._owns_clock = clock is None
        with ExitStack() as opened:
            self.clock = Clock(start, ticking=tick) if clock is None else clock
            if self._owns_clock:
                opened.callback(self.clock.close)
            self._family = launch(
                program,
                argv,
                environment,
                clock=self.clock,
                machine=self._machine,
                stdout=stdout,
                stderr=stderr,
                seed=seed,
                before=lambda process: self._open_files(process, opened),
            )
            self._opened = opened.pop_all()
        self.pid = self._family.pid

    @property
    def now(self) -> float:
        """The date that was set, in simulated seconds since the start."""
        return self.clock.date / SECOND

    @property
    def exit_status(self) -> int | None:
        """The exit code, negative for a signal; None while the program runs."""
        return self._family.exit_status

    def set_ticking(self, on: bool) -> None:
        """Whether readings of the wall clock are a nanosecond apart from now on."""
        self.clock.ticking = on

    def poll_idle(self) -> Idle | None:
        """Whether all threads wait, and for how long at most; None where one works.

        What the program waits for besides time is for the caller to know: a request that was
        answered but not read yet makes it work again.

        Raises:
            ProgramError: the program has ended, or has become another one.
        """
        idle = self.glance()
        if idle is None or not (self.has_rested() or (self.rests_again() and self.has_rested())):
            return None
        return idle

    def glance(self) -> Idle | None:
        """Whether all threads seem to wait, each at its instant; None where one works.

        Raises:
            ProgramError: the program has ended, or has become another one.
        """
        try:
            waits = self._threads.waits()
        except OSError:
            waits = None
        if waits is None:
            self._check_alive()
            return None
        if self._surroundings.is_replaced():
            raise ProgramError(self.blocked_report())
        self._waits = waits
        first = min(wait.until for wait in waits)
        if first == FOREVER:
            return Idle(None)
        if first <= self.clock.date:
            self._end_waits()
            return None
        return Idle((first - self.clock.date) / SECOND)

    def has_rested(self) -> bool:
        """Whether nothing has run since the last glance: all of the program waited meanwhile."""
        return self._threads.have_waited()

    def rests_again(self) -> bool:
        """Look anew at threads that the kernel wakes in real time; then ask `has_rested` again."""
        return self._threads.wait_again()

    def settle(self, *, timeout: float = 30.0, is_quiet: Callable[[], bool] = lambda: True) -> Idle:
        """Wait, in real time, until the program is idle.

        Args:
            timeout: real seconds after which the program has stalled.
            is_quiet: whether nothing is under way to the program; asked before and after.

        Raises:
            ProgramError: the program has ended, or did not come to rest in time.
        """
        deadline = time.monotonic() + timeout
        nap = _FIRST_NAP
        while True:
            if is_quiet():
                idle = self.poll_idle()
                if idle is not None and is_quiet():
                    return idle
            if time.monotonic() > deadline:
                raise ProgramError(f"{self.blocked_report()} (after {timeout:g} s of real time)")
            time.sleep(nap)
            nap = min(nap * 1.5, _LONGEST_NAP)

    def advance(self, to: float) -> None:
        """Set the clock to a date, in seconds since the start, and wake who waited for it.

        The clock never goes back: an earlier date wakes who waited, and that is all.
        """
        target = nanoseconds(to)
        for wait in self._waits:
            if target < wait.until <= target + _ROUNDING:
                target = wait.until
        self.clock.advance(target)
        self._end_waits()

    def stop(self, grace: float = 2.0) -> int:
        """End the program and everything it started; its exit status.

        It gets SIGTERM and `grace` real seconds, in which a clock of its own moves from timer to
        timer; then it is killed.
        """
        with self._opened:
            return self._family.stop(grace, self._skip_timers)

    def blocked_report(self) -> str:
        """What each thread does, for a program that does not come to rest."""
        status = self.exit_status
        if status is not None:
            return ending(self.name, status, self.now)
        if self._surroundings.is_replaced():
            return (
                f"{self.name} has become another program (by exec), which runs in real time; "
                "expected that program instead of the one that starts it"
            )
        try:
            threads = self._threads.described()
        except OSError:
            threads = ["no thread to be seen"]
        return f"{self.name} does not come to rest: {'; '.join(threads)}"

    def __enter__(self) -> "VirtualProgram":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _open_files(self, process: int, opened: ExitStack) -> None:
        """While the program still waits to begin: who ends at once has none any more."""
        self._surroundings = Surroundings(process, self.clock)
        opened.callback(self._surroundings.close)
        self._threads = Threads(process, self._machine, self._calls, self._surroundings)
        opened.callback(self._threads.close)

    def _end_waits(self) -> None:
        now = self.clock.date
        for wait in self._waits:
            if wait.until <= now:
                self._end_wait(wait)
        self._waits = []

    def _end_wait(self, wait: Wait) -> None:
        call = self._threads.calls[wait.call]
        if call.result is None:
            interrupt(self.pid, wait.thread, self._machine)
            return
        cleared = call.cleared(wait.arguments)
        status = end_wait(wait.thread, self._machine, wait.call, call.result, cleared)
        if status is not None and wait.thread == self.pid:
            self._family.told(status)

    def _skip_timers(self) -> None:
        if not self._owns_clock:
            return
        try:
            idle = self.poll_idle()
        except ProgramError:
            return
        if idle is not None and idle.next_timer is not None:
            self.advance(self.now + idle.next_timer)

    def _check_alive(self) -> None:
        status = self.exit_status
        if status is not None:
            raise ProgramError(ending(self.name, status, self.now))
