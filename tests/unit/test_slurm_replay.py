"""Replays on a live Slurm, played here by small programs in place of its commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from slurm_sets import CONF

from noctule.cli import main
from noctule.errors import InputError
from noctule.slurm.truth.controller import Controller, pairs
from noctule.slurm.truth.live import LogFile, advice, local_seconds
from noctule.slurm.truth.sets import read_truth
from noctule.slurm.truth.submissions import Submission, load_submissions, trace_table
from noctule.slurm.truth.writing import beside_conf, conf_text

# A Slurm of one file: sbatch notes a job and logs what a controller would, scontrol tells of jobs.
FAKE = r"""
import json, os, sys, time
folder = os.path.dirname(os.path.abspath(__file__))
name, words = sys.argv[1], sys.argv[2:]
state = os.path.join(folder, "jobs.json")
jobs = json.load(open(state)) if os.path.exists(state) else {}
now = time.time()

def log(date, text):
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(date)) + f".{int(date % 1 * 1000):03}"
    open(os.path.join(folder, "log"), "a").write(f"[{stamp}] {text}\n")

if name == "sbatch":
    options = dict(word.lstrip("-").partition("=")[::2] for word in words)
    if options.get("partition") == "closed":
        sys.exit("sbatch: error: invalid partition specified: closed")
    number = str(len(jobs) + 1)
    seconds = float(options["wrap"].split()[1])
    jobs[number] = dict(options, submit=now, start=now + 0.01, end=now + 0.01 + seconds)
    json.dump(jobs, open(state, "w"))
    log(now, f"_slurm_rpc_submit_batch_job: JobId={number} InitPrio=1 usec=2")
    log(now + 0.01, "debug:  sched: Running job scheduler for default depth.")
    log(now + 0.01, f"sched: Allocate JobId={number} NodeList=n1 #CPUs=8 Partition=main")
    print(number)
elif name == "scancel":
    open(os.path.join(folder, "cancelled"), "a").write(" ".join(words) + "\n")
elif words[0] == "ping":
    print("Slurmctld(primary) at here is", "DOWN" if os.path.exists(folder + "/down") else "UP")
elif words[-1] == "config":
    print(f"SlurmctldLogFile        = {folder}/log\nSlurmctldDebug          = debug")
else:
    for number, job in jobs.items():
        over = now > job["end"]
        print(f"JobId={number} JobName={job['job-name']} Priority=1 SubmitTime={int(job['submit'])}"
              f" JobState={'COMPLETED' if over else 'RUNNING'} StartTime={int(job['start'])}"
              f" EndTime={int(job['end'])} Partition=main NodeList=n1 NumNodes=1 NumCPUs=8"
              f" Scheduler=Main EligibleTime={int(job['submit'])} LastSchedEval=Unknown")
