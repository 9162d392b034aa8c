"""The API and the schedulers that talk to it: letting them come to rest, letting time pass.

Everything happens in the caller's thread: the server answers while `settle` waits. Simulated dates
are seconds since the run began, which is when all schedulers were ready.
"""

from __future__ import annotations

import asyncio
import math
import re
import secrets
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from noctule.errors import DecisionError, NoctuleError, ProtocolError
from noctule.kube.api import Api
from noctule.kube.deliveries import Counts, Deliveries
from noctule.kube.http import Answer, Server, Stream
from noctule.kube.http_reading import Request
from noctule.kube.refusals import Refusal
from noctule.kube.run_folder import RunFolder
from noctule.kube.store import PODS, Store
from noctule.kube.wires import is_under_way
from noctule.vclock.clock import DEFAULT_START
from noctule.vclock.failures import ProgramError
from noctule.vclock.program import Idle

_FIRST_NAP, _LONGEST_NAP = 0.000_05, 0.001
_REAL_NAP = 0.005  # the shortest in real time
_NAP_WITHOUT_SCHEDULERS = 0.05
_MOST_REQUESTS = 200_000  # between two moments of rest
_MANY_REQUESTS = 1000  # of a program that is busy with nothing else
_MOST_REFUSED = 100  # bindings in a row
_WARM_UP = 5.0  # simulated seconds in which schedulers finish their start
_LONGEST_START = 60.0  # simulated seconds after which one that does not watch counts as ready
_LONGEST_LINE = 300  # of a log
_GRID = 200  # dates a second at which timers are waited for
_SHORTEST_TIMER = 0.001


class Program(Protocol):
    """A scheduler that was started, on one clock or another."""

    name: str
    pid: int
    is_virtual: bool

    @property
    def now(self) -> float:
        """Simulated seconds since its start."""

    @property
    def exit_status(self) -> int | None:
        """None while it runs."""

    def set_ticking(self, on: bool) -> None:
        """Whether readings of the clock are a nanosecond apart."""

    def glance(self) -> Idle | None:
        """Whether it seems to wait, and for how long at most."""

    def has_rested(self) -> bool:
        """Whether all of it has waited since the last glance."""

    def rests_again(self) -> bool:
        """Look anew at what runs for itself in real time."""

    def advance(self, to: float) -> None:
        """Let time pass."""

    def stop(self, grace: float = 2.0) -> int:
        """End it."""

    def blocked_report(self) -> str:
        """What it does, in words."""


