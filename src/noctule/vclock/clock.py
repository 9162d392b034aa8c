"""The page of memory that holds simulated time, shared with the programs that read it.

There is one word of time, nanoseconds since the start. A reading of the wall clock adds the step to
it, as one indivisible operation, so that no two readings of any program are equal (`ticking`); the
monotonic clock only looks. Both are this word plus a constant.

So the clock runs ahead of the date that was set, by a nanosecond a reading. It keeps this lead when
the date moves on: a timer of ten seconds that began a little after the date is then due ten seconds
after the date, not a little later, in one run as in the next. A lead of half a millisecond, which
takes half a million readings, is taken back.
"""

import ctypes
import math
import mmap
import os

from noctule.errors import InputError

__all__ = ["DEFAULT_START", "Clock"]

SECOND = 1_000_000_000

# Later than today: see `Clock`.
DEFAULT_START = 1_893_456_000.0  # 2030-01-01 00:00:00 UTC

# Where the words are in the page, for the machine code that reads them.
NOW, STEP, REALTIME, MONOTONIC = 0, 8, 16, 24

_UPTIME = 20 * 366 * 86_400 * SECOND
_LATEST = 8_000_000_000 * SECOND
_LONGEST_LEAD = 500_000


def nanoseconds(seconds: float) -> int:
    """A date in seconds as whole nanoseconds, without the error of a product of large numbers."""
    whole = math.floor(seconds)
    return whole * SECOND + round((seconds - whole) * SECOND)


class Clock:
    """Simulated time of one program, or of several that share it.

    The kernel knows nothing of this clock. Where a C program sleeps until a date, the kernel
    compares that date with its own clock and ends a sleep early if its own is ahead: hence a start
    later than today, and a machine that seems to have been up for twenty years. Programs in Go
    never sleep until a date, and may have any start.
    """

    def __init__(self, start: float = DEFAULT_START, *, ticking: bool = True) -> None:
        """Stop time at `start`, in seconds since 1970."""
        if not 0 <= start * SECOND <= _LATEST:
            raise InputError(f"start of a clock: found {start}, expected seconds since 1970")
        self.descriptor = os.memfd_create("noctule-clock", os.MFD_CLOEXEC)
        os.ftruncate(self.descriptor, mmap.PAGESIZE)
        self._page = mmap.mmap(self.descriptor, mmap.PAGESIZE)
        self._now = ctypes.c_int64.from_buffer(self._page, NOW)
        self._step = ctypes.c_int64.from_buffer(self._page, STEP)
        self.realtime = nanoseconds(start)
        self.monotonic = _UPTIME
        ctypes.c_int64.from_buffer(self._page, REALTIME).value = self.realtime
        ctypes.c_int64.from_buffer(self._page, MONOTONIC).value = self.monotonic
        self.ticking = ticking
        self._date = 0

    @property
    def date(self) -> int:
        """The date that was set, in nanoseconds since the start."""
        return self._date

    @property
    def reading(self) -> int:
        """What a program reads, in nanoseconds since the start: the date, and the lead."""
        return self._now.value

    @property
    def ticking(self) -> bool:
        """Whether a reading of the wall clock moves it on by a nanosecond."""
        return bool(self._step.value)

    @ticking.setter
    def ticking(self, on: bool) -> None:
        self._step.value = int(on)

    def date_of(self, reading: int) -> int:
        """A date at which the clock shows a reading.

        Its lead leaves a choice, of which the roundest is what the program had in mind.
        """
        earliest = reading - (self._now.value - self._date)
        for unit in (SECOND, SECOND // 1_000, SECOND // 1_000_000):
            date = -(-earliest // unit) * unit
            if date <= reading:
                return date
        return reading

    def advance(self, date: int) -> None:
        """Move to a date, in nanoseconds since the start; the clock never goes back.

        Programs should be idle: what they read at this very moment may be lost.
        """
        if date > _LATEST - self.realtime:
            raise InputError(f"clock: found {date} ns since the start, which is too far")
        step = date - self._date
        if step <= 0:
            return
        lead = self._now.value - self._date
        if _LONGEST_LEAD < lead <= step:
            lead = 0
        self._now.value = date + lead
        self._date = date

    def close(self) -> None:
        """Give the page back; programs that read it keep theirs, and this one stands still."""
        if self.descriptor >= 0:
            self._now = ctypes.c_int64(self._now.value)
            self._step = ctypes.c_int64(self._step.value)
            self._page.close()
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> "Clock":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
