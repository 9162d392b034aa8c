"""The page of time, and the machine code that reads it, called from here."""

import ctypes
import mmap
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.vclock import x86_64
from noctule.vclock.clock import DEFAULT_START, MONOTONIC, NOW, REALTIME, SECOND, STEP, Clock
from noctule.vclock.machines import this_machine


class Readings:
    """The functions of the vDSO as they are put into programs, on a page of ours."""

    def __init__(self):
        self.page = mmap.mmap(-1, mmap.PAGESIZE)
        place = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        code, entries = x86_64.clock_functions(place)
        self.code = mmap.mmap(
            -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        )
        self.code.write(code)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.code))
        function = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self.functions = {name: function(start + entry) for name, entry in entries.items()}

    def set(self, now, *, step=0, realtime=0, monotonic=0):
        for place, value in (
            (NOW, now),
            (STEP, step),
            (REALTIME, realtime),
            (MONOTONIC, monotonic),
        ):
            struct.pack_into("<q", self.page, place, value)

    def now(self):
        return struct.unpack_from("<q", self.page, NOW)[0]

    def clock_gettime(self, clock):
        result = (ctypes.c_int64 * 2)(-1, -1)
        assert self.functions["__vdso_clock_gettime"](clock, ctypes.addressof(result)) == 0
        return result[0] * SECOND + result[1]


@pytest.fixture(scope="module")
def readings():
    if this_machine() is not x86_64:
        pytest.skip("not x86-64")
    return Readings()


dates = st.integers(0, 4_000_000_000 * SECOND)


@given(dates, dates, st.integers(0, 1))
@settings(max_examples=200)
def test_clocks_are_the_word_plus_their_constants(readings, now, start, step):
    readings.set(now, step=step, realtime=start, monotonic=start // 2)
    for clock in (0, 5, 11):
        assert readings.clock_gettime(clock) == start + readings.now() - step
    for clock in (1, 4, 6, 7):
        assert readings.clock_gettime(clock) == start // 2 + now + 3 * step
    assert readings.now() == now + 3 * step


@given(dates)
def test_seconds_and_microseconds_are_rounded_down(readings, now):
    readings.set(now, step=1)
    result, zone = (ctypes.c_int64 * 2)(-1, -1), (ctypes.c_int32 * 3)(7, 7, 7)
    gettimeofday = readings.functions["__vdso_gettimeofday"]
    assert gettimeofday(ctypes.addressof(result), ctypes.addressof(zone)) == 0
    assert tuple(result) == (now // SECOND, now % SECOND // 1000)
    assert tuple(zone) == (0, 0, 7)
    assert gettimeofday(None, None) == 0
    assert readings.now() == now + 1
    assert readings.functions["__vdso_time"](ctypes.addressof(result), None) == (now + 1) // SECOND
    assert result[0] == (now + 1) // SECOND
    assert readings.functions["__vdso_time"](None, None) == (now + 1) // SECOND


def test_other_clocks_are_the_kernels(readings):
    readings.set(0)
    assert 0 < readings.clock_gettime(2) < 10**6 * SECOND  # CLOCK_PROCESS_CPUTIME_ID


def test_a_jump_is_twelve_bytes_and_touches_no_argument():
    assert x86_64.jump(0x1122334455667788).hex() == "48b88877665544332211ffe0"


def test_a_clock_moves_to_dates_and_never_back():
    with Clock(ticking=False) as clock:
        clock.advance(5 * SECOND)
        clock.advance(3 * SECOND)
        assert (clock.date, clock.reading) == (5 * SECOND, 5 * SECOND)
    assert clock.date == 5 * SECOND
    clock.close()


def word_of(clock, offset):
    with mmap.mmap(clock.descriptor, mmap.PAGESIZE) as page:
        return struct.unpack_from("<q", page, offset)[0]


def read_often(clock, times):
    with mmap.mmap(clock.descriptor, mmap.PAGESIZE) as page:
        struct.pack_into("<q", page, NOW, struct.unpack_from("<q", page, NOW)[0] + times)


def test_the_lead_of_a_clock_that_ticks_is_kept_until_it_is_long():
    with Clock() as clock:
        assert clock.ticking
        read_often(clock, 400_000)
        clock.advance(10 * SECOND)
        assert clock.reading == 10 * SECOND + 400_000
        read_often(clock, 200_000)
        clock.advance(10 * SECOND + 1)  # too short a step to take the lead back
        assert clock.reading == 10 * SECOND + 1 + 600_000
        clock.advance(11 * SECOND)
        assert clock.reading == 11 * SECOND
        assert clock.date == 11 * SECOND


def test_of_the_dates_that_show_a_reading_the_roundest_counts():
    with Clock() as clock:
        assert clock.date_of(3 * SECOND + 7) == 3 * SECOND + 7
        read_often(clock, 50)
        assert clock.date_of(3 * SECOND + 7) == 3 * SECOND
        assert clock.date_of(2_500_000_049) == 2_500_000_000
        assert clock.date_of(2_500_003_049) == 2_500_003_000
        assert clock.date_of(2_500_003_051) == 2_500_003_051


def test_the_page_says_what_the_clock_says():
    with Clock(1_000.5) as clock:
        assert word_of(clock, REALTIME) == 1_000_500_000_000
        assert word_of(clock, STEP) == 1
        clock.ticking = False
        assert word_of(clock, STEP) == 0


@pytest.mark.parametrize("start", [-1.0, float("nan"), 1e12])
def test_a_clock_starts_at_a_date(start):
    with pytest.raises(
        InputError, match=r"start of a clock: found .*, expected seconds since 1970"
    ):
        Clock(start)


def test_a_clock_does_not_leave_its_word():
    with Clock() as clock, pytest.raises(InputError, match="too far"):
        clock.advance(10**19)


def test_the_start_is_later_than_today():
    # Then dates of the simulated clock are never past on the kernel's, see Clock.
    assert DEFAULT_START == 1_893_456_000
