"""CompleteWait: what starts while a job has ended, but its nodes have not.

Clocks are those of test_slurm_model. Job A runs on n1 from 1.25 to 5.25, and its epilogue takes
until 15.35; B, of its partition, and C, of the other one, come at 6.
"""

from __future__ import annotations

import pytest
from test_slurm_model import Asked, settings, starts

PARTITIONS = ["PartitionName=left Nodes=n[1-2] Default=YES", "PartitionName=right Nodes=n[3-4]"]
RIGHT = {"partitions": ("right",)}
JOBS = [Asked(1.0, 4, 1), Asked(6.0, 9, 1), Asked(6.0, 9, 1, more=RIGHT)]


def found(wait: int, jobs: list[Asked], scheduling: str = "", partitions: list[str] = PARTITIONS):
    conf = settings(4, scheduling=scheduling, partitions=partitions, more=f"CompleteWait={wait}\n")
    return starts(conf, jobs, epilogue_delay=10.1)[1:]


def test_nothing_starts_while_a_job_completes():
    assert found(0, JOBS) == [6.25, 6.25]
    assert found(20, JOBS) == [16.25, 16.25]


@pytest.mark.parametrize(("last", "start"), [(10.0, 16.25), (11.0, 11.25)])
def test_a_job_that_ended_longer_ago_than_that_holds_nobody_back(last, start):
    # A ended in second 5: a pass in second 10 does nothing, one in second 11 does
    assert found(5, [*JOBS, Asked(last, 9, 1, more=RIGHT)]) == [start] * 3


def test_a_job_whose_nodes_are_free_holds_nobody_back_though_it_ended_last():
    # the epilogue of A goes on until 15.35, ten seconds after its end, when it holds nobody back;
    # that of B, which ended at 8.25, does until 18.35. The job of 12 starts with the next pass
    # after that
    jobs = [Asked(1.0, 4, 1), Asked(1.0, 7, 1), Asked(12.0, 9, 1, more=RIGHT)]
    assert found(9, jobs) == [1.25, 19.25]


def test_reduce_completing_frag_closes_the_partitions_of_such_jobs_only():
    assert found(20, JOBS, "bf_interval=30,reduce_completing_frag") == [16.25, 6.25]


def test_reduce_completing_frag_closes_partitions_that_share_their_nodes_as_well():
    wide = [PARTITIONS[0], "PartitionName=right Nodes=n[2-4]"]
    assert found(20, JOBS, "bf_interval=30,reduce_completing_frag", wide) == [16.25, 16.25]


def test_backfilling_waits_for_all_partitions_whatever_that_says():
    # C wants all of its partition, where D runs until 70, and E would end before that: only
    # backfilling starts it. A's successor ends at 30.25 and completes until 40.35, in the cycle
    # of 30.5, which waits until then: 40.5
    jobs = [
        Asked(1.0, 4, 1),
        Asked(1.0, 69, 1, limit=5, more=RIGHT),
        Asked(2.0, 9, 2, limit=9, more=RIGHT),
        Asked(3.0, 9, 1, limit=1, more=RIGHT),
    ]
    assert found(20, jobs, "bf_interval=30,reduce_completing_frag")[2] == 30.5
    jobs[0] = Asked(1.0, 29, 1)
    assert found(20, jobs, "bf_interval=30,reduce_completing_frag")[2] == 40.5
