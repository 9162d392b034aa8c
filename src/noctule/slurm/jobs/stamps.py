"""Times as Slurm's commands print them: seconds of the epoch, or local time, which needs a zone.

Where clocks go forward, an hour of local time does not exist; where they go back, one is there
twice. Both are counted, so that a report can say how far the times of a log can be trusted.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from noctule.errors import InputError
from noctule.units import shown

NO_TIME = frozenset(("", "Unknown", "None", "N/A", "NONE", "unknown", "0", "4294967294"))
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?", re.ASCII)
# between the epoch's first day and the year 2200: others are no dates of jobs
_LATEST = 7_258_118_400


class Stamps:
    """Reads times; `n_skipped` and `n_twice` count what summer time leaves unclear."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        """Take the zone of local times; without one they are refused."""
        self.zone = zone
        self.n_skipped = 0
        self.n_twice = 0
        self._known: dict[str, int] = {}

    def read(self, text: str) -> int | None:
        """Return seconds of the epoch, None for a time that is not known; raise ValueError."""
        if text.isdecimal() and text.isascii():
            seconds = int(text)
            if 0 < seconds < _LATEST:
                return seconds
            if text in NO_TIME:
                return None
            raise ValueError
        if text in NO_TIME:
            return None
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._local(text)
        return known

    def _local(self, text: str) -> int:
        if _STAMP.fullmatch(text) is None:
            raise ValueError
        if self.zone is None:
            raise InputError(
                f"got the local time {text!r}, expected seconds of the epoch "
                "(SLURM_TIME_FORMAT=%s), or a time zone (--time-zone Europe/Paris)"
            )
        local = datetime.fromisoformat(text[:19]).replace(tzinfo=self.zone)
        first, second = local.utcoffset(), local.replace(fold=1).utcoffset()
        if first != second:
            # what is read back differs where the clock was put forward
            if local.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) != local.replace(
                tzinfo=None
            ):
                self.n_skipped += 1
            else:
                self.n_twice += 1
        return int(local.timestamp())

    def later_than(self, time: int, text: str) -> int | None:
        """Return the second meaning of a local time that is there twice, if only that is later."""
        if self.zone is None or _STAMP.fullmatch(text) is None:
            return None
        local = datetime.fromisoformat(text[:19]).replace(tzinfo=self.zone, fold=1)
        second = int(local.timestamp())
        return second if second >= time else None


def find_zone(name: str, where: str) -> tzinfo:
    """Return the time zone of a name such as Europe/Paris or UTC+2."""
    match = re.fullmatch(r"UTC([+-]\d{1,2})(?::?(\d\d))?", name)
    if match is not None:
        minutes = int(match[2] or 0) * (-1 if match[1].startswith("-") else 1)
        try:
            return timezone(timedelta(hours=int(match[1]), minutes=minutes))
        except ValueError:
            pass
    else:
        try:
            if os.sep not in name[:1] and ".." not in name:
                return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            pass
    raise InputError(f"{where}: got {shown(name)}, expected a time zone such as Europe/Paris")
