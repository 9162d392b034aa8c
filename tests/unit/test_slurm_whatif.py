"""The present configuration against changes of it, and which effects are believed."""

from __future__ import annotations

import json

import pytest
from slurm_answers import conf_of, job, site_of
from slurm_rows import CONF, row, sacct_file

from noctule.cli import main
from noctule.slurm.answers.whatif import what_if


def two_jobs(recorded=None):
    """Two jobs of a minute that come at once to one node: the second one waits for the first."""
    return site_of(conf_of(1), job(0, 60), job(0, 60), recorded=recorded)


def effects(answer):
    return {(one.kind, one.name): one for one in answer.effects}


def test_a_second_node_takes_the_wait_for_the_first_away():
    found = what_if(two_jobs(), conf_of(1), ["nodes+100%"], n_phases=4)
    (answer,) = found.answers
    whole = effects(answer)["all", "all"]
    # the second waits for 60 s and a pass at most 4 s later; the first starts within 4 s
    assert 30 <= whole.present <= 36
    assert 0 <= whole.changed <= 4
    assert whole.is_distinguishable
    assert whole.effect == pytest.approx(whole.changed - whole.present)
    assert answer.jobs[0].job_id == "2"
    assert answer.jobs[0].causes["resources busy"] < -55
    # all came at once: 120 node-seconds, on one node in about 120 s, on two in about 60 s
    assert 0.9 < found.present.utilisation <= 1
    assert 0.9 < answer.work.utilisation <= 1


def test_causes_of_a_change_sum_to_it_up_to_the_seconds_that_waits_are_rounded_to():
    jobs = [job(7 * i, 40 + 13 * i % 90, 1 + i % 3) for i in range(25)]
    site = site_of(conf_of(4), *jobs)
    found = what_if(site, conf_of(4), ["SchedulerParameters.bf_interval=120"], n_phases=3)
    assert found.answers[0].jobs
    for one in found.answers[0].jobs:
        assert sum(one.causes.values()) == pytest.approx(one.changed - one.present, abs=2)


def test_an_effect_smaller_than_the_error_of_its_class_is_not_distinguishable():
    # the record has the second job start 40 s later than the model does: an error of about 20 s
    site = two_jobs(recorded=[2.0, 103.0])
    (answer,) = what_if(site, conf_of(1), ["nodes+1"], n_phases=4).answers
    whole = effects(answer)["all", "all"]
    assert 15 < whole.error < 25
    assert (whole.effect < -25, whole.is_distinguishable) == (True, True)
    site = two_jobs(recorded=[2.0, 163.0])
    (answer,) = what_if(site, conf_of(1), ["nodes+1"], n_phases=4).answers
    whole = effects(answer)["all", "all"]
    assert (whole.error > 40, whole.is_distinguishable) == (True, False)


def test_a_change_to_the_same_configuration_has_no_effect_at_all():
    found = what_if(two_jobs(), conf_of(1), ["SchedulerParameters.bf_interval=30"], n_phases=3)
    (answer,) = found.answers
    assert {one.effect for one in answer.effects} == {0}
    assert not any(one.is_distinguishable for one in answer.effects)
    assert answer.jobs == ()
    assert answer.work == found.present


def test_jobs_that_do_not_start_any_more_are_counted_and_left_out_of_the_means():
    site = site_of(conf_of(4), job(0, 60), job(0, 60, 4))
    (answer,) = what_if(site, conf_of(4), ["nodes-2"], n_phases=2).answers
    assert (answer.n_lost, effects(answer)["all", "all"].n_jobs) == (1, 1)
    assert list(answer.dropped.values()) == [1]


def test_fewer_backfill_passes_test_fewer_jobs():
    jobs = [job(5 * i, 50 + 11 * i % 80, 1 + i % 3) for i in range(40)]
    site = site_of(conf_of(4), *jobs)
    change = "SchedulerParameters.bf_interval=300"
    found = what_if(site, conf_of(4), [change], n_phases=2, n_jobs=0)
    work = found.answers[0].work
    assert work.backfill_passes < found.present.backfill_passes
    assert work.backfill_tests < found.present.backfill_tests
    assert work.backfilled <= found.present.backfilled


@pytest.fixture
def files(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    jobs = sacct_file(tmp_path, *(row(str(i), Submit=i) for i in range(1, 9)))
    return ["--conf", str(tmp_path / "slurm.conf"), "--jobs", str(jobs), "--phases", "2"]


def test_the_command_compares_each_change_with_the_present(files, tmp_path, capsys):
    table = tmp_path / "effects.csv"
    words = [*files, "--set", "nodes+5", "--set", "SchedulerParameters.bf_interval=60"]
    assert main(["slurm", "whatif", *words, "--csv", str(table)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("change: nodes+5\n")
    assert "not distinguishable" in shown
    assert "jobs started by backfilling" in shown
    assert main(["slurm", "whatif", *words, "--json", "--quiet"]) == 0
    first = capsys.readouterr().out
    assert main(["slurm", "whatif", *words, "--json", "--quiet"]) == 0
    assert capsys.readouterr().out == first
    told = json.loads(first)
    assert [one["change"] for one in told["changes"]] == [
        "nodes+5",
        "SchedulerParameters.bf_interval=60",
    ]
    n_effects = sum(len(one["effects"]) for one in told["changes"])
    assert len(table.read_text().splitlines()) == 1 + n_effects


def test_a_change_that_is_none_ends_the_command_before_any_run(files, capsys):
    assert main(["slurm", "whatif", *files, "--set", "nodes*2"]) == 3
    assert "--set nodes*2: got 'nodes*2', expected KEY=VALUE" in capsys.readouterr().err
