"""What schedulers of Batsim hear and say besides: groups of kills, energy, registration..."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from latency_platform import FROM_HOST, D, Told, dates, delays, two_hosts

import noctule as nt
from noctule.errors import DeadlockError, DecisionError
from noctule.messages import (
    AskEnergy,
    CallAt,
    ChangeJobState,
    ContinueRegistration,
    Decision,
    EnergyAnswered,
    Event,
    FinishRegistration,
    JobFinished,
    JobsKilled,
    JobSubmitted,
    KillJob,
    KillJobs,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetMetadata,
    SimulationStarted,
    StartJob,
    TimerFired,
)
from noctule.workload import Delay, Job, Request


def platform(n_hosts: int = 2) -> nt.Platform:
    return nt.Platform.homogeneous(n_hosts)


def started(events: Sequence[Event]) -> Iterator[Decision]:
    """Start whatever is submitted."""
    return (StartJob(event.job) for event in events if isinstance(event, JobSubmitted))


def fired(events: Sequence[Event]) -> list[str]:
    return [event.tag for event in events if isinstance(event, TimerFired)]


# submissions -----------------------------------------------------------------------------------


def test_the_end_of_submissions_is_told_behind_the_last_of_them_on_request() -> None:
    for wanted in (False, True):
        policy = Told(lambda _, events: started(events))
        nt.simulate(platform(), delays((0.0, 1), (3.0, 1)), policy, batsim_events=wanted)
        assert policy.dates("SubmissionsEnded") == ([3.0] if wanted else [])
    assert policy.calls[1] == (3.0, [("JobSubmitted", 3.0), ("SubmissionsEnded", 3.0)])


def test_jobs_that_wait_for_others_are_submissions_too() -> None:
    from small_runs import job

    policy = Told(lambda _, events: started(events))
    workload = nt.Workload.from_jobs([job("a"), job("b", after={"a": 5.0})])
    nt.simulate(platform(), workload, policy, batsim_events=True)
    assert policy.dates("SubmissionsEnded") == [15.0]


def test_with_latency_the_end_of_submissions_is_the_goodbye_of_the_last(tmp_path: Path) -> None:
    policy = Told(lambda _, events: started(events))
    nt.simulate(
        two_hosts(tmp_path), delays((0.0, 1)), policy, batsim_latency=True, batsim_events=True
    )
    assert policy.dates("SubmissionsEnded") == pytest.approx([4 * D])
    # the order of the start arrives at 5 D, ready at 6 D
    assert policy.heard("SubmissionsEnded") == pytest.approx([6 * D])


# kills -----------------------------------------------------------------------------------------


def killing(*groups: tuple[float, Sequence[int]]) -> tuple[Told, list[object]]:
    """Return a policy that kills groups at dates, and what it hears of that."""
    heard: list[object] = []

    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for event in events:
            if isinstance(event, JobFinished):
                heard.append((event.time, event.job.id, event.state))
            if isinstance(event, JobsKilled):
                shares = {
                    job.id: pytest.approx(job.progress[0][2]) for job in event.jobs if job.progress
                }
                heard.append((event.time, [job.id for job in event.jobs], shares))
        yield from started(events)
        if any(isinstance(event, SimulationStarted) for event in events):
            yield from (KillJobs(list(jobs), time=time) for time, jobs in groups)

    return Told(decide), heard


@pytest.mark.parametrize("machine", [False, True])
def test_a_group_is_told_of_once_after_the_ends_with_progress(machine: bool) -> None:
    policy, heard = killing((4.0, [0, 1]))
    nt.simulate(platform(), delays((0.0, 1), (2.0, 1)), policy, batsim_events=True, machine=machine)
    assert heard == [(4.0, 0, "killed"), (4.0, 1, "killed"), (4.0, [0, 1], {0: 0.4, 1: 0.2})]


def test_nobody_tells_of_groups_unless_asked() -> None:
    policy, heard = killing((4.0, [0]))
    nt.simulate(platform(), delays((0.0, 1)), policy)
    assert heard == [(4.0, 0, "killed")]


def test_a_second_kill_is_silent() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        yield from started(events)
        yield from (
            decision
            for tag in fired(events)
            for decision in (KillJob(0), KillJobs([0]), KillJobs([0, 1]), KillJob(1))
        )
        if view.now == 0.0:
            yield CallAt(4.0)

    policy = Told(decide)
    nt.simulate(platform(), delays((0.0, 1), (0.0, 1)), policy, batsim_events=True)
    # KillJob(0) and the second of the groups, which is new for job 1
    assert policy.dates("JobsKilled") == [4.0, 4.0]
    assert policy.dates("JobFinished") == [4.0, 4.0]


def test_a_job_that_has_ended_by_itself_is_listed_without_progress() -> None:
    policy, heard = killing((12.0, [0, 1]))
    nt.simulate(platform(), delays((0.0, 1), (3.0, 1)), policy, batsim_events=True)
    assert heard[0] == (10.0, 0, "completed")
    assert heard[-1] == (12.0, [0, 1], {1: 0.9})


def test_a_waiting_job_cannot_be_killed() -> None:
    with pytest.raises(DecisionError, match=r"KillJob\(job_id=1\): the job is not running"):
        nt.simulate(platform(1), delays((0.0, 1), (0.0, 1)), Told(_start_first_kill_both))


def _start_first_kill_both(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
    if view.waiting:
        yield StartJob(0)
        yield KillJobs([0, 1])


def test_with_latency_the_killer_tells_when_it_is_done(tmp_path: Path) -> None:
    found = nt.simulate(
        two_hosts(tmp_path),
        delays((0.0, 1), (0.0, 1)),
        Told(_start_then_kill_at_4),
        batsim_latency=True,
        batsim_events=True,
    )
    # the order arrives at 4 + D, the killer's letter after "ready"
    assert dates(found) == [(5 * D, 4 + D), (6 * D, 4 + D)]
    assert found.column("state").tolist() == ["killed", "killed"]


def _start_then_kill_at_4(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
    jobs = [event.job for event in events if isinstance(event, JobSubmitted)]
    yield from map(StartJob, jobs)
    if jobs:
        yield KillJobs(jobs, time=4.0)


def test_with_latency_a_job_that_ends_before_the_order_arrives_is_not_killed(
    tmp_path: Path,
) -> None:
    # it ends at 10 + 5 D and its first host tells of that until 10 + 7 D; the order is sent at 10
    # + 4.5 D, and comes first; sent at 10 + 5.5 D it waits behind that letter
    for sent, state in ((10 + 3.5 * D, "killed"), (10 + 5.5 * D, "completed")):
        heard: list[object] = []

        def decide(
            view: nt.View,
            events: Sequence[Event],
            sent: float = sent,
            heard: list[object] = heard,
        ) -> Iterator[Decision]:
            heard += [event for event in events if isinstance(event, JobsKilled)]
            yield from started(events)
            if any(isinstance(event, JobSubmitted) for event in events):
                yield KillJobs([0], time=sent)

        found = nt.simulate(
            two_hosts(tmp_path),
            delays((0.0, 1)),
            Told(decide),
            batsim_latency=True,
            batsim_events=True,
        )
        assert found.column("state").tolist() == [state]
        assert len(heard) == 1


# energy ----------------------------------------------------------------------------------------


def asking(*when: float) -> tuple[Told, list[tuple[float, float]]]:
    answers: list[tuple[float, float]] = []

    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        answers.extend(
            (event.time, event.joules) for event in events if isinstance(event, EnergyAnswered)
        )
        yield from started(events)
        if any(isinstance(event, SimulationStarted) for event in events):
            yield from (AskEnergy(time=time) for time in when)

    return Told(decide), answers


def test_energy_is_that_of_the_date_at_which_it_is_asked_for(tmp_path: Path) -> None:
    policy, answers = asking(2.0, 5.0)
    nt.simulate(two_hosts(tmp_path), delays((0.0, 1)), policy, energy="exact")
    # two hosts at 10 W each: a delay does not load them
    assert answers == [(2.0, pytest.approx(40.0)), (5.0, pytest.approx(100.0))]


def test_an_answer_comes_even_when_all_else_is_over(tmp_path: Path) -> None:
    policy, answers = asking(20.0)
    options = {"energy": "exact", "batsim_events": True}
    nt.simulate(two_hosts(tmp_path), delays((0.0, 1)), policy, **options)
    assert answers == [(20.0, pytest.approx(400.0))]


def test_with_latency_energy_is_that_of_the_arrival_of_the_question(tmp_path: Path) -> None:
    policy, answers = asking(2.0)
    nt.simulate(two_hosts(tmp_path), delays((5.0, 1)), policy, energy="exact", batsim_latency=True)
    assert answers == [(pytest.approx(2 + D), pytest.approx(20 * (2 + D)))]
    assert policy.heard("EnergyAnswered") == pytest.approx([2 + 2 * D])


def test_a_run_that_counts_no_energy_has_no_answer() -> None:
    policy, _ = asking(2.0)
    with pytest.raises(DecisionError, match=r"AskEnergy\(\): the run counts no energy"):
        nt.simulate(platform(), delays((5.0, 1)), policy)


# registration ----------------------------------------------------------------------------------


def mine(name: str, submit_time: float = 0.0, seconds: float = 1.0) -> Job:
    return Job(name, submit_time, Request(1), Delay(seconds), 100.0)


def test_a_registered_job_can_be_started_by_the_next_decision() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        if view.now == 0.0 and not view.running:
            yield RegisterJob(mine("m"))
            yield StartJob("m")

    policy = Told(decide)
    found = nt.simulate(platform(), delays(), policy, open_registration=False)
    assert dates(found) == [(0.0, 1.0)]
    assert policy.calls[1] == (0.0, [("JobSubmitted", 0.0)])


def test_a_registered_job_is_submitted_at_the_date_of_the_decision() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        if any(isinstance(event, SimulationStarted) for event in events):
            yield RegisterJob(mine("m", submit_time=1.0), time=4.0)
            yield StartJob("m", time=4.0)

    for batsim, submit_time in ((False, 4.0), (True, 1.0)):
        policy = Told(decide)
        found = nt.simulate(platform(), delays((0.0, 1)), "fcfs")
        found = nt.simulate(platform(), delays(), policy, batsim_events=batsim)
        assert policy.dates("JobSubmitted") == [4.0]
        assert dates(found) == [(4.0, 5.0)]
        assert found.column("submit_time").tolist() == [submit_time]


def test_a_date_still_to_come_counts_only_outside_batsim() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        yield from started(events)
        if any(isinstance(event, SimulationStarted) for event in events):
            yield RegisterJob(mine("m", submit_time=9.0))

    for batsim, start in ((False, 9.0), (True, 0.0)):
        found = nt.simulate(platform(), delays(), Told(decide), batsim_events=batsim)
        assert dates(found) == [(start, start + 1)]


def test_jobs_of_its_own_are_told_of_unless_the_policy_does_not_want_to_hear() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        if any(isinstance(event, SimulationStarted) for event in events):
            yield RegisterJob(mine("m"))
            yield StartJob("m", time=2.0)

    for wanted in (True, False):
        policy = Told(decide)
        nt.simulate(platform(), delays(), policy, acknowledge_registered=wanted)
        assert policy.dates("JobSubmitted") == ([0.0] if wanted else [])


def test_an_open_run_goes_on_until_registration_is_finished() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        yield from started(events)
        if view.now == 0.0:
            yield CallAt(50.0, "more")
        if fired(events) == ["more"]:
            yield RegisterJob(mine("m"))
            yield FinishRegistration()

    found = nt.simulate(platform(), delays((0.0, 1)), Told(decide), open_registration=True)
    assert dates(found) == [(0.0, 10.0), (50.0, 51.0)]


def test_registration_can_be_opened_again() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        yield from started(events)
        if any(isinstance(event, SimulationStarted) for event in events):
            yield FinishRegistration()
            yield ContinueRegistration(time=3.0)
            yield FinishRegistration(time=30.0)
        if any(isinstance(event, JobFinished) for event in events) and view.now == 10.0:
            yield RegisterJob(mine("m", seconds=2.0))

    found = nt.simulate(platform(), delays((0.0, 1)), Told(decide), open_registration=True)
    assert dates(found) == [(0.0, 10.0), (10.0, 12.0)]
    assert found.end == 30.0


def test_no_job_is_registered_when_registration_is_finished() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        yield FinishRegistration()
        yield RegisterJob(mine("m"))

    with pytest.raises(DecisionError, match=r"RegisterJob\(job_id=m\): registration is finished"):
        nt.simulate(platform(), delays((0.0, 1)), Told(decide), open_registration=True)


def test_registration_that_was_never_open_cannot_go_on() -> None:
    with pytest.raises(DecisionError, match="does not have the option open_registration"):
        nt.simulate(
            platform(), delays((0.0, 1)), Told(lambda view, events: [ContinueRegistration()])
        )


def test_an_open_run_in_which_nothing_happens_any_more_is_a_deadlock() -> None:
    with pytest.raises(DeadlockError, match="the policy has not finished its registration"):
        nt.simulate(
            platform(),
            delays((0.0, 1)),
            Told(lambda _, events: started(events)),
            open_registration=True,
        )


def test_with_latency_a_registration_is_a_letter_and_so_is_a_profile(tmp_path: Path) -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        if any(isinstance(event, SimulationStarted) for event in events):
            yield RegisterProfile("p", time=1.0)
            yield RegisterJob(mine("m", submit_time=0.5))
            yield StartJob("m")
            yield FinishRegistration()

    policy = Told(decide)
    options = {"batsim_latency": True, "batsim_events": True, "open_registration": True}
    found = nt.simulate(two_hosts(tmp_path), delays(), policy, **options)
    assert dates(found) == [(1 + 3 * D, 2 + 3 * D)]
    assert policy.dates("JobSubmitted") == pytest.approx([1 + 2 * D])
    assert policy.heard("JobSubmitted") == pytest.approx([1 + 5 * D])
    assert found.column("submit_time").tolist() == [0.5]


# states and metadata ---------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["completed", "failed", "timed_out", "killed"])
@pytest.mark.parametrize("latency", [False, True])
def test_a_job_may_run_elsewhere(state: str, latency: bool, tmp_path: Path) -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        if any(isinstance(event, SimulationStarted) for event in events):
            yield ChangeJobState(0, "running", time=2.0)
            yield ChangeJobState(0, state, time=7.0)
        yield from (StartJob(job) for job in view.waiting if job.id == 1)

    found = nt.simulate(
        two_hosts(tmp_path), delays((0.0, 1), (100.0, 1)), Told(decide), batsim_latency=latency
    )
    found.save(tmp_path / "out", parquet=True)
    assert nt.Schedule.load(tmp_path / "out").record.hosts(0) == nt.HostSet()
    late = D if latency else 0.0
    row = found.column("job_id").tolist().index(0)
    assert dates(found)[0] == (2 + late, 7 + late)
    assert found.column("state")[row] == state
    assert str(found.record.hosts(row)) == ""
    assert found.record.n_hosts[row] == 0


def test_a_job_that_runs_elsewhere_holds_nothing_and_ends_in_silence() -> None:
    seen: list[object] = []

    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        seen.append((view.now, view.n_free, [job.id for job in view.running], view.releases()))
        if view.now == 0.0:
            yield ChangeJobState(0, "running")
            yield ChangeJobState(0, "completed", time=7.0)
            yield CallAt(5.0)

    policy = Told(decide)
    found = nt.simulate(platform(), delays((0.0, 1)), policy)
    assert seen == [(0.0, 2, [], []), (5.0, 2, [0], [])]
    assert dates(found) == [(0.0, 7.0)]


def test_a_job_may_be_rejected_by_its_state() -> None:
    found = nt.simulate(
        platform(),
        delays((0.0, 1)),
        Told(lambda view, _: [ChangeJobState(job, "rejected") for job in view.waiting]),
    )
    assert found.column("state").tolist() == ["rejected"]


@pytest.mark.parametrize(
    ("decisions", "complaint"),
    [
        ([ChangeJobState(0, "completed")], "a waiting job can only become running or rejected"),
        ([ChangeJobState(0, "waiting")], "a waiting job can only become running or rejected"),
        ([ChangeJobState(0, "gone")], "got the state 'gone', expected running, rejected"),
        ([StartJob(0), ChangeJobState(0, "completed")], "the job runs on hosts"),
        ([RejectJob(0), ChangeJobState(0, "running")], "the job was rejected"),
        (
            [ChangeJobState(0, "running"), ChangeJobState(0, "rejected")],
            "a running job can only become completed, failed, timed_out or killed",
        ),
        ([ChangeJobState(0, "running"), KillJob(0)], "runs without hosts; ChangeJobState ends it"),
        ([ChangeJobState(7, "running")], "no job has this id"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(decisions: list[Decision], complaint: str) -> None:
    with pytest.raises(DecisionError, match=complaint):
        nt.simulate(
            platform(),
            delays((0.0, 1)),
            Told(lambda view, _: decisions if view.waiting else None),
        )


@pytest.mark.parametrize("latency", [False, True])
def test_metadata_are_kept_and_replaced(latency: bool, tmp_path: Path) -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        for event in events:
            if isinstance(event, JobSubmitted):
                yield StartJob(event.job)
                yield SetMetadata(event.job, "first")
            if isinstance(event, JobFinished) and event.job.id == 1:
                yield SetMetadata(1, 'second, "quoted"')

    found = nt.simulate(
        two_hosts(tmp_path), delays((0.0, 1), (0.0, 1)), Told(decide), batsim_latency=latency
    )
    assert found.column("metadata").tolist() == ["first", 'second, "quoted"']
    assert list(found.jobs["metadata"]) == ["first", 'second, "quoted"']
    for parquet in (False, True):
        folder = tmp_path / f"out {parquet}"
        found.save(folder, parquet=parquet)
        read = nt.Schedule.load(folder)
        assert read.column("metadata").tolist() == ["first", 'second, "quoted"']
    assert '"second, ""quoted"""' in (tmp_path / "out False/jobs.csv").read_text()


def test_there_is_no_column_of_metadata_where_nobody_wrote_any() -> None:
    found = nt.simulate(platform(), delays((0.0, 1)), "fcfs")
    assert "metadata" not in found.jobs
    assert found.column("metadata").tolist() == [""]


def test_with_latency_the_end_of_a_job_travels_from_its_first_host(tmp_path: Path) -> None:
    policy = Told(lambda _, events: started(events))
    nt.simulate(
        two_hosts(tmp_path), delays((0.0, 1)), policy, batsim_latency=True, batsim_events=True
    )
    assert policy.dates("JobFinished") == pytest.approx([10 + 5 * D + FROM_HOST])


# dates in the past and storages ------------------------------------------------------------------


def test_the_past_is_now_for_schedulers_of_batsim() -> None:
    def decide(view: nt.View, events: Sequence[Event]) -> Iterator[Decision]:
        yield from (StartJob(job, time=view.now - 1e-7) for job in view.waiting)

    with pytest.raises(DecisionError, match="expected a date from now on"):
        nt.simulate(platform(), delays((3.0, 1)), Told(decide))
    found = nt.simulate(platform(), delays((3.0, 1)), Told(decide), batsim_events=True)
    assert dates(found) == [(3.0, 13.0)]
