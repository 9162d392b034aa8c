"""The intervals of all waits at once, where they are few enough to be told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noctule.columns import Floats
from noctule.schedule import Schedule
from noctule.waits.causes import Cause
from noctule.waits.judging import CAUSES, Codes, Judge, TooManyCutsError
from noctule.waits.queue import Rows
from noctule.windows import Windows
from noctule.workload import Workload

# Of cuts that are looked at for one interval that is told, at most.
_CUTS_EACH = 10


@dataclass(frozen=True, slots=True)
class WaitIntervals:
    """Intervals by the submissions of their jobs, then by date; `cause` is a place in `causes`."""

    causes: tuple[Cause, ...]
    row: Rows
    begin: Floats
    end: Floats
    cause: Codes


def wait_intervals(
    schedule: Schedule,
    *,
    windows: Windows | None = None,
    workload: Workload | None = None,
    most: int = 1_000_000,
) -> WaitIntervals | None:
    """Return the intervals of all waits with their causes; `explain` tells who was in the way, too.

    None if there are more than `most`, or too many moments to look at.
    """
    judge = Judge(schedule, windows, workload)
    try:
        pieces = judge.pieces(judge.stretches(), _CUTS_EACH * most)
    except TooManyCutsError:
        return None
    codes = judge.causes(pieces)
    changes = (pieces.job[1:] != pieces.job[:-1]) | (codes[1:] != codes[:-1])
    first = np.flatnonzero(np.append(True, changes)[: len(pieces)])
    if len(first) > most:
        return None
    last = np.append(first[1:], len(pieces))[: len(first)] - 1
    rows = judge.queue.row[pieces.job[first]]
    return WaitIntervals(CAUSES, rows, pieces.begin[first], pieces.end[last], codes[first])
