"""Jobs that failures end: what is lost, and how they are tried again."""

import math

import pytest

from noctule import HostSet, Platform, simulate
from noctule.errors import DecisionError, InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.messages import JobSubmitted, RegisterJob, StartJob
from noctule.metrics import ATTEMPTS, METRICS, summary
from noctule.schedule import Schedule
from noctule.testing import a_job, a_workload, finish_times, start_times, states
from noctule.workload import Delay, Job, Request, Workload


def down(*intervals):
    """Return failures of host 0 from each date to another."""
    return ExternalEvents.from_events(
        ExternalEvent(time, kind, hosts=HostSet([0]))
        for failed, restored in intervals
        for time, kind in ((failed, "failed"), (restored, "restored"))
    )


def run(jobs, events, *, hosts=1, policy="fcfs", on_failure="resubmit", **options):
    platform = Platform.homogeneous(hosts)
    return simulate(platform, a_workload(*jobs), policy, events, on_failure=on_failure, **options)


def useful(schedule):
    ids = schedule.column("job_id").tolist()
    return dict(zip(ids, schedule.column("useful_time").tolist(), strict=True))


def test_without_the_option_a_failed_job_is_over():
    schedule = run([a_job(1, runtime=10)], down((4, 6)), on_failure="end")
    assert states(schedule) == {1: "failed"}


def test_an_interrupted_job_is_submitted_again_with_all_of_its_work():
    schedule = run([a_job(17, runtime=10)], down((4, 6)))
    assert states(schedule) == {"17": "failed", "17#2": "completed"}
    assert start_times(schedule) == {"17": 0, "17#2": 6}
    assert finish_times(schedule) == {"17": 4, "17#2": 16}
    assert dict(zip(schedule.column("job_id"), schedule.column("submit_time"), strict=True)) == {
        "17": 0,
        "17#2": 4,
    }


def test_work_is_kept_up_to_the_last_complete_checkpoint():
    # 3 s of work, 1 s of checkpoint: complete at 4 and 8; at 9.5 there are 6 of 20 s kept
    schedule = run(
        [a_job(1, runtime=20, walltime=100)],
        down((9.5, 10)),
        checkpoint_every=3,
        checkpoint_cost=1,
        restart_cost=2,
    )
    # 14 s are left, with 4 checkpoints and a restart: 20 s
    assert finish_times(schedule) == {"1": 9.5, "1#2": 30}
    assert useful(schedule) == {"1": 6, "1#2": 14}


def test_a_checkpoint_that_ends_at_the_failure_is_complete():
    schedule = run(
        [a_job(1, runtime=20, walltime=100)], down((8, 10)), checkpoint_every=3, checkpoint_cost=1
    )
    assert useful(schedule) == {"1": 6, "1#2": 14}


def test_nothing_is_kept_of_a_restart_that_is_interrupted():
    schedule = run(
        [a_job(1, runtime=6, walltime=100)],
        down((4, 10), (13, 20)),
        checkpoint_every=3,
        checkpoint_cost=0,
        restart_cost=5,
    )
    assert useful(schedule) == {"1": 3, "1#2": 0, "1#3": 3}
    assert finish_times(schedule) == {"1": 4, "1#2": 13, "1#3": 28}


def test_a_checkpoint_is_not_made_at_the_end_of_the_work():
    schedule = run(
        [a_job(1, runtime=6, walltime=99)], down(), checkpoint_every=3, checkpoint_cost=1
    )
    assert finish_times(schedule) == {1: 7}


def test_the_walltime_counts_checkpoints_and_restarts():
    schedule = run([a_job(1, runtime=6, walltime=6)], down(), checkpoint_every=3, checkpoint_cost=1)
    assert states(schedule) == {1: "timed_out"}
    assert useful(schedule) == {1: 5}


@pytest.mark.parametrize("machine", [False, True])
@pytest.mark.parametrize("profile", ["delay", "compute"])
def test_a_machine_keeps_the_same_dates(machine, profile):
    job = a_job(1, runtime=20, walltime=100)
    if profile == "delay":
        job = Job(1, 0, Request(1), Delay(20), 100)
    schedule = run(
        [job],
        down((9.5, 10)),
        machine=machine,
        checkpoint_every=3,
        checkpoint_cost=1,
        restart_cost=2,
    )
    assert finish_times(schedule) == pytest.approx({"1": 9.5, "1#2": 30})


def test_computations_keep_work_and_not_time():
    # at speed 2, 40 units take 20 s
    workload = Workload.from_jobs([a_job(1, runtime=40, walltime=100)])
    platform = Platform.homogeneous(1, speed=2)
    schedule = simulate(
        platform, workload, "fcfs", down((9, 10)), on_failure="resubmit", checkpoint_every=4
    )
    assert finish_times(schedule) == {"1": 9, "1#2": 22}


