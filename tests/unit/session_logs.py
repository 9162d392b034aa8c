"""Small logs of what users did, for the tests of sessions."""

from __future__ import annotations

from trace_files import a_line, a_trace

from noctule.sessions import Sessions, find_sessions
from noctule.workload import Workload

MINUTE = 60.0

# Like figure 1 of "Replay with feedback": six jobs of one user, as (submission, finish) in minutes.
# 60 minutes or more without a submission end a session: {1, 2}, {3}, {4}, {5, 6}.
FIGURE_1 = ((0, 100), (30, 150), (120, 260), (190, 230), (300, 400), (320, 350))


def a_log(*jobs: tuple[float, ...], headers: tuple[str, ...] = ()) -> Workload:
    """A log of (submission, finish[, user]) in minutes, that did not wait; user 1 by default."""
    lines = []
    for i, (submit, finish, *user) in enumerate(jobs, start=1):
        times = {"wait_time": 0, "run_time": (finish - submit) * 60}
        lines.append(a_line(i, submit * 60, user=user[0] if user else 1, **times))
    return a_trace(*headers, *lines)


def sessions_of(*jobs: tuple[float, ...], minutes: float = 60, cut: str = "arrival") -> Sessions:
    return find_sessions(a_log(*jobs), threshold=minutes * 60, cut=cut)


def job_sets(sessions: Sessions) -> list[list[int]]:
    """The ids of the jobs of each session."""
    graph, ids = sessions.graph, sessions.record.job_ids
    return [ids[graph.jobs_of(i)].tolist() for i in range(len(graph))]


def edges_of(sessions: Sessions) -> dict[tuple[int, int], float]:
    """Think times in minutes by (session, the one it depends on), both counted from 1."""
    graph = sessions.graph
    return {
        (i + 1, other + 1): float(graph.think_time[edge]) / 60
        for i in range(len(graph))
        for edge, other in enumerate(graph.dependencies_of(i).tolist(), graph.first_dependency[i])
    }
