"""Student's quantiles, Holm's correction, effect sizes and p-values, against numbers by hand."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from noctule.comparison import resampling
from noctule.comparison.axes import axis_of
from noctule.comparison.corrections import holm, level_of_the_rest
from noctule.comparison.effects import cohens_dz, rank_biserial, units_needed
from noctule.comparison.resampling import (
    EXACT_UP_TO,
    bootstrap_means,
    in_batches,
    sign_flip_p_values,
)
from noctule.comparison.student import student_quantile, student_tail
from noctule.comparison.units import Units


def units(*values: float, sizes: tuple[int, ...] | None = None) -> Units:
    return Units(np.array(values, dtype=float)[:, None], sizes or (len(values),))


@pytest.mark.parametrize(
    ("tail", "freedom", "quantile"),
    [  # as printed in tables of the t distribution
        (0.025, 1, 12.706204736),
        (0.025, 2, 4.302652730),
        (0.025, 9, 2.262157163),
        (0.025, 29, 2.045229642),
        (0.005, 5, 4.032142984),
        (0.05, 100, 1.660234326),
        (0.025, 1e9, 1.959963985),
        (0.0005, 3, 12.923978637),
    ],
)
def test_the_quantiles_of_student_are_those_of_the_tables(tail, freedom, quantile):
    assert student_quantile(tail, freedom) == pytest.approx(quantile, rel=1e-8)


def test_the_tail_of_one_degree_of_freedom_is_that_of_cauchy():
    for t in (0.0, 0.3, 1.0, 5.0, 1000.0):
        assert student_tail(t, 1.0) == pytest.approx(0.5 - math.atan(t) / math.pi, rel=1e-9)


def test_the_tail_is_the_integral_of_the_density_between_whole_numbers_too():
    for freedom in (0.7, 1.3, 4.5, 17.2, 345.6):
        log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
        scale = math.exp(log_scale) / math.sqrt(freedom * math.pi)
        for t in (0.01, 0.5, 2.0, 9.0):
            x = np.linspace(0.0, t, 100_001)
            density = scale * (1.0 + x * x / freedom) ** (-(freedom + 1) / 2)
            below = np.trapezoid(density, x)
            assert student_tail(t, freedom) == pytest.approx(0.5 - below, abs=1e-9)


def test_holm_multiplies_the_smallest_by_the_number_of_tests_and_never_goes_down():
    # sorted: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.04 x 1; the last two may not be below 0.06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_does_not_count_what_was_not_tested():
    corrected = holm([0.02, math.nan, 0.03])
    assert corrected[0::2] == pytest.approx([0.04, 0.04])
    assert math.isnan(corrected[1])


def test_those_without_significance_share_what_is_left():
    assert level_of_the_rest([0.01, 0.2, 0.3], 0.05) == 0.025
    assert level_of_the_rest([0.01], 0.05) == 0.05


def test_exchanging_three_pairs_gives_eight_cases():
    # 1 + 2 + 3 = 6 is reached by +++ and --- only: 2 / 8
    assert sign_flip_p_values(units(1, 2, 3), 100, 1)[0].tolist() == [0.25]
    # -1 + 2 + 3 = 4 or more: +++ (6), -++ (4), and the opposite two: 4 / 8
    assert sign_flip_p_values(units(-1, 2, 3), 100, 1)[0].tolist() == [0.5]


def test_strata_count_the_same_whatever_their_size():
    # means: 3 / 1 and (1 + 1) / 2: half of 3 + 1; of the 8 cases only all + and all - reach it
    p, exact = sign_flip_p_values(units(3, 1, 1, sizes=(1, 2)), 100, 1)
    assert (p.tolist(), exact) == ([0.25], True)
    # 1 and -1.5: the other means, of 2.5 and 1, are farther from zero; sums would be 2, 1, 1 and 4
    p, _ = sign_flip_p_values(units(1, -1.5, -1.5, sizes=(1, 2)), 100, 1)
    assert p.tolist() == [1.0]
    # variances of 2 / 2 and 0, in a mean of two
    assert units(0, 2, 5, 5, 5, 5, sizes=(2, 4)).covariance().tolist() == [[0.25]]


def test_random_exchanges_agree_with_all_of_them():
    rng = np.random.default_rng(3)
    values = rng.normal(0.3, 1.0, EXACT_UP_TO)
    exact, is_exact = sign_flip_p_values(units(*values), 100, 1)
    # one more pair without a difference changes no mean's rank, but is one too many to try all
    drawn, is_drawn_exact = sign_flip_p_values(units(*values, 0.0), 40_000, 1)
    assert (is_exact, is_drawn_exact) == (True, False)
    assert drawn[0] == pytest.approx(exact[0], abs=4 * math.sqrt(0.25 / 40_000))


def test_a_random_p_value_is_never_zero():
    p, _ = sign_flip_p_values(units(*np.arange(1.0, 41.0)), 99, 1)
    assert p.tolist() == [0.01]


def test_cohens_dz_is_the_mean_over_the_spread():
    # mean 2, variance (1 + 0 + 1) / 2
    assert cohens_dz(units(1, 2, 3)) == pytest.approx(2.0)
    assert cohens_dz(units(-5, -5, -5)) == -math.inf
    assert cohens_dz(units(0, 0)) == 0.0


def test_the_spread_between_workloads_is_not_in_the_effect():
    # within both strata the variance is 2; the mean of the means is 10
    assert cohens_dz(units(-1, 1, 19, 21, sizes=(2, 2))) == pytest.approx(10 / math.sqrt(2))


def test_rank_biserial_weighs_signs_by_the_ranks_of_the_sizes():
    # ranks of 1, 2, 4 are 1, 2, 3: (1 - 2 + 3) / 6; zero has no rank
    assert rank_biserial(np.array([1.0, -2.0, 4.0, 0.0])) == pytest.approx(2 / 6)
    # 1, 1, 2 have the ranks 1.5, 1.5, 3
    assert rank_biserial(np.array([1.0, -1.0, 2.0])) == pytest.approx(3 / 6)
    assert rank_biserial(np.array([0.0])) == 0.0
    assert rank_biserial(np.array([-3.0, -1.0])) == -1.0


def test_the_units_needed_are_those_of_the_power_tables():
    # paired t-test, two-sided, alpha 0.05, power 0.8: Cohen's tables have 34 for 0.5, 199 for 0.2
    assert units_needed(0.5, 0.05, 10) == 34
    assert units_needed(-0.2, 0.05, 10) == pytest.approx(199, abs=1)


def test_some_units_are_needed_however_large_the_effect():
    # the smallest p-value of n pairs is 2 / 2^n: 6 pairs for 0.05, 11 for 0.05 / 45
    assert units_needed(math.inf, 0.05, 3) == 6
    assert units_needed(50.0, 0.05 / 45, 3) == 11
    assert units_needed(0.0, 0.05, 3) == math.inf
    assert units_needed(2.0, 0.05, 80) == 81


def test_drawn_means_spread_as_much_as_the_mean_of_such_a_sample():
    # variance of 1, 2, 3, 4 is 5 / 3: standard error sqrt(5 / 12), whatever the small sample
    draws = bootstrap_means(units(1, 2, 3, 4), 40_000, 1)
    assert draws.mean() == pytest.approx(2.5, abs=0.02)
    assert draws.std() == pytest.approx(math.sqrt(5 / 12), rel=0.02)


def test_strata_are_drawn_apart():
    # two workloads far apart; of two seeds each, the variances are 1/2 and 9/2
    draws = bootstrap_means(units(0, 1, 1000, 1003, sizes=(2, 2)), 40_000, 1)
    assert draws.std() == pytest.approx(math.sqrt((0.5 / 2 + 4.5 / 2) / 4), rel=0.02)
    # at most 1/2 and 3/2 away from the means of the two, times sqrt(2)
    reach = (0.5 + 1.5) / 2 * math.sqrt(2)
    assert (draws.min(), draws.max()) == pytest.approx((501.0 - reach, 501.0 + reach))


def test_the_draws_of_a_column_do_not_depend_on_its_neighbours():
    many = [units(*np.arange(8.0) ** k) for k in range(1, 5)]
    ((members, together),) = list(in_batches(many))
    assert members == [0, 1, 2, 3]
    draws = bootstrap_means(together, 500, 1)
    for i, one in enumerate(many):
        assert draws[:, i] == pytest.approx(bootstrap_means(one, 500, 1)[:, 0], rel=1e-12)


def test_units_with_other_strata_are_not_drawn_together():
    batches = list(in_batches([units(1, 2), units(1, 2, 3), units(4, 5)]))
    assert [members for members, _ in batches] == [[0, 2], [1]]


def test_draws_that_were_kept_are_those_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    several = units(1, 2, 4, 8, 16, 32, sizes=(2, 4))
    kept = [bootstrap_means(several, 500, 7) for _ in range(2)]
    monkeypatch.setattr(resampling, "_MOST_KEPT", 0)
    anew = bootstrap_means(several, 500, 7)
    assert kept[0].tolist() == kept[1].tolist() == anew.tolist()
    assert bootstrap_means(several, 500, 8).tolist() != anew.tolist()


def test_an_axis_tells_truth_values_from_numbers_and_not_wholes_from_floats() -> None:
    table = pd.DataFrame({"x": pd.Series([True, 1, 1.0, None, "1", True], dtype=object)})
    axis = axis_of(table, "x")
    assert axis.values == (1, True, "1", None)
    assert axis.codes.tolist() == [1, 0, 0, 3, 2, 1]


_DRAWN = """
import hashlib
import numpy as np
from noctule.comparison.resampling import bootstrap_means, sign_flip_p_values
from noctule.comparison.units import Units
units = Units(np.random.default_rng(1).lognormal(size=(3000, 24)), (3000,))
numbers = [bootstrap_means(units, 500, 1), sign_flip_p_values(units, 500, 1)[0], units.covariance()]
print(hashlib.sha256(b"".join(array.tobytes() for array in numbers)).hexdigest())
"""


@pytest.mark.slow
def test_numbers_do_not_depend_on_the_threads_of_a_library():
    told = {
        subprocess.run(
            [sys.executable, "-c", _DRAWN],
            env={**os.environ, "OPENBLAS_NUM_THREADS": n_threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n_threads in ("1", "2")
    }
    assert len(told) == 1
