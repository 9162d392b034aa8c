"""Workers that die during a campaign, and runs that kill them."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from pathlib import Path

import dask
import distributed
import pytest
from cluster_campaigns import (
    campaign,
    local_cluster,
    overloaded,
    results,
    results_here,
    scheduler_process,
    worker_process,
)

from noctule.campaign import load_results, run_campaign
from noctule.campaign.dask_workers import DaskWorkers
from noctule.formats.saving import save_workload
from noctule.synthetic.named import draw
from noctule.traces import scale_load

pytestmark = pytest.mark.slow

# Runs of one policy end the process that they are in, as a crash of the core would. They take a
# second for it: a nanny gives up if its worker dies while it starts.
CRASHING = """
import os, time
from {module} import {name} as Patched

usual = getattr(Patched, "usual", Patched.{method})

def crashing(self, order, *more):
    if getattr(order, "spec", order).policy == "filler":
        time.sleep(1)
        os._exit(1)
    return usual(self, order, *more)

Patched.usual, Patched.{method} = usual, crashing
"""


@pytest.fixture(autouse=True)
def _patience():
    """Have local clusters keep nannies whose worker happens to be away long after a death."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}):
        yield


@contextmanager
def workers_killed(address, every_s=1.0):
    """Kill a worker every now and then; give the list of those that were killed."""
    killed = []
    ended = threading.Event()

    def kill():
        before = set()
        with distributed.Client(address, set_as_default=False) as client:
            while not ended.wait(every_s):
                alive = set(client.run(os.getpid, on_error="ignore").values())
                # a nanny gives up if its worker dies while it starts
                for pid in sorted(alive & before)[:1]:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                before = alive - set(killed)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def long_campaign(folder, **changes):
    """Return 200 runs of a tenth of a second and more."""
    description = {
        "workloads": {"deep": overloaded(5000)},
        "platforms": {"small": {"hosts": 64}, "medium": {"hosts": 65}},
        "policies": ["conservative", "replanning"],
        "seeds": "1-50",
        "keep_jobs": False,
    }
    return campaign(folder, **description | changes)


def test_a_worker_killed_every_second_changes_no_byte(tmp_path):
    wanted = long_campaign(tmp_path)
    with local_cluster() as cluster, workers_killed(cluster.scheduler_address) as killed:
        tally = run_campaign(wanted, tmp_path / "dask", DaskWorkers(cluster.scheduler_address))
    assert (tally.n_runs, tally.n_done, tally.n_failed) == (200, 200, 0)
    assert len(set(killed)) >= 5
    assert results(tmp_path / "dask") == results_here(wanted, tmp_path / "here")


def test_files_are_sent_again_to_workers_that_take_the_place_of_dead_ones(
    elsewhere, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    log = draw("deep", "lublin", {"n_jobs": 6000, "n_hosts": 64}, seed=1)
    save_workload(scale_load(log, 100), "deep.swf")
    workload = {"file": "deep.swf", "shake": 10}
    wanted = long_campaign(Path(), workloads={"deep": workload})
    with (
        scheduler_process() as (_, address),
        worker_process(address, "--nanny", cwd=elsewhere),
        worker_process(address, "--nanny", cwd=elsewhere),
        workers_killed(address) as killed,
    ):
        tally = run_campaign(wanted, "dask", DaskWorkers(address))
    assert (tally.n_done, tally.n_failed) == (200, 0)
    assert len(set(killed)) >= 3
    assert results(Path("dask")) == results_here(wanted, Path("here"))


def test_a_run_that_kills_its_workers_is_at_last_done_in_a_process_of_its_own(
    tmp_path, monkeypatch
):
    crashing = CRASHING.format(module="noctule.campaign.execution", name="Runner", method="execute")
    # workers and their processes load it when they start
    (tmp_path / "sitecustomize.py").write_text(crashing)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    wanted = campaign(tmp_path, policies=["easy", "filler", "fcfs"], seeds="1-3")
    with local_cluster() as cluster:
        tally = run_campaign(wanted, tmp_path / "out", DaskWorkers(cluster.scheduler_address))
    assert (tally.n_done, tally.n_failed) == (9, 3)
    table = load_results(tmp_path / "out")
    expected = {"the process of the run ended with exit code 1"}
    assert set(table.error[table.policy == "filler"]) == expected
    assert set(table.error[table.policy != "filler"]) == {""}


def test_a_run_whose_workers_die_all_the_same_fails_alone(tmp_path):
    preload = tmp_path / "crashing.py"
    preload.write_text(
        CRASHING.format(module="noctule.campaign.dask_task", name="_Desk", method="answer")
    )
    wanted = campaign(tmp_path, policies=["easy", "filler", "fcfs"], seeds="1-2")
    with local_cluster(preload=[str(preload)]) as cluster:
        tally = run_campaign(wanted, tmp_path / "out", DaskWorkers(cluster.scheduler_address))
    assert (tally.n_done, tally.n_failed) == (6, 2)
    table = load_results(tmp_path / "out")
    # Dask gives up after the fourth worker, and the campaign after the third time
    assert set(table.error[table.policy == "filler"]) == {"its worker died 12 times"}
    assert set(table.error[table.policy != "filler"]) == {""}
