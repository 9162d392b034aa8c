"""The published sets of real Slurm runs, read: their means, passes and ticks."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from noctule.slurm.truth.fidelity import SimulatedStart, deviation, true_means
from noctule.slurm.truth.sets import Truth, read_truth
from noctule.slurm.truth.tick_grid import tick_grid

SETS = ("poisson", "bursty", "flood", "parts", "cons", "multifactor")


@pytest.fixture(params=SETS)
def path(request, shared: Path) -> Path:
    found = shared / "truth" / "slurm" / request.param
    if not Path(f"{found}.csv").exists():
        pytest.skip(f"no {found}.csv")
    return found


@pytest.fixture
def truth(path) -> Truth:
    return read_truth(path)


def test_means_are_those_that_were_published(path, truth):
    told = json.loads(Path(f"{path}.metrics.json").read_text())
    found = true_means(truth.jobs)
    assert len(truth.jobs) == told["jobs"]
    assert (found.wait, found.response, found.slowdown) == pytest.approx(
        (told["mean_wait"], told["mean_response"], told["mean_slowdown"])
    )


def test_every_pass_is_a_tick_and_ticks_are_about_a_second_apart(truth):
    grid = tick_grid(truth.log.passes)
    assert {p.date for p in truth.log.passes} <= set(grid.dates)
    assert 1.0 < grid.period < 1.02
    gaps = [there - here for here, there in pairwise(grid.dates)]
    assert min(gaps) > 0.95
    assert max(gaps) < 2.0


def test_every_start_is_an_allocation_of_the_log(truth):
    for job in truth.jobs:
        allocation = truth.log.allocations[job.job_id]
        assert (allocation.nodes, allocation.scheduler) == (job.nodes, job.scheduler)
        assert abs(allocation.date - job.start_date) < 0.01


def test_what_happened_deviates_by_nothing_from_itself(truth):
    same = [SimulatedStart(j.job_id, j.start, j.end, j.nodes) for j in truth.jobs]
    found = deviation(truth.jobs, same)
    assert found.n_exact_starts == found.n_exact_nodes == len(truth.jobs)
    assert found.start_error == found.relative.slowdown == 0
