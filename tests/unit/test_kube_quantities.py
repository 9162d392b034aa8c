"""Amounts as Kubernetes writes them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.kube.quantities import counted, parse, text_of_count, written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0", 0),
        ("500m", Fraction(1, 2)),
        ("5.859", Fraction(5859, 1000)),
        ("2Gi", 2 * 2**30),
        ("1.5Ki", 1536),
        ("2G", 2 * 10**9),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1E", 10**18),
        ("12e-1", Fraction(6, 5)),
        ("-3", -3),
        ("+3", 3),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("100n", Fraction(1, 10**7)),
        (5.859, Fraction(5859, 1000)),
        (0.1, Fraction(1, 10)),
        (4, 4),
        (1e-05, Fraction(1, 10**5)),
    ],
)
def test_a_quantity_is_read_exactly(text, value):
    assert parse(text) == value


def test_what_is_finer_than_a_billionth_is_rounded_up_to_one():
    assert parse("0.1n") == Fraction(1, 10**9)
    assert parse("1.0000000001") == 1 + Fraction(1, 10**9)


@pytest.mark.parametrize(
    "value",
    ["", "1 Gi", "Gi", "1gi", "1K", "1.2.3", "--1", "0x10", "1e", "1e9999", True, None, [], 1e999],
)
def test_what_is_no_quantity_is_refused_with_a_sentence(value):
    with pytest.raises(InputError, match=r"^job 3: cpu: got .*, expected a Kubernetes quantity"):
        parse(value, "job 3: cpu")


@pytest.mark.parametrize(
    ("value", "binary", "text"),
    [
        (1, False, "1"),
        (0, False, "0"),
        (0, True, "0"),
        (Fraction(1, 2), False, "500m"),
        (Fraction(3, 2), False, "1500m"),
        (2000, False, "2k"),
        (1500, False, "1500"),
        (2 * 2**30, True, "2Gi"),
        (3 * 2**29, True, "1536Mi"),
        (1000, True, "1k"),
        (1500, True, "1500"),
        (-2048, True, "-2Ki"),
    ],
)
def test_a_quantity_is_written_as_kubernetes_does(value, binary, text):
    assert written(value, binary=binary) == text


@given(st.integers(-(10**30), 10**30), st.booleans())
def test_what_is_written_reads_back(billionths, binary):
    value = Fraction(billionths, 10**9)
    assert parse(written(value, binary=binary)) == value


def test_cpus_are_counted_in_thousandths_and_the_rest_in_units_rounded_up():
    assert counted("cpu", Fraction(5859, 1000)) == 5859
    assert counted("cpu", Fraction(1, 10**6)) == 1
    assert counted("memory", Fraction(3, 2)) == 2
    assert text_of_count("cpu", 1500) == "1500m"
    assert text_of_count("memory", 2**31) == "2Gi"
    assert text_of_count("nvidia.com/gpu", 2) == "2"
