"""Walltimes: never shorter than the runtimes, and as popular as Tsafrir's paper says."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.synthetic import (
    FactorWalltimes,
    NoWalltimes,
    TsafrirWalltimes,
    UniformWalltimes,
    lublin,
)
from noctule.synthetic.draws import generator
from noctule.synthetic.tsafrir import popular_shares, popular_values, popularity_ranks
from noctule.synthetic.walltime_models import WALLTIME_MODELS, walltime_model

RUNTIMES = np.array([1.0, 10.0, 100.0, 3000.0])
HOUR = 3600.0


def drawn(model, runtime=RUNTIMES, seed=1):
    return model.draw(runtime, generator(seed)).walltime


def test_without_walltimes_there_are_none():
    assert np.isinf(drawn(NoWalltimes())).all()


def test_a_factor_multiplies_and_rounds_up():
    assert drawn(FactorWalltimes(1.5)).tolist() == [2, 15, 150, 4500]
    assert drawn(FactorWalltimes()).tolist() == RUNTIMES.tolist()


def test_the_f_model_is_uniform_up_to_its_factor():
    walltime = drawn(UniformWalltimes(3.0), np.full(40_000, 10_000.0))
    assert 10_000 <= walltime.min() < 10_010
    assert 39_990 < walltime.max() <= 40_000
    # the mean of the factor is (1 + 4) / 2
    assert walltime.mean() == pytest.approx(25_000, rel=0.01)


# Tsafrir, Etsion and Feitelson


def test_the_popular_values_are_the_largest_and_round_ones():
    # fifteen joint values below 36 h and the maximum; then multiples of 10 h from above: 30, 20;
    # then of 5 h: 35, 25
    values = [value / HOUR for value in popular_values(36 * HOUR)]
    joint = [5 / 60, 10 / 60, 0.25, 20 / 60, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 18]
    assert values == pytest.approx([36, *sorted([*joint, 30, 20, 35, 25])])


def test_an_hour_leaves_twelve_popular_values():
    values = popular_values(HOUR)
    assert sorted(values) == [300 * i for i in range(1, 13)]
    assert values[0] == HOUR


def test_popular_values_can_be_given():
    assert popular_values(100.0, (50, 10, 200, 10)) == [100, 10, 50]


def test_shares_follow_the_exponential_law():
    shares = popular_shares(20, 0.89)
    # 14.0491 e^(-0.177531 x 2) + 0.462513 = 10.31 %
    assert shares[1] == pytest.approx(0.1031, abs=1e-4)
    assert shares.sum() == pytest.approx(0.89)
    assert (np.diff(shares) < 0).all()


def test_every_value_has_a_rank_of_its_own_and_the_largest_is_first():
    for seed in range(30):
        for n in (1, 5, 12, 20):
            ranks = popularity_ranks(n, generator(seed))
            assert ranks[0] == 1
            assert sorted(ranks) == list(range(1, n + 1))
    assert popularity_ranks(20, generator(1)) != popularity_ranks(20, generator(2))


def test_most_jobs_ask_for_a_popular_value():
    runtime = np.minimum(lublin(20_000, seed=1).table.amount, 17 * HOUR)
    walltime = drawn(TsafrirWalltimes(18 * HOUR), runtime)
    assert (walltime >= runtime).all()
    counts = Counter(walltime.tolist())
    popular = popular_values(18 * HOUR)
    share = sum(counts[value] for value in popular) / len(runtime)
    assert share == pytest.approx(0.89, abs=0.002)
    # the largest: 89 % less the shares of ranks 2 to 20, 21.75 %
    assert counts.most_common(1)[0][0] == 18 * HOUR
    assert counts[18 * HOUR] / len(runtime) == pytest.approx(0.2175, abs=0.001)
    # 20 000 jobs: 90 values at 10 000, 340 at 70 000, so 90 + 250 / 6
    assert len(counts) == pytest.approx(90 + 250 / 6, abs=2)
    assert all(value % 10 == 0 for value in counts)


def test_longer_jobs_do_not_always_ask_for_more():
    runtime = np.full(5000, 60.0)
    walltime = drawn(TsafrirWalltimes(18 * HOUR), runtime)
    first, second = walltime[:2500], walltime[2500:]
    assert first.mean() == pytest.approx(second.mean(), rel=0.1)


def test_walltimes_are_raised_where_too_many_jobs_are_long():
    # 89 % of the walltimes are popular ones of which few reach 17 h, but all jobs do
    result = TsafrirWalltimes(18 * HOUR).draw(np.full(1000, 17 * HOUR), generator(1))
    assert (result.walltime >= 17 * HOUR).all()
    (rule,) = result.rules
    assert rule.rule == "walltime: raised to the next value that fits the runtime"
    assert rule.n_jobs > 500


def test_the_largest_walltime_follows_from_the_runtimes_if_not_given():
    assert drawn(TsafrirWalltimes(), np.array([100.0] * 50 + [7300.0])).max() == 3 * HOUR
    assert drawn(TsafrirWalltimes(), np.full(300, 10.0)).max() == HOUR


@given(
    runtime=st.lists(st.integers(1, 100_000), min_size=1, max_size=60),
    seed=st.integers(0, 50),
    share=st.sampled_from([0.78, 0.89, 1.0]),
)
def test_no_job_gets_less_than_it_needs(runtime, seed, share):
    model = TsafrirWalltimes(popular_share=share)
    walltime = drawn(model, np.array(runtime, dtype=float), seed)
    assert (walltime >= np.array(runtime)).all()
    assert walltime.max() <= max(math.ceil(max(runtime) / HOUR), 1) * HOUR


def test_no_jobs_get_no_walltimes():
    assert len(drawn(TsafrirWalltimes(), np.empty(0))) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FactorWalltimes(0.5), "walltimes: factor: got 0.5, expected at least 1"),
        (lambda: UniformWalltimes(-1), "walltimes: f: got -1, expected at least 0"),
        (lambda: TsafrirWalltimes(60), "walltimes: maximum: got 60, expected at least 3600"),
        (
            lambda: TsafrirWalltimes(popular_share=0.5),
            "walltimes: popular_share: got 0.5, expected 0.78 to 1",
        ),
        (
            lambda: TsafrirWalltimes(n_values=0),
            "walltimes: n_values: got 0, expected a whole number >= 1",
        ),
        (
            lambda: TsafrirWalltimes(popular=(-5.0,)),
            "walltimes: popular: got [-5.0], expected up to 20 positive numbers",
        ),
        (
            lambda: drawn(TsafrirWalltimes(HOUR), np.array([HOUR + 1])),
            "walltimes: maximum: got 3600, expected at least the longest runtime, 3601",
        ),
        (
            lambda: walltime_model("w", "magic", {}),
            "w: model: got 'magic', expected one of none, exact, factor, uniform, tsafrir",
        ),
        (
            lambda: walltime_model("w", "exact", {"factor": 2}),
            "w: factor: no parameter of exact, which has none",
        ),
        (
            lambda: walltime_model("w", "tsafrir", {"n_values": 2.5}),
            "w.n_values: got 2.5, expected a whole number",
        ),
        (
            lambda: walltime_model("w", "factor", {"factor": "x"}),
            "w.factor: got 'x', expected a number",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == message


def test_every_model_can_be_named():
    parameters = {"factor": 2, "f": 1, "maximum": 7200, "popular_share": 0.9, "n_values": 30}
    parameters["popular"] = [600, 1200]
    for name, (_, known) in WALLTIME_MODELS.items():
        model = walltime_model("w", name, {key: parameters[key] for key in known})
        assert (drawn(model) >= RUNTIMES).all()
