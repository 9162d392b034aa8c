"""A population drawn from the users of a log: they arrive, work week by week, and may leave.

As many users as the log had in its first week are there at the beginning; others arrive as a
Poisson process at the rate at which new ones came to the log. Who arrives is drawn evenly from all
users of the log. In every week that follows she does what that user did in one of the weeks between
his first and his last, drawn evenly, at the same times of the same days. A session belongs to the
week in which it begins; weeks are counted from time 0.

What is drawn is what would be submitted if nobody ever left; who leaves is decided while a run goes
on, from numbers that are drawn here too.

After Zakay and Feitelson, "Semi-open trace based simulation for reliable evaluation of job
throughput and user productivity", CloudCom 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from noctule.columns import Floats
from noctule.errors import InputError
from noctule.parts import Parts, objects
from noctule.sessions import SessionGraph, Sessions
from noctule.sessions.graph import offsets
from noctule.sessions.record import NOBODY, Indices
from noctule.synthetic.draws import exponential, generator
from noctule.workload import Workload

WEEK = 604_800.0
_MOST_JOBS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Users who were drawn, and all that they might submit.

    Attributes:
        workload: their jobs, as `17~2` for the second copy of job 17.
        graph: their sessions; those that begin a week depend on the ends of the week before.
        keeps_date: whether a session never begins before its date.
        stretch: the stretch of work of each session: a week of a user.
        n_sessions: of each stretch.
        n_jobs_left: how many jobs of the user come after each stretch.
        luck: from 0 to 1, of each stretch: she leaves if it is below the probability to do so.
    """

    workload: Workload
    graph: SessionGraph
    keeps_date: npt.NDArray[np.uint8]
    stretch: Indices
    n_sessions: Indices
    n_jobs_left: Indices
    luck: Floats


def draw_population(workload: Workload, sessions: Sessions, *, weeks: int, seed: int) -> Population:
    """Draw users who come in so many weeks."""
    past = _weeks_of_users(sessions)
    if not past:
        raise InputError(f"{sessions.record.source}: no job has a user, expected some to draw from")
    rng = generator(seed)
    drawn = _Drawn(sessions.graph)
    for source, weeks_of_source, user in _newcomers(rng, past, weeks):
        drawn.add(source, [past[source].drawn(rng) for _ in weeks_of_source], weeks_of_source, user)
        if drawn.n_jobs > _MOST_JOBS:
            raise InputError(
                f"weeks: got {weeks}, in which there are more than {_MOST_JOBS} jobs, expected less"
            )
    luck = rng.random(len(drawn.n_sessions))
    return drawn.population(workload, sessions, luck)


@dataclass(frozen=True, slots=True)
class _Week:
    """What a user began in one week; sessions are counted inside it.

    `dependencies` are, for each session, those on others of the week, with think times; `last` are
    the sessions on which no other depends.
    """

    number: int
    sessions: Indices
    dependencies: Sequence[Sequence[tuple[int, float]]]
    last: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Past:
    """The weeks of one user, from the first to the last in which something was submitted."""

    first: int
    last: int
    weeks: Mapping[int, _Week]

    def drawn(self, rng: np.random.Generator) -> _Week | None:
        """Return any of them; None if nothing was submitted in it."""
        n_weeks = self.last - self.first + 1
        return self.weeks.get(self.first + int(rng.random() * n_weeks))


