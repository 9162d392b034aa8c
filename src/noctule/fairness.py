"""How evenly a machine was shared: use against share, by user, group or queue.

The Gini coefficient is 0 where all have the same and near 1 where one has all; Jain's index is 1
where all have the same and 1/n where one has all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.metrics import THRESHOLD, Window
from noctule.record import has_ended
from noctule.schedule import Schedule
from noctule.timeseries import span_of
from noctule.user_metrics import coded_users, means_of_users, sums_of_users

__all__ = ["LABELS", "Fairness", "Party", "fairness", "gini", "jain", "lorenz"]

#: What jobs can be put together by, where a run tells it.
LABELS = ("user", "group", "queue")


@dataclass(frozen=True, slots=True)
class Party:
    """What one user, group or queue asked for and had; `name` is None for jobs of nobody known.

    Attributes:
        name: the label of its jobs.
        n_jobs: submitted in the window.
        n_ended: of these, those that ended.
        host_seconds: that its jobs held in the window, whenever they were submitted.
        use: its part of all host-seconds held.
        share: its part by right: as given, or the same for all.
        mean_waiting_time: of its jobs that ended.
        mean_bounded_slowdown: of the same.
    """

    name: Any
    n_jobs: int
    n_ended: int
    host_seconds: float
    use: float
    share: float
    mean_waiting_time: float
    mean_bounded_slowdown: float

    @property
    def use_over_share(self) -> float:
        """How many times its share it used."""
        return self.use / self.share if self.share > 0 else math.nan


@dataclass(frozen=True, slots=True)
class Fairness:
    """Parties in the order of their names, and how unequal they are.

    Attributes:
        by: the label that they go by.
        parties: all of them.
        lorenz: points of the Lorenz curve of what they used: from (0, 0) to (1, 1), the parties
            with the least use first.
        gini_use: Gini coefficient of host-seconds.
        gini_waiting_time: of mean waiting times.
        jain_use_over_share: Jain's index of what they used, each divided by its share.
        jain_bounded_slowdown: Jain's index of mean bounded slowdowns.
    """

    by: str
    parties: tuple[Party, ...]
    lorenz: tuple[Floats, Floats]
    gini_use: float
    gini_waiting_time: float
    jain_use_over_share: float
    jain_bounded_slowdown: float


def fairness(
    schedule: Schedule,
    *,
    by: str = "user",
    shares: Mapping[Any, float] | None = None,
    window: Window | None = None,
    threshold: float = THRESHOLD,
) -> Fairness:
    """Put the jobs of a schedule together by user, group or queue.

    `shares` are numbers of any sum, by name; parties without one have none. Host-seconds are those
    that jobs hold in the window, all others are of jobs submitted in it; without a window, of all.
    """
    if by not in LABELS:
        raise InputError(f"fairness: by: got {by!r}, expected {', '.join(LABELS)}")
    window = window or Window(*span_of(schedule))
    names, code = coded_users(schedule.column(by))
    n = len(names)
    record = schedule.record
    seconds = _held(schedule, window)
    used = sums_of_users(seconds, code, n)
    submitted = (record.submit_time >= window.start) & (record.submit_time <= window.end)
    ended = submitted & has_ended(record.state)
    turnaround, runtime = (schedule.column(c)[ended] for c in ("turnaround_time", "runtime"))
    slowdown = np.maximum(turnaround / np.maximum(runtime, threshold), 1.0)
    waits = means_of_users(schedule.column("waiting_time")[ended], code[ended], n)
    slowdowns = means_of_users(slowdown, code[ended], n)
    whole = math.fsum(used.tolist())
    entitled = _entitled(names, shares)
    counts = (np.bincount(code[rows], minlength=n).tolist() for rows in (submitted, ended))
    use = used / whole if whole > 0 else np.full(n, math.nan)
    columns = (*counts, used.tolist(), use.tolist(), entitled.tolist())
    rows = zip(names, *columns, waits.tolist(), slowdowns.tolist(), strict=True)
    parties = tuple(Party(*row) for row in rows)
    return Fairness(
        by=by,
        parties=parties,
        lorenz=lorenz(used),
        gini_use=gini(used),
        gini_waiting_time=gini(_known(waits)),
        jain_use_over_share=jain(_known([party.use_over_share for party in parties])),
        jain_bounded_slowdown=jain(_known(slowdowns)),
    )


def lorenz(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the Lorenz curve: parts of all parties, the least first, and what they have."""
    amounts = _amounts(values)
    whole = math.fsum(amounts.tolist())
    parties = np.linspace(0.0, 1.0, len(amounts) + 1)
    if not whole > 0:
        return parties, parties.copy()
    parts = np.concatenate([[0.0], np.cumsum(amounts) / whole])
    parts[-1] = 1.0
    return parties, parts


def gini(values: npt.ArrayLike) -> float:
    """Return the Gini coefficient: twice the area between the Lorenz curve and the diagonal."""
    amounts = _amounts(values)
    n, whole = len(amounts), math.fsum(amounts.tolist())
    if not whole > 0:
        return math.nan
    ranked = math.fsum((np.arange(1, n + 1) * amounts).tolist())
    return max(0.0, 2.0 * ranked / (n * whole) - (n + 1) / n)


def jain(values: npt.ArrayLike) -> float:
    """Return Jain's index: the square of the sum, divided by n times the sum of squares."""
    amounts = _amounts(values)
    squares = math.fsum((amounts * amounts).tolist())
    return math.fsum(amounts.tolist()) ** 2 / (len(amounts) * squares) if squares > 0 else math.nan


def _amounts(values: npt.ArrayLike) -> Floats:
    amounts = np.sort(np.asarray(values, dtype=np.float64))
    if len(amounts) and not (amounts[0] >= 0 and math.isfinite(amounts[-1])):
        raise InputError("fairness: got an amount that is negative or not finite, expected others")
    return amounts


def _known(values: Sequence[float] | Floats) -> Floats:
    amounts = np.asarray(values, dtype=np.float64)
    known: Floats = amounts[~np.isnan(amounts)]
    return known


def _entitled(names: Sequence[Any], shares: Mapping[Any, float] | None) -> Floats:
    if shares is None:
        return np.full(len(names), 1.0 / max(1, len(names)))
    given = {str(name): float(share) for name, share in shares.items()}
    parts = _checked(np.array([given.get(str(name), 0.0) for name in names]))
    whole = math.fsum(parts.tolist())
    return parts / whole if whole > 0 else parts


def _checked(parts: Floats) -> Floats:
    if not (np.isfinite(parts) & (parts >= 0)).all():
        raise InputError("fairness: shares: got one that is negative or not finite")
    return parts


def _held(schedule: Schedule, window: Window) -> Floats:
    """Return the host-seconds that each job held in a window."""
    record = schedule.record
    finish = np.where(np.isnan(record.finish_time), math.inf, record.finish_time)
    seconds = np.minimum(finish, window.end) - np.maximum(record.start_time, window.start)
    held: Floats = np.nan_to_num(seconds, nan=0.0).clip(min=0.0) * record.n_hosts
    return held
