"""A record replayed: errors of waits by class, and jobs that the model cannot place."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from slurm_answers import conf_of, job, site_of
from slurm_rows import CONF, row, sacct_file

from noctule.cli import main
from noctule.errors import InputError
from noctule.slurm.answers.backtest import backtest_site, compare_runs
from noctule.slurm.answers.job_classes import job_classes, size_class
from noctule.slurm.conf.associations import parse_associations
from noctule.slurm.site.site import SiteExtras


def run_with(*starts):
    """Return what a comparison needs of a run."""
    state = ["waiting" if start is None else "completed" for start in starts]
    dates = np.array([math.nan if start is None else start for start in starts])
    return SimpleNamespace(start=dates, state=state, notes=())


def test_errors_are_those_of_hand_computed_waits():
    # recorded waits 10 and 20; simulated 12 and 20, then 14 and 26
    site = site_of(conf_of(2), job(0, 5), job(100, 5), recorded=[10.0, 120.0])
    found = compare_runs(site, [run_with(12.7, 120.2), run_with(14.0, 126.9)], seed=1)
    whole = found.classes[0]
    assert (whole.kind, whole.name, whole.n_jobs) == ("all", "all", 2)
    assert (whole.recorded_mean, whole.recorded_median) == (15, 15)
    assert (whole.simulated_mean, whole.simulated_median) == (18, 18)
    assert whole.error == 3
    assert whole.rms_error == pytest.approx(math.sqrt((1**2 + 5**2) / 2))
    assert whole.spread == pytest.approx(math.sqrt(8))
    # differences of starts: 2 + 0, then 4 + 6, over waits of 30
    assert whole.start_error == pytest.approx((2 + 10) / 2 / 30)
    assert found.errors()["all", "all"] == whole.rms_error


def test_jobs_are_classed_by_partition_size_and_account():
    conf = conf_of(6, "PartitionName=late Nodes=n[1-5]")
    site = site_of(
        conf,
        job(0, 5, 1, account="b"),
        job(1, 5, 4, account="a"),
        job(2, 5, 5, partitions=("late", "main")),
    )
    assert [(one.kind, one.name, one.jobs.tolist()) for one in job_classes(site)] == [
        ("all", "all", [0, 1, 2]),
        ("partition", "main", [0, 1]),
        ("partition", "late", [2]),
        ("size", "1 node", [0]),
        ("size", "2-4 nodes", [1]),
        ("size", "5-16 nodes", [2]),
        ("account", "(none)", [2]),
        ("account", "a", [1]),
        ("account", "b", [0]),
    ]


@pytest.mark.parametrize(
    ("n_hosts", "name"),
    [(1, "1"), (2, "2-4"), (4, "2-4"), (5, "5-16"), (1024, "257-1024"), (1025, "1025+")],
)
def test_sizes_are_classed_by_powers_of_four(n_hosts, name):
    assert size_class(n_hosts) == name


def test_jobs_that_are_not_placed_are_left_out_and_listed_with_a_reason():
    site = site_of(conf_of(2), job(0, 5), job(0, 5, held=True), recorded=[3.0, 3.0])
    found = compare_runs(site, [run_with(3.0, None), run_with(3.0, None)], seed=1)
    assert found.classes[0].n_jobs == 1
    (lost,) = found.unplaced
    assert (lost.job_id, lost.n_phases) == ("2", 2)
    assert lost.reason == "held, and no date of release is known"


def test_jobs_that_only_the_model_starts_are_counted():
    site = site_of(conf_of(2), job(0, 5), job(0, 5), recorded=[3.0, None])
    found = compare_runs(site, [run_with(3.0, 3.0)], seed=1)
    assert (found.n_only_simulated, found.classes[0].n_jobs) == (1, 1)
    assert math.isnan(found.classes[0].spread)


def test_a_record_that_the_model_makes_itself_has_no_error_but_that_of_phases():
    # an idle machine: each job waits for the next tick, 3 s after the last pass at most
    jobs = [job(100 * i, 20) for i in range(20)]
    site = site_of(conf_of(2), *jobs, recorded=[100.0 * i + 1 for i in range(20)])
    found = backtest_site(site, n_phases=4, seed=3)
    assert abs(found.classes[0].error) < 2
    assert found == backtest_site(site, n_phases=4, seed=3)
    assert found != backtest_site(site, n_phases=4, seed=4)


def test_jobs_without_a_record_are_refused():
    with pytest.raises(InputError, match="no recorded starts, expected rows of sacct"):
        backtest_site(site_of(conf_of(2), job(0, 5)))


def test_a_qos_that_only_jobs_name_is_taken_as_one_without_limits():
    accounts = parse_associations("Cluster - 'here'\nParent - 'root'\nUser - 'root'\n")
    extras = SiteExtras(associations=accounts)
    site = site_of(conf_of(2), job(0, 5, qos="normal"), recorded=[2.0], extras=extras)
    found = backtest_site(site, n_phases=1)
    assert found.classes[0].n_jobs == 1
    assert found.notes[0] == "QOS normal: not told (--qos), taken as without limits or priority"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    jobs = sacct_file(tmp_path, row("1"), row("2", Submit=5, Account="chemistry"))
    return ["--conf", str(tmp_path / "slurm.conf"), "--jobs", str(jobs)]


def test_the_command_prints_classes_as_a_table_json_and_csv(files, tmp_path, capsys):
    table = tmp_path / "classes.csv"
    assert main(["slurm", "backtest", *files, "--phases", "2", "--csv", str(table)]) == 0
    shown = capsys.readouterr().out
    assert "account chemistry" in shown
    assert main(["slurm", "backtest", *files, "--phases", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told["classes"]][:2] == ["all", "main"]
    assert told["classes"][0]["recorded_mean"] == 7.5
    lines = table.read_text().splitlines()
    assert lines[0].startswith("kind,name,n_jobs,recorded_mean")
    assert len(lines) == 1 + len(told["classes"])


def test_an_imported_folder_gives_the_same_answer_as_its_files(files, tmp_path, capsys):
    folder = str(tmp_path / "site")
    assert main(["slurm", "import", *files, "-o", folder, "--quiet"]) == 0
    assert main(["slurm", "backtest", *files, "--json", "--quiet"]) == 0
    direct = capsys.readouterr().out
    assert main(["slurm", "backtest", "--site", folder, "--json", "--quiet"]) == 0
    assert capsys.readouterr().out == direct


@pytest.mark.parametrize("words", [[], ["--conf", "x"], ["--site", "x", "--conf", "y"]])
def test_where_the_site_is_must_be_said_once(words, capsys):
    assert main(["slurm", "backtest", *words]) == 2
    assert "expected --" in capsys.readouterr().err
