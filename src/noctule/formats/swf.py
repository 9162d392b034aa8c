"""Logs in the Standard Workload Format: 18 numbers a job, and headers.

Feitelson et al., "Standard workload format", Parallel Workloads Archive, version 2.2. A number
that is not known is -1. What is made of the numbers is chosen by SwfRules, and each rule reports
how many jobs it touched.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.columns import KIND_COMPUTE, KIND_DELAY, Floats, shown
from noctule.errors import InputError
from noctule.formats.headers import moved
from noctule.platform import MAX_HOSTS
from noctule.workload import Columns, Dependency, ReadingRule, Workload

Booleans = npt.NDArray[np.bool_]

# The fields in their order, as messages name them; cpp/swf.hpp has the same.
FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
# Fields that have a place of their own in a Workload; the others are kept as extra columns.
_PLACED = ("job number", "submit time", "run time", "user", "group", "queue")
_STATUS_COMPLETED = 1
# The largest number up to which all integers are exact.
_MAX_EXACT = 2.0**53

_LEADING_COMMENTS = re.compile(rb"(?:[ \t\r]*(?:;[^\n]*)?\n)*")
_COMMENT = re.compile(rb"^[ \t]*;(.*)$", re.MULTILINE)
_HEADER = re.compile(r"([A-Z][A-Za-z0-9]*):\s*(.*)")


@dataclass(frozen=True, slots=True)
class SwfRules:
    """What to make of a log; `load_workload` explains each.

    The last two are for tools that change logs and do not simulate them: `keep_all` also keeps the
    jobs that cannot be replayed (they end at once, on one host if none is known; `Job.extra` has
    the recorded numbers), and `keep_dates` leaves time 0 where the log has it.
    """

    processors: str = "requested"
    walltime_factor: float | None = 1
    profiles: str = "compute"
    reference_speed: float | None = None
    dependencies: bool = False
    keep_all: bool = False
    keep_dates: bool = False

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        for name, choices in (
            ("processors", ("requested", "allocated")),
            ("profiles", ("compute", "delay")),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise InputError(
                    f"{name}: got {value!r}, expected {' or '.join(map(repr, choices))}"
                )
        for name in ("walltime_factor", "reference_speed"):
            value = getattr(self, name)
            if value is not None and not _is_positive(value):
                raise InputError(f"{name}: got {value!r}, expected a positive number or None")
        if self.profiles == "delay" and self.reference_speed is not None:
            raise InputError(
                f"reference_speed: got {self.reference_speed!r}, "
                "expected None: profiles='delay' keeps durations at any speed"
            )


def read_swf(text: bytes, rules: SwfRules, *, source: str, name: str = "w0") -> Workload:
    """Make a Workload of the text of a log; time 0 is the first submission that is kept."""
    log = read_swf_log(text, source=source)
    _check(log)
    reading = _Reading()
    reading.rules.append(ReadingRule("jobs read", len(log.lines)))
    log, n_hosts = _keep(log, rules, reading)
    submit, headers = _submit_times(log, swf_headers(text), rules, reading)
    runtime = np.maximum(log.column("run time"), 0.0)
    n = len(runtime)
    columns = Columns(
        job_ids=log.column("job number").astype(np.int64),
        submit_time=submit,
        n_hosts=n_hosts,
        amount=runtime,
        walltime=_walltimes(log, runtime, rules, reading),
        kind=np.full(n, KIND_COMPUTE if rules.profiles == "compute" else KIND_DELAY),
    )
    dependencies = _dependencies(log, rules, reading)
    replayed = (log.column("status") >= 0) & (log.column("status") != _STATUS_COMPLETED)
    reading.add("status: not completed, replayed like any other", replayed)
    reading.rules.append(ReadingRule("jobs kept", n))
    return Workload(
        columns,
        name=name,
        reference_speed=rules.reference_speed,
        dependencies=dependencies,
        labels=_labels(log),
        extra=_extra(log),
        headers=headers,
        reading=reading.rules,
        source=source,
    )


@dataclass(frozen=True, slots=True)
class SwfLog:
    """The job lines of a log as numbers, before any rule: one row a job, one column a field."""

    source: str
    cells: Floats
    lines: npt.NDArray[np.uint32]

    def column(self, name: str) -> Floats:
        """Return one of FIELDS of all jobs."""
        return np.ascontiguousarray(self.cells[:, FIELDS.index(name)])

    def demand(self, name: str, good: Booleans, expected: str) -> None:
        """Refuse the first line whose field is not good."""
        if not good.all():
            self.refuse(int(np.argmin(good)), name, expected)

    def refuse(self, row: int, name: str, expected: str) -> None:
        """Say what is wrong with a field of a line."""
        i = FIELDS.index(name)
        raise InputError(
            f"{self.source}: line {self.lines[row]}: field {i + 1} ({name}): "
            f"got {shown(self.cells[row, i])}, {expected}"
        )


@dataclass(frozen=True, slots=True)
class _Reading:
    """The rules applied so far."""

    rules: list[ReadingRule] = field(default_factory=list)

    def add(self, rule: str, touched: Booleans) -> None:
        n = int(np.count_nonzero(touched))
        if n:
            self.rules.append(ReadingRule(rule, n))


def read_swf_log(text: bytes, *, source: str) -> SwfLog:
    """Return the numbers of a log as they are; only what is no log at all is refused."""
    try:
        cells, lines = _core.parse_swf(text)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    if len(lines) == 0:
        raise InputError(f"{source}: got no job line, expected at least one")
    return SwfLog(source, cells, lines)


def _check(log: SwfLog) -> None:
    """Refuse what no rule can make sense of."""
    log.demand("submit time", log.column("submit time") >= 0, "expected a number >= 0")
    ids = log.column("job number")
    log.demand("job number", _is_whole(ids) & (ids >= 0), "expected a whole number >= 0")
    for name in ("allocated processors", "requested processors"):
        values = log.column(name)
        good = _is_whole(values) & (values <= MAX_HOSTS)
        log.demand(name, good, f"expected a whole number up to {MAX_HOSTS}")
    for name in ("user", "group", "queue", "preceding job"):
        log.demand(name, _is_whole(log.column(name)), "expected a whole number")
    _refuse_duplicates(log, ids)


def _refuse_duplicates(log: SwfLog, ids: Floats) -> None:
    if bool(np.all(ids[1:] > ids[:-1])):
        return
    order = np.argsort(ids, kind="stable")
    again = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if len(again):
        k = again[np.argmin(order[again + 1])]  # the first repetition, in the order of the file
        log.refuse(
            int(order[k + 1]), "job number", f"which is the job of line {log.lines[order[k]]}"
        )


def _keep(log: SwfLog, rules: SwfRules, reading: _Reading) -> tuple[SwfLog, Floats]:
    """Drop the jobs that cannot be replayed; return the others, and their numbers of hosts."""
    ran = log.column("run time") > 0
    other = "allocated" if rules.processors == "requested" else "requested"
    n_hosts = log.column(f"{rules.processors} processors")
    substitute = log.column(f"{other} processors")
    missing = n_hosts <= 0
    n_hosts = np.where(missing, substitute, n_hosts)
    kept = ran & (n_hosts > 0)
    if rules.keep_all:
        return log, _counted_anyway(n_hosts, missing, other, rules, reading)
    reading.add("dropped: run time not positive", ~ran)
    reading.add("dropped: number of processors not known", ran & ~kept)
    reading.add("users: begin with a later job, as their first is dropped", _first(log, kept))
    reading.add(f"processors: {other}, as {rules.processors} are not known", kept & missing)
    if not kept.any():
        done = "; ".join(map(str, reading.rules))
        raise InputError(f"{log.source}: no job is left to simulate ({done})")
    if not kept.all():
        log = SwfLog(log.source, log.cells[kept], log.lines[kept])
    return log, n_hosts[kept]


def _first(log: SwfLog, kept: Booleans) -> Booleans:
    """Tell which dropped jobs are the first of a user of whom others are kept."""
    first = np.zeros(len(kept), dtype=bool)
    if not kept.all():
        user = log.column("user")
        order = np.lexsort((log.column("submit time"), user))
        first[order[np.unique(user[order], return_index=True)[1]]] = True
        first &= ~kept & (user >= 0) & np.isin(user, user[kept])
    return first


def _counted_anyway(
    n_hosts: Floats, missing: Booleans, other: str, rules: SwfRules, reading: _Reading
) -> Floats:
    known = n_hosts > 0
    reading.add("processors: 1, as none are known", ~known)
    reading.add(f"processors: {other}, as {rules.processors} are not known", known & missing)
    return np.where(known, n_hosts, 1.0)


def _submit_times(
    log: SwfLog, headers: dict[str, Any], rules: SwfRules, reading: _Reading
) -> tuple[Floats, dict[str, Any]]:
    """Return dates from the first submission on, and headers that tell the date of time 0."""
    submit = log.column("submit time")
    first = 0.0 if rules.keep_dates else float(submit.min())
    shifted = np.full(len(submit), first != 0)
    reading.add(f"submit time: {shown(first)} s less, so that the first is 0", shifted)
    out_of_order = np.argsort(submit, kind="stable") != np.arange(len(submit))
    reading.add("order: sorted by submit time", out_of_order)
    return submit - first, moved(headers, first) if first else headers


def _walltimes(log: SwfLog, runtime: Floats, rules: SwfRules, reading: _Reading) -> Floats:
    requested = log.column("requested time")
    unknown = requested <= 0
    if rules.walltime_factor is None:
        walltime = np.where(unknown, math.inf, requested)
        reading.add("walltime: none, as none was requested", unknown)
    else:
        with np.errstate(over="ignore"):  # a limit that no number can hold is none
            needed = rules.walltime_factor * runtime
        walltime = np.where(unknown, needed, np.maximum(requested, needed))
        walltime = np.where(walltime > 0, walltime, math.inf)  # of a job that never ran
        what = f"{shown(rules.walltime_factor)} x run time"
        reading.add(f"walltime: {what}, as none was requested", unknown)
        reading.add(f"walltime: raised to {what}", ~unknown & (needed > requested))
    # A computation may last as long as its walltime, a delay must be shorter.
    late = runtime > walltime if rules.profiles == "compute" else runtime >= walltime
    reading.add("walltime: reached by the run time, so that the job times out", late)
    return walltime


def _dependencies(
    log: SwfLog, rules: SwfRules, reading: _Reading
) -> dict[int, tuple[Dependency, ...]]:
    preceding = log.column("preceding job")
    known = preceding >= 0
    if not rules.dependencies:
        reading.add("dependencies: not asked for, ignored", known)
        return {}
    present = known & np.isin(preceding, log.column("job number"))
    reading.add("dependencies: preceding job not kept or not known, ignored", known & ~present)
    reading.add("dependencies: submitted after the preceding job", present)
    think_time = np.maximum(log.column("think time"), 0.0)
    return {
        i: (Dependency(int(preceding[i]), float(think_time[i])),)
        for i in np.flatnonzero(present).tolist()
    }


def _labels(log: SwfLog) -> dict[str, npt.NDArray[np.int64]]:
    columns = {name: log.column(name).astype(np.int64) for name in ("user", "group", "queue")}
    return {name: np.maximum(ids, -1) for name, ids in columns.items() if (ids >= 0).any()}


def _extra(log: SwfLog) -> dict[str, npt.NDArray[Any]]:
    """Keep the fields that have no other place, as integers where they are."""
    extra: dict[str, npt.NDArray[Any]] = {}
    for name in FIELDS:
        column = log.column(name)
        never_ran = name == "run time" and (column <= 0).any()
        if never_ran or (name not in _PLACED and (column != -1).any()):
            whole = _is_whole(column).all()
            extra[name.replace(" ", "_").lower()] = column.astype(np.int64) if whole else column
    return extra


def swf_headers(text: bytes) -> dict[str, str]:
    """Return the headers; what is said twice, or goes on for several lines, has several lines."""
    leading = _LEADING_COMMENTS.match(text)
    end = leading.end() if leading else 0
    # Comments between the jobs are rare, and looking for them line by line would take long.
    searched = text if text.find(b";", end) >= 0 else text[:end]
    headers: dict[str, str] = {}
    key = ""
    for comment in _COMMENT.findall(searched):
        line = _decoded(comment).strip()
        match = _HEADER.fullmatch(line)
        if match:
            key, line = match.groups()
        if line or match:
            headers[key] = f"{headers[key]}\n{line}" if key in headers else line
    return headers


def _decoded(comment: bytes) -> str:
    try:
        return comment.decode()
    except UnicodeDecodeError:
        return comment.decode("latin-1")


def _is_whole(values: Floats) -> Booleans:
    whole: Booleans = (values == np.floor(values)) & (np.abs(values) <= _MAX_EXACT)
    return whole


def _is_positive(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    return bool(np.isfinite(value) and value > 0)
