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
from random_traces import random_trace

from noctule.simgrid.driver import Driver

N_CASES = int(os.environ.get("NOCTULE_SIMGRID_CASES", "2000"))
N_TRACES = N_CASES * 2 // 9
FIRST_SEED = int(os.environ.get("NOCTULE_SIMGRID_SEED", "0"))
PER_TEST = 100
TOLERANCE = 1e-9
FAILURES = Path(__file__).parents[2] / "build" / "simgrid"


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + N_CASES, PER_TEST))
def test_dates_and_energies_equal_those_of_simgrid(simgrid: Driver, first: int) -> None:
    cases = [random_case(seed) for seed in range(first, first + PER_TEST)]
    compare(cases, simgrid.answers(cases, processes=1, limit_s=3), "expect")


@pytest.mark.parametrize("first", range(FIRST_SEED, FIRST_SEED + N_TRACES, PER_TEST))
def test_ranks_of_traces_end_when_those_of_simgrid_do(simgrid: Driver, first: int) -> None:
    cases = [random_trace(seed) for seed in range(first, first + PER_TEST)]
    compare(cases, simgrid.replays(cases, "L07", processes=1, limit_s=3), "L07")


def compare(cases: list[dict[str, Any]], answers: list[dict[str, Any]], key: str) -> None:
    """Run cases here, too, but for the few that SimGrid refuses or does not end."""
    answered = 0
    failed = []
    for case, answer in zip(cases, answers, strict=True):
        if "error" in answer:
            continue
        answered += 1
        case[key] = {name: value for name, value in answer.items() if name != "cpu_seconds"}
        problem = disagreement(case)
        if problem:
            failed.append(f"{kept(case)}: {problem}")
    assert not failed, "\n".join(failed)
    assert answered >= 0.97 * len(cases)


def disagreement(case: dict[str, Any]) -> str:
    from vectors import difference, expectation, run_case

    try:
        found = run_case(case)
    except Exception as error:  # any of ours is a failure of this case, not of the others
        return f"{type(error).__name__}: {error}"
    worst = difference(expectation(case), found)
    return "" if worst <= TOLERANCE else f"differs by {worst:.3g}"


def kept(case: dict[str, Any]) -> Path:
    FAILURES.mkdir(parents=True, exist_ok=True)
    path = FAILURES / f"{case['name']}.json"
    path.write_text(json.dumps({"made_with": "SimGrid", "cases": [case]}, indent=1) + "\n")
    return path
