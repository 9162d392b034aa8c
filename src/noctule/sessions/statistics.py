"""What the sessions of users look like: how many, how long the paths, how long the thoughts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from noctule.columns import Floats
from noctule.sessions.partition import Sessions
from noctule.workload import Label

#: What is told of each distribution.
STATISTICS = ("mean", "min", "p25", "median", "p75", "p95", "max")


@dataclass(frozen=True, slots=True)
class UserSessions:
    """The graph of one user.

    `longest_path` counts sessions, `n_roots` those that depend on none; `arity` is the largest
    number of sessions that depend on one directly, and `median_think_time` NaN if nothing depends.
    """

    user: Label
    n_jobs: int
    n_sessions: int
    n_dependencies: int
    n_roots: int
    longest_path: int
    arity: int
    median_think_time: float


@dataclass(frozen=True, slots=True)
class SessionStats:
    """The graphs of all users, the one with most jobs first, and distributions over them.

    `under_an_hour` and `under_ten_hours` are parts of the think times.
    """

    n_jobs: int
    n_users: int
    n_sessions: int
    n_dependencies: int
    n_roots: int
    under_an_hour: float
    under_ten_hours: float
    distributions: Mapping[str, Mapping[str, float]]
    users: tuple[UserSessions, ...]


def session_stats(sessions: Sessions) -> SessionStats:
    """Measure the sessions of all users."""
    graph = sessions.graph
    users = _users(sessions)
    think = graph.think_time
    known = np.isfinite(graph.end_time)
    distributions = {
        "jobs_per_session": graph.n_jobs,
        "response_time": graph.response_time[known],
        "think_time": think,
        "sessions_per_user": np.array([user.n_sessions for user in users]),
        "longest_path": np.array([user.longest_path for user in users]),
        "arity": np.array([user.arity for user in users]),
    }
    return SessionStats(
        n_jobs=len(sessions.record),
        n_users=len(sessions.record.users),
        n_sessions=len(graph),
        n_dependencies=len(think),
        n_roots=int(np.count_nonzero(graph.n_dependencies == 0)),
        under_an_hour=_part(think < 3600),
        under_ten_hours=_part(think < 36_000),
        distributions={k: _statistics(v.astype(float)) for k, v in distributions.items() if len(v)},
        users=users,
    )


def _users(sessions: Sessions) -> tuple[UserSessions, ...]:
    graph = sessions.graph
    n_jobs, n_dependencies = graph.n_jobs, graph.n_dependencies
    depths, n_dependents = graph.depths(), graph.n_dependents
    rows = []
    for position, groups in graph.by_user().items():
        mine = slice(groups.start, groups.stop)
        first, last = graph.first_dependency[[groups.start, groups.stop]].tolist()
        think = graph.think_time[first:last]
        rows.append(
            UserSessions(
                user=sessions.label(position),
                n_jobs=int(n_jobs[mine].sum()),
                n_sessions=len(groups),
                n_dependencies=last - first,
                n_roots=int(np.count_nonzero(n_dependencies[mine] == 0)),
                longest_path=int(depths[mine].max()),
                arity=int(n_dependents[mine].max()),
                median_think_time=float(np.median(think)) if len(think) else math.nan,
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.n_jobs))


def _statistics(values: Floats) -> dict[str, float]:
    p25, median, p75, p95 = np.percentile(values, [25, 50, 75, 95]).tolist()
    mean = math.fsum(values.tolist()) / len(values)
    numbers = (mean, float(values.min()), p25, median, p75, p95, float(values.max()))
    return dict(zip(STATISTICS, numbers, strict=True))


def _part(values: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return int(np.count_nonzero(values)) / len(values) if len(values) else math.nan