def _weeks_of_users(sessions: Sessions) -> dict[int, _Past]:
    graph = sessions.graph
    number = (graph.start_time // WEEK).astype(np.int64)
    found: dict[int, _Past] = {}
    for user, groups in graph.by_user().items():
        if user == NOBODY:
            continue
        by_week: dict[int, list[int]] = {}
        for group in groups:
            by_week.setdefault(int(number[group]), []).append(group)
        weeks = {week: _week(graph, week, members) for week, members in by_week.items()}
        found[user] = _Past(min(weeks), max(weeks), weeks)
    return found


def _week(graph: SessionGraph, number: int, members: Sequence[int]) -> _Week:
    place = {group: i for i, group in enumerate(members)}
    dependencies: list[list[tuple[int, float]]] = []
    waited_for: set[int] = set()
    for group in members:
        edges = range(int(graph.first_dependency[group]), int(graph.first_dependency[group + 1]))
        inside = [edge for edge in edges if int(graph.dependency[edge]) in place]
        dependencies.append(
            [(place[int(graph.dependency[edge])], float(graph.think_time[edge])) for edge in inside]
        )
        waited_for.update(on for on, _ in dependencies[-1])
    last = [i for i in range(len(members)) if i not in waited_for]
    return _Week(number, np.array(members, dtype=np.int64), dependencies, last)


def _newcomers(
    rng: np.random.Generator, past: Mapping[int, _Past], weeks: int
) -> Iterator[tuple[int, range, int]]:
    """Yield whom each newcomer takes after, her weeks, and how many took after him before."""
    users = sorted(past)
    first_week = min(one.first for one in past.values())
    n_weeks = max(one.last for one in past.values()) - first_week + 1
    n_first = sum(one.first == first_week for one in past.values())
    rate = (len(users) - n_first) / (n_weeks - 1) if n_weeks > 1 else 0.0
    arrivals = [0] * n_first
    date = 1.0
    while rate > 0 and (date := date + float(exponential(rng, 1)[0]) / rate) < weeks:
        arrivals.append(int(date))
    n_before: dict[int, int] = {}
    for week in arrivals:
        source = users[int(rng.random() * len(users))]
        n_before[source] = n_before.get(source, 0) + 1
        yield source, range(week, weeks), n_before[source]


@dataclass(slots=True)
class _Drawn:
    """Sessions of the users drawn so far, in columns."""

    graph: SessionGraph
    sources: list[Indices] = field(default_factory=list)
    shifts: list[Floats] = field(default_factory=list)
    users: list[tuple[int, int]] = field(default_factory=list)
    user: list[int] = field(default_factory=list)
    n_dependencies: list[int] = field(default_factory=list)
    dependency: list[int] = field(default_factory=list)
    think_time: list[float] = field(default_factory=list)
    keeps_date: list[int] = field(default_factory=list)
    stretch: list[int] = field(default_factory=list)
    n_sessions: list[int] = field(default_factory=list)
    n_jobs_left: list[int] = field(default_factory=list)
    n_jobs: int = 0

    def add(
        self, source: int, weeks: Sequence[_Week | None], numbers: Sequence[int], copy: int
    ) -> None:
        """Take a user, what she does in each of her weeks, and their numbers."""
        self.users.append((source, copy))
        sizes: list[int] = []
        before: list[int] = []
        for week, number in zip(weeks, numbers, strict=True):
            if week is None:
                continue
            base = len(self.user)
            self._add_week(week, (number - week.number) * WEEK, before, base)
            before = [base + i for i in week.last]
            sizes.append(int(self.graph.n_jobs[week.sessions].sum()))
        self.n_jobs += sum(sizes)
        behind = np.cumsum([0, *reversed(sizes)])[:-1]
        self.n_jobs_left += behind[::-1].tolist()

    def _add_week(self, week: _Week, shift: float, before: Sequence[int], base: int) -> None:
        n = len(week.sessions)
        self.sources.append(week.sessions)
        self.shifts.append(np.full(n, shift))
        self.user += [len(self.users) - 1] * n
        self.stretch += [len(self.n_sessions)] * n
        self.n_sessions.append(n)
        for inside in week.dependencies:
            if inside:
                edges = [(base + on, think_time) for on, think_time in inside]
            else:  # the week begins at its date, or once all of the week before has ended
                edges = [(on, 0.0) for on in before]
            self.keeps_date.append(not inside)
            self.n_dependencies.append(len(edges))
            self.dependency += [on for on, _ in edges]
            self.think_time += [think_time for _, think_time in edges]

    def population(self, workload: Workload, sessions: Sessions, luck: Floats) -> Population:
        """Put the columns together."""
        graph = self.graph
        source = np.concatenate([*self.sources, np.empty(0, dtype=np.int64)])
        shift = np.concatenate([*self.shifts, np.empty(0)])
        n_jobs = graph.n_jobs[source]
        rows = np.concatenate([*map(graph.jobs_of, source.tolist()), np.empty(0, dtype=np.int64)])
        shifts = np.repeat(shift, n_jobs)
        order = np.argsort(workload.submit_time[rows] + shifts, kind="stable")
        user = np.array(self.user, dtype=np.int64)
        names = [f"{sessions.label(one)}~{copy}" for one, copy in self.users]
        owner = np.repeat(user, n_jobs)[order]
        return Population(
            workload=_copies(workload, rows[order], shifts[order], [names[i] for i in owner]),
            graph=SessionGraph(
                user=user,
                start_time=graph.start_time[source] + shift,
                end_time=graph.end_time[source] + shift,
                first_job=offsets(n_jobs),
                jobs=np.argsort(order),
                first_dependency=offsets(np.array(self.n_dependencies, dtype=np.int64)),
                dependency=np.array(self.dependency, dtype=np.int64),
                think_time=np.array(self.think_time, dtype=float),
            ),
            keeps_date=np.array(self.keeps_date, dtype=np.uint8),
            stretch=np.array(self.stretch, dtype=np.int64),
            n_sessions=np.array(self.n_sessions, dtype=np.int64),
            n_jobs_left=np.array(self.n_jobs_left, dtype=np.int64),
            luck=luck,
        )


def _copies(workload: Workload, rows: Indices, shift: Floats, users: Sequence[str]) -> Workload:
    """Return jobs at other dates under other names."""
    parts = Parts.of(workload).rows(rows)
    n_before: dict[int, int] = {}
    ids: list[str] = []
    for row, job_id in zip(rows.tolist(), parts.job_ids.tolist(), strict=True):
        n_before[row] = n_before.get(row, 0) + 1
        ids.append(f"{job_id}~{n_before[row]}")
    copied = replace(
        parts,
        job_ids=objects(ids),
        submit_time=parts.submit_time + shift,
        cancel_time=parts.cancel_time + shift,
        labels={**parts.labels, "user": objects(users)},
        dependencies={},
    )
    return copied.with_extra({"preceding_job": None, "think_time": None}).workload()
