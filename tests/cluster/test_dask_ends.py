"""Campaigns on Dask that cannot begin, or end before their time."""

from __future__ import annotations

import re
import signal
import socket
import threading
import time
from pathlib import Path

import distributed
import pytest
from cluster_campaigns import (
    campaign,
    overloaded,
    process,
    results,
    results_here,
    scheduler_process,
    wait_until,
    worker_process,
)

from noctule.campaign import dask_session, run_campaign
from noctule.campaign.dask_workers import DaskWorkers
from noctule.campaign.store import Store
from noctule.errors import InputError, ProtocolError


def endless(folder, **changes):
    """Return a campaign that is not done before its time: runs of a tenth of a second each."""
    description = {
        "workloads": {"deep": overloaded(4000)},
        "platforms": {"small": {"hosts": 64}},
        "policies": ["conservative"],
        "seeds": "1-10000",
        "keep_jobs": False,
    }
    return campaign(folder, **description | changes)


def when_done(n, act):
    """Return what to look with: act once, when so many runs are done."""
    acted = []

    def look(tally):
        if tally.n_done >= n and not acted:
            acted.append(tally.n_done)
            act()

    return look


def n_kept(folder):
    store = Store(folder)
    keys = [place.parent.name for place in folder.glob("runs/*/*/result.json")]
    return sum(store.read(key) is not None for key in keys)


def test_an_address_at_which_nobody_listens_is_told(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(dask_session, "_CONNECT_S", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError) as caught:
            run_campaign(campaign(tmp_path), tmp_path / "out", DaskWorkers(address))
    assert str(caught.value) == f"{address}: no answer within 1 s, expected a Dask scheduler"
    assert capfd.readouterr() == ("", "")


def test_an_address_at_which_somebody_else_listens_is_told(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(dask_session, "_CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match=r"no answer within 1 s, expected a Dask scheduler$"):
            run_campaign(campaign(tmp_path), tmp_path / "out", DaskWorkers(address))
    assert capfd.readouterr() == ("", "")


def test_an_address_that_is_none_is_told(tmp_path):
    with pytest.raises(InputError, match=r"^pigeon://roof: not a Dask scheduler to use: "):
        run_campaign(campaign(tmp_path), tmp_path / "out", DaskWorkers("pigeon://roof"))


@pytest.mark.slow
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGTERM])
def test_finished_runs_survive_their_scheduler(tmp_path, monkeypatch, capfd, signal_):
    monkeypatch.setattr(dask_session, "_CONNECT_S", 1)
    tallies = []
    with scheduler_process() as (scheduler, address), worker_process(address, "--no-nanny"):
        kill = when_done(5, lambda: scheduler.send_signal(signal_))
        with pytest.raises(ProtocolError) as caught:
            run_campaign(
                endless(tmp_path),
                tmp_path / "out",
                DaskWorkers(address),
                look=lambda tally: (tallies.append(tally.n_done), kill(tally)),
            )
    expected = "the Dask scheduler is gone, expected it to stay to the end; finished runs are kept"
    assert str(caught.value) == f"{address}: {expected}"
    assert n_kept(tmp_path / "out") >= max(tallies) >= 5
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_connection_that_breaks_is_made_again(tmp_path, monkeypatch):
    clients = []

    def watched(*arguments, **options):
        clients.append(distributed.Client(*arguments, **options))
        return clients[-1]

    def cut():
        (client,) = clients
        client.loop.add_callback(client.scheduler_comm.comm.abort)

    monkeypatch.setattr(dask_session, "Client", watched)
    wanted = endless(tmp_path, seeds="1-30")
    with scheduler_process() as (_, address), worker_process(address, "--no-nanny"):
        workers = DaskWorkers(address)
        tally = run_campaign(wanted, tmp_path / "out", workers, look=when_done(5, cut))
    assert (tally.n_done, tally.n_failed) == (30, 0)
    assert results(tmp_path / "out") == results_here(wanted, tmp_path / "here")


@pytest.mark.slow
def test_a_scheduler_that_falls_silent_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_session, "_SILENCE_S", 2)
    with scheduler_process() as (scheduler, address), worker_process(address, "--no-nanny"):
        stop = when_done(5, lambda: scheduler.send_signal(signal.SIGSTOP))
        try:
            with pytest.raises(ProtocolError, match=r"the Dask scheduler has been silent for 2 s"):
                run_campaign(endless(tmp_path), tmp_path / "out", DaskWorkers(address), look=stop)
        finally:
            scheduler.send_signal(signal.SIGCONT)
    assert n_kept(tmp_path / "out") >= 5


