"""Means by level, and their intervals with and without the spread between workloads."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from results_tables import a_table, noisy

from noctule.comparison import Estimate, summarise
from noctule.comparison.intervals import mean_estimate, reach_of, relative_estimate
from noctule.comparison.normalisation import normalised
from noctule.comparison.resampling import bootstrap_means
from noctule.comparison.units import Units

WAIT = "mean_waiting_time"


def test_a_level_has_its_mean_and_its_ends():
    table = a_table({"fcfs": [4, 8, 6], "easy": [1, 5, 3]})
    easy, fcfs = summarise(table, "policy", WAIT).levels
    assert (easy.level, easy.n, easy.mean.value) == ("easy", 3, 3.0)
    assert (easy.minimum, easy.maximum) == (1.0, 5.0)
    assert (fcfs.level, fcfs.mean.value, fcfs.unit, fcfs.n_units) == ("fcfs", 6.0, "seed", 3)


def test_few_units_have_the_interval_of_student():
    # mean 3, standard error 2 / sqrt(3), quantile 4.302653 of two degrees of freedom
    easy = summarise(a_table({"easy": [1, 5, 3]}), "policy", WAIT).levels[0]
    half = 4.302652730 * 2 / math.sqrt(3)
    assert (easy.mean.low, easy.mean.high) == pytest.approx((3 - half, 3 + half), rel=1e-8)


def test_more_units_have_an_interval_near_that_of_student():
    values = np.random.default_rng(5).normal(50.0, 4.0, 12)
    easy = summarise(a_table({"easy": values.tolist()}), "policy", WAIT, n_draws=20_000).levels[0]
    half = 2.200985160 * values.std(ddof=1) / math.sqrt(12)
    assert easy.mean.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert easy.mean.high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_a_skewed_sample_has_an_interval_that_is_longer_on_its_long_side():
    values = [1.0] * 9 + [2.0, 3.0, 20.0]
    mean = summarise(a_table({"easy": values}), "policy", WAIT).levels[0].mean
    assert mean.high - mean.value > 1.3 * (mean.value - mean.low)
    assert mean.low >= 0.5


def test_more_confidence_takes_a_wider_interval():
    table = noisy({"easy": 0.0}, n_seeds=20)
    widths = []
    for confidence in (0.5, 0.8, 0.95, 0.99):
        mean = summarise(table, "policy", WAIT, confidence=confidence).levels[0].mean
        widths.append(mean.high - mean.low)
    assert widths == sorted(widths)
    assert widths[-1] > 3 * widths[0]


def test_the_interval_of_a_ratio_of_few_units_is_that_of_fieller():
    # references 9, 10, 11, differences 1, 2, 3: means 10 and 2, variances and covariance 1/3
    values = np.array([[1.0, 9.0], [2.0, 10.0], [3.0, 11.0]])
    units = Units(values, (3,))
    reach = reach_of(units, 0.95)
    assert not reach.by_bootstrap
    t2 = 4.302652730**2 / 3
    # (100 - t2) x^2 - 2 (20 - t2) x + (4 - t2) = 0
    roots = np.sort(np.roots([100 - t2, -2 * (20 - t2), 4 - t2]))
    estimate = relative_estimate(units, np.array([]), np.array([]), reach)
    assert estimate is not None
    assert (estimate.low, estimate.high) == pytest.approx(tuple(100 * roots))
    assert estimate.value == 20.0


def test_the_interval_in_per_cent_is_the_same_seen_from_the_other_side():
    rng = np.random.default_rng(1)
    for n in (4, 15):
        a, b = rng.normal(80.0, 8.0, n), rng.normal(100.0, 8.0, n)
        there, back = [
            relative_interval(Units(np.stack([x - y, y], axis=1), (n,)))
            for x, y in ((a, b), (b, a))
        ]
        turned = sorted(100 / (1 + end / 100) - 100 for end in (back.low, back.high))
        assert (there.low, there.high) == pytest.approx(tuple(turned))


def relative_interval(units: Units) -> Estimate:
    draws = bootstrap_means(units, 2000, 1)
    estimate = relative_estimate(units, draws[:, 0], draws[:, 1], reach_of(units, 0.95))
    assert estimate is not None
    return estimate


def test_the_interval_in_per_cent_excludes_zero_when_the_difference_does():
    rng = np.random.default_rng(2)
    for _ in range(300):
        n = int(rng.integers(2, 12))
        reference = rng.exponential(10.0, n)
        units = Units(np.stack([rng.normal(2.0, 3.0, n), reference], axis=1), (n,))
        draws = bootstrap_means(units, 500, 1)
        reach = reach_of(units, 0.95)
        relative = relative_estimate(units, draws[:, 0], draws[:, 1], reach)
        assert relative is not None
        if relative.has_interval:
            difference = mean_estimate(units, draws[:, 0], reach)
            assert relative.excludes_zero == difference.excludes_zero


def test_degrees_of_freedom_follow_the_workloads_that_vary():
    even = Units(np.array([[0.0], [1.0], [5.0], [6.0]]), (2, 2))
    assert even.freedom() == pytest.approx(2.0)
    one = Units(np.array([[0.0], [1.0], [5.0], [5.0], [5.0]]), (2, 3))
    assert one.freedom() == pytest.approx(1.0)


def test_normalisation_by_hand():
    # two workloads, two policies; the means of the units are 2 and 20, that of all 11
    units = normalised(Units(np.array([[1.0, 3.0], [16.0, 24.0]]), (2,)))
    # shifted: 10, 12 and 7, 15; around the means 8.5 and 13.5 that is +-1.5, times sqrt(2)
    step = 1.5 * math.sqrt(2)
    assert units.values == pytest.approx(
        np.array([[8.5 + step, 13.5 - step], [8.5 - step, 13.5 + step]])
    )


def test_normalised_values_vary_as_much_as_differences_say():
    # Morey: for two levels, the variance is half that of the differences
    rng = np.random.default_rng(3)
    values = rng.normal(0.0, 1.0, (50, 2)) + rng.normal(0.0, 100.0, (50, 1))
    units = normalised(Units(values, (50,)))
    wanted = np.var(values[:, 0] - values[:, 1], ddof=1) / 2
    assert np.var(units.values, axis=0, ddof=1) == pytest.approx([wanted, wanted])
    assert units.means() == pytest.approx(values.mean(axis=0))


def test_normalised_intervals_do_not_see_how_much_workloads_differ():
    effects = {"easy": 0.0, "fcfs": 5.0, "filler": 2.0}
    near = noisy(effects, n_workloads=12, n_seeds=1)
    apart = near.copy()
    apart[WAIT] += apart["workload"].str[1:].astype(int) * 10_000.0
    for before, after in zip(
        summarise(near, "policy", WAIT).levels,
        summarise(apart, "policy", WAIT).levels,
        strict=True,
    ):
        assert after.unit == "workload"
        width = before.normalised.high - before.normalised.low
        assert after.normalised.high - after.normalised.low == pytest.approx(width)
        assert width < 5.0
        assert after.mean.high - after.mean.low > 10_000.0


def test_one_level_alone_cannot_be_normalised():
    easy = summarise(a_table({"easy": [1, 5, 3]}), "policy", WAIT).levels[0]
    assert math.isnan(easy.normalised.value)


def test_units_that_miss_a_level_are_not_normalised():
    table = a_table({"easy": [1, 2, 3, 100], "fcfs": [2, 3, 4]})
    easy, fcfs = summarise(table, "policy", WAIT).levels
    assert (easy.n, easy.mean.value, easy.normalised.value) == (4, 26.5, 2.0)
    assert fcfs.normalised.value == 3.0


def test_a_level_counts_what_it_leaves_out():
    found = summarise(a_table({"easy": [1, math.nan, 3], "fcfs": [2, 3, 4]}), "policy", WAIT)
    assert [(s.n, s.n_left_out) for s in found.levels] == [(2, 1), (3, 0)]
    assert found.notes == (f"easy: 1 left out, without {WAIT}",)


def test_a_level_without_any_number_has_no_mean():
    nothing = summarise(a_table({"easy": [math.nan] * 2, "fcfs": [2, 3]}), "policy", WAIT).levels[0]
    assert (nothing.n, nothing.n_left_out, nothing.n_units) == (0, 2, 0)
    assert math.isnan(nothing.mean.value)
    assert math.isnan(nothing.minimum)


def test_an_infinite_number_makes_an_infinite_mean_without_an_interval():
    easy = summarise(a_table({"easy": [1, math.inf, 3]}), "policy", WAIT).levels[0]
    assert (easy.mean.value, easy.maximum) == (math.inf, math.inf)
    assert math.isnan(easy.mean.low)


def test_one_run_has_a_mean_but_no_interval():
    easy = summarise(a_table({"easy": [7]}), "policy", WAIT).levels[0]
    assert (easy.mean.value, easy.n_units) == (7.0, 1)
    assert math.isnan(easy.mean.low)


def test_constant_runs_have_an_interval_of_one_point():
    easy = summarise(a_table({"easy": [7.1] * 10}), "policy", WAIT).levels[0]
    assert easy.mean == Estimate(7.1, 7.1, 7.1)


def test_levels_are_summed_up_apart_and_by_metric_if_asked():
    table = pd.concat(
        [a_table({"easy": [1, 2]}, platform="A"), a_table({"easy": [3, 4]}, platform="B")]
    )
    table["makespan"] = 10.0 * table[WAIT]
    rows = summarise(table, "policy", [WAIT, "makespan"], within="platform").as_table()
    assert rows["platform"].tolist() == ["A", "B", "A", "B"]
    assert rows["metric"].tolist() == [WAIT, WAIT, "makespan", "makespan"]
    assert rows["mean"].tolist() == [1.5, 3.5, 15.0, 35.0]
