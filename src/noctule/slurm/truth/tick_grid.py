"""The clock of slurmctld's background loop, found in the passes that its log tells of.

The loop sleeps ten times a tenth of a second, so that it ticks every 1.003 to 1.05 s, later when
the machine is busy. Only ticks with a pass are in the log, and what makes a tick late is its pass
(others have little to do): those between two of them follow the first at the length of the sleeps
alone. Passes that the end of a killed job, or an epilogue, asked for at once are no ticks.
"""

from __future__ import annotations

import bisect
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
_LATEST = 0.2  # seconds that ticks are not late by within the end of a kill
LONGEST_KILL = 5.0  # seconds that a job is seen to need for its end at a limit


@dataclass(frozen=True, slots=True)
class TickGrid:
    """Dates of ticks, from the first pass to the last; the period is for what comes after."""

    dates: tuple[float, ...]
    period: float


def tick_grid(
    passes: Sequence[MainPass], *, kills: Sequence[float] = (), spacing: int = 3
) -> TickGrid:
    """Find the ticks; there must be at least one pass.

    `spacing` is batch_sched_delay, which ticks keep and passes at once do not.
    """
    others = set(passes_at_once(passes, kills=kills, spacing=spacing))
    with_pass = [one.date for one in passes if one.date not in others] or [passes[0].date]
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


def passes_at_once(
    passes: Sequence[MainPass], *, kills: Sequence[float] = (), spacing: int = 3
) -> list[float]:
    """Return the dates of passes that are no ticks; `kills` are dates, in order.

    They come too soon after another pass, or some seconds after a kill and between two ticks; a
    kill is at a tick.
    """
    found = []
    last_second = -math.inf
    for one in passes:
        second = math.floor(one.date)
        if not one.is_full and (second - last_second < spacing or _is_off(one.date, kills)):
            found.append(one.date)
        last_second = second
    return found


def _is_off(date: float, kills: Sequence[float]) -> bool:
    """Whether a date follows a kill by some seconds, but not by whole ones and a little."""
    i = bisect.bisect_left(kills, date)
    seconds = date - kills[i - 1] if i else math.inf
    return seconds < LONGEST_KILL and _LATEST < seconds % 1.0 < 1.0 - _LATE


def _period(dates: Sequence[float]) -> float:
    """Return the mean period, of gaps so short that their number of ticks is sure."""
    sure = [there - here for here, there in pairwise(dates)]
    sure = [gap for gap in sure if _SHORTEST < gap < _LONGEST]
    n = sum(round(gap) for gap in sure)
    return sum(sure) / n if n else TICK_PERIOD
