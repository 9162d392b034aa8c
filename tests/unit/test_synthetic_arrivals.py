"""Cycles and bursts: hand-computed dates, and rates that stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.synthetic import Arrivals, Bursts, Cycle, cycle_named
from noctule.synthetic.draws import generator


def test_a_cycle_bends_time_by_its_weights():
    # Two slots of 10 s, of weights 1.5 and 0.5: the first takes 15 s of steady time, the second 5.
    cycle = Cycle((3.0, 1.0), period=20.0)
    steady = np.array([0.0, 7.5, 15.0, 17.5, 20.0, 35.0])
    assert cycle.bent(steady).tolist() == [0.0, 5.0, 10.0, 15.0, 20.0, 30.0]


def test_nothing_comes_in_a_slot_of_no_weight():
    cycle = Cycle((1.0, 0.0, 1.0), period=30.0)
    bent = cycle.bent(np.linspace(0, 300, 1000, endpoint=False))
    assert not ((bent % 30 >= 10) & (bent % 30 < 20)).any()
    # the first and the last slot may be empty, too
    assert Cycle((0.0, 1.0), period=20.0).bent(np.array([0.0])).tolist() == [10.0]
    assert Cycle((1.0, 0.0), period=20.0).bent(np.array([19.0, 20.0])).tolist() == [9.5, 20.0]


@given(
    weights=st.lists(st.floats(0, 10), min_size=1, max_size=10).filter(lambda w: sum(w) > 0.1),
    n_periods=st.integers(1, 5),
)
def test_a_cycle_keeps_order_and_whole_periods(weights, n_periods):
    cycle = Cycle(tuple(weights), period=100.0)
    steady = np.linspace(0, 100.0 * n_periods, 200, endpoint=False)
    bent = cycle.bent(steady)
    assert (np.diff(bent) >= -1e-6).all()
    assert (np.floor(bent / 100 + 1e-9) >= np.floor(steady / 100 - 1e-9)).all()
    assert bent.max() <= 100.0 * n_periods + 1e-6


def test_the_named_cycles_peak_in_the_afternoon_of_working_days():
    daily = cycle_named("daily")
    assert (len(daily.weights), daily.period) == (24, 86_400)
    assert int(np.argmax(daily.weights)) == 14
    assert np.mean(daily.weights) == pytest.approx(1, abs=0.01)
    weekly = cycle_named("weekly")
    assert (len(weekly.weights), weekly.period) == (168, 604_800)
    by_day = np.array(weekly.weights).reshape(7, 24).mean(axis=1)
    assert by_day[5:].max() < by_day[:5].min()


class Fixed(Bursts):
    """Bursts of known sizes."""

    def _sizes(self, n, rng):
        return np.array([1, 3, 2, 1, 1, 1])[:n]


def test_a_burst_follows_its_first_job():
    date = np.array([10.0, 20, 30, 40, 50, 60])
    # runs of 1, 3 and 2 jobs: 10 | 20 30 40 | 50 60
    assert Fixed(2.0, 0.0).gathered(date, generator(1)).tolist() == [10, 20, 20, 20, 50, 50]
    later = Fixed(2.0, 1e-3).gathered(date, generator(1))
    assert later[[0, 1, 4]].tolist() == [10, 20, 50]
    assert 20 < later[2] < later[3] < 20.1
    assert 50 < later[5] < 50.1


def test_jobs_of_a_burst_are_their_spacing_apart_on_average():
    gathered = Bursts(1e9, 5.0).gathered(np.zeros(40_000), generator(1))
    gaps = np.diff(gathered)
    assert gaps.mean() == pytest.approx(5, rel=0.02)
    assert gaps.std() == pytest.approx(5, rel=0.03)


def test_bursts_have_their_size_on_average_and_keep_the_rate():
    date = np.arange(100_000) * 60.0
    gathered = Bursts(8.0, 0.0).gathered(date, generator(1))
    # the jobs of a run come at one instant: 100 000 / 8 of them
    n_runs = len(np.unique(gathered))
    assert n_runs == pytest.approx(100_000 / 8, rel=0.03)
    assert gathered[-1] == pytest.approx(date[-1], rel=0.001)
    sizes = Bursts(8.0)._sizes(50_000, generator(2))
    assert sizes.min() == 1
    # the variance of a geometric variable of mean m is m (m - 1)
    assert sizes.var() == pytest.approx(56, rel=0.05)


def test_bursts_of_one_job_change_nothing():
    date = np.array([1.0, 5.0, 9.0])
    assert Bursts(1.0).gathered(date, generator(1)).tolist() == date.tolist()


def test_a_cycle_comes_before_bursts():
    # the spacing within a burst is that asked for, whatever the hour
    arrivals = Arrivals(Cycle((1.0, 9.0), 2000.0), Bursts(50.0, 3.0))
    date = arrivals.applied(np.arange(50_000) * 10.0, generator(1))
    within = np.diff(date)[(date[:-1] % 2000 < 1000)]
    assert np.median(within) == pytest.approx(3 * np.log(2), rel=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cycle((0.0,)), "arrivals: weights: got none above zero, expected at least one"),
        (lambda: Cycle((1.0, -1.0)), "arrivals: weight: got -1, expected a number >= 0"),
        (lambda: Cycle((1.0,), 0.0), "arrivals: period: got 0, expected a positive number"),
        (lambda: Bursts(0.5), "arrivals: burst size: got 0.5, expected at least 1"),
        (lambda: Bursts(2, -1), "arrivals: burst spacing: got -1, expected a number >= 0"),
        (
            lambda: cycle_named("yearly"),
            "arrivals: cycle: got 'yearly', expected one of daily, weekly",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == message
