"""Replays of real logs, beside what was published of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from feedback_replay import KTH_FIGURES
from user_replays import RecordedWaits

import noctule as nt
from noctule.lateness import summed_up
from noctule.resampling import WEEK
from noctule.sessions import find_sessions, weekly_activity

DAY = 86_400.0


@pytest.fixture(scope="module")
def kth(shared: Path) -> nt.Workload:
    return nt.load_workload(shared / "traces" / "KTH-SP2-1996-2.1-cln.swf.xz", walltime_factor=2)


def figures(schedule: nt.Schedule) -> tuple[float, ...]:
    """Makespan, mean wait, maximal wait and mean lateness, in days."""
    submit, wait = schedule.column("submit_time"), schedule.column("waiting_time")
    recorded = schedule.column("recorded_submit_time")
    return (
        (np.nanmax(schedule.column("finish_time")) - submit.min()) / DAY,
        float(np.nanmean(wait)) / DAY,
        float(np.nanmax(wait)) / DAY,
        summed_up(recorded, submit).mean_lateness / DAY,
    )


@pytest.mark.parametrize(("minutes", "hosts", "speed", "expected"), KTH_FIGURES)
def test_kth_with_feedback_gives_the_published_figures(kth, minutes, hosts, speed, expected):
    platform = nt.Platform.homogeneous(hosts, speed)
    schedule = nt.simulate(platform, kth, "easy", replay=nt.Feedback(threshold=60 * minutes))
    found = figures(schedule)
    is_reference = hosts == 100 and speed == 1
    mean_wait = 0.0005 if is_reference else 0.015
    # what was published of another EASY: one unit of the last digit, of the longest wait two
    margins = (0.005, mean_wait, 0.005, 0.005) if is_reference else (0.015, mean_wait, 0.02, 0.015)
    for value, told, margin in zip(found, expected, margins, strict=True):
        assert value == pytest.approx(told, abs=margin)


@pytest.mark.parametrize(
    "replay",
    [
        nt.Feedback(threshold=0),
        nt.Adjusted(threshold=3600),
        nt.Fluid(threshold=3600, think="kept"),
        nt.DistributionBased(threshold=3600, seed=1),
    ],
    ids=lambda replay: type(replay).__name__,
)
def test_kth_with_its_recorded_starts_is_submitted_as_recorded(kth, replay):
    few = nt.traces.select(kth, positions=slice(0, 4000))
    schedule = nt.simulate(nt.Platform.homogeneous(2000), few, RecordedWaits(few), replay=replay)
    assert (schedule.column("submit_time") == schedule.column("recorded_submit_time")).all()
    assert len(schedule) == len(few)


def test_users_of_kth_keep_their_hours_on_a_slower_machine(kth):
    # how far the hours of the week of submissions are from those recorded: 0 is the same, 1 none
    clock = weekly_activity(find_sessions(kth, threshold=0).record).clock
    recorded = np.bincount(clock.hours_of_week(kth.submit_time), minlength=168) / len(kth)

    def distance(replay: nt.replay.Replay) -> float:
        schedule = nt.simulate(nt.Platform.homogeneous(100, 0.5), kth, "easy", replay=replay)
        hours = clock.hours_of_week(schedule.column("submit_time"))
        return float(np.abs(np.bincount(hours, minlength=168) / len(kth) - recorded).sum() / 2)

    lost = distance(nt.Adjusted(threshold=3600))
    assert lost > 0.3
    for seed in (1, 2):
        assert distance(nt.DistributionBased(threshold=3600, seed=seed)) < 0.7 * lost


def test_a_population_of_kth_is_as_active_as_its_users(kth):
    # whoever is drawn does what her model did in any week from his first to his last: the mean of
    # all models, each as heavy as the others
    jobs_a_week, active_a_week = [], []
    weeks = (kth.submit_time // WEEK).astype(int)
    users = kth.labels("user")
    for user in np.unique(users):
        of_user = weeks[users == user]
        span = of_user.max() - of_user.min() + 1
        jobs_a_week.append(len(of_user) / span)
        active_a_week.append(len(np.unique(of_user)) / span)
    n_jobs = n_active = 0
    for seed in range(8):
        replay = nt.Resampling(threshold=3600, seed=seed, weeks=40, patience=1e9, steepness=1)
        drawn = replay.applied_to(kth).workload
        n_jobs += len(drawn)
        week = (drawn.submit_time // WEEK).tolist()
        n_active += len(set(zip(drawn.labels("user"), week, strict=True)))
    expected = sum(jobs_a_week) / sum(active_a_week)
    assert n_jobs / n_active == pytest.approx(expected, rel=0.1)
