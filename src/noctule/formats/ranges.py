"""Ranges of numbers as text: 0-7,12. SimGrid calls it a radical."""

from __future__ import annotations

import re
from collections.abc import Iterable

_RANGE = re.compile(r"\s*([0-9]{1,18})\s*(?:-\s*([0-9]{1,18})\s*)?")


def read_ranges(text: str) -> tuple[range, ...] | None:
    """Return the ranges in the order of the text, or None where it is something else."""
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            return None
        ranges.append(range(first, last + 1))
    return tuple(ranges)


def ranges_text(ranges: Iterable[range]) -> str:
    """Return the text of some ranges."""
    return ",".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in ranges)
