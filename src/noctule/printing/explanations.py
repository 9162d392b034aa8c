"""Why jobs waited, as a table, sentences and data: of any schedule, and of a Slurm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from noctule.console import Result, Table
from noctule.waits.causes import Explanation, Interval

_HEADERS = ("job", "from", "to", "seconds", "cause")
_MOST_NAMED = 4


def explanation_result(found: Sequence[Explanation], *, basis: str, notes: Sequence[str]) -> Result:
    """Return intervals for people, and the same for programs; `basis` says whose schedule it is."""
    data = {
        "basis": basis,
        "notes": list(notes),
        "jobs": [_document(one) for one in found],
    }
    rows = [_row(one, interval) for one in found for interval in one.intervals]
    before = [_before(one, interval) for one in found for interval in one.before]
    lines = [*map(_summary, found), *before, f"from {basis}", *(f"note: {note}" for note in notes)]
    return Result(data, Table(_HEADERS, rows, of_numbers=False) if rows else None, lines)


def _row(one: Explanation, interval: Interval) -> list[str]:
    return [
        one.job_id,
        f"{interval.begin - one.submit:.1f}",
        f"{interval.end - one.submit:.1f}",
        f"{interval.seconds:.1f}",
        "; ".join(_words(interval)),
    ]


def _words(interval: Interval) -> Iterator[str]:
    yield interval.cause.value
    if interval.detail:
        yield interval.detail
    if interval.jobs:
        more = f" and {len(interval.jobs) - _MOST_NAMED} more"
        names = ", ".join(interval.jobs[:_MOST_NAMED])
        yield f"job {names}{more if len(interval.jobs) > _MOST_NAMED else ''}"


def _summary(one: Explanation) -> str:
    totals = sorted(one.totals().items(), key=lambda item: (-item[1], item[0].value))
    parts = ", ".join(f"{cause.value} {seconds:.1f}" for cause, seconds in totals)
    what = "waited" if one.start is not None else "never started; was in the queue for"
    return f"job {one.job_id} {what} {one.wait:.1f} s" + (f": {parts}" if parts else "")


def _before(one: Explanation, interval: Interval) -> str:
    what = "; ".join(_words(interval))
    return f"job {one.job_id} was submitted {interval.seconds:.1f} s late: {what}"


def _document(one: Explanation) -> dict[str, Any]:
    return {
        "job_id": one.job_id,
        "submit": one.submit,
        "start": one.start,
        "wait": one.wait,
        "totals": {cause.value: seconds for cause, seconds in one.totals().items()},
        "intervals": [*map(_interval, one.intervals)],
        "before": [*map(_interval, one.before)],
    }


def _interval(interval: Interval) -> dict[str, Any]:
    return {
        "begin": interval.begin,
        "end": interval.end,
        "seconds": interval.seconds,
        "cause": interval.cause.value,
        "detail": interval.detail,
        "jobs": list(interval.jobs),
    }
