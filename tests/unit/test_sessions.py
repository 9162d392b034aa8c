"""Sessions: where they are cut, what they depend on, and what is done about unknown things."""

from __future__ import annotations

import math

import numpy as np
import pytest
from feedback_replay import replay_with_responses
from session_logs import FIGURE_1, a_log, edges_of, job_sets, sessions_of
from trace_files import a_line, a_trace, refusal

from noctule.sessions import (
    Record,
    find_batches,
    find_sessions,
    session_stats,
    sessions_on,
)
from noctule.workload import Delay, Job, Request, Workload

# --- the worked example


def test_figure_1_has_four_sessions_of_which_two_hang_on_the_root():
    sessions = sessions_of(*FIGURE_1)

    assert job_sets(sessions) == [[1, 2], [3], [4], [5, 6]]
    assert sessions.graph.n_dependencies.tolist() == [0, 0, 1, 2]
    assert (sessions.graph.start_time / 60).tolist() == [0, 120, 190, 300]
    assert (sessions.graph.end_time / 60).tolist() == [150, 260, 230, 400]


def test_figure_1_has_think_times_from_the_last_finish_to_the_first_submission():
    # session 3 began at 190, when 1 had ended at 150 and 2 not yet; session 4 began at 300, after 2
    # (260) and 3 (230); that it came after 1 as well follows from 3
    assert edges_of(sessions_of(*FIGURE_1)) == {(3, 1): 40, (4, 2): 40, (4, 3): 70}


def test_figure_1_changes_its_order_when_results_come_sooner():
    # jobs 1 and 2 end after 40 and 35 minutes, at 40 and 65: session 3 starts at 65 + 40 = 105,
    # before job 3, which stays at 120; session 4 at the later of 120 + 140 + 40 and 105 + 40 + 70
    sessions = sessions_of(*FIGURE_1)
    responses = [40, 35, 140, 40, 100, 30]
    replayed = replay_with_responses(sessions, lambda row: responses[row] * 60)
    assert (replayed.submit / 60).tolist() == [0, 30, 120, 105, 300, 320]


def test_figure_1_is_delayed_by_its_slowest_dependency():
    # job 3 takes 10 minutes longer, so that session 4 starts 10 minutes later: both of its jobs
    sessions = sessions_of(*FIGURE_1)
    responses = [100, 120, 150, 40, 100, 30]
    replayed = replay_with_responses(sessions, lambda row: responses[row] * 60)
    assert (replayed.submit / 60).tolist() == [0, 30, 120, 190, 310, 330]


def test_a_session_is_dependent_then_free_then_active():
    # Definition 10: session 4 is free from the end of the last it depends on; it starts later
    graph = sessions_of(*FIGURE_1).graph
    free = [graph.end_time[graph.dependencies_of(i)].max(initial=0) / 60 for i in range(4)]
    assert free == [0, 0, 150, 260]


# --- cuts


def test_a_pause_as_long_as_the_threshold_cuts():
    jobs = ((0, 1), (60, 61), (119, 120))
    assert job_sets(sessions_of(*jobs, minutes=60)) == [[1], [2, 3]]
    assert job_sets(sessions_of(*jobs, minutes=61)) == [[1, 2, 3]]
    assert job_sets(sessions_of(*jobs, minutes=59)) == [[1], [2], [3]]


def test_arrivals_with_threshold_0_are_one_job_a_session_even_at_one_instant():
    assert job_sets(sessions_of((0, 5), (0, 9), (1, 2), minutes=0)) == [[1], [2], [3]]


# the pauses before jobs 2, 3 and 4 are worked out in each test
CUT = ((0, 10), (30, 100), (70, 75), (110, 112))


def test_the_cut_arrival_counts_from_the_previous_submission():
    # 30, 40 and 40 minutes
    assert job_sets(sessions_of(*CUT, minutes=35, cut="arrival")) == [[1, 2], [3], [4]]


def test_the_cut_last_counts_from_the_end_of_the_previous_job():
    # 30 - 10 = 20, 70 - 100 = -30, 110 - 75 = 35 minutes
    assert job_sets(sessions_of(*CUT, minutes=35, cut="last")) == [[1, 2, 3], [4]]
    assert job_sets(sessions_of(*CUT, minutes=0, cut="last")) == [[1], [2, 3], [4]]


def test_the_cut_max_counts_from_the_latest_end_of_the_session():
    # 30 - 10 = 20, 70 - 100 = -30, 110 - 100 = 10 minutes
    assert job_sets(sessions_of(*CUT, minutes=15, cut="max")) == [[1], [2, 3, 4]]
    assert job_sets(sessions_of(*CUT, minutes=10, cut="max")) == [[1], [2, 3], [4]]


def test_users_are_cut_apart():
    sessions = sessions_of((0, 9, 7), (1, 9, 3), (2, 9, 7), (3, 9, 3))
    assert sessions.record.users == (3, 7)
    assert job_sets(sessions) == [[2, 4], [1, 3]]
    assert sessions.graph.user.tolist() == [0, 1]


