"""The strategies make what breaks schedulers."""

from __future__ import annotations

import math

import pytest
from hypothesis import Phase, find, given, settings

from noctule.testing.strategies import jobs, platforms, workloads
from noctule.workload import Compute

# Any example will do: it need not be the smallest.
DETERMINISTIC = settings(
    max_examples=2000, derandomize=True, database=None, phases=[Phase.generate]
)


def example(strategy, wanted):
    return find(strategy, wanted, settings=DETERMINISTIC)


@given(workloads(max_jobs=5, max_hosts=3))
def test_workloads_keep_to_their_limits(workload):
    assert len(workload) <= 5
    for job in workload:
        assert 1 <= job.request.n_hosts <= 3
        assert job.profile.work <= job.walltime < math.inf
        assert not job.dependencies
        assert job.cancel_time == math.inf
        assert job.launch_delay == job.epilogue_delay == 0


@given(platforms(max_hosts=3))
def test_platforms_keep_to_their_limits(platform):
    assert 1 <= platform.n_hosts <= 3
    assert platform.speed == 1


def test_platforms_can_have_other_speeds():
    assert example(platforms(speeds=(1.0, 2.0)), lambda p: p.speed == 2).speed == 2


@pytest.mark.parametrize(
    "wanted",
    [
        lambda w: len(w) >= 3 and len(set(w.submit_time.tolist())) == 1,
        lambda w: any(job.profile.work < job.walltime for job in w),
        lambda w: any(job.profile.work == job.walltime for job in w),
        lambda w: any(a.submit_time + a.walltime == b.submit_time for a in w for b in w),
    ],
    ids=["submitted together", "early end", "exact end", "submission at an end"],
)
def test_workloads_tie(wanted):
    assert wanted(example(workloads(), wanted))


@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("overruns", lambda job: job.profile.work > job.walltime),
        ("unlimited", lambda job: job.walltime == math.inf),
        ("cancellations", lambda job: job.cancel_time < math.inf),
        ("delays", lambda job: job.launch_delay > 0 and job.epilogue_delay > 0),
    ],
)
def test_an_option_adds_its_kind_of_job(option, wanted):
    assert wanted(example(jobs(7, **{option: True}), wanted))


def test_a_job_has_the_id_that_was_asked_for():
    job = example(jobs("mine"), lambda job: True)
    assert job.id == "mine"
    assert isinstance(job.profile, Compute)


def test_dependencies_are_on_earlier_jobs():
    def wanted(workload):
        return any(len(job.dependencies) == 2 for job in workload)

    workload = example(workloads(dependencies=True), wanted)

    for job in workload:
        assert all(dependency.job_id < job.id for dependency in job.dependencies)
