"""Where jobs ran, as rectangles of time and hosts, and how full a grid of such rectangles is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.record import Floats
from noctule.schedule import Schedule

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Boxes:
    """One rectangle for each run of hosts that a job held.

    `left` and `right` are dates, `bottom` the first host and `top` the one after the last; `row` is
    the row of the job in the schedule.
    """

    left: Floats
    right: Floats
    bottom: Floats
    top: Floats
    row: Rows

    def __len__(self) -> int:
        """Return the number of rectangles."""
        return len(self.left)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Boxes:
        """Return some of the rectangles."""
        return Boxes(
            self.left[chosen],
            self.right[chosen],
            self.bottom[chosen],
            self.top[chosen],
            self.row[chosen],
        )

    def corners(self) -> npt.NDArray[np.float64]:
        """Return the four corners of each rectangle, in an array of shape (n, 4, 2)."""
        x = np.stack([self.left, self.right, self.right, self.left], axis=1)
        y = np.stack([self.bottom, self.bottom, self.top, self.top], axis=1)
        return np.stack([x, y], axis=2)


def boxes_of(schedule: Schedule, start: float, end: float) -> Boxes:
    """Return the rectangles of the jobs that ran between two dates, cut off at these.

    A job that was still running when the run was stopped ends with the picture.
    """
    record = schedule.record
    finish = np.where(np.isnan(record.finish_time), end, record.finish_time)
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero((record.start_time < end) & (finish > start))
    intervals = [record.hosts(row).intervals() for row in rows.tolist()]
    if len(rows) and not any(intervals):
        raise InputError("gantt: got a schedule that does not tell hosts, expected their ids")
    counts = np.fromiter(map(len, intervals), dtype=np.intp, count=len(rows))
    hosts = np.array([pair for some in intervals for pair in some], dtype=np.float64).reshape(-1, 2)
    row = np.repeat(rows, counts)
    return Boxes(
        np.maximum(record.start_time[row], start),
        np.minimum(finish[row], end),
        hosts[:, 0],
        hosts[:, 1] + 1.0,
        row,
    )


def occupancy(
    boxes: Boxes, time_edges: Floats, n_hosts: int, n_rows: int
) -> npt.NDArray[np.float64]:
    """Return how full each cell of a grid is, from 0 to 1; rows are hosts, columns are times.

    The grid has equal columns between `time_edges[0]` and `time_edges[-1]`. A rectangle's share of
    each cell is exact: four corners a rectangle go into a table of differences, twice summed up.
    """
    n_columns = len(time_edges) - 1
    # of no time, nothing can be full
    width = (time_edges[-1] - time_edges[0]) / n_columns or math.inf
    height = n_hosts / n_rows
    grid = np.zeros((n_rows + 2, n_columns + 2))
    bottom, top = (np.minimum(y, n_hosts) / height for y in (boxes.bottom, boxes.top))
    for y, y_sign in ((bottom, 1.0), (top, -1.0)):
        for x, x_sign in ((boxes.left, 1.0), (boxes.right, -1.0)):
            _add_corner(grid, y, (x - time_edges[0]) / width, y_sign * x_sign)
    filled = grid.cumsum(axis=0).cumsum(axis=1)[:n_rows, :n_columns]
    # sums of many shares may miss 0 or 1 by the last bits; hosts that are shared count once
    full: npt.NDArray[np.float64] = np.clip(filled, 0.0, 1.0)
    return full


def _add_corner(grid: npt.NDArray[np.float64], y: Floats, x: Floats, sign: float) -> None:
    """Enter a corner, in units of cells: all that lies above and to the right of it is full.

    The cell of the corner itself gets the part that lies beyond it.
    """
    y0, x0 = np.floor(y).astype(np.intp), np.floor(x).astype(np.intp)
    fy, fx = y - y0, x - x0
    for dy, part_y in ((0, 1.0 - fy), (1, fy)):
        for dx, part_x in ((0, 1.0 - fx), (1, fx)):
            np.add.at(grid, (y0 + dy, x0 + dx), sign * part_y * part_x)
