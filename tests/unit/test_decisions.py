"""What a policy may decide, and what is refused."""

from __future__ import annotations

import dataclasses

import pytest
from small_runs import (
    Scripted,
    finishes,
    hosts_of,
    job,
    run,
    start_everything,
    starts,
    states,
)

import noctule as nt
from noctule.errors import DeadlockError, DecisionError, InputError
from noctule.messages import (
    CallAt,
    CancelCall,
    JobSubmitted,
    KillJob,
    RegisterJob,
    RejectJob,
    RequeueJob,
    SimulationStarted,
    StartJob,
    TimerFired,
)
from noctule.policies import make_policy
from noctule.workload import Compute, Request, UnsupportedProfile


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


def test_a_requeued_job_ends_and_is_submitted_again_from_its_beginning():
    # A runs from 0 to 4, its hosts have an epilogue until 6, and it runs again from 6 to 16
    def decide(view, events):
        if view.now == 0:
            yield CallAt(4)
        if view.now == 4 and isinstance(events[0], TimerFired):
            yield RequeueJob("A", "others come first")
        yield from start_everything(view, events)

    schedule = run(Scripted(decide), [job("A", epilogue=2)])
    assert states(schedule) == {"A": "killed", "A#2": "completed"}
    assert starts(schedule) == {"A": 0, "A#2": 6}
    assert finishes(schedule) == {"A": 4, "A#2": 16}
    assert schedule.column("metadata").tolist() == ["others come first", ""]


def test_a_requeue_may_be_dated_and_is_dropped_if_its_job_has_ended():
    def decide(view, events):
        yield from start_everything(view, events)
        if view.now == 0:
            yield from (RequeueJob(name, time=4) for name in "AB")

    schedule = run(Scripted(decide), [job("A"), job("B", runtime=3)])
    assert states(schedule) == {"B": "completed", "A": "killed", "A#2": "completed"}


def test_a_start_may_be_decided_with_a_launch_delay_of_its_own():
    # the job's own 2, the run's 1, and 5: its work begins at 8
    def decide(view, events):
        return [StartJob(waiting, launch_delay=5) for waiting in view.waiting]

    schedule = run(Scripted(decide), [job("A", launch=2)], launch_delay=1)
    assert starts(schedule) == {"A": 0}
    assert finishes(schedule) == {"A": 18}


def test_the_launch_delay_of_a_start_is_not_that_of_the_next_attempt():
    def decide(view, events):
        if view.now == 0:
            yield StartJob("A", launch_delay=5)
            yield RequeueJob("A", time=7)
        else:
            yield from start_everything(view, events)

    schedule = run(Scripted(decide), [job("A")])
    assert finishes(schedule) == {"A": 7, "A#2": 17}


def test_a_kill_is_told_to_the_policy_in_a_call_of_its_own():
    def decide(view, events):
        if view.now == 4:
            return [KillJob("A")]
        return [*start_everything(view, events), CallAt(4)] if view.now == 0 else None

    policy = Scripted(decide)
    schedule = run(policy, [job("A")])
    assert policy.calls[1:] == [(4, ["TimerFired"]), (4, ["JobFinished"])]
    assert finishes(schedule) == {"A": 4}


def test_a_policy_that_exits_is_an_error_of_the_policy():
    def decide(view, events):
        raise SystemExit(0)

    with pytest.raises(DecisionError, match="policy Scripted raised SystemExit: 0"):
        run(Scripted(decide), [job("A")])


@pytest.mark.parametrize("bad", [None, 9.5, "", [1], True])
def test_an_id_is_a_number_or_a_text(bad):
    with pytest.raises(DecisionError, match=r"job id: got .*, expected a whole number or a text"):
        run(Scripted(lambda v, e: [RegisterJob(dataclasses.replace(job("N"), id=bad))]), [job("A")])


def test_a_native_policy_serves_one_simulation():
    policy = make_policy("easy")
    run(policy, [job("A")])
    with pytest.raises(
        InputError, match="policy: got a native policy that has decided for another"
    ):
        run(policy, [job("A")])


@dataclasses.dataclass
class Restless:
    """Asks to be called again after so long; may start what waits. Keeps nothing of its calls."""

    after: float
    starts: bool = False

    def decide(self, view, events):
        call = CallAt(view.now + self.after)
        return [call, *start_everything(view, events)] if self.starts else [call]


def test_timers_may_fire_as_long_as_something_is_to_come():
    # B is submitted after a long time of thinking, with more than a million calls before it
    jobs = [job("A"), job("B", after={"A": 1_000_100})]
    schedule = run(Restless(1, starts=True), jobs)
    assert states(schedule)["B"] == "completed"


def test_a_policy_that_never_lets_time_go_on_is_stopped():
    with pytest.raises(DeadlockError, match="called a million times at this instant"):
        run(Restless(0), [job("A"), job("B", submit=9)])


def test_a_cancelled_timer_does_not_move_the_clock():
    def decide(view, events):
        return [CallAt(1e9, "never"), CancelCall("never")]

    with pytest.raises(DeadlockError, match="t=0: nothing is left to happen"):
        run(Scripted(decide), [job("A")])


def test_a_job_that_never_ends_is_named():
    with pytest.raises(DeadlockError, match=r"but 1 job runs for ever: job A \(1 host\)"):
        run("fcfs", [job("A", runtime=1e300)], speed=1e-10)


def test_endless_timers_after_the_last_job_are_named():
    with pytest.raises(DeadlockError, match="although every job has ended"):
        run(Restless(1, starts=True), [job("A")], wait_for_timers=True)


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
            "RegisterJob(job_id=N): profile type smpi cannot be simulated",
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
        (
            lambda v, e: [RequeueJob("A")],
            "t=0 RequeueJob(job_id=A): the job does not run on hosts",
        ),
        (
            lambda v, e: [StartJob("A", launch_delay=-1)],
            "t=0 StartJob(job_id=A): got the launch delay -1, expected a number >= 0",
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
        run(Restless(1), [job("A")])


def test_a_profile_that_cannot_be_simulated_is_refused_before_the_run():
    jobs = [job("A", profile=UnsupportedProfile("smpi", {}))]
    with pytest.raises(InputError, match="job A: profile type smpi cannot be simulated"):
        run("fcfs", jobs)


@pytest.mark.parametrize("option", ["until", "launch_delay", "epilogue_delay"])
def test_negative_options_are_refused(option):
    with pytest.raises(InputError, match=f"{option}: got -1, expected a number >= 0"):
        run("fcfs", [job("A")], **{option: -1})
