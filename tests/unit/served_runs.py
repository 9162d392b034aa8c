"""Requests as a simulator would write them, and policies that do as they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from noctule import View
from noctule.messages import Decision, Event
from noctule.remote.serving import PolicyServer

Told = dict[str, Any]
Turn = Callable[[View, Sequence[Event]], Iterable[Decision] | None]

CONFIG = {
    "redis-enabled": False,
    "dynamic-jobs-enabled": False,
    "dynamic-jobs-acknowledged": False,
    "profile-reuse-enabled": False,
}
POWER = {"wattage_per_state": "95:190, 90:170, 10:10, 100:100, 120:120", "sleep_pstates": "2:3:4"}


def told(kind: str, time: float = 0, **data: Any) -> Told:
    return {"timestamp": time, "type": kind, "data": data}


def beginning(
    hosts: int = 4,
    *,
    storages: int = 0,
    properties: dict[str, str] | None = None,
    shared: bool = False,
    profiles: dict[str, Any] | None = None,
    **config: Any,
) -> Told:
    """The event that begins a simulation; `config` has _ in place of -."""
    resources = [
        {"id": i, "name": f"h{i}", "state": "idle", "properties": properties or {"role": ""}}
        for i in range(hosts + storages)
    ]
    return told(
        "SIMULATION_BEGINS",
        nb_resources=hosts + storages,
        nb_compute_resources=hosts,
        nb_storage_resources=storages,
        allow_compute_sharing=shared,
        allow_storage_sharing=True,
        config=CONFIG | {key.replace("_", "-"): value for key, value in config.items()},
        compute_resources=resources[:hosts],
        storage_resources=resources[hosts:],
        workloads={"w0": "w0.json"},
        profiles={"w0": profiles or {}},
    )


def submitted(job_id: str, time: float = 0, *, hosts: int = 1, **fields: Any) -> Told:
    job = {"id": job_id, "subtime": time, "res": hosts, "profile": "p", **fields}
    return told("JOB_SUBMITTED", time, job_id=job_id, job=job)


def completed(job_id: str, time: float, state: str = "COMPLETED_SUCCESSFULLY") -> Told:
    return told("JOB_COMPLETED", time, job_id=job_id, job_state=state, return_code=0, alloc="0")


def request(now: float, *events: Told) -> bytes:
    return json.dumps({"now": now, "events": events}).encode()


class Script:
    """Takes its turns one after the other, then does nothing; keeps what it was told."""

    def __init__(self, *turns: Turn) -> None:
        self._turns = list(turns)
        self.events: list[list[Event]] = []
        self.view: View | None = None

    def decide(self, view: View, events: Sequence[Event]) -> Iterable[Decision] | None:
        self.view = view
        self.events.append(list(events))
        return self._turns.pop(0)(view, events) if self._turns else None


class Exchange:
    """A policy that is served, and the simulator that asks it."""

    def __init__(self, policy: Any, begin: Told | None = None, **options: Any) -> None:
        self.policy = policy
        self.server = PolicyServer(policy, **options)
        self.first = self.ask(0, begin or beginning())

    def ask(self, now: float, *events: Told) -> list[tuple[float, str, Told]]:
        """Return what is replied, as (date, type, data)."""
        reply = json.loads(self.server.answer(request(now, *events)))
        self.ready = reply["now"]
        return [(one["timestamp"], one["type"], one["data"]) for one in reply["events"]]
