"""Intervals hold the truth as often as they say, and tests find nothing where there is nothing.

Each study is simulated with known means. Bounds are those of the binomial distribution, three or
four standard deviations away from what is expected.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from noctule.comparison import compare, summarise
from noctule.comparison.effects import units_needed

WAIT = "mean_waiting_time"
BASE = 20.0
N_STUDIES = 1000

Floats = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, tuple[int, ...]], Floats]

pytestmark = pytest.mark.slow


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.normal(0.0, 1.0, shape)


def skewed(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.exponential(1.0, shape) - 1.0


def studies(
    noise: Noise, effect: float, *, n_workloads: int = 1, n_seeds: int, n_studies: int = N_STUDIES
) -> pd.DataFrame:
    """Return many studies of two policies; what a seed does to both is as large as the noise."""
    rng = np.random.default_rng(7)
    shape = (n_studies, n_workloads, n_seeds)
    place = np.indices(shape).reshape(3, -1)
    shared = BASE + 5.0 * (place[1] - (n_workloads - 1) / 2) + noise(rng, shape).reshape(-1)
    return pd.concat(
        pd.DataFrame(
            {
                "study": place[0],
                "workload": place[1],
                "seed": place[2],
                "policy": policy,
                WAIT: shared + own + noise(rng, shape).reshape(-1),
            }
        )
        for policy, own in (("easy", effect), ("fcfs", 0.0))
    )


def coverage(rows: pd.DataFrame, prefix: str, truth: float) -> float:
    inside = (rows[f"{prefix}low"] <= truth) & (truth <= rows[f"{prefix}high"])
    return float(inside.mean())


@pytest.mark.parametrize(
    ("noise", "n_seeds", "least", "least_of_mean"),
    [
        # four standard deviations are 0.028
        (normal, 10, 0.922, 0.922),
        (normal, 30, 0.922, 0.922),
        # a long tail is seldom seen in a small sample: about 0.90 and 0.93 for a mean
        (skewed, 10, 0.91, 0.865),
        (skewed, 30, 0.91, 0.90),
    ],
)
def test_intervals_hold_the_truth(noise, n_seeds, least, least_of_mean):
    table = studies(noise, effect=1.0, n_seeds=n_seeds)
    options = {"within": "study", "n_draws": 2000}
    rows = compare(table, "policy", WAIT, baseline="fcfs", **options).as_table()
    assert least <= coverage(rows, "difference_", 1.0) <= 0.978
    assert least <= coverage(rows, "relative_", 100.0 / BASE) <= 0.978
    means = summarise(table, "policy", WAIT, **options).as_table()
    assert least_of_mean <= coverage(means[means["level"] == "fcfs"], "", BASE) <= 0.978


@pytest.mark.parametrize(("n_workloads", "n_seeds"), [(1, 3), (3, 2), (3, 5), (10, 2), (3, 10)])
def test_intervals_hold_the_truth_with_few_seeds_of_many_workloads(n_workloads, n_seeds):
    table = studies(normal, effect=1.0, n_workloads=n_workloads, n_seeds=n_seeds)
    rows = compare(table, "policy", WAIT, baseline="fcfs", within="study", n_draws=2000).as_table()
    assert set(rows["unit"]) == {"seed"}
    # no upper bound: with two seeds a workload, how many degrees of freedom there are is a guess
    assert coverage(rows, "difference_", 1.0) >= 0.922


@pytest.mark.parametrize("noise", [normal, skewed])
@pytest.mark.parametrize("n_workloads", [1, 10])
def test_equal_policies_are_seldom_called_different(noise, n_workloads):
    n_studies = 400
    rng = np.random.default_rng(11)
    n_seeds = 10 if n_workloads == 1 else 1
    n_false = 0
    for _ in range(n_studies):
        shape = (n_workloads, n_seeds)
        shared = BASE * (1.0 + np.arange(n_workloads))[:, None] + noise(rng, shape)
        table = pd.concat(
            pd.DataFrame(
                {
                    "workload": np.repeat(np.arange(n_workloads), n_seeds),
                    "seed": np.tile(np.arange(n_seeds), n_workloads),
                    "policy": policy,
                    WAIT: (shared + noise(rng, shape)).reshape(-1),
                }
            )
            for policy in ("conservative", "easy", "fcfs", "filler")
        )
        found = compare(table, "policy", WAIT, n_draws=200).comparisons
        assert len(found) == 6
        n_false += any(comparison.significant for comparison in found)
    assert n_false / n_studies <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / n_studies)


def test_as_many_units_as_are_said_to_be_needed_show_the_effect_in_four_of_five_studies():
    # the noise of a difference has a variance of two
    effect = 0.8 * math.sqrt(2.0)
    n_seeds = int(units_needed(0.8, 0.05, 2))
    assert n_seeds == 15
    table = studies(normal, effect=effect, n_seeds=n_seeds)
    rows = compare(table, "policy", WAIT, within="study", n_draws=2000).as_table()
    power = float((rows["p_value"] <= 0.05).mean())
    assert 0.75 <= power <= 0.86


def test_what_is_said_to_be_needed_is_about_right_from_a_small_study():
    # 34 in Cohen's tables; studies without significance saw a smaller effect, so they ask for more
    table = studies(normal, effect=0.5 * math.sqrt(2.0), n_seeds=10)
    needed = np.array(
        [
            compare(study, "policy", WAIT, n_draws=100, axes=["workload", "seed", "policy"])
            .comparisons[0]
            .n_needed
            for _, study in table[table["study"] < 200].groupby("study")
        ]
    )
    asked = needed[~np.isnan(needed)]
    assert 100 <= len(asked) < 200
    assert 20 <= np.median(asked) <= 120