def test_an_endless_threshold_makes_one_session_a_user():
    assert len(sessions_of((0, 1), (9999, 10_000), minutes=math.inf)) == 1


# --- dependencies


def test_a_finish_at_the_instant_of_a_submission_precedes_it():
    assert edges_of(sessions_of((0, 60), (60, 70))) == {(2, 1): 0}


def test_sessions_that_overlap_do_not_depend_on_each_other():
    sessions = sessions_of((0, 200), (100, 300))
    assert edges_of(sessions) == {}
    assert sessions.graph.n_dependencies.tolist() == [0, 0]


def test_all_that_end_side_by_side_are_direct_dependencies():
    # 1 and 2 overlap, 3 comes after both; so do 4 and 5, of which the first was submitted during 3
    jobs = ((0, 90), (70, 80), (150, 300), (220, 260), (310, 320))
    assert edges_of(sessions_of(*jobs, minutes=60)) == {
        (3, 1): 60,
        (3, 2): 70,
        (4, 1): 130,
        (4, 2): 140,
        (5, 3): 10,
        (5, 4): 50,
    }


def test_of_jobs_without_length_at_one_instant_each_depends_on_the_one_before():
    sessions = sessions_of((5, 5), (5, 5), (5, 5), minutes=0)
    assert edges_of(sessions) == {(2, 1): 0, (3, 2): 0}


def test_users_do_not_depend_on_each_other():
    assert edges_of(sessions_of((0, 1, 1), (100, 101, 2), (200, 201, 1))) == {(2, 1): 199}


def test_dependents_are_the_dependencies_the_other_way():
    first, dependents, think_times = sessions_of(*FIGURE_1).graph.dependents()
    assert first.tolist() == [0, 1, 2, 3, 3]
    assert dependents.tolist() == [2, 3, 3]
    assert (think_times / 60).tolist() == [40, 40, 70]


# --- batches


def test_a_batch_is_jobs_that_overlap_inside_a_session():
    # 1 and 2 overlap, 3 is submitted when 2 ends, 4 during 3; 5 is another session, during 4
    jobs = ((0, 10), (5, 20), (20, 40), (30, 200), (120, 130))
    sessions = sessions_of(*jobs)
    batches = find_batches(sessions)
    ids = sessions.record.job_ids
    assert [ids[batches.graph.jobs_of(i)].tolist() for i in range(3)] == [[1, 2], [3, 4], [5]]
    assert batches.session.tolist() == [0, 0, 1]


def test_a_batch_depends_on_batches_of_its_own_and_of_other_sessions():
    # session 1: {1} until 10, {2} from 30 to 200; session 2: {3} from 100 to 110; session 3: {4}
    jobs = ((0, 10), (30, 200), (100, 110), (300, 301))
    graph = find_batches(sessions_of(*jobs)).graph
    dependencies = [graph.dependencies_of(i).tolist() for i in range(4)]
    assert dependencies == [[], [0], [0], [2, 1]]
    assert (graph.think_time / 60).tolist() == [20, 90, 190, 100]


# --- what is not known


def test_a_job_without_a_user_is_a_session_that_depends_on_none():
    sessions = sessions_of((0, 1, 5), (2, 3, -1), (4, 5, -1), (200, 201, 5))
    assert sessions.record.users == (5,)
    assert job_sets(sessions) == [[1], [4], [2], [3]]
    assert sessions.graph.user.tolist() == [0, 0, -1, -1]
    assert edges_of(sessions) == {(2, 1): 199}
    assert [str(note) for note in sessions.notes] == [
        "user: not known, so that each is a session that depends on none: 2"
    ]


def test_nothing_depends_on_a_job_whose_finish_is_not_known():
    lines = [
        a_line(1, 0, user=1, wait_time=0),
        a_line(2, 9000, user=1, wait_time=-1),
        a_line(3, 18_000, user=1, wait_time=0),
    ]
    sessions = find_sessions(a_trace(*lines), threshold=3600)
    assert sessions.graph.end_time.tolist() == [10, math.inf, 18_010]
    assert [sessions.graph.dependencies_of(i).tolist() for i in range(3)] == [[], [0], [0]]
    assert [str(note) for note in sessions.notes] == [
        "finish: not known, so that nothing depends on their sessions: 1"
    ]


def test_a_job_that_never_ran_has_no_finish():
    lines = [a_line(1, user=1, wait_time=5), a_line(2, 1, user=1, wait_time=5, run_time=-1)]
    assert Record.of(a_trace(*lines)).finish_time.tolist() == [15, math.inf]


