"""What a site's machine and accounts are like when its record begins: usage, and running jobs."""

from __future__ import annotations

import pytest
from slurm_answers import conf_of, job, site_of
from slurm_rows import CONF, CONS, T0, row, sacct_file

from noctule.slurm.answers.backtest import backtest_site
from noctule.slurm.conf.associations import parse_associations
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.site_run import run_site
from noctule.slurm.site.extras import Usage
from noctule.slurm.site.reading import SiteFiles, read_site
from noctule.slurm.site.site import SiteExtras

ACCOUNTS = parse_associations("""
Cluster - 'test':Fairshare=1
Parent - 'root'
User - 'root':Fairshare=1
Account - 'lab':Fairshare=10
Parent - 'lab'
User - 'ann':Fairshare=1
User - 'bob':Fairshare=1
""")
FAIR = (
    "AccountingStorageType=accounting_storage/slurmdbd",
    "PriorityType=priority/multifactor",
    "PriorityWeightFairshare=1000",
    "PriorityCalcPeriod=60",
)


def starts(usage, *lines):
    # ann's jobs take the node first; then her second and bob's wait, of which bob's came last
    jobs = [job(0, 100, user="ann"), job(1, 20, user="ann"), job(2, 20, user="bob")]
    extras = SiteExtras(associations=ACCOUNTS, usage=usage)
    site = site_of(conf_of(1, *FAIR, *lines), *jobs, extras=extras)
    run = run_site(site, Clocks(first_calculation=1000.0))
    return run.start.tolist(), run.notes


def test_who_has_used_less_before_the_record_comes_first_from_the_beginning():
    # before the first computation, priorities are those of submission: without usage all are
    # alike; with it bob, who used nothing of the lab's 5000 s, comes before ann
    nothing, _ = starts(())
    assert nothing[1] < nothing[2]
    used, _ = starts((Usage("lab", "", 5000.0), Usage("lab", "ann", 5000.0)))
    assert used[2] < used[1]


def test_usage_of_unknown_accounts_is_counted_and_left_out():
    _, notes = starts((Usage("old", "", 5.0), Usage("old", "eve", 5.0)))
    assert "usage of 2 unknown associations is left out" in notes


def test_usage_that_is_reset_at_the_beginning_counts_for_nothing():
    used = (Usage("lab", "", 5000.0), Usage("lab", "ann", 5000.0))
    reset, _ = starts(used, "PriorityUsageResetPeriod=NOW")
    assert reset[1] < reset[2]


@pytest.mark.parametrize("conf", [CONF, CONS])
def test_jobs_that_ran_already_start_when_and_where_they_did(tmp_path, conf):
    (tmp_path / "slurm.conf").write_text(conf)
    # both came at 0; the record of other jobs begins at 100. The machine was busy with others
    # until 40 and 90, which nobody tells: the model would have started them at once, on n1 and n2
    old = [
        row("1", Start=40, End=240, NodeList="n3"),
        row("2", Start=90, End=340, NodeList="n4"),
    ]
    new = row("3", Submit=100, Start=110, End=120, NodeList="n1")
    files = SiteFiles(
        conf=str(tmp_path / "slurm.conf"),
        jobs=str(sacct_file(tmp_path, new)),
        running=str(sacct_file(tmp_path, *old, name="running.txt")),
    )
    read = read_site(files)
    assert read.report.rules["ran already: starts when and where it did"].count == 2
    run = run_site(read.site, Clocks())
    assert run.start[:2].tolist() == [40.0, 90.0]
    assert run.scheduler[:2] == ["", ""]
    first = [run.hosts(i)[0][0] for i in range(2)]
    assert first == ([2, 3] if conf == CONF else [16, 24])
    assert read.site.origin == T0
    # the model decided of one job only
    assert backtest_site(read.site, n_phases=1).classes[0].n_jobs == 1


def test_a_job_whose_nodes_are_not_free_at_its_date_waits_like_others(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    old = [row("1", Start=40, End=240), row("2", Start=90, End=340)]  # both on n1: not here
    files = SiteFiles(
        conf=str(tmp_path / "slurm.conf"),
        jobs=str(sacct_file(tmp_path, row("3", Submit=100, Start=110, End=120))),
        running=str(sacct_file(tmp_path, *old, name="running.txt")),
    )
    run = run_site(read_site(files).site, Clocks())
    assert run.start[0] == 40.0
    assert 90.0 < run.start[1] < 240.0
    assert any("their nodes were not free here" in note for note in run.notes)
