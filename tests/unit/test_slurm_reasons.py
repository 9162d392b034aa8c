"""Why the model's passes did not start a job, and what explanations make of it."""

from __future__ import annotations

import pytest
from slurm_answers import conf_of, job, site_of

from noctule.slurm.answers.waits.explain import Explainer
from noctule.slurm.answers.waits.lifetimes import simulated_lifetimes
from noctule.slurm.conf.associations import parse_associations
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.site_run import run_site
from noctule.slurm.site.site import SiteExtras

# ticks at each whole second and a quarter, backfilling each half minute from 30.5 on
CLOCKS = Clocks(
    first_tick=0.25,
    tick_period=1.0,
    first_backfill=30.5,
    first_full=60.0,
    first_limit_check=0.0,
    backfill_overhead=0.0,
)
ACCOUNTS = """
Cluster - 'test':Fairshare=1
Parent - 'root'
User - 'root':Fairshare=1
Account - 'lab':Fairshare=10
Parent - 'lab'
User - 'ann':Fairshare=1
User - 'bob':Fairshare=1
QOS - 'normal':MaxJobsPerUser=1
"""
ENFORCED = (
    "AccountingStorageType=accounting_storage/slurmdbd",
    "AccountingStorageEnforce=limits",
)
OF_ACCOUNTS = SiteExtras(associations=parse_associations(ACCOUNTS))


def run_of(site):
    return run_site(site, CLOCKS, keep_passes=True, keep_reasons=True)


def reasons(site, i):
    return [
        (change.date, change.kind, change.reason, change.detail)
        for change in run_of(site).reasons(i)
    ]


def explained(site, job_id):
    explainer = Explainer(site, simulated_lifetimes(run_of(site)))
    found = explainer.explain_id(job_id)
    assert sum(one.seconds for one in found.intervals) == pytest.approx(found.wait)
    return [(one.begin, one.end, one.cause.value, one.detail) for one in found.intervals]


def test_a_job_over_a_limit_has_it_as_its_reason_in_both_schedulers():
    # ann may run one job: her second one is refused in the pass of 1.25, and in the cycle of 30.5
    jobs = [job(1, 50, user="ann"), job(1.1, 50, user="ann")]
    site = site_of(conf_of(2, *ENFORCED), *jobs, extras=OF_ACCOUNTS)
    name = "QOSMaxJobsPerUserLimit of normal"
    assert reasons(site, 1) == [
        (1.25, "quick", "limit", name),
        (30.5, "backfill", "limit", name),
    ]


def test_a_wait_for_a_limit_is_explained_by_its_name_until_the_job_that_used_it_up_ends():
    # dates are those of the run; job 1 runs from 1.25 to 51.25, job 2 starts at 52.25
    jobs = [job(1, 50, user="ann"), job(1.1, 50, user="ann")]
    site = site_of(conf_of(2, *ENFORCED), *jobs, extras=OF_ACCOUNTS)
    assert explained(site, "2") == [
        (1.1, 1.25, "behind higher priority", "free nodes kept"),
        (1.25, 51.25, "over a limit", "QOSMaxJobsPerUserLimit of normal"),
        (51.25, 52.25, "pass timing", "until a main pass"),
    ]


def test_nobody_stands_behind_a_job_that_its_limit_holds():
    # job 2 of ann is over her limit, so that job 3, which needs both nodes, waits for job 1 alone
    jobs = [job(1, 50, user="ann"), job(1.1, 50, 2, user="ann"), job(1.2, 50, 2, user="bob")]
    site = site_of(conf_of(2, *ENFORCED), *jobs, extras=OF_ACCOUNTS)
    causes = [(cause, detail) for _, _, cause, detail in explained(site, "3")]
    assert ("resources busy", "") in causes
    assert not any(cause == "behind higher priority" for cause, _ in causes[1:])


def test_licences_that_others_use_are_a_limit_by_their_name():
    asks = {"licenses": (("matlab", 1),)}
    site = site_of(conf_of(2, "Licenses=matlab:1"), job(1, 50, **asks), job(1.1, 50, **asks))
    assert explained(site, "2")[1][2:] == ("over a limit", "licences of matlab")


def test_the_first_that_does_not_fit_waits_for_resources_and_those_behind_for_it():
    jobs = [job(1, 100, 1), job(1.1, 50, 2), job(1.2, 50, 2)]
    site = site_of(conf_of(2), *jobs)
    assert [(kind, reason) for _, kind, reason, _ in reasons(site, 1)] == [
        ("quick", "resources"),
        ("backfill", "resources"),
    ]
    assert [(kind, reason) for _, kind, reason, _ in reasons(site, 2)][:2] == [
        ("quick", "priority"),
        ("backfill", "priority"),
    ]


def test_a_job_that_no_pass_comes_to_names_the_parameters():
    # quick passes look at two jobs, cycles test one: job 4 would fit beside job 1
    conf = conf_of(2, "SchedulerParameters=default_queue_depth=1,bf_max_job_test=1")
    jobs = [job(1, 50), job(1.1, 50, 2), job(1.2, 50, 2), job(1.3, 5, limit=1)]
    site = site_of(conf, *jobs)
    told = [(reason, detail) for _, _, reason, detail in reasons(site, 3)]
    assert ("not tested", "bf_max_job_test") in told
    assert run_of(site).start[3] > 100


def test_reasons_cost_nothing_where_nobody_asks():
    site = site_of(conf_of(1), job(1, 50), job(1.1, 50))
    assert run_site(site, CLOCKS).reasons is None


def test_tasks_of_an_array_have_one_list():
    tasks = [job(0, 50, array="7", array_task=i, array_throttle=1) for i in range(3)]
    site = site_of(conf_of(2), *tasks)
    assert reasons(site, 1) == reasons(site, 2)
    assert "array throttle" in [reason for _, _, reason, _ in reasons(site, 2)]


def test_a_job_that_was_given_nodes_which_were_off_waits_for_their_boot():
    saving = ("SuspendProgram=/off", "ResumeProgram=/on", "SuspendTime=60", "ResumeTimeout=40")
    site = site_of(conf_of(2, *saving), job(0, 10), job(200, 10))
    assert explained(site, "2") == [
        (200, 200.25, "pass timing", "until a main pass"),
        (200.25, 240.25, "hosts switching on", "its nodes boot"),
    ]
