"""Replies of a Batsim 4 scheduler to build, and a reader that knows some jobs."""

from __future__ import annotations

import json
from typing import Any

from noctule import Platform
from noctule.platform import Host, HostKind, Hosts, Role
from noctule.remote.batsim4_replies import ReplyReader
from noctule.remote.batsim4_writing import BatsimSetup
from noctule.remote.batsim_registry import Registry
from noctule.remote.batsim_workload import BatsimWorkload

PROFILES: dict[str, Any] = {
    "nap": {"type": "delay", "delay": 12.5},
    "pair": {"type": "parallel", "cpu": [4, 2], "com": [0, 1, 3, 0]},
    "each": {"type": "parallel_homogeneous", "cpu": 10, "com": 5},
    "total": {"type": "parallel_homogeneous_total", "cpu": 8, "com": 0},
    "loop": {"type": "composed", "repeat": 3, "seq": ["pair", "each"]},
}
JOBS = {
    "w0!a": {"id": "a", "subtime": 0, "res": 2, "profile": "pair"},
    "w0!b": {"id": "b", "subtime": 0, "res": 2, "profile": "loop"},
    "w0!c": {"id": "c", "subtime": 0, "res": 1, "profile": "nap"},
    "w0!later": {"id": "later", "subtime": 99, "res": 1, "profile": "nap"},
}


def a_setup(**options: Any) -> BatsimSetup:
    kind = HostKind()
    storage = HostKind(role=Role.STORAGE)
    platform = Platform(
        Hosts.alike(["h0", "h1", "h2", "h3"], kind), storages=(Host(4, "nas", storage),)
    )
    options = {"dynamic_jobs": True, "energy": True, **options}
    workload = BatsimWorkload("w0", "/data/w.json", JOBS, PROFILES)
    return BatsimSetup(platform=platform, workloads=[workload], **options)


def a_reader(**options: Any) -> ReplyReader:
    """A reader whose scheduler knows the jobs a, b and c."""
    setup = a_setup(**options)
    registry = Registry(setup.workloads, keeps_names=setup.reuse_profiles or not setup.dynamic_jobs)
    reader = ReplyReader(setup, registry, [])
    for job_id in ("w0!a", "w0!b", "w0!c"):
        registry.tell(job_id)
        reader.jobs[job_id] = job_id
    return reader


def a_reply(*events: tuple[float, str, dict[str, Any]], now: float | None = None) -> bytes:
    told = [{"timestamp": t, "type": kind, "data": data} for t, kind, data in events]
    latest = max((t for t, _, _ in events), default=10.0)
    return json.dumps({"now": latest if now is None else now, "events": told}).encode()