"""


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A folder with the commands of a Slurm, first in the path."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    (folder / "fake.py").write_text(FAKE)
    (folder / "log").write_text("")
    (folder / "slurm.conf").write_text(CONF)
    for name in ("sbatch", "scancel", "scontrol"):
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/fake.py {name} "$@"\n')
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("noctule.slurm.truth.live._POLL", 0.2)
    monkeypatch.setattr("noctule.slurm.truth.live._LEAD", 0.0)
    return folder


def trace(tmp_path: Path, *rows: str) -> str:
    path = tmp_path / "jobs.trace.csv"
    text = "".join(f"{row}\n" for row in rows)
    path.write_text(f"idx,submit,nodes,cpus,duration,limit,partition,name\n{text}")
    return str(path)


def words(slurm: Path, path: str, output: Path, *more: str) -> list[str]:
    return ["slurm", "replay", path, "--conf", str(slurm / "slurm.conf"), "-o", str(output), *more]


def test_jobs_are_submitted_at_their_dates_and_become_a_set(slurm, tmp_path, capsys):
    path = trace(tmp_path, "0,10.0,1,0,0.2,1,main,a", "1,10.5,2,0,0.1,2,main,b")
    assert main(words(slurm, path, tmp_path / "out" / "set", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["n_submitted"], told["n_refused"], told["n_without_end"]) == (2, 0, 0)
    truth = read_truth(tmp_path / "out" / "set")
    assert [(job.name, job.n_nodes, job.limit_minutes) for job in truth.jobs] == [
        ("a", 1, 1),
        ("b", 2, 2),
    ]
    first, second = (job.submit_date for job in truth.jobs)
    assert 0.3 < second - first < 2.0
    numbers = json.loads((tmp_path / "out" / "set.metrics.json").read_text())
    assert numbers["jobs"] == 2
    assert (tmp_path / "out" / "set.slurm.conf").read_text() == CONF
    assert load_submissions(str(tmp_path / "out" / "set.trace.csv"))[1].n_nodes == 2


def test_a_set_has_its_whole_configuration_in_one_file(tmp_path):
    (tmp_path / "slurm.conf").write_text("Include nodes.conf\nSuspendProgram=/bin/true\n")
    (tmp_path / "nodes.conf").write_text(
        "NodeName=n[1-2] CPUs=4 # two\nPartitionName=a Nodes=ALL\n"
    )
    assert conf_text(str(tmp_path / "slurm.conf")) == (
        "NodeName=n[1-2] CPUs=4\nPartitionName=a Nodes=ALL\nSuspendProgram=/bin/true\n"
    )


def test_a_set_has_the_switches_and_accounts_of_its_slurm(tmp_path):
    class Database:
        def accounts(self, cluster: str) -> dict[str, str]:
            return {".associations.txt": f"Cluster - '{cluster}'\n", ".qos.txt": "Name\n"}

    conf = str(tmp_path / "slurm.conf")
    (tmp_path / "topology.conf").write_text("SwitchName=s Nodes=n[1-4]\n")
    assert beside_conf(conf, {"TopologyPlugin": "topology/none"}, Database()) == {}
    told = {"TopologyPlugin": "topology/tree", "ClusterName": "c"}
    told |= {"AccountingStorageType": "accounting_storage/slurmdbd"}
    assert beside_conf(conf, told, Database()) == {
        ".topology.conf": "SwitchName=s Nodes=n[1-4]\n",
        ".associations.txt": "Cluster - 'c'\n",
        ".qos.txt": "Name\n",
    }


def test_a_job_that_is_refused_is_told_and_the_others_go_on(slurm, tmp_path, capsys):
    path = trace(tmp_path, "0,0,1,0,0.1,1,closed,a", "1,0.1,1,0,0.1,1,main,b")
    assert main(words(slurm, path, tmp_path / "set")) == 0
    told = capsys.readouterr()
    assert "job a: sbatch: sbatch: error: invalid partition specified: closed" in told.err
    assert "1 jobs refused" in told.out


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_cancels_what_was_submitted(slurm, tmp_path):
    path = trace(tmp_path, "0,0,1,0,60,1,main,a", "1,0.1,1,0,60,1,main,b", "2,50,1,0,60,1,main,c")
    command = [sys.executable, "-m", "noctule", *words(slurm, path, tmp_path / "set")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while (slurm / "log").read_text().count("submit") < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130
    assert (slurm / "cancelled").read_text() == "1 2\n"
    assert not (tmp_path / "set.csv").exists()


def test_no_slurm_is_told_before_anything_is_read_or_written(slurm, tmp_path, capsys, monkeypatch):
    path = trace(tmp_path, "0,0,1,0,1,1,main,a")
    (slurm / "down").touch()
    assert main(words(slurm, path, tmp_path / "set")) == 3
    assert "expected a Slurm controller that is up" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(words(slurm, path, tmp_path / "set")) == 3
    assert "scontrol, sbatch, scancel: no such command" in capsys.readouterr().err
    assert not list(tmp_path.glob("set*"))


def test_a_set_that_is_there_is_kept(slurm, tmp_path, capsys):
    (tmp_path / "set.csv").write_text("mine")
    path = trace(tmp_path, "0,0,1,0,0.1,1,main,a")
    assert main(words(slurm, path, tmp_path / "set")) == 3
    assert "exists already; --force replaces it" in capsys.readouterr().err
    assert not (slurm / "jobs.json").exists()


def test_the_options_of_the_caller_do_not_reach_the_jobs(slurm, monkeypatch):
    monkeypatch.setenv("SBATCH_PARTITION", "closed")
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    controller = Controller(str(slurm / "slurm.conf"))
    assert "SBATCH_PARTITION" not in controller._environment
    assert controller._environment["SLURM_TIME_FORMAT"] == "%s"


def test_a_workload_of_fixed_durations_becomes_jobs_that_sleep(tmp_path):
    path = tmp_path / "w.json"
    path.write_text(
        json.dumps(
            {
                "nb_res": 4,
                "jobs": [
                    {"id": "1", "subtime": 3, "walltime": 61, "res": 2, "profile": "p"},
                    {"id": "2", "subtime": 1, "res": 1, "profile": "p"},
                ],
                "profiles": {"p": {"type": "delay", "delay": 7.5}},
            }
        )
    )
    assert load_submissions(str(path), unit="cpus", partition="main") == [
        Submission(1.0, 0, 1, 7.5, None, "main", "j0"),
        Submission(3.0, 0, 2, 7.5, 2, "main", "j1"),
    ]


def test_a_log_becomes_jobs_with_its_requested_times(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text("1 5 0 90 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n")
    assert load_submissions(str(path)) == [Submission(0.0, 4, 0, 90.0, 2, "", "j0")]


def test_a_submission_is_what_sbatch_reads():
    job = Submission(1.0, 2, 16, 7.5, 3, "main", "j1")
    assert job.words() == [
        "--job-name=j1",
        "--nodes=2",
        "--ntasks=16",
        "--time=3",
        "--partition=main",
        "--wrap=sleep 7.500",
    ]
    more = Submission(1.0, 1, 0, 2.0, None, "", "j2", "--mem=500 --constraint='a|b'")
    assert more.words()[2:] == ["--mem=500", "--constraint=a|b", "--wrap=sleep 2.000"]


def test_a_table_is_read_back_as_it_was_written(tmp_path):
    jobs = [Submission(1.25, 2, 0, 7.5, 3, "main", "j1"), Submission(2.0, 0, 9, 1.0, None, "", "x")]
    path = tmp_path / "t.csv"
    path.write_text(trace_table(jobs))
    assert "options" not in path.read_text()
    assert load_submissions(str(path)) == jobs
    jobs.append(Submission(3.0, 1, 0, 1.0, 1, "", "y", "--gres=gpu:2,x:1 --exclusive --qos=high"))
    path.write_text(trace_table(jobs))
    assert load_submissions(str(path)) == jobs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--output=/etc/passwd", "got '--output=/etc/passwd', expected options such as --mem=500"),
        ("--wrap=reboot", "got '--wrap=reboot'"),
        ("--mem 500", "got '--mem', expected options such as --mem=500, of these: account, "),
        ("-N2", "got '-N2'"),
        ("--mem=some", "--mem: got '--mem=some', expected another value"),
        ("--constraint='a", "No closing quotation"),
        ("--array=1-3", "got '--array=1-3'"),
    ],
)
def test_options_that_do_more_than_ask_for_resources_are_refused(tmp_path, options, message):
    path = tmp_path / "t.csv"
    path.write_text(trace_table([Submission(1.0, 1, 0, 1.0, 1, "", "y", options)]))
    with pytest.raises(InputError) as caught:
        load_submissions(str(path))
    assert f"{path}: line 2: column options: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0,x,1,0,1,1,main,a", "line 2: column submit: got 'x', expected a number >= 0"),
        ("0,1,0,0,1,1,main,a", "line 2: got neither nodes nor cpus, expected one of them"),
        ("0,1,1,0,1,1,ma in,a", "line 2: column partition: got 'ma in', expected letters"),
        ("0,1,1,0", "line 2: expected as many cells as in line 1"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_its_line(tmp_path, row, message):
    with pytest.raises(InputError) as caught:
        load_submissions(trace(tmp_path, row))
    assert message in str(caught.value)


def test_jobs_that_compute_are_refused(tmp_path):
    path = tmp_path / "w.json"
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}}
    jobs = [{"id": "1", "subtime": 0, "walltime": 10, "res": 1, "profile": "p"}]
    path.write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
    with pytest.raises(InputError, match="expected jobs with a fixed duration"):
        load_submissions(str(path))


def test_only_what_was_added_to_a_log_is_taken_and_only_whole_lines(tmp_path):
    path = tmp_path / "log"
    path.write_text("before\n")
    log = LogFile.of(str(path))
    with path.open("a") as file:
        file.write("one\ntwo\nthr")
    assert log.text() == "one\ntwo\n"
    path.write_text("new\n")
    assert log.text() == "new\n"
    with pytest.raises(InputError, match="the passes in it are needed, --log names another place"):
        LogFile.of(str(tmp_path / "none"))


def test_settings_that_blind_a_replay_are_told():
    blind = {"SlurmctldDebug": "info", "LogTimeFormat": "iso8601", "MinJobAge": "2 sec"}
    assert [text.partition(":")[0] for text in advice(blind)] == [
        "SlurmctldDebug",
        "LogTimeFormat",
        "MinJobAge",
    ]
    assert advice({"SlurmctldDebug": "debug", "MinJobAge": "300 sec"}) == []


def test_the_first_value_of_a_key_counts():
    line = "JobId=1 JobName=a=b Command=JobId=7"
    assert pairs(line)["JobId"] == "1"


def test_local_times_of_a_completion_log_become_seconds(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert local_seconds("2026-11-15T00:00:05") == "1794700805"
    assert local_seconds("Unknown") == "Unknown"
