"""What users do, as the core takes it: groups of jobs that wait, hours of work, who leaves."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from noctule import _core
from noctule.resampling import Population
from noctule.sessions import SessionGraph, Sessions, fit_think_times, weekly_activity
from noctule.sessions.record import Record, nobody_last
from noctule.sessions.think_times import MOST_STRETCHED

Think = Literal["kept", "dropped", "reacting"]
THINK: tuple[Think, ...] = get_args(Think)
Activity = Literal["user", "log"]
#: Base and slope of think times over response times.
Line = tuple[float, float]


def thinking(think: Think, line: Line | None, graph: SessionGraph) -> _core.Thinking:
    """Return what becomes of think times; the line of reacting ones is fitted if none is given."""
    base, slope = line or (0.0, 0.0)
    if think == "reacting" and line is None:
        fitted = fit_think_times(graph)
        base, slope = fitted.base, fitted.slope
    return _core.Thinking(THINK.index(think), base, slope, MOST_STRETCHED)


def group_plan(
    record: Record,
    graph: SessionGraph,
    rule: _core.Thinking,
    *,
    calendar: _core.Calendar | None = None,
    keeps_date: npt.NDArray[np.uint8] | None = None,
    population: _core.PopulationPlan | None = None,
) -> _core.GroupPlan:
    """Return groups of jobs, and what each of them waits for."""
    return _core.GroupPlan(
        start_time=graph.start_time,
        end_time=graph.end_time,
        user=_small(nobody_last(graph.user, len(record.users))),
        keeps_date=np.empty(0, dtype=np.uint8) if keeps_date is None else keeps_date,
        first_job=_small(graph.first_job),
        jobs=_small(graph.jobs),
        submit_time=record.submit_time,
        first_dependency=_small(graph.first_dependency),
        dependency=_small(graph.dependency),
        think_time=graph.think_time,
        thinking=rule,
        calendar=calendar,
        population=population,
    )


def recorded_periods(sessions: Sessions) -> _core.RecordedPeriods:
    """Return from when to when each user submitted; nobody's are none."""
    graph, record = sessions.graph, sessions.record
    last = record.submit_time[graph.jobs[graph.first_job[1:] - 1]]
    starts: list[float] = []
    ends: list[float] = []
    first = np.zeros(len(record.users) + 2, dtype=np.uint32)
    groups = graph.by_user()
    for user in range(len(record.users)):
        own = groups.get(user, range(0))
        begin = len(starts)
        for group in sorted(own, key=lambda group: float(graph.start_time[group])):
            start, end = float(graph.start_time[group]), float(last[group])
            if len(starts) > begin and start <= ends[-1]:
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)
        first[user + 1] = len(starts)
    first[-1] = len(starts)
    return _core.RecordedPeriods(first, np.array(starts), np.array(ends))


def weekly_hours(
    sessions: Sessions, graph: SessionGraph, activity: Activity, seed: int
) -> _core.WeeklyHours:
    """Return in which hours of the week users work, with which probability."""
    found = weekly_activity(sessions.record)
    counts = found.submissions.astype(float)
    mean = np.maximum(counts.mean(axis=1, keepdims=True), np.finfo(float).tiny)
    log = len(found.row)
    row = np.append(found.row if activity == "user" else np.full(log, log), log)
    return _core.WeeklyHours(
        found.clock.change,
        found.clock.shift,
        np.minimum(counts / mean, 1.0).ravel(),
        _small(row),
        graph.start_time,
        seed,
    )


def leaving(drawn: Population, patience: float, steepness: float) -> _core.PopulationPlan:
    """Return when users leave who were drawn."""
    return _core.PopulationPlan(
        _small(drawn.stretch),
        _small(drawn.n_sessions),
        _small(drawn.n_jobs_left),
        drawn.luck,
        half=patience,
        steepness=steepness,
    )


def _small(values: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    return values.astype(np.uint32)
