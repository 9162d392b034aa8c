"""The driver asks SimGrid the right questions: it finds what the vectors say SimGrid answered."""

from __future__ import annotations

from typing import Any

import pytest
from random_cases import random_case
from random_traces import random_trace

from noctule.simgrid.driver import NETWORKS, Driver

Answer = dict[str, Any]


def close(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-13, abs=1e-15)


def assert_equal_tasks(found: Answer, expected: Answer) -> None:
    assert found.keys() == expected.keys()
    for name, task in expected.items():
        assert found[name]["kind"] == task["kind"]
        assert found[name]["status"] == task["status"], name
        assert close(found[name]["start"], task["start"]), name
        assert close(found[name]["end"], task["end"]), name


def assert_equal_routes(found: Answer, expected: Answer) -> None:
    # not the names of links: those of cluster512.xml were changed since
    assert found.keys() == expected.keys()
    for pair, route in expected.items():
        assert close(found[pair]["latency"], route["latency"]), pair
        assert len(found[pair]["links"]) == len(route["links"]), pair


def test_published_answers_are_found_again(
    simgrid: Driver, published: list[dict[str, Any]]
) -> None:
    for case, found in zip(published, simgrid.answers(published), strict=True):
        expected = case["expect"]
        if "error" in expected:
            assert "error" in found
            continue
        assert found.keys() - {"cpu_seconds"} == expected.keys(), case["name"]
        assert_equal_tasks(found.get("tasks", {}), expected.get("tasks", {}))
        assert_equal_routes(found.get("routes", {}), expected.get("routes", {}))
        assert close(found["end"], expected["end"]), case["name"]
        for host, joules in expected.get("energy", {}).items():
            assert close(found["energy"][host], joules), (case["name"], host)
        for reading, said in zip(
            found.get("energyat", []), expected.get("energyat", []), strict=True
        ):
            assert reading["host"] == said["host"]
            for key in ("t", "joules", "watts", "load"):
                assert close(reading[key], said[key]), (case["name"], key)


@pytest.mark.parametrize("network", NETWORKS)
def test_published_traces_end_at_their_dates(
    simgrid: Driver, published_traces: list[dict[str, Any]], network: str
) -> None:
    cases = [case for case in published_traces if network in case]
    for case, found in zip(cases, simgrid.replays(cases, network), strict=True):
        assert found.keys() - {"cpu_seconds"} == case[network].keys(), case["name"]
        for rank, date in case[network].items():
            assert close(found[rank], date), (case["name"], rank)


def test_the_same_seed_gives_the_same_case() -> None:
    assert random_case(17) == random_case(17)
    assert random_trace(17) == random_trace(17)


def test_seeds_give_different_cases() -> None:
    assert len({str(random_case(seed)) for seed in range(100)}) == 100
    assert len({str(random_trace(seed)) for seed in range(100)}) == 100


def test_what_simgrid_refuses_is_an_error_and_nothing_more(simgrid: Driver) -> None:
    good, bad = random_case(0), random_case(1)
    bad["commands"] = ["exec a 0 nobody 1e9"]
    found = simgrid.answers([good, bad, good])
    assert found[0]["tasks"] == found[2]["tasks"]
    assert found[1].keys() == {"error"}
