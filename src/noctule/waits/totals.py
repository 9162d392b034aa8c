"""The seconds of each cause for all jobs at once, as the sums of their explanations would be.

Most stretches need not be cut: a job that stands behind others waits for them whenever not enough
hosts are free, and how long enough were is asked for all jobs together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noctule import _core
from noctule.columns import Floats
from noctule.schedule import Schedule
from noctule.waits.causes import Cause
from noctule.waits.hosts import HostSteps
from noctule.waits.judging import BY_KIND, CAUSES, CODES, DETAILED, Judge
from noctule.waits.stretches import OPEN, Stretches, Zone
from noctule.windows import Windows
from noctule.workload import Workload

# Sums of so many seconds differ by less.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class WaitTotals:
    """Seconds that jobs waited: `seconds[row, i]` of a row of the schedule for `causes[i]`."""

    causes: tuple[Cause, ...]
    seconds: Floats

    def of(self, cause: Cause) -> Floats:
        """Return the seconds of each job for one cause."""
        column: Floats = self.seconds[:, self.causes.index(cause)]
        return column

    def of_row(self, row: int) -> dict[Cause, float]:
        """Return the seconds of a job for each cause that it had, the longest first."""
        found = [(c, s) for c, s in zip(self.causes, self.seconds[row].tolist(), strict=True) if s]
        return dict(sorted(found, key=lambda item: -item[1]))


def wait_totals(
    schedule: Schedule, *, windows: Windows | None = None, workload: Workload | None = None
) -> WaitTotals:
    """Return how long each job waited for each cause; `explain` tells when and for whom.

    `windows` are those of the run, of which a schedule does not know; the `workload` tells one that
    was read from files when users gave up, and who they are.
    """
    return totals_of(Judge(schedule, windows, workload))


def totals_of(judge: Judge) -> WaitTotals:
    """Return the totals of all jobs of a schedule."""
    stretches = judge.stretches()
    of_queue = np.zeros((len(judge.queue), len(CAUSES)))
    fits = _seconds_at_least(judge, stretches)
    # where a job is first in line and fits, what else there was is looked at piece by piece
    detailed = np.zeros(len(judge.queue), dtype=bool)
    own = stretches.zone > Zone.HEAD
    detailed[stretches.job[own | ((stretches.zone == Zone.HEAD) & (fits > 0))]] = True
    piecewise = detailed[stretches.job] & np.isin(stretches.zone, DETAILED)
    _add_pieces(judge, stretches.chosen(piecewise), of_queue)
    _add_whole(judge, stretches.chosen(~piecewise), fits[~piecewise], of_queue)
    seconds = np.zeros((len(judge.schedule), len(CAUSES)))
    seconds[judge.queue.row] = of_queue
    return WaitTotals(CAUSES, seconds)


def _add_pieces(judge: Judge, stretches: Stretches, totals: Floats) -> None:
    if len(stretches):
        pieces = judge.pieces(stretches)
        np.add.at(totals, (pieces.job, judge.causes(pieces)), pieces.end - pieces.begin)


def _add_whole(judge: Judge, stretches: Stretches, fits: Floats, totals: Floats) -> None:
    """Add stretches of jobs that stand behind others, or for which there never were enough."""

    def add(cause: Cause, seconds: Floats) -> None:
        np.add.at(totals[:, CODES[cause]], stretches.job, np.maximum(seconds, 0.0))

    length = stretches.end - stretches.begin
    open_fits = fits
    if any(access != OPEN for access in stretches.accesses):
        open_fits = _more(fits, _enough(judge, judge.free(OPEN), stretches))
    add(Cause.KEPT, fits)
    add(Cause.RESERVATION, open_fits - fits)
    is_behind = stretches.zone == Zone.BEHIND
    add(Cause.PRIORITY, np.where(is_behind, length - open_fits, 0.0))
    enough = open_fits
    for kind, cause in BY_KIND if judge.idle.were_kept_idle else ():
        more = _more(enough, _enough(judge, judge.idle.up_to(kind), stretches))
        add(cause, np.where(is_behind, 0.0, more - enough))
        enough = more
    add(Cause.BUSY, np.where(is_behind, 0.0, length - enough))


def _seconds_at_least(judge: Judge, stretches: Stretches) -> Floats:
    """Return for how long as many hosts as a job needs were free for it."""
    seconds = np.zeros(len(stretches))
    for number, access in enumerate(stretches.accesses):
        rows = stretches.access == number
        if access[0] is None and rows.any():
            seconds[rows] = _enough(judge, judge.free(access), stretches.chosen(rows))
    return seconds


def _enough(judge: Judge, steps: HostSteps, stretches: Stretches) -> Floats:
    needed = judge.queue.needed[stretches.job]
    seconds: Floats = _core.seconds_at_least(
        steps.time, steps.value, steps.before, stretches.begin, stretches.end, needed
    )
    return np.clip(seconds, 0.0, stretches.end - stretches.begin)


def _more(seconds: Floats, with_others: Floats) -> Floats:
    """Return the larger number of seconds, where it is larger by more than its rounding."""
    return np.where(with_others - seconds > _ROUNDING, with_others, seconds)
