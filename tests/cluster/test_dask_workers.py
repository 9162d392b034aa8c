"""Campaigns on a Dask cluster: what comes out, and how input files get there."""

from __future__ import annotations

from pathlib import Path

import distributed
import pytest
from cluster_campaigns import MINE, campaign, results, results_here

from noctule.campaign import load_results, run_campaign
from noctule.campaign.dask_uploads import Uploads
from noctule.campaign.dask_workers import DaskWorkers, workers_for
from noctule.errors import InputError

GRUMPY = """
import os, signal

class Grumpy:
    def decide(self, view, events):
        {act}
"""


@pytest.fixture
def workers(cluster):
    return DaskWorkers(cluster.scheduler_address)


@pytest.fixture
def uploads(monkeypatch):
    """The names of the files that were uploaded."""
    names = []
    read = Uploads._read

    def watched(self, file):
        names.append(Path(file.path).name)
        return read(self, file)

    monkeypatch.setattr(Uploads, "_read", watched)
    return names


def on_all_workers(cluster, function):
    with distributed.Client(cluster, set_as_default=False) as client:
        return list(client.run(function).values())


def test_a_cluster_gives_the_same_bytes_as_this_machine(workers, tmp_path):
    wanted = campaign(tmp_path, policies=MINE)
    tally = run_campaign(wanted, tmp_path / "dask", workers)
    assert (tally.n_runs, tally.n_done, tally.n_failed) == (20, 20, 0)
    assert results(tmp_path / "dask") == results_here(wanted, tmp_path / "here")
    for jobs in tmp_path.glob("here/runs/*/*/jobs.parquet"):
        same = tmp_path / "dask" / jobs.relative_to(tmp_path / "here")
        assert same.read_bytes() == jobs.read_bytes()


def test_a_second_start_does_only_what_is_missing(workers, tmp_path):
    run_campaign(campaign(tmp_path, seeds="1-4"), tmp_path / "out", workers)
    tally = run_campaign(campaign(tmp_path, seeds="1-6"), tmp_path / "out", workers)
    assert (tally.n_found, tally.n_done) == (8, 4)


def test_workers_that_see_the_files_are_sent_none(workers, tmp_path, uploads):
    run_campaign(campaign(tmp_path), tmp_path / "out", workers)
    assert uploads == []


def test_workers_that_see_no_file_are_sent_each_once(workers, tmp_path, uploads, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # paths of the plan are relative, and lead nowhere in the workers' folder
    wanted = campaign(Path(), policies=MINE)
    assert run_campaign(wanted, "dask", workers).n_failed == 0
    assert results(Path("dask")) == results_here(wanted, Path("here"))
    assert set(uploads) == {"log.swf", "mine.py"}
    assert all(uploads.count(name) <= 2 for name in uploads)


def test_a_file_of_the_same_name_with_another_content_is_not_taken(
    workers, elsewhere, tmp_path, uploads, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    wanted = campaign(Path(), seeds="1-3")
    (elsewhere / "log.swf").write_text("; MaxProcs: 4\n")
    try:
        assert run_campaign(wanted, "dask", workers).n_failed == 0
    finally:
        (elsewhere / "log.swf").unlink()
    assert results(Path("dask")) == results_here(wanted, Path("here"))
    assert "log.swf" in uploads


def test_a_file_that_changes_after_the_plan_fails_its_runs_as_it_does_here(
    workers, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    wanted = campaign(Path(), policies=MINE)
    Path("mine.py").write_text("# another one\n")
    tally = run_campaign(wanted, "dask", workers)
    assert (tally.n_done, tally.n_failed) == (20, 10)
    assert results(Path("dask")) == results_here(wanted, Path("here"))
    errors = set(load_results("dask").error)
    assert errors == {"", "mine.py: has changed since the campaign was planned"}


def test_contents_on_the_way_are_limited_whatever_the_number_of_files(
    workers, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    logs = {f"log{n}": f"log{n}.swf" for n in range(6)}
    campaign(Path())
    for n, name in enumerate(logs.values()):
        # all of one length
        text = Path("log.swf").read_text().replace("; MaxProcs: 4", f"; MaxProcs: {n + 4}")
        Path(name).write_text(text)
    size = len(Path("log0.swf").read_bytes())
    peak = 0
    begun = Uploads._begun

    def watched(self, file, n_bytes):
        nonlocal peak
        upload = begun(self, file, n_bytes)
        peak = max(peak, sum(one.n_bytes for one in self._under_way.values()))
        return upload

    monkeypatch.setattr(Uploads, "_begun", watched)
    monkeypatch.setattr(Uploads, "most_bytes", 2 * size)
    wanted = campaign(Path(), workloads=logs, policies=["easy", "fcfs"], seeds=[])
    assert run_campaign(wanted, "dask", workers).n_failed == 0
    assert peak == 2 * size
    assert results(Path("dask")) == results_here(wanted, Path("here"))


@pytest.mark.slow
def test_runs_that_fail_are_recorded_as_they_are_here(workers, tmp_path):
    (tmp_path / "raising.py").write_text(GRUMPY.format(act="raise ValueError('no')"))
    (tmp_path / "leaving.py").write_text(GRUMPY.format(act="os._exit(3)"))
    (tmp_path / "killing.py").write_text(GRUMPY.format(act="os.kill(os.getpid(), signal.SIGKILL)"))
    names = ("raising", "leaving", "killing")
    policies = {"easy": "easy"} | {name: f"{name}.py:Grumpy" for name in names}
    wanted = campaign(tmp_path, policies=policies, seeds="1-2")
    tally = run_campaign(wanted, tmp_path / "dask", workers)
    assert (tally.n_done, tally.n_failed) == (8, 6)
    assert results(tmp_path / "dask") == results_here(wanted, tmp_path / "here")
    errors = dict(load_results(tmp_path / "dask")[["policy", "error"]].itertuples(index=False))
    assert errors["leaving"] == "the process of the run ended with exit code 3"
    assert errors["killing"] == "the process of the run was ended by SIGKILL"


def test_nothing_is_left_on_the_workers(cluster, workers, tmp_path, monkeypatch):
    def left(dask_worker):
        desks = [name for name in vars(dask_worker) if "noctule" in name]
        return desks + [str(path) for path in Path(dask_worker.local_directory).glob("noctule*")]

    monkeypatch.chdir(tmp_path)
    run_campaign(campaign(Path(), policies=MINE), "out", workers)
    assert on_all_workers(cluster, left) == [[], []]


def test_a_cluster_of_threads_in_this_process_will_do(tmp_path):
    wanted = campaign(tmp_path)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=4, processes=False, dashboard_address="127.0.0.1:0"
    ) as threads:
        run_campaign(wanted, tmp_path / "dask", DaskWorkers(threads.scheduler_address))
    assert results(tmp_path / "dask") == results_here(wanted, tmp_path / "here")


def test_addresses_and_job_systems_are_told_apart():
    assert isinstance(workers_for("tcp://somewhere:8786", None, {}), DaskWorkers)
    with pytest.raises(InputError, match=r"^--dask: got somewhere, expected an address such as "):
        workers_for("somewhere", None, {})
    with pytest.raises(InputError, match=r"^--dask: got jobs and options for tcp://x:1, expected"):
        workers_for("tcp://x:1", 4, {})
    with pytest.raises(InputError, match=r"^--jobs: missing, expected how many jobs to submit to "):
        workers_for("slurm", None, {})
