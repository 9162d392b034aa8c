"""Whatever a scheduler of protocol 4 replies: the run comes to its end, or says why not."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from more_examples import times_as_many

import noctule as nt
from noctule.errors import NoctuleError
from noctule.formats.batsim import read_batsim_file
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, BatsimWorkload

PROFILES: dict[str, Any] = {
    "nap": {"type": "delay", "delay": 3},
    "bad": {"type": "delay", "delay": 2, "ret": 4},
    "work": {"type": "parallel_homogeneous", "cpu": 5, "com": 0},
    "total": {"type": "parallel_homogeneous_total", "cpu": 8, "com": 0},
    "pair": {"type": "parallel", "cpu": [4, 2], "com": [0, 0, 0, 0]},
    "loop": {"type": "composed", "repeat": 2, "seq": ["nap", "work"]},
    "say": {"type": "send", "msg": {"a": 1.5}},
    "hear": {"type": "recv", "regex": "go", "success": "nap", "failure": "bad", "polltime": 1},
}
NAMES = list(PROFILES)
JOBS = [
    {
        "id": name,
        "subtime": i % 3,
        "res": 2 if name == "pair" else 1,
        "profile": name,
        "walltime": 20,
    }
    for i, name in enumerate(NAMES)
]
CLUSTER = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="world" routing="Full">
  <cluster id="c" prefix="h" suffix="" radical="0-5" speed="1f,2f,1f,1f,1f" bw="1GBps" lat="1ms">
    <prop id="wattage_per_state" value="90:200, 95:250, 10:10, 100:100, 120:120"/>
    <prop id="wattage_off" value="10"/>
    <prop id="sleep_pstates" value="2:3:4"/>
  </cluster>
</zone></platform>
"""
HOSTS_OF = {"w0!pair": "0-1"}
# Numbers of jobs among those that the scheduler knows.
job_ids = st.integers(0, 30)
hosts = st.sampled_from(["0", "1", "2-3", "0-3", "3-4", "4"])
delays = st.sampled_from([0.0, 0.0, 0.0, 0.5, 3.0])
data: dict[str, Any] = {
    "EXECUTE_JOB": st.fixed_dictionaries(
        {"job_id": job_ids, "alloc": hosts},
        optional={
            "mapping": st.sampled_from([{"0": 0}, {"0": 0, "1": 0}, {"0": 1, "1": 0}]),
            "storage_mapping": st.just({"pfs": 4}),
            "additional_io_job": st.fixed_dictionaries(
                {"alloc": hosts, "profile_name": st.sampled_from(NAMES)}
            ),
        },
    ),
    "REJECT_JOB": st.fixed_dictionaries({"job_id": job_ids}),
    "KILL_JOB": st.fixed_dictionaries({"job_ids": st.lists(job_ids, min_size=1, max_size=3)}),
    "CALL_ME_LATER": st.fixed_dictionaries({"timestamp": st.integers(0, 60)}),
    "REGISTER_PROFILE": st.fixed_dictionaries(
        {
            "workload_name": st.sampled_from(["w0", "dyn"]),
            "profile_name": st.sampled_from(["p1", "p2", "p3", "nap"]),
            "profile": st.sampled_from(list(PROFILES.values())),
        }
    ),
    "REGISTER_JOB": st.fixed_dictionaries(
        {"number": st.integers(1, 9), "profile": st.sampled_from([*NAMES, "p1"])}
    ),
    "SET_RESOURCE_STATE": st.fixed_dictionaries(
        {"resources": hosts, "state": st.sampled_from(["0", "1", "2"])}
    ),
    "SET_JOB_METADATA": st.fixed_dictionaries({"job_id": job_ids, "metadata": st.just("x")}),
    "CHANGE_JOB_STATE": st.fixed_dictionaries(
        {"job_id": job_ids, "job_state": st.sampled_from(["RUNNING", "COMPLETED_KILLED"])}
    ),
    "TO_JOB_MSG": st.fixed_dictionaries({"job_id": job_ids, "msg": st.sampled_from(["go", "no"])}),
    "QUERY": st.just({"requests": {"consumed_energy": {}}}),
    "NOTIFY": st.sampled_from(
        [{"type": "registration_finished"}, {"type": "continue_registration"}]
    ),
}
events = st.sampled_from(list(data)).flatmap(
    lambda kind: st.tuples(st.just(kind), delays, data[kind])
)
replies = st.lists(st.lists(events, max_size=4), max_size=12)


