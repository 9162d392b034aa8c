"""What a workload file says of itself: how many hosts there were, and which date time 0 is.

Standard Workload Format headers have names of their own; Batsim's `nb_res` is one more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from noctule.errors import InputError

Headers = Mapping[str, Any]

# Headers that tell how many hosts there were, the best first.
HOST_HEADERS = ("MaxProcs", "MaxNodes", "nb_res")
# Texts that tell dates; only UnixStartTime is used, and a text that contradicts it helps nobody.
_DATE_TEXTS = ("StartTime", "EndTime")
_MAX_OFFSET = 86_400
_MOST_DIGITS = 20


def hosts_told(headers: Headers) -> int | None:
    """Return how many hosts the headers tell, or None where they do not."""
    for name in HOST_HEADERS:
        text = str(headers.get(name, "")).strip()
        if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) > 0:
            return int(text)
    return None


def unix_start_time(headers: Headers) -> float | None:
    """Return the date of time 0 in seconds since 1970, or None where it is not told."""
    return _number(headers, "UnixStartTime", least=0)


def zone_told(headers: Headers) -> tuple[tzinfo, str]:
    """Return the time zone of the machine, and its name; UTC where it is not told."""
    name = str(headers.get("TimeZoneString", "")).strip()
    if name:
        try:
            return ZoneInfo(name), name
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass  # unknown here: the older header may help
    offset = _number(headers, "TimeZone", least=-_MAX_OFFSET + 1)
    if offset is None or offset >= _MAX_OFFSET:
        return UTC, "UTC"
    zone = timezone(timedelta(seconds=offset))
    return zone, str(zone)


def date_at(headers: Headers, time: float) -> str | None:
    """Return the date at a time of the log, as text, or None where it is not told."""
    start = unix_start_time(headers)
    if start is None:
        return None
    try:
        date = datetime.fromtimestamp(start + time, zone_told(headers)[0])
    except (OverflowError, ValueError, OSError):
        return None
    return date.isoformat(sep=" ", timespec="seconds")


def time_of_date(text: str, headers: Headers, where: str) -> float:
    """Return the second of the log that a date in ISO form is; without a zone, the machine's."""
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"{where}: got {text!r}, expected seconds or a date such as 1996-10-01T12:00"
        ) from None
    start = unix_start_time(headers)
    if start is None:
        raise InputError(
            f"{where}: got the date {text!r}, expected seconds: "
            "no header UnixStartTime tells which date time 0 is"
        )
    if date.tzinfo is None:
        date = date.replace(tzinfo=zone_told(headers)[0])
    return date.timestamp() - start


def moved(headers: Headers, seconds: float) -> dict[str, Any]:
    """Return the headers of a log whose time 0 is later by some seconds."""
    kept = {name: value for name, value in headers.items() if name not in _DATE_TEXTS}
    start = unix_start_time(headers)
    if start is not None:
        date = start + seconds
        kept["UnixStartTime"] = str(int(date)) if date.is_integer() else repr(date)
    return kept


def recounted(headers: Headers, n_jobs: int) -> dict[str, Any]:
    """Return the headers of a log with other jobs, which may end at another date."""
    kept = {name: value for name, value in headers.items() if name != "EndTime"}
    for name in ("MaxJobs", "MaxRecords"):
        if name in kept:
            kept[name] = str(n_jobs)
    return kept


def noted(headers: Headers, note: str) -> dict[str, Any]:
    """Return the headers with one more note."""
    before = headers.get("Note")
    return {**headers, "Note": f"{before}\n{note}" if before else note}


def _number(headers: Headers, name: str, *, least: float) -> float | None:
    try:
        value = float(str(headers.get(name, "")).strip())
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= least else None
