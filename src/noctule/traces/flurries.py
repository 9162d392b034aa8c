"""Flurries: bursts of jobs by one user, which say more about that user than about the machine.

Tsafrir and Feitelson, "Instability in parallel job scheduling simulation: the role of workload
flurries", IPDPS 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noctule.columns import Floats
from noctule.parts import Rows


@dataclass(frozen=True, slots=True)
class Flurry:
    """A burst of one user's jobs; `rows` are the jobs, by submission."""

    user: int
    rows: Rows
    start: float
    end: float


def find_flurries(user: Floats, submit_time: Floats, *, n_jobs: int, window: float) -> list[Flurry]:
    """Return the stretches in which a user submits more than `n_jobs` in any `window` seconds.

    Jobs whose user is not known are in no flurry. Flurries are in order of their first submission.
    """
    order = np.lexsort((submit_time, user))
    users, first = np.unique(user[order], return_index=True)
    bounds = np.append(first, len(order))
    found = []
    for k, who in enumerate(users.tolist()):
        mine = order[bounds[k] : bounds[k + 1]]
        if who >= 0 and len(mine) > n_jobs:
            found += _of_one(int(who), mine, submit_time[mine], n_jobs, window)
    return sorted(found, key=lambda flurry: (flurry.start, flurry.user))


def _of_one(who: int, rows: Rows, submit: Floats, n_jobs: int, window: float) -> list[Flurry]:
    behind = np.searchsorted(submit, submit + window, side="left")
    # two jobs after each other are in one flurry if a crowded window holds both: +1 in front of the
    # first gap that it covers, -1 behind the last
    crowded = np.flatnonzero(behind - np.arange(len(rows)) > n_jobs)
    change = np.zeros(len(rows) + 1, dtype=np.int64)
    np.add.at(change, crowded, 1)
    np.add.at(change, behind[crowded] - 1, -1)
    together = np.concatenate([[False], np.cumsum(change)[:-1] > 0, [False]])
    begins = np.flatnonzero(~together[:-1] & together[1:])
    ends = np.flatnonzero(together[:-1] & ~together[1:]) + 1
    return [
        Flurry(who, rows[begin:end], float(submit[begin]), float(submit[end - 1]))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
