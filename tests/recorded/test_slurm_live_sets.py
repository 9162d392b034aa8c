"""The model against real runs that it was not fitted on, recorded by `noctule slurm replay`.

Slurm 22.05.8 on loopback, on a machine with much else to do. Sixty jobs each: `tiers` has two
partitions and looks at ten jobs only, `size` orders jobs by size, `cores` shares nodes, and in
`limits` eight jobs run into their limits. Forty jobs each: what they ask for besides nodes and
CPUs is in the options of their traces. `phase05` and `phase17` are one trace of 200 jobs,
with backfilling at seconds 5 and 17 of each half minute.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.slurm.conf.settings import read_settings
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.truth.compare import Case
from noctule.slurm.truth.fidelity import deviation, true_means
from noctule.slurm.truth.sets import read_truth

FOLDER = Path(__file__).parent / "slurm"
# starts in the same second: an end some milliseconds before a pass is seen by it, or not
EXACT = {"tiers": 60, "size": 60, "cores": 58, "limits": 59}
ASKED = ("memory", "gpus", "loaded", "packed", "weights", "features", "leaves", "switches")


def case(name: str) -> Case:
    truth = read_truth(FOLDER / name)
    return Case(truth, read_settings(truth.conf))


@pytest.mark.parametrize("name", EXACT)
def test_given_the_passes_jobs_start_where_and_when_they_did(name):
    told = case(name)
    found = deviation(told.truth.jobs, told.starts(told.given_passes()))
    assert found.n_exact_starts == EXACT[name]
    assert found.n_close_starts == found.n_exact_nodes == 60


@pytest.mark.parametrize("name", ASKED)
def test_memory_gpus_features_weights_and_switches_are_chosen_as_slurm_does(name):
    told = case(name)
    n = len(told.truth.jobs)
    for clocks in (told.given_passes(), told.given_ticks()):
        found = deviation(told.truth.jobs, told.starts(clocks))
        assert (found.n_exact_starts, found.n_exact_nodes) == (n, n)


@pytest.mark.parametrize("name", EXACT)
def test_given_the_ticks_means_are_within_what_two_real_runs_differ_by(name):
    told = case(name)
    found = deviation(told.truth.jobs, told.starts(told.given_ticks()))
    assert abs(found.relative.wait) < 0.005
    assert abs(found.relative.slowdown) < 0.017
    assert found.start_error < 0.01


@pytest.mark.parametrize(("name", "n_exact"), [("phase05", 193), ("phase17", 200)])
def test_at_another_phase_of_backfilling_decisions_are_the_same_too(name, n_exact):
    told = case(name)
    found = deviation(told.truth.jobs, told.starts(told.given_passes()))
    assert found.n_exact_starts == n_exact
    assert found.n_close_starts == 200


def test_the_second_in_which_backfilling_looks_moves_real_waits_as_it_moves_the_models():
    real = {name: true_means(case(name).truth.jobs).wait for name in ("phase05", "phase17")}
    assert real["phase05"] / real["phase17"] == pytest.approx(1.27, abs=0.01)
    # the same jobs in the model, with the clocks of each beginning at eight phases of the ticks
    told = case("phase17")
    waits = {}
    for second in (5, 17):
        begin = (second - told.epoch) % 30 + 0.2
        runs = [
            Clocks(first_tick=i / 8, first_backfill=begin, first_full=40.0, first_limit_check=1.0)
            for i in range(8)
        ]
        each = [deviation(told.truth.jobs, told.starts(clocks)).means.wait for clocks in runs]
        waits[second] = sum(each) / len(each)
    assert 1.15 < waits[5] / waits[17] < 1.4


def test_phases_of_an_ensemble_cover_their_ranges():
    told = case("tiers")
    clocks = told.free_clocks(10, seed=3)
    zero = round(min(c.first_tick for c in clocks) - 0.05, 0)
    tenths = sorted(int((c.first_tick - zero) * 10) for c in clocks)
    halves = sorted(int((c.first_backfill - zero) / 2) for c in clocks)  # of bf_interval=20
    minutes = sorted(int((c.first_full - zero) / 6) for c in clocks)  # of sched_interval=60
    assert tenths == halves == minutes == list(range(10))
    assert told.free_clocks(10, seed=3) == clocks
    assert told.free_clocks(10, seed=4) != clocks
