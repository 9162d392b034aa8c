"""Programs that crash, stall, do not exist, have children, or do not want to end."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from noctule.errors import InputError
from noctule.vclock.failures import ProgramError
from noctule.vclock.program import VirtualProgram
from noctule.vclock.real_time import RealTimeProgram

# how long something may take on a busy machine that is only waited for
PATIENCE_S = 60.0


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state != "Z"


def wait_until_gone(processes):
    deadline = time.monotonic() + PATIENCE_S
    while any(is_running(p) for p in processes) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not [p for p in processes if is_running(p)]


def lines_of(path, count):
    deadline = time.monotonic() + PATIENCE_S
    while len(path.read_text().splitlines()) < count and time.monotonic() < deadline:
        time.sleep(0.005)
    return path.read_text().splitlines()


@pytest.mark.parametrize(
    ("arguments", "how", "status"),
    [
        (["exit", "3"], "ended with exit status 3 at 0 s", 3),
        (["crash"], "was ended by signal 6 at 0 s", -6),
    ],
)
def test_a_program_that_ended_says_how(sleeper, arguments, how, status):
    with VirtualProgram([sleeper, *arguments]) as program:
        with pytest.raises(ProgramError, match=how):
            program.settle(timeout=60)
        assert program.exit_status == status
        assert how in program.blocked_report()
    assert program.stop() == status


def test_there_is_no_such_program(simulated_time):
    with pytest.raises(InputError, match="no-such-program: found no such program"):
        VirtualProgram(["no-such-program"])


def test_a_file_must_be_a_program(simulated_time, tmp_path):
    text = tmp_path / "text"
    text.write_text("hello")
    with pytest.raises(InputError, match="found a file that cannot be executed"):
        VirtualProgram([str(text)])
    text.chmod(0o755)
    with pytest.raises(InputError, match="found neither an ELF program nor a script"):
        VirtualProgram([str(text)])


def test_a_program_without_its_interpreter_does_not_start(simulated_time, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(InputError, match="does not start: No such file or directory"):
        VirtualProgram([str(script)])


def test_arguments_are_checked():
    with pytest.raises(InputError, match="found an empty list"):
        VirtualProgram([])
    with pytest.raises(InputError, match="found a NUL"):
        VirtualProgram(["a\0b"])
    with pytest.raises(InputError, match="environment: found 'a=b', expected the name"):
        VirtualProgram(["true"], env={"a=b": "c"})
    with pytest.raises(InputError, match="found a program that does not start: Argument list too"):
        RealTimeProgram(["true"], env={**os.environ, "LONG": "x" * 10_000_000})


def test_a_program_that_waits_for_nothing_has_no_timer(sleeper):
    with VirtualProgram([sleeper, "socket"]) as program:
        assert program.settle(timeout=60).next_timer is None


def test_a_script_that_becomes_another_program_is_told_so(sleeper, tmp_path):
    script = tmp_path / "wrapper"
    script.write_text(f"#!/bin/sh\nexec {sleeper} socket\n")
    script.chmod(0o755)
    with (
        VirtualProgram([str(script)]) as program,
        pytest.raises(ProgramError, match="wrapper has become another program"),
    ):
        program.settle(timeout=60)


def stall_of(program, expected):
    """What is said of a program that stalls, once it has come so far."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with pytest.raises(ProgramError) as stalled:
            program.settle(timeout=0.03)
        if re.search(expected, str(stalled.value)) or time.monotonic() > deadline:
            return str(stalled.value)


def test_a_script_that_waits_for_its_program_is_told_so(sleeper, tmp_path):
    script = tmp_path / "wrapper"
    script.write_text(f"#!/bin/sh\n{sleeper} socket\n")
    script.chmod(0o755)
    with VirtualProgram([str(script)]) as program:
        expected = "(wrapper) is in the system call wait4 (state S)"
        assert expected in stall_of(program, "wait4")
        program.stop(grace=0)


@pytest.mark.parametrize(
    ("how", "report"),
    [("stuck", "is in the system call read (state S)"), ("spin", "is running")],
)
def test_a_stall_names_the_thread_and_what_it_does(sleeper, how, report):
    with VirtualProgram([sleeper, how]) as program:
        said = stall_of(program, re.escape(report))
        assert said == (
            f"sleeper does not come to rest: thread {program.pid} (sleeper) {report} "
            "(after 0.03 s of real time)"
        )
        assert program.poll_idle() is None
        program.stop(grace=0)


def test_a_program_that_was_stopped_has_ended(sleeper):
    program = VirtualProgram([sleeper, "nanosleep", "100"])
    program.settle(timeout=60)
    assert program.stop() == -signal.SIGTERM
    assert program.stop() == -signal.SIGTERM
    with pytest.raises(ProgramError, match="was ended by signal 15"):
        program.poll_idle()
    assert "was ended by signal 15" in program.blocked_report()


def test_a_program_that_ignores_sigterm_is_killed(sleeper, tmp_path):
    output = tmp_path / "output"
    with output.open("wb") as stdout:
        program = VirtualProgram([sleeper, "stubborn", "9"], stdout=stdout)
    lines_of(output, 1)
    assert program.stop(grace=0.05) == -signal.SIGKILL
    assert not is_running(program.pid)


@pytest.mark.parametrize("session", ["0", "1"])
def test_children_end_with_the_program(sleeper, tmp_path, session):
    output = tmp_path / "output"
    with output.open("wb") as stdout:
        program = VirtualProgram([sleeper, "family", session], stdout=stdout)
    children = [int(line) for line in lines_of(output, 2)]
    assert all(is_running(child) for child in children)
    program.stop(grace=0.02)
    wait_until_gone([program.pid, *children])


_PARENT = """
import sys, time
from noctule.vclock.program import VirtualProgram
program = VirtualProgram(sys.argv[1:], stdout=sys.stdout)
print(program.pid, flush=True)
time.sleep(100)
"""


def test_nothing_is_left_where_python_is_killed(sleeper, tmp_path):
    output = tmp_path / "output"
    with output.open("wb") as stdout:
        parent = subprocess.Popen(
            [sys.executable, "-c", _PARENT, sleeper, "family"],
            stdout=stdout,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    processes = [int(line) for line in lines_of(output, 3)]
    assert all(is_running(process) for process in processes)
    parent.kill()
    parent.wait()
    wait_until_gone(processes)


def test_no_descriptor_is_left_open(sleeper):
    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    for _ in range(3):
        with VirtualProgram([sleeper, "socket"]) as program:
            program.settle(timeout=60)
    assert descriptors() == before
