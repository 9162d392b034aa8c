"""Who used how much of a machine, by hand and by the formulas."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from built_schedules import Row, a_schedule
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.fairness import fairness, gini, jain, lorenz
from noctule.metrics import Window

AMOUNTS = st.lists(st.integers(0, 1000), min_size=1, max_size=20).filter(any)


def of_users(users, rows):
    schedule = a_schedule(rows)
    schedule.tables = (dataclasses.replace(schedule.tables[0], users=users),)
    return schedule


def two_users():
    rows = [
        Row(1, 0, 0, 10, "0-2"),
        Row(2, 0, 0, 20, "3"),
        Row(3, 5, 10, 20, "0"),
    ]
    return of_users(["ann", "bob", "bob"], rows)


def test_use_is_held_against_the_same_share_for_all():
    found = fairness(two_users())
    ann, bob = found.parties
    assert (ann.name, ann.n_jobs, ann.host_seconds, ann.mean_waiting_time) == ("ann", 1, 30, 0)
    assert (bob.name, bob.n_jobs, bob.host_seconds, bob.mean_waiting_time) == ("bob", 2, 30, 2.5)
    assert ann.use == ann.share == 0.5
    assert ann.use_over_share == 1
    assert found.gini_use == 0
    assert found.jain_use_over_share == 1


def test_shares_may_be_given():
    ann, bob = fairness(two_users(), shares={"ann": 3, "bob": 1}).parties
    assert (ann.share, bob.share) == (0.75, 0.25)
    assert bob.use_over_share == 2


def test_a_window_counts_what_was_held_in_it():
    ann, bob = fairness(two_users(), window=Window(4, 12)).parties
    assert (ann.host_seconds, bob.host_seconds) == (18, 8 + 2)
    assert (ann.n_jobs, bob.n_jobs) == (0, 1)


def test_jobs_of_nobody_known_are_a_party_of_their_own():
    found = fairness(a_schedule([Row(1, 0, 0, 10, "0")]))
    assert [party.name for party in found.parties] == [None]


def test_a_schedule_without_jobs_has_no_parties():
    found = fairness(a_schedule([]))
    assert found.parties == ()
    assert math.isnan(found.gini_use)


def test_nothing_else_than_labels_of_jobs_is_taken():
    with pytest.raises(InputError, match="by: got 'colour', expected user, group, queue"):
        fairness(two_users(), by="colour")
    with pytest.raises(InputError, match="shares: got one that is negative"):
        fairness(two_users(), shares={"ann": -1})


def test_the_curve_of_one_who_has_all_hugs_the_corner():
    parties, parts = lorenz([0, 0, 0, 8])
    assert parties.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert parts.tolist() == [0, 0, 0, 0, 1]
    assert gini([0, 0, 0, 8]) == 0.75
    assert jain([0, 0, 0, 8]) == 0.25


def test_amounts_of_a_textbook():
    # 1, 2, 3: areas under the curve by hand
    assert gini([1, 2, 3]) == pytest.approx(2 / 9)
    assert jain([1, 2, 3]) == pytest.approx(36 / (3 * 14))


@given(AMOUNTS)
def test_gini_is_twice_the_area_over_the_curve(amounts):
    parties, parts = lorenz(amounts)
    area = np.sum(np.diff(parties) * (parts[1:] + parts[:-1]) / 2)
    assert gini(amounts) == pytest.approx(1 - 2 * area, abs=1e-9)


@given(AMOUNTS, st.integers(1, 100))
def test_neither_number_depends_on_the_unit_or_the_order(amounts, unit):
    scaled = [unit * amount for amount in reversed(amounts)]
    assert gini(scaled) == pytest.approx(gini(amounts), abs=1e-9)
    assert jain(scaled) == pytest.approx(jain(amounts), abs=1e-9)
