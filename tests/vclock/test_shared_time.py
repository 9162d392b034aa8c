"""Several programs on one clock, programs in real time, and machines that cannot."""

import platform
import subprocess
import sys
import time

import pytest
from virtual_runs import SECOND, UPTIME

from noctule.errors import InputError
from noctule.vclock import elf, machines, support, tracing
from noctule.vclock.clock import Clock
from noctule.vclock.failures import ProgramError, UnsupportedError
from noctule.vclock.program import Idle, VirtualProgram
from noctule.vclock.real_time import RealTimeProgram


def test_two_programs_share_a_clock(sleeper, tmp_path):
    printed = tmp_path / "printed"
    with (
        printed.open("wb") as output,
        Clock(ticking=False) as clock,
        VirtualProgram([sleeper, "nanosleep", "4", "3"], stdout=output, clock=clock) as four,
        VirtualProgram(
            [sleeper, "poll", "6000", "2"], clock=clock, stdout=subprocess.DEVNULL
        ) as two,
    ):
        for date, timers in ((0, (4, 6000)), (4, (4, 5996)), (8, (4, 5992))):
            assert four.now == two.now == date
            assert (four.settle().next_timer, two.settle().next_timer) == timers
            for program in (four, two):
                program.advance(date + 4)
        with pytest.raises(ProgramError, match="exit status 0 at 12 s"):
            four.settle()
        assert [int(line) - UPTIME for line in printed.read_text().split()] == [
            4 * SECOND,
            8 * SECOND,
            12 * SECOND,
        ]
        assert two.settle() == Idle(5988.0)
        four.stop()
        two.advance(6000)
        assert two.settle() == Idle(6000.0)


def test_a_clock_that_is_shared_outlives_its_programs(sleeper):
    with Clock() as clock:
        # The one that ignores SIGTERM has a timer, which is no reason to move the others' clock.
        with VirtualProgram(
            [sleeper, "stubborn", "9"], clock=clock, stdout=subprocess.DEVNULL
        ) as program:
            program.settle()
            program.stop(grace=0.05)
        assert clock.date == 0
        clock.advance(SECOND)
        assert clock.reading == SECOND


def test_python_programs_sleep_in_simulated_time(simulated_time, tmp_path):
    code = "import time; a = time.time(); time.sleep(3600); print(time.time() - a)"
    argv = [sys.executable, "-I", "-S", "-c", code]
    printed = tmp_path / "printed"
    with printed.open("wb") as output, VirtualProgram(argv, stdout=output) as program:
        # Python sleeps until a date that it has read: its readings do not show in the simulation.
        assert program.settle() == Idle(3600.0)
        program.advance(3600)
        with pytest.raises(ProgramError, match="exit status 0"):
            program.settle()
    assert round(float(printed.read_text()), 6) == 3600.0


def test_an_advance_to_an_earlier_date_changes_nothing(sleeper):
    with VirtualProgram([sleeper, "nanosleep", "100"]) as program:
        program.settle()
        program.advance(60)
        program.advance(30)
        assert program.now == 60
        assert program.settle() == Idle(40.0)


def test_a_date_that_rounding_puts_just_before_a_timer_is_the_timers(sleeper):
    with VirtualProgram([sleeper, "nanosleep", "100", "2"], stdout=subprocess.DEVNULL) as program:
        program.settle()
        program.advance(99.999_999_7)
        assert program.now == 100
        assert program.settle() == Idle(100.0)


def test_settle_waits_for_what_is_under_way(sleeper):
    asked = []

    def is_quiet():
        asked.append(True)
        return len(asked) > 3

    with VirtualProgram([sleeper, "socket"]) as program:
        assert program.settle(is_quiet=is_quiet) == Idle(None)
    assert len(asked) >= 5  # three times in vain, then before and after


def test_a_program_in_real_time_is_busy_until_the_date_has_come():
    argv = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(100)"]
    with RealTimeProgram(argv, speed=1000, patience=0.01) as program:
        program.advance(1_000_000)
        assert program.poll_idle() is None
        assert "runs in real time" in program.blocked_report()
        date = program.now + 50
        program.advance(date)
        while program.poll_idle() is None:
            time.sleep(0.005)
        assert program.poll_idle() == Idle(None)
        assert program.now >= date
        program.set_ticking(True)
    assert program.exit_status == -15


def test_a_program_in_real_time_that_ended_says_so():
    with RealTimeProgram([sys.executable, "-I", "-S", "-c", "raise SystemExit(4)"]) as program:
        deadline = time.monotonic() + 60
        while program.exit_status is None and time.monotonic() < deadline:
            time.sleep(0.005)
        with pytest.raises(ProgramError, match="ended with exit status 4 at"):
            program.poll_idle()
        assert "ended with exit status 4 at" in program.blocked_report()


@pytest.mark.parametrize("speed", [0, -1, float("inf"), float("nan")])
def test_a_speed_is_a_number_above_zero(speed):
    with pytest.raises(InputError, match=r"speed: found .*, expected a number above 0"):
        RealTimeProgram(["true"], speed=speed)


def test_other_systems_and_machines_are_told_why(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UnsupportedError, match="needs Linux, and this is darwin"):
        machines.this_machine()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(UnsupportedError, match="needs x86-64, and this machine is aarch64"):
        machines.this_machine()


def test_where_the_kernel_tells_too_little_that_is_the_reason(tmp_path):
    with pytest.raises(UnsupportedError, match="TID/syscall: No such file or directory"):
        support._check_files(tmp_path)
    (tmp_path / "syscall").write_text("running\n")
    (tmp_path / "schedstat").write_text("0 0 0\n")
    with pytest.raises(UnsupportedError, match="TID/schedstat: this kernel counts nothing in it"):
        support._check_files(tmp_path)
    (tmp_path / "schedstat").write_text("0 0 1\n")
    support._check_files(tmp_path)


def test_where_the_vdso_offers_no_time_that_is_the_reason(simulated_time, monkeypatch):
    monkeypatch.setattr(elf, "functions", lambda _: {})
    found = support.is_supported.__wrapped__()
    assert found.reason == (
        "no __vdso_clock_gettime in the vDSO of this kernel that can be replaced"
    )


def test_where_ptrace_is_forbidden_that_is_the_reason(simulated_time, monkeypatch, tmp_path):
    def forbidden(*_):
        raise PermissionError(1, "Operation not permitted")

    scope = tmp_path / "ptrace_scope"
    scope.write_text("3\n")
    monkeypatch.setattr(support, "_YAMA", scope)
    monkeypatch.setattr(tracing, "_ptrace", forbidden)
    found = support.is_supported.__wrapped__()
    assert not found
    assert found.reason == (
        "ptrace is not allowed here: Operation not permitted (kernel.yama.ptrace_scope is 3)"
    )
