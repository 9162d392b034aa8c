"""What hosts were besides in use: asleep, switching, away, or kept for somebody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from noctule.metrics import Window
from noctule.plots.stretches import power_boxes, stretches_of
from noctule.report.packing import Packer, scale_of
from noctule.report.runs import ReportRun

# What, its name, from when to when, the first host and the one after the last.
_Row = tuple[str, str, float, float, int, int]


def ground_columns(run: ReportRun, span: Window, packer: Packer) -> dict[str, Any] | None:
    """Pack rectangles of time and hosts with what they are; None where there are none."""
    rows = [*_power_rows(run, span), *_stretch_rows(run, span)]
    if not rows:
        return None
    kinds = list(dict.fromkeys(row[0] for row in rows))
    begin, end = (np.array([row[i] for row in rows]) for i in (2, 3))
    scale = scale_of(begin, end)
    return {
        "n": len(rows),
        "kinds": kinds,
        "kind": packer.integers([kinds.index(row[0]) for row in rows]),
        "name": packer.codes([row[1] or None for row in rows]),
        "begin": packer.numbers(begin, scale=scale),
        "end": packer.numbers(end, scale=scale),
        "first": packer.integers([row[4] for row in rows]),
        "behind": packer.integers([row[5] for row in rows]),
    }


def _power_rows(run: ReportRun, span: Window) -> Iterator[_Row]:
    for kind, boxes in power_boxes(run.schedule, span).items():
        columns = (boxes.left, boxes.right, boxes.bottom.astype(int), boxes.top.astype(int))
        for begin, end, first, behind in zip(*(c.tolist() for c in columns), strict=True):
            yield kind, "", begin, end, first, behind


def _stretch_rows(run: ReportRun, span: Window) -> Iterator[_Row]:
    for some in stretches_of(run.windows, run.events, run.schedule.platform.n_hosts):
        for first, last in some.hosts if some.start < span.end else ():
            yield some.kind, some.name, some.start, some.end, first, last + 1
