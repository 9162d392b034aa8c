"""What people see: numbers, tables, dates, and the progress on a terminal."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass

import pytest

from noctule.console import Result, Table, Talk, date_text, number_text, plain_table, speaking


@dataclass(frozen=True)
class State:
    now: float
    n_ended: int
    n_jobs: int


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of standard error; a fixture's would be lost to the capture."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return stream


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (28467, "28467"),
        (6858.36400042, "6858.3640"),
        (0.0, "0.0000"),
        (0.000989682, "0.000989682"),
        (0.7010872007, "0.701087"),
        (math.nan, "-"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_for_people(value: float, text: str) -> None:
    assert number_text(value) == text


def test_dates_are_days_and_a_time() -> None:
    assert date_text(0) == "day 0 00:00:00"
    assert date_text(86_400 * 12 + 3 * 3600 + 4 * 60 + 5.9) == "day 12 03:04:05"


def test_numbers_are_aligned_to_the_right_and_texts_to_the_left() -> None:
    numbers = Table(["metric", "a"], [["n", "12"], ["makespan", "3"]])
    assert list(plain_table(numbers)) == ["metric     a", "n         12", "makespan   3"]
    texts = Table(["policy", "it"], [["easy", "x"], ["fcfs", "yyy"]], of_numbers=False)
    assert list(plain_table(texts)) == ["policy  it", "easy    x", "fcfs    yyy"]


def test_a_terminal_gets_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stdout", stream)
    with speaking(as_json=False, quiet=False) as console:
        console.show(Result({}, Table(["metric", "[a]"], [["n", "12"]]), ["done"]))
    assert "[a]" in stream.getvalue()
    assert "12" in stream.getvalue()
    assert stream.getvalue().endswith("done\n")


@pytest.fixture(autouse=True)
def _display_at_once(monkeypatch):
    monkeypatch.setattr("noctule.console._SECONDS_BEFORE_DISPLAY", 0)


def test_progress_shows_date_jobs_and_speed_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = a_terminal(monkeypatch)
    talk = Talk()
    progress = talk.progress()
    assert progress is not None
    assert terminal.getvalue() == ""
    progress(State(90_000.0, 250, 1000))
    talk.close()
    shown = terminal.getvalue()
    assert "day 1 01:00:00" in shown
    assert "250/1000 jobs" in shown
    assert "jobs/s" in shown


def test_there_is_no_progress_without_a_terminal_or_if_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a_terminal(monkeypatch)
    assert Talk(silent=True).progress() is None
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert Talk().progress() is None


def test_the_display_ends_when_the_command_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)

    def fail_on_the_way() -> None:
        with speaking(as_json=False, quiet=False) as console:
            progress = console.talk.progress()
            assert progress is not None
            progress(State(1.0, 1, 2))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_on_the_way()
    assert "\x1b[?25l" in terminal.getvalue()  # the cursor was hidden,
    assert "\x1b[?25h" in terminal.getvalue()  # and is shown again
