"""Waits as intervals with causes that sum to them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slurm_answers import conf_of, job, lifetimes, site_of
from slurm_rows import CONF, row, sacct_file

from noctule._core import HostSet
from noctule.cli import main
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.slurm.answers.waits.explain import Explainer
from noctule.slurm.answers.waits.lifetimes import recorded_lifetimes, simulated_lifetimes
from noctule.slurm.jobs.requests import SlurmDependency
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.site_run import run_site
from noctule.slurm.site.site import SiteExtras
from noctule.windows import Maintenance, Windows


def causes(site, lives, job_id):
    found = Explainer(site, lives).explain_id(job_id)
    assert sum(one.seconds for one in found.intervals) == pytest.approx(found.wait)
    return [(one.begin, one.end, one.cause.value, one.jobs) for one in found.intervals]


def test_nodes_are_busy_until_their_holder_ends_and_then_a_pass_must_come():
    site = site_of(conf_of(2), job(0, 100, 2), job(10, 50, 2))
    lives = lifetimes((0, 100, (0, 1)), (101, 151, (0, 1)), main=[0, 13, 101])
    assert causes(site, lives, "2") == [
        (10, 100, "resources busy", ("1",)),
        (100, 101, "pass timing", ()),
    ]


def test_a_job_behind_another_waits_for_it_while_nodes_are_free_and_when_it_holds_them():
    # one node is free all the time until 101, but kept for job 2, which needs both
    site = site_of(conf_of(2), job(0, 100), job(10, 99, 2), job(20, 600))
    lives = lifetimes(
        (0, 100, (0,)),
        (101, 200, (0, 1)),
        (203, 803, (0,)),
        main=[0, 13, 101, 203],
        backfill=[30, 60, 90],
    )
    assert causes(site, lives, "3") == [
        (20, 101, "behind higher priority", ("2",)),
        (101, 200, "resources busy", ("2",)),
        (200, 203, "pass timing", ()),
    ]


def test_a_backfilled_job_waits_for_the_pass_after_the_last_one_that_refused_it():
    site = site_of(conf_of(2), job(0, 100), job(10, 99, 2), job(20, 10, limit=1))
    lives = lifetimes(
        (0, 100, (0,)),
        (101, 200, (0, 1)),
        (60, 70, (1,), "Backfill"),
        main=[0, 13, 101],
        backfill=[30, 60, 90],
    )
    assert causes(site, lives, "3") == [
        (20, 30, "behind higher priority", ("2",)),
        (30, 60, "pass timing", ()),
    ]


def test_a_small_job_that_nothing_hinders_waits_for_a_pass():
    site = site_of(conf_of(2), job(0, 100))
    assert causes(site, lifetimes((2.5, 102.5, (0,)), main=[2.5]), "1") == [
        (0, 2.5, "pass timing", ())
    ]


def test_dates_holds_and_dependencies_come_before_what_the_machine_does():
    waits_for_1 = (SlurmDependency("afterany", "1"),)
    site = site_of(
        conf_of(2),
        job(0, 100),
        job(0, 10, begin=30.0),
        job(0, 10, release=40.0),
        job(0, 10, dependencies=waits_for_1),
    )
    lives = lifetimes(
        (0, 100, (0,)), (31, 41, (1,)), (41, 51, (1,)), (103, 113, (0,)), main=[0, 31, 41, 103]
    )
    assert causes(site, lives, "2")[0] == (0, 30, "not eligible", ())
    assert causes(site, lives, "3")[0] == (0, 40, "held", ())
    assert causes(site, lives, "4") == [
        (0, 100, "dependency", ("1",)),
        (100, 103, "pass timing", ()),
    ]


def test_tasks_over_the_bound_of_their_array_are_over_a_limit():
    tasks = [job(0, 50, array="7", array_task=i, array_throttle=1) for i in range(2)]
    site = site_of(conf_of(2), *tasks)
    lives = lifetimes((0, 50, (0,)), (52, 102, (0,)), main=[0, 52])
    assert causes(site, lives, "2") == [
        (0, 50, "over a limit", ("1",)),
        (50, 52, "pass timing", ()),
    ]


def test_nodes_that_a_maintenance_needs_soon_are_kept_by_it():
    # the limit of 10 minutes reaches into the maintenance from 500 to 700
    windows = Windows([Maintenance(HostSet([0, 1]), 500.0, 700.0, name="upgrade")])
    site = site_of(conf_of(2), job(0, 60), extras=SiteExtras(reservations=windows))
    lives = lifetimes((702, 762, (0,)), main=[3, 702])
    found = Explainer(site, lives).explain_id("1")
    assert [(i.begin, i.end, i.cause.value, i.detail) for i in found.intervals] == [
        (0, 700, "kept by a reservation", "upgrade"),
        (700, 702, "pass timing", "until a main pass"),
    ]


def test_nodes_that_are_down_are_not_free():
    down = ExternalEvents.from_events(
        [
            ExternalEvent(0.0, "unavailable", HostSet([0, 1])),
            ExternalEvent(90.0, "available", HostSet([0, 1])),
        ]
    )
    site = site_of(conf_of(2), job(0, 60), extras=SiteExtras(outages=down))
    assert causes(site, lifetimes((91, 151, (0,)), main=[91]), "1") == [
        (0, 90, "resources busy", ()),
        (90, 91, "pass timing", ()),
    ]


def test_a_job_too_far_back_in_the_queue_is_not_tested():
    conf = conf_of(2, "SchedulerParameters=bf_max_job_test=1")
    site = site_of(conf, job(0, 100), job(10, 99, 2), job(20, 10, limit=1))
    lives = lifetimes(
        (0, 100, (0,)), (101, 200, (0, 1)), (203, 213, (0,)), main=[0, 101, 203], backfill=[30, 60]
    )
    assert causes(site, lives, "3")[0] == (20, 101, "not tested", ())


def test_enough_nodes_that_pass_after_pass_refuses_are_fragmented():
    site = site_of(conf_of(4), job(0, 100), job(0, 50, 2, contiguous=True))
    lives = lifetimes((0, 100, (1,)), (102, 152, (0, 1)), main=[0, 3, 60, 102])
    assert causes(site, lives, "2") == [
        (0, 100, "free but fragmented", ()),
        (100, 102, "pass timing", ()),
    ]


def test_a_job_that_never_starts_is_explained_until_it_leaves_the_queue():
    site = site_of(conf_of(2), job(0, 100, 2), job(10, 50, 2))
    found = Explainer(site, lifetimes((0, 100, (0, 1)), None, main=[0])).explain_id("2")
    assert (found.start, found.wait) == (None, 90)
    assert [one.cause.value for one in found.intervals] == ["resources busy"]


def test_a_job_whose_end_is_not_known_holds_its_nodes():
    site = site_of(conf_of(3), job(0, 100), job(0, 30), job(10, 50, 2))
    lives = lifetimes((0, math.nan, (0,)), (0, 30, (1,)), (32, 82, (1, 2)), main=[0, 32])
    assert causes(site, lives, "3") == [
        (10, 30, "resources busy", ("1", "2")),
        (30, 32, "pass timing", ()),
    ]


def test_an_unknown_job_is_named():
    site = site_of(conf_of(2), job(0, 100))
    with pytest.raises(InputError, match=r"^JOBID: got '9', which is no job of slurm$"):
        Explainer(site, lifetimes((0, 100, (0,)))).explain_id("9")


def test_recorded_waits_are_explained_from_the_nodes_of_the_record():
    site = site_of(conf_of(1), job(0, 100), job(10, 50), recorded=[0.0, 102.0])
    assert causes(site, recorded_lifetimes(site), "2") == [
        (10, 100, "resources busy", ("1",)),
        (100, 102, "pass timing", ()),
    ]


JOBS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(1, 400), st.integers(1, 4), st.integers(1, 8)),
    min_size=1,
    max_size=12,
)


@given(JOBS, st.integers(0, 1000))
def test_intervals_follow_each_other_and_sum_to_the_wait(jobs, seed):
    site = site_of(conf_of(4), *(job(*one) for one in sorted(jobs)))
    run = run_site(site, Clocks.drawn(seed, site.settings), keep_passes=True)
    explainer = Explainer(site, simulated_lifetimes(run))
    for i in range(len(jobs)):
        found = explainer.explain(i)
        dates = [found.submit, *(one.end for one in found.intervals)]
        assert dates[-1] == found.end_of_wait == (run.start[i] if found.wait else found.submit)
        assert [one.begin for one in found.intervals] == dates[:-1]
        assert math.fsum(found.totals().values()) == pytest.approx(found.wait)


def test_the_command_tells_intervals_and_what_they_rest_on(tmp_path, capsys):
    (tmp_path / "slurm.conf").write_text(CONF)
    jobs = sacct_file(tmp_path, row("1"), row("2"))
    words = ["--conf", str(tmp_path / "slurm.conf"), "--jobs", str(jobs), "--quiet", "--json"]
    assert main(["slurm", "explain", "2", "1", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["job_id"] for one in told["jobs"]] == ["2", "1"]
    assert told["basis"] == "the model, seed 1"
    for one in told["jobs"]:
        assert sum(interval["seconds"] for interval in one["intervals"]) == pytest.approx(
            one["wait"]
        )
