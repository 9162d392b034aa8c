"""Rows of `sacct --parsable2`: text to attempts of jobs, and what each dropped row was dropped for.

A row is one attempt: a job that was requeued has several. Rows are read one by one and their texts
looked up where they repeat, so that logs of a year take seconds.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from operator import itemgetter
from pathlib import Path
from typing import Any

from noctule.errors import InputError
from noctule.slurm.conf.tres import read_tres
from noctule.slurm.conf.values import time_seconds
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.requests import NO_LIMIT
from noctule.slurm.jobs.stamps import Stamps
from noctule.slurm.jobs.submit_line import COMMANDS
from noctule.units import shown

#: The columns that are asked for; the last two may hold any text, even bars.
COLUMNS = (
    "JobIDRaw",
    "JobID",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "Suspended",
    "State",
    "ExitCode",
    "Partition",
    "QOS",
    "Account",
    "User",
    "ReqCPUS",
    "ReqNodes",
    "ReqMem",
    "ReqTRES",
    "AllocTRES",
    "Timelimit",
    "NodeList",
    "Priority",
    "Reservation",
    "Constraints",
    "Flags",
    "Reason",
    "JobName",
    "SubmitLine",
)
_NEEDED = ("JobID", "Submit", "Start", "End", "State")
_OTHER_NAMES = {"TimelimitRaw": "Timelimit", "NCPUS": "ReqCPUS", "NNodes": "ReqNodes"}
_STATES = (
    "BOOT_FAIL CANCELLED COMPLETED CONFIGURING COMPLETING DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY "
    "PENDING PREEMPTED RUNNING REQUEUED RESIZING REVOKED SUSPENDED TIMEOUT REQUEUE_HOLD "
    "SPECIAL_EXIT STOPPED SIGNALING"
)
_KNOWN_STATES = frozenset(_STATES.split())
_JOB_ID = re.compile(
    r"(?P<job>[0-9]{1,18})(?:_(?:(?P<task>[0-9]{1,18})"
    r"|\[(?P<tasks>[0-9,:-]+)(?:%(?P<throttle>[0-9]{1,18}))?\])|\+(?P<component>[0-9]{1,18}))?",
    re.ASCII,
)
_LONGEST_NUMBER = 19
_OPENERS: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"BZh", bz2.BZ2File),
)


@dataclass(slots=True)
class Attempt:
    """One row; times in seconds of the epoch, None where they are not known."""

    line: int
    job_id: str
    raw_id: str
    submit: int
    eligible: int | None
    start: int | None
    end: int | None
    suspended: int
    state: str
    failed: bool
    partition: str
    qos: str
    account: str
    user: str
    cpus: int
    nodes: int
    memory: str
    asked: Mapping[str, int]
    given: Mapping[str, int]
    limit: int | None
    node_list: str
    priority: int | None
    reservation: str
    constraints: str
    flags: str
    name: str
    submit_line: str
    array: str = ""
    task: int = 0
    tasks: str = ""
    throttle: int = 0
    het_group: str = ""


@dataclass(slots=True)
class SacctRows:
    """The attempts of a file in its order, the columns it has, and the last date it tells."""

    attempts: list[Attempt]
    columns: tuple[str, ...]
    source: str
    last: int = 0
    stamps: Stamps = field(default_factory=Stamps)


class _BadRowError(ValueError):
    """A row that is left out: why, and in which column."""


def read_sacct_rows(
    path: str | os.PathLike[str], report: ImportReport, *, zone: tzinfo | None = None
) -> SacctRows:
    """Read a file of rows, plain or compressed; what is left out goes to the report."""
    source = os.fspath(path)
    lines = text_lines(path)
    header = next(lines, "")
    columns = _columns(header, source)
    reader = _RowReader(columns, source, Stamps(zone))
    found: list[Attempt] = []
    was_whole = True
    for number, line in enumerate(lines, start=2):
        if not line:
            continue
        values = line.split("|", len(columns) - 1)
        if len(values) < len(columns):
            if was_whole and _JOB_ID.match(line) is None:
                continue  # a submission's text goes on: it had a line break
            report.drop("cut off: too few columns", source, number)
            was_whole = False
            continue
        was_whole = True
        report.n_rows += 1
        try:
            found.append(reader.attempt(values, number))
        except _BadRowError as error:
            report.drop(str(error), source, number)
        except InputError as error:
            raise InputError(f"{source}: line {number}: {error}") from None
    if not found and not report.dropped:
        raise InputError(f"{source}: no rows below its header, expected jobs")
    stamps = reader.stamps
    report.count("local times that summer time skips: moved by the change", stamps.n_skipped)
    report.count("local times that are there twice: the first one taken", stamps.n_twice)
    return SacctRows(found, columns, source, reader.last, stamps)


def text_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines of a plain or compressed file, one at a time."""
    where = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            first = file.read(6)
            file.seek(0)
            stream: Any = next(
                (opener(file) for m, opener in _OPENERS if first.startswith(m)), file
            )
            with io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="\n") as text:
                for line in text:
                    yield line.rstrip("\r\n")
    except FileNotFoundError:
        raise InputError(f"{where}: no such file") from None
    except (EOFError, zlib.error, lzma.LZMAError):
        raise InputError(f"{where}: truncated or corrupt compressed data") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be read: {error.strerror or error}") from None


