"""Small experiments of Batsim, and a scheduler for them that sits at the other end of a socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from noctule.commands.batsim import main
from noctule.remote.endpoint import Answering

Fields = Mapping[str, Any]
Message = dict[str, Any]

# Hosts compute one flop a second; there are no links, so that messages take no time.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Vivaldi">
    <host id="a10" speed="1f" coordinates="0 0 0"/>
    <host id="a2" speed="1f" coordinates="0 0 0"/>
    <host id="a1" speed="1f" coordinates="0 0 0"/>
    <host id="disk" speed="0f" coordinates="0 0 0"><prop id="role" value="storage"/></host>
    <host id="master_host" speed="1f" coordinates="0 0 0"/>
  </zone>
</platform>
"""
WATTS = '<prop id="wattage_per_state" value="100:200, 10:10, 50:50, 60:60"/>'
STATES = '<prop id="sleep_pstates" value="1:2:3"/>'
# Switching off takes 5 s, and on 10 s.
GREEN_PLATFORM = (
    PLATFORM.replace(' speed="1f"', ' speed="1f,1f,0.2f,0.1f"')
    .replace('0 0 0"/>', f'0 0 0">{WATTS}{STATES}</host>')
    .replace("storage", "compute_node")
    .replace('"0f"', '"1f,1f,0.2f,0.1f"')
    .replace('</host>\n    <host id="master', f'{WATTS}{STATES}</host>\n    <host id="master')
)


def workload(*jobs: Fields, nb_res: int = 2, **profiles: Fields) -> str:
    """Write a workload; `d5` is a delay of 5 s, and so on."""
    named = {str(job["profile"]) for job in jobs}
    delays = {
        name: {"type": "delay", "delay": float(name[1:])}
        for name in sorted(named - profiles.keys())
    }
    return json.dumps({"nb_res": nb_res, "jobs": jobs, "profiles": {**delays, **profiles}})


def job(job_id: int | str, subtime: float, res: int, profile: str, **others: Any) -> Fields:
    return {"id": job_id, "subtime": subtime, "res": res, "profile": profile, **others}


class Fcfs:
    """Starts jobs in their order, each on the first free hosts."""

    def __init__(self) -> None:
        self.requests: list[Message] = []
        self.free: set[int] = set()
        self.queue: list[Fields] = []
        self.held: dict[str, list[int]] = {}

    @property
    def events(self) -> list[Message]:
        """All that it was told."""
        return [event for request in self.requests for event in request["events"]]

    def told(self, kind: str) -> list[Message]:
        return [event for event in self.events if event["type"] == kind]

    def reply(self, request: Message) -> Message:
        self.requests.append(request)
        decided: list[Message] = []
        for event in request["events"]:
            decided += self.see(event)
        now = request["now"]
        decided += self.starts()
        return {"now": now, "events": [{"timestamp": now, **one} for one in decided]}

    def see(self, event: Message) -> list[Message]:
        data = event["data"]
        if event["type"] == "SIMULATION_BEGINS":
            self.free = {host["id"] for host in data["compute_resources"]}
        elif event["type"] == "JOB_SUBMITTED":
            self.queue.append(data["job"])
        elif event["type"] == "JOB_COMPLETED":
            self.free.update(self.held.pop(data["job_id"]))
        return []

    def starts(self) -> list[Message]:
        decided = []
        while self.queue and self.queue[0]["res"] <= len(self.free):
            first = self.queue.pop(0)
            hosts = sorted(self.free)[: first["res"]]
            self.free.difference_update(hosts)
            self.held[first["id"]] = hosts
            alloc = " ".join(map(str, hosts))
            decided.append({"type": "EXECUTE_JOB", "data": {"job_id": first["id"], "alloc": alloc}})
        return decided


Reply = Callable[[Message], Message | bytes]


def serve(endpoint: str, reply: Reply) -> None:
    """Answer until the simulation has ended, or nothing comes any more."""
    with Answering(endpoint, timeout=60) as answering:
        while True:
            request = json.loads(answering.receive())
            answer = reply(request)
            answering.reply(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
            if request["events"][-1]["type"] == "SIMULATION_ENDS" or isinstance(answer, bytes):
                return


def run_batsim(folder: Path, words: Sequence[str], reply: Reply) -> int:
    """Run the command in a folder, whose files are `out_...`, with a scheduler."""
    endpoint = f"ipc://{folder}/socket"
    thread = threading.Thread(target=serve, args=(endpoint, reply))
    thread.start()
    try:
        return main(["-s", endpoint, "-e", f"{folder}/out", "--timeout", "20", *words])
    finally:
        thread.join()
