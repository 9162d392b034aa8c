"""What a real Slurm did, as a set of files: DIR/NAME.csv, .log.gz, .slurm.conf and .trace.csv.

Where there are switches or accounts, .topology.conf, .associations.txt and .qos.txt tell them.

The table has one row a job: what it asked for, and its dates in whole seconds and, in columns that
end in `_ms`, to the millisecond. The log has every pass, backfill cycle, allocation and end.
`noctule slurm replay` writes such sets, `noctule slurm compare` reads them.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.slurm.truth.controller_log import ControllerLog, clock_shift, read_controller_log
from noctule.slurm.truth.submissions import Submission, load_submissions

COLUMNS = (
    "jobid",
    "name",
    "planned_submit",
    "req_nodes",
    "req_cpus",
    "sleep",
    "limit_min",
    "partition",
    "submit",
    "eligible",
    "start",
    "end",
    "state",
    "nodes",
    "cpus",
    "nodelist",
    "scheduler",
    "priority",
    "last_eval",
    "submit_ms",
    "start_ms",
    "end_ms",
    "timelimit_ms",
    "user",
    "account",
    "qos",
)
_NEEDED = (
    "jobid",
    "req_nodes",
    "req_cpus",
    "limit_min",
    "partition",
    "submit",
    "start",
    "end",
    "state",
    "nodelist",
)
# An end is logged after the second that is accounted, the later the busier the machine.
_FAR = 10.0
_NONE = ("", "Unknown", "None", "N/A")


@dataclass(frozen=True, slots=True)
class TruthJob:
    """A job that ran: its request, and what became of it.

    Dates without `_date` are whole seconds of the epoch, as Slurm accounts for them. A job that
    named several partitions has them all; `options` are further ones of sbatch; user, account and
    QOS are empty where nobody accounts for them.
    """

    job_id: int
    name: str
    n_nodes: int
    n_cpus: int
    limit_minutes: int | None
    partitions: tuple[str, ...]
    submit: int
    start: int
    end: int
    state: str
    nodes: str
    scheduler: str
    priority: int | None
    submit_date: float
    start_date: float
    end_date: float
    sleep: float | None
    options: str = ""
    user: str = ""
    account: str = ""
    qos: str = ""

    @property
    def runtime(self) -> float:
        """Seconds between its start and its end, to the millisecond where that is known."""
        return self.end_date - self.start_date

    @property
    def wait(self) -> int:
        """Seconds before its start."""
        return self.start - self.submit

    @property
    def is_timed_out(self) -> bool:
        """Whether its time limit ended it."""
        return self.state.startswith("TIMEOUT")


@dataclass(frozen=True, slots=True)
class Truth:
    """A set: its jobs by number, its log on the clock of the jobs, and where its files are.

    `cancelled` are the jobs that were cancelled while they waited, at their end; `n_left_out` are
    those that never ended.
    """

    path: str
    jobs: tuple[TruthJob, ...]
    log: ControllerLog
    cancelled: tuple[TruthJob, ...] = ()
    n_left_out: int = 0

    @property
    def name(self) -> str:
        """The last part of its path."""
        return Path(self.path).name

    @property
    def conf(self) -> str:
        """Where its slurm.conf is."""
        return f"{self.path}.slurm.conf"

    def beside(self, suffix: str) -> str | None:
        """Where a file is that not all sets have, or nothing."""
        return found if Path(found := f"{self.path}{suffix}").is_file() else None


def read_truth(path: str | os.PathLike[str]) -> Truth:
    """Read the set DIR/NAME; jobs that never ended are left out, and counted."""
    base = os.fspath(path)
    log_path = next((p for p in (f"{base}.log.gz", f"{base}.log") if Path(p).exists()), None)
    if not Path(f"{base}.csv").exists():
        raise InputError(f"{base}.csv: no such file, expected a set DIR/NAME of a real run")
    if log_path is None:
        raise InputError(f"{base}.log.gz: no such file, expected the log of the controller")
    log = read_controller_log(log_path)
    rows = _rows(f"{base}.csv")
    submits = {
        _whole(row, "jobid"): float(_whole(row, "submit")) for row in rows if row.has("submit")
    }
    log = log.shifted(clock_shift(log.submissions, submits))
    asked = _submissions(f"{base}.trace.csv")
    jobs = [_job(row, log, asked) for row in rows if row.has("start") and row.has("end")]
    seen: dict[int, int] = {}
    for row in rows:
        number = _whole(row, "jobid")
        if number in seen:
            raise InputError(f"{row.where}: job {number} is in line {seen[number]} already")
        seen[number] = row.line
    if not jobs:
        raise InputError(f"{base}.csv: no job that started and ended in it")
    jobs.sort(key=lambda job: job.job_id)
    cancelled = [_job(row, log, asked) for row in rows if row.has("end") and not row.has("start")]
    n_left_out = len(rows) - len(jobs) - len(cancelled)
    return Truth(base, tuple(jobs), log, tuple(cancelled), n_left_out)


@dataclass(frozen=True, slots=True)
class _Row:
    path: str
    line: int
    cells: Mapping[str, str]

    @property
    def where(self) -> str:
        return f"{self.path}: line {self.line}"

    def has(self, column: str) -> bool:
        return self.cells.get(column, "").strip() not in (*_NONE, "0")


def _rows(path: str) -> list[_Row]:
    text = read_bytes(path).decode("utf-8", errors="replace")
    reader = csv.reader(io.StringIO(text, newline=""))
    rows: list[_Row] = []
    header: Sequence[str] | None = None
    try:
        for cells in reader:
            if header is None:
                header = cells
                missing = [name for name in _NEEDED if name not in header]
                if missing:
                    raise InputError(f"{path}: line 1: no column {', '.join(missing)}")
            elif cells:
                if len(cells) != len(header):
                    raise InputError(
                        f"{path}: line {reader.line_num}: got {len(cells)} cells, "
                        f"expected {len(header)} as in line 1"
                    )
                row = dict(zip(header, cells, strict=True))
                rows.append(_Row(path, reader.line_num, row))
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: {error}") from None
    if not rows:
        raise InputError(f"{path}: no rows, expected a job in each line after the first")
    return rows


def _submissions(path: str) -> dict[str, Submission]:
    """Return what was submitted, by the names that only one job has."""
    if not Path(path).exists():
        return {}
    jobs = load_submissions(path)
    names = Counter(job.name for job in jobs)
    return {job.name: job for job in jobs if names[job.name] == 1}


def _job(row: _Row, log: ControllerLog, submissions: Mapping[str, Submission]) -> TruthJob:
    number = _whole(row, "jobid")
    name = row.cells.get("name", "")
    submission = submissions.get(name)
    # the table has the partition that a job got, not the list that it named
    partitions = row.cells["partition"]
    if submission is not None and "," in submission.partition:
        partitions = submission.partition
    submit, end = _whole(row, "submit"), _whole(row, "end")
    start = _whole(row, "start") if row.has("start") else end
    if not submit <= start <= end:
        raise InputError(
            f"{row.where}: job {number}: got submit {submit}, start {start}, end {end}, "
            "expected them in this order"
        )
    allocated = log.allocations.get(number) if row.has("start") else None
    last = "timelimit_ms" if row.has("timelimit_ms") else "end_ms"
    logged_end = log.time_limits.get(number, log.ends.get(number))
    start_date = _date(row, "start_ms", None if allocated is None else allocated.date, start)
    return TruthJob(
        job_id=number,
        name=name,
        n_nodes=_whole(row, "req_nodes", default=0),
        n_cpus=_whole(row, "req_cpus", default=0),
        limit_minutes=_whole(row, "limit_min", default=0) or None,
        partitions=tuple(partitions.split(",")),
        submit=submit,
        start=start,
        end=end,
        state=row.cells["state"],
        nodes=row.cells["nodelist"],
        scheduler=row.cells.get("scheduler", ""),
        priority=_whole(row, "priority", default=0) or None,
        submit_date=_date(row, "submit_ms", log.submissions.get(number), submit),
        start_date=start_date,
        end_date=max(start_date, _date(row, last, logged_end, end)),
        sleep=_seconds(row, "sleep") if row.has("sleep") else None,
        options="" if submission is None else submission.options,
        user=row.cells.get("user", ""),
        account=row.cells.get("account", ""),
        qos=row.cells.get("qos", ""),
    )


def _date(row: _Row, column: str, logged: float | None, whole: int) -> float:
    """Return a date to the millisecond: of the table, of the log, or the whole second."""
    date = _seconds(row, column) if row.has(column) else whole if logged is None else logged
    if abs(date - whole) > _FAR:
        raise InputError(
            f"{row.where}: column {column}: got {date:.3f}, expected a date near {whole}"
        )
    return date


def _whole(row: _Row, column: str, default: int | None = None) -> int:
    text = row.cells.get(column, "").strip()
    if default is not None and text in _NONE:
        return default
    try:
        value = int(text)
    except ValueError:
        raise InputError(
            f"{row.where}: column {column}: got {text!r}, expected a whole number"
        ) from None
    if value < 0:
        raise InputError(f"{row.where}: column {column}: got {value}, expected one >= 0")
    return value


def _seconds(row: _Row, column: str) -> float:
    text = row.cells[column].strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise InputError(f"{row.where}: column {column}: got {text!r}, expected seconds >= 0")
    return value
