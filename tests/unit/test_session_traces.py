"""Sessions of real logs, beside what was published of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from feedback_replay import KTH_FIGURES, replay_with_easy

from noctule.formats import load_workload
from noctule.lateness import summed_up
from noctule.sessions import find_batches, find_sessions, session_stats, weekly_activity
from noctule.workload import Workload

DAY = 86_400.0


@pytest.fixture(scope="module")
def kth(shared: Path) -> Workload:
    return load_workload(shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz", walltime_factor=2)


def test_the_think_times_of_kth_are_as_published(kth):
    # section 7.2: under 10 h are 75 % of those of single jobs and 50 % of those of sessions; under
    # 1 h are 35 % and around 13 %. (Both logs of the paper together; this is one of them.)
    single = session_stats(find_sessions(kth, threshold=0))
    hourly = session_stats(find_sessions(kth, threshold=3600))
    assert (single.n_users, single.n_sessions) == (214, 28_467)
    assert single.under_ten_hours == pytest.approx(0.75, abs=0.01)
    assert single.under_an_hour == pytest.approx(0.35, abs=0.02)
    assert hourly.under_ten_hours == pytest.approx(0.50, abs=0.02)
    assert hourly.under_an_hour == pytest.approx(0.13, abs=0.01)
    # no graph has an arity over 11
    assert hourly.distributions["arity"]["max"] <= 11


@pytest.mark.parametrize(("minutes", "hosts", "speed", "published"), KTH_FIGURES)
def test_kth_with_feedback_gives_the_published_figures(kth, minutes, hosts, speed, published):
    sessions = find_sessions(kth, threshold=60 * minutes)
    replayed = replay_with_easy(kth, sessions, n_hosts=hosts, speed=speed)
    wait = replayed.start - replayed.submit
    figures = (
        (replayed.finish.max() - replayed.submit.min()) / DAY,
        wait.mean() / DAY,
        wait.max() / DAY,
        summed_up(kth.submit_time, replayed.submit).mean_lateness / DAY,
    )
    # to the printed digit; where another EASY was published, one unit off, the longest wait two
    is_reference = speed == 1 and hosts == 100
    assert figures[:2] + figures[3:] == pytest.approx(
        published[:2] + published[3:], abs=0.005 if is_reference else 0.015
    )
    assert figures[2] == pytest.approx(published[2], abs=0.005 if is_reference else 0.02)


def test_users_of_kth_work_by_day_and_on_weekdays(kth):
    activity = weekly_activity(find_sessions(kth, threshold=0).record)
    log = activity.of_user(-1).reshape(7, 24)
    assert activity.clock.zone == "Europe/Stockholm"
    assert log.sum() == 28_467
    by_hour, by_day = log.sum(axis=0), log.sum(axis=1)
    assert 9 <= int(np.argmax(by_hour)) <= 17
    assert 2 <= int(np.argmin(by_hour)) <= 7
    assert by_day[5:].max() < by_day[:5].min()


@pytest.mark.parametrize("cut", ["arrival", "last", "max"])
def test_every_job_of_curie_is_in_one_session_and_one_batch(shared, cut):
    path = shared / "traces" / "CEA-Curie-2011-2.1-cln.swf.xz"
    workload = load_workload(path, processors="allocated")
    sessions = find_sessions(workload, threshold=3600, cut=cut)
    batches = find_batches(sessions)
    for graph in (sessions.graph, batches.graph):
        assert np.array_equal(np.sort(graph.jobs), np.arange(len(workload)))
        assert (graph.think_time >= 0).all()
        assert (graph.dependency < np.repeat(np.arange(len(graph)), graph.n_dependencies)).all()
