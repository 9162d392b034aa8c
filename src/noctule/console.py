"""What the commands print: results on standard output, talk on standard error.

A command gives one Result, and one of three writers shows it: for people, as JSON, or not at all.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, Protocol, TextIO

from noctule.errors import InputError

_SECONDS_BEFORE_DISPLAY = 0.2


class ExitCode(IntEnum):
    """What the exit code of `noctule` means."""

    OK = 0
    CHECK_FAILED = 1
    USAGE = 2
    INPUT = 3
    DECISION = 4
    PROTOCOL = 5
    DEADLOCK = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


class ProgressState(Protocol):
    """How far a simulation has come."""

    @property
    def now(self) -> float:
        """Simulated date."""

    @property
    def n_ended(self) -> int:
        """Jobs that are done with."""

    @property
    def n_jobs(self) -> int:
        """All jobs."""


Progress = Callable[[ProgressState], object]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under a line of headers; the columns of numbers are aligned to the right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    of_numbers: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """What a command found, for people (a table, then lines) and for programs."""

    data: Mapping[str, Any]
    table: Table | None = None
    lines: Sequence[str] = ()


class Talk:
    """What is said on the way, on standard error; the progress only on a terminal."""

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._began = time.monotonic()
        self._bar: _ProgressBar | None = None

    def note(self, text: str) -> None:
        """Say something."""
        if not self._silent:
            # nobody listening must not end a run
            with suppress(OSError, AttributeError):
                sys.stderr.write(f"{text}\n")

    def notes(self, texts: Iterable[str]) -> None:
        """Say several things."""
        for text in texts:
            self.note(text)

    def progress(self) -> Progress | None:
        """Return what to call with the state of the simulation, if anybody looks."""
        self._began = time.monotonic()
        return None if self._silent or not sys.stderr.isatty() else self._show_progress

    def close(self) -> None:
        """Take the live display away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show_progress(self, state: ProgressState) -> None:
        # not at once: a run that is over soon needs no display
        if self._bar is None and time.monotonic() - self._began < _SECONDS_BEFORE_DISPLAY:
            return
        if self._bar is None:
            self._bar = _ProgressBar(self._began)
        self._bar.update(state)


@dataclass(frozen=True, slots=True)
class Console:
    """How a command speaks on the way, and how it gives its result."""

    talk: Talk
    write: Callable[[Result], None]

    def show(self, result: Result) -> None:
        """Give the result; end quietly if nobody reads it any more."""
        try:
            self.write(result)
            sys.stdout.flush()
        except BrokenPipeError:
            _silence(sys.stdout)
            raise PipeClosed from None
        except OSError as error:
            _silence(sys.stdout)
            reason = error.strerror or error
            raise InputError(f"standard output: cannot be written: {reason}") from None


class PipeClosed(Exception):  # noqa: N818  (it is no error: the reader has seen enough)
    """The reader of standard output has gone."""


@contextmanager
def speaking(*, as_json: bool, quiet: bool) -> Iterator[Console]:
    """Give the console that the options ask for, and end its display in any case."""
    talk = Talk(silent=quiet)
    write = write_json if as_json else write_nothing if quiet else write_text
    try:
        yield Console(talk, write)
    finally:
        talk.close()


def write_text(result: Result) -> None:
    """Print a table and lines, for people."""
    if result.table is not None:
        _print_table(result.table)
    _print_lines(result.lines)


def write_json(result: Result) -> None:
    """Print one JSON object; what is not a number is null."""
    _print_lines([json.dumps(_without_nan(result.data), indent=2, allow_nan=False)])


def write_nothing(result: Result) -> None:
    """Print nothing: the exit code tells."""


def _silence(stream: TextIO) -> None:
    """Send what is still to be flushed nowhere, once the reader of a pipe has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def number_text(value: float) -> str:
    """Write a number for people: counts as they are, others with four decimals or six digits."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if value == 0 or abs(value) >= 1 else f"{value:.6g}"


def date_text(seconds: float) -> str:
    """Write a simulated date as days and a time of day."""
    minutes, s = divmod(int(seconds), 60)
    hours, m = divmod(minutes, 60)
    days, h = divmod(hours, 24)
    return f"day {days} {h:02}:{m:02}:{s:02}"


def plain_table(table: Table) -> Iterator[str]:
    """Yield the lines of a table, aligned with spaces."""
    lines = [table.headers, *table.rows]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    align = str.rjust if table.of_numbers else str.ljust
    for first, *others in lines:
        cells = [first.ljust(widths[0])]
        cells += [align(cell, width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()


def _print_lines(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _print_table(table: Table) -> None:
    lines = list(plain_table(table))
    width = shutil.get_terminal_size().columns
    # A number cut in two is worse than a long line.
    if not sys.stdout.isatty() or (table.of_numbers and max(map(len, lines)) > width):
        _print_lines(lines)
        return
    from rich.console import Console as RichConsole
    from rich.table import Table as RichTable

    shown = RichTable(box=None, pad_edge=False)
    for i, header in enumerate(table.headers):
        right = table.of_numbers and i > 0
        justify: Literal["right", "left"] = "right" if right else "left"
        shown.add_column(header, justify=justify, no_wrap=table.of_numbers)
    for row in table.rows:
        shown.add_row(*row)
    RichConsole(markup=False, highlight=False).print(shown)


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _ProgressBar:
    """Simulated date, jobs done of all, jobs a second, and time left, on standard error."""

    def __init__(self, began: float) -> None:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._began = began
        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f} jobs"),
            TextColumn("{task.fields[speed]:.0f} jobs/s"),
            TimeRemainingColumn(),
            console=RichConsole(file=sys.stderr),
            transient=True,
        )
        self._task = self._bar.add_task("", total=0, speed=0.0)
        self._bar.start()

    def update(self, state: ProgressState) -> None:
        """Show how far the simulation is."""
        seconds = max(time.monotonic() - self._began, 1e-3)
        self._bar.update(
            self._task,
            description=date_text(state.now),
            completed=state.n_ended,
            total=state.n_jobs,
            speed=state.n_ended / seconds,
        )

    def stop(self) -> None:
        """Take the bar away."""
        self._bar.stop()