def _columns(header: str, source: str) -> tuple[str, ...]:
    known = {name.lower(): name for name in (*COLUMNS, *_OTHER_NAMES)}
    names = header.rstrip("|").split("|")
    columns = tuple(known.get(name.strip().lower(), name.strip()) for name in names)
    missing = [name for name in _NEEDED if name not in columns]
    if "JobID" in missing and "JobIDRaw" in columns:
        missing.remove("JobID")
    if missing:
        raise InputError(
            f"{source}: line 1: no column {missing[0]}, "
            "expected what the export command prints (noctule slurm import --help)"
        )
    return columns


def split_job_id(text: str) -> Mapping[str, str] | None:
    """Return the parts of an id such as 12, 12_3, 12_[3-9%2] or 12+0; None if it is none."""
    match = _JOB_ID.fullmatch(text)
    return match.groupdict(default="") if match else None


class _RowReader:
    """Turns the values of a row into an attempt."""

    def __init__(self, columns: Sequence[str], source: str, stamps: Stamps) -> None:
        self.source = source
        self.stamps = stamps
        self.last = 0
        place = {name: i for i, name in enumerate(columns)}
        for other, name in _OTHER_NAMES.items():
            if other in place:
                place.setdefault(name, place[other])
        place.setdefault("JobID", place.get("JobIDRaw", 0))
        # a column that is not there is read as the empty text that is put behind the others
        self.take = itemgetter(*(place.get(name, len(columns)) for name in COLUMNS))
        self.name_is_before_line = place.get("JobName", -2) + 1 == place.get("SubmitLine", -9)
        self.tres: dict[str, dict[str, int]] = {}
        self.limits: dict[str, int | None] = {}
        self.states: dict[str, str] = {}

    def attempt(self, values: list[str], number: int) -> Attempt:
        values.append("")
        row = self.take(values)
        job_id = row[1]
        if "." in job_id:
            raise _BadRowError("a step of a job, not an allocation")
        parts = split_job_id(job_id)
        if parts is None:
            raise _BadRowError("JobID: expected a number such as 12, 12_3 or 12+0")
        submit = self._time(row[2], "Submit")
        if submit is None:
            raise _BadRowError("Submit: not known")
        start, end = self._time(row[4], "Start"), self._time(row[5], "End")
        eligible = self._time(row[3], "Eligible")
        self.last = max(self.last, submit, start or 0, end or 0)
        name, line = self._texts(row[25], row[26])
        return Attempt(
            number,
            job_id,
            row[0] or job_id,
            submit,
            eligible,
            start,
            self._end(start, end, row[5]),
            self._duration(row[6]),
            self._state(row[7]),
            row[8] not in ("", "0:0"),
            row[9],
            row[10],
            row[11],
            row[12],
            self._count(row[13], "ReqCPUS"),
            self._count(row[14], "ReqNodes"),
            row[15],
            self._tres(row[16], "ReqTRES"),
            self._tres(row[17], "AllocTRES"),
            self._limit(row[18]),
            "" if row[19] == "None assigned" else row[19],
            int(row[20]) if row[20].isdecimal() and len(row[20]) < _LONGEST_NUMBER else None,
            row[21],
            row[22],
            row[23],
            name,
            line,
            parts["job"] if parts["task"] or parts["tasks"] else "",
            int(parts["task"] or 0),
            parts["tasks"],
            int(parts["throttle"] or 0),
            parts["job"] if parts["component"] else "",
        )

    def _time(self, text: str, column: str) -> int | None:
        try:
            return self.stamps.read(text)
        except ValueError:
            raise _BadRowError(f"{column}: expected a time") from None

    def _end(self, start: int | None, end: int | None, text: str) -> int | None:
        if start is not None and end is not None and end < start:
            return self.stamps.later_than(start, text) or end
        return end

    def _state(self, text: str) -> str:
        known = self.states.get(text)
        if known is None:
            known = text.partition(" ")[0].rstrip("+")
            if known not in _KNOWN_STATES:
                raise _BadRowError(f"State: {shown(text)} is none that Slurm has")
            self.states[text] = known
        return known

    def _tres(self, text: str, column: str) -> dict[str, int]:
        known = self.tres.get(text)
        if known is None:
            try:
                known = self.tres[text] = read_tres(text)
            except ValueError:
                raise _BadRowError(f"{column}: expected resources such as cpu=4,mem=2G") from None
        return known

    def _limit(self, text: str) -> int | None:
        if text not in self.limits:
            self.limits[text] = self._read_limit(text)
        return self.limits[text]

    def _read_limit(self, text: str) -> int | None:
        if text in ("", "Partition_Limit"):
            return None
        if text.upper() in ("UNLIMITED", "INFINITE"):
            return NO_LIMIT
        try:
            return -(-time_seconds(text) // 60)
        except ValueError:
            raise _BadRowError("Timelimit: expected a time such as 1-00:00:00") from None

    def _duration(self, text: str) -> int:
        if text in ("", "00:00:00", "INVALID"):
            return 0
        try:
            return time_seconds(text)
        except ValueError:
            raise _BadRowError("Suspended: expected a time such as 00:10:00") from None

    def _count(self, text: str, column: str) -> int:
        if text.isdecimal() and len(text) < _LONGEST_NUMBER:
            return int(text)
        match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([KM])", text)
        if match:
            return int(float(match[1]) * (1024 if match[2] == "K" else 1024**2))
        if text in ("", "Unknown"):
            return 0
        raise _BadRowError(f"{column}: expected a number")

    def _texts(self, name: str, line: str) -> tuple[str, str]:
        """Split a name with bars in it from the line of the submission that follows it."""
        if not self.name_is_before_line or "|" not in line:
            return name, line
        for command in COMMANDS:
            head, bar, rest = line.partition(f"|{command} ")
            if bar:
                return f"{name}|{head}", f"{command} {rest}"
        return name, line
