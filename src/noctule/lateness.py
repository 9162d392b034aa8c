"""How far users' submissions moved when a log was replayed with feedback.

All functions take the dates of the same jobs, in any order: those recorded and those simulated. A
job that was never submitted in the simulation has no date (NaN), and is left out.

Madon, Da Costa, Pierson, "Replay with feedback", Future Generation Computer Systems 2024, part 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError

__all__ = [
    "Lateness",
    "additional_lateness",
    "lateness",
    "lateness_by_user",
    "mean_lateness",
    "relative_lateness",
    "submission_stretch",
    "summed_up",
]


@dataclass(frozen=True, slots=True)
class Lateness:
    """The numbers of a run or of a user; NaN where there are too few jobs, or none was submitted.

    Attributes:
        n_jobs: jobs that were submitted.
        mean_lateness: seconds; the mean of simulated - recorded submission.
        relative_lateness: 1 + mean lateness / length of the recorded submission period.
        additional_lateness: seconds that each further job adds: 2 × mean lateness / (n_jobs - 1).
        submission_stretch: length of the simulated submission period / that of the recorded one.
    """

    n_jobs: int
    mean_lateness: float
    relative_lateness: float
    additional_lateness: float
    submission_stretch: float


def lateness(recorded: npt.ArrayLike, simulated: npt.ArrayLike) -> Floats:
    """Return how much later each job was submitted; negative is earlier, NaN is never."""
    before, after = _dates(recorded, simulated)
    return after - before


def mean_lateness(recorded: npt.ArrayLike, simulated: npt.ArrayLike) -> float:
    """Return the mean lateness, in seconds."""
    return summed_up(recorded, simulated).mean_lateness


def relative_lateness(recorded: npt.ArrayLike, simulated: npt.ArrayLike) -> float:
    """Return 1 + the mean lateness as a part of the recorded submission period."""
    return summed_up(recorded, simulated).relative_lateness


def additional_lateness(recorded: npt.ArrayLike, simulated: npt.ArrayLike) -> float:
    """Return the seconds that each further job adds, were they the same for all."""
    return summed_up(recorded, simulated).additional_lateness


def submission_stretch(recorded: npt.ArrayLike, simulated: npt.ArrayLike) -> float:
    """Return the length of the simulated submission period as a multiple of the recorded one."""
    return summed_up(recorded, simulated).submission_stretch


def summed_up(recorded: npt.ArrayLike, simulated: npt.ArrayLike) -> Lateness:
    """Return all numbers of a set of jobs."""
    before, after = _dates(recorded, simulated)
    submitted = ~np.isnan(after)
    before, after = before[submitted], after[submitted]
    n = len(before)
    if not n:
        return Lateness(0, math.nan, math.nan, math.nan, math.nan)
    # exact, whatever the order of the jobs
    mean = math.fsum([*after.tolist(), *(-before).tolist()]) / n
    length = float(before.max() - before.min())
    return Lateness(
        n_jobs=n,
        mean_lateness=mean,
        relative_lateness=1 + mean / length if length > 0 else math.nan,
        additional_lateness=2 * mean / (n - 1) if n > 1 else math.nan,
        submission_stretch=float(after.max() - after.min()) / length if length > 0 else math.nan,
    )


def lateness_by_user(
    users: npt.ArrayLike, recorded: npt.ArrayLike, simulated: npt.ArrayLike
) -> dict[int, Lateness]:
    """Return the numbers of each user, by position in a list of users; -1 is nobody."""
    before, after = _dates(recorded, simulated)
    owner = np.asarray(users, dtype=np.int64)
    if owner.shape != before.shape:
        raise InputError(f"users: got {len(owner)} values, expected {len(before)}")
    order = np.argsort(owner, kind="stable")
    positions, begins = np.unique(owner[order], return_index=True)
    return {
        position: summed_up(before[rows], after[rows])
        for position, rows in zip(positions.tolist(), np.split(order, begins[1:]), strict=True)
    }


def _dates(recorded: npt.ArrayLike, simulated: npt.ArrayLike) -> tuple[Floats, Floats]:
    before = np.asarray(recorded, dtype=float)
    after = np.asarray(simulated, dtype=float)
    if before.ndim != 1 or before.shape != after.shape:
        raise InputError(
            f"simulated: got {after.size} dates, expected one of each of {before.size} jobs"
        )
    if not np.isfinite(before).all():
        raise InputError("recorded: got a date that is none, expected one of every job")
    return before, after
