"""Requests that Batsim 4 once made, answered by served policies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded_run import Recording

from noctule.messages import StartJob
from noctule.remote.serving import PolicyServer, make_served

# Recorded schedulers that decide as one of our policies does, to the last reply.
SAME = {
    "tiny_fcfs_various": "fcfs",
    "tiny_filler_delays": "filler",
    "tiny_filler_samesubmit": "filler",
    "tiny_filler_seqdelay": "filler",
    "tiny_filler_smpi_collectives": "filler",
    "tiny_filler_various": "filler",
    "tiny_stencil": "filler",
    "tiny_usage_trace": "filler",
    "tiny_walltime": "filler",
}


def exchanges(shared: Path, name: str) -> Iterator[tuple[bytes, Any]]:
    """Yield requests as they were written, each with its reply."""
    folder = shared / "vectors" / "batsim"
    if not (folder / "v4" / name).is_dir():
        pytest.skip(f"no recording {name} in {folder}")
    text = Recording(folder / "v4" / name, folder / "inputs").text("protocol.jsonl") or ""
    said = [json.loads(line)["raw"] for line in text.splitlines()]
    for request, reply in zip(said[0::2], said[1::2], strict=False):
        yield request.encode(), json.loads(reply)


@pytest.mark.parametrize("name", SAME)
def test_batsim_gets_the_replies_that_it_got_from_a_scheduler_of_that_kind(shared: Path, name: str):
    server = PolicyServer(make_served(SAME[name]))
    for request, reply in exchanges(shared, name):
        assert json.loads(server.answer(request)) == reply
    assert server.ended


class Repeating:
    """Starts jobs on the hosts on which they ran, so that the rest of the requests fits."""

    def __init__(self) -> None:
        self.hosts: dict[str, str] = {}

    def decide(self, view, events):
        for job in view.waiting:
            if job.id in self.hosts:
                yield StartJob(job, self.hosts.pop(job.id))


@pytest.mark.parametrize(
    "name",
    [
        "tiny_energy",
        "tiny_kill",
        "tiny_events",
        "tiny_events_generic",
        "tiny_jobmsg",
        "tiny_sharing",
        "py_easy_various",
        "py_fillerEvents_events",
        "bs_idle_sleeper_energy_notopo_load50",
    ],
)
def test_whatever_batsim_told_is_understood(shared: Path, name: str):
    policy = Repeating()
    server = PolicyServer(policy)
    n_events = 0
    for request, reply in exchanges(shared, name):
        started = [event["data"] for event in reply["events"] if event["type"] == "EXECUTE_JOB"]
        if any("mapping" in one or "additional_io_job" in one for one in started):
            pytest.skip("the recorded scheduler laid its jobs out otherwise")
        policy.hosts.update({one["job_id"]: one["alloc"] for one in started})
        server.answer(request)
        n_events += len(json.loads(request)["events"])
    assert server.ended
    assert n_events > 5
