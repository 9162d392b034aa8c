"""Groups of a user's jobs and which of them waited for which, as flat arrays.

A group depends on an earlier one of the same user if that one's last finish is not after its own
first submission: what lies between the two is the time that the user thought. Such groups are
intervals of time, and their order is known to have a simple reduction: let L be the dependency of a
group that began last. Then a dependency is implied by another one exactly if it ended before L
began. In order of their ends, the dependencies that are left stand side by side.

Madon, Da Costa, Pierson, "Replay with feedback", Future Generation Computer Systems 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.sessions.record import NOBODY, Indices, Record, freeze


@dataclass(frozen=True, slots=True, eq=False)
class SessionGraph:
    """Groups of jobs in an order in which each comes after all that it depends on; read-only.

    The jobs of group `i` are `jobs[first_job[i]:first_job[i + 1]]`, and what it depends on is
    `dependency[first_dependency[i]:first_dependency[i + 1]]`; one without a dependency hangs on
    the root, and begins at its own date.

    Attributes:
        user: position of the user of each group in `Record.users`, -1 for nobody.
        start_time: date of the first submission.
        end_time: date of the last finish, infinite where one is not known.
        first_job: where the jobs of each group begin; one more at the end.
        jobs: rows of the jobs in the record, in order of submission inside a group.
        first_dependency: where the dependencies of each group begin; one more at the end.
        dependency: the group that has to end first.
        think_time: seconds between its end and the first submission.
    """

    user: Indices
    start_time: Floats
    end_time: Floats
    first_job: Indices
    jobs: Indices
    first_dependency: Indices
    dependency: Indices
    think_time: Floats

    def __post_init__(self) -> None:
        """Let nobody change the arrays."""
        freeze(*(getattr(self, name) for name in self.__slots__))

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.user)

    @property
    def n_jobs(self) -> Indices:
        """Number of jobs of each group."""
        return np.diff(self.first_job)

    @property
    def n_dependencies(self) -> Indices:
        """Number of groups that each depends on, directly."""
        return np.diff(self.first_dependency)

    @property
    def n_dependents(self) -> Indices:
        """Number of groups that depend on each, directly."""
        return np.bincount(self.dependency, minlength=len(self)).astype(np.int64)

    @property
    def response_time(self) -> Floats:
        """Seconds from the first submission of each group to its last finish."""
        return self.end_time - self.start_time

    def by_user(self) -> dict[int, range]:
        """Return the groups of each user, by position; nobody's (-1) are the last."""
        begins = np.flatnonzero(np.append(True, self.user[1:] != self.user[:-1]))
        ends = np.append(begins[1:], len(self))
        users = self.user[begins].tolist()
        return dict(zip(users, map(range, begins.tolist(), ends.tolist()), strict=True))

    def jobs_of(self, group: int) -> Indices:
        """Return the rows of the jobs of one group."""
        return self.jobs[self.first_job[group] : self.first_job[group + 1]]

    def dependencies_of(self, group: int) -> Indices:
        """Return what one group depends on."""
        return self.dependency[self.first_dependency[group] : self.first_dependency[group + 1]]

    def group_of_jobs(self) -> Indices:
        """Return the group of each row of the record."""
        groups = np.empty(len(self.jobs), dtype=np.int64)
        groups[self.jobs] = np.repeat(np.arange(len(self)), self.n_jobs)
        return groups

    def dependents(self) -> tuple[Indices, Indices, Floats]:
        """Return the edges the other way, for a replay that follows them as groups end.

        These are where those of each group begin, the groups that depend on it, and think times.
        """
        waiting = np.repeat(np.arange(len(self)), self.n_dependencies)
        order = np.argsort(self.dependency, kind="stable")
        return offsets(self.n_dependents), waiting[order], self.think_time[order]

    def depths(self) -> Indices:
        """Return the length of the longest path from the root to each group, itself counted."""
        depths: list[int] = []
        dependency = self.dependency.tolist()
        for begin, end in pairwise(self.first_dependency.tolist()):
            deepest = max((depths[i] for i in dependency[begin:end]), default=0)
            depths.append(deepest + 1)
        return np.array(depths, dtype=np.int64)


def graph_of(record: Record, jobs: Indices, new: npt.NDArray[np.bool_]) -> SessionGraph:
    """Return the reduced graph of groups; `new` tells which of the jobs begin one.

    `jobs` are rows of one user after the other, and the groups of a user are in order of their
    first submissions.
    """
    begins = np.flatnonzero(new)
    first_job = np.append(begins, len(jobs)).astype(np.int64)
    user = record.user[jobs[begins]]
    start = record.submit_time[jobs[begins]]
    end = np.maximum.reduceat(record.finish_time[jobs], begins)
    first, dependency = reduced_order(_apart(user), start, end)
    think_time = np.repeat(start, np.diff(first)) - end[dependency]
    return SessionGraph(user, start, end, first_job, jobs, first, dependency, think_time)


def reduced_order(user: Indices, start: Floats, end: Floats) -> tuple[Indices, Indices]:
    """Return where the dependencies of each interval begin, and them, in order of their ends.

    The intervals are sorted by user, then by start. At equal dates the earlier in this order is
    earlier: of two that begin and end at one instant, the second depends on the first.
    """
    n = len(user)
    index = np.arange(n)
    # Starts and ends in one order. The start of an interval stands before its own end, and behind
    # the ends at the same date of those that come before it.
    moment = np.lexsort(
        (
            np.repeat([0, 1], n),
            np.tile(index, 2),
            np.concatenate([start, end]),
            np.tile(user, 2),
        )
    )
    is_end = moment >= n
    by_end = moment[is_end] - n
    n_ended = np.empty(n, dtype=np.int64)
    n_ended[moment[~is_end]] = np.cumsum(is_end)[~is_end]
    depends = n_ended > np.searchsorted(user, user)
    last_begun = np.maximum.accumulate(by_end)[np.maximum(n_ended - 1, 0)]
    implied = np.where(depends, n_ended[last_begun], n_ended)
    first = offsets(n_ended - implied)
    return first, by_end[_ranges(implied, first)]


def offsets(counts: Indices) -> Indices:
    """Return where each of some lists begins that follow each other; one more at the end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def running_maximum(values: Floats, segment: Indices) -> Floats:
    """Return the largest value so far inside each segment; segments are numbered in order."""
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    lifted = rank + segment * len(values)
    largest: Floats = values[order[np.maximum.accumulate(lifted) - segment * len(values)]]
    return largest


def _apart(user: Indices) -> Indices:
    """Return numbers of users among which nobody's groups have one each, behind all others."""
    own = int(user.max(initial=NOBODY)) + 1 + np.arange(len(user))
    return np.where(user == NOBODY, own, user)


def _ranges(begin: Indices, first: Indices) -> Indices:
    """Return the numbers from each begin on, as many as each list has, after each other."""
    counts = np.diff(first)
    return np.arange(first[-1]) + np.repeat(begin - first[:-1], counts)
