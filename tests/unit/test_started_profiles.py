"""Jobs that are started with another profile than their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import noctule as nt
from noctule.errors import DecisionError
from noctule.messages import Decision, Event, JobSubmitted, StartJob
from noctule.workload import Compute, Delay, Job, ParallelTask, Request, UnsupportedProfile


class StartsWith:
    """Starts all jobs on the same hosts, with a profile."""

    def __init__(self, hosts: str | None, profile: Any, mapping: list[int] | None = None) -> None:
        self.hosts, self.profile, self.mapping = hosts, profile, mapping

    def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for event in events:
            if isinstance(event, JobSubmitted):
                hosts = None if self.hosts is None else nt.HostSet(self.hosts)
                yield StartJob(event.job, hosts, mapping=self.mapping, profile=self.profile)


def runtime(policy: StartsWith, **options: Any) -> float:
    workload = nt.Workload.from_jobs([Job("a", 0.0, Request(2), Delay(1.0))])
    platform = nt.Platform.homogeneous(4)
    schedule = nt.simulate(platform, workload, policy, **{"machine": True, **options})
    return float(schedule.column("finish_time")[0])


def test_the_other_profile_runs_on_the_hosts_that_it_is_for() -> None:
    # 5 flops on the slowest of three hosts, at 1 flop/s
    assert runtime(StartsWith("0 2-3", ParallelTask((1.0, 5.0, 2.0)))) == 5.0


def test_a_total_is_spread_over_executors() -> None:
    # 8 flops of four executors, two on each host: 2 flops each, half the speed
    assert runtime(StartsWith("0-1", Compute(8.0, spread=True), [0, 0, 1, 1])) == 4.0


@pytest.mark.parametrize(
    ("policy", "options", "sentence"),
    [
        (StartsWith(None, Delay(2.0)), {}, "got a mapping, storages or a profile without hosts"),
        (StartsWith("0-1", "delay"), {}, "got the profile 'delay', expected a Profile"),
        (StartsWith("0-1", ParallelTask((1.0,))), {}, "n_hosts: got 2, expected 1, the size of"),
        (StartsWith("0-1", UnsupportedProfile("odd", {})), {}, "profile type odd cannot be simul"),
        (StartsWith("0-1", Delay(2.0)), {"machine": False}, "Delay cannot be run without a mach"),
    ],
)
def test_what_cannot_be_run_is_refused(
    policy: StartsWith, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DecisionError) as caught:
        runtime(policy, **options)
    assert "StartJob(job_id=a)" in str(caught.value)
    assert sentence in str(caught.value)
