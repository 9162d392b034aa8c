"""Replay models beside feedback on sessions: batches, hours of work, users who react and leave."""

from __future__ import annotations

import math

import numpy as np
import pytest
from replay_runs import with_responses
from session_logs import a_log
from trace_files import refusal
from user_replays import by_id, replayed, submissions

import noctule as nt
from noctule.messages import JobSubmitted, KillJob, StartJob
from noctule.resampling import WEEK, draw_population
from noctule.sessions import find_sessions

HOUR, DAY = 3600.0, 86_400.0

# --- batches: of one session (60 minutes), jobs 1 and 2 overlap, job 3 came 10 minutes after both

SESSION = ((0, 30), (10, 40), (50, 60))


def test_adjusted_replay_waits_inside_a_session():
    # job 2 takes 20 minutes longer, so that job 3 comes at 60 + 10; a session has fixed distances
    assert submissions(with_responses(SESSION, [30, 50, 10], model=nt.Adjusted)) == [0, 10, 70]
    assert submissions(with_responses(SESSION, [30, 50, 10], model=nt.Feedback)) == [0, 10, 50]


def test_jobs_of_a_batch_follow_at_recorded_distances():
    # the second session is one batch, at 200 and 210; the first session ends 5 minutes earlier
    jobs = ((0, 30), (200, 230), (210, 220))
    assert submissions(with_responses(jobs, [25, 30, 10], model=nt.Adjusted)) == [0, 195, 205]


# --- fluid: the user was there from 0 to 50, at 200 and from 300 to 320

DAYS = ((0, 30), (50, 60), (200, 210), (300, 315), (320, 330))


def test_fluid_replay_moves_batches_into_recorded_sessions():
    # job 1 takes 160 minutes: job 2, which came 20 after it, is due at 180 and waits until 200;
    # job 3 came 140 after job 2 had ended: due at 200 + 10 + 140 = 350, after the last session
    moved = with_responses(DAYS, [160, 10, 10, 15, 10], model=nt.Fluid, think="kept")
    assert submissions(moved)[:3] == [0, 200, 350]


def test_fluid_replay_without_think_times_is_as_fast_as_the_results():
    # job 2 comes when job 1 has ended, at 30; job 3 is due at 40, when the user is still there;
    # job 4 at 50, the last minute of that; job 5 at 65, when job 4 has ended: she is back at 200
    assert submissions(with_responses(DAYS, [30, 10, 10, 15, 10], model=nt.Fluid)) == [
        *(0, 30, 40, 50, 200)
    ]


def test_feedback_without_think_times_follows_the_ends():
    moved = with_responses(DAYS, [30, 10, 10, 15, 10], think="dropped")
    # sessions {1, 2}, {3}, {4, 5}: ends at 60, 70
    assert submissions(moved) == [0, 50, 60, 70, 90]


# --- think times that react


def test_think_times_stretch_with_the_response():
    # job 2 came 60 minutes after job 1, which took 20; now it takes 50:
    # 60 × (10 + 50) / (10 + 20) = 120 minutes after its end
    jobs = ((0, 20), (80, 90))
    moved = with_responses(jobs, [50, 10], think="reacting", base=600, slope=1)
    assert submissions(moved) == [0, 50 + 120]
    # and at most ten times: the line has 1010 / 20 of the recorded
    moved = with_responses(jobs, [1000, 10], think="reacting", base=0, slope=1)
    assert submissions(moved) == [0, 1000 + 600]
    # a falling line gives none
    moved = with_responses(jobs, [50, 10], think="reacting", base=1800, slope=-1)
    assert submissions(moved) == [0, 50]


def test_the_line_is_fitted_to_the_log_unless_it_is_given():
    # think times are 2 × response + 10 minutes
    jobs = ((0, 5), (25, 35), (65, 85), (135, 140))
    moved = with_responses(jobs, [10, 10, 20, 5], model=nt.Adjusted, think="reacting")
    assert submissions(moved)[1] == pytest.approx(10 + 20 * (2 * 10 + 10) / (2 * 5 + 10))


# --- hours of the week


def a_worker() -> nt.Workload:
    """Thirty weeks of a user who submits on Mondays at 9:00 and at 15:00, and takes 30 minutes."""
    days = [week * 7 * 1440 for week in range(30)]
    dates = sorted(day + minute for day in days for minute in (9 * 60, 15 * 60))
    return a_log(*((date, date + 30) for date in dates))


