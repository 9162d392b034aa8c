"""The conformance cases, worked out a second time by independent schedulers.

A case that no mistake fails would be worthless: so the schedule that each trap leads to is worked
out too, by a scheduler that makes just that mistake.
"""

from __future__ import annotations

from functools import partial

import pytest
from reference_policies import (
    Conservative,
    Easy,
    Fcfs,
    Filler,
    NamedEasy,
    Replanning,
    sorted_by_runtime,
    sorted_by_walltime,
)

from noctule.testing import cases, check_cases, families

RIGHT = {
    "fcfs": Fcfs,
    "easy": Easy,
    "conservative": Conservative,
    "replanning": Replanning,
    "filler": Filler,
    "fcfs(order=sjf)": sorted_by_walltime(Fcfs),
    "easy(order=sjf)": sorted_by_walltime(Easy),
}


def wrong(policy, mistake):
    return partial(policy, mistake=mistake)


WRONG = {
    "fcfs": {
        "a job that fits overtakes the first one": wrong(Fcfs, "overtaking"),
        "one start an event": wrong(Fcfs, "one start"),
        "a job must need fewer hosts than are free": wrong(Fcfs, "strict fit"),
        "jobs submitted together are sorted by their ids": wrong(Fcfs, "sorted ids"),
        "the order of the file is taken for that of arrivals": wrong(Fcfs, "unsorted"),
        "hosts are held until the walltime": wrong(Fcfs, "held to walltime"),
        "a job larger than the platform blocks the queue": wrong(Fcfs, "oversized blocks"),
    },
    "easy": {
        "no backfilling": Fcfs,
        "no protection of the first job": wrong(Easy, "unprotected"),
        "backfilling only when more than two jobs wait": wrong(Easy, "queue > 2"),
        "a backfilled job must end before the shadow, not at it": wrong(Easy, "before the shadow"),
        "only the job behind the first is tried": wrong(Easy, "one candidate"),
        "the shortest or smallest candidate is tried first": wrong(Easy, "smallest candidate"),
        "every waiting job is protected, which is conservative backfilling": Conservative,
        "no rule for extra hosts": wrong(Easy, "no extra"),
        "extra is not reduced by the jobs that use it": wrong(Easy, "extra kept"),
        "extra is reduced by every backfilled job": wrong(Easy, "extra always"),
        "releases tied with the shadow are not counted": wrong(Easy, "ties not counted"),
        "the reservation of the first job is for certain hosts": NamedEasy,
        "extra is carried over from one event to the next": wrong(Easy, "extra carried over"),
        "true runtimes used as estimates": wrong(Easy, "true runtimes"),
        "running jobs sorted by time limit instead of end": wrong(Easy, "sorted by limit"),
        "a reservation fixed once and never recomputed": wrong(Easy, "fixed reservation"),
        "the first job waits for the date it was promised": wrong(Easy, "appointment"),
        "backfilling only when a job is submitted": wrong(Easy, "submissions only"),
        "no backfilling at an instant when the first job starts": wrong(Easy, "not after a start"),
        "a submission is handled before an end of the same instant": wrong(
            Easy, "submissions first"
        ),
        "simultaneous ends are seen one by one": wrong(Easy, "ends one by one"),
        "a job larger than the platform blocks the queue": wrong(Easy, "oversized blocks"),
    },
    "conservative": {
        "only the first job is protected, which is EASY": Easy,
        "no backfilling": Fcfs,
        "a hole must be longer than the job": wrong(Conservative, "longer hole"),
        "only the beginning of a hole is looked at": wrong(Conservative, "beginning only"),
        "a newcomer may push back a reservation": wrong(Conservative, "beginning only"),
        "true runtimes used as estimates": wrong(Conservative, "true runtimes"),
        "reservations fixed once and never moved": wrong(Conservative, "never moved"),
        "compression begins with the last job": wrong(Conservative, "last first"),
        "compression stops at the first job that cannot move": wrong(Conservative, "stops"),
        "a newcomer is placed before the plan is compressed": wrong(Conservative, "newcomer first"),
        "reservations are looked at only when something else happens": wrong(
            Conservative, "no clock"
        ),
        "passes are repeated until nothing moves, or made when no job ended early": wrong(
            Conservative, "passes"
        ),
        "the plan is compressed once only": wrong(Conservative, "once"),
        "planning afresh instead of compressing": Replanning,
    },
    "replanning": {
        "only the first job is protected, which is EASY": Easy,
        "compressing instead of planning afresh": Conservative,
        "true runtimes used as estimates": wrong(Replanning, "true runtimes"),
    },
    "filler": {
        "the first job is protected": Easy,
        "the search stops at the first job that does not fit": wrong(Filler, "stops"),
        "the largest job that fits is taken first": wrong(Filler, "largest first"),
    },
    "fcfs(order=sjf)": {
        "the order is ignored": Fcfs,
        "the queue is sorted by true runtimes": sorted_by_runtime(Fcfs),
    },
    "easy(order=sjf)": {"the order is ignored": Easy},
}


def failed_traps(policy, family):
    failures = check_cases(lambda case: policy(case.hosts, case.jobs).run(), family)
    return [failure.case.trap for failure in failures]


@pytest.mark.parametrize("case", cases(), ids=str)
def test_an_independent_scheduler_agrees_with_the_case(case):
    assert RIGHT[case.policy](case.hosts, case.jobs).run() == case.expected


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_mistake_that_a_case_names_leads_to_the_schedule_it_gives(case):
    found = WRONG[case.policy][case.trap](case.hosts, case.jobs).run()
    assert found == case.trapped
    assert found != case.expected


@pytest.mark.parametrize(
    ("family", "trap"), [(family, trap) for family in WRONG for trap in WRONG[family]]
)
def test_every_mistake_fails_a_case_that_names_it(family, trap):
    assert trap in failed_traps(WRONG[family][trap], family)


def test_a_pass_at_every_event_is_told_from_a_pass_after_early_ends():
    policy = wrong(Conservative, "every event")
    named = "passes are repeated until nothing moves, or made when no job ended early"
    assert named in failed_traps(policy, "conservative")


@pytest.mark.parametrize(
    ("family", "at_least"), [("fcfs", 6), ("easy", 14), ("conservative", 10), ("replanning", 4)]
)
def test_a_family_has_enough_cases(family, at_least):
    assert len(cases(family)) >= at_least


def test_every_family_is_worked_out_again():
    assert set(families()) == set(RIGHT) == set(WRONG)


@pytest.mark.parametrize(
    ("peer", "mistakes", "n_failed"),
    [
        ("SPARS", "unprotected + queue > 2", 12),
        ("CQSim", "true runtimes", 2),
        ("RAPS", "sorted by limit + no extra", 8),
    ],
)
def test_what_other_simulators_do_under_the_name_of_easy_fails(peer, mistakes, n_failed):
    # the mistakes are those found in their sources;
    # the counts are quoted in docs/reference/conformance.md
    assert len(failed_traps(wrong(Easy, mistakes), "easy")) == n_failed
