"""Hours of the week at the place where a log was recorded, summer time included."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.formats.headers import Headers, unix_start_time, zone_told

HOURS = 168
_HOUR, _DAY, _WEEK = 3600, 86_400, 604_800
# 1970 began on a Thursday, and our weeks on a Monday.
_MONDAY = 3 * _DAY
# Clocks are changed on a minute.
_EXACT = 60
# Nobody knows the clocks of the centuries after the next.
_LONGEST = 200 * 366 * _DAY


@dataclass(frozen=True, slots=True, eq=False)
class LocalClock:
    """What clocks show: from `change[i]` on, time `t` is second `t + shift[i]` of some Monday.

    Where a log does not tell its date, time 0 is the beginning of a Monday, and `zone` is None.
    """

    change: Floats
    shift: Floats
    zone: str | None = None

    @classmethod
    def of(cls, headers: Headers, *, until: float) -> LocalClock:
        """Take the date of time 0 and the time zone that the headers tell."""
        start = unix_start_time(headers)
        if start is None:
            return cls(np.array([-np.inf]), np.array([0.0]))
        zone, name = zone_told(headers)
        changes = _offsets(start, min(max(until, 0.0), _LONGEST), zone)
        times, seconds = zip(*changes, strict=True)
        shift = np.array(seconds, dtype=float) + (start + _MONDAY)
        return cls(np.array([-np.inf, *times[1:]]), shift, name)

    def hours_of_week(self, times: Floats) -> npt.NDArray[np.int64]:
        """Return the hour of the week of each time, from 0, which is Monday from midnight on."""
        place = np.searchsorted(self.change, times, side="right") - 1
        hours: npt.NDArray[np.int64] = ((times + self.shift[place]) % _WEEK // _HOUR).astype(int)
        return hours


def _offsets(start: float, length: float, zone: tzinfo) -> list[tuple[float, float]]:
    """Return the times at which clocks were changed, and their distance to UTC from then on."""
    found = [(0.0, _offset(start, zone))]
    for week in np.arange(_WEEK, length + _WEEK, _WEEK).tolist():
        before, after = week - _WEEK, week
        seconds = _offset(start + after, zone)
        if seconds == found[-1][1]:
            continue
        while after - before > _EXACT:
            middle = (before + after) / 2
            same = _offset(start + middle, zone) == seconds
            before, after = (before, middle) if same else (middle, after)
        found.append((_on_the_minute(start, after), seconds))
    return found


def _on_the_minute(start: float, time: float) -> float:
    return (start + time) // _EXACT * _EXACT - start


def _offset(date: float, zone: tzinfo) -> float:
    try:
        offset = datetime.fromtimestamp(date, zone).utcoffset()
    except (OverflowError, ValueError, OSError):
        offset = None  # no calendar goes that far
    return (offset or timedelta()).total_seconds()
