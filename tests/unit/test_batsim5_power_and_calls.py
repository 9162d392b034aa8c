"""Runs of `noctule batsim5`: hosts that sleep, calls and probes, and rules that are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from batsim5_runs import (
    TASKS,
    Component,
    Decided,
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
from batsim_runs import PLATFORM, job, workload

pytest.importorskip("zmq")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_inputs()
    return tmp_path


# Power


def turned(hosts: str, state: int) -> tuple[str, Message]:
    return "TurnOnOffHostsEvent", {"host_ids": hosts, "state": state}


GREEN = ("-p", "green.xml", "-w", "w.json")


def test_hosts_sleep_and_wake_without_counting_energy(folder: Path) -> None:
    Path("w.json").write_text(workload(job(1, 30, 1, "d10")))

    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        match event["event_type"]:
            case "SimulationBeginsEvent":
                return [turned("0-1", 1)]
            case "HostsTurnedOnOffEvent" if event["event"]["state"] == 1:
                return [turned("0-1", 0)]
            case _:
                return list(one_by_one(now, event))

    component = Component(decide)
    words = [*GREEN, "--trace-machine-state", "--trace-pstate-changes"]
    assert run_batsim5(folder, words, component)[0] == 0
    # off takes 5 s, on 10 s
    assert [
        (one["timestamp"], one["event"]) for one in component.told("HostsTurnedOnOffEvent")
    ] == [
        (5.0, {"host_ids": "0-1", "state": 1}),
        (15.0, {"host_ids": "0-1", "state": 0}),
    ]
    assert [tuple(row.values()) for row in rows("pstate_changes.csv")] == [
        ("0", "0-3", "0"),
        ("0", "0-1", "-2"),
        ("5", "0-1", "1"),
        ("5", "0-1", "-1"),
        ("15", "0-1", "0"),
    ]
    summary = json.loads(Path("out/schedule.json").read_text())
    assert (summary["nb_grouped_switches"], summary["nb_machine_switches"]) == (2, 4)
    assert (summary["time_switching_off"], summary["time_switching_on"]) == (10.0, 20.0)
    assert rows("machine_states.csv")[0] == {
        "time": "0",
        "nb_sleeping": "0",
        "nb_switching_on": "0",
        "nb_switching_off": "2",
        "nb_idle": "2",
        "nb_computing": "0",
    }


def test_a_change_of_speed_is_acknowledged_in_the_next_message(folder: Path) -> None:
    speeds = PLATFORM.replace(' speed="1f"', ' speed="1f,2f"')
    Path("p.xml").write_text(speeds)
    Path("w.json").write_text(workload(job(1, 0, 1, "each"), **TASKS))
    change = ("ChangeHostsPStateEvent", {"host_ids": "0", "pstate": 1})
    component = Component(on("JobSubmittedEvent", change, executed("w0!1", "0")))
    assert run_batsim5(folder, [*P, *W, "--trace-pstate-changes"], component)[0] == 0
    assert rows()[0]["execution_time"] == "3.000000"
    (changed,) = component.told("HostsPStateChangedEvent")
    assert changed == {
        "timestamp": 0.0,
        "event_type": "HostsPStateChangedEvent",
        "event": {"host_ids": "0", "pstate": 1},
    }
    assert [row["new_pstate"] for row in rows("pstate_changes.csv")] == ["0", "1"]
    assert json.loads(Path("out/schedule.json").read_text())["nb_grouped_switches"] == 0


@pytest.mark.parametrize(
    ("decided", "complaint"),
    [
        ([turned("0", 0)], "Asked to turn ON a host already in a computing pstate"),
        (
            [executed("w0!1", "0"), turned("0", 1)],
            "jobs are running on machine",
        ),
        (
            [turned("0", 1), executed("w0!1", "0")],
            "cannot compute jobs now (the machine is not computing nor idle",
        ),
        (
            [("ChangeHostsPStateEvent", {"host_ids": "0", "pstate": 1})],
            "expected one in which it computes",
        ),
        ([turned("0", 9)], "has the power states 0-3, not 9"),
        ([turned("9", 1)], "expected ids below 4"),
    ],
)
def test_what_hosts_cannot_do_is_refused_in_batsims_words(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    decided: list[tuple[str, Message]],
    complaint: str,
) -> None:
    Path("w.json").write_text(workload(job(1, 0, 1, "d10")))
    component = Component(on("JobSubmittedEvent", *decided))
    assert run_batsim5(folder, [*GREEN], component)[0] == 134
    assert complaint in capsys.readouterr().err


def test_a_host_that_sleeps_is_not_turned_off(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def decide(now: float, event: Message) -> Decided:
        kinds = ("SimulationBeginsEvent", "HostsTurnedOnOffEvent")
        return [turned("0", 1)] if event["event_type"] in kinds else []

    assert run_batsim5(folder, [*GREEN], Component(decide))[0] == 134
    assert "Asked to turn OFF a host already in a sleep pstate" in capsys.readouterr().err


# Calls and probes


def called(name: str, period: int, n: int | None = None, unit: str = "Second") -> tuple[Any, ...]:
    mode: Message = {"mode_type": "Infinite", "mode": {}}
    if n is not None:
        mode = {"mode_type": "FinitePeriodNumber", "mode": {"nb_periods": n}}
    when = {"period": period, "time_unit": unit, **mode}
    data = {"call_me_later_id": name, "when_type": "Periodic", "when": when}
    return "CallMeLaterEvent", data


def calls_of(component: Component) -> list[tuple[float, list[tuple[str, bool]]]]:
    """Dates of messages with calls, and the calls of each with whether they are the last."""
    found = []
    for message in component.messages:
        told = [
            (one["event"]["call_me_later_id"], one["event"]["last_periodic_call"])
            for one in message["events"]
            if one["event_type"] == "RequestedCallEvent"
        ]
        if told:
            found.append((message["now"], told))
    return found


def test_periodic_calls_that_are_due_together_come_together(folder: Path) -> None:
    decided = called("a", 500, 5, "Millisecond"), called("b", 1, 2)
    component = Component(on("SimulationBeginsEvent", *decided))
    assert run_batsim5(folder, [*P], component)[0] == 0
    assert calls_of(component) == [
        (0.5, [("a", False)]),
        (1.0, [("a", False), ("b", False)]),
        (1.5, [("a", False)]),
        (2.0, [("a", False), ("b", True)]),
        (2.5, [("a", True)]),
    ]


def test_periods_are_counted_from_the_beginning_of_time(folder: Path) -> None:
    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        if event["event_type"] == "JobSubmittedEvent" and event["event"]["job_id"] == "w0!2":
            return [called("a", 2), *one_by_one(now, event)]
        if event["event_type"] == "RequestedCallEvent" and now == 8:
            return [("StopCallMeLaterEvent", {"call_me_later_id": "a"})]
        return list(one_by_one(now, event))

    component = Component(decide)
    assert run_batsim5(folder, [*P, *W], component)[0] == 0
    # asked for at 3
    assert [date for date, _ in calls_of(component)] == [4.0, 6.0, 8.0]
    assert component.messages[-1]["now"] == 13.0


def test_one_shots_come_at_their_dates_and_those_of_the_past_at_once(folder: Path) -> None:
    def once(name: str, time: int, unit: str = "Second") -> tuple[str, Message]:
        when = {"time": time, "time_unit": unit}
        return "CallMeLaterEvent", {"call_me_later_id": name, "when_type": "OneShot", "when": when}

    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        if event["event_type"] == "SimulationBeginsEvent":
            return [once("a", 60), once("b", 1500, "Millisecond")]
        if event["event"].get("call_me_later_id") == "b":
            return [once("c", 1)]
        return []

    component = Component(decide)
    assert run_batsim5(folder, [*P], component)[0] == 0
    assert calls_of(component) == [
        (1.5, [("b", False)]),
        (1.5, [("c", False)]),
        (60.0, [("a", False)]),
    ]


def probe(name: str, aggregation: str, period: int = 5) -> tuple[str, Message]:
    when = {"period": period, "time_unit": "Second", "mode_type": "Infinite", "mode": {}}
    return "CreateProbeEvent", {
        "probe_id": name,
        "metrics": "Power",
        "resources_type": "HostResources",
        "resources": {"host_ids": "0-1"},
        "measurement_triggering_policy_type": "TemporalTriggerWrapper",
        "measurement_triggering_policy": {
            "temporal_trigger_type": "Periodic",
            "temporal_trigger": when,
        },
        "data_accumulation_strategy_type": "ProbeDataAccumulation",
        "data_accumulation_strategy": {"reset_mode_type": "NoReset", "reset_mode": {}},
        "resources_aggregation_function_type": aggregation,
        "resources_aggregation_function": {},
    }


def test_probes_measure_the_energy_of_hosts(folder: Path) -> None:
    Path("w.json").write_text(workload(job(1, 0, 1, "each"), **TASKS))

    def decide(now: float, event: Message) -> list[tuple[Any, ...]]:
        if event["event_type"] == "SimulationBeginsEvent":
            return [
                probe("each", "NoResourcesAggregation"),
                probe("sum", "Sum"),
                probe("mean", "ArithmeticMean"),
            ]
        if event["event_type"] == "ProbeDataEmittedEvent":
            return [("StopProbeEvent", {"probe_id": event["event"]["probe_id"]})]
        return list(one_by_one(now, event))

    component = Component(decide)
    assert run_batsim5(folder, [*GREEN, "--energy-host"], component)[0] == 0
    told = [one["event"] for one in component.told("ProbeDataEmittedEvent")]
    # host 0 computes for 6 s at 200 W, then idles at 100 W, as host 1 does; 5 s only begin
    assert [(one["probe_id"], one["data_type"], one["data"]["data"]) for one in told] == [
        ("each", "VectorialProbeData", [1600.0, 1000.0]),
        ("sum", "AggregatedProbeData", 2600.0),
        ("mean", "AggregatedProbeData", 1300.0),
    ]
    assert component.messages[-1]["now"] == 10.0
    assert Path("out/consumed_energy.csv").exists()


@pytest.mark.parametrize(
    ("decided", "complaint"),
    [
        ([called("a", 4), called("b", 6)], "expected one to be a multiple of the other"),
        ([called("a", 4), called("a", 4)], "call_me_later_id: got 'a', which is still to come"),
        ([called("a", 0)], "when.period: got 0, expected a positive number"),
        ([called("a", 1, 0)], "when.mode.nb_periods: got 0, expected at least 1"),
        ([called("a", 1, None, "Week")], "got the unit 'Week', expected Second or Millisecond"),
        ([("StopCallMeLaterEvent", {"call_me_later_id": "a"})], "expected one that is still"),
        ([probe("p", "Sum")], "got it without --energy-host"),
        ([("TriggerProbeEvent", {"probe_id": "p"})], "that Batsim 5 does not handle"),
        ([("EDCHelloEvent", {"requested_simulation_features": {}})], "got a second hello"),
        ([executed("w0!9", "0")], "got 'w0!9', which nobody knows"),
        ([executed("w0!2", "0")], "got 'w0!2', which has not been submitted"),
    ],
)
def test_what_breaks_a_rule_is_said(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    decided: list[tuple[Any, ...]],
    complaint: str,
) -> None:
    component = Component(on("SimulationBeginsEvent", *decided))
    assert run_batsim5(folder, [*P, *W], component)[0] == 134
    assert complaint in capsys.readouterr().err


def test_dates_of_a_reply_may_not_run_backwards(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decided = ("FinishRegistrationEvent", {}, 5.0), ("FinishRegistrationEvent", {}, 4.0)
    component = Component(on("SimulationBeginsEvent", *decided))
    assert run_batsim5(folder, [*P, *W], component)[0] == 134
    assert "events[1].timestamp: got 4, expected a date from 5" in capsys.readouterr().err
