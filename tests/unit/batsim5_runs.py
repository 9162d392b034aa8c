"""Small experiments of Batsim 5, and decision components for them."""

from __future__ import annotations

import csv
import json
import struct
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from batsim_runs import GREEN_PLATFORM, PLATFORM, job, workload

from noctule.commands.batsim5 import main
from noctule.remote.endpoint import Answering

P, W = ("-p", "p.xml"), ("-w", "w.json")
Message = dict[str, Any]
Decided = list[tuple[str, Message]]


def write_inputs() -> None:
    """Write two platforms, of which one can sleep, and a workload of two jobs."""
    Path("p.xml").write_text(PLATFORM)
    Path("green.xml").write_text(GREEN_PLATFORM)
    Path("w.json").write_text(workload(job(1, 0, 1, "d10"), job(2, 3, 2, "d10", walltime=100)))


def a_hello(**features: bool) -> Message:
    data = {
        "batprotocol_version": "0.1.0",
        "decision_component_name": "mine",
        "decision_component_version": "1.0",
        "decision_component_commit": "none",
        "requested_simulation_features": features,
    }
    event = {"timestamp": 0.0, "event_type": "EDCHelloEvent", "event": data}
    return {"now": 0.0, "events": [event]}


class Component:
    """Keeps what it is told, and decides what a function of an event says.

    The function gives pairs of an event's type and its data; a third entry is a later date.
    """

    def __init__(
        self, decide: Callable[[float, Message], Sequence[tuple[Any, ...]]], **features: bool
    ) -> None:
        self.decide = decide
        self.hello = a_hello(**features)
        self.messages: list[Message] = []

    def reply(self, message: Message) -> Message:
        self.messages.append(message)
        now = message["now"]
        events = []
        for event in message["events"]:
            for kind, data, *date in self.decide(now, event):
                time = date[0] if date else now
                events.append({"timestamp": time, "event_type": kind, "event": data})
        return {"now": max([now, *(one["timestamp"] for one in events)]), "events": events}

    def told(self, kind: str) -> list[Message]:
        events = [event for message in self.messages for event in message["events"]]
        return [event for event in events if event["event_type"] == kind]


def executed(job_id: str, hosts: str, **placement: Any) -> tuple[str, Message]:
    return "ExecuteJobEvent", {
        "job_id": job_id,
        "allocation": {"host_allocation": hosts, **placement},
    }


def rows(name: str = "jobs.csv") -> list[dict[str, str]]:
    with Path("out", name).open(newline="") as file:
        return list(csv.DictReader(file))


def on(kind: str, *decided: tuple[Any, ...]) -> Callable[[float, Message], list[tuple[Any, ...]]]:
    """Decide something when an event of a type comes."""
    return lambda _, event: list(decided) if event["event_type"] == kind else []


def one_by_one(now: float, event: Message) -> Decided:
    if event["event_type"] != "JobSubmittedEvent":
        return []
    data = event["event"]
    return [executed(data["job_id"], f"0-{data['job']['resource_request'] - 1}")]


TASKS = {
    "rigid": {"type": "ParallelTaskProfile", "cpu": [4, 8], "com": [0, 0, 0, 0]},
    "total": {
        "type": "ParallelTaskHomogeneousProfile",
        "cpu": 12,
        "com": 0,
        "generation_strategy": "DefinedAmountsSpreadUniformly",
    },
    "each": {"type": "ParallelTaskHomogeneousProfile", "cpu": 6, "com": 0},
    "both": {"type": "SequentialCompositionProfile", "seq": ["each", "w0!total"]},
}


class Fcfs(Component):
    """Starts jobs in their order, each on the first free hosts; rejects those that never fit."""

    def __init__(self, **features: bool) -> None:
        super().__init__(self.see, **features)
        self.n_hosts = 0
        self.free: set[int] = set()
        self.queue: list[tuple[str, int]] = []
        self.held: dict[str, list[int]] = {}

    def see(self, now: float, event: Message) -> Decided:
        data = event["event"]
        if event["event_type"] == "SimulationBeginsEvent":
            self.n_hosts = data["computation_host_number"]
            self.free = set(range(self.n_hosts))
        elif event["event_type"] == "JobSubmittedEvent":
            self.queue.append((data["job_id"], data["job"]["resource_request"]))
        elif event["event_type"] == "JobCompletedEvent":
            self.free.update(self.held.pop(data["job_id"]))
        decided: Decided = []
        while self.queue and (
            self.queue[0][1] <= len(self.free) or self.queue[0][1] > self.n_hosts
        ):
            job_id, n = self.queue.pop(0)
            if n > self.n_hosts:
                decided.append(("RejectJobEvent", {"job_id": job_id}))
                continue
            hosts = sorted(self.free)[:n]
            self.free.difference_update(hosts)
            self.held[job_id] = hosts
            decided.append(executed(job_id, " ".join(map(str, hosts))))
        return decided


def serve(endpoint: str, component: Component, seen: list[bytes]) -> None:
    """Shake hands, then answer until the simulation has ended."""
    with Answering(endpoint, timeout=60) as answering:
        seen.append(answering.receive())
        answering.reply(struct.pack("=I", 2) + json.dumps(component.hello).encode())
        while True:
            frame = answering.receive()
            seen.append(frame)
            message = json.loads(frame.removesuffix(b"\0"))
            answering.reply(json.dumps(component.reply(message)).encode())
            if message["events"][-1]["event_type"] == "SimulationEndsEvent":
                return


def run_batsim5(
    folder: Path, words: Sequence[str], component: Component, init: str = ""
) -> tuple[int, list[bytes]]:
    """Run the command in a folder, whose files are in `out`, with a component in a thread."""
    endpoint = f"ipc://{folder}/socket"
    seen: list[bytes] = []

    def quiet_serve() -> None:
        try:
            serve(endpoint, component, seen)
        except Exception as error:
            seen.append(repr(error).encode())

    thread = threading.Thread(target=quiet_serve)
    thread.start()
    try:
        own = ["-s", endpoint, init, "-e", f"{folder}/out/", "--timeout", "20", "-q"]
        return main([*own, *words]), seen
    finally:
        thread.join()
