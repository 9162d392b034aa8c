"""Quantities with units: what they mean, what is refused, how they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noctule.errors import InputError
from noctule.units import BANDWIDTH, DURATION, POWER, SIZE, SPEED, Dimension, shown

DIMENSIONS = [SPEED, BANDWIDTH, DURATION, SIZE, POWER]


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (SPEED, "1Gf", 1e9),
        (SPEED, "16.673E9flops", 16.673e9),
        (SPEED, "2megaflops", 2e6),
        (SPEED, "1Ef", 1e18),  # E is exa here, not an exponent
        (SPEED, "1E2f", 100.0),
        (SPEED, " 100.0Mf ", 1e8),
        (SPEED, "1e-9Mf", 1e-9 * 1e6),
        (SPEED, "3Yf", 3 * 1000.0**8),
        (SPEED, ".5kf", 500.0),
        (SPEED, "5.f", 5.0),
        (BANDWIDTH, "125MBps", 125e6),
        (BANDWIDTH, "1Gbps", 125e6),
        (BANDWIDTH, "10000MiBps", 10000 * 1024.0**2),
        (BANDWIDTH, "8Kibps", 1024.0),
        (BANDWIDTH, "1kBps", 1000.0),
        (DURATION, "50us", 50 * 1e-6),  # as SimGrid multiplies, not 5e-05
        (DURATION, "10min", 600.0),
        (DURATION, "10m", 600.0),
        (DURATION, "2w", 1209600.0),
        (DURATION, "1d", 86400.0),
        (DURATION, "1h", 3600.0),
        (DURATION, "3ps", 3e-12),
        (SIZE, "4GiB", 4 * 1024.0**3),
        (SIZE, "4Gi", 4 * 1024.0**3),
        (SIZE, "500GB", 5e11),
        (SIZE, "8kb", 1000.0),
        (POWER, "200W", 200.0),
        (POWER, "1.5kW", 1500.0),
        (POWER, "95", 95.0),
        (DURATION, "0", 0.0),
    ],
)
def test_quantities_are_read_as_simgrid_reads_them(
    dimension: Dimension, text: str, value: float
) -> None:
    assert dimension.parse(text, "somewhere") == value


@pytest.mark.parametrize(
    ("dimension", "text"),
    [
        (SPEED, "1gf"),
        (SPEED, "1KF"),
        (SPEED, "-1f"),
        (SPEED, ""),
        (SPEED, "f"),
        (SPEED, "nan"),
        (SPEED, "inff"),
        (SPEED, "0x10f"),
        (SPEED, "1e999f"),
        (SPEED, "1Gf,2Gf"),
        (BANDWIDTH, "1KBps"),
        (BANDWIDTH, "1GB"),
        (DURATION, "1S"),
        (SIZE, "4G"),
        (POWER, "1J"),
        (SPEED, "١f"),
    ],
)
def test_other_texts_are_refused(dimension: Dimension, text: str) -> None:
    with pytest.raises(InputError) as caught:
        dimension.parse(text, "p.xml: line 3")

    expected = f"p.xml: line 3: got {text!r}, expected {dimension.name} such as {dimension.example}"
    assert str(caught.value) == expected


def test_a_bare_number_is_told_from_one_with_a_unit() -> None:
    assert SPEED.split("7") == (7.0, "")
    assert SPEED.split("7f") == (7.0, "f")


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        (SPEED, 1e9, "1Gf"),
        (SPEED, 48.492e6, "48.492Mf"),
        (SPEED, 0.0, "0f"),
        (SPEED, 0.1639344262295082, "0.1639344262295082f"),
        (BANDWIDTH, 2.25e9, "2.25GBps"),
        (DURATION, 50 * 1e-6, "50us"),
        (DURATION, 5e-5, "0.05ms"),  # one bit away from 50us
        (SIZE, 64 * 1024.0**3, "64GiB"),
        (SIZE, 1000.0, "1000B"),
        (POWER, 190.738, "190.738W"),
    ],
)
def test_quantities_are_written_with_a_fitting_unit(
    dimension: Dimension, value: float, text: str
) -> None:
    assert dimension.text(value) == text


@given(st.sampled_from(DIMENSIONS), st.floats(min_value=0, allow_infinity=False))
def test_what_is_written_reads_back_exactly(dimension: Dimension, value: float) -> None:
    assert dimension.parse(dimension.text(value), "") == value


@given(st.sampled_from(DIMENSIONS), st.text(max_size=12))
def test_any_text_is_read_or_refused(dimension: Dimension, text: str) -> None:
    found = dimension.split(text)

    assert found is None or found[0] >= 0


@pytest.mark.parametrize(
    ("dimension", "value", "text"),
    [
        (SPEED, 88.95899053627761e6, "88.96Mf"),
        (SPEED, 0.5, "0.5f"),
        (BANDWIDTH, 6.8175e9, "6.817GBps"),
        (DURATION, 0.0, "0s"),
        (DURATION, 1.461517e-3, "1.462ms"),
        (DURATION, 12345678.0, "12345678s"),
        (SIZE, 64 * 1024.0**3, "64GiB"),
    ],
)
def test_quantities_for_people_have_four_digits(
    dimension: Dimension, value: float, text: str
) -> None:
    assert dimension.short(value) == text


def test_long_texts_are_cut_in_messages() -> None:
    assert shown("x" * 41) == "'" + "x" * 40 + "...'"
