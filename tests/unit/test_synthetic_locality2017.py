"""The workloads of the study of locality."""

from __future__ import annotations

import math

import pytest
from small_runs import job

import noctule as nt
from noctule import synthetic
from noctule.errors import InputError
from noctule.profile import HomogeneousTask


def log(*rows: tuple[int, float, float]) -> nt.Workload:
    """Return jobs of (hosts, runtime, walltime), named A, B, ..."""
    return nt.Workload.from_jobs(
        [
            job(chr(ord("A") + i), hosts=hosts, runtime=runtime, walltime=walltime)
            for i, (hosts, runtime, walltime) in enumerate(rows)
        ],
        source="log",
    )


def test_amounts_are_in_proportion_to_the_runtime():
    # 4000 s: 4000 x 10^6 flops, 4000 x 20 bytes, walltime 4000 x 1000
    workload = synthetic.locality2017(1, seed=1, jobs_from=log((3, 4000, 5000)), communication=20.0)
    only = workload[0]
    assert only.profile == HomogeneousTask(4e9, 80_000.0)
    assert (only.submit_time, only.request.n_hosts, only.walltime) == (0, 3, 4e6)


@pytest.mark.parametrize(("asked", "walltime"), [(9e6, 9e6), (5000, 4e6), (math.inf, 4e6)])
def test_a_longer_requested_walltime_is_kept(asked, walltime):
    workload = synthetic.locality2017(1, seed=1, jobs_from=log((3, 4000, asked)))
    assert workload.walltime.tolist() == [walltime]


def test_short_long_and_large_jobs_are_left_out():
    jobs = log((1, 3599, 1e5), (2, 3600, 1e5), (16, 14400, 1e5), (4, 14401, 1e5), (17, 5000, 1e5))
    workload = synthetic.locality2017(2, seed=3, jobs_from=jobs)
    assert sorted(workload.n_hosts.tolist()) == [2, 16]


def test_jobs_are_picked_once_and_in_an_order_that_the_seed_tells():
    jobs = log(*((1 + i % 16, 3600 + i, 1e5) for i in range(50)))

    def picked(seed: int) -> list[float]:
        return synthetic.locality2017(30, seed=seed, jobs_from=jobs).walltime.tolist()

    assert len(set(picked(1))) == 30
    assert picked(1) == picked(1) != picked(2)
    assert picked(1) != sorted(picked(1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"n_jobs": 2},
            "log: got 1 jobs of up to 16 hosts and 3600 to 14400 s, expected at least 2",
        ),
        (
            {"communication": math.nan},
            "locality2017: communication: got nan, expected a number >= 0",
        ),
        ({"computation": 0}, "locality2017: computation: got 0, expected a positive number"),
        ({"n_jobs": 0}, "n_jobs: got 0, expected a whole number >= 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, message):
    with pytest.raises(InputError) as error:
        synthetic.locality2017(
            **({"n_jobs": 1, "seed": 1, "jobs_from": log((3, 4000, 5000))} | changes)
        )
    assert str(error.value) == message
