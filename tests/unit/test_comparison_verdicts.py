"""Verdicts are plain sentences that claim neither more nor less than the numbers do."""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from results_tables import a_table, noisy

from noctule.comparison import Estimate, Objective, compare, summarise
from noctule.comparison.verdicts import about, in_words

WAIT = "mean_waiting_time"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "comparisons.md"


def verdict(table: pd.DataFrame, metric: str = WAIT, **options: object) -> str:
    (sentence,) = compare(table, "policy", metric, **options).verdicts
    return sentence


def spread(centre: float, reach: float, n: int = 10) -> list[float]:
    """Return numbers around a centre; of ten with a reach of 4.1, the standard error is 0.87."""
    return np.linspace(centre - reach, centre + reach, n).tolist()


def test_a_clear_difference_is_said_in_per_cent_of_the_worse():
    # 90 against 100; Student's interval is 10 +- 2.26 x 0.87
    table = a_table({"powercap": [100] * 10, "energyBud": spread(90, 4.1)})
    assert verdict(table) == "energyBud better than powercap by 8 to 12 %"


def test_the_baseline_is_what_others_are_compared_with():
    table = a_table({"powercap": [100] * 10, "energyBud": spread(90, 4.1)})
    # 8 / 92 and 12 / 88
    assert verdict(table, baseline="energyBud") == "powercap worse than energyBud by 9 to 14 %"
    assert verdict(table, baseline="powercap").startswith("energyBud better than powercap")


def test_larger_is_better_where_the_metric_says_so():
    table = a_table({"easy": spread(0.8, 0.0164), "fcfs": [0.4] * 10}, metric="utilisation")
    assert verdict(table, "utilisation") == "easy better than fcfs by 98 to 102 %"
    jobs = table.rename(columns={"utilisation": "n_jobs"})
    assert verdict(jobs, "n_jobs") == "easy larger than fcfs by 98 to 102 %"
    own = table.rename(columns={"utilisation": "joy"})
    assert verdict(own, "joy") == "fcfs better than easy by 49.5 to 50.5 %"
    happier = {"joy": Objective("larger")}
    assert verdict(own, "joy", objectives=happier).startswith("easy better than fcfs")


def test_noise_is_called_noise_with_what_would_be_needed():
    table = noisy({"easy": 0.0, "fcfs": 0.5}, n_seeds=10, noise=1.0, seed=4)
    (comparison,) = compare(table, "policy", WAIT).comparisons
    assert not comparison.significant
    assert comparison.verdict == (
        f"no significant difference with 10 seeds; "
        f"about {about(int(comparison.n_needed))} would be needed"
    )
    assert comparison.n_needed > 10


def test_too_few_pairs_are_never_enough_however_clear():
    table = a_table({"easy": [1.0, 2.0, 3.0, 4.0, 5.0], "fcfs": [11.0, 12.0, 13.0, 14.0, 15.0]})
    # the smallest p-value of five pairs is 2 / 32
    assert verdict(table) == "no significant difference with 5 seeds; about 6 would be needed"


def test_a_difference_too_small_for_any_study_is_said_to_be():
    table = a_table({"easy": [*spread(10, 2), 10.001], "fcfs": [10] * 11})
    assert verdict(table) == (
        "no significant difference with 11 seeds; more than 10000 would be needed"
    )
    none = a_table({"easy": spread(10, 2), "fcfs": [10] * 10})
    assert verdict(none).endswith("with 10 seeds; more than 10000 would be needed")


def test_units_are_counted_for_each_workload():
    table = noisy({"easy": 0.0, "fcfs": 0.1}, n_workloads=3, n_seeds=4, seed=1)
    assert verdict(table).startswith(
        "no significant difference with 4 seeds of each of 3 workloads; about "
    )
    uneven = table.drop(index=table.index[(table["workload"] == "w2") & (table["seed"] == 0)])
    assert verdict(uneven).startswith(
        "no significant difference with 3 to 4 seeds of each of 3 workloads; about "
    )
    singles = noisy({"easy": 0.0, "fcfs": 0.1}, n_workloads=7, n_seeds=1, seed=1)
    assert verdict(singles).startswith("no significant difference with 7 workloads; about ")


def test_equal_runs_are_identical():
    same = [3.0, 1.0, 4.0, 1.5, 9.0]
    (comparison,) = compare(a_table({"easy": same, "fcfs": same}), "policy", WAIT).comparisons
    assert comparison.verdict == "identical on all 5 pairs"
    assert (comparison.p_value, comparison.significant) == (1.0, False)
    assert comparison.difference == Estimate(0.0, 0.0, 0.0)
    assert verdict(a_table({"easy": [3.0], "fcfs": [3.0]})) == "identical on the only pair"


def test_one_pair_has_no_interval():
    (comparison,) = compare(a_table({"easy": [3], "fcfs": [4]}), "policy", WAIT).comparisons
    assert comparison.verdict == "one pair: no interval can be given; use shake or seeds"
    assert comparison.difference.value == -1.0
    assert math.isnan(comparison.difference.low)
    assert math.isnan(comparison.p_corrected)
    assert (comparison.interval, comparison.test) == ("none", "none")


def test_one_seed_on_many_platforms_has_no_interval_either():
    table = pd.concat([a_table({"easy": [3], "fcfs": [4]}, platform=name) for name in "ABC"])
    assert verdict(table) == (
        "3 pairs of one workload and seed: no interval can be given; use shake or seeds"
    )


