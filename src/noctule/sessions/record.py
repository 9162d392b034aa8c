"""Who submitted which job, when, and when it ended: what sessions are found in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.columns import KIND_PROGRAM, Floats
from noctule.errors import InputError
from noctule.parts import recorded
from noctule.workload import Label, ReadingRule, Workload

Indices = npt.NDArray[np.int64]
NOBODY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What was recorded of the submissions of users; one row a job, in order of submission.

    Attributes:
        source: what messages call it.
        job_ids: the ids of the jobs.
        users: the different users, numbers before texts.
        user: position of each job's user among them, -1 where none is known.
        submit_time: dates of submission.
        finish_time: dates at which the jobs ended, infinite where that is not known.
        headers: what the file says of itself; the date of time 0 is there.
    """

    source: str
    job_ids: npt.NDArray[Any]
    users: tuple[Label, ...]
    user: Indices
    submit_time: Floats
    finish_time: Floats
    headers: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Let nobody change the columns."""
        freeze(self.user, self.submit_time, self.finish_time)

    @classmethod
    def of(cls, workload: Workload) -> Record:
        """Take what a log tells: a job ends after its wait and its run time."""
        users, user = user_positions(workload.labels("user"), len(workload))
        return cls(
            source=workload.source or f"workload {workload.name}",
            job_ids=workload.job_ids,
            users=users,
            user=user,
            submit_time=workload.submit_time,
            finish_time=_finish_times(workload),
            headers=workload.headers,
        )

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.job_ids)

    @property
    def end_time(self) -> Floats:
        """Dates of the ends; a job of which none is known counts as over at once."""
        return np.where(np.isfinite(self.finish_time), self.finish_time, self.submit_time)

    @property
    def notes(self) -> tuple[ReadingRule, ...]:
        """What was done about the jobs of which something is not known."""
        unowned = int(np.count_nonzero(self.user == NOBODY))
        endless = int(np.count_nonzero(~np.isfinite(self.finish_time)))
        rules = (
            ReadingRule("user: not known, so that each is a session that depends on none", unowned),
            ReadingRule("finish: not known, so that nothing depends on their sessions", endless),
        )
        return tuple(rule for rule in rules if rule.n_jobs)

    def demand_users(self) -> None:
        """Refuse jobs that belong to nobody."""
        if not self.users:
            raise InputError(f"{self.source}: no job has a user, expected some to have one")

    def demand_finishes(self) -> None:
        """Refuse jobs of which nobody knows when they ended."""
        if not np.isfinite(self.finish_time).any():
            raise InputError(
                f"{self.source}: no job tells its wait and run time, expected a log of what "
                "happened, such as save_schedule writes of a run"
            )


def freeze(*arrays: npt.NDArray[Any]) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.setflags(write=False)


def nobody_last(user: Indices, n_users: int) -> Indices:
    """Return positions of users that sort nobody behind all others."""
    return np.where(user == NOBODY, n_users, user)


def user_positions(
    labels: Sequence[Any] | npt.NDArray[Any] | None, n_jobs: int
) -> tuple[tuple[Label, ...], Indices]:
    """Return the different users in order, and which of them each job has, -1 for nobody."""
    if labels is None:
        return (), np.full(n_jobs, NOBODY)
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "i":
        values, codes = np.unique(labels, return_inverse=True)
        unknown = int(np.count_nonzero(values < 0))
        return tuple(values[unknown:].tolist()), np.maximum(codes - unknown, NOBODY)
    users = sorted({label for label in labels if label is not None}, key=user_order)
    place = {user: i for i, user in enumerate(users)}
    return tuple(users), np.array([place.get(label, NOBODY) for label in labels], dtype=np.int64)


def user_order(user: Label) -> tuple[int, Any]:
    """Return what sorts numbers before texts, and nobody last."""
    if user is None:
        return 2, 0
    return (1, user) if isinstance(user, str) else (0, user)


def _finish_times(workload: Workload) -> Floats:
    wait = recorded(workload, "wait_time")
    if wait is None:
        return np.full(len(workload), np.inf)
    runtime = recorded(workload, "run_time")
    if runtime is None:
        timed = workload.table.kind < KIND_PROGRAM
        runtime = np.where(timed, workload.table.amount, -1.0)
    finish = workload.submit_time + wait + runtime
    return np.where((wait >= 0) & (runtime >= 0) & np.isfinite(finish), finish, np.inf)
