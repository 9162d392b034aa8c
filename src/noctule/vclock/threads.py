"""The threads of a process: whether all of them wait, and for what, from /proc.

A process is idle at an instant if every thread waits there. Two looks prove that there was one: a
thread that waits at the first, was not put on a processor until the second, and sleeps then, was
not woken in between; if that holds for all, they waited together from the end of the first look to
the beginning of the second. (A thread that was woken by another processor seems to wait in its call
until its own takes notice, but it does not sleep.) New threads are noticed by their number: a
thread that is gone cannot be read.

Threads that wait for a time are woken by the kernel again and again, when that time has passed in
real time. If nothing else has run they are looked at anew, close to the second look.
"""

import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from noctule.vclock.machine import Machine
from noctule.vclock.waits import BUSY, FOREVER, Surroundings, WaitingCall

_LINKS_OF_A_FOLDER = 2
# A first thread that has ended stays while others run.
_ENDED = b"-1 0x0 0x0\n"
_NO_CALL = -1


class Wait(NamedTuple):
    """A thread that waits: in which system call, and until when (FOREVER: for an event).

    The kernel may end it earlier, if it is timed: in real time.
    """

    thread: int
    call: int
    arguments: list[int]
    until: int
    is_timed: bool


class _Seen(NamedTuple):
    """A thread at a look: how often it had run, its call as the kernel tells it, and what it means.

    In that order: if it ran in between, it has run more often at the next look.
    """

    runs: bytes
    call: bytes
    wait: Wait | None


class _Files(NamedTuple):
    """Files about one thread: its call, its state, and how often it was put on a processor."""

    call: int
    state: int
    runs: int

    @classmethod
    def of(cls, folder: str) -> "_Files":
        with ExitStack() as opened:
            descriptors = []
            for name in ("syscall", "stat", "schedstat"):
                descriptors.append(os.open(f"{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC))
                opened.callback(os.close, descriptors[-1])
            opened.pop_all()
        return cls(*descriptors)

    def n_runs(self) -> bytes:
        """As the kernel writes it, with the time that it ran."""
        return os.pread(self.runs, 64, 0)

    def a_call(self) -> bytes:
        """As the kernel writes it."""
        return os.pread(self.call, 256, 0)

    def is_asleep(self) -> bool:
        """Whether it sleeps, or has ended."""
        # "PID (name) state ...", and a name may contain anything
        return os.pread(self.state, 512, 0).rpartition(b") ")[2][:1] in (b"S", b"Z", b"X")

    def close(self) -> None:
        for descriptor in self:
            os.close(descriptor)


class Threads:
    """What the threads of one process wait for."""

    def __init__(
        self,
        process: int,
        machine: Machine,
        calls: dict[str, WaitingCall],
        surroundings: Surroundings,
    ) -> None:
        self._process = process
        self._names = machine.CALLS
        numbers = machine.CALL_NUMBERS
        self.calls = {numbers[name]: call for name, call in calls.items() if name in numbers}
        self._surroundings = surroundings
        self._folder = os.open(f"/proc/{process}/task", os.O_RDONLY | os.O_CLOEXEC)
        self._files: dict[int, _Files] = {}
        self._order: list[int] = []
        self._seen: dict[int, _Seen] = {}
        self._timed: list[int] = []

    def waits(self) -> list[Wait] | None:
        """What every thread waits for at a first look; None where one of them works."""
        try:
            if not self._is_complete():
                self._list()
            waits = self._first_look()
        except OSError:
            self._list()
            return None
        if waits is None or all(wait.call == _NO_CALL for wait in waits):
            return None
        self._timed = [wait.thread for wait in waits if wait.is_timed]
        return waits

    def have_waited(self) -> bool:
        """Whether they have done nothing but wait since they were looked at, and still do."""
        others = self._files.keys() - self._timed
        with suppress(OSError):
            return all(map(self._has_waited, (*self._timed, *others))) and self._is_complete()
        return False

    def wait_again(self) -> bool:
        """Look anew at those who wait for a time: whether they wait as before."""
        with suppress(OSError):
            for thread in self._timed:
                files, seen = self._files[thread], self._seen[thread]
                self._seen[thread] = seen._replace(runs=files.n_runs())
                if files.a_call() != seen.call:
                    return False
            return True
        return False

    def described(self) -> list[str]:
        """What each thread does now, in words."""
        self._list()
        return [f"thread {t} ({self._name(t)}) {self._activity(t)}" for t in sorted(self._files)]

    def close(self) -> None:
        """Give the file descriptors back."""
        for thread in list(self._files):
            self._forget(thread)
        os.close(self._folder)
        self._folder = -1

    def _is_complete(self) -> bool:
        return os.fstat(self._folder).st_nlink == len(self._files) + _LINKS_OF_A_FOLDER

    def _first_look(self) -> list[Wait] | None:
        waits = []
        for place, thread in enumerate(self._order):
            files = self._files[thread]
            runs, call = files.n_runs(), files.a_call()
            seen = self._seen.get(thread)
            if seen is None or seen.runs != runs or seen.call != call:
                seen = self._seen[thread] = _Seen(runs, call, self._read(thread, call))
            if seen.wait is None:
                # Who works now probably works at the next look, too.
                self._order.insert(0, self._order.pop(place))
                return None
            waits.append(seen.wait)
        return waits

    def _has_waited(self, thread: int) -> bool:
        files = self._files[thread]
        return files.n_runs() == self._seen[thread].runs and files.is_asleep()

    def _read(self, thread: int, line: bytes) -> Wait | None:
        if line == _ENDED:
            return Wait(thread, _NO_CALL, [], FOREVER, is_timed=False)
        words = line.split()
        if len(words) < 7:  # "running", or waiting outside of a call, say for a page of memory
            return None
        number = int(words[0])
        known = self.calls.get(number)
        if known is None:
            return None
        arguments = [int(word, 16) for word in words[1:7]]
        until = known.until(arguments, self._surroundings)
        if until == BUSY:
            return None
        return Wait(thread, number, arguments, min(until, FOREVER), is_timed=until != FOREVER)

    def _list(self) -> None:
        found = {int(t.name) for t in Path(f"/proc/{self._process}/task").iterdir()}
        for thread in self._files.keys() - found:
            self._forget(thread)
        for thread in sorted(found - self._files.keys()):
            with suppress(OSError):
                self._files[thread] = _Files.of(f"/proc/{self._process}/task/{thread}")
        self._order = [t for t in self._order if t in self._files]
        self._order += sorted(self._files.keys() - set(self._order))

    def _forget(self, thread: int) -> None:
        self._files.pop(thread).close()
        self._seen.pop(thread, None)

    def _name(self, thread: int) -> str:
        return self._content(thread, "comm").strip() or "gone"

    def _activity(self, thread: int) -> str:
        words = self._content(thread, "syscall").split()
        # "PID (name) state ...", and a name may contain anything
        state = self._content(thread, "stat").rpartition(") ")[2][:1]
        if not words:
            return "is gone"
        if words[0] == "running":
            return "is running"
        if words[0] == "-1":
            return f"waits outside of a system call (state {state})"
        number = int(words[0])
        name = self._names.get(number, f"number {number}")
        return f"is in the system call {name} (state {state})"

    def _content(self, thread: int, file: str) -> str:
        try:
            return Path(f"/proc/{self._process}/task/{thread}/{file}").read_text(errors="replace")
        except OSError:
            return ""