class Access:
    """How a scheduler reaches the API: where it is, and files about it in a folder of the run."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"


class RefusedBindings:
    """Bindings that had to be refused: one may be bad luck, many are a scheduler gone wrong.

    Attributes:
        n: how many there were.
        last: why the latest one was refused; empty if none was.
    """

    def __init__(self) -> None:
        self.n = 0
        self.n_in_a_row = 0
        self.last = ""

    def note(self, why: str, now: float) -> None:
        """Count one."""
        self.n += 1
        self.n_in_a_row += 1
        self.last = why
        if self.n_in_a_row >= _MOST_REFUSED:
            raise DecisionError(
                f"t={now:.15g}: {_MOST_REFUSED} bindings in a row had to be refused, "
                f"the last of them: {why}"
            )


class Session:
    """A store behind a server, and programs that use it.

    Attributes:
        is_virtual: whether the programs are on simulated time.
        store: what the programs see; its hooks are the caller's.
        n_requests: so many came in all.
        refused: bindings that the API would not take.
    """

    def __init__(self, *, is_virtual: bool, stall_timeout: float, watch_lists: bool = True) -> None:
        """Prepare an API; programs may take so many real seconds to come to rest.

        With `watch_lists` they can have lists in the stream of a watch; see Api.
        """
        self.is_virtual = is_virtual
        self.n_requests = 0
        self.refused = RefusedBindings()
        self._stall_timeout = stall_timeout
        self._programs: Sequence[Program] = ()
        self._beside: Sequence[Program] = ()  # those of them that schedulers talk to
        self._logs: Sequence[Path] = ()
        self._origin = 0.0  # of simulated time, on the clock of the programs
        self._next_timer: float | None = None
        self._recent: deque[str] = deque(maxlen=5)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._folder: RunFolder | None = None
        self.store = Store(now=self._date)
        self._api = Api(self.store, watch_timeouts=False, watch_lists=watch_lists)
        self._server = Server(self, token=secrets.token_hex(16))
        self._deliveries = Deliveries()

    def handle(self, request: Request) -> Answer | Stream:
        """Note a request, and have it answered."""
        self.n_requests += 1
        target = request.target.partition("?")[0]
        self._recent.append(f"{request.method} {target}")
        if request.method != "POST" or not target.endswith(("/binding", "/bindings")):
            return self._api.handle(request)
        try:
            answer = self._api.handle(request)
        except Refusal as refusal:
            self.refused.note(refusal.message, self.now)
            raise
        self.refused.n_in_a_row = 0
        return answer

    def open(self) -> Access:
        """Begin to listen."""
        self._folder = RunFolder()
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self._server.start())
        return Access(self._server.url, self._folder.path)

    def own(self, programs: list[Program], logs: Sequence[Path] = ()) -> None:
        """Take programs that are started one by one: they end with the session.

        `logs` are what they write, which is quoted when they fail.
        """
        self._programs, self._logs = programs, logs

    def begin(self, schedulers: Sequence[Program], *, is_awaited: bool = False) -> None:
        """Wait until all schedulers watch Pods and have nothing more to do; time begins then.

        They are programs of the session; one that somebody else starts may be waited for.
        """
        if not self._programs:
            self._programs = list(schedulers)
        self._beside = [program for program in self._programs if program not in schedulers]
        for program in self._programs:
            program.set_ticking(False)
        self._become_ready(len(schedulers), math.inf if is_awaited else self._stall_timeout)
        if self.is_virtual:
            self._warm_up()
        else:
            self._origin = self._clock
        for program in self._programs:
            program.set_ticking(True)

    @property
    def now(self) -> float:
        """The simulated date on the clock of the programs."""
        return self._clock - self._origin

    @property
    def next_timer(self) -> float | None:
        """The date at which the first program that rests will go on by itself, if one will."""
        return self._next_timer

    def advance(self, date: float) -> None:
        """Let time pass for the programs; it never goes back."""
        for program in self._programs:
            program.advance(date + self._origin)

    def skip_to(self, date: float) -> None:
        """Let simulated time jump on where the clock cannot: it is that date now."""
        if not self.is_virtual:
            self._origin = min(self._origin, self._clock - date)

    def settle(self) -> None:
        """Answer the programs until all of them have come to rest."""
        deadline = time.monotonic() + self._stall_timeout
        n_before, revision, activity = self.n_requests, self.store.revision, self.store.activity
        nap = _FIRST_NAP
        self._answer()
        while not self._is_settled():
            if self.store.activity != activity:
                activity, nap = self.store.activity, _FIRST_NAP
            if self.store.revision != revision:
                revision = self.store.revision
                deadline = time.monotonic() + self._stall_timeout
            self._refuse_stall(deadline, self.n_requests - n_before)
            self._nap(nap)
            nap = min(nap * 1.5, _LONGEST_NAP)

    def close(self) -> None:
        """End all programs, then the server."""
        programs, self._programs = self._programs, ()
        for program in programs:
            program.stop()
        if self._loop is not None and not self._loop.is_closed():
            try:
                self._loop.run_until_complete(self._server.close())
            finally:
                self._loop.close()
        self._deliveries.close()
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def complaint(self, what: str) -> ProtocolError:
        """Return an error about the programs, with what they said last."""
        said = [line for log in self._logs for line in _last_lines(log)]
        return ProtocolError(what + (f"; its log ends: {' | '.join(said)}" if said else ""))

    @property
    def _clock(self) -> float:
        return max((program.now for program in self._programs), default=0.0)

    def _date(self) -> float:
        return DEFAULT_START + self._clock if self.is_virtual else time.time()

    def _become_ready(self, n_schedulers: int, patience: float) -> None:
        """Let the programs start until each scheduler watches Pods, or does all it will do."""
        deadline = time.monotonic() + patience
        while True:
            self.settle()
            if self.store.watchers(PODS) >= n_schedulers:
                return
            if self.is_virtual and self._next_timer is not None and self._clock < _LONGEST_START:
                self.advance(self._next_timer)
            elif self.is_virtual and self._has_asked_for_pods:
                return
            elif self.is_virtual or time.monotonic() > deadline:
                raise self.complaint(self._not_ready())
            else:
                self._nap(_NAP_WITHOUT_SCHEDULERS)

    @property
    def _has_asked_for_pods(self) -> bool:
        return any(target.endswith("/pods") for target in self._recent)

    def _not_ready(self) -> str:
        names = ", ".join(program.name for program in self._programs)
        if not self.n_requests:
            return f"{names}: asked for nothing, expected a scheduler that watches pods"
        return (
            f"{names}: does not watch pods after {self.n_requests} requests, "
            f"the last of them {'; '.join(self._recent)}"
        )

    def _warm_up(self) -> None:
        end = self._clock + _WARM_UP
        self.settle()
        while self._next_timer is not None and self._next_timer < end:
            self.advance(self._next_timer)
            self.settle()
        self._origin = float(math.ceil(end))
        self.advance(0.0)
        self.settle()

    def _is_settled(self) -> bool:
        """Answer what has come, or tell that it is nobody's turn.

        It is if all programs wait at an instant at which nothing is on its way to or from them:
        if everything has arrived, and they have waited from before that was asked until afterwards;
        or if the same had arrived before and after an instant at which they wait.
        """
        if not self._is_quiet():
            self._answer()
            return False
        timers = self._timers()
        if timers is None:
            return False
        arrived = self._arrived()
        if arrived is None:
            return False
        if not self._have_rested() and not (self._rest_again() and arrived == self._arrived()):
            return False
        if not self._is_quiet():
            return False
        self._next_timer = self._on_grid(min(timers, default=math.inf))
        return True

    def _have_rested(self) -> bool:
        return all(program.has_rested() for program in reversed(self._programs))

    def _rest_again(self) -> bool:
        """Tell whether programs rest but for threads that the kernel wakes all the time.

        One program after the other is enough where they talk to the API only: if nothing was sent
        meanwhile, who rested still does.
        """
        if self._beside:
            return all(program.rests_again() for program in self._programs) and self._have_rested()
        return all(program.rests_again() and program.has_rested() for program in self._programs)

    def _arrived(self) -> list[Counts | None] | None:
        """Return what each client has got and sent; None if something is under way."""
        if not self.is_virtual:
            return []
        if self._beside and is_under_way(program.pid for program in self._beside):
            return None
        return self._deliveries.arrived([*self._server.connections])

    def _nap(self, seconds: float) -> None:
        """Wait; in real time, requests that come meanwhile are answered at once."""
        if self.is_virtual:
            time.sleep(seconds)
        else:
            assert self._loop is not None
            _turn(self._loop, max(seconds, _REAL_NAP))

    def _answer(self) -> None:
        """Let the server do what it can without waiting."""
        loop = self._loop
        assert loop is not None
        _turn(loop)
        _turn(loop)  # what the first has put off
        while asyncio.all_tasks(loop):  # connections that have come and cannot be seen yet
            _turn(loop)
        failure = self._server.failure
        if isinstance(failure, NoctuleError):
            raise failure
        if failure is not None:
            name = type(failure).__name__
            raise self.complaint(f"a request failed here: {name}: {failure}") from failure

    def _on_grid(self, seconds: float) -> float | None:
        """Return the date at which a timer is surely due, together with those close behind it.

        Go asks the kernel for whole milliseconds, rounded down, and asks again for the rest.
        """
        if seconds == math.inf:
            return None
        return math.ceil((self.now + seconds + _SHORTEST_TIMER) * _GRID) / _GRID

    def _is_quiet(self) -> bool:
        return not self._server.unread_requests() and not self._server.unsent_bytes()

    def _timers(self) -> list[float] | None:
        """Return when programs will go on by themselves; None if one of them is seen to work."""
        timers = []
        for program in self._programs:
            try:
                idle = program.glance()
            except ProgramError:
                raise self.complaint(f"t={self.now:.15g}: {self._ending(program)}") from None
            if idle is None:
                return None
            if idle.next_timer is not None:
                timers.append(idle.next_timer)
        return timers

    def _refuse_stall(self, deadline: float, n_requests: int) -> None:
        is_late = time.monotonic() > deadline
        if n_requests > (_MANY_REQUESTS if is_late else _MOST_REQUESTS):
            raise self.complaint(
                f"t={self.now:.15g}: {self._names()}: sent {n_requests} requests and did not come "
                f"to rest, the last of them {self._recent[-1]}"
            )
        if is_late:
            reports = "; ".join(program.blocked_report() for program in self._programs)
            raise self.complaint(
                f"t={self.now:.15g}: {reports} (after {self._stall_timeout:g} s of real time)"
            )

    def _ending(self, program: Program) -> str:
        status = program.exit_status
        if status is not None and status < 0:
            return f"{program.name} was ended by signal {-status}"
        told = f"{program.name} ended with exit status {status}"
        if status == 0 and not self.n_requests:
            told += " without a request, expected a scheduler that goes on until it is ended"
        return told

    def _names(self) -> str:
        return ", ".join(program.name for program in self._programs)


def _turn(loop: asyncio.AbstractEventLoop, seconds: float = 0.0) -> None:
    """Let a loop go round once, or for a while; one that is interrupted can be used again."""
    stop = loop.call_later(seconds, loop.stop) if seconds else loop.call_soon(loop.stop)
    try:
        loop.run_forever()
    finally:
        stop.cancel()


def _last_lines(log: Path, n_lines: int = 3) -> list[str]:
    """Return what a log says of errors at its end, or its last lines."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 65536))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    lines = [line.strip()[:_LONGEST_LINE] for line in lines if line.strip()]
    errors = [line for line in lines if re.match(r"(?i)(error|panic|fatal)\b|[EF]\d{4} ", line)]
    return (errors or lines)[-n_lines:]
