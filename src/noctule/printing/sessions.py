"""What `noctule sessions` found, as sentences, tables and data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from noctule.console import Result, Table, number_text, plain_table
from noctule.sessions.statistics import STATISTICS

if TYPE_CHECKING:
    from noctule.sessions import Sessions, SessionStats

_UNITS = {"response_time": "s", "think_time": "s"}


def describe_sessions(sessions: Sessions) -> Iterator[str]:
    """Say what was done about jobs of which something is not known."""
    for rule in sessions.notes:
        yield f"{sessions.record.source}: {rule}"


def sessions_result(
    path: str,
    sessions: Sessions,
    stats: SessionStats,
    *,
    n_users: int,
    output: str | None,
    files: Sequence[str],
) -> Result:
    """Return the numbers about sessions; for people, those of some users only."""
    data = {
        "file": path,
        "cut": sessions.cut,
        "threshold": sessions.threshold,
        **asdict(stats),
        "output": output,
        "files": list(files),
    }
    rows = [
        [_label(name), *(number_text(numbers[s]) for s in STATISTICS)]
        for name, numbers in stats.distributions.items()
    ]
    first, *others = _counts(stats)
    lines = ["", *plain_table(Table(first, others))]
    if n_users:
        lines += ["", *plain_table(_user_table(stats, n_users))]
    if output is not None:
        lines += ["", f"{output}: {len(files)} files written"]
    return Result(data, Table(["", *STATISTICS], rows), lines)


def _label(name: str) -> str:
    text = name.replace("_", " ")
    return f"{text} ({_UNITS[name]})" if name in _UNITS else text


def _counts(stats: SessionStats) -> list[list[str]]:
    return [
        ["jobs", str(stats.n_jobs)],
        ["users", str(stats.n_users)],
        ["sessions", str(stats.n_sessions)],
        ["that depend on none", str(stats.n_roots)],
        ["dependencies", str(stats.n_dependencies)],
        ["think times under 1 h", _percent(stats.under_an_hour)],
        ["think times under 10 h", _percent(stats.under_ten_hours)],
    ]


def _user_table(stats: SessionStats, n_users: int) -> Table:
    headers = ["user", "jobs", "sessions", "dependencies", "longest path", "arity", "median think"]
    rows = [
        [
            "-" if user.user is None else str(user.user),
            str(user.n_jobs),
            str(user.n_sessions),
            str(user.n_dependencies),
            str(user.longest_path),
            str(user.arity),
            number_text(user.median_think_time),
        ]
        for user in stats.users[:n_users]
    ]
    return Table(headers, rows)


def _percent(part: float) -> str:
    return "-" if math.isnan(part) else f"{100 * part:.2f} %"
