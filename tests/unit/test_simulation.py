"""What the engine does with time, jobs and decisions."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import math
import threading
import weakref

import numpy as np
import pytest
from small_runs import Scripted, delay, finishes, hosts_of, job, run, starts, states

import noctule as nt
from noctule import HostSet, policies
from noctule.errors import DeadlockError, DecisionError, InputError
from noctule.messages import (
    CallAt,
    CancelCall,
    HostsReleased,
    JobFinished,
    JobSubmitted,
    KillJob,
    RegisterJob,
    RejectJob,
    SimulationStarted,
    StartJob,
    TimerFired,
)
from noctule.platform import HostKind, Hosts
from noctule.policies import make_policy
from noctule.workload import Compute, Delay, Request, UnsupportedProfile


def start_everything(view, events):
    return [StartJob(job) for job in view.waiting]


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


def test_a_policy_can_stop_jobs_at_their_walltimes_itself():
    def decide(view, events):
        for event in events:
            match event:
                case JobSubmitted(job=submitted):
                    yield StartJob(submitted)
                    yield CallAt(view.now + submitted.walltime + 5, "grace")
                case TimerFired(tag="grace"):
                    yield from (KillJob(running) for running in view.running)

    schedule = run(Scripted(decide), [job("A", runtime=100, walltime=30)], enforce_walltime=False)
    assert states(schedule) == {"A": "killed"}
    assert finishes(schedule) == {"A": 35}


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


def test_at_one_instant_ends_come_before_submissions_and_timers_last():
    # A ends, B is submitted and the timer is due, all at 10.
    def decide(view, events):
        if view.now == 0:
            yield CallAt(10, "tick")
        yield from start_everything(view, events)

    policy = Scripted(decide)
    run(policy, [job("A", runtime=10), job("B", submit=10)])
    assert policy.calls == [
        (0, ["SimulationStarted", "JobSubmitted"]),
        (10, ["JobFinished", "JobSubmitted", "TimerFired"]),
        (20, ["JobFinished"]),
    ]


def test_what_decisions_cause_at_the_same_instant_makes_a_new_call():
    # a job without work starts and ends at 0: two calls at 0
    policy = Scripted(start_everything)
    schedule = run(policy, [job("A", runtime=0)])
    assert policy.calls == [(0, ["SimulationStarted", "JobSubmitted"]), (0, ["JobFinished"])]
    assert finishes(schedule) == {"A": 0}


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


def test_a_timer_with_the_same_tag_replaces_the_first_and_can_be_cancelled():
    def decide(view, events):
        if view.now == 0:
            yield CallAt(5, "moved")
            yield CallAt(8, "moved")
            yield CallAt(6, "dropped")
            yield CancelCall("dropped")
        yield from start_everything(view, events)

    policy = Scripted(decide)
    run(policy, [job("A", runtime=10)])
    assert [time for time, _ in policy.calls] == [0, 8, 10]


def test_timers_alone_do_not_keep_a_run_alive_unless_asked():
    def decide(view, events):
        yield CallAt(view.now + 100, "again") if view.now < 300 else CancelCall("again")
        yield from start_everything(view, events)

    waiting, short = Scripted(decide), Scripted(decide)
    run(short, [job("A")])
    run(waiting, [job("A")], wait_for_timers=True)
    assert [time for time, _ in short.calls] == [0, 10]
    assert [time for time, _ in waiting.calls] == [0, 10, 110, 210, 310]


def test_a_decision_can_be_dated_in_the_future():
    def decide(view, events):
        for event in events:
            if isinstance(event, JobSubmitted):
                yield StartJob(event.job, [3], time=25)

    schedule = run(Scripted(decide), [job("A")])
    assert starts(schedule) == {"A": 25}
    assert hosts_of(schedule) == {"A": "3"}


def test_a_dated_start_of_a_job_that_was_cancelled_meanwhile_is_dropped():
    def decide(view, events):
        return [StartJob(e.job, time=50) for e in events if isinstance(e, JobSubmitted)]

    schedule = run(Scripted(decide), [job("A", cancel=20)])
    assert states(schedule) == {"A": "cancelled"}


def test_a_policy_can_register_jobs_of_its_own():
    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield RegisterJob(job("extra", hosts=2, runtime=3, submit=40))
            yield RegisterJob(job("late", runtime=3, submit=0))
        yield from start_everything(view, events)

    policy = Scripted(decide)
    schedule = run(policy, [job("A")])
    assert starts(schedule) == {"A": 0, "late": 0, "extra": 40}
    assert schedule.jobs.set_index("job_id").n_hosts["extra"] == 2


def test_a_registered_job_keeps_a_number_as_its_id():
    seen = []

    def decide(view, events):
        seen.extend(event.job.id for event in events if isinstance(event, JobSubmitted))
        if view.now == 0:
            yield RegisterJob(nt.Job(7, 5.0, Request(1), Compute(1.0)))
        yield from start_everything(view, events)

    workload = nt.Workload.from_jobs([nt.Job(1, 0.0, Request(1), Compute(1.0))])
    schedule = nt.simulate(nt.Platform.homogeneous(2), workload, Scripted(decide))
    assert seen == [1, 7]
    assert schedule.column("job_id").tolist() == [1, 7]


def test_killing_a_job_that_has_ended_does_nothing():
    kept = []

    def decide(view, events):
        kept.extend(event.job for event in events if isinstance(event, JobSubmitted))
        if view.now >= 10:
            yield KillJob(kept[0])
            yield KillJob("A")
        yield from start_everything(view, events)

    schedule = run(Scripted(decide), [job("A"), job("B", submit=10)])
    assert states(schedule) == {"A": "completed", "B": "completed"}


def test_a_kill_is_told_to_the_policy_in_a_call_of_its_own():
    def decide(view, events):
        if view.now == 4:
            return [KillJob("A")]
        return [*start_everything(view, events), CallAt(4)] if view.now == 0 else None

    policy = Scripted(decide)
    schedule = run(policy, [job("A")])
    assert policy.calls[1:] == [(4, ["TimerFired"]), (4, ["JobFinished"])]
    assert finishes(schedule) == {"A": 4}


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
    monkeypatch.setattr("noctule.simulation._FIRST_SLICE", 1)
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


def test_a_python_policy_leaves_nothing_behind():
    policy = Scripted(start_everything)
    workload = nt.Workload.from_jobs([job("A"), job("B", submit=100)])
    simulation = nt.Simulation(nt.Platform.homogeneous(4), workload, policy)
    simulation.step()
    gone = weakref.ref(simulation)
    del simulation
    gc.collect()
    assert gone() is None


def test_a_policy_cannot_step_its_own_simulation():
    def decide(view, events):
        simulations[0].step()

    workload = nt.Workload.from_jobs([job("A")])
    simulations = [nt.Simulation(nt.Platform.homogeneous(4), workload, Scripted(decide))]
    with pytest.raises(InputError, match="simulation: got a step while it is running"):
        simulations[0].step()


def test_nobody_looks_into_a_native_run_from_another_thread():
    workload = nt.Workload.from_jobs(
        [job(f"{i}", hosts=1 + i % 3, runtime=1 + i % 7, submit=i // 4) for i in range(40_000)]
    )
    simulation = nt.Simulation(nt.Platform.homogeneous(4), workload, "easy")
    seen = []
    thread = threading.Thread(target=simulation.step, args=(10**9,))
    thread.start()
    while thread.is_alive():
        try:
            seen.append(len(simulation.view.waiting))
        except RuntimeError as error:
            seen.append(str(error))
    thread.join()
    assert "the simulation is running in another thread" in seen
    assert simulation.ended


def test_labels_of_a_job_are_known_after_its_end():
    kept = []

    def decide(view, events):
        kept.extend(event.job for event in events if isinstance(event, JobFinished))
        return start_everything(view, events)

    run(Scripted(decide), [dataclasses.replace(job("A"), user="ada", extra={"color": "red"})])
    assert (kept[0].id, kept[0].n_hosts, kept[0].user, kept[0].extra) == (
        "A",
        1,
        "ada",
        {"color": "red"},
    )
    with pytest.raises(AttributeError, match="only what it asked for is still known"):
        _ = kept[0].start_time


def test_a_finished_job_shows_its_start_even_during_an_epilogue():
    seen = []

    def decide(view, events):
        finished = [event.job for event in events if isinstance(event, JobFinished)]
        seen.extend((ended.start_time, view.releases()) for ended in finished)
        return start_everything(view, events)

    run(Scripted(decide), [job("A", submit=3, walltime=50, epilogue=5)])
    assert seen == [(3, [(13, 1)])]


def test_events_kept_from_a_failed_call_do_not_crash():
    kept = []

    class KeepsAndFails:
        def decide(self, view, events):
            kept.append(events)
            raise ValueError("no")

    with contextlib.suppress(DecisionError):
        run(KeepsAndFails, [job("A")])
    gc.collect()
    with pytest.raises(RuntimeError, match="the simulation of these events is gone"):
        len(kept[0])


def test_records_outlive_the_simulation():
    column = run("fcfs", [job("A")]).column("finish_time")
    gc.collect()
    assert column.tolist() == [10]


def test_the_readable_policies_can_be_used_again():
    jobs = [job(str(i), hosts=1 + i % 3, walltime=20, submit=i) for i in range(9)]
    for policy in (policies.Fcfs(), policies.Easy(), policies.Conservative(), policies.Filler()):
        assert starts(run(policy, jobs)) == starts(run(policy, jobs))


def test_a_policy_that_exits_is_an_error_of_the_policy():
    def decide(view, events):
        raise SystemExit(0)

    with pytest.raises(DecisionError, match="policy Scripted raised SystemExit: 0"):
        run(Scripted(decide), [job("A")])


@pytest.mark.parametrize("bad", [None, 9.5, "", [1], True])
def test_an_id_is_a_number_or_a_text(bad):
    with pytest.raises(DecisionError, match=r"job id: got .*, expected a whole number or a text"):
        run(Scripted(lambda v, e: [RegisterJob(dataclasses.replace(job("N"), id=bad))]), [job("A")])


def test_a_run_lasts_until_the_last_epilogue():
    policy = Scripted(start_everything)
    schedule = run(policy, [job("A", hosts=3, epilogue=5)])
    assert policy.calls[-1] == (15, ["HostsReleased"])
    assert schedule.host_states.values.tolist() == [[0, 1, 3], [10, 1, 3], [15, 4, 0]]


def test_a_native_policy_serves_one_simulation():
    policy = make_policy("easy")
    run(policy, [job("A")])
    with pytest.raises(
        InputError, match="policy: got a native policy that has decided for another"
    ):
        run(policy, [job("A")])


def test_a_policy_does_not_see_jobs_of_the_future():
    def decide(view, events):
        view.job("later")

    with pytest.raises(
        DecisionError, match=r"view\.job\('later'\): the job has not been submitted"
    ):
        run(Scripted(decide), [job("A"), job("later", submit=9)])


def test_a_moved_job_shows_the_date_of_its_submission():
    seen = []

    def decide(view, events):
        seen.extend(e.job.submit_time for e in events if isinstance(e, JobSubmitted))
        return start_everything(view, events)

    run(Scripted(decide), [job("A"), job("B", after={"A": 5})])
    assert seen == [0, 15]


def test_a_job_is_one_thing_in_all_events():
    known = {}

    def decide(view, events):
        for event in events:
            if isinstance(event, JobSubmitted):
                known[event.job] = view.now
            if isinstance(event, HostsReleased):
                assert known[event.job] == 0
        return start_everything(view, events)

    run(Scripted(decide), [job("A", epilogue=3)])
    assert len(known) == 1


def test_lists_of_a_view_have_positions():
    seen = []

    def decide(view, events):
        if len(view.waiting) == 2:
            seen.append((view.waiting[0].id, view.waiting[1].id))
            with pytest.raises(IndexError):
                view.waiting[2]
        return start_everything(view, events)

    run(Scripted(decide), [job("A"), job("B")])
    assert seen == [("A", "B")]


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


def test_timers_may_fire_as_long_as_something_is_to_come():
    # B is submitted after a long time of thinking, with more than a million calls before it
    def decide(view, events):
        yield CallAt(view.now + 1)
        yield from start_everything(view, events)

    schedule = run(Scripted(decide), [job("A"), job("B", after={"A": 1_000_100})])
    assert states(schedule)["B"] == "completed"


def test_a_policy_that_never_lets_time_go_on_is_stopped():
    with pytest.raises(DeadlockError, match="called a million times at this instant"):
        run(Scripted(lambda view, events: [CallAt(view.now)]), [job("A"), job("B", submit=9)])


def test_a_cancelled_timer_does_not_move_the_clock():
    def decide(view, events):
        return [CallAt(1e9, "never"), CancelCall("never")]

    with pytest.raises(DeadlockError, match="t=0: nothing is left to happen"):
        run(Scripted(decide), [job("A")])


def test_a_job_that_never_ends_is_named():
    with pytest.raises(DeadlockError, match=r"but 1 job runs for ever: job A \(1 host\)"):
        run("fcfs", [job("A", runtime=1e300)], speed=1e-10)


def test_endless_timers_after_the_last_job_are_named():
    def decide(view, events):
        yield CallAt(view.now + 1)
        yield from start_everything(view, events)

    with pytest.raises(DeadlockError, match="although every job has ended"):
        run(Scripted(decide), [job("A")], wait_for_timers=True)


def test_registered_jobs_are_saved_and_loaded_with_the_others(tmp_path):
    def decide(view, events):
        if isinstance(events[0], SimulationStarted):
            yield RegisterJob(job("x,y", runtime=1))
        yield from start_everything(view, events)

    workload = nt.Workload.from_jobs([nt.Job(1, 0.0, Request(1), Compute(5.0))])
    schedule = nt.simulate(nt.Platform.homogeneous(2), workload, Scripted(decide))
    schedule.save(tmp_path)
    assert nt.Schedule.load(tmp_path).column("job_id").tolist() == ["x,y", "1"]


def test_oversized_jobs_left_to_contiguous_easy_do_no_harm():
    # A can never fit, so nothing can be reserved for it; B runs, then nothing is left to happen
    with pytest.raises(DeadlockError, match=r"job A \(9 hosts\)"):
        run("easy(allocation=contiguous)", [job("A", hosts=9), job("B")], reject_oversized=False)


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


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (
            lambda v, e: [StartJob("A"), StartJob("A")],
            "t=0 StartJob(job_id=A): the job is already running",
        ),
        (
            lambda v, e: [StartJob("A", "0-2"), StartJob("B", "2-3")],
            "t=0 StartJob(job_id=B, hosts=2-3): host 2 is busy with job A",
        ),
        (
            lambda v, e: [StartJob("A", [2, 3, 4])],
            "t=0 StartJob(job_id=A, hosts=2-4): host 4 does not exist; hosts are 0-3",
        ),
        (
            lambda v, e: [StartJob("A", "0-1")],
            "t=0 StartJob(job_id=A, hosts=0-1): the job asks for 3 hosts, got 2",
        ),
        (
            lambda v, e: [StartJob("A"), StartJob("B")],
            "t=0 StartJob(job_id=B): the job asks for 2 hosts, 1 is free",
        ),
        (
            lambda v, e: [StartJob("A", ["x"])],
            "t=0 StartJob(job_id=A): got the hosts ['x'], "
            "expected a HostSet, whole numbers, or a text such as '0-3 7'",
        ),
        (
            lambda v, e: [RegisterJob(job("N", profile=UnsupportedProfile("smpi", {})))],
            "RegisterJob(job_id=N): profile type smpi cannot be simulated yet",
        ),
        (lambda v, e: [StartJob("Z")], "t=0 StartJob(job_id='Z'): no job has this id"),
        (
            lambda v, e: [StartJob("later")],
            "t=0 StartJob(job_id=later): the job has not been submitted yet",
        ),
        (
            lambda v, e: [RejectJob("A"), StartJob("A")],
            "t=0 StartJob(job_id=A): the job was rejected",
        ),
        (
            lambda v, e: [KillJob("A")],
            "t=0 KillJob(job_id=A): the job is not running; a waiting job is rejected instead",
        ),
        (lambda v, e: [CallAt(-1)], "t=0 CallAt(time=-1): expected a date from now on"),
        (
            lambda v, e: [StartJob("A", time=-2)],
            "t=0 a decision on job A: dated -2, expected a date from now on",
        ),
        (
            lambda v, e: [17],
            "t=0 decide(): gave 17, expected a decision such as StartJob(job)",
        ),
        (lambda v, e: 17, "t=0 decide(): gave 17, expected decisions to iterate over"),
        (
            lambda v, e: [RegisterJob(job("A"))],
            "RegisterJob(job_id=A): the id is taken",
        ),
        (
            lambda v, e: [RegisterJob(job("N", after={"A": 0}))],
            "RegisterJob(job_id=N): a registered job cannot have dependencies; "
            "register it when they have ended",
        ),
    ],
)
def test_a_decision_against_the_rules_is_refused_with_a_sentence(decide, message):
    jobs = [job("A", hosts=3), job("B", hosts=2), job("later", submit=99)]
    with pytest.raises(DecisionError) as error:
        run(Scripted(decide), jobs)
    assert str(error.value) == message


def test_a_policy_that_raises_is_named_with_the_line():
    def decide(view, events):
        raise KeyError("oops")

    with pytest.raises(
        DecisionError, match=r"t=0 policy Scripted raised KeyError: 'oops' \(.*:\d+"
    ):
        run(Scripted(decide), [job("A")])


def test_a_policy_that_never_decides_is_told_which_jobs_wait():
    with pytest.raises(DeadlockError) as error:
        run(Scripted(lambda view, events: None), [job("A", hosts=3), job("B")])
    assert str(error.value) == (
        "t=0: nothing is left to happen, but 2 jobs wait for the policy to start or reject them: "
        "job A (3 hosts), job B (1 host); 4 of 4 hosts are free"
    )


def test_a_policy_that_only_sets_timers_is_stopped():
    with pytest.raises(DeadlockError, match="the policy keeps calling itself and decides nothing"):
        run(Scripted(lambda view, events: [CallAt(view.now + 1)]), [job("A")])


def test_a_profile_that_cannot_be_simulated_is_refused_before_the_run():
    jobs = [job("A", profile=UnsupportedProfile("smpi", {}))]
    with pytest.raises(InputError, match="job A: profile type smpi cannot be simulated yet"):
        run("fcfs", jobs)


@pytest.mark.parametrize("option", ["until", "launch_delay", "epilogue_delay"])
def test_negative_options_are_refused(option):
    with pytest.raises(InputError, match=f"{option}: got -1, expected a number >= 0"):
        run("fcfs", [job("A")], **{option: -1})


def test_a_policy_does_not_know_runtimes_unless_the_run_is_clairvoyant():
    seen = []

    def decide(view, events):
        for waiting in view.waiting:
            seen.append(waiting.runtime)
            yield StartJob(waiting)

    with pytest.raises(DecisionError, match="a policy does not know runtimes"):
        run(Scripted(decide), [job("A")])
    run(Scripted(decide), [job("A")], clairvoyant=True)
    assert seen == [10]


def test_a_view_shows_what_jobs_asked_for():
    seen = []

    def decide(view, events):
        for event in events:
            if isinstance(event, JobSubmitted):
                known = event.job
                seen.append((known.id, known.n_hosts, known.walltime, known.submit_time))
                yield StartJob(known)
            if isinstance(event, JobFinished):
                seen.append((event.job.id, event.state, event.time))

    run(Scripted(decide), [job("A", hosts=2, walltime=20, submit=3)])
    assert seen == [("A", 2, 20, 3), ("A", "completed", 13)]


def test_a_view_shows_running_jobs_with_their_hosts_and_expected_ends():
    seen = []

    def decide(view, events):
        if view.now == 5:
            (a,) = view.running
            seen.append((a.id, str(a.hosts), a.start_time, a.expected_end))
            seen.append((view.releases(), str(view.free)))
        return start_everything(view, events)

    run(Scripted(decide), [job("A", hosts=2, walltime=50), job("B", submit=5)])
    assert seen == [("A", "0-1", 0, 50), ([(50, 2)], "2-3")]


def test_hosts_in_an_epilogue_are_shown_as_completing():
    seen = []

    def decide(view, events):
        seen.append((view.now, str(view.completing)))
        return start_everything(view, events)

    run(Scripted(decide), [job("A", hosts=2, epilogue=5), job("B", submit=12)])
    assert seen == [(0, ""), (10, "0-1"), (12, "0-1"), (15, ""), (22, "")]


def test_events_can_be_kept_beyond_their_call():
    kept = []

    def decide(view, events):
        kept.append(events)
        return start_everything(view, events)

    run(Scripted(decide), [job("A")])
    assert [type(events[-1]).__name__ for events in kept] == ["JobSubmitted", "JobFinished"]
    assert kept[0][-1].job.id == "A"


def test_an_iteration_over_a_view_does_not_survive_its_call():
    kept = []

    def decide(view, events):
        if not kept:
            kept.append(iter(view.waiting))
            return [StartJob("A")]
        next(kept[0])
        return None

    with pytest.raises(DecisionError, match="the view has moved on"):
        run(Scripted(decide), [job("A"), job("B")])


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
