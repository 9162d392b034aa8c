"""What `noctule slurm backtest` found, as tables, sentences and data; and rows as files."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from noctule.console import Result, Table
from noctule.output_file import write_file
from noctule.slurm.answers.backtest import Backtest, ClassError, class_rows

_MOST_ACCOUNTS = 20
_MOST_JOBS = 5
_HEADERS = (
    "waits (s)",
    "jobs",
    "recorded",
    "median",
    "simulated",
    "median",
    "error",
    "%",
    "sd of phases",
    "rms error",
)


def backtest_result(found: Backtest) -> Result:
    """Return the classes for people, and all that was found for programs."""
    shown, n_hidden = fewer_accounts(found.classes)
    lines = list(_unplaced_lines(found))
    if n_hidden:
        lines.append(f"{n_hidden} accounts with fewer jobs: see --json or --csv")
    if found.n_only_simulated:
        lines.append(
            f"jobs that started in the model only, and in truth left the queue: "
            f"{found.n_only_simulated}"
        )
    lines += [f"note: {note}" for note in found.notes]
    data = {
        "phases": found.n_phases,
        "seed": found.seed,
        "classes": class_rows(found.classes),
        "not_placed": [asdict(job) for job in found.unplaced],
        "n_only_simulated": found.n_only_simulated,
        "notes": list(found.notes),
    }
    return Result(data, Table(_HEADERS, list(map(_row, shown))), lines)


def fewer_accounts(classes: Iterable[Any]) -> tuple[list[Any], int]:
    """Return classes with the accounts that have most jobs only, and how many were left out."""
    listed = list(classes)
    accounts = sorted(
        (one for one in listed if one.kind == "account"), key=lambda one: (-one.n_jobs, one.name)
    )
    hidden = {one.name for one in accounts[_MOST_ACCOUNTS:]}
    return [o for o in listed if o.kind != "account" or o.name not in hidden], len(hidden)


def class_label(kind: str, name: str) -> str:
    """Return the name of a class as tables show it."""
    return "all jobs" if kind == "all" else f"{kind} {name}"


def seconds_text(value: float) -> str:
    """Write seconds for people."""
    return "-" if math.isnan(value) else f"{value:.1f}"


def change_text(value: float) -> str:
    """Write a difference in seconds for people."""
    return "-" if math.isnan(value) else f"{value:+.1f}"


def percent_text(part: float, whole: float) -> str:
    """Write a difference relative to something."""
    return f"{100 * part / whole:+.1f}" if whole and math.isfinite(part) else "-"


def _row(one: ClassError) -> list[str]:
    return [
        class_label(one.kind, one.name),
        str(one.n_jobs),
        seconds_text(one.recorded_mean),
        seconds_text(one.recorded_median),
        seconds_text(one.simulated_mean),
        seconds_text(one.simulated_median),
        change_text(one.error),
        percent_text(one.error, one.recorded_mean),
        seconds_text(one.spread),
        seconds_text(one.rms_error),
    ]


def _unplaced_lines(found: Backtest) -> Iterator[str]:
    if not found.unplaced:
        return
    yield f"jobs that ran and that the model does not place: {len(found.unplaced)}"
    reasons = Counter(job.reason for job in found.unplaced)
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        ids = [job.job_id for job in found.unplaced if job.reason == reason]
        more = ", ..." if count > _MOST_JOBS else ""
        yield f"  {count}: {reason} ({', '.join(ids[:_MOST_JOBS])}{more})"


def write_rows(path: str, rows: Sequence[Mapping[str, Any]], *, force: bool) -> None:
    """Write rows that have the same columns as CSV; what is not a number is left empty."""
    buffer = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    write_file(path, [buffer.getvalue()], force=force)


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    return value
