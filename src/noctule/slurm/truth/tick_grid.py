"""The clock of slurmctld's background loop, found in the passes that its log tells of.

The loop sleeps ten times a tenth of a second, so that it ticks every 1.003 to 1.05 s, later when
the machine is busy. Only ticks with a pass are in the log, and what makes a tick late is its pass
(others have little to do): those between two of them follow the first at the length of the sleeps
alone. Passes that the end of a killed job, or an epilogue, asked for at once are no ticks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from noctule.slurm.truth.controller_log import MainPass

# Of 22.05 on a machine that has little to do: stated, not fitted to a set.
TICK_PERIOD = 1.0075
_SHORTEST, _LONGEST = 0.9, 8.0
_SLEEPS = 1.0005  # seconds that ten sleeps of a tenth last
_LATE = 0.06  # seconds by which a tick may be late before it is logged


@dataclass(frozen=True, slots=True)
class TickGrid:
    """Dates of ticks, from the first pass to the last; the period is for what comes after."""

    dates: tuple[float, ...]
    period: float


def tick_grid(passes: Sequence[MainPass], *, spacing: int = 3) -> TickGrid:
    """Find the ticks; there must be at least one pass.

    `spacing` is batch_sched_delay, which ticks keep and passes at once do not.
    """
    with_pass = _ticks_with_pass(passes, spacing)
    period = _period(with_pass)
    dates = []
    for here, there in pairwise(with_pass):
        n = _n_ticks(there - here, period)
        step = min(_SLEEPS, (there - here) / n)
        dates += [here + step * i for i in range(n)]
    return TickGrid((*dates, with_pass[-1]), period)


def _n_ticks(gap: float, period: float) -> int:
    """Return the number of periods in a gap: ten sleeps last a second or more, never less."""
    return max(1, min(round(gap / period), math.floor(gap + _LATE)))


def _ticks_with_pass(passes: Sequence[MainPass], spacing: int) -> list[float]:
    others = set(passes_at_once(passes, spacing=spacing))
    return [one.date for one in passes if one.date not in others] or [passes[0].date]


def passes_at_once(passes: Sequence[MainPass], *, spacing: int = 3) -> list[float]:
    """Return the dates of passes that come too soon after another for a tick."""
    seconds = [-math.inf, *(math.floor(one.date) for one in passes)]
    return [
        one.date
        for one, (last, second) in zip(passes, pairwise(seconds), strict=True)
        if not one.is_full and second - last < spacing
    ]


def _period(dates: Sequence[float]) -> float:
    """Return the mean period, of gaps so short that their number of ticks is sure."""
    sure = [there - here for here, there in pairwise(dates)]
    sure = [gap for gap in sure if _SHORTEST < gap < _LONGEST]
    n = sum(round(gap) for gap in sure)
    return sum(sure) / n if n else TICK_PERIOD
