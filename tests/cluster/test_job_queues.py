"""Clusters of jobs: what their options say, and a job system that is three lines of shell."""

from __future__ import annotations

import os
import subprocess

import pytest
from cluster_campaigns import campaign, results, results_here, wait_until

from noctule.campaign import run_campaign
from noctule.campaign.job_queues import SYSTEMS, JobQueueWorkers, _value
from noctule.errors import InputError

pytest.importorskip("dask_jobqueue")

JOB = {"cores": "1", "memory": "1GB", "interface": "lo"}
MORE = {"htcondor": {"disk": "1GB"}, "oar": {"memory_per_core_property_name": "memcore"}}
# who submits removes the script as soon as it is taken
SBATCH = """#!/bin/sh
cp "$1" {folder}/job.$$
setsid sh {folder}/job.$$ > /dev/null 2>&1 &
echo $! >> {folder}/started
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
echo $1 >> {folder}/cancelled
kill -- -$1
"""
REFUSING = """#!/bin/sh
echo "sbatch: error: invalid partition specified: $1" | sed s,/.*,night, >&2
exit 1
"""


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Return what puts a command on the path."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=os.pathsep)
    (tmp_path / "bin").mkdir()

    def put(name, text):
        path = tmp_path / "bin" / name
        path.write_text(text.replace("{folder}", str(tmp_path)))
        path.chmod(0o755)

    return put


def is_running(job):
    states = ["ps", "-o", "stat=", "-g", job]
    found = subprocess.run(states, capture_output=True, text=True, check=False).stdout.split()
    return any(not state.startswith("Z") for state in found)


@pytest.mark.slow
def test_jobs_do_the_runs_and_are_cancelled_in_the_end(commands, tmp_path):
    commands("sbatch", SBATCH)
    commands("scancel", SCANCEL)
    wanted = campaign(tmp_path)
    tally = run_campaign(wanted, tmp_path / "out", JobQueueWorkers("slurm", 2, JOB))
    assert (tally.n_done, tally.n_failed) == (20, 0)
    assert results(tmp_path / "out") == results_here(wanted, tmp_path / "here")
    started = (tmp_path / "started").read_text().split()
    assert len(started) == 2
    assert sorted((tmp_path / "cancelled").read_text().split()) == sorted(started)
    wait_until(lambda: not any(map(is_running, started)))


def test_a_job_that_is_refused_ends_the_campaign_with_the_reason(commands, tmp_path, capfd):
    commands("sbatch", REFUSING)
    workers = JobQueueWorkers("slurm", 2, JOB)
    with pytest.raises(InputError) as caught:
        run_campaign(campaign(tmp_path), tmp_path / "out", workers)
    reason = "sbatch: error: invalid partition specified: night"
    assert str(caught.value) == f"slurm: a job was refused: {reason}"
    assert capfd.readouterr() == ("", "")


def test_options_that_are_wrong_or_missing_are_told(commands, tmp_path):
    commands("sbatch", REFUSING)
    for options, message in (
        ({"corse": "4"}, r"^--option corse: unknown, expected one of account, config_name, cores,"),
        ({"job_extra": "-x"}, r"^--option job_extra: unknown, expected one of "),
        ({}, r"^--option cores=\.\.\.: missing, expected how many cores a job gets, such as 4$"),
        ({"cores": "1", "memory": "1GB"}, r"^--option interface=\.\.\.: missing, expected the net"),
        (JOB | {"interface": "pigeon0"}, None),
        (JOB | {"memory": "much"}, None),
    ):
        with pytest.raises(InputError, match=message) as caught:
            run_campaign(campaign(tmp_path), tmp_path / "out", JobQueueWorkers("slurm", 1, options))
        assert "\n" not in str(caught.value)


def test_what_is_in_the_configuration_of_dask_need_not_be_given(commands):
    import dask

    commands("sbatch", REFUSING)
    with dask.config.set({"jobqueue.slurm.cores": 4, "jobqueue.slurm.memory": "1GB"}):
        JobQueueWorkers("slurm", 1, {"interface": "lo"})


def test_systems_and_numbers_of_jobs_are_checked(monkeypatch, tmp_path):
    with pytest.raises(InputError, match=r"^job system: got cron, expected one of slurm, oar, pbs"):
        JobQueueWorkers("cron", 1, {})
    with pytest.raises(InputError, match=r"^jobs: got 0, expected a number >= 1$"):
        JobQueueWorkers("slurm", 0, {})
    monkeypatch.setenv("PATH", str(tmp_path))
    for system in SYSTEMS:
        with pytest.raises(InputError, match=rf"^{system}: no command \w+ here, expected a mach"):
            JobQueueWorkers(system, 1, JOB)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("cores", "4", 4),
        ("death_timeout", "0.5", 0.5),
        ("nanny", "false", False),
        ("nanny", "True", True),
        ("memory", "8GB", "8GB"),
        ("walltime", "00:30:00", "00:30:00"),
        ("account", "null", "null"),
        ("worker_extra_args", "--resources GPU=1", ["--resources GPU=1"]),
        ("job_extra_directives", '["--exclusive", "-x n1"]', ["--exclusive", "-x n1"]),
        ("job_extra_directives", '{"universe": "docker"}', {"universe": "docker"}),
    ],
)
def test_options_are_numbers_truth_values_lists_or_text(name, text, value):
    found = _value(name, text)
    assert (type(found), found) == (type(value), value)


def test_schedulers_of_jobs_listen_only_where_they_are_told_to(commands):
    commands("sbatch", REFUSING)
    workers = JobQueueWorkers("slurm", 1, JOB)
    options = workers._options
    assert options["interface"] == "lo"
    closed = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    assert options["scheduler_options"] == closed
    assert options["worker_extra_args"] == ["--dashboard-address", "127.0.0.1:0"]
    asked = {
        "scheduler_options": '{"dashboard_address": ":8787", "dashboard": true}',
        "worker_extra_args": "--no-dashboard",
    }
    options = JobQueueWorkers("slurm", 1, JOB | asked)._options
    assert options["scheduler_options"] == {"dashboard": True, "dashboard_address": ":8787"}
    assert options["worker_extra_args"][2:] == ["--no-dashboard"]


def test_all_systems_can_make_the_script_of_a_job(commands):
    import dask_jobqueue

    assert set(SYSTEMS.values()) == {
        name for name in dir(dask_jobqueue) if name.endswith("Cluster")
    } - {"JobQueueCluster", "MoabCluster"}
    for system in SYSTEMS:
        job_class = getattr(dask_jobqueue, SYSTEMS[system]).job_cls
        commands(job_class.submit_command.split()[0], REFUSING)
        told = JobQueueWorkers(system, 1, JOB | MORE.get(system, {}))._options
        told.pop("scheduler_options")
        script = job_class("tcp://127.0.0.1:1", name="0", **told).job_script()
        assert "--interface lo" in script
        assert "--dashboard-address 127.0.0.1:0" in script
        assert "--nthreads 1" in script
