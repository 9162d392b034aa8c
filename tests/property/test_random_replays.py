"""Users who wait in random logs, beside the most naive replay, and as recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from feedback_replay import replay_with_easy
from hypothesis import given
from hypothesis import strategies as st
from user_replays import RecordedWaits, replayed, submissions

import noctule as nt
from noctule.resampling import WEEK
from noctule.sessions import find_batches, find_sessions
from noctule.sessions.partition import CUTS
from noctule.workload import Delay, Job, Request, Workload

# few values, so that much happens at one instant
DATES = st.integers(0, 40).map(float)
WAITS = st.integers(0, 6).map(float)
LENGTHS = st.integers(1, 12).map(float)
SIZES = st.integers(1, 5)
USERS = st.sampled_from([1, 2, 7, None])
JOBS = st.lists(st.tuples(DATES, WAITS, LENGTHS, SIZES, USERS), min_size=1, max_size=25).filter(
    lambda jobs: any(user is not None for *_, user in jobs)
)
THRESHOLDS = st.sampled_from([0.0, 1.0, 3.0, 10.0])
CUT = st.sampled_from(sorted(CUTS))


def a_workload(jobs: list[tuple[float, float, float, int, int | None]]) -> Workload:
    in_order = enumerate(sorted(jobs, key=lambda job: job[0]))
    return Workload.from_jobs(
        Job(
            i,
            submit,
            Request(size),
            Delay(length),
            2 * length,
            user=user,
            extra={"wait_time": wait},
        )
        for i, (submit, wait, length, size, user) in in_order
    )


@given(JOBS, THRESHOLDS, CUT)
def test_feedback_is_what_the_naive_replay_gives(jobs, threshold, cut):
    workload = a_workload(jobs)
    sessions = find_sessions(workload, threshold=threshold, cut=cut)
    batches = replace(sessions, graph=find_batches(sessions).graph)
    for model, groups in ((nt.Feedback, sessions), (nt.Adjusted, batches)):
        expected = replay_with_easy(workload, groups, n_hosts=4)
        replay = model(threshold=threshold, cut=cut)
        schedule = nt.simulate(nt.Platform.homogeneous(4), workload, "easy", replay=replay)
        order = np.argsort(schedule.column("job_id"))
        for name, dates in (("submit_time", expected.submit), ("start_time", expected.start)):
            np.testing.assert_array_equal(schedule.column(name)[order], dates)


@given(JOBS, THRESHOLDS, CUT, st.integers(0, 3))
def test_recorded_waits_lead_to_recorded_dates(jobs, threshold, cut, seed):
    workload = a_workload(jobs)
    told = {"threshold": threshold, "cut": cut}
    for replay in (
        nt.Rigid(),
        nt.Feedback(**told),
        nt.Feedback(**told, think="reacting", base=5, slope=0.5),
        nt.Adjusted(**told),
        nt.Fluid(**told, think="kept"),
        nt.DistributionBased(**told, seed=seed),
    ):
        schedule = replayed(workload, replay, RecordedWaits(workload))
        assert submissions(schedule, unit=1) == workload.submit_time.tolist()


@given(JOBS, THRESHOLDS, st.integers(0, 3), st.floats(0, 5))
def test_every_job_of_a_population_comes_once_and_after_what_it_waits_for(
    jobs, threshold, seed, patience
):
    workload = a_workload(jobs)
    replay = nt.Resampling(
        threshold=threshold, seed=seed, weeks=3, patience=patience, steepness=3.0
    )
    simulation = nt.Simulation(nt.Platform.homogeneous(4), workload, "easy", replay=replay)
    schedule = simulation.run()
    ids = schedule.column("job_id").tolist()
    assert len(set(ids)) == len(ids)
    assert set(ids) <= set(simulation.workload.job_ids.tolist())
    submit, finish = schedule.column("submit_time"), schedule.column("finish_time")
    users = schedule.column("user").tolist()
    weeks = (schedule.column("recorded_submit_time") // WEEK).tolist()
    ends = np.where(np.isnan(finish), submit, finish).tolist()
    for user, week, date in zip(users, weeks, submit.tolist(), strict=True):
        earlier = [
            end
            for other, other_week, end in zip(users, weeks, ends, strict=True)
            if other == user and other_week < week
        ]
        assert date >= max(earlier, default=0.0)
