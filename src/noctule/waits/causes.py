"""Causes of waits: intervals that follow each other and sum to the wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Cause(StrEnum):
    """Why a job did not start; only the first one that applies counts."""

    NOT_ELIGIBLE = "not eligible"
    HELD = "held"
    DEPENDENCY = "dependency"
    LIMIT = "over a limit"
    PRIORITY = "behind higher priority"
    BUSY = "resources busy"
    FRAGMENTED = "free but fragmented"
    RESERVATION = "kept by a reservation"
    KEPT = "free but kept for others"
    NOT_TESTED = "not tested"
    TIMING = "pass timing"
    SWITCHING = "hosts switching on"
    OFF = "hosts switched off"
    DOWN = "hosts out of order"
    UNKNOWN = "not told"


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of a wait with one cause; `detail` says more, `jobs` whom it waited for."""

    begin: float
    end: float
    cause: Cause
    detail: str = ""
    jobs: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a job waited, from its submission to its start, or to where it left the queue.

    `before` is what its submission waited for, where that is known; it is no part of the wait.
    """

    job_id: str
    submit: float
    start: float | None
    end_of_wait: float
    intervals: tuple[Interval, ...]
    before: tuple[Interval, ...] = ()

    @property
    def wait(self) -> float:
        """Seconds in the queue; the intervals sum to them."""
        return self.end_of_wait - self.submit

    def totals(self) -> Mapping[Cause, float]:
        """Return the seconds of each cause that there was."""
        found: dict[Cause, float] = {}
        for one in self.intervals:
            found[one.cause] = found.get(one.cause, 0.0) + one.seconds
        return found


def merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Join neighbours of one cause and detail; whom they waited for is told together."""
    found: list[Interval] = []
    for one in intervals:
        if one.end <= one.begin:
            continue
        last = found[-1] if found else None
        if last is not None and (last.cause, last.detail) == (one.cause, one.detail):
            jobs = tuple(dict.fromkeys((*last.jobs, *one.jobs)))
            found[-1] = replace(last, end=one.end, jobs=jobs)
        else:
            found.append(one)
    return tuple(found)