def test_no_more_attempts_are_made_than_allowed():
    schedule = run([a_job(1, runtime=10)], down((1, 2), (3, 4), (5, 6)), max_attempts=2)
    assert states(schedule) == {"1": "failed", "1#2": "failed"}
    assert useful(schedule) == {"1": 0, "1#2": 0}


def test_dependents_wait_for_the_last_attempt():
    jobs = [a_job(1, runtime=10), a_job(2, runtime=1, after=[1])]
    assert start_times(run(jobs, down((4, 6)))) == {"1": 0, "1#2": 6, "2": 16}
    assert start_times(run(jobs, down((4, 6)), max_attempts=1)) == {1: 0, 2: 6}


def test_an_attempt_has_the_labels_and_delays_of_the_first():
    told = {}

    class Watcher:
        def decide(self, view, events):
            for event in events:
                if isinstance(event, JobSubmitted):
                    told[event.job.id] = (event.job.user, event.job.walltime, event.job.n_hosts)
            return [StartJob(job) for job in view.waiting][: view.n_free]

    job = a_job(1, runtime=10, user="ann", launch_delay=2, epilogue_delay=3)
    schedule = run([job], down((4, 6)), policy=Watcher())
    assert told == {1: ("ann", 10, 1), "1#2": ("ann", 10, 1)}
    assert finish_times(schedule) == {"1": 4, "1#2": 19}  # the epilogue is over at 7
    assert schedule.column("user").tolist() == ["ann", "ann"]


def test_attempts_and_registered_jobs_do_not_get_mixed_up():
    class Adding:
        def decide(self, view, events):
            added = {2: "mine", "1#2": "late"}
            for event in events:
                if isinstance(event, JobSubmitted) and event.job.id in added:
                    yield RegisterJob(a_job(added[event.job.id], runtime=2, user="me"))
            free = view.n_free
            for job in view.waiting:
                if free:
                    free -= 1
                    yield StartJob(job)

    jobs = [a_job(1, runtime=10, user="ann"), a_job(2, runtime=1, submit=5)]
    schedule = run(jobs, down((4, 6), (7, 8)), policy=Adding())
    users = dict(zip(schedule.column("job_id"), schedule.column("user"), strict=True))
    assert users == {"1": "ann", "2": None, "1#2": "ann", "1#3": "ann", "late": "me", "mine": "me"}
    assert set(states(schedule).values()) == {"completed", "failed"}


def test_a_job_cannot_be_registered_with_the_id_of_an_attempt():
    class Adding:
        def decide(self, view, events):
            yield RegisterJob(a_job("1#2", runtime=2))

    with pytest.raises(DecisionError, match="RegisterJob"):
        run([a_job(1)], down((4, 6)), policy=Adding())


def test_what_is_lost_is_measured():
    schedule = run(
        [a_job(1, hosts=2, runtime=20, walltime=100)],
        down((9.5, 10)),
        hosts=2,
        checkpoint_every=3,
        checkpoint_cost=1,
        restart_cost=2,
    )
    numbers = summary(schedule)
    assert numbers["n_resubmitted"] == 1
    assert numbers["lost_node_seconds"] == 2 * (3.5 + 6)
    assert numbers["goodput"] == pytest.approx(20 / 29.5)
    names = [metric.name for metric in (*METRICS, *ATTEMPTS)]
    assert list(numbers) == names


def test_runs_without_failures_have_no_such_numbers():
    schedule = simulate(Platform.homogeneous(1), a_workload(a_job(1)), "fcfs")
    assert "goodput" not in summary(schedule)
    assert "useful_time" not in schedule.jobs


@pytest.mark.parametrize("parquet", [False, True])
def test_saved_schedules_tell_what_was_lost(tmp_path, parquet):
    if parquet:
        pytest.importorskip("pyarrow")
    schedule = run([a_job(1, runtime=20, walltime=100)], down((9.5, 10)), checkpoint_every=3)
    schedule.save(tmp_path, parquet=parquet)
    again = Schedule.load(tmp_path)
    assert useful(again) == useful(schedule)
    assert summary(again)["goodput"] == summary(schedule)["goodput"]
    assert again.column("metadata").tolist() == schedule.column("metadata").tolist()


def test_ids_that_look_like_attempts_are_refused():
    with pytest.raises(InputError, match="job a#2: on_failure: got an id that ends as those of"):
        run([a_job("a#2")], down())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_failure": "again"}, "on_failure: got 'again', expected end or resubmit"),
        ({"max_attempts": 0}, "max_attempts: got 0, expected a whole number >= 1"),
        ({"checkpoint_every": 0}, "checkpoint_every: got 0, expected a number above 0"),
        ({"checkpoint_every": math.nan}, "checkpoint_every: got nan"),
        ({"checkpoint_cost": -1}, "checkpoint_cost: got -1, expected a number >= 0"),
        ({"restart_cost": math.inf}, "restart_cost: got inf, expected a number >= 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        run([a_job(1)], down(), **options)
