"""System calls in which a thread waits: until when, and what they return once that has come.

A call that is not here counts as work: the clock stands still meanwhile. The timers of a program in
Go are all in one epoll_pwait; what else waits there with a timeout belongs to the runtime, which
looks after itself in real time.

The kernel ends a wait for a time in real time as well. The program looks at the clock then, sees
that it is too early, and waits again.
"""

import errno
import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from noctule.vclock.clock import SECOND, Clock

FOREVER = 1 << 62
NOT_LONG = FOREVER + 1  # in real time, which is nobody's business
BUSY = -1

_MILLISECOND = 1_000_000
_WALL_CLOCK_NUMBERS = (0, 11)
_MONOTONIC_NUMBERS = (1, 7)
_ABSOLUTE = 1
_LARGEST_SET = 1024  # of file descriptors, as libraries have them


class Surroundings:
    """What a wait is read with: the clock, and the memory and files of the process."""

    def __init__(self, process: int, clock: Clock) -> None:
        self.clock = clock
        self._process = process
        self._memory = os.open(f"/proc/{process}/mem", os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """Give the file descriptor back."""
        os.close(self._memory)

    def duration(self, address: int, fraction: int = 1) -> int:
        """Nanoseconds in a timespec (fraction 1) or timeval (1000) of the process."""
        try:
            content = os.pread(self._memory, 16, address)
        except OSError:
            return BUSY
        if len(content) < 16:
            return BUSY
        seconds, rest = struct.unpack("<qq", content)
        return min(int(seconds) * SECOND + int(rest) * fraction, FOREVER)

    def is_replaced(self) -> bool:
        """Whether the process has become another program: its memory is another, too."""
        try:
            # The memory of a program has no page at zero, the memory that nobody has any more ends.
            return os.pread(self._memory, 1, 0) == b""
        except OSError:
            return False

    def is_socket(self, descriptor: int) -> bool:
        """Whether a file descriptor of the process is a socket."""
        try:
            target = Path(f"/proc/{self._process}/fd/{descriptor}").readlink()
        except OSError:
            return False
        return str(target).startswith("socket:")

    def later(self, duration: int) -> int:
        """The date after a duration from now; a duration of nothing is no wait."""
        return self.clock.date + duration if 0 < duration < FOREVER else BUSY

    def date(self, clock: int, address: int) -> int:
        """A date of one of the clocks, as nanoseconds since the start."""
        date = self.duration(address)
        if date == BUSY:
            return BUSY
        if clock in _WALL_CLOCK_NUMBERS:
            return max(self.clock.date_of(date - self.clock.realtime), 0)
        if clock in _MONOTONIC_NUMBERS:
            return max(self.clock.date_of(date - self.clock.monotonic), 0)
        return BUSY


_Reader = Callable[[Sequence[int], Surroundings], int]


class WaitingCall(NamedTuple):
    """Until when a call waits (nanoseconds since the start, or a word of above), and its result.

    A result of None: an interrupted call is enough, the program looks at the clock anew.
    `cleared` gives address and size of what the call sets to zero besides, where its time is over.
    """

    until: _Reader
    result: int | None = 0
    cleared: Callable[[Sequence[int]], list[tuple[int, int]]] = lambda _: []


def _milliseconds(position: int) -> _Reader:
    def until(arguments: Sequence[int], surroundings: Surroundings) -> int:
        count = arguments[position] & 0xFFFF_FFFF
        if count >= 1 << 31:
            return FOREVER
        return surroundings.later(count * _MILLISECOND)

    return until


def _duration(position: int, fraction: int = 1) -> _Reader:
    def until(arguments: Sequence[int], surroundings: Surroundings) -> int:
        if not arguments[position]:
            return FOREVER
        return surroundings.later(surroundings.duration(arguments[position], fraction))

    return until


def _clock_nanosleep(arguments: Sequence[int], surroundings: Surroundings) -> int:
    clock, flags, request = arguments[0], arguments[1], arguments[2]
    if flags & _ABSOLUTE:
        return surroundings.date(clock, request)
    return surroundings.later(surroundings.duration(request))


# Operations of futex that wait: for a duration, or until a date.
_WAIT = 0
_WAIT_UNTIL = {6: 0, 9: None, 11: None, 13: None}  # LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2
_OPERATION = 0x7F
_ON_WALL_CLOCK = 0x100


def _futex(arguments: Sequence[int], surroundings: Surroundings) -> int:
    operation, timeout = arguments[1], arguments[3]
    kind = operation & _OPERATION
    if kind != _WAIT and kind not in _WAIT_UNTIL:
        return BUSY
    if not timeout:
        return FOREVER
    if kind == _WAIT:
        return surroundings.later(surroundings.duration(timeout))
    clock = _WAIT_UNTIL[kind]
    if clock is None:
        clock = 0 if operation & _ON_WALL_CLOCK else 1
    return surroundings.date(clock, timeout)


def _futex_of_go(arguments: Sequence[int], _: Surroundings) -> int:
    if arguments[1] & _OPERATION != _WAIT:
        return BUSY
    return NOT_LONG if arguments[3] else FOREVER


def _forever(_: Sequence[int], __: Surroundings) -> int:
    return FOREVER


def _sets_and_time(arguments: Sequence[int]) -> list[tuple[int, int]]:
    """No descriptor is ready, and no time is left."""
    size = (min(arguments[0], _LARGEST_SET) + 63) // 64 * 8
    return [(address, size) for address in arguments[1:4] if address] + [(arguments[4], 16)]


def _from_socket(arguments: Sequence[int], surroundings: Surroundings) -> int:
    return FOREVER if surroundings.is_socket(arguments[0]) else BUSY


GO_CALLS = {
    "epoll_wait": WaitingCall(_milliseconds(3), None),
    "epoll_pwait": WaitingCall(_milliseconds(3), None),
    "epoll_pwait2": WaitingCall(_duration(3), None),
    "futex": WaitingCall(_futex_of_go),
}

GENERAL_CALLS = {
    "epoll_wait": WaitingCall(_milliseconds(3)),
    "epoll_pwait": WaitingCall(_milliseconds(3)),
    "epoll_pwait2": WaitingCall(_duration(3)),
    "poll": WaitingCall(_milliseconds(2)),
    "ppoll": WaitingCall(_duration(2), 0, lambda arguments: [(arguments[2], 16)]),
    "select": WaitingCall(_duration(4, fraction=1000), 0, _sets_and_time),
    "pselect6": WaitingCall(_duration(4), 0, _sets_and_time),
    "nanosleep": WaitingCall(_duration(0)),
    "clock_nanosleep": WaitingCall(_clock_nanosleep),
    "futex": WaitingCall(_futex, -errno.ETIMEDOUT),
    "rt_sigtimedwait": WaitingCall(_duration(2), -errno.EAGAIN),
    "pause": WaitingCall(_forever),
    "rt_sigsuspend": WaitingCall(_forever),
    "accept": WaitingCall(_forever),
    "accept4": WaitingCall(_forever),
    "recvfrom": WaitingCall(_forever),
    "recvmsg": WaitingCall(_forever),
    "read": WaitingCall(_from_socket),
}
