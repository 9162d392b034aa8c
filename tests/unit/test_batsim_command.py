"""`noctule batsim` as a whole: options, a scheduler at the other end, files, exit codes."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batsim_runs import GREEN_PLATFORM, PLATFORM, Fcfs, Message, job, run_batsim, workload

from noctule.cli import main as noctule
from noctule.commands.batsim import main

pytest.importorskip("zmq")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.xml").write_text(PLATFORM)
    Path("green.xml").write_text(GREEN_PLATFORM)
    Path("w.json").write_text(
        workload(job(1, 0, 2, "d10"), job(2, 1, 3, "d5", walltime=3), job(3, 1, 1, "d2"))
    )
    return tmp_path


def rows(name: str) -> list[dict[str, str]]:
    with Path(name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_leaves_batsims_files(folder: Path) -> None:
    assert run_batsim(folder, ["-p", "p.xml", "-w", "w.json", "-q"], Fcfs().reply) == 0
    assert [
        (row["job_id"], row["starting_time"], row["finish_time"]) for row in rows("out_jobs.csv")
    ] == [
        ("1", "0.000000", "10.000000"),
        ("2", "10.000000", "13.000000"),
        ("3", "13.000000", "15.000000"),
    ]
    assert sorted(path.name for path in folder.glob("out_*")) == [
        "out_jobs.csv",
        "out_machine_states.csv",
        "out_schedule.csv",
        "out_schedule.trace",
    ]
    assert rows("out_schedule.csv")[0]["nb_jobs_killed"] == "1"
    assert rows("out_schedule.csv")[0]["batsim_version"].startswith("v4.2.1+noctule-")


def test_the_scheduler_hears_what_the_command_line_says(folder: Path) -> None:
    scheduler = Fcfs()
    words = "-p p.xml -w w.json -q --mmax 2 --sched-cfg hello --redis-prefix x --mmax-workload"
    flags = "--forward-profiles-on-submission --enable-compute-sharing --disable-storage-sharing"

    def reply(request: Message) -> Message:
        answer = scheduler.reply(request)
        rejected = [one["id"] for one in scheduler.queue if one["res"] > 2]
        scheduler.queue = [one for one in scheduler.queue if one["id"] not in rejected]
        now = request["now"]
        answer["events"] += [
            {"timestamp": now, "type": "REJECT_JOB", "data": {"job_id": one}} for one in rejected
        ]
        return answer

    assert run_batsim(folder, [*words.split(), *flags.split()], reply) == 0
    (begin,) = scheduler.told("SIMULATION_BEGINS")
    data = begin["data"]
    assert [host["name"] for host in data["compute_resources"]] == ["a1", "a10"]
    assert [(host["id"], host["name"]) for host in data["storage_resources"]] == [(2, "disk")]
    assert data["config"]["sched-config"] == "hello"
    assert data["config"]["redis-prefix"] == "x"
    assert (data["allow_compute_sharing"], data["allow_storage_sharing"]) == (True, False)
    assert data["workloads"] == {"w0": str(folder / "w.json")}
    first = scheduler.told("JOB_SUBMITTED")[0]["data"]
    assert first["profile"] == {"type": "delay", "delay": 10.0}
    kinds = [event["data"]["type"] for event in scheduler.told("NOTIFY")]
    assert kinds == ["no_more_static_job_to_submit"]
    assert scheduler.events[-1]["type"] == "SIMULATION_ENDS"


def test_files_that_are_not_wanted_are_not_written(folder: Path) -> None:
    words = "-p p.xml -w w.json -q --disable-schedule-tracing --disable-machine-state-tracing"
    assert run_batsim(folder, words.split(), Fcfs().reply) == 0
    assert sorted(path.name for path in folder.glob("out_*")) == [
        "out_jobs.csv",
        "out_schedule.csv",
    ]


def test_energy_has_files_of_its_own(folder: Path) -> None:
    assert run_batsim(folder, ["-p", "green.xml", "-w", "w.json", "-qE"], Fcfs().reply) == 0
    # two hosts of 100 W each for 10 s: delays draw what idle hosts draw
    assert rows("out_jobs.csv")[0]["consumed_energy"] == "2000.000000"
    assert [row["event_type"] for row in rows("out_consumed_energy.csv")] == list("sessee")
    assert rows("out_pstate_changes.csv")[0] == {
        "time": "0",
        "machine_id": "0-3",
        "new_pstate": "0",
    }


def test_messages_are_logged_as_scripts_expect_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scheduler = Fcfs()
    words = "-p p.xml -w w.json -v network-only"
    assert run_batsim(folder, words.split(), scheduler.reply) == 0
    lines = capsys.readouterr().err.splitlines()
    sent = [json.loads(m[1]) for line in lines if (m := re.search(r"Sending '(.*)'$", line))]
    assert sent == scheduler.requests
    start = r"\[master_host:Scheduler REQ-REP:\(\d+\) \d+\.\d{6}\] \[network/INFO\] "
    assert all(re.match(start + "(Sending|Received) '", line) for line in lines)
    assert len(lines) == 2 * len(sent)


def test_quiet_is_silent_and_the_default_tells_more(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_batsim(folder, ["-p", "p.xml", "-w", "w.json", "-q"], Fcfs().reply)
    assert capsys.readouterr() == ("", "")
    run_batsim(folder, ["-p", "p.xml", "-w", "w.json"], Fcfs().reply)
    assert "Workload 'w0' corresponds to workload file" in capsys.readouterr().err


def test_a_workflow_is_submitted_task_by_task(folder: Path) -> None:
    Path("flow.dax").write_text(
        '<adag><job id="b" runtime="2"/><job id="a" runtime="4" num_procs="2"/>'
        '<job id="c" runtime="1"/><child ref="c"><parent ref="a"/><parent ref="b"/></child></adag>'
    )
    scheduler = Fcfs()
    words = "-p p.xml -q --WS flow.dax 3 --forward-profiles-on-submission"
    assert run_batsim(folder, words.split(), scheduler.reply) == 0
    told = [(e["timestamp"], e["data"]["job"]) for e in scheduler.told("JOB_SUBMITTED")]
    assert told == [
        (3.0, {"id": "wfc0!0", "subtime": 3.0, "walltime": 14.0, "res": 2, "profile": "wfc0_a"}),
        (3.0, {"id": "wfc0!1", "subtime": 3.0, "walltime": 12.0, "res": 1, "profile": "wfc0_b"}),
        (7.0, {"id": "wfc0!2", "subtime": 7.0, "walltime": 11.0, "res": 1, "profile": "wfc0_c"}),
    ]
    found = [
        (r["job_id"], r["workload_name"], r["profile"], r["finish_time"])
        for r in rows("out_jobs.csv")
    ]
    assert found == [
        ("1", "wfc0", "wfc0_b", "5.000000"),
        ("0", "wfc0", "wfc0_a", "7.000000"),
        ("2", "wfc0", "wfc0_c", "8.000000"),
    ]
    (ended,) = scheduler.told("NOTIFY")
    assert (ended["timestamp"], ended["data"]["type"]) == (8.0, "no_more_static_job_to_submit")


def test_a_workflow_can_be_limited_and_jobs_after_it_dropped(folder: Path) -> None:
    Path("flow.dax").write_text('<adag><job id="a" runtime="2"/><job id="b" runtime="2"/></adag>')
    Path("w.json").write_text(workload(job(1, 0, 1, "d1"), job(2, 50, 1, "d1")))
    scheduler = Fcfs()
    words = (
        "-p p.xml -w w.json -W flow.dax --workflow-jobs-limit 1 --ignore-beyond-last-workflow -q"
    )
    assert run_batsim(folder, words.split(), scheduler.reply) == 0
    told = [(e["timestamp"], e["data"]["job_id"]) for e in scheduler.told("JOB_SUBMITTED")]
    assert told == [(0.0, "w0!1"), (0.0, "wf0!0"), (2.0, "wf0!1")]
    assert len(rows("out_jobs.csv")) == 3
    assert rows("out_schedule.csv")[0]["nb_jobs"] == "3"


def test_hosts_leave_and_come_back(folder: Path) -> None:
    Path("events").write_text(
        '{"type": "machine_unavailable", "timestamp": 2, "resources": "2"}\n'
        '{"type": "machine_available", "timestamp": 5, "resources": "2"}\n'
        '{"type": "storm", "timestamp": 6, "force": 12}\n'
    )
    scheduler = Fcfs()
    words = "-p p.xml -w w.json -q --events events --forward-unknown-events"
    assert run_batsim(folder, words.split(), scheduler.reply) == 0
    told = [event["data"] for event in scheduler.told("NOTIFY")]
    assert {"type": "event_machine_unavailable", "resources": "2"} in told
    assert {"type": "storm", "timestamp": 6, "force": 12} in told
    assert {"type": "no_more_external_event_to_occur"} in told
    assert rows("out_schedule.csv")[0]["time_unavailable"] == "3.000000"


def test_without_a_scheduler_all_jobs_start_at_0_and_none_is_told_of(folder: Path) -> None:
    words = ["-p", "p.xml", "-w", "w.json", "--no-sched", "-q", "-e", f"{folder}/out"]
    assert main(words) == 0
    assert rows("out_jobs.csv") == []
    assert rows("out_schedule.csv")[0]["success_rate"] == "-nan"
    assert Path("out_machine_states.csv").read_text().splitlines()[1:] == [
        "0,0,0,0,1,2",
        "0,0,0,0,0,3",
        "0,0,0,0,0,3",
        "2,0,0,0,0,3",
        "3,0,0,0,1,2",
        "10,0,0,0,3,0",
    ]


def wrong_replies() -> list[tuple[str, Callable[[Message], Any], str]]:
    def deciding(kind: str, data: dict[str, Any]) -> Callable[[Message], Message]:
        def reply(request: Message) -> Message:
            now = request["now"]
            decided = {"timestamp": now, "type": kind, "data": data}
            is_submission = request["events"][0]["type"] == "JOB_SUBMITTED"
            return {"now": now, "events": [decided] if is_submission else []}

        return reply

    return [
        ("half a message", lambda _: b'{"now": 0.0, "ev', "reply"),
        ("an unknown event", deciding("DANCE", {}), "DANCE"),
        ("an unknown job", deciding("EXECUTE_JOB", {"job_id": "w0!9", "alloc": "0"}), "w0!9"),
        ("too few hosts", deciding("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0"}), "w0!1"),
        ("no energy", deciding("SET_RESOURCE_STATE", {"resources": "0", "state": "1"}), "energy"),
    ]


@pytest.mark.parametrize(("what", "reply", "complaint"), wrong_replies())
def test_a_wrong_reply_is_one_sentence_and_what_happened_is_marked_as_partial(
    what: str,
    reply: Callable[[Message], Any],
    complaint: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    replies: list[int] = []

    def once(request: Message) -> Any:
        replies.append(1)
        answer = reply(request)
        # its socket closes behind the first wrong word
        return (
            json.dumps(answer).encode() if isinstance(answer, dict) and answer["events"] else answer
        )

    assert run_batsim(folder, ["-p", "p.xml", "-w", "w.json", "-q"], once) == 134
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("noctule: ")
    assert complaint in line
    assert sorted(path.name for path in folder.glob("out_*")) == [
        "out_jobs.csv.partial",
        "out_machine_states.csv.partial",
        "out_schedule.csv.partial",
        "out_schedule.trace.partial",
    ]


def test_a_scheduler_that_starts_nothing_is_a_deadlock(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def idle(request: Message) -> Any:
        answer = {"now": request["now"], "events": []}
        is_last = any(event["type"] == "NOTIFY" for event in request["events"])
        return json.dumps(answer).encode() if is_last else answer

    assert run_batsim(folder, ["-p", "p.xml", "-w", "w.json", "-q"], idle) == 134
    assert "wait" in capsys.readouterr().err


def test_a_scheduler_that_never_comes_is_given_up(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-p", "p.xml", "-s", f"ipc://{folder}/nobody", "-q", "--timeout", "0.2"]
    assert main(words) == 134
    assert "no reply came, after 0.2 s" in capsys.readouterr().err


def test_files_of_an_earlier_run_do_not_stay(folder: Path) -> None:
    assert run_batsim(folder, ["-p", "green.xml", "-w", "w.json", "-qE"], Fcfs().reply) == 0
    assert Path("out_consumed_energy.csv").exists()
    Path("out_jobs.csv.partial").touch()
    assert run_batsim(folder, ["-p", "p.xml", "-w", "w.json", "-q"], Fcfs().reply) == 0
    assert not Path("out_consumed_energy.csv").exists()
    assert not Path("out_jobs.csv.partial").exists()


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        ("-p missing", 1, "--platform: missing: cannot be read, expected a file"),
        ("-p p.xml -w missing", 2, "--workload: missing: cannot be read"),
        ("-p p.xml --nothing", 255, "'--nothing': no such option"),
        ("-p p.xml --enable-redis", 134, "--enable-redis: there is no redis here"),
        ("-p p.xml -e no/where", 134, "there is no folder no, expected one"),
        ("-p w.json", 134, "w.json"),
        ("-p p.xml -w p.xml", 134, "p.xml: line 1, column 1: not valid JSON"),
        ("-p p.xml --mmax 9", 134, "got 3 compute hosts, expected at least 9"),
        ("-p p.xml -m nobody", 134, "nobody: no such host"),
        ("-p p.xml -E", 134, "no watts are known"),
        ("-p p.xml -s nonsense", 134, "endpoint: got 'nonsense'"),
        ("-p p.xml -w big.json --no-sched", 134, "big"),
    ],
)
def test_what_goes_wrong_before_the_run_is_one_sentence_and_batsims_code(
    words: str, code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("big.json").write_text(workload(job("big", 0, 9, "d1")))
    assert main([*words.split(), "-q"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("noctule: ")
    assert complaint in line


@pytest.mark.parametrize(
    ("word", "pattern"),
    [
        ("--help", r"Usage: noctule batsim .*"),
        ("-h", r"Usage: noctule batsim .*"),
        ("--version", r"v4\.2\.1\+noctule-.*"),
        ("--simgrid-version", r"3\.\d+\.\d+"),
    ],
)
def test_questions_are_answered_whatever_else_is_said(
    word: str, pattern: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert noctule(["batsim", "-p", "missing", word]) == 0
    assert re.match(pattern, capsys.readouterr().out)


def test_the_execution_context_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        noctule(["batsim", "-p", "p.xml", "-s", "tcp://localhost:1", "--dump-execution-context"])
        == 0
    )
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["socket_endpoint"] == "tcp://localhost:1"
    assert list(json.loads(line)) == [
        "socket_endpoint",
        "redis_enabled",
        "redis_hostname",
        "redis_port",
        "redis_prefix",
        "export_prefix",
        "external_scheduler",
    ]


def test_the_shim_is_a_batsim(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--install-shim", "bin"]) == 0
    shim = Path("bin/batsim")
    assert capsys.readouterr().out == "bin/batsim\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [shim.absolute(), "-p", "x", "--dump-execution-context", "-e", "a b"],
        capture_output=True,
        check=True,
        env=environment,
    )
    assert json.loads(found.stdout)["export_prefix"] == "a b"
    assert main(["--install-shim", "bin", "--latency", "--timeout", "9"]) == 0
    assert ' noctule batsim --latency --timeout 9 "$@"' in shim.read_text()
    shim.write_text("a real one")
    assert main(["--install-shim", "bin"]) == 134
    assert shim.read_text() == "a real one"


def test_a_terminated_run_keeps_what_happened(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = ["-p", "p.xml", "-w", "w.json", "-s", f"ipc://{folder}/nobody", "-e", f"{folder}/out"]
    command = [sys.executable, "-m", "noctule", "batsim", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    while b"Sending" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 143
    assert Path("out_jobs.csv.partial").exists()
    assert b"noctule: terminated" in process.stderr.read()
    process.stderr.close()


@pytest.mark.parametrize("latency", [[], ["--latency"]], ids=["exact", "latency"])
def test_a_run_without_workloads_begins_and_ends(latency: list[str], folder: Path) -> None:
    scheduler = Fcfs()
    assert run_batsim(folder, ["-p", "p.xml", "-q", *latency], scheduler.reply) == 0
    kinds = [event["type"] for event in scheduler.events]
    assert kinds == ["SIMULATION_BEGINS", "SIMULATION_ENDS"]


@pytest.mark.parametrize("latency", [[], ["--latency"]], ids=["exact", "latency"])
def test_a_scheduler_may_bring_all_jobs_itself(latency: list[str], folder: Path) -> None:
    class Submitter(Fcfs):
        def see(self, event: Message) -> list[Message]:
            super().see(event)
            if event["type"] != "SIMULATION_BEGINS":
                return []
            profile = {"type": "delay", "delay": 5}
            named = {"workload_name": "mine", "profile_name": "d5", "profile": profile}
            own = {"id": "mine!1", "subtime": 0, "res": 2, "profile": "d5"}
            return [
                {"type": "REGISTER_PROFILE", "data": named},
                {"type": "REGISTER_JOB", "data": {"job_id": "mine!1", "job": own}},
                {"type": "SET_JOB_METADATA", "data": {"job_id": "mine!1", "metadata": "a, b"}},
                {"type": "NOTIFY", "data": {"type": "registration_finished"}},
            ]

    scheduler = Submitter()
    words = ["-p", "p.xml", "-q", "--enable-dynamic-jobs", "--acknowledge-dynamic-jobs", *latency]
    assert run_batsim(folder, words, scheduler.reply) == 0
    (row,) = rows("out_jobs.csv")
    assert (row["workload_name"], row["job_id"], row["profile"]) == ("mine", "1", "d5")
    assert row["metadata"] == "a, b"
    assert '"a, b"' in Path("out_jobs.csv").read_text()
    assert row["execution_time"] == "5.000000"


def test_energy_is_that_of_the_hosts_that_are_offered(folder: Path) -> None:
    words = ["-p", "green.xml", "-w", "one.json", "-qE", "--mmax", "2"]
    Path("one.json").write_text(workload(job(1, 0, 1, "d10")))
    assert run_batsim(folder, words, Fcfs().reply) == 0
    (start, end) = rows("out_consumed_energy.csv")
    assert (start["energy"], end["energy"]) == ("0.000000", "2000.000000")
    assert rows("out_schedule.csv")[0]["nb_computing_machines"] == "2"
    assert rows("out_schedule.csv")[0]["consumed_joules"] == "2000.000000"


def test_several_workloads_are_submitted_together(folder: Path) -> None:
    Path("v.json").write_text(workload(job("x", 1, 1, "d1"), job("y", 0, 1, "d1")))
    scheduler = Fcfs()
    words = ["-p", "p.xml", "-w", "w.json", "-w", "v.json", "-q"]
    assert run_batsim(folder, words, scheduler.reply) == 0
    told = [event["data"]["job_id"] for event in scheduler.told("JOB_SUBMITTED")]
    assert told == ["w0!1", "w1!y", "w0!2", "w0!3", "w1!x"]
    assert len(rows("out_jobs.csv")) == 5


def test_a_scheduler_that_goes_away_ends_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def last_words(request: Message) -> bytes:
        return json.dumps({"now": request["now"], "events": []}).encode()

    assert run_batsim(folder, ["-p", "p.xml", "-w", "w.json", "-q"], last_words) == 134
    (line,) = capsys.readouterr().err.splitlines()
    assert "the peer went away" in line
    assert Path("out_jobs.csv.partial").exists()
