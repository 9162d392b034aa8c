"""What figures are of: a schedule, or several with names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from noctule.errors import InputError
from noctule.metrics import Window
from noctule.record import JobState
from noctule.schedule import Schedule
from noctule.timeseries import span_of

#: Schedules, each with the name that the picture gives it.
Runs = Sequence[tuple[str, Schedule]]


def named(runs: Schedule | Runs) -> list[tuple[str, Schedule]]:
    """Return runs with their names; a schedule alone has none."""
    found = [("", runs)] if isinstance(runs, Schedule) else list(runs)
    if not found:
        raise InputError("picture: got no run, expected at least one")
    return found


def common_span(runs: Schedule | Runs) -> Window:
    """Return the stretch of time in which something happened in any run."""
    spans = [_whole_span(schedule) for _, schedule in named(runs)]
    return Window(min(start for start, _ in spans), max(end for _, end in spans))


def _whole_span(schedule: Schedule) -> tuple[float, float]:
    """Return when something happened: where a run was stopped, up to then."""
    start, end = span_of(schedule)
    record = schedule.record
    if not np.isin(record.state, (JobState.WAITING, JobState.RUNNING)).any():
        return start, end
    dates = record.submit_time
    return min(start, float(dates.min())), max(end, float(dates.max()), schedule.end)


def folder_names(directories: Sequence[str]) -> list[str]:
    """Return the last parts of the paths, or all of them if two have the same."""
    names = [Path(directory).resolve().name for directory in directories]
    return names if len(set(names)) == len(names) else list(directories)
