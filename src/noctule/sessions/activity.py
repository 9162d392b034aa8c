"""When users are active: how many jobs they submitted in each hour of the week."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noctule.formats.local_time import HOURS, LocalClock
from noctule.sessions.record import NOBODY, Indices, Record, freeze, nobody_last

# Replays may last longer than the log: clocks are known for ten years more.
_BEYOND = 10 * 366 * 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """Submissions by hour of the week, local time, from Monday 0:00 on; read-only.

    Attributes:
        submissions: a row a user of `Record.users`, and the log's as the last one.
        row: which row describes each user; that of a user with few jobs is the log's.
        clock: tells the hour of the week of a simulated date.
    """

    submissions: Indices
    row: Indices
    clock: LocalClock

    def __post_init__(self) -> None:
        """Let nobody change the arrays."""
        freeze(self.submissions, self.row)

    def of_user(self, user: int) -> Indices:
        """Return the hours of a user, given by position; those of nobody (-1) are the log's."""
        hours: Indices = self.submissions[NOBODY if user == NOBODY else self.row[user]]
        return hours


def weekly_activity(record: Record, *, least: int = 30) -> Activity:
    """Count submissions by hour of the week; users of fewer than `least` jobs get the log's."""
    last = float(record.submit_time.max(initial=0.0))
    clock = LocalClock.of(record.headers, until=last + _BEYOND)
    hours = clock.hours_of_week(record.submit_time)
    n_users = len(record.users)
    owner = nobody_last(record.user, n_users)
    counted = np.bincount(owner * HOURS + hours, minlength=(n_users + 1) * HOURS)
    submissions = counted.reshape(n_users + 1, HOURS)
    submissions[n_users] = submissions.sum(axis=0)
    enough = submissions[:n_users].sum(axis=1) >= least
    return Activity(submissions, np.where(enough, np.arange(n_users), n_users), clock)
