"""What is submitted to a real Slurm: jobs that sleep, from a workload or from a table.

The table is that of a set of files, NAME.trace.csv: idx, submit, nodes, cpus, duration, limit (in
minutes), partition, name and, where jobs ask for more, further options of sbatch.
"""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats import load_workload
from noctule.profile import Delay
from noctule.slurm.jobs.submit_line import (
    asked_on_line,
    options_of,
    readable_options,
    stands_alone,
)
from noctule.workload import Workload

TRACE_COLUMNS = ("idx", "submit", "nodes", "cpus", "duration", "limit", "partition", "name")
_NEEDED = TRACE_COLUMNS[1:6]
_OPTIONS = "options"
# of one job that is submitted now, and has its name and partition in other columns
_ELSEWHERE = frozenset(("array", "dependency", "hold", "job-name", "partition"))
_ACCOUNTING = ("account", "qos")
_NAME = re.compile(r"[A-Za-z0-9_.,-]{0,200}")


@dataclass(frozen=True, slots=True)
class Submission:
    """A job to submit: when, for what, and how long it sleeps; no partition is the default one.

    `options` are further ones of sbatch, such as `--mem=500 --gres=gpu:2`.
    """

    date: float
    n_nodes: int
    n_cpus: int
    duration: float
    limit_minutes: int | None
    partition: str
    name: str
    options: str = ""

    def words(self) -> list[str]:
        """Return the options of sbatch that ask for it."""
        words = [f"--job-name={self.name}"]
        if self.n_nodes:
            words.append(f"--nodes={self.n_nodes}")
        if self.n_cpus:
            words.append(f"--ntasks={self.n_cpus}")
        if self.limit_minutes is not None:
            words.append(f"--time={self.limit_minutes}")
        if self.partition:
            words.append(f"--partition={self.partition}")
        return [*words, *shlex.split(self.options), f"--wrap=sleep {self.duration:.3f}"]


def load_submissions(path: str, *, unit: str = "nodes", partition: str = "") -> list[Submission]:
    """Read a trace table, an SWF log or a Batsim workload, in order of dates.

    A host of a workload is a node, or a CPU if `unit` says so. `partition` is for jobs whose
    file names none.
    """
    text = read_bytes(path)
    if text.partition(b"\n")[0].strip().startswith(b"idx,"):
        found = list(_from_table(path, text.decode("utf-8", errors="replace"), partition))
    elif text.lstrip()[:1] in (b"{", b"["):
        found = list(from_workload(load_workload(path), unit=unit, partition=partition))
    else:
        workload = load_workload(path, profiles="delay", walltime_factor=None)
        found = list(from_workload(workload, unit=unit, partition=partition))
    if not found:
        raise InputError(f"{path}: no jobs in it, expected some to submit")
    return sorted(found, key=lambda job: job.date)


def from_workload(
    workload: Workload, *, unit: str = "nodes", partition: str = ""
) -> Iterator[Submission]:
    """Yield a submission for each job; its queue, where it is a name, is its partition."""
    for i, job in enumerate(workload):
        if not isinstance(job.profile, Delay):
            raise InputError(
                f"job {job.id}: got a profile of kind {type(job.profile).__name__}, expected "
                "jobs with a fixed duration: a real machine does nothing else but let them sleep"
            )
        if job.dependencies:
            raise InputError(f"job {job.id}: has dependencies, expected dates of submission only")
        limit = None if math.isinf(job.walltime) else max(1, math.ceil(job.walltime / 60))
        where = job.queue if isinstance(job.queue, str) and job.queue else partition
        yield Submission(
            date=job.submit_time,
            n_nodes=job.request.n_hosts if unit == "nodes" else 0,
            n_cpus=job.request.n_hosts if unit == "cpus" else 0,
            duration=job.profile.duration,
            limit_minutes=limit,
            partition=_name(f"job {job.id}: partition", where),
            name=f"j{i}",
        )


def _from_table(path: str, text: str, partition: str) -> Iterator[Submission]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
    if missing:
        raise InputError(f"{path}: line 1: no column {', '.join(missing)}")
    for i, row in enumerate(reader):
        where = f"{path}: line {reader.line_num}"
        if None in row or None in row.values():
            raise InputError(f"{where}: expected as many cells as in line 1")
        numbers = {name: _number(where, name, row) for name in _NEEDED}
        n_nodes, n_cpus = int(numbers["nodes"]), int(numbers["cpus"])
        if not n_nodes and not n_cpus:
            raise InputError(f"{where}: got neither nodes nor cpus, expected one of them")
        yield Submission(
            date=numbers["submit"],
            n_nodes=n_nodes,
            n_cpus=n_cpus,
            duration=numbers["duration"],
            limit_minutes=math.ceil(numbers["limit"]) or None,
            partition=_name(f"{where}: column partition", row.get("partition") or partition),
            name=_name(f"{where}: column name", row.get("name") or f"j{i}"),
            options=_options(f"{where}: column {_OPTIONS}", row.get(_OPTIONS) or ""),
        )


def _number(where: str, name: str, row: Mapping[str, str]) -> float:
    text = row[name]
    try:
        value = float(text or 0)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e9:
        raise InputError(f"{where}: column {name}: got {text!r}, expected a number >= 0")
    return value


def _name(where: str, text: str) -> str:
    if _NAME.fullmatch(text) is None:
        raise InputError(f"{where}: got {text!r}, expected letters, digits and _ . , -")
    return text


def _options(where: str, text: str) -> str:
    """Refuse what the model does not know, and all that could do more than ask for resources."""
    known = sorted({*readable_options(), *_ACCOUNTING} - _ELSEWHERE)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{where}: got {text!r}: {error}") from None
    for word in words:
        name, equals, _ = word.removeprefix("--").partition("=")
        is_whole = word.startswith("--") and (equals or stands_alone(name))
        if not is_whole or name not in known:
            raise InputError(
                f"{where}: got {word!r}, expected options such as --mem=500, of these: "
                f"{', '.join(known)}"
            )
    if unread := asked_on_line(f"sbatch {text}")[1]:
        raise InputError(f"{where}: {', '.join(unread)}: got {text!r}, expected another value")
    return text


def asked_fields(options: str) -> dict[str, Any]:
    """Return the fields of a Request that further options ask for."""
    line = f"sbatch {options}"
    given = options_of(line)
    return asked_on_line(line)[0] | {name: given[name] for name in _ACCOUNTING if name in given}


def trace_table(submissions: Iterable[Submission]) -> str:
    """Return the table of submissions."""
    jobs = list(submissions)
    asks_more = any(job.options for job in jobs)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*TRACE_COLUMNS, _OPTIONS] if asks_more else TRACE_COLUMNS)
    for i, job in enumerate(jobs):
        writer.writerow(
            [
                i,
                f"{job.date:.3f}",
                job.n_nodes,
                job.n_cpus,
                f"{job.duration:g}",
                job.limit_minutes or 0,
                job.partition,
                job.name,
                *([job.options] if asks_more else []),
            ]
        )
    return text.getvalue()
