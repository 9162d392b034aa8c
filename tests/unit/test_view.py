"""What a policy sees, and what nobody can do to a run from outside."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import threading
import weakref

import pytest
from small_runs import (
    Scripted,
    job,
    run,
    start_everything,
)

import noctule as nt
from noctule.errors import DecisionError, InputError
from noctule.messages import (
    HostsReleased,
    JobFinished,
    JobSubmitted,
    StartJob,
)


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
