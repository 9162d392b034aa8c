"""Batches of native runs, and small files in one call."""

from __future__ import annotations

import pytest
from campaign_files import EXAMPLES

from noctule import Platform, Simulation, Workload, _core, load_workload, metrics, simulate
from noctule.batch import run_batch
from noctule.errors import InputError
from noctule.policies import Fcfs
from noctule.workload import Delay, Job, Request

WHOLE, TRIMMED = (0.0, 0.0, 10.0), (3600.0, 7200.0, 60.0)


def test_a_batch_gives_what_single_runs_give():
    workload = load_workload(EXAMPLES / "night.swf")
    platform = Platform.homogeneous(128)
    policies = ["easy", "fcfs", "conservative", "filler", "easy(order=sjf)"]
    simulations = [Simulation(platform, workload, policy) for policy in policies]
    found = list(run_batch(simulations, [WHOLE, TRIMMED], lambda: None))
    for policy, simulation, sets in zip(policies, simulations, found, strict=True):
        schedule = simulate(platform, workload, policy)
        trimmed = metrics.summary(schedule, warm_up=3600, cool_down=7200, threshold=60)
        assert sets == [metrics.summary(schedule), trimmed]
        assert simulation.schedule().jobs.equals(schedule.jobs)


def test_a_run_that_fails_does_not_end_the_batch():
    stuck = Workload.from_jobs([Job(1, 0.0, Request(9), Delay(5.0))])
    fine = Workload.from_jobs([Job(1, 0.0, Request(1), Delay(5.0))])
    platform = Platform.homogeneous(4)
    simulations = [
        Simulation(platform, workload, "fcfs", reject_oversized=False)
        for workload in (fine, stuck, fine)
    ]
    first, second, third = run_batch(simulations, [WHOLE], lambda: None)
    assert first == third
    assert first[0]["makespan"] == 5.0
    with pytest.raises(Exception, match=r".+") as told:
        simulate(platform, stuck, "fcfs", reject_oversized=False)
    assert second == str(told.value)


def test_a_batch_can_be_stopped_on_the_way(monkeypatch):
    monkeypatch.setattr("noctule.batch._SECONDS_A_TURN", 0.0)
    workload = load_workload(EXAMPLES / "night.swf")
    platform = Platform.homogeneous(128)
    simulations = [Simulation(platform, workload, "easy") for _ in range(3)]

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_batch(simulations, [WHOLE], stop))


def test_a_policy_in_python_has_no_place_in_a_batch():
    workload = load_workload(EXAMPLES / "night.swf")
    simulation = Simulation(Platform.homogeneous(128), workload, Fcfs)
    with pytest.raises(InputError, match="got a policy in Python, expected a native one"):
        list(run_batch([simulation], [WHOLE], lambda: None))


def test_small_files_are_written_with_their_folders(tmp_path):
    paths = [str(tmp_path / "a" / "b" / "one"), str(tmp_path / "two")]
    files = [(paths[0], b"\0 one"), (paths[1], b"")]
    assert _core.write_small_files(files) == (2, 0)
    assert _core.read_small_files([*paths, str(tmp_path / "three")]) == [b"\0 one", b"", None]
    position, error = _core.write_small_files([(f"{paths[0]}/under", b"x")])
    assert (position, error != 0) == (0, True)