def test_a_batch_waits_for_the_next_hour_of_work():
    # the first job takes 8 hours instead of 30 minutes: the second is due at 22:30, when the user
    # is not there, and comes in her next hour, a week later at 9
    log = a_worker()
    times = log.submit_time
    slow = a_log(
        *((t / 60, t / 60 + (480 if i == 0 else 30)) for i, t in enumerate(times.tolist()))
    )
    sessions = find_sessions(log, threshold=HOUR)
    model = nt.DistributionBased(sessions=sessions, seed=3)
    dates = submissions(replayed(slow, model), unit=1)
    assert WEEK + 9 * HOUR <= dates[1] < WEEK + 10 * HOUR
    assert dates[1] == int(dates[1])
    # another seed, another second; the same seed, the same bytes
    assert submissions(replayed(slow, model), unit=1) == dates
    other = nt.DistributionBased(sessions=sessions, seed=4)
    assert submissions(replayed(slow, other), unit=1) != dates


def test_what_is_due_in_another_hour_of_work_is_submitted_at_once():
    # the first job takes 10 minutes: the second comes at 14:40, no hour of hers, and moves to 15;
    # 80 minutes more: it is due at 16:50 and moves to the next Monday
    log = a_worker()
    for response, hour in ((10, 15 * HOUR), (110, WEEK + 9 * HOUR)):
        times = log.submit_time
        other = a_log(
            *((t / 60, t / 60 + (response if i == 0 else 30)) for i, t in enumerate(times.tolist()))
        )
        model = nt.DistributionBased(sessions=find_sessions(log, threshold=HOUR), seed=1)
        date = submissions(replayed(other, model), unit=1)[1]
        assert hour <= date < hour + HOUR


def test_users_of_few_jobs_work_in_the_hours_of_the_log():
    # user 2 has one job a day on three days; user 1 makes Monday 9 and 15 the hours of the log
    dates = (a_worker().submit_time / 60).tolist()
    few = [(21_000, 21_010, 2), (22_440, 22_450, 2)]
    recorded = a_log(*((t, t + 30, 1) for t in dates), *few)
    late = a_log(*((t, t + 30, 1) for t in dates), (21_000, 21_300, 2), few[1])
    model = nt.DistributionBased(sessions=find_sessions(recorded, threshold=0), seed=1)
    schedule = replayed(late, model)
    moved = by_id(schedule, "submit_time")[
        max(by_id(schedule, "submit_time"))
    ]  # due at 22 730 minutes, a Monday of week 2 at 18:50
    assert moved > 22_730 * 60


# --- killed jobs


class Killer:
    """Starts what it can, and kills every job at once, but for the attempts that are spared."""

    def __init__(self, spared: int) -> None:
        self._spared = spared

    def decide(self, view, events):
        for event in events:
            if isinstance(event, JobSubmitted):
                yield StartJob(event.job)
                _, _, number = str(event.job.id).partition("#")
                if int(number or 1) < self._spared:
                    yield KillJob(event.job)


@pytest.mark.parametrize("replay", [nt.Rigid(resubmit=3), nt.Feedback(threshold=0, resubmit=3)])
def test_a_killed_job_is_submitted_again_at_most_so_often(replay):
    schedule = replayed(a_log((0, 10)), replay, Killer(spared=9))
    assert schedule.column("job_id").tolist() == ["1", "1#2", "1#3", "1#4"]
    assert set(schedule.column("state").tolist()) == {"killed"}


def test_users_wait_for_the_last_attempt():
    # the third attempt of job 1 runs from 0 to 10; job 2 came 10 minutes after it
    schedule = replayed(
        a_log((0, 10), (20, 25)), nt.Feedback(threshold=0, resubmit=3), Killer(spared=3)
    )
    dates = by_id(schedule, "submit_time")
    assert dates["2"] == 20 * 60
    assert by_id(schedule, "finish_time")["1#3"] == 600
    recorded = by_id(schedule, "recorded_submit_time")
    assert recorded["2"] == 1200
    assert math.isnan(recorded["1#3"])


def test_a_killed_job_counts_as_finished_by_default():
    schedule = replayed(a_log((0, 10), (20, 25)), nt.Feedback(threshold=0), Killer(spared=9))
    assert submissions(schedule) == [0, 10]  # killed at 0; ten minutes of thought


# --- users who arrive and leave


def a_month() -> nt.Workload:
    """Two users for four weeks from the first on, and two who come later for one week."""
    jobs = [
        (week * 10_080 + day * 1440 + minute, week * 10_080 + day * 1440 + minute + 20, user)
        for user, weeks in ((1, range(4)), (2, range(4)), (3, (1,)), (4, (3,)))
        for week in weeks
        for day in range(5)
        for minute in (540 + user, 600 + user)
    ]
    return a_log(*sorted(jobs))


