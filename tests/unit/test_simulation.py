"""What the engine does with time and jobs."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from small_runs import (
    Scripted,
    delay,
    finishes,
    hosts_of,
    job,
    run,
    start_everything,
    starts,
    states,
)

import noctule as nt
from noctule import HostSet, policies
from noctule.messages import (
    RejectJob,
    StartJob,
)
from noctule.platform import HostKind, Hosts
from noctule.workload import Compute, Delay


def test_a_computation_as_long_as_its_walltime_succeeds_and_a_delay_fails():
    jobs = [job("computation", runtime=10, walltime=10), delay("delay", 10, walltime=10)]
    schedule = run("fcfs", jobs)
    assert states(schedule) == {"computation": "completed", "delay": "timed_out"}
    assert finishes(schedule) == {"computation": 10, "delay": 10}


def test_a_job_longer_than_its_walltime_is_stopped_there():
    schedule = run("fcfs", [job("A", runtime=100, walltime=30)])
    assert states(schedule) == {"A": "timed_out"}
    assert finishes(schedule) == {"A": 30}


def test_walltimes_can_be_left_to_the_policy():
    schedule = run("fcfs", [job("A", runtime=100, walltime=30)], enforce_walltime=False)
    assert states(schedule) == {"A": "completed"}
    assert finishes(schedule) == {"A": 100}


def test_speed_shortens_computations_but_not_delays():
    schedule = run("fcfs", [job("A", runtime=10), delay("B", 10)], speed=2)
    assert finishes(schedule) == {"A": 5, "B": 10}


def test_a_profile_with_a_return_code_fails():
    schedule = run("fcfs", [job("A", profile=Compute(5, return_code=1))])
    assert states(schedule) == {"A": "failed"}


def test_a_job_larger_than_the_platform_is_rejected_on_submission():
    policy = Scripted(start_everything)
    schedule = run(policy, [job("A", hosts=5, submit=3), job("B", hosts=4, submit=3)], hosts=4)
    assert states(schedule) == {"A": "rejected", "B": "completed"}
    assert math.isnan(starts(schedule)["A"])
    assert policy.calls[1] == (3, ["JobSubmitted"])


def test_oversized_jobs_can_be_left_to_the_policy():
    def decide(view, events):
        return [RejectJob(j) if j.n_hosts > view.n_hosts else StartJob(j) for j in view.waiting]

    schedule = run(Scripted(decide), [job("A", hosts=5)], hosts=4, reject_oversized=False)
    assert states(schedule) == {"A": "rejected"}


def test_a_policy_is_called_at_zero_even_if_nothing_is_submitted_then():
    policy = Scripted(start_everything)
    run(policy, [job("A", submit=7)])
    assert policy.calls[0] == (0, ["SimulationStarted"])


def test_a_job_waits_for_its_dependencies_and_the_thinking_of_its_user():
    # A ends at 10, B thinks 5 -> 15; C waits for both: max(10 + 0, 25 + 1) = 26
    jobs = [job("A"), job("B", after={"A": 5}), job("C", after={"A": 0, "B": 1})]
    schedule = run("fcfs", jobs)
    assert starts(schedule) == {"A": 0, "B": 15, "C": 26}
    assert schedule.column("submit_time").tolist() == [0, 15, 26]


def test_a_dependency_without_thinking_joins_the_instant_of_the_end():
    policy = Scripted(start_everything)
    run(policy, [job("A"), job("B", after={"A": 0})])
    assert policy.calls[1] == (10, ["JobFinished", "JobSubmitted"])


def test_a_dependent_job_is_not_submitted_before_its_own_date():
    jobs = [job("A"), job("B", submit=50, after={"A": 5}), job("C", submit=12, after={"A": 5})]
    assert starts(run("fcfs", jobs)) == {"A": 0, "B": 50, "C": 15}


def test_jobs_that_wait_for_a_rejected_one_go_on():
    jobs = [job("A", hosts=9, submit=2), job("B", after={"A": 3})]
    assert starts(run("fcfs", jobs))["B"] == 5


def test_a_user_gives_up_waiting():
    jobs = [job("A", hosts=4, runtime=100), job("B", cancel=30), job("C", cancel=200)]
    policy = Scripted(
        lambda view, events: [StartJob(j) for j in view.waiting if j.n_hosts <= view.n_free][:1]
    )
    schedule = run(policy, jobs)
    assert states(schedule) == {"A": "completed", "B": "cancelled", "C": "completed"}
    assert (30, ["JobCancelled"]) in policy.calls


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
def test_native_policies_forget_cancelled_jobs(policy):
    # B, first in line behind A, gives up at 30, so C runs at once: it fits beside A.
    jobs = [
        job("A", hosts=3, runtime=100, walltime=100),
        job("B", hosts=4, runtime=10, walltime=10, cancel=30),
        job("C", hosts=1, runtime=200, walltime=200, submit=1),
    ]
    schedule = run(policy, jobs)
    assert states(schedule)["B"] == "cancelled"
    assert starts(schedule)["C"] == (1 if policy == "filler" else 30)


def test_hosts_are_not_free_during_an_epilogue():
    # A runs 0-10 and its hosts stay unusable until 13
    policy = Scripted(
        lambda view, events: [StartJob(j) for j in view.waiting if j.n_hosts <= view.n_free][:1]
    )
    schedule = run(policy, [job("A", hosts=4, epilogue=3), job("B", hosts=4)])
    assert starts(schedule)["B"] == 13
    assert (10, ["JobFinished"]) in policy.calls
    assert (13, ["HostsReleased"]) in policy.calls
    assert finishes(schedule)["A"] == 10


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replanning", "filler"])
@pytest.mark.parametrize("allocation", ["first", "contiguous"])
def test_native_policies_wait_for_epilogues(policy, allocation):
    # launch 2 + run 10 + epilogue 3: the second job starts at 15, the third, of one host, too
    jobs = [job(n, hosts=h, walltime=10) for n, h in [("A", 4), ("B", 3), ("C", 2), ("D", 1)]]
    schedule = run(f"{policy}(allocation={allocation})", jobs, launch_delay=2, epilogue_delay=3)
    assert starts(schedule)["B"] == 15
    assert starts(schedule)["D"] in (15, 30)
    assert finishes(schedule)["A"] == 12


def test_a_launch_delays_the_profile_and_not_the_start():
    schedule = run("fcfs", [job("A", runtime=10, walltime=10, launch=2)])
    assert starts(schedule) == {"A": 0}
    assert finishes(schedule) == {"A": 12}
    assert states(schedule) == {"A": "completed"}


def test_a_run_stops_at_a_date():
    schedule = run("fcfs", [job("A", hosts=4, runtime=100), job("B")], until=60)
    assert states(schedule) == {"A": "running", "B": "waiting"}
    assert starts(schedule)["A"] == 0
    assert math.isnan(finishes(schedule)["A"])
    assert hosts_of(schedule) == {"A": "0-3", "B": ""}


def test_a_simulation_can_be_stepped_and_looked_at():
    workload = nt.Workload.from_jobs([job("A", hosts=3), job("B", hosts=2), job("C", submit=5)])
    simulation = nt.Simulation(nt.Platform.homogeneous(4), workload, "fcfs")
    assert simulation.step()
    assert simulation.now == 0
    assert [j.id for j in simulation.view.running] == ["A"]
    assert [j.id for j in simulation.view.waiting] == ["B"]
    assert str(simulation.view.free) == "3"
    assert states(simulation.schedule()) == {"A": "running", "B": "waiting"}
    schedule = simulation.run()
    assert simulation.ended
    assert states(schedule) == {"A": "completed", "B": "completed", "C": "completed"}


def test_a_simulation_can_be_stopped():
    workload = nt.Workload.from_jobs([job("A"), job("B", submit=50)])
    simulation = nt.Simulation(nt.Platform.homogeneous(4), workload, "fcfs")
    simulation.step(2)
    simulation.stop()
    assert not simulation.step()
    assert states(simulation.schedule()) == {"A": "completed"}


def test_progress_is_reported_while_a_run_goes_on(monkeypatch):
    monkeypatch.setattr("noctule.simulation._FIRST_NATIVE_SLICE", 1)
    seen = []
    workload = nt.Workload.from_jobs([job("A"), job("B", submit=5), job("C", submit=9)])
    nt.simulate(nt.Platform.homogeneous(2), workload, "fcfs", progress=seen.append)
    assert [p.n_ended for p in seen] == sorted(p.n_ended for p in seen)
    assert seen[0].n_jobs == 3


def test_two_simulations_run_in_two_threads():
    workload = nt.Workload.from_jobs(
        [job(f"{i}", hosts=1 + i % 4, runtime=1 + i % 7, submit=i // 3) for i in range(3000)]
    )
    platform = nt.Platform.homogeneous(4)
    alone = nt.simulate(platform, workload, "easy")
    results: list[nt.Schedule] = []
    threads = [
        threading.Thread(target=lambda: results.append(nt.simulate(platform, workload, "easy")))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for schedule in results:
        assert np.array_equal(schedule.column("start_time"), alone.column("start_time"))


def test_the_readable_policies_can_be_used_again():
    jobs = [job(str(i), hosts=1 + i % 3, walltime=20, submit=i) for i in range(9)]
    for policy in (policies.Fcfs(), policies.Easy(), policies.Conservative(), policies.Filler()):
        assert starts(run(policy, jobs)) == starts(run(policy, jobs))


def test_a_run_lasts_until_the_last_epilogue():
    policy = Scripted(start_everything)
    schedule = run(policy, [job("A", hosts=3, epilogue=5)])
    assert policy.calls[-1] == (15, ["HostsReleased"])
    assert schedule.host_states.values.tolist() == [[0, 1, 3], [10, 1, 3], [15, 4, 0]]


def test_an_interrupted_run_does_not_go_on():
    def decide(view, events):
        if view.now == 5:
            raise KeyboardInterrupt
        return start_everything(view, events)

    workload = nt.Workload.from_jobs([job("A"), job("B", submit=5)])
    simulation = nt.Simulation(nt.Platform.homogeneous(4), workload, Scripted(decide))
    with pytest.raises(KeyboardInterrupt):
        simulation.run()
    assert simulation.ended
    assert states(simulation.schedule()) == {"A": "running", "B": "waiting"}


@pytest.mark.parametrize("policy", ["conservative", "noctule.policies:Conservative"])
@pytest.mark.parametrize("options", [{"epilogue_delay": 1}, {"launch_delay": 1}])
def test_conservative_plans_survive_delays(policy, options):
    jobs = [
        job(str(i), hosts=1 + i % 4, runtime=5 + i % 3, walltime=7 + i % 2, submit=i)
        for i in range(40)
    ]
    assert set(states(run(policy, jobs, **options)).values()) == {"completed"}


def test_a_late_release_does_not_break_the_order_of_promises():
    # 4 hosts. A holds 3 until 10 (+1 ms of epilogue), B (4 hosts) is promised 10, C (1 host, 10 s)
    # passes at 0, D (1 host for 50 s) would delay B: promised 20, after B, and so is E.
    jobs = [
        job("A", hosts=3, runtime=10, walltime=10),
        job("B", hosts=4, runtime=10, walltime=10),
        job("C", hosts=1, runtime=10, walltime=10),
        job("D", hosts=1, runtime=50, walltime=50),
        job("E", hosts=4, runtime=10, walltime=10, submit=1),
        job("F", hosts=3, runtime=50, walltime=50, submit=2),
    ]
    began = starts(run("conservative", jobs, epilogue_delay=0.001))
    assert began["B"] == 10.001
    assert began["D"] == pytest.approx(20.002)
    assert began["F"] == pytest.approx(20.002)
    assert began["E"] > began["F"]


def test_an_empty_workload_is_a_run_without_jobs():
    assert len(run("easy", [])) == 0


def test_delays_and_computations_keep_their_profile_in_the_workload():
    workload = nt.Workload.from_jobs([job("A"), delay("B", 4)])
    assert [j.profile for j in workload] == [Compute(10), Delay(4)]


def test_the_slowest_of_its_hosts_sets_the_pace_of_a_job():
    # hosts of speed 1, 2 and 4; the reference is the first one's
    kinds = [HostKind(speeds=(speed,)) for speed in (1.0, 2.0, 4.0)]
    platform = nt.Platform(Hosts(["a", "b", "c"], kinds, np.arange(3, dtype=np.int32)))
    starts_on = {"A": "0 2", "C": "1-2", "D": "2"}

    def decide(view, events):
        waiting = [job for job in view.waiting if set(HostSet(starts_on[job.id])) <= set(view.free)]
        return [StartJob(job, starts_on[job.id]) for job in waiting[:1]]

    jobs = [job("A", hosts=2, runtime=8), job("C", hosts=2, runtime=8), job("D", runtime=8)]
    schedule = nt.simulate(platform, nt.Workload.from_jobs(jobs), Scripted(decide))
    # A on speeds 1 and 4: 8 s; C on 2 and 4: 4 s; D on 4: 2 s
    runtimes = dict(zip(schedule.column("job_id"), schedule.column("runtime"), strict=True))
    assert runtimes == {"A": 8, "C": 4, "D": 2}
