"""Runs with replay models: commands, files, campaigns, machines, messages, other processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign_files import described
from latency_platform import two_hosts
from session_logs import FIGURE_1, a_log
from trace_files import a_line, a_trace, refusal
from user_replays import by_id, replayed, submissions

import noctule as nt
from noctule.campaign import LocalWorkers, Plan, load_results, run_campaign
from noctule.cli import main
from noctule.messages import StartJob, SubmissionsEnded
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, BatsimWorkload
from noctule.run import RunOptions, SimulationOptions, execute, rerun, write_run
from noctule.sessions import find_sessions, save_sessions
from noctule.traces.reading import AS_RECORDED
from noctule.workload import Dependency

LOG = "\n".join(
    [
        "; MaxProcs: 4",
        a_line(1, 0, wait_time=0, run_time=600, requested_time=9000, user=1),
        a_line(2, 1200, wait_time=0, run_time=600, requested_time=9000, user=1),
        a_line(3, 1300, wait_time=600, run_time=600, requested_time=9000, user=2),
        a_line(4, 6000, wait_time=0, run_time=600, requested_time=9000, user=2),
    ]
)
# at twice the speed: job 2 comes 600 s after job 1 has ended, at 300; job 3 at its date, and starts
# at once (job 2 runs until 1200); job 4 comes 3500 s after its end, at 1600
MOVED = {1: 0, 2: 900, 3: 1300, 4: 5100}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG)
    return Path("log.swf")


def run_command(*arguments: str) -> int:
    return int(main(["run", "log.swf", "--policy", "easy", "--speed", "2", *arguments]))


# --- commands and files


@pytest.mark.parametrize(
    "options",
    [
        ("--replay", "feedback", "--sessions", "arrival:0"),
        ("--replay", "feedback(threshold=0)"),
        ("--replay", "feedback", "--sessions", "users"),
    ],
)
def test_the_command_replays_users(log, options):
    save_sessions(find_sessions(nt.load_workload(log), threshold=0), "users")
    assert run_command(*options, "-o", "out", "--quiet") == 0
    schedule = nt.Schedule.load("out")
    assert by_id(schedule, "submit_time") == MOVED
    assert by_id(schedule, "recorded_submit_time") == {1: 0, 2: 1200, 3: 1300, 4: 6000}
    assert main(["rerun", "out/manifest.json", "--quiet"]) == 0


def test_a_changed_session_file_is_found_out(log):
    sessions = find_sessions(nt.load_workload(log), threshold=0)
    save_sessions(sessions, "users")
    assert run_command("--replay", "feedback", "--sessions", "users", "-o", "out", "--quiet") == 0
    path = Path("users/user-1.json")
    path.write_text(path.read_text().replace("[600]", "[700]"))
    assert "has changed since the run" in refusal(rerun, "out/manifest.json")


def test_session_files_may_lie_beside_the_manifest(log, tmp_path, monkeypatch):
    save_sessions(find_sessions(nt.load_workload(log), threshold=0), "users")
    options = RunOptions(
        "log.swf", "easy", simulation=SimulationOptions(replay='feedback(sessions="users")')
    )
    write_run("out", execute(options))
    for name in ("log.swf", "users"):
        Path(name).rename(Path("out") / name)
    assert rerun("out/manifest.json").differing == ()
    (tmp_path / "out" / "users").rename(tmp_path / "gone")
    assert "users: an input of the run, not found here nor in out" in refusal(
        rerun, "out/manifest.json"
    )


def test_sessions_need_a_model(log, capsys):
    assert run_command("--sessions", "arrival:0") == 2
    assert "--sessions: goes with --replay" in capsys.readouterr().err


def test_the_same_run_gives_the_same_bytes(log):
    for name in ("once", "again"):
        assert run_command("--replay", "distribution(threshold=0, seed=3)", "-o", name) == 0
    once, again = (Path(name, "jobs.csv").read_bytes() for name in ("once", "again"))
    assert once == again


def test_files_of_rigid_runs_have_no_recorded_dates(log):
    assert run_command("-o", "out", "--quiet") == 0
    assert "recorded" not in Path("out/jobs.csv").read_text()
    assert not nt.Schedule.load("out").moves_submissions


@pytest.mark.parametrize("parquet", [False, True])
def test_recorded_dates_are_kept_in_files(tmp_path, parquet):
    if parquet:
        pytest.importorskip("pyarrow")
    schedule = replayed(a_log(*FIGURE_1), nt.Feedback(threshold=0), hosts=8)
    schedule.save(tmp_path, parquet=parquet)
    loaded = nt.Schedule.load(tmp_path)
    for name in ("submit_time", "recorded_submit_time"):
        assert loaded.column(name).tolist() == schedule.column(name).tolist()
    assert list(loaded.jobs.columns)[-1] == "recorded_submit_time"


# --- campaigns


def users(folder: Path, **changes: Any) -> nt.Campaign:
    (folder / "users.swf").write_text(LOG)
    fast = {"fast": {"hosts": 4, "speed": 2}}
    return described(folder, workloads={"users": "users.swf"}, platforms=fast, **changes)


def test_a_campaign_varies_the_replay(tmp_path):
    models = ["rigid", "feedback(threshold=0)", "adjusted(sessions='max:1h')"]
    campaign = users(tmp_path, options={"replay": models})
    assert len({run.spec.key for run in Plan(campaign)}) == 3
    run_campaign(campaign, tmp_path / "out", LocalWorkers(1))
    found = load_results(tmp_path / "out").set_index("replay")["makespan"].to_dict()
    # the last job runs for 300 s
    assert found["rigid"] == 6300
    assert found["feedback(threshold=0)"] == MOVED[4] + 300


def test_models_that_draw_take_the_seeds_of_a_campaign(tmp_path):
    models = ["rigid", "distribution(threshold=0)", "distribution(threshold=0, seed=7)"]
    plan = list(Plan(users(tmp_path, options={"replay": models}, seeds="1-3")))
    told = [(run.labels["replay"], run.labels["seed"], run.spec.options.replay) for run in plan]
    assert told == [
        ("rigid", None, "rigid"),
        (models[2], None, models[2]),
        *((models[1], seed, f"distribution(threshold=0, seed={seed})") for seed in (1, 2, 3)),
    ]
    without = refusal(users, tmp_path, options={"replay": models})
    assert "seeds: missing, expected some for distribution(threshold=0)" in without


@pytest.mark.parametrize(
    ("replay", "told"),
    [
        ("feedbak", "options.replay: replay: got 'feedbak', expected one of rigid"),
        ("feedback(sessions='users')", "which reads session files, expected a threshold"),
    ],
)
def test_a_campaign_refuses_what_cannot_be_replayed(tmp_path, replay, told):
    assert told in refusal(described, tmp_path, options={"replay": replay})


# --- execution models and protocols


@pytest.mark.parametrize(
    "options", [{}, {"machine": True}, {"launch_delay": 1.0}, {"epilogue_delay": 5.0}], ids=str
)
def test_users_wait_on_every_execution_model(log, options):
    workload = nt.load_workload(log)
    platform = nt.Platform.homogeneous(4, 2)
    replay = nt.Feedback(threshold=0)
    schedule = nt.simulate(platform, workload, "easy", replay=replay, **options)
    late = options.get("launch_delay", 0)
    dates = by_id(schedule, "submit_time")
    assert dates[2] == 900 + late
    assert schedule.column("submit_time").tolist() != workload.submit_time.tolist()


def test_the_end_of_submissions_is_told_when_the_last_user_has_submitted():
    told = []

    class Listener:
        def decide(self, view, events):
            told.extend(e.time for e in events if isinstance(e, SubmissionsEnded))
            return [StartJob(job) for job in view.waiting]

    replayed(a_log((0, 10), (20, 30)), nt.Feedback(threshold=0), Listener(), batsim_events=True)
    assert told == [1200]


def test_users_wait_with_the_latency_of_batsim(tmp_path):
    # job 2 was submitted 600 s after job 1 had ended; the job's end is that of its run, not of the
    # message that told of it, and the message that tells of job 2 is sent at its date
    lines = [
        a_line(1, 0, wait_time=0, run_time=100, requested_processors=1, requested_time=900, user=1),
        a_line(
            2, 700, wait_time=0, run_time=100, requested_processors=1, requested_time=900, user=1
        ),
    ]
    schedule = nt.simulate(
        two_hosts(tmp_path),
        a_trace(*lines),
        "fcfs",
        replay=nt.Feedback(threshold=0),
        batsim_latency=True,
    )
    first, second = (by_id(schedule, "submit_time")[job] for job in (1, 2))
    assert first == 0
    assert second == pytest.approx(by_id(schedule, "finish_time")[1] + 600)
    assert by_id(schedule, "start_time")[2] > second
    assert set(schedule.column("state").tolist()) == {"completed"}


def test_jobs_with_think_times_of_their_own_start_with_the_latency_of_batsim(tmp_path):
    lines = [
        a_line(1, 0, run_time=100, requested_processors=1, requested_time=900),
        a_line(
            2,
            10,
            run_time=100,
            requested_processors=1,
            requested_time=900,
            preceding_job=1,
            think_time=50,
        ),
    ]
    workload = a_trace(*lines, rules=replace(AS_RECORDED, dependencies=True))
    assert workload[1].dependencies == (Dependency(1, 50.0),)
    schedule = nt.simulate(two_hosts(tmp_path), workload, "fcfs", batsim_latency=True)
    finish = by_id(schedule, "finish_time")[1]
    assert finish + 50 < by_id(schedule, "start_time")[2] < finish + 51


def test_a_scheduler_in_another_process_just_sees_jobs_arrive():
    requests: list[dict[str, Any]] = []

    def reply(request: bytes) -> bytes:
        message = json.loads(request)
        requests.append(message)
        started = [
            {
                "timestamp": message["now"],
                "type": "EXECUTE_JOB",
                "data": {"job_id": event["data"]["job_id"], "alloc": "0"},
            }
            for event in message["events"]
            if event["type"] == "JOB_SUBMITTED"
        ]
        return json.dumps({"now": message["now"], "events": started}).encode()

    profiles = {"ten": {"type": "delay", "delay": 10}}
    raw = {f"w0!{i}": {"id": f"w0!{i}", "res": 1, "profile": "ten"} for i in (1, 2)}
    jobs = [
        nt.Job(
            f"w0!{i}",
            date,
            nt.workload.Request(1),
            nt.workload.Delay(10.0),
            user=1,
            extra={"wait_time": 20.0, "run_time": 10.0},
        )
        for i, date in ((1, 0.0), (2, 60.0))
    ]
    workload = nt.Workload.from_jobs(jobs)
    platform = nt.Platform.homogeneous(1)
    told = [BatsimWorkload("w0", "w0.json", raw, profiles)]
    scheduler = BatsimScheduler(BatsimSetup(platform=platform, workloads=told), reply)
    simulation = nt.Simulation(
        platform,
        workload,
        scheduler,
        batsim_events=True,
        machine=True,
        reject_oversized=False,
        replay=nt.Feedback(threshold=0),
    )
    simulation.run()
    scheduler.finish(simulation.now)
    # job 1 waited for 20 s in the record and for none here: job 2 comes 20 s earlier
    arrivals = [
        (message["now"], event["data"]["job"]["subtime"])
        for message in requests
        for event in message["events"]
        if event["type"] == "JOB_SUBMITTED"
    ]
    assert arrivals == [(0, 0), (40, 40)]
    notified = [m["now"] for m in requests for e in m["events"] if e["type"] == "NOTIFY"]
    assert notified == [40]


def test_submitters_of_batsim_cannot_be_users(tmp_path):
    told = refusal(
        nt.simulate,
        two_hosts(tmp_path),
        a_log((0, 1), (5, 6)),
        "fcfs",
        batsim_latency=True,
        submitters=[[1], [2]],
        replay=nt.Feedback(threshold=0),
    )
    assert told == "replay: got submitters as well, expected one or the other"


def test_cancellations_move_with_their_jobs():
    # job 2 came 10 minutes after job 1, and was cancelled 5 minutes later, while it waited; job 1
    # now takes 20 minutes longer: 2 comes at 40. The host is busy with job 3 until 44, or 46.
    def log_of(response: float, busy: float = 99) -> nt.Workload:
        return nt.Workload.from_jobs(
            nt.Job(
                i,
                60.0 * submit,
                nt.workload.Request(size),
                nt.workload.Delay(60.0 * length),
                user=user,
                cancel_time=60.0 * cancel,
                extra={"wait_time": 0.0, "run_time": 60.0 * length},
            )
            for i, submit, length, size, user, cancel in (
                (1, 0, response, 1, 1, np.inf),
                (3, 1, busy, 1, 2, np.inf),
                (2, 20, 1, 2, 1, 25),
            )
        )

    model = nt.Feedback(sessions=find_sessions(log_of(10), threshold=0))
    ended = {until: replayed(log_of(30, until - 1), model, hosts=2) for until in (44, 46)}
    assert [submissions(schedule)[1] for schedule in ended.values()] == [40, 40]
    assert by_id(ended[44], "state")[2] == "completed"
    assert by_id(ended[46], "state")[2] == "cancelled"
