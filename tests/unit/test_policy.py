"""How policies are named in text, and the timeline they plan on."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.policy import PolicySpec, Timeline


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("easy", "easy", {}),
        ("  easy ( ) ", "easy", {}),
        (
            "easy(order=sjf, allocation=contiguous)",
            "easy",
            {"order": "sjf", "allocation": "contiguous"},
        ),
        ("mine.py:Mine(x=2, y=0.5, on=true)", "mine.py:Mine", {"x": 2, "y": 0.5, "on": True}),
        ('easy(order="n_hosts * walltime, no")', "easy", {"order": "n_hosts * walltime, no"}),
        ("easy(order=-walltime)", "easy", {"order": "-walltime"}),
        ("easy(order=max(1, walltime))", "easy", {"order": "max(1, walltime)"}),
        ("a b/mine.py:Mine", "a b/mine.py:Mine", {}),
    ],
)
def test_a_spec_is_a_name_and_parameters(text, name, parameters):
    spec = PolicySpec.parse(text)
    assert (spec.name, dict(spec.parameters)) == (name, parameters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "policy: got '', expected name(parameter=value, ...)"),
        ("easy(order=sjf", "policy: got 'easy(order=sjf', expected name(parameter=value, ...)"),
        ("easy(sjf)", "policy easy: got 'sjf', expected parameter=value"),
        ("easy(order=)", "policy easy: got 'order=', expected parameter=value"),
        ("easy(order=sjf, order=ljf)", "policy easy: parameter order given twice"),
    ],
)
def test_a_malformed_spec_is_refused(text, message):
    with pytest.raises(InputError) as error:
        PolicySpec.parse(text)
    assert str(error.value) == message


names = st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True)
values = (
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_characters="\"'", exclude_categories=["C"]))
)


@given(names, st.dictionaries(names, values))
def test_a_spec_reads_back_what_it_writes(name, parameters):
    spec = PolicySpec(name, parameters)
    again = PolicySpec.parse(str(spec))
    assert again == spec
    assert [type(v) for v in again.parameters.values()] == [type(v) for v in parameters.values()]


def test_a_timeline_finds_the_first_instant_with_room_for_long_enough():
    # 4 hosts: 1 free now, 2 more from 10, the last one from 30; two are taken in [20, 25)
    timeline = Timeline(0, 1)
    timeline.give(2, 10)
    timeline.give(1, 30)
    timeline.take(2, 20, 25)
    assert timeline.earliest(1, 1000) == 0
    assert timeline.earliest(3, 10) == 10
    assert timeline.earliest(3, 11) == 25
    assert timeline.earliest(4, 1) == 30
    assert timeline.earliest(5, 1) == math.inf
    assert [timeline.n_free_at(t) for t in (0, 10, 20, 25, 29, 30)] == [1, 3, 1, 3, 3, 4]


def test_a_timeline_forgets_the_past():
    timeline = Timeline(0, 1)
    timeline.give(2, 10)
    timeline.advance(15)
    assert timeline.earliest(3, 1) == 15
    timeline.give(5, 3, 12)  # long gone
    assert timeline.n_free_at(15) == 3
