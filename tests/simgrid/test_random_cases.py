"""Our engine and SimGrid agree on random platforms under random work, whole simulations included.

A case that fails is kept in build/simgrid, for `python tests/vectors.py FILE`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from random_cases import random_case
from simgrid_driver import Driver

N_CASES = int(os.environ.get("NOCTULE_SIMGRID_CASES", "2400"))
FIRST_SEED = int(os.environ.get("NOCTULE_SIMGRID_SEED", "0"))
PER_TEST = 100
TOLERANCE = 1e-9
FAILURES = Path(__file__).parents[2] / "build" / "simgrid"


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + N_CASES, PER_TEST))
def test_dates_and_energies_equal_those_of_simgrid(simgrid: Driver, first: int) -> None:
    from vectors import difference, run_case

    cases = [random_case(seed) for seed in range(first, first + PER_TEST)]
    answered = 0
    failed = []
    for case, answer in zip(cases, simgrid.answers(cases, processes=1, limit_s=5), strict=True):
        if "error" in answer:
            continue
        answered += 1
        case["expect"] = {key: value for key, value in answer.items() if key != "cpu_seconds"}
        problem = disagreement(case, run_case, difference)
        if problem:
            failed.append(f"{kept(case)}: {problem}")
    assert not failed, "\n".join(failed)
    assert answered >= 0.97 * len(cases)


def disagreement(case: dict[str, Any], run_case: Any, difference: Any) -> str:
    try:
        found = run_case(case)
    except Exception as error:  # any of ours is a failure of this case, not of the others
        return f"{type(error).__name__}: {error}"
    worst = difference(case["expect"], found)
    return "" if worst <= TOLERANCE else f"differs by {worst:.3g}"


def kept(case: dict[str, Any]) -> Path:
    path = FAILURES / f"{case['name']}.json"
    path.write_text(json.dumps({"made_with": "SimGrid", "cases": [case]}, indent=1) + "\n")
    return path
