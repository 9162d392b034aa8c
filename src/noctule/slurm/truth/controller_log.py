"""What the log of slurmctld tells: passes, backfill cycles, submissions, allocations and ends.

The lines are those of 22.05 with `SlurmctldDebug=debug` and `LogTimeFormat=iso8601_ms`; `debug2`
adds when nodes answered, `DebugFlags=Priority` when priorities were computed. All other lines are
passed over. Dates are local times: `shifted` moves them to those of the epoch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from noctule.compression import read_bytes
from noctule.errors import InputError

_STAMP = re.compile(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,6})?\] ")
_JOB = r"JobId=(?P<job>\d+)(?:_\S+?\((?P<task>\d+)\))?"
_LINES = {
    "pass": re.compile(r"sched: Running job scheduler for (?P<kind>default depth|full queue)"),
    "cycle": re.compile(r"_attempt_backfill: beginning"),
    "cost": re.compile(r"_attempt_backfill: completed testing \d+\(\d+\) jobs, usec=(?P<us>\d+)"),
    "submission": re.compile(rf"_slurm_rpc_submit_batch_job: {_JOB}"),
    "main": re.compile(rf"sched: Allocate {_JOB} NodeList=(?P<nodes>\S+)"),
    "backfill": re.compile(rf"_start_job: Started {_JOB} in \S+ on (?P<nodes>\S+)"),
    "time limit": re.compile(rf"Time limit exhausted for {_JOB}"),
    "end": re.compile(rf"_job_complete: {_JOB}.* done"),
    "answer": re.compile(r"node_did_resp (?P<node>\S+)"),
    "epilogue": re.compile(rf"_slurm_rpc_epilog_complete: {_JOB} Node="),
    "calculation": re.compile(r"PRIO: (Decay factor over|Fair Tree fairshare algorithm, starting)"),
}
_QUARTER_HOUR = 900


@dataclass(frozen=True, slots=True)
class MainPass:
    """A pass of the main scheduler: over the whole queue, or as far as the default depth."""

    date: float
    is_full: bool


@dataclass(frozen=True, slots=True)
class Allocation:
    """Nodes that a scheduler, Main or Backfill, gave to a job."""

    date: float
    nodes: str
    scheduler: str


@dataclass(slots=True)
class ControllerLog:
    """Dates of what a controller did, in seconds; jobs by number."""

    passes: list[MainPass] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    cycle_costs: list[float] = field(default_factory=list)
    submissions: dict[int, float] = field(default_factory=dict)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    time_limits: dict[int, float] = field(default_factory=dict)
    ends: dict[int, float] = field(default_factory=dict)
    answers: dict[str, list[float]] = field(default_factory=dict)
    calculations: list[float] = field(default_factory=list)
    epilogues: dict[int, float] = field(default_factory=dict)

    def release(self, job: int, nodes: Iterable[str], end: float) -> float | None:
        """Return when the last of a job's nodes told that nothing of it is left, if it is known.

        Nodes answer so when they are asked after an end; after a kill they tell it later.
        """
        if job in self.epilogues:
            return self.epilogues[job]
        if job in self.time_limits:
            return None
        found = [next((d for d in self.answers.get(n, ()) if d >= end), None) for n in nodes]
        known = [date for date in found if date is not None]
        return max(known) if known and len(known) == len(found) else None

    def shifted(self, seconds: float) -> ControllerLog:
        """Return the same with all dates moved."""

        def moved(dates: Mapping[int, float]) -> dict[int, float]:
            return {job: date + seconds for job, date in dates.items()}

        return ControllerLog(
            [MainPass(p.date + seconds, p.is_full) for p in self.passes],
            [date + seconds for date in self.cycles],
            list(self.cycle_costs),
            moved(self.submissions),
            {
                job: Allocation(a.date + seconds, a.nodes, a.scheduler)
                for job, a in self.allocations.items()
            },
            moved(self.time_limits),
            moved(self.ends),
            {node: [date + seconds for date in dates] for node, dates in self.answers.items()},
            [date + seconds for date in self.calculations],
            moved(self.epilogues),
        )


def read_controller_log(path: str) -> ControllerLog:
    """Read a log, plain or compressed."""
    return parse_controller_log(read_bytes(path).decode("utf-8", errors="replace"), path)


def parse_controller_log(text: str, path: str) -> ControllerLog:
    """Read the text of a log; `path` is what messages call it."""
    log = ControllerLog()
    last = -float("inf")
    for number, line in enumerate(text.splitlines(), start=1):
        found = parse_line(line)
        if found is None:
            continue
        date, kind, match = found
        if date < last - 1.0:
            raise InputError(
                f"{path}: line {number}: the clock goes back by {last - date:.0f} s, "
                "expected dates in order"
            )
        last = date
        _enter(log, date, kind, match)
    if text and not text.endswith("\n"):
        raise InputError(f"{path}: line {text.count(chr(10)) + 1}: cut off, expected a whole line")
    if not log.passes:
        raise InputError(
            f"{path}: no pass of the main scheduler in it, expected a log with SlurmctldDebug=debug"
        )
    return log


def parse_line(line: str) -> tuple[float, str, re.Match[str]] | None:
    """Return the date of a line, what it is about, and its parts; nothing if it is of no use."""
    stamp = _STAMP.match(line)
    if stamp is None:
        return None
    for kind, pattern in _LINES.items():
        match = pattern.search(line, stamp.end())
        if match is not None:
            return _date(stamp), kind, match
    return None


def _date(stamp: re.Match[str]) -> float:
    try:
        whole = datetime.fromisoformat(stamp[1]).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return -float("inf")
    return whole + float(stamp[2] or 0)


def _enter(log: ControllerLog, date: float, kind: str, match: re.Match[str]) -> None:
    if kind == "pass":
        log.passes.append(MainPass(date, match["kind"] == "full queue"))
    elif kind == "cycle":
        log.cycles.append(date)
    elif kind == "calculation":
        log.calculations.append(date)
    elif kind == "answer":
        log.answers.setdefault(match["node"], []).append(date)
    elif kind == "cost":
        log.cycle_costs.append(int(match["us"]) * 1e-6)
    else:
        job = int(match["task"] or match["job"])
        if kind == "submission":
            log.submissions.setdefault(job, date)
        elif kind == "end":
            log.ends[job] = date
        elif kind == "epilogue":
            log.epilogues[job] = date
        elif kind == "time limit":
            log.time_limits.setdefault(job, date)
        else:
            log.allocations[job] = Allocation(date, match["nodes"], kind.capitalize())


def clock_shift(log_dates: Mapping[int, float], true_dates: Mapping[int, float]) -> float:
    """Return the quarter hours from local times to those of the epoch, told by jobs in both."""
    shifts = sorted(true_dates[job] - log_dates[job] for job in log_dates if job in true_dates)
    if not shifts:
        return 0.0
    return round(shifts[len(shifts) // 2] / _QUARTER_HOUR) * float(_QUARTER_HOUR)


def useful_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines that tell something of the schedulers, for a set of files."""
    return [line for line in lines if "backfill" in line or parse_line(line) is not None]
