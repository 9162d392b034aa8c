"""Replay models: when the jobs of a log are submitted in a run that goes otherwise than the log.

Rigid replay keeps the recorded dates. In all others users wait for results before they submit more:
what was recorded are groups of jobs, which of them waited for which, and how long the users thought
in between (`noctule.sessions`). The core submits them as jobs end.

Madon, Da Costa, Pierson, "Replay with feedback", Future Generation Computer Systems 2024; Zakay and
Feitelson, "Preserving user behavior characteristics in trace-based simulation of parallel job
scheduling", MASCOTS 2014; Schlagkamp, "Influence of dynamic think times on parallel job scheduler
performances in generative simulations", JSSPP 2015.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Protocol, TypeGuard, get_args

import numpy as np

from noctule import _core
from noctule.errors import InputError
from noctule.policy import PolicySpec
from noctule.replay_plans import (
    THINK,
    Activity,
    Line,
    Think,
    group_plan,
    leaving,
    recorded_periods,
    thinking,
    weekly_hours,
)
from noctule.resampling import draw_population
from noctule.sessions import (
    SessionGraph,
    Sessions,
    find_batches,
    find_sessions,
    load_sessions,
    sessions_on,
)
from noctule.sessions.partition import CUTS
from noctule.sessions.reading import session_paths
from noctule.sessions.record import Record
from noctule.units import DURATION
from noctule.workload import Workload

__all__ = [
    "Adjusted",
    "DistributionBased",
    "Feedback",
    "Fluid",
    "Replay",
    "Replayed",
    "Resampling",
    "Rigid",
    "draws_without_seed",
    "make_replay",
    "session_file_names",
    "session_folder",
    "with_seed",
    "with_sessions",
]

_CUT_AND_TIME = re.compile(rf"({'|'.join(CUTS)}):(.*)", re.DOTALL)
_MOST_SEEDS = 2**63
_MOST_WEEKS = 100_000


class Replay(Protocol):
    """When jobs are submitted; `resubmit` is how often one that was killed is submitted again."""

    @property
    def resubmit(self) -> int:
        """How often a job that was killed is submitted again."""

    def applied_to(self, workload: Workload) -> Replayed:
        """Return the jobs of a run, and what users do about them."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The jobs of a run, and what users do, as the core takes it; None if dates are as given."""

    workload: Workload
    users: _core.GroupPlan | None = None


@dataclass(frozen=True, slots=True)
class _Applied:
    """What a replay model has made of a workload, for runs that ask for the same."""

    asked: Workload
    replayed: Replayed


