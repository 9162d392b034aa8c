"""Replay of a workload on a live Slurm: jobs that sleep, submitted at the right dates.

What happened is collected from the controller, its completion log and its own log, and written as
a set of files that `noctule slurm compare` reads. Whatever ends a replay early, an interrupt
included, cancels the jobs that it submitted.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noctule.errors import InputError
from noctule.slurm.truth.controller import Controller, pairs
from noctule.slurm.truth.submissions import Submission

_POLL = 5.0
_LEAD = 1.0
_LIVE_STATES = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED")

Say = Callable[[str], None]


@dataclass(slots=True)
class LiveRun:
    """What came of a replay: records of jobs by number, as the controller tells them."""

    submissions: list[tuple[int, Submission]] = field(default_factory=list)
    refused: list[tuple[Submission, str]] = field(default_factory=list)
    records: dict[int, Mapping[str, str]] = field(default_factory=dict)
    largest_lag: float = 0.0
    log: str = ""


@dataclass(frozen=True, slots=True)
class LogFile:
    """The log of a controller, from now on."""

    path: Path
    begins: int

    @classmethod
    def of(cls, path: str) -> LogFile:
        """Remember how long the log is."""
        try:
            with Path(path).open("rb") as file:
                return cls(Path(path), file.seek(0, os.SEEK_END))
        except OSError as error:
            raise InputError(
                f"{path}: the log of the controller cannot be read: {error.strerror or error}; "
                "the passes in it are needed, --log names another place"
            ) from None

    def text(self) -> str:
        """Return what was added; all of it if the file was replaced."""
        with self.path.open("rb") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(self.begins if length >= self.begins else 0)
            text = file.read().decode("utf-8", errors="replace")
        return text[: text.rfind("\n") + 1]


def advice(settings: Mapping[str, str]) -> list[str]:
    """Say what of the configuration in force makes a replay less telling."""
    found = []
    if settings.get("SlurmctldDebug", "").strip() not in ("debug", "debug2", "debug3", "debug4"):
        found.append("SlurmctldDebug: passes are logged from `debug` on (scontrol setdebug debug)")
    if settings.get("LogTimeFormat", "iso8601_ms") != "iso8601_ms":
        found.append("LogTimeFormat: dates to the millisecond need iso8601_ms")
    if "MinJobAge" in settings:
        age = settings["MinJobAge"].split()[0]
        if age.isdigit() and int(age) < 2 * _POLL:
            found.append(f"MinJobAge: jobs may be forgotten before they are seen, got {age} s")
    return found


def replay(
    controller: Controller,
    submissions: Sequence[Submission],
    log: LogFile,
    *,
    say: Say,
    patience: float = 600.0,
    completions: str | None = None,
) -> LiveRun:
    """Submit jobs at their dates and wait for their ends.

    Where nothing changes for `patience` seconds, the jobs that are left are cancelled. Jobs that
    the controller has forgotten are looked for in `completions`, the file of jobcomp/filetxt.
    """
    run = LiveRun()
    try:
        _submit_all(controller, submissions, run, say)
        _wait_for_ends(controller, run, patience, say)
    except BaseException:
        say(f"cancelling {len(run.submissions)} jobs")
        controller.cancel([number for number, _ in run.submissions])
        raise
    if completions is not None:
        _read_completions(run, completions)
    run.log = log.text()
    return run


def _submit_all(
    controller: Controller, submissions: Sequence[Submission], run: LiveRun, say: Say
) -> None:
    began = time.monotonic() + _LEAD - submissions[0].date
    looked = time.monotonic()
    for job in submissions:
        due = began + job.date
        while (left := due - time.monotonic()) > 0:
            if left > 1.0 and time.monotonic() - looked > _POLL:
                _look(controller, run)
                looked = time.monotonic()
            else:
                time.sleep(min(left, 1.0))
        run.largest_lag = max(run.largest_lag, time.monotonic() - due)
        try:
            with _uninterrupted():
                run.submissions.append((controller.submit(job), job))
        except InputError as error:
            run.refused.append((job, str(error)))
            say(f"job {job.name}: {error}")
    if not run.submissions:
        raise InputError(f"all jobs were refused, the first because: {run.refused[0][1]}")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put an interrupt off, so that no job is submitted whose number is not known."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if seen:
        raise KeyboardInterrupt


def _look(controller: Controller, run: LiveRun) -> None:
    mine = {number for number, _ in run.submissions}
    known = controller.jobs()
    run.records.update({number: row for number, row in known.items() if number in mine})


def is_over(record: Mapping[str, str] | None) -> bool:
    """Whether a job has left the machine."""
    return record is not None and record.get("JobState", "") not in _LIVE_STATES


def _wait_for_ends(controller: Controller, run: LiveRun, patience: float, say: Say) -> None:
    states: list[str] = []
    changed = time.monotonic()
    told = 0.0
    while True:
        _look(controller, run)
        numbers = [number for number, _ in run.submissions]
        left = [number for number in numbers if not is_over(run.records.get(number))]
        if not left:
            return
        now = [run.records.get(number, {}).get("JobState", "") for number in numbers]
        if now != states:
            states, changed = now, time.monotonic()
        if time.monotonic() - changed > patience:
            say(f"nothing has changed for {patience:.0f} s: cancelling {len(left)} jobs")
            controller.cancel(left)
            time.sleep(_POLL)
            _look(controller, run)
            return
        if time.monotonic() - told > 60:
            say(f"{len(numbers) - len(left)} of {len(numbers)} jobs are over")
            told = time.monotonic()
        time.sleep(_POLL)


def _read_completions(run: LiveRun, path: str) -> None:
    """Fill in jobs that were forgotten before they were seen to end."""
    missing = {number for number, _ in run.submissions if not is_over(run.records.get(number))}
    if not missing or not Path(path).is_file():
        return
    for record in map(pairs, Path(path).read_text(errors="replace").splitlines()):
        number = int(record["JobId"]) if record.get("JobId", "").isdigit() else -1
        if number in missing:
            dated = {name: local_seconds(text) for name, text in record.items() if "Time" in name}
            run.records[number] = {**run.records.get(number, {}), **record, **dated}


def local_seconds(text: str) -> str:
    """Return the epoch seconds of a local time such as 2026-11-14T23:38:00; others as they are."""
    try:
        return str(int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))))
    except ValueError:
        return text


def unseen(run: LiveRun) -> Iterable[int]:
    """Yield the jobs of which the end is not known."""
    return (number for number, _ in run.submissions if not is_over(run.records.get(number)))
