"""What the commands about traces found, as sentences, tables and data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from noctule.columns import shown
from noctule.console import Result, Table, number_text, plain_table
from noctule.formats.headers import date_at
from noctule.traces.stats import STATISTICS, WEEKDAYS

if TYPE_CHECKING:
    from noctule.archive import ArchivedLog, Fetched
    from noctule.traces import Extract, Oddity, TraceStats
    from noctule.workload import ReadingRule, Workload

_UNITS = {
    "size": "hosts",
    "runtime": "s",
    "walltime": "s",
    "accuracy": "runtime/walltime",
    "area": "host s",
    "waiting_time": "s",
    "interarrival": "s",
}
_BAR = 40


def describe_reading(workload: Workload, *, replayed: bool) -> Iterator[str]:
    """Say what was made of a log; of one that is only changed, just which sizes were taken."""
    for rule in workload.reading:
        if replayed or rule.rule.startswith("processors"):
            yield f"{workload.source or workload.name}: {rule}"


def describe_losses(output: str, losses: Iterable[ReadingRule]) -> Iterator[str]:
    """Say what a format has no place for."""
    for rule in losses:
        yield f"{output}: {rule}"


def written_result(inputs: Sequence[str], outputs: Sequence[tuple[str, Workload]]) -> Result:
    """Say what was written."""
    files = [
        {
            "file": output,
            "n_jobs": len(workload),
            "first_submission": float(workload.submit_time[0]),
            "last_submission": float(workload.submit_time[-1]),
        }
        for output, workload in outputs
    ]
    lines = [
        f"{output}: {_jobs(len(workload))}, submitted from {_when(workload, 0)} "
        f"to {_when(workload, -1)}"
        for output, workload in outputs
    ]
    return Result({"inputs": list(inputs), "outputs": files}, lines=lines)


def run_written_result(directory: str, output: str, n_jobs: int) -> Result:
    """Say that what happened in a run was written."""
    data = {"inputs": [directory], "outputs": [{"file": output, "n_jobs": n_jobs}]}
    return Result(data, lines=[f"{output}: {_jobs(n_jobs)} of the run in {directory}"])


def stats_result(path: str, stats: TraceStats, *, n_users: int) -> Result:
    """Return the numbers about a trace; for people, those of some users only."""
    data = {"file": path, **asdict(stats)}
    rows = [
        [f"{name} ({_UNITS[name]})", *(number_text(numbers[s]) for s in STATISTICS)]
        for name, numbers in stats.distributions.items()
    ]
    lines = ["", *plain_table(Table(*_counts(stats))), *_arrivals(stats)]
    if stats.users and n_users:
        lines += ["", *plain_table(_user_table(stats, n_users))]
    return Result(data, Table(["of jobs that ran", *STATISTICS], rows), lines)


def _counts(stats: TraceStats) -> tuple[list[str], list[list[str]]]:
    span = stats.last_submission - stats.first_submission
    rows: list[list[str]] = [
        ["jobs", str(stats.n_jobs)],
        ["jobs that ran", str(stats.n_ran)],
        *(
            [name, str(n)]
            for name, n in (
                ("users", stats.n_users),
                ("groups", stats.n_groups),
                ("queues", stats.n_queues),
                ("hosts", stats.n_hosts),
            )
            if n is not None
        ),
        ["first submission", stats.first_date or shown(stats.first_submission)],
        ["last submission", stats.last_date or shown(stats.last_submission)],
        ["days between them", number_text(span / 86_400)],
        ["load", _percent(stats.load)],
        ["utilisation, recorded", _percent(stats.utilisation)],
        ["jobs of one host", _percent(stats.serial)],
        ["sizes that are powers of two", _percent(stats.powers_of_two)],
        ["jobs as long as their walltime", _percent(stats.at_walltime)],
    ]
    first, *others = rows
    return first, others


def _arrivals(stats: TraceStats) -> Iterator[str]:
    zone = f", {stats.time_zone}" if stats.time_zone else ", hour 0 is that of time 0"
    yield ""
    yield f"submissions by hour{zone}"
    yield from _bars([f"{hour:02}" for hour in range(24)], stats.by_hour)
    if stats.by_weekday is not None:
        yield ""
        yield "submissions by weekday"
        yield from _bars(WEEKDAYS, stats.by_weekday)


def _bars(names: Sequence[str], counts: Sequence[int]) -> Iterator[str]:
    largest = max(*counts, 1)
    width = len(str(largest))
    for name, count in zip(names, counts, strict=True):
        bar = "#" * round(_BAR * count / largest)
        yield f"  {name}  {count:>{width}}  {bar}".rstrip()


def _user_table(stats: TraceStats, n_users: int) -> Table:
    headers = ["user", "jobs", "share", "mean size", "median runtime", "accuracy"]
    rows = [
        [
            "-" if user.user is None else str(user.user),
            str(user.n_jobs),
            _percent(user.share),
            number_text(user.mean_size),
            number_text(user.median_runtime),
            number_text(user.accuracy),
        ]
        for user in stats.users[:n_users]
    ]
    return Table(headers, rows)


def extracts_result(
    workload: Workload, extracts: Sequence[Extract], outputs: Sequence[str]
) -> Result:
    """List the stretches that were found, and the files they were written to."""
    rows, data = [], []
    for i, one in enumerate(extracts):
        begin, end = (
            date_at(workload.headers, time) or shown(time)
            for time in (one.start, one.start + one.length)
        )
        output = outputs[i] if outputs else None
        data.append({**asdict(one), "from": begin, "to": end, "file": output})
        row = [str(i + 1), shown(one.start), begin, end, _percent(one.utilisation)]
        rows.append([*row, str(one.n_jobs), *([output] if output else [])])
    headers = ["", "start", "from", "to", "utilisation", "jobs", *(["file"] if outputs else [])]
    return Result({"extracts": data}, Table(headers, rows))


def oddities_result(path: str, n_jobs: int, oddities: Sequence[Oddity]) -> Result:
    """List what is odd about a trace."""
    data = {"file": path, "n_jobs": n_jobs, "oddities": [asdict(oddity) for oddity in oddities]}
    lines = [f"{path}: {_jobs(n_jobs)}, nothing odd"]
    if not oddities:
        return Result(data, lines=lines)
    rows = [
        [
            oddity.name,
            oddity.kind,
            str(oddity.n_jobs) if oddity.n_jobs else "-",
            oddity.description,
            "; ".join(oddity.examples),
        ]
        for oddity in oddities
    ]
    headers = ["oddity", "kind", "jobs", "what", "such as"]
    kinds = {oddity.kind: 0 for oddity in oddities}
    for oddity in oddities:
        kinds[oddity.kind] += 1
    counted = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
    lines = ["", f"{path}: {_jobs(n_jobs)}, oddities: {counted}"]
    return Result(data, Table(headers, rows, of_numbers=False), lines)


def logs_result(logs: Sequence[ArchivedLog]) -> Result:
    """List the logs that can be fetched."""
    rows = [
        [
            log.name,
            "-" if log.n_hosts is None else str(log.n_hosts),
            "yes" if log.sha256 else "no",
            log.file,
            log.notes,
        ]
        for log in logs
    ]
    headers = ["log", "hosts", "hash known", "file", "notes"]
    return Result({"logs": [asdict(log) for log in logs]}, Table(headers, rows, of_numbers=False))


def fetched_result(fetched: Fetched) -> Result:
    """Say where a log is, and whether it is the right one."""
    data = {
        "name": fetched.log.name,
        "file": str(fetched.path),
        "sha256": fetched.sha256,
        "verified": fetched.verified,
        "downloaded": fetched.downloaded,
        "n_hosts": fetched.log.n_hosts,
        "notes": fetched.log.notes,
    }
    return Result(data, lines=[str(fetched.path)])


def describe_fetched(fetched: Fetched) -> Iterator[str]:
    """Say how sure it is that a log is the right one, and what to know of it."""
    word = "verified" if fetched.verified else "unverified"
    yield f"{fetched.log.name}: {word}, SHA-256 of the log {fetched.sha256}"
    if fetched.log.notes:
        yield f"{fetched.log.name}: {fetched.log.notes}"


def _when(workload: Workload, row: int) -> str:
    time = float(workload.submit_time[row])
    return date_at(workload.headers, time) or f"second {shown(time)}"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.2f} %"


def _jobs(n: int) -> str:
    return f"{n} job" if n == 1 else f"{n} jobs"