@dataclass(frozen=True, slots=True, kw_only=True)
class Rigid:
    """Every job is submitted at its recorded date.

    Attributes:
        resubmit: how often a job that was killed is submitted again.
    """

    resubmit: int = 0

    def __post_init__(self) -> None:
        """Refuse a number that is none."""
        _check_resubmit(self.resubmit)

    def applied_to(self, workload: Workload) -> Replayed:
        """Return the jobs as they are."""
        return Replayed(workload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """A session begins when those that it depends on have ended and the user has thought.

    Inside a session, jobs follow each other at their recorded distances.

    Attributes:
        threshold: seconds, or a text such as 60min; a pause as long as that ends a session.
        cut: what a pause is counted from, arrival by default; see `find_sessions`.
        sessions: instead of these, the sessions themselves, a folder of session files, or a text
            such as arrival:60min.
        think: `kept` think times, `dropped` ones, or `reacting` ones, which are multiplied by
            (base + slope × response) / (base + slope × recorded response).
        base: seconds; of the line that reacting think times follow, fitted to the log by default.
        slope: of the same line.
        resubmit: how often a job that was killed is submitted again.
    """

    threshold: float | str | None = None
    cut: str | None = None
    sessions: Sessions | str | os.PathLike[str] | None = None
    think: Think = "kept"
    base: float | None = None
    slope: float | None = None
    resubmit: int = 0
    _last: _Applied | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what means nothing before any log is read."""
        _check(self)

    def applied_to(self, workload: Workload) -> Replayed:
        """Return the jobs of a run, and what users do; the same for the same workload again."""
        if self._last is None or self._last.asked is not workload:
            replayed = self._applied_to(workload)
            if session_folder(self) is not None:  # the files may change
                return replayed
            object.__setattr__(self, "_last", _Applied(workload, replayed))
            return replayed
        return self._last.replayed

    def _applied_to(self, workload: Workload) -> Replayed:
        """Return sessions, and what each of them waits for."""
        sessions = _sessions_of(self, workload)
        return Replayed(workload, _plan(self, sessions, sessions.graph))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted(Feedback):
    """As Feedback, but of batches: jobs of a session that overlap; after Zakay and Feitelson.

    Its attributes are those of Feedback.
    """

    def _applied_to(self, workload: Workload) -> Replayed:
        """Return batches, and what each of them waits for."""
        sessions = _sessions_of(self, workload)
        return Replayed(workload, _plan(self, sessions, find_batches(sessions).graph))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fluid(Feedback):
    """As Adjusted, but a batch only begins in a recorded session of its user.

    A session lasts from its first to its last submission. What comes between two of them waits for
    the next one; what comes after the last one is submitted at once. After Zakay and Feitelson.

    Its attributes are those of Feedback, but think times are `dropped` by default.
    """

    think: Think = "dropped"

    def _applied_to(self, workload: Workload) -> Replayed:
        """Return batches, what each of them waits for, and when users work."""
        sessions = _sessions_of(self, workload)
        graph, periods = find_batches(sessions).graph, recorded_periods(sessions)
        return Replayed(workload, _plan(self, sessions, graph, periods))


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionBased(Feedback):
    """As Adjusted, but a batch only begins in an hour of the week in which its user works.

    Hours in which a user submitted at least as much as in the mean one are always hours of work,
    others with a probability in proportion, drawn for each user and hour. The hour of the week in
    which a batch was recorded is one of work for that batch. What comes in another hour moves to a
    second of the next hour of work, drawn evenly. After Zakay and Feitelson.

    Attributes:
        seed: of what is drawn.
        activity: `user`: hours are those of each user, or of the log where she has fewer than 30
            jobs; `log`: those of the log for all.
    """

    seed: int
    activity: Activity = "user"

    def __post_init__(self) -> None:
        """Refuse what means nothing before any log is read."""
        _check(self)
        _check_seed(self.seed)
        if self.activity not in get_args(Activity):
            raise InputError(f"activity: got {self.activity!r}, expected user or log")

    def _applied_to(self, workload: Workload) -> Replayed:
        """Return batches, what each of them waits for, and when users work."""
        sessions = _sessions_of(self, workload)
        graph = find_batches(sessions).graph
        hours = weekly_hours(sessions, graph, self.activity, self.seed)
        return Replayed(workload, _plan(self, sessions, graph, hours))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling(Feedback):
    """Users drawn from the log, who arrive, work week by week, and leave when jobs are slow.

    Their sessions wait for results as in Feedback. When all jobs of a user's week have ended, she
    leaves with probability 1 / (1 + exp(-steepness × (slowdown - patience))), where the slowdown is
    the mean bounded one of that week's jobs; otherwise she begins the next week at its date, or at
    once if that has passed. See `noctule.resampling` for what is drawn. After Zakay and Feitelson.

    Attributes:
        seed: of what is drawn.
        weeks: in which users arrive and work.
        patience: mean bounded slowdown at which every other user leaves.
        steepness: how fast the probability to leave grows with the slowdown.
    """

    seed: int
    weeks: int
    patience: float
    steepness: float

    def __post_init__(self) -> None:
        """Refuse what means nothing before any log is read."""
        _check(self)
        _check_seed(self.seed)
        if not (isinstance(self.weeks, int) and 1 <= self.weeks <= _MOST_WEEKS):
            raise InputError(f"weeks: got {self.weeks!r}, expected a whole number >= 1")
        for name in ("patience", "steepness"):
            value = getattr(self, name)
            if not _is_number(value) or value < 0:
                raise InputError(f"{name}: got {value!r}, expected a number >= 0")

    def _applied_to(self, workload: Workload) -> Replayed:
        """Return jobs of users who were drawn, what they wait for, and when they leave."""
        sessions = _sessions_of(self, workload)
        drawn = draw_population(workload, sessions, weeks=self.weeks, seed=self.seed)
        plan = group_plan(
            Record.of(drawn.workload),
            drawn.graph,
            thinking(self.think, _line(self), sessions.graph),
            keeps_date=drawn.keeps_date,
            population=leaving(drawn, float(self.patience), float(self.steepness)),
        )
        return Replayed(drawn.workload, plan)


#: Replay models by the names that texts give them.
REPLAYS: Mapping[str, Callable[..., Replay]] = {
    "rigid": Rigid,
    "feedback": Feedback,
    "adjusted": Adjusted,
    "fluid": Fluid,
    "distribution": DistributionBased,
    "resampling": Resampling,
}


def make_replay(replay: str | Replay) -> Replay:
    """Return a replay model; a text is `feedback(threshold=60min)`, as policies are written."""
    if not isinstance(replay, str):
        return replay
    spec = _spec(replay)
    model: Any = REPLAYS[spec.name]
    parameters = [one for one in fields(model) if one.init]
    known = [one.name for one in parameters]
    for name in spec.parameters:
        if name not in known:
            raise InputError(
                f"replay {spec.name}: no parameter {name}, expected some of {', '.join(known)}"
            )
    for one in parameters:
        if one.default is MISSING and one.name not in spec.parameters:
            raise InputError(f"replay {spec.name}: {one.name}: missing, expected {one.name}=...")
    try:
        made: Replay = model(**spec.parameters)
    except InputError as error:
        raise InputError(f"replay {spec.name}: {error}") from None
    return made


def draws_without_seed(replay: str) -> bool:
    """Tell whether the text of a model that draws says nothing about its seed."""
    spec = _spec(replay)
    model: Any = REPLAYS[spec.name]
    return "seed" not in spec.parameters and any(one.name == "seed" for one in fields(model))


def with_seed(replay: str, seed: int) -> str:
    """Return the text of a replay model with a seed."""
    spec = _spec(replay)
    return str(PolicySpec(spec.name, {**spec.parameters, "seed": seed}))


def session_folder(replay: str | Replay) -> str | None:
    """Return the folder of session files, or the one file, that a replay model reads, if any."""
    model = make_replay(replay)
    given = model.sessions if isinstance(model, Feedback) else None
    if given is None or isinstance(given, Sessions) or _told_cut(given):
        return None
    return os.fspath(given)


def session_file_names(replay: str | Replay) -> list[str]:
    """Return the session files that a replay model reads."""
    folder = session_folder(replay)
    return [] if folder is None else [str(name) for name in session_paths(folder)]


def with_sessions(replay: str, sessions: str) -> str:
    """Return the text of a replay model with these sessions, a folder or a text such as max:1h."""
    spec = _spec(replay)
    others = {name: value for name, value in spec.parameters.items() if name != "sessions"}
    return str(PolicySpec(spec.name, {**others, "sessions": sessions}))


def _spec(text: str) -> PolicySpec:
    """Read the text of a replay model, of which the name is known."""
    try:
        spec = PolicySpec.parse(text)
    except InputError as error:
        raise InputError(f"replay: {str(error).removeprefix('policy').lstrip(': ')}") from None
    if spec.name not in REPLAYS:
        raise InputError(f"replay: got {spec.name!r}, expected one of {', '.join(REPLAYS)}")
    return spec


def _check(model: Feedback) -> None:
    _check_resubmit(model.resubmit)
    if model.think not in THINK:
        raise InputError(f"think: got {model.think!r}, expected one of {', '.join(THINK)}")
    if (model.base is None) != (model.slope is None):
        raise InputError("base and slope: expected both, or none of them")
    for name in ("base", "slope"):
        value = getattr(model, name)
        if value is None:
            continue
        if not _is_number(value):
            raise InputError(f"{name}: got {value!r}, expected a number")
        if model.think != "reacting":
            raise InputError(f"{name}: think times are {model.think}, expected reacting ones")
    if model.sessions is not None and (model.threshold is not None or model.cut is not None):
        raise InputError("sessions: got threshold or cut as well, expected one or the other")
    if model.sessions is None and model.threshold is None:
        raise InputError(
            "threshold: missing, expected seconds, or sessions such as arrival:60min instead"
        )
    _cut_and_threshold(model)


def _cut_and_threshold(model: Feedback) -> tuple[str, float] | None:
    """Return how sessions are to be found; None if they are given."""
    told = _told_cut(model.sessions)
    if told is not None:
        return told
    if model.sessions is not None:
        return None
    cut = "arrival" if model.cut is None else model.cut
    if cut not in CUTS:
        raise InputError(f"cut: got {cut!r}, expected one of {', '.join(CUTS)}")
    return cut, _seconds("threshold", model.threshold)


def _told_cut(sessions: object) -> tuple[str, float] | None:
    found = _CUT_AND_TIME.fullmatch(sessions) if isinstance(sessions, str) else None
    return None if found is None else (found[1], _seconds("sessions", found[2]))


def _seconds(name: str, value: object) -> float:
    found = DURATION.split(value) if isinstance(value, str) else None
    seconds = value if found is None else found[0]
    if not _is_number(seconds) or seconds < 0:
        raise InputError(f"{name}: got {value!r}, expected a time >= 0 such as 60min")
    return float(seconds)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)


def _check_resubmit(value: object) -> None:
    if not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31):
        raise InputError(f"resubmit: got {value!r}, expected a whole number >= 0")


def _check_seed(value: object) -> None:
    if not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_SEEDS):
        raise InputError(f"seed: got {value!r}, expected a whole number >= 0")


def _sessions_of(model: Feedback, workload: Workload) -> Sessions:
    """Return the sessions of a workload, found or given."""
    if workload.has_dependencies:
        raise InputError(
            f"replay: the jobs of {workload.source or workload.name} have dependencies of their "
            "own, expected rigid"
        )
    told = _cut_and_threshold(model)
    if told is not None:
        return find_sessions(workload, threshold=told[1], cut=told[0])
    given = model.sessions
    if not isinstance(given, Sessions):
        assert given is not None
        return load_sessions(given, workload)
    return given if _is_of(given.record, workload) else sessions_on(given, workload)


def _is_of(record: Record, workload: Workload) -> bool:
    return np.array_equal(record.job_ids, workload.job_ids) and np.array_equal(
        record.submit_time, workload.submit_time
    )


def _plan(
    model: Feedback,
    sessions: Sessions,
    graph: SessionGraph,
    calendar: _core.Calendar | None = None,
) -> _core.GroupPlan:
    rule = thinking(model.think, _line(model), graph)
    return group_plan(sessions.record, graph, rule, calendar=calendar)


def _line(model: Feedback) -> Line | None:
    if model.base is None or model.slope is None:
        return None
    return float(model.base), float(model.slope)
