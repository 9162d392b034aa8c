"""Where the capacity of machines went, as a table and as data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from noctule.capacity import PARTS
from noctule.console import Result, Table, number_text


def capacity_result(runs: Iterable[tuple[str, Mapping[str, float]]]) -> Result:
    """Return the host-seconds of each run by what they went to, and their shares of the whole."""
    found = [(name, dict(totals), math.fsum(totals.values())) for name, totals in runs]
    data = [{"run": name, "host_seconds": totals, "whole": whole} for name, totals, whole in found]
    headers = ["host-seconds"]
    for name, _, _ in found:
        headers += [name, "%"]
    rows = []
    for part in (one.name for one in PARTS):
        cells = [part]
        for _, totals, whole in found:
            share = 100 * totals[part] / whole if whole > 0 else math.nan
            cells += [number_text(totals[part]), number_text(share)]
        rows.append(cells)
    return Result({"runs": data}, Table(headers, rows))
