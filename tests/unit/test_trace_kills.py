"""Killing a job whose profile is a trace, some of whose ranks have ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import noctule as nt
from noctule.messages import Decision, Event, KillJob, StartJob
from noctule.workload import HomogeneousTask, Job, Request, Usage, UsageTrace, Workload


class Killer:
    """Starts everything at once, and kills job 0 after five seconds."""

    def decide(self, view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for job in view.waiting:
            yield StartJob(job)
            if job.id == 0:
                yield KillJob(job, time=5.0)


def test_it_leaves_alone_what_began_after_a_rank_had_ended() -> None:
    uneven = UsageTrace(((Usage(1.0, 1.0),), (Usage(1.0, 100.0),)))
    jobs = [
        Job(0, 0.0, Request(2), uneven, 200.0),
        Job(1, 2.0, Request(1), HomogeneousTask(10.0, 0.0), 200.0),
    ]
    schedule = nt.simulate(nt.Platform.homogeneous(3), Workload.from_jobs(jobs), Killer())
    assert schedule.column("job_id").tolist() == [0, 1]
    assert schedule.column("state").tolist() == ["killed", "completed"]
    assert schedule.record.finish_time.tolist() == [5.0, 12.0]
