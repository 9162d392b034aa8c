"""Sessions of random logs, beside their definitions spelled out."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from feedback_replay import replay_with_responses
from hypothesis import given
from hypothesis import strategies as st

from noctule.sessions import (
    Record,
    SessionGraph,
    Sessions,
    find_batches,
    find_sessions,
    load_sessions,
    save_sessions,
)
from noctule.sessions.partition import CUTS
from noctule.workload import Delay, Job, Request, Workload

# few values, so that much happens at one instant
DATES = st.integers(0, 40).map(float)
LENGTHS = st.integers(0, 12).map(float)
USERS = st.sampled_from([1, 2, 7, None])
JOBS = st.lists(st.tuples(DATES, LENGTHS, USERS), min_size=1, max_size=25).filter(
    lambda jobs: any(user is not None for _, _, user in jobs)
)
FRACTIONS = st.floats(0, 1e6)
THRESHOLDS = st.sampled_from([0.0, 1.0, 3.0, 10.0])
CUT = st.sampled_from(sorted(CUTS))


def a_workload(jobs: list[tuple[float, float, int | None]]) -> Workload:
    return Workload.from_jobs(
        Job(i, submit, Request(1), Delay(length), user=user, extra={"wait_time": 0.0})
        for i, (submit, length, user) in enumerate(jobs)
    )


def before(graph: SessionGraph, i: int, j: int) -> bool:
    """Session j depends on i, by definition: i is an earlier one, and had ended when j began."""
    same_user = graph.user[i] == graph.user[j] >= 0
    return bool(same_user and i < j and graph.end_time[i] <= graph.start_time[j])


def reachable(graph: SessionGraph) -> np.ndarray:
    found = np.zeros((len(graph), len(graph)), dtype=bool)
    for j in range(len(graph)):
        for i in graph.dependencies_of(j).tolist():
            found[j] |= found[i]
            found[j, i] = True
    return found


def since(record: Record, cut: str, session: list[int]) -> float:
    if cut == "arrival":
        return float(record.submit_time[session[-1]])
    ends = record.finish_time[session]
    return float(ends[-1] if cut == "last" else ends.max())


def cut_naively(record: Record, cut: str, threshold: float) -> list[list[int]]:
    sessions = []
    for user in range(len(record.users)):
        session: list[int] = []
        for row in np.flatnonzero(record.user == user).tolist():
            if session and record.submit_time[row] - since(record, cut, session) >= threshold:
                sessions.append(session)
                session = []
            session.append(row)
        sessions.append(session)
    return sessions + [[row] for row in np.flatnonzero(record.user < 0).tolist()]


@given(JOBS, CUT, THRESHOLDS)
def test_sessions_are_cut_as_a_loop_would(jobs, cut, threshold):
    sessions = find_sessions(a_workload(jobs), threshold=threshold, cut=cut)
    graph = sessions.graph
    found = [graph.jobs_of(i).tolist() for i in range(len(graph))]
    assert found == cut_naively(sessions.record, cut, threshold)


@given(JOBS, CUT, THRESHOLDS)
def test_every_job_is_in_exactly_one_session(jobs, cut, threshold):
    sessions = find_sessions(a_workload(jobs), threshold=threshold, cut=cut)
    assert sorted(sessions.graph.jobs.tolist()) == list(range(len(jobs)))
    batches = find_batches(sessions)
    assert sorted(batches.graph.jobs.tolist()) == list(range(len(jobs)))
    group = sessions.graph.group_of_jobs()
    for i, session in enumerate(batches.session.tolist()):
        assert set(group[batches.graph.jobs_of(i)].tolist()) == {session}


@given(JOBS, CUT, THRESHOLDS, st.booleans())
def test_the_reduction_keeps_who_comes_after_whom_and_implies_no_edge(jobs, cut, threshold, fine):
    sessions = find_sessions(a_workload(jobs), threshold=threshold, cut=cut)
    graph = find_batches(sessions).graph if fine else sessions.graph
    reach = reachable(graph)
    for i, j in itertools.product(range(len(graph)), repeat=2):
        assert reach[j, i] == before(graph, i, j)
    for j in range(len(graph)):
        direct = graph.dependencies_of(j).tolist()
        assert len(set(direct)) == len(direct)
        assert not any(reach[k, i] for i in direct for k in direct)


@given(JOBS, CUT, THRESHOLDS)
def test_think_times_are_what_lies_between(jobs, cut, threshold):
    graph = find_sessions(a_workload(jobs), threshold=threshold, cut=cut).graph
    waiting = np.repeat(np.arange(len(graph)), graph.n_dependencies)
    assert (graph.think_time >= 0).all()
    assert np.array_equal(
        graph.think_time, graph.start_time[waiting] - graph.end_time[graph.dependency]
    )


@given(JOBS, CUT, THRESHOLDS, st.booleans())
def test_a_replay_with_the_recorded_responses_is_the_record(jobs, cut, threshold, fine):
    sessions = find_sessions(a_workload(jobs), threshold=threshold, cut=cut)
    record = sessions.record
    graph = find_batches(sessions).graph if fine else sessions.graph
    response = (record.finish_time - record.submit_time).tolist()
    replayed = replay_with_responses(sessions, response.__getitem__, graph)
    assert np.array_equal(replayed.submit, record.submit_time)


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS, USERS), min_size=1, max_size=12), CUT, FRACTIONS)
def test_files_are_read_back_as_they_were_written(jobs, cut, threshold):
    workload = a_workload([*jobs, (0.0, 0.1, 3)])
    sessions = find_sessions(workload, threshold=threshold, cut=cut)
    with tempfile.TemporaryDirectory() as folder:
        save_sessions(sessions, Path(folder) / "users")
        again = load_sessions(Path(folder) / "users", workload)
    assert_same(sessions, again)


def assert_same(one: Sessions, two: Sessions) -> None:
    assert (one.cut, one.record.users) == (two.cut, two.record.users)
    assert one.threshold == pytest.approx(two.threshold)
    for name in SessionGraph.__slots__:
        assert np.array_equal(getattr(one.graph, name), getattr(two.graph, name)), name
    for name in ("user", "submit_time", "finish_time"):
        assert np.array_equal(getattr(one.record, name), getattr(two.record, name)), name


@given(st.data(), CUT, THRESHOLDS)
def test_the_order_of_the_lines_of_a_log_does_not_matter(data, cut, threshold):
    dates = data.draw(st.lists(DATES, min_size=1, max_size=20, unique=True))
    jobs = [(date, data.draw(LENGTHS), data.draw(st.sampled_from([1, 2]))) for date in dates]
    rows = list(enumerate(jobs))
    shuffled = data.draw(st.permutations(rows))

    def found(rows: list[tuple[int, tuple[float, float, int]]]) -> list[object]:
        workload = Workload.from_jobs(
            Job(i, submit, Request(1), Delay(length), user=user, extra={"wait_time": 0.0})
            for i, (submit, length, user) in rows
        )
        graph = find_sessions(workload, threshold=threshold, cut=cut).graph
        ids = workload.job_ids
        groups = [ids[graph.jobs_of(i)].tolist() for i in range(len(graph))]
        return [groups, graph.dependency.tolist(), graph.think_time.tolist()]

    assert found(rows) == found(shuffled)
