"""Policies whose decisions are made outside: they begin and end with the run."""

from __future__ import annotations

import pytest
from small_runs import delay, job, start_everything, starts

import noctule as nt
from noctule.errors import DeadlockError, DecisionError
from noctule.messages import StartJob
from noctule.policy import OutsidePolicy


class Outside(OutsidePolicy):
    """Keeps what it was told, and does what a function says."""

    def __init__(self, decide=start_everything):
        self.told = []
        self._decide = decide

    def prepare(self, platform, workload):
        self.told.append((platform.n_hosts, len(workload)))

    def decide(self, view, events):
        return list(self._decide(view, events))

    def explain_deadlock(self):
        return "nobody outside wants it"

    def close(self):
        self.told.append("closed")


class Sharing(Outside):
    """Puts everything on the first host."""

    shares_hosts = True

    def decide(self, view, events):
        return [StartJob(waiting, [0], mapping=[0] * waiting.n_hosts) for waiting in view.waiting]


def simulation(policy, jobs, hosts=2) -> nt.Simulation:
    return nt.Simulation(nt.Platform.homogeneous(hosts), nt.Workload.from_jobs(jobs), policy)


def test_it_is_told_of_the_run_before_and_closed_after_it():
    policy = Outside()
    run = simulation(policy, [job("A")])
    assert policy.told == [(2, 1)]
    run.run()
    assert policy.told == [(2, 1), "closed"]


@pytest.mark.parametrize("fails", [ValueError, KeyboardInterrupt])
def test_it_is_closed_when_the_run_fails(fails):
    def decide(view, events):
        raise fails

    policy = Outside(decide)
    with pytest.raises((DecisionError, KeyboardInterrupt)):
        simulation(policy, [job("A")]).run()
    assert policy.told[-1] == "closed"


def test_it_is_closed_when_the_run_is_stopped():
    policy = Outside()
    run = simulation(policy, [job("A"), job("B", submit=5)])
    run.step()
    run.stop()
    assert policy.told[-1] == "closed"


def test_it_explains_a_deadlock():
    with pytest.raises(DeadlockError, match=r"A.*; nobody outside wants it$"):
        simulation(Outside(lambda view, events: []), [job("A")]).run()


def test_it_may_share_hosts_and_put_all_parts_of_a_job_on_one():
    # three parts of B on a machine of two hosts, while A runs there too
    schedule = simulation(Sharing(), [delay("A", 10), delay("B", 10, hosts=3)]).run()
    assert starts(schedule) == {"A": 0, "B": 0}
    assert schedule.column("finish_time").tolist() == [10, 10]
