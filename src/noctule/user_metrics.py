"""How each user fared: one line a user, with the numbers of `noctule.metrics`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.lateness import Lateness, lateness_by_user
from noctule.metrics import THRESHOLD, bounded_slowdown
from noctule.record import Floats, has_ended
from noctule.schedule import Schedule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "LATENESS_COLUMNS", "lateness_of_users", "per_user"]

#: The columns of the table.
COLUMNS = (
    "n_jobs",
    "n_ended",
    "host_seconds",
    "share",
    "mean_waiting_time",
    "max_waiting_time",
    "mean_turnaround_time",
    "mean_slowdown",
    "mean_bounded_slowdown",
)
#: Further columns of runs that moved the submissions of a log.
LATENESS_COLUMNS = (
    "mean_lateness",
    "relative_lateness",
    "additional_lateness",
    "submission_stretch",
)
_UNKNOWN = Lateness(0, math.nan, math.nan, math.nan, math.nan)


def per_user(schedule: Schedule, *, threshold: float = THRESHOLD) -> pd.DataFrame:
    """Return a table with a row a user, in order; jobs of nobody known come last, under None.

    Means are over the jobs that ended, as in `noctule.metrics`, and exact sums. `host_seconds` are
    those of ended jobs between start and finish, `share` their part of all users' together. Where
    submissions were moved, LATENESS_COLUMNS follow, over all jobs that were submitted.
    """
    import pandas as pd

    users, code = coded_users(schedule.column("user"))
    ended = has_ended(schedule.record.state)
    ended_code = code[ended]
    n_users = len(users)
    runtime: Floats = schedule.column("runtime")[ended]
    turnaround: Floats = schedule.column("turnaround_time")[ended]
    waiting: Floats = schedule.column("waiting_time")[ended]
    positive = runtime > 0
    slowdown = turnaround[positive] / runtime[positive]
    held = schedule.record.n_hosts[ended] * runtime
    host_seconds = sums_of_users(held, ended_code, n_users)
    n_ended = np.bincount(ended_code, minlength=n_users)
    bounded = bounded_slowdown(schedule, threshold=threshold)
    whole = math.fsum(host_seconds.tolist())
    largest = np.full(n_users, math.nan)
    np.fmax.at(largest, ended_code, waiting)
    data = {
        "n_jobs": np.bincount(code, minlength=n_users),
        "n_ended": n_ended,
        "host_seconds": host_seconds,
        "share": host_seconds / whole if whole > 0 else np.full(n_users, math.nan),
        "mean_waiting_time": means_of_users(waiting, ended_code, n_users),
        "max_waiting_time": largest,
        "mean_turnaround_time": means_of_users(turnaround, ended_code, n_users),
        "mean_slowdown": means_of_users(slowdown, ended_code[positive], n_users),
        "mean_bounded_slowdown": means_of_users(bounded, ended_code, n_users),
    }
    data |= _lateness(schedule, users)
    return pd.DataFrame(data, index=pd.Index(users, dtype=object, name="user"))


def lateness_of_users(schedule: Schedule) -> dict[Any, Lateness]:
    """Return how late each user was, over the jobs that the log has; None is nobody."""
    recorded = schedule.column("recorded_submit_time")
    known = ~np.isnan(recorded)
    users, code = coded_users(schedule.column("user")[known])
    found = lateness_by_user(code, recorded[known], schedule.column("submit_time")[known])
    return {users[i]: numbers for i, numbers in found.items()}


def _lateness(schedule: Schedule, users: list[Any]) -> dict[str, Floats]:
    if not schedule.moves_submissions:
        return {}
    found = lateness_of_users(schedule)
    rows = [found.get(user, _UNKNOWN) for user in users]
    return {name: np.array([getattr(row, name) for row in rows]) for name in LATENESS_COLUMNS}


def coded_users(labels: npt.NDArray[Any]) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Return the users, numbers before texts and None last, and the place of each job's."""
    values = labels.tolist()
    users = sorted(set(values), key=_order)
    place = {user: i for i, user in enumerate(users)}
    return users, np.array([place[value] for value in values], dtype=np.intp)


def _order(user: Any) -> tuple[int, Any]:
    if user is None:
        return 2, 0
    return (1, user) if isinstance(user, str) else (0, user)


def sums_of_users(values: Floats, code: npt.NDArray[np.intp], n: int) -> Floats:
    """Add up the values of each user exactly, whatever their order."""
    order = np.argsort(code, kind="stable")
    sorted_values = values[order]
    edges = np.searchsorted(code[order], np.arange(n + 1))
    return np.array(
        [math.fsum(sorted_values[edges[i] : edges[i + 1]].tolist()) for i in range(n)],
        dtype=np.float64,
    )


def means_of_users(values: Floats, code: npt.NDArray[np.intp], n: int) -> Floats:
    """Return the mean of each user's values; NaN where there are none."""
    counts = np.bincount(code, minlength=n)
    sums = sums_of_users(values, code, n)
    means: Floats = np.divide(sums, counts, out=np.full(n, math.nan), where=counts > 0)
    return means
