"""What random runs emit and cost at random rates."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from switched_runs import ASLEEP, FULL, N_HOSTS, WATTS, jobs, simulated

from noctule.footprint import Footprint
from noctule.rates import Rate, Rates

# draws of jobs never change: hosts do not slow down under them
wishes = st.lists(
    st.tuples(st.integers(0, N_HOSTS - 1), st.sampled_from([FULL, ASLEEP])), max_size=20
)
values = st.floats(-50, 800).map(lambda value: round(value, 3))


@st.composite
def repeated(draw) -> Rate:
    """Draw a rate that repeats, so that it covers any run."""
    lengths = draw(st.lists(st.floats(0.1, 90), min_size=1, max_size=6))
    first = draw(st.floats(-200, 200))
    times = [first + math.fsum(lengths[:i]) for i in range(len(lengths))]
    period = math.fsum(lengths)
    return Rate(tuple(times), tuple(draw(values) for _ in lengths), period)


def naive_area(rate: Rate, first: float, last: float) -> float:
    """Walk through all laps and steps between two dates."""
    lap = math.floor((first - rate.time[0]) / rate.period) - 1
    parts = []
    while rate.time[0] + lap * rate.period < last:
        edges = [*rate.time, rate.time[0] + rate.period]
        for value, (begin, end) in zip(rate.value, pairwise(edges), strict=True):
            begins, ends = (edge + lap * rate.period for edge in (begin, end))
            parts.append(value * max(0.0, min(ends, last) - max(begins, first)))
        lap += 1
    return math.fsum(parts)


def about(value: float, scale: float = 1.0):
    return pytest.approx(value, rel=1e-9, abs=1e-9 * max(scale, 1.0))


@given(repeated(), st.floats(-1000, 1000), st.floats(0, 1000))
def test_areas_are_those_that_a_walk_finds(rate, first, length):
    last = first + length
    assert rate.areas([first], [last])[0] == about(naive_area(rate, first, last), 800 * length)


@given(repeated(), st.floats(0, 500), st.floats(0, 500), st.floats(0, 500))
def test_areas_side_by_side_sum(rate, one, other, third):
    first, middle, last = sorted((one, other, third))
    parts = rate.areas([first, middle], [middle, last])
    assert parts.sum() == about(rate.areas([first], [last])[0], 800 * 500)


def idle_hosts(schedule, rate: Rate) -> float:
    """Return the joules times the rate of hosts that no job held, from the tables."""
    parts = []
    states = schedule.power_states
    for host in range(N_HOSTS):
        mine = states[[host in hosts for hosts in states["hosts"]]]
        stays = [
            (run.start_time, run.finish_time)
            for run in schedule.jobs.itertuples()
            if host in run.hosts
        ]
        for state, (begin, end) in zip(
            mine["state"], pairwise([*mine["time"], schedule.end]), strict=True
        ):
            watts = WATTS[state][0]
            parts.append(watts * naive_area(rate, begin, end))
            for start, finish in stays:
                if max(begin, start) < min(end, finish):
                    held = naive_area(rate, max(begin, start), min(end, finish))
                    parts.append(-watts * held)
    return math.fsum(parts)


@given(jobs, wishes, repeated())
def test_the_jobs_and_the_hosts_that_nobody_held_sum_to_the_run(rows, some, rate):
    schedule = simulated(rows, some, "exact")
    found = Footprint(schedule, Rates(price=rate))
    scale = schedule.energy.joules() * 800
    nobody = idle_hosts(schedule, rate)
    assert found.nobody["cost_eur"] * 3.6e6 == about(nobody, scale)
    of_jobs = math.fsum(found.of_jobs["cost_eur"].tolist())
    assert (of_jobs * 3.6e6 + nobody) == about(found.run["cost_eur"] * 3.6e6, scale)
    users = math.fsum(user["cost_eur"] for user in found.by_user.values())
    assert users == about(of_jobs)


@given(jobs, wishes, repeated(), st.floats(0.001, 1000))
def test_scaling_the_series_scales_the_result(rows, some, rate, factor):
    schedule = simulated(rows, some, "exact")
    scaled = Rate(rate.time, tuple(value * factor for value in rate.value), rate.period)
    one, other = (Footprint(schedule, Rates(price=series)) for series in (rate, scaled))
    scale = schedule.energy.joules() * 800 / 3.6e6 * factor
    assert other.run["cost_eur"] == about(one.run["cost_eur"] * factor, scale)
    for mine, theirs in zip(one.of_jobs["cost_eur"], other.of_jobs["cost_eur"], strict=True):
        assert theirs == about(mine * factor, scale)


@given(jobs, wishes, repeated(), st.data())
def test_splitting_a_step_changes_nothing(rows, some, rate, data):
    step = data.draw(st.integers(0, len(rate.time) - 1))
    edges = [*rate.time, rate.time[0] + rate.period]
    cut = edges[step] + data.draw(st.floats(0.01, 0.99)) * (edges[step + 1] - edges[step])
    split = Rate(
        (*rate.time[: step + 1], cut, *rate.time[step + 1 :]),
        (*rate.value[: step + 1], *rate.value[step:]),
        rate.period,
    )
    schedule = simulated(rows, some, "exact")
    one, other = (Footprint(schedule, Rates(price=series)) for series in (rate, split))
    scale = schedule.energy.joules() * 800 / 3.6e6
    assert other.run["cost_eur"] == about(one.run["cost_eur"], scale)
    for mine, theirs in zip(one.of_jobs["cost_eur"], other.of_jobs["cost_eur"], strict=True):
        assert theirs == about(mine, scale)
