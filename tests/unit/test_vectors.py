"""Cases recorded from SimGrid give the same dates, energies and routes here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from vectors import TOLERANCE, difference, expectation, is_ours, run_case

FOLDER = Path(__file__).parents[1] / "vectors" / "simgrid"
FILES = ("cases.json", "smpi-cases.json", "smpi-random.json")


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{name}-{case['name']}")
        for name in FILES
        for case in json.loads((FOLDER / name).read_text())["cases"]
        if is_ours(case)
    ]


@pytest.mark.parametrize("case", cases())
def test_a_recorded_case_is_reproduced(case: dict[str, Any]) -> None:
    assert difference(expectation(case), run_case(case)) <= TOLERANCE


def test_a_difference_is_found() -> None:
    assert difference({"end": 1.0}, {"end": 1.0 + 1e-8}) > TOLERANCE
    assert difference({"end": 1.0}, {"ends": 1.0}) == float("inf")
    assert difference({"tasks": [1.0]}, {"tasks": [1.0, 2.0]}) == float("inf")
