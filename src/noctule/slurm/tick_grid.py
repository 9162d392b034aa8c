"""The clock of slurmctld's background loop, found in the passes that its log tells of.

The loop sleeps ten times a tenth of a second, so that it ticks every 1.003 to 1.05 s, later when
the machine is busy. Only ticks with a pass are in the log: those between two of them are spread
evenly. Passes that the end of a killed job, or an epilogue, asked for at once are no ticks.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from noctule.slurm.controller_log import MainPass

# Of 22.05 on a machine that has little to do: stated, not fitted to a set.
TICK_PERIOD = 1.0075
_SHORTEST, _LONGEST = 0.9, 8.0
_AT_ONCE = 0.15  # seconds from what asks for a pass at once to that pass


@dataclass(frozen=True, slots=True)
class TickGrid:
    """Dates of ticks, from the first pass to the last; the period is for what comes after."""

    dates: tuple[float, ...]
    period: float


def tick_grid(
    passes: Sequence[MainPass], *, spacing: int = 3, causes: Sequence[float] = ()
) -> TickGrid:
    """Find the ticks.

    `spacing` is batch_sched_delay, which ticks keep and passes at once do not; `causes` are the
    dates at which something asked for a pass at once, in order. There must be at least one pass.
    """
    in_step = _ticks_with_pass(passes, spacing, causes)
    period = _period(in_step)
    dates = []
    for here, there in pairwise(in_step):
        n = max(1, round((there - here) / period))
        dates += [here + (there - here) * i / n for i in range(n)]
    return TickGrid((*dates, in_step[-1]), period)


def _ticks_with_pass(
    passes: Sequence[MainPass], spacing: int, causes: Sequence[float]
) -> list[float]:
    found = []
    last = -math.inf
    for one in passes:
        is_spaced = math.floor(one.date) - last >= spacing
        if one.is_full or (is_spaced and not _is_caused(one.date, causes)):
            found.append(one.date)
        last = math.floor(one.date)
    return found or [passes[0].date]


def _is_caused(date: float, causes: Sequence[float]) -> bool:
    i = bisect_right(causes, date)
    return i > 0 and date - causes[i - 1] < _AT_ONCE


def _period(dates: Sequence[float]) -> float:
    """Return the mean period, of gaps so short that their number of ticks is sure."""
    gaps = [b - a for a, b in pairwise(dates)]
    sure = [gap for gap in gaps if _SHORTEST < gap < _LONGEST]
    n = sum(round(gap) for gap in sure)
    return sum(sure) / n if n else TICK_PERIOD
