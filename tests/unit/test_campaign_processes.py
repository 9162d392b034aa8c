"""Campaigns whose processes end: killed, interrupted, refused by the system, ended by a policy."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time

import pytest
from campaign_files import EXAMPLES, described, results_of

from noctule.campaign import Campaign, LocalWorkers, load_results, run_campaign
from noctule.campaign.store import Store

pytest.importorskip("pyarrow")


def test_a_policy_that_ends_its_process_fails_alone(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import os, signal\n"
        "class Exits:\n"
        "    def decide(self, view, events): os._exit(7)\n"
        "class Dies:\n"
        "    def decide(self, view, events): os.kill(os.getpid(), signal.SIGKILL)\n"
        "class Talks:\n"
        "    def decide(self, view, events): print('hello' * 1000); return []\n"
    )
    policies = {"exits": "mine.py:Exits", "dies": "mine.py:Dies", "talks": "mine.py:Talks"}
    campaign = described(tmp_path, policies=policies | {"easy": "easy"})
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    found = dict(results_of(tmp_path / "out", "policy", "error"))
    assert found["exits"] == "the process of the run ended with exit code 7"
    assert found["dies"] == "the process of the run was ended by SIGKILL"
    assert found["easy"] == ""
    assert "wait" in found["talks"]


def test_files_that_the_system_refuses_to_write_end_a_campaign_with_a_sentence(tmp_path):
    described(tmp_path)
    file = tmp_path / "c.toml"
    file.write_text('[workloads]\nlog = "log.swf"\n[policies]\neasy = "easy"\n')
    command = [sys.executable, "-m", "noctule", "campaign", "run", str(file), "-o", "out"]
    answer = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert answer.returncode == 3
    assert re.fullmatch(r"noctule: .*: cannot be written: File too large\n", answer.stderr)
    assert run_campaign(Campaign.load(file), tmp_path / "out", LocalWorkers(1)).n_done == 1


CAMPAIGN_OF_MANY = """
seeds = "1-50"
[workloads]
night = {{ file = "{examples}/night.swf", shake = 30 }}
[policies]
easy = {{ spec = "easy", order = ["fcfs", "sjf"] }}
mine = "{examples}/policy-ten-lines.py:SmallestFirst"
fcfs = "fcfs"
"""


def test_a_campaign_that_is_killed_three_times_ends_with_the_same_bytes(tmp_path):
    file = tmp_path / "many.toml"
    file.write_text(CAMPAIGN_OF_MANY.format(examples=EXAMPLES))
    killed, store = tmp_path / "killed", Store(tmp_path / "killed")
    words = ["campaign", "run", str(file), "--workers", "1", "--quiet", "-o", str(killed)]
    counts = [0]
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "noctule", *words], start_new_session=True
        )
        before = counts[-1]
        while process.poll() is None and sum(1 for _ in store) < before + 20:
            time.sleep(0.01)
        process.kill()
        process.wait()
        counts.append(sum(1 for key in store if store.read(key) is not None))
    assert counts == sorted(counts)
    assert counts[-1] >= 40
    assert not (killed / "results.parquet").exists()
    for folder in (killed, tmp_path / "whole"):
        run_campaign(Campaign.load(file), folder, LocalWorkers(1))
    tables = [(folder / "results.parquet").read_bytes() for folder in (killed, tmp_path / "whole")]
    assert tables[0] == tables[1]
    assert len(load_results(killed)) == 200


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_stops_a_campaign_and_its_processes(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time, pathlib, os\n"
        "class Slow:\n"
        "    def decide(self, view, events):\n"
        f"        pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "        time.sleep(600)\n"
    )
    described(tmp_path)
    file = tmp_path / "slow.toml"
    file.write_text('[workloads]\nlog = "log.swf"\n[policies]\nslow = "slow.py:Slow"\n')
    command = [sys.executable, "-m", "noctule", "campaign", "run", str(file), "-o", "out"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.strip() == "noctule: interrupted"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_policy_that_reads_standard_input_finds_nothing_there(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import sys\n"
        "class Reads:\n"
        "    def decide(self, view, events): raise ValueError(repr(sys.stdin.read()))\n"
    )
    campaign = described(tmp_path, policies={"reads": "mine.py:Reads"})
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    assert "raised ValueError: ''" in load_results(tmp_path / "out")["error"][0]
