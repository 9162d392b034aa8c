"""Profiles of availability: what is read, what repeats, what changes what."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from platform_files import a_host, a_platform, load_text, refusal

from noctule.formats.availability import (
    Availability,
    Change,
    availability_changes,
    read_availability,
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that messages have short paths."""
    monkeypatch.chdir(tmp_path)


def test_a_profile_is_dates_and_values_with_a_period() -> None:
    text = "# speeds\nPERIODICITY 20.0\n0.0 1.0\n5.0 0.5 % half\n\n12.0 1.0\n"
    profile = read_availability(text, "p")

    assert profile == Availability(((0.0, 1.0), (5.0, 0.5), (12.0, 1.0)), 20.0)
    assert list(islice(profile.events(), 5))[2:] == [(12.0, 1.0), (20.0, 1.0), (25.0, 0.5)]


def test_loopafter_counts_from_the_last_line() -> None:
    assert read_availability("0 1\n12 0\nLOOPAFTER 8\n", "p").period == 20.0


def test_without_a_period_it_happens_once() -> None:
    assert list(read_availability("1 0\n2 1\n", "p").events()) == [(1.0, 0.0), (2.0, 1.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\nx 2\n", "p: line 2: got 'x', expected a date and a value"),
        ("0 1 2\n", "p: line 1: got '0 1 2', expected a date and a value"),
        ("5 1\n4 1\n", "p: line 2: got date 4.0, expected 5.0 or later"),
        ("0 nan\n", "p: line 1: got 'nan'"),
        ("0 -1\n", "p: line 1: got '-1'"),
        ("PERIODICITY 3\n5 1\n", "p: got a period of 3.0 s and 1 dates up to 5.0"),
        ("PERIODICITY 3\n", "p: got a period of 3.0 s and 0 dates"),
    ],
)
def test_other_text_is_refused(text: str, message: str) -> None:
    assert refusal(lambda: read_availability(text, "p")).startswith(message)


LINK = '<link id="l" bandwidth="1GBps" sharing_policy="SPLITDUPLEX" latency_file="lat.txt"/>'


def test_changes_are_those_of_files_beside_the_platform() -> None:
    Path("there").mkdir()
    Path("there/speed.txt").write_text("0 1\n")
    Path("there/lat.txt").write_text("3 0.5\n")
    host = a_host("a", 'speed_file="speed.txt"')
    platform = load_text(a_platform(host + a_host("b") + LINK), "there/p.xml")

    late = Availability(((3.0, 0.5),))
    assert availability_changes(platform) == [
        Change("host", "a", "speed", Availability(((0.0, 1.0),))),
        Change("link", "l_UP", "latency", late),
        Change("link", "l_DOWN", "latency", late),
    ]


def test_traces_of_the_file_itself_are_connected() -> None:
    trace = '<trace id="t" periodicity="10s">0 1\n5 0</trace>'
    connection = '<trace_connect trace="t" element="a" kind="HOST_AVAIL"/>'
    platform = load_text(a_platform(a_host("a") + trace + connection))

    assert availability_changes(platform) == [
        Change("host", "a", "state", Availability(((0.0, 1.0), (5.0, 0.0)), 10.0))
    ]


def test_missing_files_and_traces_are_refused() -> None:
    platform = load_text(a_platform(a_host("a", 'state_file="gone"')))
    assert refusal(lambda: availability_changes(platform)) == (
        "p.xml: host 'a': state: gone: no such file"
    )
    platform = load_text(a_platform(a_host("a") + '<trace_connect trace="t" element="a"/>'))
    assert refusal(lambda: availability_changes(platform)) == (
        "p.xml: trace_connect: 't': no such trace"
    )
