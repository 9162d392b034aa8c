"""Host-seconds that jobs held before they started: in the columns of jobs, in files, in metrics."""

from __future__ import annotations

import pytest

from noctule import Platform, Schedule, simulate
from noctule.messages import StartJob
from noctule.metrics import HELD, METRICS, summary
from noctule.policy import OutsidePolicy
from noctule.testing import a_job, a_workload


class Holding(OutsidePolicy):
    """Starts jobs at once, and tells that the second held hosts before."""

    def decide(self, view, events):
        return [StartJob(job.id, range(job.n_hosts)) for job in view.waiting]

    def held(self):
        return {2: 30.0}


def held_run() -> Schedule:
    # two hosts for 100 s: the first job has both until 20, the second one of them from 50 on
    jobs = [a_job(1, hosts=2, runtime=20), a_job(2, submit=50, runtime=50)]
    return simulate(Platform.homogeneous(2), a_workload(*jobs), Holding())


def test_what_was_held_is_told_beside_what_was_used():
    numbers = summary(held_run())
    assert numbers["utilisation"] == (2 * 20 + 50) / 200
    assert numbers["held_node_seconds"] == 30
    assert numbers["occupancy"] == pytest.approx((2 * 20 + 50 + 30) / 200)
    assert list(numbers) == [metric.name for metric in (*METRICS, *HELD)]


def test_jobs_submitted_outside_the_window_are_left_out():
    # the window ends at 49.9, just before the second job comes
    assert summary(held_run(), cool_down=50.1)["held_node_seconds"] == 0


def test_runs_in_which_nobody_held_hosts_have_no_such_numbers():
    schedule = simulate(Platform.homogeneous(1), a_workload(a_job(1)), "fcfs")
    assert "occupancy" not in summary(schedule)
    assert "held_node_seconds" not in schedule.jobs


@pytest.mark.parametrize("parquet", [False, True])
def test_saved_schedules_tell_what_was_held(tmp_path, parquet):
    if parquet:
        pytest.importorskip("pyarrow")
    schedule = held_run()
    schedule.save(tmp_path, parquet=parquet)
    again = Schedule.load(tmp_path)
    assert again.column("held_node_seconds").tolist() == [0, 30]
    assert again.jobs["held_node_seconds"].tolist() == [0, 30]
    assert summary(again)["occupancy"] == summary(schedule)["occupancy"]
