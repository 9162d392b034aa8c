"""Campaigns under way: what is recorded, what a second start does, what survives."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest
from campaign_files import EXAMPLES, described, results_of

from noctule import load_workload, metrics, simulate
from noctule.campaign import Campaign, LocalWorkers, Plan, load_results, run_campaign
from noctule.campaign.execution import Runner, WorkloadCache
from noctule.campaign.store import Store
from noctule.errors import InputError
from noctule.platform import Platform
from noctule.traces import exact_walltimes, shake

pytest.importorskip("pyarrow")


def test_a_run_of_a_campaign_gives_what_simulate_gives(tmp_path):
    campaign = described(tmp_path, policies={"easy": "easy", "fcfs": "fcfs"})
    tally = run_campaign(campaign, tmp_path / "out", LocalWorkers(2))
    assert (tally.n_runs, tally.n_done, tally.n_failed) == (2, 2, 0)
    workload = load_workload(tmp_path / "log.swf")
    for policy, makespan, waiting in results_of(
        tmp_path / "out", "policy", "makespan", "mean_waiting_time"
    ):
        expected = metrics.summary(simulate(Platform.homogeneous(4), workload, policy))
        assert (makespan, waiting) == (expected["makespan"], expected["mean_waiting_time"])


def test_extracts_of_a_log_are_runs_of_their_own(tmp_path):
    # jobs of 100, 100 and 50 s are submitted at 0, 1 and 2; time 0 is the beginning of the extract
    week = {"file": "log.swf", "start": [0, 1], "length": 1.5}
    campaign = described(tmp_path, workloads={"week": week})
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert results_of(tmp_path / "out", "workload.start", "n_jobs", "makespan") == [
        (0, 2, 200.0),
        (1, 2, 150.0),
    ]


def test_a_second_start_does_only_what_is_missing(tmp_path):
    policies = {"easy": "easy", "fcfs": "fcfs"}
    run_campaign(described(tmp_path, policies=policies), tmp_path / "out", LocalWorkers(1))
    more = described(tmp_path, policies=policies | {"filler": "filler"})
    tally = run_campaign(more, tmp_path / "out", LocalWorkers(1))
    assert (tally.n_found, tally.n_done) == (2, 1)
    assert [name for (name,) in results_of(tmp_path / "out", "policy")] == [*policies, "filler"]


def test_results_are_the_same_bytes_with_any_number_of_workers_and_in_pieces(tmp_path):
    campaign = Campaign.of(
        {
            "workloads": {"night": {"file": str(EXAMPLES / "night.swf"), "shake": 10}},
            "policies": {
                "easy": {"spec": "easy", "order": ["fcfs", "sjf"]},
                "mine": f"{EXAMPLES}/policy-ten-lines.py:SmallestFirst",
            },
            "seeds": "1-3",
            "bounds": True,
            "measures": {"warm_up": 3600, "cool_down": 3600},
        }
    )
    for n_workers in (1, 3):
        run_campaign(campaign, tmp_path / str(n_workers), LocalWorkers(n_workers))
    store = Store(tmp_path / "pieces")
    with store.opened():
        for run in list(Plan(campaign))[::2]:
            store.write([(run.spec.key, run.spec, Runner().execute(run.spec))])
    run_campaign(campaign, tmp_path / "pieces", LocalWorkers(1))
    tables = {(tmp_path / name / "results.parquet").read_bytes() for name in ("1", "3", "pieces")}
    assert len(tables) == 1


def test_a_failing_run_is_recorded_and_the_others_go_on(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Bad:\n"
        "    def __init__(self, fails=True): self.fails = fails\n"
        "    def decide(self, view, events):\n"
        "        if self.fails: raise ValueError('no idea')\n"
        "        return []\n"
    )
    campaign = described(
        tmp_path,
        policies={"bad": "mine.py:Bad", "idle": "mine.py:Bad(fails=false)", "easy": "easy"},
    )
    tally = run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert (tally.n_done, tally.n_failed) == (3, 2)
    found = {
        policy: (status, error)
        for policy, status, error in results_of(tmp_path / "out", "policy", "status", "error")
    }
    assert found["easy"] == ("done", "")
    assert found["bad"][0] == "failed"
    assert "t=0 policy Bad raised ValueError: no idea" in found["bad"][1]
    assert "jobs wait" in found["idle"][1] or "waiting" in found["idle"][1]
    again = run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert (again.n_found, again.n_done, again.n_failed) == (3, 0, 2)
    assert again.last_failure
    retried = run_campaign(campaign, tmp_path / "out", LocalWorkers(1), retry_failed=True)
    assert (retried.n_found, retried.n_done, retried.n_failed) == (1, 2, 2)


def test_a_result_that_is_not_whole_is_done_again(tmp_path):
    campaign = described(tmp_path)
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    key = next(iter(Plan(campaign))).spec.key
    path = Store(tmp_path / "out").place(key) / "result.json"
    whole = path.read_bytes()
    assert json.loads(whole)["metrics"]["n_jobs"] == 3
    for broken in (b"", whole[: len(whole) // 2], whole.replace(b'"n_jobs":3', b'"n_jobs":4')):
        path.write_bytes(broken)
        assert Store(tmp_path / "out").read(key) is None
        tally = run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
        assert (tally.n_found, tally.n_done) == (0, 1)
        assert path.read_bytes() == whole


def test_tables_of_jobs_are_kept_if_asked_and_must_be_whole(tmp_path):
    import pandas as pd

    campaign = described(tmp_path, keep_jobs=True)
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    path = Store(tmp_path / "out").place(next(iter(Plan(campaign))).spec.key) / "jobs.parquet"
    assert pd.read_parquet(path)["start_time"].tolist() == [2.0, 0.0, 100.0]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert run_campaign(campaign, tmp_path / "out", LocalWorkers(1)).n_done == 1


def test_the_bounds_are_those_of_exact_walltimes_and_of_a_machine_without_queues(tmp_path):
    # 4 hosts: A holds 3 until 100; B wants 4, waits; C (1 host, 50 s) passes B only if it is known
    # to end by 100: its walltime of 60 says so as well. Nobody waits on an unlimited machine.
    campaign = described(tmp_path, bounds=True)
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    found = {
        bound: (waiting, makespan)
        for bound, waiting, makespan in results_of(
            tmp_path / "out", "bound", "mean_waiting_time", "makespan"
        )
    }
    assert found == {
        "": (33.0, 200.0),
        "clairvoyant": (33.0, 200.0),
        "unlimited": (0.0, 101.0),
    }


def test_jobs_that_the_platform_rejects_are_not_in_the_bound_without_queues(tmp_path):
    campaign = described(tmp_path, bounds=["unlimited"], platforms={"p": 3})
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert results_of(tmp_path / "out", "bound", "n_jobs", "n_rejected", "n_ended") == [
        ("", 3, 1, 2),
        ("unlimited", 2, 0, 2),
    ]


def test_a_full_disk_ends_the_campaign_with_a_sentence_and_keeps_what_was_done(
    tmp_path, monkeypatch
):
    campaign = described(tmp_path, policies={"easy": "easy", "fcfs": "fcfs", "filler": "filler"})
    written = Store.write

    def fails_after_one(self, results):
        if any(Store(tmp_path / "out")):
            raise InputError(f"{self.folder}: cannot be written: No space left on device")
        return written(self, results)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", fails_after_one)
        with pytest.raises(InputError, match="No space left on device"):
            run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert not (tmp_path / "out" / "results.parquet").exists()
    tally = run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert (tally.n_found, tally.n_done) == (1, 2)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    campaign = described(tmp_path)
    with pytest.raises(InputError, match=r"holds log\.swf, expected a campaign or nothing"):
        run_campaign(campaign, tmp_path, LocalWorkers(1))
    with pytest.raises(InputError, match="got a file, expected a folder to write to"):
        run_campaign(campaign, tmp_path / "log.swf", LocalWorkers(1))


def test_two_campaigns_do_not_run_in_one_folder_at_a_time(tmp_path):
    campaign = described(tmp_path)
    with (
        Store(tmp_path / "out").opened(),
        pytest.raises(InputError, match="another process runs a campaign in it"),
    ):
        run_campaign(campaign, tmp_path / "out", LocalWorkers(1))


def test_a_file_that_changes_while_a_campaign_is_planned_is_not_taken_for_it(tmp_path):
    campaign = described(tmp_path)
    (tmp_path / "log.swf").write_text("; MaxProcs: 4\n")
    with pytest.raises(InputError, match=r"log\.swf: has changed since the campaign was planned"):
        run_campaign(campaign, tmp_path / "out", LocalWorkers(1))


def test_a_workload_is_made_once_for_all_threads_that_want_it():
    made = []
    workload = load_workload(EXAMPLES / "night.swf")
    cache = WorkloadCache(n_jobs=len(workload))

    def make():
        made.append(threading.get_ident())
        time.sleep(0.05)
        return workload

    threads = [threading.Thread(target=cache.get, args=["a", make]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    cache.get("b", make)  # there is room for one of them
    cache.get("a", make)
    assert len(made) == 3


def test_shaken_workloads_differ_by_seconds_and_by_the_order_of_ties():
    workload = load_workload(EXAMPLES / "night.swf")
    shaken = shake(workload, 30, seed=1)
    same = shake(workload, 30, seed=1)
    ids = {job_id: i for i, job_id in enumerate(workload.job_ids.tolist())}
    back = np.array([ids[job_id] for job_id in shaken.job_ids.tolist()])
    moved = np.asarray(shaken.submit_time) - np.asarray(workload.submit_time)[back]
    assert np.abs(moved).max() <= 30
    assert len(np.unique(moved)) > 50
    assert (np.asarray(shaken.submit_time) % 1 == 0).all()
    assert np.array_equal(shaken.submit_time, same.submit_time)
    calm = shake(workload, 0, seed=1)
    assert np.array_equal(calm.submit_time, workload.submit_time)
    with pytest.raises(InputError, match="shake: got -1, expected a number >= 0"):
        shake(workload, -1, seed=1)


def test_exact_walltimes_let_every_job_complete():
    from noctule.workload import Delay, Job, Request, Workload

    delays = Workload.from_jobs([Job(1, 0.0, Request(1), Delay(5.0), walltime=60.0)])
    schedule = simulate(Platform.homogeneous(1), exact_walltimes(delays), "easy")
    assert schedule.jobs["state"].tolist() == ["completed"]
    assert schedule.jobs["walltime"][0] == pytest.approx(5.0)


def test_a_run_that_holds_up_many_others_does_not_change_the_table(tmp_path, monkeypatch):
    policies = {f"p{i}": f"easy(order='walltime + {i}')" for i in range(12)}
    campaign = described(tmp_path, policies=policies)
    run_campaign(campaign, tmp_path / "streamed", LocalWorkers(2))
    monkeypatch.setattr("noctule.campaign.results._MOST_OPEN_ROWS", 1)
    run_campaign(campaign, tmp_path / "gathered", LocalWorkers(3))
    tables = [
        (tmp_path / name / "results.parquet").read_bytes() for name in ("streamed", "gathered")
    ]
    assert tables[0] == tables[1]
    assert [p.name for p in (tmp_path / "gathered").iterdir() if "partial" in p.name] == []


def test_parameters_of_several_kinds_are_texts_in_the_table(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from noctule.policies import Easy\n"
        "class Mine(Easy):\n"
        "    def __init__(self, x): super().__init__()\n"
    )
    campaign = described(tmp_path, policies={"m": {"spec": "mine.py:Mine", "x": [1, True, "a"]}})
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    table = load_results(tmp_path / "out")
    assert table["policy.x"].tolist() == ["1", "True", "a"]
    assert set(table["status"]) == {"done"}


def test_a_campaign_without_a_run_is_refused(tmp_path):
    campaign = described(tmp_path, exclude=[{"policy": "easy"}])
    with pytest.raises(InputError, match="campaign: nothing to run, expected at least one"):
        run_campaign(campaign, tmp_path / "out", LocalWorkers(1))


def test_a_table_that_was_left_half_written_is_removed(tmp_path):
    campaign = described(tmp_path)
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    (tmp_path / "out" / ".results.parquet.0123.partial").write_bytes(b"x")
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert not list((tmp_path / "out").glob("*.partial"))
