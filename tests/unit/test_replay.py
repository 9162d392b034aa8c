"""Replay with feedback: when users submit who wait for their results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from replay_runs import with_responses
from session_logs import FIGURE_1, a_log
from trace_files import a_line, a_trace, refusal
from user_replays import RecordedWaits, replayed, submissions

import noctule as nt
from noctule.replay import make_replay
from noctule.sessions import find_sessions, save_sessions
from noctule.traces.reading import AS_RECORDED

RESPONSES = [finish - submit for submit, finish in FIGURE_1]

# --- the worked example


def test_figure_1_is_replayed_as_recorded_where_nothing_changes():
    schedule = with_responses(FIGURE_1, RESPONSES)
    assert submissions(schedule) == [0, 30, 120, 190, 300, 320]
    assert (
        schedule.column("recorded_submit_time").tolist() == schedule.column("submit_time").tolist()
    )


def test_figure_1_changes_its_order_when_results_come_sooner():
    # jobs 1 and 2 end after 40 and 35 minutes, at 40 and 65: session 3 starts at 65 + 40 = 105,
    # before job 3, which stays at 120; session 4 at the later of 120 + 140 + 40 and 105 + 40 + 70
    schedule = with_responses(FIGURE_1, [40, 35, 140, 40, 100, 30])
    assert submissions(schedule) == [0, 30, 120, 105, 300, 320]


def test_figure_1_is_delayed_by_its_slowest_dependency():
    # job 3 takes 10 minutes longer, so that session 4 starts 10 minutes later: both of its jobs
    schedule = with_responses(FIGURE_1, [100, 120, 150, 40, 100, 30])
    assert submissions(schedule) == [0, 30, 120, 190, 310, 330]
    late = schedule.column("submit_time") - schedule.column("recorded_submit_time")
    assert sorted((late / 60).tolist()) == [0, 0, 0, 0, 10, 10]


# --- what counts as an end


def test_a_job_that_is_too_large_counts_as_finished_when_it_is_submitted():
    # job 1 wants 8 of 4 hosts; job 2 thought 50 minutes after its recorded end
    log = a_trace(
        a_line(1, 0, wait_time=0, run_time=600, requested_processors=8, user=1),
        a_line(2, 3600, wait_time=0, run_time=600, user=1),
    )
    schedule = replayed(log, nt.Feedback(threshold=0), "easy", hosts=4)
    assert submissions(schedule, unit=1) == [0, 3000]
    assert set(schedule.column("state").tolist()) == {"rejected", "completed"}


def test_jobs_of_nobody_are_submitted_at_their_dates():
    log = a_log((0, 10, 1), (20, 30, 1), (25, 26, -1), (40, 41, -1))
    schedule = replayed(log, nt.Feedback(threshold=0))
    assert submissions(schedule) == [0, 20, 25, 40]


def test_submissions_at_one_date_come_in_the_order_of_the_log():
    # user 1 comes back at 30, when user 2 submits job 2 for the first time
    log = a_log((0, 10, 1), (30, 50, 2), (30, 40, 1))
    schedule = replayed(log, nt.Feedback(threshold=0), hosts=4)  # one job at a time
    assert schedule.column("job_id").tolist() == [1, 2, 3]
    assert (schedule.column("start_time") / 60).tolist() == [0, 30, 50]


# --- exact reproduction


@pytest.mark.parametrize(
    "replay",
    [
        nt.Rigid(),
        nt.Feedback(threshold=0),
        nt.Feedback(threshold=3600),
        nt.Feedback(threshold=3600, cut="max"),
        nt.Feedback(threshold=1200, cut="last", think="reacting"),
        nt.Adjusted(threshold=3600),
        nt.Fluid(threshold=3600, think="kept"),
        nt.DistributionBased(threshold=3600, seed=1),
    ],
    ids=str,
)
def test_recorded_starts_lead_to_the_recorded_submissions(replay):
    log = busy_log()
    schedule = replayed(log, replay, RecordedWaits(log))
    assert submissions(schedule, unit=1) == log.submit_time.tolist()


def busy_log() -> nt.Workload:
    """Three users, and waits and run times that differ, in fractions of seconds too."""
    rng = np.random.default_rng(7)
    submit = np.cumsum(rng.choice([0.1, 7, 300, 2000, 9000], size=200))
    return a_trace(
        *(
            a_line(
                i,
                date,
                wait_time=round(float(wait), 2),
                run_time=round(float(run), 1),
                user=int(user),
            )
            for i, (date, wait, run, user) in enumerate(
                zip(
                    submit.tolist(),
                    rng.exponential(300, 200),
                    rng.exponential(900, 200),
                    rng.integers(1, 4, 200),
                    strict=True,
                ),
                start=1,
            )
        )
    )


# --- where sessions come from


def test_sessions_are_found_given_or_read_from_files(tmp_path):
    log = busy_log()
    sessions = find_sessions(log, threshold=3600)
    save_sessions(sessions, tmp_path / "users")
    dates = [
        submissions(replayed(log, replay, "easy", hosts=8), unit=1)
        for replay in (
            nt.Feedback(threshold="60min"),
            nt.Feedback(sessions=sessions),
            nt.Feedback(sessions="arrival:1h"),
            nt.Feedback(sessions=tmp_path / "users"),
            "feedback(threshold=3600, cut=arrival)",
            f'feedback(sessions="{tmp_path}/users")',
        )
    ]
    assert dates[0] != log.submit_time.tolist()
    assert all(others == dates[0] for others in dates)


def test_sessions_of_other_jobs_are_refused():
    other = a_log((0, 10), (20, 30), (40, 50))
    replay = nt.Feedback(sessions=find_sessions(other, threshold=0))
    log = a_log((0, 10), (20, 30))
    told = refusal(replayed, log, replay)
    assert "job 3 is in a session but not in log.swf" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("feedbak", "replay: got 'feedbak', expected one of rigid, feedback, adjusted"),
        ("feedback", "replay feedback: threshold: missing, expected seconds"),
        ("feedback(threshold=-1)", "replay feedback: threshold: got -1, expected a time >= 0"),
        ("feedback(threshold=soon)", "replay feedback: threshold: got 'soon', expected a time"),
        ("feedback(cut=first, threshold=1)", "replay feedback: cut: got 'first', expected one of"),
        ("feedback(treshold=1)", "replay feedback: no parameter treshold, expected some of"),
        ("feedback(threshold=0, think=hard)", "replay feedback: think: got 'hard', expected one"),
        ("feedback(threshold=0, base=1, slope=1)", "think times are kept, expected reacting ones"),
        ("feedback(threshold=0, sessions=max:1h)", "expected one or the other"),
        ("feedback(threshold=0, resubmit=-1)", "resubmit: got -1, expected a whole number >= 0"),
        ("distribution(threshold=0)", "replay distribution: seed: missing, expected seed=..."),
        ("distribution(threshold=0, seed=x)", "seed: got 'x', expected a whole number >= 0"),
        ("feedback(", "replay: got 'feedback(', expected name(parameter=value, ...)"),
    ],
)
def test_what_means_nothing_is_refused(text, told):
    assert told in refusal(make_replay, text)


def test_jobs_that_wait_for_others_by_themselves_are_refused():
    lines = [
        a_line(1, 0, wait_time=0, user=1),
        a_line(2, 60, wait_time=0, user=1, preceding_job=1, think_time=5),
    ]
    log = a_trace(*lines, rules=replace(AS_RECORDED, dependencies=True))
    told = refusal(replayed, log, nt.Feedback(threshold=0))
    assert told == ("replay: the jobs of log.swf have dependencies of their own, expected rigid")


# --- what is kept between runs


def test_a_model_plans_a_workload_once():
    model = nt.Feedback(threshold=0)
    log, other = a_log(*FIGURE_1), a_log(*FIGURE_1[:3])
    first = model.applied_to(log)
    assert model.applied_to(log) is first
    assert model.applied_to(other).users is not first.users
    assert submissions(replayed(log, model)) == submissions(replayed(log, nt.Feedback(threshold=0)))


def test_session_files_are_read_in_every_run(tmp_path):
    # on one host jobs wait for each other; jobs of one session keep their distances all the same
    log, folder = a_log(*FIGURE_1), tmp_path / "users"
    model = nt.Feedback(sessions=folder)
    save_sessions(find_sessions(log, threshold=0), folder)
    assert submissions(replayed(log, model, hosts=1)) != [0, 30, 120, 190, 300, 320]
    save_sessions(find_sessions(log, threshold=1e9), folder, force=True)
    assert submissions(replayed(log, model, hosts=1)) == [0, 30, 120, 190, 300, 320]