class Scheduler:
    """Follows a script, with the jobs that it knows."""

    def __init__(self, script: list[list[Any]], *, starts_all: bool) -> None:
        self._script = iter(script)
        self._starts_all = starts_all
        self._known: list[str] = []

    def __call__(self, request: bytes) -> bytes:
        message = json.loads(request)
        new = [e["data"]["job_id"] for e in message["events"] if e["type"] == "JOB_SUBMITTED"]
        ended = [e["data"]["job_id"] for e in message["events"] if e["type"] == "JOB_COMPLETED"]
        self._known = [one for one in [*self._known, *new] if one not in ended]
        now, told = message["now"], []
        starts = [
            ("EXECUTE_JOB", 0.0, {"job_id": one, "alloc": HOSTS_OF.get(one, "0")}) for one in new
        ]
        for kind, delay, values in [*(starts if self._starts_all else []), *next(self._script, [])]:
            if not self._known and ("job_id" in values or "job_ids" in values):
                continue
            now += delay
            told.append({"timestamp": now, "type": kind, "data": self._named(kind, values)})
        return json.dumps({"now": now, "events": told}).encode()

    def _named(self, kind: str, values: dict[str, Any]) -> dict[str, Any]:
        if kind == "REGISTER_JOB":
            job_id, profile = f"w0!r{values['number']}", values["profile"]
            self._known.append(job_id)
            job = {"id": job_id, "subtime": 0, "res": 2 if profile == "pair" else 1}
            return {"job_id": job_id, "job": {**job, "profile": profile}}
        named = {key: self._name(value) for key, value in values.items() if key == "job_id"}
        several = {key: list(map(self._name, values[key])) for key in values if key == "job_ids"}
        return {**values, **named, **several}

    def _name(self, job: int | str) -> str:
        return self._known[job % len(self._known)] if isinstance(job, int) else job


@times_as_many(2)
@given(replies, st.booleans(), st.booleans())
def test_a_run_ends_or_says_why_not(
    script: list[list[Any]], starts_all: bool, latency: bool
) -> None:
    platform = a_platform()
    document = json.dumps({"nb_res": 4, "profiles": PROFILES, "jobs": JOBS}).encode()
    file = read_batsim_file(document, source="w0.json", name="w0", full_names=True)
    raw = {str(job.id): one for job, one in zip(file.jobs, file.raw_jobs, strict=True)}
    setup = BatsimSetup(
        platform=platform,
        workloads=[BatsimWorkload("w0", "w0.json", raw, file.raw_profiles)],
        dynamic_jobs=True,
        energy=True,
        exact_dates=latency,
    )
    scheduler = BatsimScheduler(setup, Scheduler(script, starts_all=starts_all))
    simulation = nt.Simulation(
        platform,
        nt.Workload.from_jobs(file.jobs, profiles=file.profiles),
        scheduler,
        machine=True,
        energy="simgrid",
        batsim_events=True,
        batsim_latency=latency,
        wait_for_timers=True,
        open_registration=True,
        acknowledge_registered=False,
        reject_oversized=False,
        share_hosts=True,
        until=1000.0,
    )
    said = ""
    try:
        simulation.run()
        scheduler.finish(simulation.now)
    except NoctuleError as error:
        said = str(error)
    assert " raised " not in said  # an exception of another kind within the policy
    assert len(simulation.schedule()) <= len(JOBS) + 9


@functools.cache
def a_platform() -> nt.Platform:
    """Return four hosts that can sleep, a storage and a master, in a cluster."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.xml"
        path.write_text(CLUSTER)
        roles = {"h4": "storage"}
        return nt.load_platform(path, master_host="h5", roles=roles)
