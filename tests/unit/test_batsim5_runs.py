"""Runs of `noctule batsim5` with a component in a process: what upstream's own tests look for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from batsim5_runs import (
    TASKS,
    Component,
    Decided,
    Fcfs,
    Message,
    P,
    W,
    executed,
    on,
    one_by_one,
    rows,
    run_batsim5,
    write_inputs,
)
from batsim_runs import job, workload

pytest.importorskip("zmq")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_inputs()
    return tmp_path


def test_a_component_may_reject_everything(folder: Path) -> None:
    def reject(now: float, event: Message) -> Decided:
        submitted = event["event_type"] == "JobSubmittedEvent"
        return [("RejectJobEvent", {"job_id": event["event"]["job_id"]})] if submitted else []

    assert run_batsim5(folder, [*P, *W], Component(reject))[0] == 0
    assert [row["final_state"] for row in rows()] == ["REJECTED", "REJECTED"]


def test_hosts_are_in_natural_order_and_described(folder: Path) -> None:
    component = Fcfs()
    assert run_batsim5(folder, ["-p", "green.xml", *W, "--energy-host"], component)[0] == 0
    (begins,) = component.told("SimulationBeginsEvent")
    data = begins["event"]
    assert [(one["id"], one["name"]) for one in data["computation_hosts"]] == [
        (0, "a1"),
        (1, "a2"),
        (2, "a10"),
        (3, "disk"),
    ]
    host = data["computation_hosts"][0]
    assert (host["pstate"], host["pstate_count"], host["state"]) == (0, 4, "IDLE")
    assert (host["core_count"], host["computation_speed"]) == (1, [1.0, 1.0, 0.2, 0.1])
    assert {"key": "sleep_pstates", "value": "1:2:3"} in host["properties"]
    assert data["workloads"] == [{"name": "w0", "filename": str(folder / "w.json")}]
    assert data["batsim_arguments"][0] == "batsim"
    assert "--energy-host" in data["batsim_arguments"]


def test_jobs_run_in_turn_under_fcfs(folder: Path) -> None:
    Path("w.json").write_text(workload(job(1, 0, 2, "d10"), job(2, 1, 3, "d5"), job(3, 1, 9, "d1")))
    assert run_batsim5(folder, [*P, *W], Fcfs())[0] == 0
    assert [(row["job_id"], row["starting_time"]) for row in rows()] == [
        ("1", "0.000000"),
        ("3", ""),
        ("2", "10.000000"),
    ]
    assert rows()[0]["profile"] == "w0!d10"
    summary = json.loads(Path("out/schedule.json").read_text())
    assert (summary["nb_jobs"], summary["makespan"]) == (3, 15.0)
    assert json.loads(Path("out/real_exec_info.json").read_text())["time_in_edc_seconds"] > 0


def test_the_handshake_brings_the_text_of_the_command_line(folder: Path) -> None:
    _, seen = run_batsim5(folder, [*P, *W], Fcfs(), init="héllo")
    assert seen[0] == b"\x06\0\0\0h\xc3\xa9llo"
    assert all(frame.endswith(b"}\0") and frame.count(b"\0") == 1 for frame in seen[1:])


def test_who_never_decides_ends_in_a_deadlock(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_batsim5(folder, [*P, *W], Component(on("nothing")))[0] == 1
    text = "The simulation could NOT finish because a deadlock was detected in SimGrid"
    assert text in capsys.readouterr().err
    assert not Path("out/schedule.json").exists()
    assert Path("out/schedule.json.partial").exists()


def test_without_jobs_there_is_nothing_to_decide(folder: Path) -> None:
    component = Component(on("nothing"))
    assert run_batsim5(folder, [*P], component)[0] == 0
    kinds = [one["event_type"] for message in component.messages for one in message["events"]]
    assert kinds[0] == "SimulationBeginsEvent"
    assert kinds[-1] == "SimulationEndsEvent"
    assert json.loads(Path("out/schedule.json").read_text())["success_rate"] is None


@pytest.mark.parametrize(
    "hello",
    [
        {"now": 0.0, "events": []},
        {"now": 0.0, "events": [{"timestamp": 0.0, "event_type": "RejectJobEvent", "event": {}}]},
    ],
)
def test_who_does_not_say_hello_is_asked_to(
    folder: Path, capsys: pytest.CaptureFixture[str], hello: Message
) -> None:
    component = Component(on("nothing"))
    component.hello = hello
    assert run_batsim5(folder, [*P, *W], component)[0] == 134
    text = "Please fix your EDC so that it sends an EDCHello back to Batsim"
    assert text in capsys.readouterr().err


def test_a_component_may_stop_the_simulation(folder: Path) -> None:
    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        if event["event_type"] == "SimulationBeginsEvent":
            when = {"time": 11, "time_unit": "Second"}
            call = {"call_me_later_id": "end", "when_type": "OneShot", "when": when}
            return [("CallMeLaterEvent", call)]
        if event["event_type"] == "RequestedCallEvent":
            return [
                ("KillJobsEvent", {"job_ids": ["w0!2"]}),
                ("ForceSimulationStopEvent", {}, 12.0),
                ("RejectJobEvent", {"job_id": "w0!1"}, 12.0),
            ]
        return one_by_one(now, event)

    component = Component(decide)
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    # job 2 was killed at 11, job 1 had ended at 10
    assert [(row["job_id"], row["final_state"]) for row in rows()] == [
        ("1", "COMPLETED_SUCCESSFULLY"),
        ("2", "COMPLETED_KILLED"),
    ]
    assert component.messages[-1] == {
        "now": 12.0,
        "events": [{"timestamp": 12.0, "event_type": "SimulationEndsEvent", "event": {}}],
    }


def test_running_jobs_have_no_rows_when_the_simulation_is_stopped(folder: Path) -> None:
    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        is_second = event["event"].get("job_id") == "w0!2"
        if is_second:
            return [
                ("RejectJobEvent", {"job_id": "w0!2"}),
                ("ForceSimulationStopEvent", {}),
                ("KillJobsEvent", {"job_ids": ["w0!1"]}),
            ]
        return list(one_by_one(now, event))

    component = Component(decide)
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    # what was decided before is done, what would come behind is not
    assert [row["final_state"] for row in rows()] == ["REJECTED"]
    assert [one["event_type"] for one in component.messages[-1]["events"]] == [
        "SimulationEndsEvent"
    ]


@pytest.mark.parametrize("extra", ['{"hosts": "1-2"}', {"hosts": "1-2"}])
def test_extra_data_reaches_the_component_as_text(folder: Path, extra: Any) -> None:
    Path("w.json").write_text(workload(job(1, 0, 2, "d10", extra_data=extra)))

    def decide(now: float, event: Message) -> Decided:
        if event["event_type"] != "JobSubmittedEvent":
            return []
        wanted = json.loads(event["event"]["job"]["extra_data"])["hosts"]
        return [executed("w0!1", wanted)]

    assert run_batsim5(folder, [*P, *W], Component(decide))[0] == 0
    assert rows()[0]["allocated_resources"] == "1-2"


def custom(*mapping: int) -> dict[str, Any]:
    return {
        "executor_placement_type": "CustomExecutorToHostMapping",
        "executor_placement": {"mapping": list(mapping)},
    }


def strategy(name: str) -> dict[str, Any]:
    return {
        "executor_placement_type": "PredefinedExecutorPlacementStrategyWrapper",
        "executor_placement": {"strategy": name},
    }


@pytest.mark.parametrize(
    ("profile", "hosts", "placement", "seconds"),
    [
        ("rigid", "0-1", {}, 8),
        ("rigid", "0-1", custom(1, 0), 8),
        ("rigid", "0", {}, 12),  # both executors share the host
        ("rigid", "0-2", {}, 8),  # one host has nothing to do
        ("each", "0-1", custom(0, 0, 0), 18),
        ("each", "0-1", custom(0, 1, 0), 12),
        ("total", "0-2", custom(0, 1, 2), 4),  # three share what two would have
        ("each", "2", strategy("SpreadOverHostsFirst"), 12),
        ("each", "0-1", strategy("FillOneHostCoresFirst"), 6),
    ],
)
def test_executors_are_where_their_placement_says(
    folder: Path, profile: str, hosts: str, placement: dict[str, Any], seconds: float
) -> None:
    Path("w.json").write_text(workload(job(1, 0, 2, profile), **TASKS))
    component = Component(on("JobSubmittedEvent", executed("w0!1", hosts, **placement)))
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    assert float(rows()[0]["execution_time"]) == pytest.approx(seconds, rel=1e-5)


def test_parts_of_a_sequence_have_placements_of_their_own(folder: Path) -> None:
    Path("w.json").write_text(workload(job(1, 0, 2, "both"), **TASKS))
    kind, data = executed("w0!1", "0-1")
    # each: both executors on host 2, 12 s; total: 6 flops on hosts 0 and 1, 6 s
    data["profile_allocation_override"] = [
        {"profile_id": "w0!each", "host_allocation": "2", **custom(0, 0)}
    ]
    assert run_batsim5(folder, [*P, *W], Component(on("JobSubmittedEvent", (kind, data))))[0] == 0
    assert rows()[0]["execution_time"] == "18.000000"
    assert rows()[0]["allocated_resources"] == "0-2"


@pytest.mark.parametrize("mapping", [(0,), (0, 1, 1)])
def test_a_rigid_job_has_as_many_executors_as_it_asks_for(
    folder: Path, capsys: pytest.CaptureFixture[str], mapping: tuple[int, ...]
) -> None:
    Path("w.json").write_text(workload(job(1, 0, 2, "rigid"), **TASKS))
    component = Component(on("JobSubmittedEvent", executed("w0!1", "0-1", **custom(*mapping))))
    assert run_batsim5(folder, [*P, *W], component)[0] == 134
    assert "inconsistent placement for job=w0!1" in capsys.readouterr().err


def test_storages_have_the_names_that_profiles_use(folder: Path) -> None:
    kind = "ParallelTaskOnStorageHomogeneousProfile"
    profile = {"type": kind, "bytes_to_read": 10, "storage": "disk"}
    Path("w.json").write_text(workload(job(1, 0, 1, "io"), io=profile))
    component = Component(on("JobSubmittedEvent", executed("w0!1", "0")))
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    named, data = executed("w0!1", "0")
    data["storage_placement"] = [{"storage_name": "disk", "host_id": 1}]
    component = Component(on("JobSubmittedEvent", (named, data)))
    assert run_batsim5(folder, [*P, *W], component)[0] == 134


# Dynamic registration


def registered(job_id: str, profile: str = "dyn!p") -> list[tuple[str, Message]]:
    body = {"resource_request": 1, "walltime": 20.0, "profile_id": profile}
    return [("RegisterJobEvent", {"job_id": job_id, "job": body})]


PROFILE = (
    "RegisterProfileEvent",
    {"profile": {"id": "dyn!p", "profile_type": "DelayProfile", "profile": {"delay": 5.0}}},
)
FINISHED = ("FinishRegistrationEvent", {})


def test_registered_jobs_are_acknowledged_if_that_is_wanted(folder: Path) -> None:
    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        if event["event_type"] == "AllStaticJobsHaveBeenSubmittedEvent":
            return [PROFILE, *registered("dyn!j"), *registered("dyn!k", "w0!d10"), FINISHED]
        return list(one_by_one(now, event))

    features = {"dynamic_registration": True, "acknowledge_dynamic_jobs": True}
    component = Component(decide, **features, forward_profiles_on_job_submission=True)
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    told = [one["event"] for one in component.told("JobSubmittedEvent")]
    assert told[2:] == [
        {
            "job_id": "dyn!j",
            "job": {
                "resource_request": 1,
                "walltime": 20.0,
                "rigid": True,
                "profile_id": "dyn!p",
            },
            "submission_time": 3.0,
            "profile": {"id": "dyn!p", "profile_type": "DelayProfile", "profile": {"delay": 5.0}},
        },
        {
            "job_id": "dyn!k",
            "job": {
                "resource_request": 1,
                "walltime": 20.0,
                "rigid": True,
                "profile_id": "w0!d10",
            },
            "submission_time": 3.0,
            "profile": {"id": "w0!d10", "profile_type": "DelayProfile", "profile": {"delay": 10.0}},
        },
    ]
    names = [(row["workload_name"], row["job_id"], row["finish_time"]) for row in rows()]
    assert names[:2] == [("dyn", "j", "8.000000"), ("w0", "1", "10.000000")]


def test_without_acknowledgement_a_job_can_be_started_by_the_next_event(folder: Path) -> None:
    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        if event["event_type"] == "SimulationBeginsEvent":
            return [PROFILE, *registered("dyn!j"), executed("dyn!j", "2"), FINISHED]
        return list(one_by_one(now, event))

    component = Component(decide, dynamic_registration=True)
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    assert len(component.told("JobSubmittedEvent")) == 2
    assert [row["job_id"] for row in rows()] == ["j", "1", "2"]


@pytest.mark.parametrize(
    ("decided", "complaint"),
    [
        ([PROFILE, PROFILE], "profile_name: got 'p', which is taken"),
        ([PROFILE, *registered("dyn!j"), *registered("dyn!j")], "got 'dyn!j', which is taken"),
        (registered("w0!1", "w0!d10"), "got 'w0!1', which is taken"),
        (registered("dyn!j"), "profile: got 'p'"),
        ([FINISHED, PROFILE], "got it after FinishRegistrationEvent"),
    ],
)
def test_what_cannot_be_registered_is_refused(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    decided: list[tuple[str, Message]],
    complaint: str,
) -> None:
    component = Component(on("SimulationBeginsEvent", *decided), dynamic_registration=True)
    assert run_batsim5(folder, [*P, *W], component)[0] == 134
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(("reuse", "code"), [(True, 0), (False, 134)])
def test_a_profile_is_forgotten_with_its_first_job_unless_it_is_reused(
    folder: Path, reuse: bool, code: int
) -> None:
    Path("w.json").write_text(workload(job(1, 0, 1, "d10")))

    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        if event["event_type"] == "JobCompletedEvent" and event["event"]["job_id"] == "w0!1":
            return [*registered("dyn!j", "w0!d10"), executed("dyn!j", "0"), FINISHED]
        return list(one_by_one(now, event))

    component = Component(decide, dynamic_registration=True, profile_reuse=reuse)
    assert run_batsim5(folder, [*P, *W], component)[0] == code


# External events, kills


def test_external_events_are_forwarded_with_their_dates(folder: Path) -> None:
    for name, date in (("e1.txt", 10), ("e2.txt", 15)):
        lines = [{"type": "generic", "timestamp": date * k, "data": f"{name} {k}"} for k in (2, 1)]
        Path(name).write_text("\n".join(map(json.dumps, lines)))
    component = Component(one_by_one)
    assert run_batsim5(folder, [*P, *W, "--ee", "e1.txt", "e2.txt"], component)[0] == 0
    told = component.told("ExternalEventOccurredEvent")
    assert [(one["timestamp"], one["event"]["id"]) for one in told] == [
        (10.0, "ee0!1"),
        (15.0, "ee1!1"),
        (20.0, "ee0!0"),
        (30.0, "ee1!0"),
    ]
    assert told[0]["event"] == {
        "id": "ee0!1",
        "external_event_type": "GenericExternalEvent",
        "external_event": {"data": "e1.txt 1"},
    }
    assert len(component.told("AllStaticExternalEventsHaveBeenInjectedEvent")) == 1


@pytest.mark.parametrize(
    ("delay", "state", "seconds"),
    [
        (0.0, "COMPLETED_KILLED", "0.000010"),
        (1e-10, "COMPLETED_KILLED", "0.000000"),
        (1.0, "COMPLETED_KILLED", "1.000000"),
        (100.0, "COMPLETED_SUCCESSFULLY", "10.000000"),
    ],
)
def test_a_job_can_be_killed_by_the_reply_that_starts_it(
    folder: Path, delay: float, state: str, seconds: str
) -> None:
    Path("w.json").write_text(workload(job(1, 0, 1, "d10")))
    decided = executed("w0!1", "0"), ("KillJobsEvent", {"job_ids": ["w0!1"]}, delay)
    component = Component(on("JobSubmittedEvent", *decided))
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    assert (rows()[0]["final_state"], rows()[0]["execution_time"]) == (state, seconds)
    (killed,) = component.told("JobsKilledEvent")
    assert killed["event"]["job_ids"] == ["w0!1"]


def test_a_killed_sequence_tells_how_far_it_had_come(folder: Path) -> None:
    profiles: dict[str, Any] = {
        "nap": {"type": "DelayProfile", "delay": 4},
        "twice": {"type": "SequentialCompositionProfile", "repeat": 3, "seq": ["nap", "nap"]},
    }
    Path("w.json").write_text(workload(job(1, 0, 1, "twice"), **profiles))
    # at 14 of 6 naps three are over, and the fourth is half done: the second of the second round
    decided = executed("w0!1", "0"), ("KillJobsEvent", {"job_ids": ["w0!1"]}, 14.0)
    component = Component(on("JobSubmittedEvent", *decided), forward_profiles_on_jobs_killed=True)
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    (killed,) = component.told("JobsKilledEvent")
    (progress,) = killed["event"]["progresses"]
    assert progress == {
        "job_id": "w0!1",
        "wrapper": {
            "kill_progress_type": "KillProgressSequentialProfile",
            "kill_progress": {
                "profile_id": "w0!twice",
                "current_repetition": 1,
                "current_task_index": 1,
                "current_task_progress": {
                    "kill_progress_type": "KillProgressAtomicProfile",
                    "kill_progress": {"profile_id": "w0!nap", "progress": 0.5},
                },
            },
        },
    }
    assert [one["id"] for one in killed["event"]["profiles"]] == ["w0!twice"]
