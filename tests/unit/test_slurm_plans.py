"""Backfilling takes short cuts, and plans what it would plan without them.

There are two. A pass goes on where the last one ended, if nothing has changed; one with
`bf_running_job_reserve` never does, and with select/linear it has nothing more to plan. And a pass
remembers where it found too few nodes; one whose tests cost time, however little, does not.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slurm_cases import Asked, attempts_of, conf_of, simulate_case

from noctule.slurm.model.clocks import Clocks

N_NODES = 8
COSTS = {"backfill_test": 1e-9, "prediction_step": 1e-9}


@st.composite
def asked_jobs(draw: st.DrawFn) -> Asked:
    half = draw(st.booleans())
    limit = draw(st.sampled_from([1, 2, 7, 30, 60, 90]))
    share = draw(st.sampled_from([0.05, 0.5, 0.99, 1.5]))
    submit = draw(st.integers(0, 3000)) + 0.5
    more: dict[str, Any] = {}
    if draw(st.integers(0, 9)) == 0:
        more["begin"] = submit + draw(st.integers(0, 2000))
    if draw(st.integers(0, 9)) == 0:
        more["deadline"] = submit + draw(st.integers(60, 9000))
    if draw(st.integers(0, 9)) == 0:
        more["contiguous"] = True
    if draw(st.integers(0, 9)) == 0:
        more["oversubscribe"] = True
    if draw(st.integers(0, 9)) == 0:
        more["excluded_nodes"] = draw(st.sampled_from(["n1", "n[2-3]"]))
    nodes = draw(st.integers(1, 3 if half else 6))
    partition = "high,low" if half else "low"
    return Asked(submit, limit * 60 * share, nodes, partition, limit, more)


schedulings = st.builds(
    "bf_interval=30,bf_resolution={},bf_window={},bf_max_job_test={}{}".format,
    st.sampled_from([1, 60, 300]),
    st.sampled_from([10, 60, 1440]),
    st.sampled_from([3, 20, 500]),
    st.sampled_from(["", ",bf_min_age_reserve=400", ",bf_max_job_part=4"]),
)


def outcome(
    jobs: list[Asked], scheduling: str, share: str, costs: dict[str, float] | None = None
) -> tuple[Any, ...]:
    n_nodes = max(N_NODES, *(job.size + 2 for job in jobs))
    conf = conf_of(n_nodes=n_nodes, scheduling=scheduling, share=share, high="Nodes=n[3-6]")
    schedule, model = simulate_case(conf, jobs, clocks=Clocks(), costs=costs)
    backfill = model.statistics()["backfill"]
    assert isinstance(backfill, dict)
    return attempts_of(schedule), backfill["passes"], backfill["tested"], backfill["started"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(asked_jobs(), min_size=2, max_size=40),
    schedulings,
    st.sampled_from(["NO", "NO", "YES:2"]),
)
def test_short_cuts_change_nothing(jobs: list[Asked], scheduling: str, share: str) -> None:
    jobs.sort(key=lambda job: job.submit)
    found = outcome(jobs, scheduling, share)
    assert repr(found) == repr(outcome(jobs, scheduling + ",bf_running_job_reserve", share))
    assert repr(found) == repr(outcome(jobs, scheduling, share, COSTS))


@pytest.mark.parametrize("seed", range(2))
def test_short_cuts_change_nothing_in_a_long_queue(seed: int) -> None:
    random = Random(seed)
    jobs = []
    for _ in range(160):
        limit = random.randrange(1, 200)
        runtime = limit * 60 * random.choice([0.02, 0.3, 0.9, 1.0])
        size = min(40, int(2 ** random.uniform(0, 5.5)))
        jobs.append(Asked(random.uniform(0, 6000), runtime, size, "low", limit))
    jobs.sort(key=lambda job: job.submit)
    scheduling = "bf_interval=180,bf_max_job_test=200"
    assert repr(outcome(jobs, scheduling, "NO")) == repr(outcome(jobs, scheduling, "NO", COSTS))
