"""Schedules in the cells of notebooks: a table with two small pictures, and the whole page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping

import numpy as np

from noctule import metrics
from noctule.console import number_text
from noctule.errors import InputError
from noctule.report.page import report_text
from noctule.report.runs import ReportRun
from noctule.schedule import Schedule
from noctule.timeseries import Steps, queue_length, span_of, utilisation

_SHOWN = (
    ("n_jobs", "jobs"),
    ("makespan", "makespan (s)"),
    ("utilisation", "utilisation"),
    ("mean_waiting_time", "mean wait (s)"),
    ("max_waiting_time", "longest wait (s)"),
    ("mean_bounded_slowdown", "mean bounded slowdown"),
)
_WIDTH, _HEIGHT = 480, 48
_LOWEST_CELL = 200


class Cell:
    """A page that a notebook shows in a cell; `str(cell)` is its HTML."""

    def __init__(self, page: str, height: int) -> None:
        """Show a whole page, some pixels high."""
        if height < _LOWEST_CELL:
            raise InputError(f"height: got {height}, expected at least {_LOWEST_CELL} pixels")
        self._page = page
        self._height = height

    def __str__(self) -> str:
        """Return the page."""
        return self._page

    def __repr__(self) -> str:
        """Tell what it is where no HTML can be shown."""
        return f"<page of {len(self._page) / 1e6:.1f} MB, to be shown by a notebook>"

    def _repr_html_(self) -> str:
        # the page is in a room of its own: it gets at nothing of the notebook
        return (
            f'<iframe title="schedules" sandbox="allow-scripts allow-downloads" width="100%" '
            f'height="{self._height}" style="border:0" srcdoc="{html.escape(self._page)}"></iframe>'
        )


def explore(runs: Mapping[str, Schedule], *, height: int = 900) -> Cell:
    """Return the page of one to eight named schedules, for the cell of a notebook."""
    named = [ReportRun.of(name, schedule) for name, schedule in runs.items()]
    return Cell("".join(report_text(named)), height)


def summary_html(schedule: Schedule) -> str:
    """Return the usual numbers of a schedule with its use and its queue over time."""
    numbers = metrics.summary(schedule)
    rows = "".join(
        f"<tr><th style='text-align:left'>{label}</th>"
        f"<td style='text-align:right'>{number_text(numbers[name])}</td></tr>"
        for name, label in _SHOWN
    )
    pictures = "".join(_pictures(schedule))
    return f"<p>{html.escape(repr(schedule)[1:-1])}</p><table>{rows}</table>{pictures}"


def _pictures(schedule: Schedule) -> Iterator[str]:
    start, end = span_of(schedule)
    if not end > start:
        return
    edges = np.linspace(start, end, _WIDTH // 2 + 1)
    queue = queue_length(schedule)
    most = float(queue.maxima(edges).max())
    yield _picture("hosts in use", utilisation(schedule), 1.0, edges)
    yield _picture(f"waiting jobs (at most {most:.0f})", queue, most, edges)


def _picture(label: str, steps: Steps, most: float, edges: np.ndarray) -> str:
    heights = _HEIGHT * (1 - steps.means(edges) / (most or 1.0))
    line = " ".join(f"{2 * i},{y:.1f}" for i, y in enumerate(heights.tolist()))
    last = 2 * (len(heights) - 1)
    return (
        f'<figure style="margin:0.5em 0"><figcaption>{label}</figcaption>'
        f'<svg role="img" aria-label="{label} over time" width="{_WIDTH}" height="{_HEIGHT}">'
        f'<polygon fill="#0072B2" points="0,{_HEIGHT} {line} {last},{_HEIGHT}"/></svg></figure>'
    )
