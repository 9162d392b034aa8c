"""The model against runs of a real Slurm 22.05.8, where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noctule.slurm.conf.settings import read_settings
from noctule.slurm.truth.compare import Case
from noctule.slurm.truth.fidelity import deviation, spread
from noctule.slurm.truth.sets import read_truth

TRUTH = Path(os.environ.get("NOCTULE_SHARED", "../shared")) / "truth" / "slurm"
LINEAR = ("poisson", "bursty", "flood", "parts")

pytestmark = pytest.mark.skipif(
    not TRUTH.exists(),
    reason=f"no runs of a real Slurm in {TRUTH}; NOCTULE_SHARED names its folder",
)


def case_of(name: str) -> Case:
    truth = read_truth(TRUTH / name)
    return Case(truth, read_settings(truth.conf))


@pytest.mark.parametrize("name", LINEAR)
def test_given_the_passes_every_start_and_every_node_list_is_that_of_slurm(name: str) -> None:
    case = case_of(name)
    found = deviation(case.truth.jobs, case.starts(case.given_passes()))
    assert (found.n_exact_starts, found.n_exact_nodes) == (200, 200)


@pytest.mark.parametrize("name", LINEAR)
def test_given_the_ticks_means_are_those_of_slurm(name: str) -> None:
    # two real runs of one input differ by up to 0.45 % in mean wait; 1.7 % is the paper's bound
    case = case_of(name)
    found = deviation(case.truth.jobs, case.starts(case.given_ticks()))
    assert abs(found.relative.wait) < 0.005
    assert abs(found.relative.response) < 0.005
    assert abs(found.relative.slowdown) < 0.017
    assert found.start_error < 0.01


@pytest.mark.parametrize("name", ["poisson", "bursty", "flood"])
def test_free_runs_scatter_around_slurm(name: str) -> None:
    case = case_of(name)
    found = spread(case.truth.jobs, [case.starts(one) for one in case.free_clocks(24, seed=1)])
    assert abs(found.means.wait) < 0.03
    assert found.distance.wait < 2
    assert found.deviation.wait < 0.06


def test_the_same_clocks_give_the_same_starts() -> None:
    case = case_of("flood")
    (clocks,) = case.free_clocks(1, seed=7)
    assert case.starts(clocks) == case.starts(clocks)
