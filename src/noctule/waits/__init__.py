"""Why jobs waited, for every policy, from the schedule alone."""

from noctule.waits.causes import Cause, Explanation, Interval
from noctule.waits.explain import Waits, explain
from noctule.waits.intervals import WaitIntervals, wait_intervals
from noctule.waits.totals import WaitTotals, wait_totals

__all__ = [
    "Cause",
    "Explanation",
    "Interval",
    "WaitIntervals",
    "WaitTotals",
    "Waits",
    "explain",
    "wait_intervals",
    "wait_totals",
]
