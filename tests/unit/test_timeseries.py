"""Queue, running jobs and utilisation over time: hand-computed steps, exact areas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from built_schedules import Row, a_schedule, rejected
from hypothesis import given
from hypothesis import strategies as st
from power_runs import night_and_day

from noctule import metrics, timeseries
from noctule.errors import InputError
from noctule.record import JobState
from noctule.timeseries import Steps, steps_of


@pytest.fixture
def schedule():
    """Four hosts.

    A: submitted 0, ran [0, 10] on 2      B: submitted 5, ran [10, 20] on 4
    C: submitted 5, ran [20, 30] on 1     R: rejected    X: cancelled
    N: submitted 12, runs from 20 on 2    W: submitted 25, waits for 3 hosts
    """
    return a_schedule(
        [
            Row("A", 0.0, 0.0, 10.0, "0-1"),
            rejected("R", 3.0, n_hosts=9),
            Row("X", 4.0, state=JobState.CANCELLED, asked=1),
            Row("B", 5.0, 10.0, 20.0, "0-3"),
            Row("C", 5.0, 20.0, 30.0, "0"),
            Row("N", 12.0, 20.0, math.nan, "1-2", JobState.RUNNING),
            Row("W", 25.0, state=JobState.WAITING, asked=3),
        ]
    )


def steps(series):
    return list(zip(series.time.tolist(), series.value.tolist(), strict=True))


def test_the_queue_counts_jobs_that_are_submitted_and_not_started(schedule):
    # A starts at once: no step at 0; at 20, C and N start together
    assert steps(timeseries.queue_length(schedule)) == [(5, 2), (10, 1), (12, 2), (20, 0), (25, 1)]


def test_the_queue_can_be_counted_in_hosts(schedule):
    # B asks for 4, C for 1, N for 2, W for 3
    queue = timeseries.queue_length(schedule, unit="hosts")
    assert steps(queue) == [(5, 5), (10, 1), (12, 3), (20, 0), (25, 3)]


def test_running_jobs_and_busy_hosts(schedule):
    # at 10, A ends and B starts: as many jobs, other hosts
    assert steps(timeseries.running_jobs(schedule)) == [(0, 1), (20, 2), (30, 1)]
    assert steps(timeseries.busy_hosts(schedule)) == [(0, 2), (10, 4), (20, 3), (30, 2)]
    assert steps(timeseries.utilisation(schedule)) == [(0, 0.5), (10, 1), (20, 0.75), (30, 0.5)]


def test_hosts_that_are_shared_count_no_more_than_there_are():
    schedule = a_schedule([Row("A", 0.0, 0.0, 9.0, "0-3"), Row("B", 0.0, 3.0, 6.0, "0-3")])
    assert timeseries.busy_hosts(schedule).at([1, 4, 7]).tolist() == [4, 4, 4]


def test_the_value_at_a_change_is_the_one_after_it():
    series = Steps(np.array([1.0, 2.0]), np.array([5.0, 7.0]))
    assert series.at([0.0, 1.0, 1.5, 2.0, 99.0]).tolist() == [0, 5, 5, 7, 7]


def test_areas_means_and_maxima():
    series = Steps(np.array([1.0, 2.0, 4.0]), np.array([5.0, 7.0, 0.0]))
    # 5 x 1 + 7 x 2
    assert series.integral(0.0, 10.0) == 19
    assert series.integral(1.5, 3.0) == 2.5 + 7
    assert series.mean(0.0, 10.0) == 1.9
    assert math.isnan(series.mean(3.0, 3.0))
    assert series.integrals([0, 1.5, 3, 10]).tolist() == [2.5, 9.5, 7]
    assert series.means([0, 2, 4]).tolist() == [2.5, 7]
    assert series.maxima([0, 1, 1.5, 3, 5, 6]).tolist() == [0, 5, 7, 7, 0]
    assert steps(series / 2) == [(1, 2.5), (2, 3.5), (4, 0)]


def test_the_mean_over_time_is_the_metric(schedule):
    start, end = timeseries.span_of(schedule)
    assert (start, end) == (0, 30)
    mean = timeseries.utilisation(schedule).mean(start, end)
    assert mean == pytest.approx(metrics.utilisation(schedule), rel=1e-15)


def test_power_is_counted_up_to_the_end():
    schedule = night_and_day()
    power = timeseries.power(schedule)
    assert power.at([0, 7, 60, 79, 80]).tolist() == [250, 210, 400, 400, 0]
    assert power.integral(0, 1e9) == schedule.energy.joules()


def test_a_schedule_in_which_nothing_ended_has_a_span_too():
    running = a_schedule([Row("N", 5.0, 7.0, math.nan, "0", JobState.RUNNING)])
    assert timeseries.span_of(running) == (5, 7)
    assert timeseries.span_of(a_schedule([])) == (0, 0)
    assert len(timeseries.queue_length(a_schedule([]))) == 0


def test_an_unknown_unit_is_refused(schedule):
    with pytest.raises(InputError) as error:
        timeseries.queue_length(schedule, unit="cores")
    assert str(error.value) == "queue_length: unit: got 'cores', expected 'jobs' or 'hosts'"


times = st.integers(0, 30).map(float)


@given(st.lists(st.tuples(times, times, st.integers(1, 5)), max_size=12), times)
def test_steps_count_the_intervals_that_hold(intervals, date):
    begin = np.array([min(a, b) for a, b, _ in intervals])
    end = np.array([max(a, b) for a, b, _ in intervals])
    weight = np.array([w for *_, w in intervals])
    series = steps_of(begin, end, weight)
    naive = sum(w for b, e, w in zip(begin, end, weight, strict=True) if b <= date < e)
    assert series.at(date) == naive
    assert (np.diff(series.time) > 0).all()
    assert series.integral(0.0, 30.0) == sum((end - begin) * weight)
    edges = np.linspace(0, 30, 8)
    assert math.fsum(series.integrals(edges)) == pytest.approx(series.integral(0.0, 30.0))
