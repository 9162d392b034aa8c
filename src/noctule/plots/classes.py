"""Jobs in classes, each with a colour: by their sizes, waits, users and the like.

The classes are chosen for all schedules of a figure together, so that a colour means the same in
every panel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.plots.style import OTHERS, PALETTE, ordered_shades
from noctule.plots.texts import DAY, HOUR, MINUTE, plain
from noctule.record import Floats, JobState
from noctule.schedule import Schedule

Codes = npt.NDArray[np.intp]

# large boxes of the dark grey would draw all eyes
SHADES = PALETTE[:-1]
_STATES = {
    JobState.COMPLETED: PALETTE[0],
    JobState.TIMED_OUT: PALETTE[1],
    JobState.KILLED: PALETTE[3],
    JobState.FAILED: PALETTE[5],
    JobState.RUNNING: PALETTE[4],
}
_DURATIONS = (
    (MINUTE, "1 min"),
    (10 * MINUTE, "10 min"),
    (HOUR, "1 h"),
    (6 * HOUR, "6 h"),
    (DAY, "1 day"),
)
_MOST_SIZES = 6


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of jobs, and what they are told by.

    Attributes:
        labels: what each class is called; empty if the colours only tell neighbours apart.
        shades: the colour of each.
        code: which class each row of a schedule is in.
    """

    labels: tuple[str, ...]
    shades: tuple[str, ...]
    code: Callable[[Schedule], Codes]


def classes_of(kind: str, schedules: Sequence[Schedule]) -> Classes:
    """Return the classes of one of CLASSES, for the jobs of some schedules."""
    return CLASSES[kind](schedules)


def turns(schedule: Schedule) -> Codes:
    """Return the turn of each job's start among the shades, so that neighbours mostly differ."""
    order = np.argsort(schedule.record.start_time, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return place % len(SHADES)


def _states(schedules: Sequence[Schedule]) -> Classes:
    present = {int(code) for s in schedules for code in np.unique(s.record.state)}
    states = [state for state in _STATES if int(state) in present]
    position = np.full(len(JobState), len(states), dtype=np.intp)
    position[[int(state) for state in states]] = np.arange(len(states))
    return Classes(
        (*(state.word.replace("_", " ") for state in states), "never ran"),
        (*(_STATES[state] for state in states), OTHERS),
        lambda schedule: position[schedule.record.state],
    )


def _by_duration(column: str) -> Callable[[Sequence[Schedule]], Classes]:
    names = [f"< {name}" for _, name in _DURATIONS] + [f"≥ {_DURATIONS[-1][1]}"]
    edges = np.array([edge for edge, _ in _DURATIONS])

    def code(schedule: Schedule) -> Codes:
        values: Floats = schedule.column(column)
        # a job that still runs has a runtime that nobody knows, and goes to the last class
        return np.searchsorted(edges, values, side="right")

    def make(_: Sequence[Schedule]) -> Classes:
        return Classes(tuple(names), tuple(ordered_shades(len(names))), code)

    return make


def _sizes(schedules: Sequence[Schedule]) -> Classes:
    """Return sizes from 1 on, in steps of powers of two that make at most six classes."""
    most = max((int(s.column("n_hosts").max()) for s in schedules if len(s)), default=1)
    factor = 2
    while factor ** (_MOST_SIZES - 1) <= most:
        factor *= 2
    edges = [factor**power for power in range(_MOST_SIZES) if factor**power <= most]
    labels = []
    for low, high in zip(edges, [*edges[1:], most + 1], strict=True):
        labels.append(str(low) if high == low + 1 else f"{low}–{high - 1}")
    bounds = np.array(edges[1:])
    return Classes(
        tuple(f"{label} {'host' if label == '1' else 'hosts'}" for label in labels),
        tuple(ordered_shades(len(labels))),
        lambda s: np.searchsorted(bounds, s.column("n_hosts"), side="right"),
    )


def _by_name(
    what: str, names: Callable[[Schedule], Sequence[Any]]
) -> Callable[[Sequence[Schedule]], Classes]:
    """Return classes of the names with the most host-seconds, all others being one."""

    def make(schedules: Sequence[Schedule]) -> Classes:
        totals: dict[Any, float] = {}
        for schedule in schedules:
            for name, part in zip(names(schedule), _areas(schedule), strict=True):
                totals[name] = totals.get(name, 0.0) + part
        if totals and set(totals) == {None}:
            raise InputError(
                f"classes: got {what!r} for a schedule that does not tell {what}s, expected one "
                "that does (Parquet folders do, Batsim's CSV files do not)"
            )
        largest = sorted(totals, key=lambda name: (-totals[name], str(name)))[: len(SHADES)]
        position = {name: i for i, name in enumerate(largest)}

        def code(schedule: Schedule) -> Codes:
            found = (position.get(name, len(largest)) for name in names(schedule))
            return np.fromiter(found, dtype=np.intp, count=len(schedule))

        labels = [f"{what} {plain(name, longest=24)}" for name in largest]
        shades = list(SHADES[: len(largest)])
        if len(totals) > len(largest):
            labels, shades = [*labels, "others"], [*shades, OTHERS]
        return Classes(tuple(labels), tuple(shades), code)

    return make


def _areas(schedule: Schedule) -> list[float]:
    record = schedule.record
    seconds = np.nan_to_num(record.finish_time - record.start_time)
    areas: list[float] = (seconds * record.n_hosts).tolist()
    return areas


#: The classes by name: how they are made for some schedules.
CLASSES: Mapping[str, Callable[[Sequence[Schedule]], Classes]] = {
    "user": _by_name("user", lambda s: s.column("user").tolist()),
    "state": _states,
    "wait": _by_duration("waiting_time"),
    "profile": _by_name("profile", lambda s: s.profile_names()),
    "size": _sizes,
    "runtime": _by_duration("runtime"),
    "walltime": _by_duration("walltime"),
}
