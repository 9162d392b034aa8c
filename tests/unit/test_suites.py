"""Lists of tests that a suite leaves out."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_what_the_sanitizers_do_not_see_is_there():
    lines = (TESTS / "in-python.txt").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert len(patterns) > 20
    assert [pattern for pattern in patterns if not list(TESTS.glob(pattern))] == []