def test_a_user_whose_first_job_is_dropped_begins_with_the_next(tmp_path):
    from noctule.formats import load_workload

    path = tmp_path / "log.swf"
    lines = [
        a_line(1, 0, user=1, wait_time=0, run_time=0),
        a_line(2, 100, user=1, wait_time=0),
        a_line(3, 120, user=2, wait_time=0, run_time=-1),
        a_line(4, 130, user=1, wait_time=0, run_time=0),
    ]
    path.write_text("\n".join(lines))
    workload = load_workload(path)
    assert "users: begin with a later job, as their first is dropped: 1" in map(
        str, workload.reading
    )
    sessions = find_sessions(workload, threshold=60)
    assert (sessions.graph.start_time.tolist(), job_sets(sessions)) == ([0], [[2]])


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([a_line(1, wait_time=0)], "log.swf: no job has a user, expected some to have one"),
        (
            [a_line(1, user=3)],
            "log.swf: no job tells its wait and run time, expected a log of what happened, such as "
            "save_schedule writes of a run",
        ),
    ],
)
def test_a_log_without_users_or_finishes_is_refused(lines, text):
    assert refusal(find_sessions, a_trace(*lines), threshold=0) == text


def test_wrong_options_are_refused():
    log = a_log((0, 1))
    assert refusal(find_sessions, log, threshold=-5) == "threshold: got -5, expected seconds >= 0"
    assert refusal(find_sessions, log, threshold=math.nan).startswith("threshold: got nan")
    assert (
        refusal(find_sessions, log, threshold=1, cut="first")
        == "cut: got 'first', expected one of arrival, last, max"
    )


def test_an_unknown_user_is_refused():
    assert refusal(sessions_of((0, 1)).of_user, 9) == "log.swf: user 9: no such user"
    assert refusal(sessions_of((0, 1)).of_user, None) == "log.swf: user None: no such user"


def test_users_may_be_names():
    jobs = [
        Job(i, 1000.0 * i, Request(1), Delay(5), user=user, extra={"wait_time": 2})
        for i, user in enumerate(["zoe", None, "ann", "zoe"])
    ]
    sessions = find_sessions(Workload.from_jobs(jobs), threshold=10)
    assert sessions.record.users == ("ann", "zoe")
    assert sessions.graph.user.tolist() == [0, 1, 1, -1]
    assert sessions.graph.think_time.tolist() == [2993]


def test_the_arrays_cannot_be_changed():
    graph = sessions_of(*FIGURE_1).graph
    with pytest.raises(ValueError, match="read-only"):
        graph.think_time[0] = 1


# --- on a workload


def test_sessions_can_be_put_on_a_workload_with_the_same_jobs():
    sessions = sessions_of(*FIGURE_1)
    again = sessions_on(sessions, a_log(*FIGURE_1))
    assert job_sets(again) == job_sets(sessions)


def test_sessions_with_jobs_that_a_workload_has_not_are_refused():
    sessions, shorter = sessions_of(*FIGURE_1), a_log(*FIGURE_1[:4])
    assert refusal(sessions_on, sessions, shorter) == (
        "log.swf: job 5 is in a session but not in log.swf (such jobs: 2), "
        "expected the same log, read by the same rules"
    )
    assert refusal(sessions_on, sessions_of(*FIGURE_1[:4]), a_log(*FIGURE_1)) == (
        "log.swf: job 5 is in no session of log.swf (such jobs: 2), expected each in one"
    )


def test_sessions_at_other_dates_than_a_workload_are_refused():
    moved = a_log(*((submit + 1, finish + 1) for submit, finish in FIGURE_1))
    assert refusal(sessions_on, sessions_of(*FIGURE_1), moved) == (
        "log.swf: job 1: submitted at 0, expected 60 as in log.swf"
    )


# --- statistics


def test_statistics_count_paths_and_arity():
    # user 1: figure 1; user 2: one session
    stats = session_stats(sessions_of(*FIGURE_1, (330, 331, 2)))
    first, second = stats.users
    assert (first.user, first.n_jobs, first.n_sessions, first.n_dependencies) == (1, 6, 4, 3)
    assert (first.n_roots, first.longest_path, first.arity) == (2, 3, 1)
    assert first.median_think_time == 2400
    assert (second.user, second.longest_path, second.arity) == (2, 1, 0)
    assert math.isnan(second.median_think_time)
    assert (stats.n_jobs, stats.n_users, stats.n_sessions, stats.n_roots) == (7, 2, 5, 3)
    # 40, 40 and 70 minutes
    assert stats.under_an_hour == pytest.approx(2 / 3)
    assert stats.distributions["think_time"]["mean"] == 3000
    assert stats.distributions["longest_path"]["max"] == 3


def test_statistics_of_nobodys_jobs_are_a_row_of_their_own():
    stats = session_stats(sessions_of((0, 1, 5), (2, 3, -1), (4, 5, -1)))
    assert [(user.user, user.n_sessions) for user in stats.users] == [(None, 2), (5, 1)]
    assert stats.n_users == 1


def test_depths_count_the_sessions_of_the_longest_path():
    assert sessions_of(*FIGURE_1).graph.depths().tolist() == [1, 1, 2, 3]
    assert np.array_equal(sessions_of((0, 1), minutes=0).graph.depths(), [1])
