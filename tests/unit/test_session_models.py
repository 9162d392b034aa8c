"""What user models need besides sessions: hours of activity, and a line of think times."""

from __future__ import annotations

import json

import numpy as np
import pytest
from session_logs import FIGURE_1, a_log, sessions_of
from trace_files import refusal

from noctule.sessions import (
    LocalClock,
    Record,
    ThinkTimeModel,
    fit_think_times,
    load_sessions,
    weekly_activity,
)

HOUR, DAY = 3600.0, 86_400.0
STOCKHOLM = {"UnixStartTime": "843480031", "TimeZoneString": "Europe/Stockholm"}


# --- local time


def test_the_hour_of_the_week_is_that_of_the_place():
    # 23 September 1996, a Monday, 14:00:31 in Stockholm
    clock = LocalClock.of(STOCKHOLM, until=10 * DAY)
    times = np.array([0.0, 3568.0, 3569.0, 10 * HOUR, 6 * DAY + 10 * HOUR])
    assert clock.hours_of_week(times).tolist() == [14, 14, 15, 24, 0]


def test_clocks_are_changed_on_the_hour():
    # summer time ended on Sunday 27 October 1996 at 3:00, which became 2:00: 1:00 UTC
    clock = LocalClock.of(STOCKHOLM, until=300 * DAY)
    change = 846_378_000 - 843_480_031
    assert clock.change[1] == change
    assert clock.hours_of_week(np.array([change - 1.0, change, change + HOUR])).tolist() == [
        6 * 24 + 2,
        6 * 24 + 2,
        6 * 24 + 3,
    ]
    # and it began again on 30 March 1997
    assert (len(clock.change), clock.zone) == (3, "Europe/Stockholm")


def test_without_a_date_the_week_begins_at_time_0():
    clock = LocalClock.of({}, until=0)
    times = np.array([0.0, 25 * HOUR, 7 * DAY])
    assert clock.hours_of_week(times).tolist() == [0, 25, 0]
    assert clock.zone is None


def test_a_log_that_goes_on_for_ever_has_a_clock():
    clock = LocalClock.of(STOCKHOLM, until=1e15)
    assert 0 <= clock.hours_of_week(np.array([1e15]))[0] < 168


# --- activity


def test_users_of_few_jobs_have_the_activity_of_the_log():
    # user 1: two jobs in hour 0 and one in hour 1; user 2: one in hour 26; nobody: one in hour 1
    jobs = ((0, 1, 1), (5, 6, 1), (60, 61, 1), (65, 66, -1), (26 * 60, 26 * 60 + 1, 2))
    activity = weekly_activity(Record.of(a_log(*jobs)), least=3)
    assert activity.row.tolist() == [0, 2]
    assert np.flatnonzero(activity.of_user(0)).tolist() == [0, 1]
    assert activity.of_user(0)[:2].tolist() == [2, 1]
    log = activity.of_user(1)
    assert {hour: int(log[hour]) for hour in np.flatnonzero(log)} == {0: 2, 1: 2, 26: 1}
    assert activity.of_user(-1) is not None
    assert activity.of_user(-1).tolist() == log.tolist()


def test_thirty_jobs_are_enough():
    jobs = [(float(i), i + 1.0, 1) for i in range(30)] + [(float(i), i + 1.0, 2) for i in range(29)]
    assert weekly_activity(Record.of(a_log(*jobs))).row.tolist() == [0, 2]


# --- think times


def test_a_line_is_fitted_to_think_times():
    # response 10, 20 and 40 minutes, then thoughts of 5 + response / 10
    jobs = ((0, 10), (16, 36), (43, 83), (92, 93))
    model = fit_think_times(sessions_of(*jobs, minutes=0).graph)
    assert model.base == pytest.approx(300)
    assert model.slope == pytest.approx(0.1)
    assert (model.n_pauses, model.determination) == (3, pytest.approx(1))


def test_long_pauses_are_no_thoughts():
    jobs = ((0, 10), (16, 36), (43, 83), (92, 93), (5000, 5001))
    model = fit_think_times(sessions_of(*jobs, minutes=0).graph)
    assert (model.n_pauses, model.base) == (3, pytest.approx(300))


def test_think_times_change_as_the_line_does():
    # 100 + 2 x response: recorded response 50 gives 200, 150 gives 400, 0 gives 100
    model = ThinkTimeModel(base=100, slope=2, n_pauses=9, determination=1)
    recorded, response = np.array([30.0, 30.0, 30.0]), np.array([50.0, 150.0, 0.0])
    assert model.think_times(recorded, np.full(3, 50.0), response).tolist() == [30, 60, 15]


def test_think_times_stay_between_0_and_ten_times_the_recorded():
    steep = ThinkTimeModel(base=1, slope=1, n_pauses=9, determination=1)
    falling = ThinkTimeModel(base=10, slope=-1, n_pauses=9, determination=1)
    one, zero = np.array([7.0]), np.array([0.0])
    assert steep.think_times(one, zero, np.array([1e6])).tolist() == [70]
    assert falling.think_times(one, zero, np.array([1e6])).tolist() == [0]
    # the line has no positive think time for the recorded response: nothing can be said
    assert falling.think_times(one, np.array([50.0]), zero).tolist() == [7]


def test_pauses_after_ends_that_are_not_known_tell_nothing(tmp_path):
    session = {"preceding_sessions": [], "thinking_time_after_preceding_session": []}
    after = {"preceding_sessions": [1], "thinking_time_after_preceding_session": [60]}
    first = {"id": 1, "first_submit_time": 0, "jobs": [{"id": 1, "subtime": 0}], **session}
    second = {"id": 2, "first_submit_time": 90, "jobs": [{"id": 2, "subtime": 0}], **after}
    path = tmp_path / "3.json"
    path.write_text(json.dumps({"sessions": [first, second]}))
    assert refusal(fit_think_times, load_sessions(path).graph).startswith("think times: got 0")


def test_too_few_pauses_are_refused():
    assert refusal(fit_think_times, sessions_of((0, 1)).graph) == (
        "think times: got 0 pauses of at most 28800 s, expected some after different response times"
    )
    assert refusal(fit_think_times, sessions_of(*FIGURE_1).graph, longest=-1) == (
        "longest: got -1, expected seconds >= 0"
    )
