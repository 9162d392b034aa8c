"""Small programs in Go, whose runtime has timers of its own."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from virtual_runs import SECOND, START, follow_timers, run_to_end

from noctule.vclock.program import VirtualProgram

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def timers(simulated_time, tmp_path_factory):
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        pytest.skip("no Go compiler here")
    program = tmp_path_factory.mktemp("timers") / "timers"
    source = Path(__file__).with_name("timers.go")
    subprocess.run(
        [go, "build", "-o", str(program), str(source)],
        check=True,
        env={**os.environ, "GO111MODULE": "off", "CGO_ENABLED": "0"},
    )
    return str(program)


def test_a_ticker_is_exact_for_ten_thousand_seconds(timers):
    text, ended = run_to_end([timers, "ticker"], tick=False)
    assert "exit status 0 at 10000 s" in ended
    ticks = [tuple(int(word) for word in line.split()) for line in text.splitlines()]
    assert ticks == [((START + 10 * n) * SECOND, 10 * n * SECOND) for n in range(1, 1001)]


def test_goroutines_wake_when_they_should(timers):
    text, _ = run_to_end([timers, "sleepers"], tick=False)
    woken = [tuple(int(word) for word in line.split()) for line in text.splitlines()]
    dates = [date for _, date in woken]
    assert dates == sorted(dates)
    assert sorted(woken) == sorted(
        (seconds, n * seconds * SECOND) for seconds in (3, 5, 7, 11) for n in range(1, 11)
    )


def test_no_two_readings_are_equal(timers):
    text, _ = run_to_end([timers, "order"])
    assert text == "ordered\n"


def test_readings_do_not_make_timers_late(timers):
    _, ended = run_to_end([timers, "chain"])
    assert "exit status 0 at 50 s" in ended


def test_a_deadline_of_a_context_comes(timers):
    text, ended = run_to_end([timers, "deadline"], tick=False)
    assert text == "context deadline exceeded 1h30m0s\n"
    assert "at 5400 s" in ended


def test_what_comes_from_outside_is_answered_at_the_date_that_was_set(timers, tmp_path):
    printed = tmp_path / "printed"
    with printed.open("wb") as output:
        program = VirtualProgram([timers, "server"], stdout=output, tick=False)
    with program:
        assert program.settle().next_timer is None
        port = int(printed.read_text())
        with socket.create_connection(("127.0.0.1", port)) as connection:
            answers = connection.makefile("rb")
            for date in (0, 5, 3600, 86_400):
                program.advance(date)
                connection.send(b"?")
                assert int(answers.readline()) == (START + date) * SECOND
                program.settle()


def test_a_day_of_ten_second_steps_takes_seconds(timers):
    began = time.monotonic()
    with (
        tempfile.TemporaryFile() as output,
        VirtualProgram([timers, "ticker"], stdout=output) as program,
    ):
        follow_timers(program)
    assert time.monotonic() - began < 30
