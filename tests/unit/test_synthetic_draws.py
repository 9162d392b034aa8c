"""Random numbers from uniform doubles: the same for a seed, with the moments they should have."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noctule.errors import InputError
from noctule.synthetic import draws

N = 40_000


@pytest.fixture
def rng() -> np.random.Generator:
    return draws.generator(7)


def test_a_seed_gives_the_same_numbers_with_any_numpy():
    # NumPy keeps the doubles of PCG64(1); the others follow from them by arithmetic
    assert draws.generator(1).random(2).tolist() == [0.5118216247002567, 0.9504636963259353]
    drawn = draws.exponential(draws.generator(1), 1)[0]
    assert drawn == pytest.approx(-math.log(0.5118216247002567), rel=1e-15)
    assert draws.normal(draws.generator(1), 2) == pytest.approx([0.029636757, 1.649366334])
    # what this implementation gave when it was made
    assert draws.gamma(draws.generator(1), 2.5, 2) == pytest.approx([2.21058423, 5.61417066])
    assert draws.gamma(draws.generator(1), 0.5, 2) == pytest.approx([0.11658663, 0.71840619])


def test_a_generator_is_taken_as_it_is(rng):
    assert draws.generator(rng) is rng


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", None])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(InputError) as error:
        draws.generator(seed)
    assert str(error.value) == (
        f"seed: got {seed!r}, expected a whole number >= 0 or a NumPy Generator"
    )


def test_uniform_numbers_are_never_zero_nor_one():
    class Extreme:
        def random(self, n):
            return np.array([0.0, 1.0 - 2.0**-53])[:n]

    drawn = draws.uniform(Extreme(), 2)
    assert 0 < drawn[0] < drawn[1] < 1


@pytest.mark.parametrize("shape", [0.3, 1.0, 2.5, 600.0])
def test_a_gamma_variate_has_its_shape_as_mean_and_variance(rng, shape):
    drawn = draws.gamma(rng, shape, N)
    # the standard error of a mean is sqrt(shape / N), here below 0.5 % of sqrt(shape)
    assert drawn.mean() == pytest.approx(shape, abs=4 * math.sqrt(shape / N))
    assert drawn.var() == pytest.approx(shape, rel=0.06)
    assert (drawn >= 0).all()


def test_a_weibull_variate_of_shape_two_has_half_the_root_of_pi_as_mean(rng):
    # Gamma(1 + 1/2) = sqrt(pi) / 2 = 0.886
    assert draws.weibull(rng, 2.0, N).mean() == pytest.approx(math.sqrt(math.pi) / 2, rel=0.01)


def test_a_normal_variate_has_mean_zero_and_variance_one(rng):
    drawn = draws.normal(rng, N)
    assert drawn.mean() == pytest.approx(0, abs=0.02)
    assert drawn.var() == pytest.approx(1, rel=0.03)


def test_values_are_chosen_by_their_weights(rng):
    drawn = draws.chosen(rng, np.array([5.0, 6.0, 7.0]), N, np.array([1.0, 0.0, 3.0]))
    assert (drawn == 6).sum() == 0
    assert (drawn == 7).mean() == pytest.approx(0.75, abs=0.01)
    assert set(draws.chosen(rng, np.array([5.0, 6.0]), 100).tolist()) == {5.0, 6.0}


def test_what_is_not_good_is_drawn_again_and_nothing_else():
    asked = []

    def draw(positions):
        asked.append(positions.tolist())
        return np.full(len(positions), len(asked), dtype=float)

    values = draws.redrawn(3, draw, lambda x: np.array([True, False, True]) | (x > 1))
    assert values.tolist() == [1, 2, 1]
    assert asked == [[0, 1, 2], [1]]


def test_drawing_again_ends_if_nothing_is_ever_good():
    with pytest.raises(InputError) as error:
        draws.redrawn(1, lambda p: np.zeros(len(p)), lambda x: x > 0, what="size")
    assert str(error.value) == "size: not drawn in 1000 attempts, expected it to be likelier"