@pytest.mark.slow
def test_a_scheduler_without_noctule_is_refused(tmp_path, capfd):
    hidden = ("import sys", "sys.modules['noctule'] = None")
    with (
        scheduler_process(*hidden) as (_, address),
        worker_process(address, "--no-nanny"),
        pytest.raises(InputError) as caught,
    ):
        run_campaign(campaign(tmp_path), tmp_path / "out", DaskWorkers(address))
    text = f"{address}: the scheduler does not understand the tasks, expected noctule "
    assert re.fullmatch(re.escape(text) + r"\S+ to be installed there", str(caught.value))
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_workers_that_stay_away_end_the_campaign(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_session, "_NOBODY_S", 2)
    with (
        scheduler_process() as (_, address),
        pytest.raises(ProtocolError, match=r"no worker for 2 s, expected some to come; finished"),
    ):
        run_campaign(campaign(tmp_path), tmp_path / "out", DaskWorkers(address))


def other_version(folder: Path) -> str:
    """Make a folder that says, in front of sys.path, that another version is installed."""
    (folder / "noctule-0.0.9.dist-info").mkdir(parents=True)
    metadata = folder / "noctule-0.0.9.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: noctule\nVersion: 0.0.9\n")
    return str(folder)


@pytest.mark.slow
@pytest.mark.parametrize("is_late", [False, True])
def test_a_worker_with_another_version_is_refused(tmp_path, is_late):
    old = other_version(tmp_path / "old")
    joined = []

    def join(address, ended):
        with worker_process(address, "--no-nanny", PYTHONPATH=old) as worker:
            joined.append(worker)
            ended.wait(60)

    with scheduler_process() as (_, address):
        ended = threading.Event()
        thread = threading.Thread(target=join, args=[address, ended])
        thread.start()
        while not is_late and not joined:
            time.sleep(0.1)
        try:
            with pytest.raises(InputError) as caught:
                run_campaign(campaign(tmp_path), tmp_path / "out", DaskWorkers(address))
        finally:
            ended.set()
            thread.join()
    text = f"{address}: the worker {joined[0]} has noctule 0.0.9, expected "
    assert re.fullmatch(re.escape(text) + r"\S+: results would not be the same", str(caught.value))
    assert n_kept(tmp_path / "out") == 0


# the process of a campaign that the test interrupts
INTERRUPTED = """
import sys
from noctule.campaign import Campaign, run_campaign
from noctule.campaign.dask_workers import DaskWorkers

address, file, out = sys.argv[1:]
try:
    run_campaign(Campaign.load(file), out, DaskWorkers(address), look=lambda tally:
        print(tally.n_done, file=sys.stderr, flush=True) if tally.n_done else None)
except KeyboardInterrupt:
    sys.exit(7)
"""
# runs that are soon done, and two that never are: in a thread, and in a process
UNDER_WAY = """
platforms = {{ small = {{ hosts = 64 }} }}
policies = {{ conservative = "conservative", sleepy = "sleepy.py:Sleepy" }}
seeds = [1]
[workloads]
quick = "log.swf"
deep = {{ model = "lublin", n_jobs = 400_000, n_hosts = 64, load = 100 }}
[[run]]
workload = "quick"
policy = "conservative"
[[run]]
workload = "{workload}"
policy = "{policy}"
"""
SLEEPY = """
import time

class Sleepy:
    def decide(self, view, events):
        time.sleep(3600)
"""


def under_way(client):
    """Return how many runs the only worker does, and how many processes it has for them."""

    # within, so that it travels as it is
    def seen(dask_worker):
        import psutil

        children = psutil.Process().children(recursive=True)
        processes = [one for one in children if "noctule.campaign" in " ".join(one.cmdline())]
        return len(dask_worker.active_threads), len(processes)

    (found,) = client.run(seen).values()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("workload", "policy"), [("deep", "conservative"), ("quick", "sleepy")])
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_campaign_and_what_is_under_way(tmp_path, workload, policy):
    campaign(tmp_path)
    (tmp_path / "sleepy.py").write_text(SLEEPY)
    file = tmp_path / "campaign.toml"
    file.write_text(UNDER_WAY.format(workload=workload, policy=policy))
    with scheduler_process() as (_, address), worker_process(address, "--no-nanny"):
        arguments = [address, str(file), str(tmp_path / "out")]
        with process("-c", INTERRUPTED, *arguments) as running:
            assert running.stderr is not None
            assert running.stderr.readline() == "1\n"
            with distributed.Client(address, set_as_default=False) as client:
                wait_until(lambda: under_way(client) == (1, int(policy == "sleepy")))
                running.send_signal(signal.SIGINT)
                assert running.wait(60) == 7
                assert set(running.stderr.read().split()) <= {"1"}
                wait_until(lambda: under_way(client) == (0, 0))
                assert (
                    client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0
                )
    assert n_kept(tmp_path / "out") == 1