def test_two_levels_that_never_met_have_no_pairs():
    table = a_table({"easy": [1, 2], "fcfs": [3, 4]})
    other = a_table({"filler": [5, 6]}, workload="sdsc")
    found = compare(pd.concat([table, other]), "policy", WAIT)
    assert found.verdicts[1] == "no pairs: no run of easy has a partner among those of filler"
    assert math.isnan(found.comparisons[1].mean)


def test_a_mean_of_zero_gives_a_difference_in_the_unit_of_the_metric():
    table = a_table({"easy": [0] * 10, "fcfs": spread(20, 4.1)})
    assert verdict(table, baseline="easy") == "fcfs worse than easy by 18 to 22 s"
    negative = a_table({"easy": [-30] * 10, "fcfs": spread(-20, 4.1)}, metric="lateness")
    assert verdict(negative, "lateness") == "easy better than fcfs by 8 to 12"


def test_a_mean_that_might_be_zero_gives_a_difference_in_the_unit_of_the_metric():
    # nine of ten workloads never wait under easy: one drawn study in three has none that does
    easy = [0.0] * 9 + [5.0]
    table = a_table({"easy": easy, "fcfs": [x + 20.0 + i for i, x in enumerate(easy)]})
    (comparison,) = compare(table, "policy", WAIT, baseline="easy").comparisons
    assert comparison.verdict == "fcfs worse than easy by 22 to 27 s"
    assert comparison.relative is not None
    assert comparison.relative.value == pytest.approx(100 * 24.5 / 0.5)
    assert math.isnan(comparison.relative.high)


def test_infinite_numbers_are_named():
    table = a_table({"easy": [1.0, 2.0, 3.0], "fcfs": [4.0, math.inf, 5.0]})
    (comparison,) = compare(table, "policy", WAIT).comparisons
    assert comparison.verdict == (
        "no difference can be given: mean_waiting_time is infinite in 1 of 3 pairs"
    )
    assert math.isnan(comparison.difference.value)


def test_a_low_p_value_is_not_enough_if_the_interval_holds_zero(monkeypatch):
    table = a_table({"easy": [10 + x for x in (-2.0, 2.0, 3.0, 1.0, 2.0, 4.0)], "fcfs": [10.0] * 6})
    (comparison,) = compare(table, "policy", WAIT, confidence=0.8, baseline="fcfs").comparisons
    assert comparison.significant
    wide = Estimate(1.0, -1.0, 40.0)
    monkeypatch.setattr("noctule.comparison.paired.relative_estimate", lambda *_: wide)
    (comparison,) = compare(table, "policy", WAIT, confidence=0.8, baseline="fcfs").comparisons
    assert comparison.p_corrected <= 0.2
    assert not comparison.significant
    assert comparison.verdict.startswith("no significant difference with 6 seeds; about ")


def test_many_comparisons_make_each_one_harder_to_believe():
    table = noisy({"easy": 0.0, "fcfs": 1.3}, n_seeds=10, noise=1.0, seed=1)
    alone = compare(table, "policy", WAIT).comparisons[0]
    others = {f"p{i}": 0.0 for i in range(8)}
    more = noisy(others, n_seeds=10, noise=1.0, seed=2)
    found = compare(pd.concat([table, more]), "policy", WAIT).comparisons
    among = next(c for c in found if {c.level, c.reference} == {"easy", "fcfs"})
    assert (alone.significant, among.significant) == (True, False)
    assert among.p_value == alone.p_value
    assert among.difference == alone.difference


def test_the_correction_is_over_all_metrics_asked():
    table = noisy({"easy": 0.0, "fcfs": 1.0}, n_seeds=12)
    table["makespan"] = table[WAIT] * 2.0
    both = compare(table, "policy", [WAIT, "makespan"]).comparisons
    assert [c.metric for c in both] == [WAIT, "makespan"]
    assert both[0].p_corrected == min(1.0, 2 * both[0].p_value)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (8.1, 12.2, "8 to 12"),
        (-12.2, -8.1, "8 to 12"),
        (0.71234, 0.75678, "0.71 to 0.76"),
        (0.02, 9.4, "0.02 to 9"),
        (38.4, 93.8, "38 to 94"),
        (1234.0, 1634.0, "1200 to 1600"),
        (2.71e11, 2.75e11, "2.71e+11 to 2.75e+11"),
        (5.0, 5.0, "5.00"),
        (5.00001, 5.00002, "5.000010 to 5.000020"),
    ],
)
def test_numbers_have_the_digits_that_their_interval_gives_them(low, high, text):
    assert in_words(Estimate((low + high) / 2, low, high)) == text


def test_what_is_needed_is_rounded_up_to_two_digits():
    assert [about(n) for n in (7, 39, 99, 101, 1234, 1300)] == [7, 39, 99, 110, 1300, 1300]


def test_a_table_has_a_row_for_each_comparison():
    table = noisy({"easy": 0.0, "fcfs": 5.0, "filler": 1.0}, n_seeds=8)
    found = compare(table, "policy", WAIT)
    rows = found.as_table()
    assert rows["verdict"].tolist() == list(found.verdicts)
    assert rows["difference_low"].tolist() == [c.difference.low for c in found.comparisons]
    assert rows["relative_high"].tolist() == [
        c.relative.high for c in found.comparisons if c.relative
    ]
    assert rows["notes"].tolist() == ["", "", ""]


def test_every_argument_and_column_is_documented():
    table = noisy({"easy": 0.0, "fcfs": 5.0})
    text = PAGE.read_text()
    names = [
        *inspect.signature(compare).parameters,
        *inspect.signature(summarise).parameters,
        *compare(table, "policy", WAIT).as_table().columns,
        *summarise(table, "policy", WAIT).as_table().columns,
    ]
    assert [name for name in names if f"`{name}`" not in text] == []
