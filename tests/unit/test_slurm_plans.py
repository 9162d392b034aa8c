"""Backfill passes that go on where the last one ended plan what passes from scratch would.

With select/linear no running job is of whole nodes, so `bf_running_job_reserve` plans nothing more;
but a pass with it always plans from scratch.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import noctule as nt
from noctule.profile import Delay
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.requests import Request, Requests
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import simulate_slurm
from noctule.workload import Request as WorkloadRequest

N_NODES = 8
CONF = """ClusterName=test
SelectType=select/linear
SchedulerParameters={scheduling}
NodeName=n[1-8] CPUs=4
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=half Nodes=n[3-6] MaxTime=INFINITE State=UP {more}
"""


@dataclasses.dataclass
class Drawn:
    submit: float
    runtime: float
    nodes: int
    limit: int
    half: bool
    more: dict[str, Any]


@st.composite
def drawn_jobs(draw: st.DrawFn) -> Drawn:
    half = draw(st.booleans())
    limit = draw(st.sampled_from([1, 2, 7, 30, 60, 90]))
    share = draw(st.sampled_from([0.05, 0.5, 0.99, 1.5]))
    more: dict[str, Any] = {}
    submit = draw(st.integers(0, 3000)) + 0.5
    if draw(st.integers(0, 9)) == 0:
        more["begin"] = submit + draw(st.integers(0, 2000))
    if draw(st.integers(0, 9)) == 0:
        more["deadline"] = submit + draw(st.integers(60, 9000))
    nodes = draw(st.integers(1, 4 if half else N_NODES))
    return Drawn(submit, limit * 60 * share, nodes, limit, half, more)


schedulings = st.builds(
    "bf_interval=30,bf_resolution={},bf_window={},bf_max_job_test={}{}".format,
    st.sampled_from([1, 60, 300]),
    st.sampled_from([10, 60, 1440]),
    st.sampled_from([3, 20, 500]),
    st.sampled_from(["", ",bf_min_age_reserve=400", ",bf_max_job_part=4"]),
)


def outcome(jobs: list[Drawn], scheduling: str, more: str) -> tuple[list[Any], dict[str, object]]:
    workload = nt.Workload.from_jobs(
        nt.Job(
            id=i,
            submit_time=job.submit,
            request=WorkloadRequest(job.nodes),
            profile=Delay(job.runtime),
        )
        for i, job in enumerate(jobs)
    )
    requests = Requests.of(
        Request(
            min_nodes=job.nodes,
            limit=job.limit,
            partitions=("half", "main") if job.half else ("main",),
            **job.more,
        )
        for job in jobs
    )
    conf = settings_from(parse_conf(CONF.format(scheduling=scheduling, more=more), "slurm.conf"))
    schedule, model = simulate_slurm(workload, conf, requests, clocks=Clocks())
    told = schedule.jobs[["job_id", "start_time", "finish_time", "hosts"]]
    return told.to_numpy().tolist(), model.statistics()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(drawn_jobs(), min_size=2, max_size=40),
    schedulings,
    st.sampled_from(["", "PriorityTier=2"]),
)
def test_a_pass_that_goes_on_plans_what_one_from_scratch_would(
    jobs: list[Drawn], scheduling: str, more: str
) -> None:
    jobs.sort(key=lambda job: job.submit)
    anew = outcome(jobs, scheduling + ",bf_running_job_reserve", more)
    assert repr(outcome(jobs, scheduling, more)) == repr(anew)
