"""What comparisons must not depend on, whatever the table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.comparison import Comparison, compare, summarise

WAIT = "mean_waiting_time"
POLICIES = ("conservative", "easy", "fcfs")
numbers = st.one_of(
    st.floats(0.0, 1e4, allow_nan=False).map(lambda x: round(x, 3)), st.just(math.nan)
)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Runs of three policies on some workloads, seeds and platforms; some runs are missing."""
    rows = [
        {"workload": w, "seed": s, "platform": p, "policy": policy, WAIT: draw(numbers)}
        for w in range(draw(st.integers(1, 3)))
        for s in range(draw(st.integers(1, 4)))
        for p in range(draw(st.integers(1, 2)))
        for policy in POLICIES
        if draw(st.integers(0, 9)) > 0
    ]
    # so that there always is a pair
    rows += [
        {"workload": 9, "seed": s, "platform": 0, "policy": policy, WAIT: draw(numbers)}
        for s in range(2)
        for policy in POLICIES
    ]
    table = pd.DataFrame(rows)
    table.loc[table["workload"] == 9, WAIT] = table[WAIT].fillna(1.0)
    return table


def compared(table: pd.DataFrame, **options: object) -> pd.DataFrame:
    return compare(table, "policy", WAIT, n_draws=200, **options).as_table()


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(table, random):
    order = list(range(len(table)))
    random.shuffle(order)
    shuffled = table.iloc[order]
    pd.testing.assert_frame_equal(compared(table), compared(shuffled), check_exact=True)
    pd.testing.assert_frame_equal(
        summarise(table, "policy", WAIT, n_draws=200).as_table(),
        summarise(shuffled, "policy", WAIT, n_draws=200).as_table(),
        check_exact=True,
    )


@given(tables())
def test_the_roles_of_two_levels_can_be_exchanged(table):
    two = table[table["policy"] != "fcfs"]
    (there,) = compare(two, "policy", WAIT, n_draws=200, baseline="easy").comparisons
    (back,) = compare(two, "policy", WAIT, n_draws=200, baseline="conservative").comparisons
    assert there.difference.value == -back.difference.value
    same(there.p_value, back.p_value)
    same(there.difference.low, -back.difference.high)
    same(there.difference.high, -back.difference.low)
    same(there.rank_biserial, -back.rank_biserial)
    assert there.n_pairs == back.n_pairs
    assert significant_alike(there, back)


def significant_alike(one: Comparison, other: Comparison) -> bool:
    """Whether both or none are significant, unless one is judged in per cent and the other not."""
    judged = [c.relative is not None and c.relative.has_interval for c in (one, other)]
    return one.significant == other.significant or judged[0] != judged[1]


@given(tables(), st.sampled_from([0.125, 4.0, 1024.0]))
def test_the_unit_of_the_metric_does_not_matter(table, factor):
    before = compared(table)
    after = compared(table.assign(**{WAIT: table[WAIT] * factor}))
    for column in ("level", "p_value", "p_corrected", "relative", "significant", "n_pairs"):
        pd.testing.assert_series_equal(before[column], after[column])
    pd.testing.assert_series_equal(before["difference_low"] * factor, after["difference_low"])


@given(tables())
def test_a_comparison_does_not_depend_on_what_else_is_compared(table):
    names = ["difference", "difference_low", "relative_high", "p_value", "cohens_dz", "n_units"]
    together = compared(table, baseline="easy").set_index("level")
    for level in together.index:
        two = table[table["policy"].isin([level, "easy"])]
        alone = compared(two, baseline="easy").set_index("level")
        for name in names:
            same(together.loc[level, name], alone.loc[level, name])


@given(tables())
def test_every_run_is_in_a_pair_or_counted(table):
    for comparison in compare(table, "policy", WAIT, n_draws=200).comparisons:
        runs = table["policy"].isin([comparison.level, comparison.reference]).sum()
        alone = [int(n.split()[0]) for n in comparison.notes if "the only" in n]
        left_out = comparison.n_unpaired + comparison.n_missing + sum(alone)
        assert 2 * comparison.n_pairs + left_out == runs


@given(tables())
def test_an_interval_holds_its_estimate(table):
    for comparison in compare(table, "policy", WAIT, n_draws=200).comparisons:
        for estimate in (comparison.difference, comparison.relative):
            if estimate is not None and estimate.has_interval:
                slack = 1e-9 * abs(estimate.value)
                assert estimate.low - slack <= estimate.value <= estimate.high + slack
        assert not comparison.p_corrected < comparison.p_value
        assert not abs(comparison.rank_biserial) > 1.0


def same(one: float, other: float) -> None:
    assert one == pytest.approx(other, rel=1e-9, abs=1e-9, nan_ok=True)


def test_another_seed_gives_about_the_same_interval():
    rng = np.random.default_rng(3)
    values = rng.exponential(10.0, 40)
    rows = [
        {"workload": "kth", "seed": i, "policy": p, WAIT: x + (p == "fcfs") * rng.normal(2.0, 1.0)}
        for i, x in enumerate(values)
        for p in ("easy", "fcfs")
    ]
    one, two = (
        compare(pd.DataFrame(rows), "policy", WAIT, seed=seed).comparisons[0].difference
        for seed in (1, 2)
    )
    assert one != two
    width = one.high - one.low
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=0.1 * width)