def resampling(**changes: float) -> nt.Resampling:
    return nt.Resampling(
        **{"threshold": HOUR, "seed": 1, "weeks": 8, "patience": 1e9, "steepness": 1.0} | changes
    )


def test_users_are_drawn_with_their_weeks():
    log = a_month()
    drawn = draw_population(log, find_sessions(log, threshold=0), weeks=8, seed=1)
    jobs = drawn.workload
    users = jobs.labels("user")
    assert len(jobs) > len(log)
    # everything comes at the time of day and week at which it was recorded
    origin = [int(str(job_id).partition("~")[0]) for job_id in jobs.job_ids.tolist()]
    recorded = log.submit_time[np.array(origin) - 1]
    assert ((jobs.submit_time - recorded) % WEEK == 0).all()
    assert jobs.submit_time.max() < 8 * WEEK
    assert len(set(jobs.job_ids.tolist())) == len(jobs)
    # two users are there in the first week; who takes after whom is in their names
    first = {user for user, date in zip(users, jobs.submit_time, strict=True) if date < WEEK}
    assert len(first) <= 2
    assert {str(user).partition("~")[0] for user in users} <= {"1", "2", "3", "4"}


def test_new_users_arrive_at_the_rate_of_the_log():
    # two in the three weeks behind the first: 2/3 a week; 150 weeks have 100 of them, ± 3 × 10
    log = a_month()
    sessions = find_sessions(log, threshold=0)
    drawn = draw_population(log, sessions, weeks=150, seed=5)
    assert 70 <= int(drawn.graph.user.max()) - 1 <= 130


def test_nobody_leaves_who_is_patient_enough():
    log = a_month()
    drawn = draw_population(log, find_sessions(log, threshold=HOUR), weeks=8, seed=1)
    schedule = replayed(log, resampling())
    assert len(schedule) == len(drawn.workload)
    assert by_id(schedule, "submit_time") == dict(
        zip(drawn.workload.job_ids.tolist(), drawn.workload.submit_time.tolist(), strict=True)
    )


def test_users_leave_after_their_first_week_when_they_have_no_patience():
    # every slowdown is at least 1: 1 / (1 + exp(-1000)) is 1
    schedule = replayed(a_month(), resampling(patience=0, steepness=1000))
    weeks = {}
    for user, date in zip(schedule.column("user"), schedule.column("submit_time"), strict=True):
        weeks.setdefault(user, set()).add(date // WEEK)
    assert all(len(of_user) == 1 for of_user in weeks.values())
    assert 0 < len(schedule) < len(replayed(a_month(), resampling()))


def test_users_leave_sooner_where_jobs_wait_longer():
    patient = resampling(patience=3, steepness=2, weeks=20)
    many = replayed(a_month(), patient, hosts=100)
    few = replayed(a_month(), patient, hosts=4)
    assert np.nanmax(few.column("waiting_time")) > 0
    assert len(few) < len(many)


def test_the_next_week_waits_for_the_last_one():
    # one user; a session a week, of which the first takes more than a week and a half
    log = a_log((0, 20), (10_080, 10_100))
    slow = a_log((0, 16_000), (10_080, 10_100))
    model = nt.Resampling(
        sessions=find_sessions(log, threshold=0), seed=2, weeks=3, patience=1e9, steepness=1
    )
    schedule = replayed(slow, model)
    ends = schedule.column("finish_time")
    assert len(schedule) == 3
    starts = schedule.column("submit_time")
    assert (np.diff(starts) >= 0).all()
    assert (starts[1:] >= ends[:-1]).all()


def test_the_same_seed_gives_the_same_run():
    once, again = (replayed(a_month(), resampling(patience=2), hosts=4) for _ in range(2))
    for name in ("job_id", "submit_time", "start_time", "finish_time"):
        assert once.column(name).tolist() == again.column(name).tolist()
    other = replayed(a_month(), resampling(patience=2, seed=2), hosts=4)
    assert other.column("submit_time").tolist() != once.column("submit_time").tolist()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"weeks": 0}, "weeks: got 0, expected a whole number >= 1"),
        ({"patience": -1}, "patience: got -1, expected a number >= 0"),
        ({"steepness": math.nan}, "steepness: got nan, expected a number >= 0"),
        ({"seed": -1}, "seed: got -1, expected a whole number >= 0"),
    ],
)
def test_populations_that_mean_nothing_are_refused(changes, told):
    assert refusal(resampling, **changes) == told


def test_all_parameters_of_a_population_are_mandatory():
    assert refusal(
        nt.simulate,
        nt.Platform.homogeneous(1),
        a_month(),
        "fcfs",
        replay="resampling(seed=1, threshold=0)",
    ) == ("replay resampling: weeks: missing, expected weeks=...")
