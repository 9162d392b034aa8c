"""Schedulers behind Batsim's protocols are told the same and decide the same without Python.

The core writes and reads the usual messages itself; a subclass with a `decide` of its own is never
passed by. Both are run with the same scheduler, which answers at random: sensibly, oddly, wrongly.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from edc_function import library_of
from hypothesis import given, settings
from hypothesis import strategies as st

import noctule as nt
from noctule.errors import NoctuleError
from noctule.formats.batsim import read_batsim_file
from noctule.messages import Decision, Event
from noctule.policy import View
from noctule.remote.batsim4 import BatsimScheduler, BatsimSetup, BatsimWorkload
from noctule.remote.batsim5 import EdcScheduler, EdcSetup, Features

N_HOSTS = 6
Object = dict[str, Any]
Channel = Callable[[bytes], bytes]
Outcome = tuple[list[bytes], Any, str]

PROFILES = {
    "short": {"type": "delay", "delay": 3},
    "long": {"type": "delay", "delay": 50.5},
    "bad": {"type": "delay", "delay": 2, "ret": 3},
    "pair": {"type": "composed", "seq": ["short", "long"]},
    "work": {"type": "parallel_homogeneous", "cpu": 4e9, "com": 0},
    "total": {"type": "parallel_homogeneous_total", "cpu": 8e9, "com": 0},
}


class Slow4(BatsimScheduler):
    """Never passed by."""

    def decide(self, view: View, events: Sequence[Event]) -> list[Decision]:
        return super().decide(view, events)


class Slow5(EdcScheduler):
    """Never passed by."""

    def decide(self, view: View, events: Sequence[Event]) -> list[Decision]:
        return super().decide(view, events)


class Scheduler:
    """Answers at random, and keeps what it was told."""

    def __init__(self, seed: int, protocol: int) -> None:
        self.random = random.Random(seed)
        self.protocol = protocol
        self.oddness = self.random.choice([0.0, 0.03, 0.03, 0.3])
        self.told: list[bytes] = []
        self.waiting: dict[str, int] = {}
        self.known: list[str] = ["w0!none"]
        self.hosts: dict[str, list[int]] = {}

    def __call__(self, message: bytes) -> bytes:
        self.told.append(message)
        now = json.loads(message)["now"]
        for event in json.loads(message)["events"]:
            self._hear(event)
        dates, events = [now], []
        for kind, data in self._decisions(now):
            if self._is_odd():
                dates.append(dates[-1] + self.random.choice([0.5, 1, 7.25]))
            events.append(self._event(dates[-1], kind, data))
        end = dates[-1] + (self.random.choice([0, 1, 2.5]) if self._is_odd() else 0)
        return self._written({"now": end, "events": events})

    def _hear(self, event: Object) -> None:
        data = event.get("data", event.get("event"))
        kind = event.get("type", event.get("event_type"))
        if kind in ("JOB_SUBMITTED", "JobSubmittedEvent"):
            job = data["job"]
            self.waiting[data["job_id"]] = job.get("res", job.get("resource_request"))
            self.known.append(data["job_id"])
        elif kind in ("JOB_COMPLETED", "JobCompletedEvent"):
            self.hosts.pop(data["job_id"], None)

    def _is_odd(self) -> bool:
        return self.random.random() < self.oddness

    def _event(self, date: float, kind: str, data: Object) -> Object:
        fields = [("timestamp", date), ("type", kind), ("data", data)]
        if self.protocol == 5:
            fields = [("timestamp", date), ("event_type", kind), ("event", data)]
        if self._is_odd():
            self.random.shuffle(fields)
        return dict(fields)

    def _decisions(self, now: float) -> list[tuple[str, Object]]:
        made = []
        for job_id, n_hosts in list(self.waiting.items()):
            used = {host for hosts in self.hosts.values() for host in hosts}
            free = sorted(set(range(N_HOSTS)) - used)
            if self._is_odd() and self._is_odd():
                del self.waiting[job_id]
                made.append(self._rejection(job_id))
            elif n_hosts <= len(free):
                del self.waiting[job_id]
                self.hosts[job_id] = self.random.sample(free, n_hosts)
                made.append(self._execution(job_id, self.hosts[job_id]))
        if self._is_odd():
            made.append(self._odd_decision(now))
        return made

    def _rejection(self, job_id: str) -> tuple[str, Object]:
        return ("REJECT_JOB" if self.protocol == 4 else "RejectJobEvent"), {"job_id": job_id}

    def _execution(self, job_id: str, hosts: list[int]) -> tuple[str, Object]:
        text = self.random.choice([" ", ","]).join(map(str, hosts))
        if self.protocol == 4:
            return "EXECUTE_JOB", {"job_id": job_id, "alloc": text}
        allocation: Object = {"host_allocation": text}
        if self._is_odd():
            allocation["executor_placement_type"] = "PredefinedExecutorPlacementStrategyWrapper"
            allocation["executor_placement"] = {"strategy": "FillOneHostCoresFirst"}
        return "ExecuteJobEvent", {"job_id": job_id, "allocation": allocation}

    def _odd_decision(self, now: float) -> tuple[str, Object]:
        job_id = self.random.choice(self.known)
        if self.random.random() < 0.2:
            hosts = self.random.sample(range(N_HOSTS + 1), self.random.randint(1, 3))
            return self._execution(job_id, hosts)
        if self.random.random() < 0.1:
            return self._rejection(job_id)
        if self.random.random() < 0.2:
            return self._registration(f"w0!own{len(self.told)}")
        if self.random.random() < 0.5:
            running = [one for one in self.hosts if one in self.known] or [job_id]
            kind = "KILL_JOB" if self.protocol == 4 else "KillJobsEvent"
            return kind, {"job_ids": [self.random.choice(running)]}
        later = now + self.random.choice([1, 2.5, 30])
        if self.protocol == 4:
            return "CALL_ME_LATER", {"timestamp": later}
        when = {"time": int(later * 1000), "time_unit": "Millisecond"}
        call = {"call_me_later_id": f"{len(self.told)}", "when_type": "OneShot", "when": when}
        return "CallMeLaterEvent", call

    def _registration(self, job_id: str) -> tuple[str, Object]:
        n_hosts = self.random.randint(1, N_HOSTS)
        if self.protocol == 4:
            name = job_id.partition("!")[2]
            job = {"id": name, "subtime": 0, "res": n_hosts, "profile": "short"}
            return "REGISTER_JOB", {"job_id": job_id, "job": job}
        job = {"resource_request": n_hosts, "profile_id": "w0!short"}
        self.waiting[job_id] = n_hosts
        return "RegisterJobEvent", {"job_id": job_id, "job": job}

    def _written(self, reply: Object) -> bytes:
        indent = self.random.choice([None, 1]) if self._is_odd() else None
        text = json.dumps(reply, indent=indent).encode()
        if self.protocol == 5:
            text += self.random.choice([b"", b"\0", b"\0\0"])
        if not (self._is_odd() and self._is_odd()):
            return text
        damages: list[Callable[[], bytes]] = [
            lambda: text[: self.random.randrange(len(text))],
            lambda: text.replace(b'"now"', b'"n\\u006fw"'),
            lambda: text.replace(b'"now"', b'"later": [{"a": "\xc3\xa9\\n"}], "now"'),
            lambda: text.replace(b'"now"', b'"now": 1, "now"'),
            lambda: text.replace(b'"now"', b'"\xff": 0, "now"'),
            lambda: text.replace(b": ", b":  "),
            lambda: text + b" x",
            lambda: text.replace(b'"now": ', b'"now": 1e999, "then": '),
            lambda: text.replace(b'"now": ', b'"now": -'),
            lambda: text.replace(b'"now": ', b'"now": 0'),
            lambda: b"",
        ]
        return self.random.choice(damages)()


def a_workload(seed: int) -> tuple[nt.Workload, BatsimWorkload]:
    choice = random.Random(seed)
    jobs = []
    for i in range(choice.randint(1, 25)):
        job: Object = {
            "id": choice.choice([f"{i}", f"j{i}", f"é{i}", f'q"{i}']) if i % 3 else i,
            "subtime": choice.choice([0, i, i / 3, 20 * i, 1e6]),
            "res": choice.randint(1, N_HOSTS + (choice.random() < 0.1)),
            "profile": choice.choice(list(PROFILES)),
        }
        if choice.random() < 0.7:
            job["walltime"] = choice.choice([1, 10.25, 100, 1e7, -1])
        if choice.random() < 0.2:
            job["extra_data"] = choice.choice(["", '{"x": 1}', "é"])
        if choice.random() < 0.2:
            job["more"] = choice.choice([None, True, 1.5, 2**70, "text", [1], {"a": 0.1}])
        jobs.append(job)
    text = json.dumps({"nb_res": N_HOSTS, "profiles": PROFILES, "jobs": jobs}).encode()
    file = read_batsim_file(text, source="w0.json", name="w0", full_names=True)
    raw = {str(job.id): one for job, one in zip(file.jobs, file.raw_jobs, strict=True)}
    workload = nt.Workload.from_jobs(file.jobs, profiles=file.profiles)
    return workload, BatsimWorkload("w0", "w0.json", raw, file.raw_profiles)


def a_platform() -> nt.Platform:
    return nt.Platform.homogeneous(N_HOSTS, speed=1e9)


def played(
    scheduler: BatsimScheduler | EdcScheduler, workload: nt.Workload, told: list[bytes]
) -> Outcome:
    """Return what was told, the rows of the schedule, and how the run ended."""
    is_edc = isinstance(scheduler, EdcScheduler)
    asked = scheduler.features if isinstance(scheduler, EdcScheduler) else scheduler.setup
    simulation = nt.Simulation(
        scheduler.setup.platform,
        workload,
        scheduler,
        machine=True,
        share_hosts=is_edc,
        batsim_events=True,
        wait_for_timers=True,
        reject_oversized=False,
        acknowledge_registered=asked.acknowledge_dynamic_jobs,
    )
    end = ""
    try:
        while simulation.step(5):
            pass
        scheduler.finish(simulation.now)
    except NoctuleError as error:
        end = f"{type(error).__name__}: {error}".replace("Slow", "")
    schedule = simulation.schedule()
    columns = ("job_id", "start_time", "finish_time")
    rows = [schedule.column(name).tolist() for name in columns]
    return told, (repr(rows), schedule.record.hosts_text(0, len(schedule))), end


def played4(seed: int, kind: type[BatsimScheduler]) -> tuple[Outcome, BatsimScheduler]:
    workload, told = a_workload(seed)
    setup = BatsimSetup(
        platform=a_platform(),
        workloads=[told],
        forward_profiles=seed % 2 == 0,
        exact_dates=seed % 3 == 0,
        dynamic_jobs=seed % 4 > 0,
        acknowledge_dynamic_jobs=seed % 4 == 1,
    )
    decider = Scheduler(seed, 4)
    scheduler = kind(setup, decider)
    outcome = played(scheduler, workload, decider.told)
    assert scheduler.n_messages == len(decider.told)
    return outcome, scheduler


def played5(
    seed: int, kind: type[EdcScheduler], wrap: Callable[[Channel], Channel] = lambda one: one
) -> tuple[Outcome, EdcScheduler]:
    workload, told = a_workload(seed)
    setup = EdcSetup(platform=a_platform(), workloads=[told])
    features = Features(
        forward_profiles_on_job_submission=seed % 7 == 0,
        dynamic_registration=seed % 3 == 0,
        acknowledge_dynamic_jobs=seed % 2 == 0,
    )
    decider = Scheduler(seed, 5)
    scheduler = kind(setup, features, wrap(decider))
    outcome = played(scheduler, workload, decider.told)
    assert scheduler.n_messages == len(decider.told)
    return outcome, scheduler


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_protocol_4_is_spoken_the_same_by_the_core(seed: int) -> None:
    assert played4(seed, BatsimScheduler)[0] == played4(seed, Slow4)[0]


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_protocol_5_is_spoken_the_same_by_the_core(seed: int) -> None:
    assert played5(seed, EdcScheduler)[0] == played5(seed, Slow5)[0]


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_components_in_libraries_are_told_the_same_by_the_core(seed: int) -> None:
    assert played5(seed, EdcScheduler, library_of)[0] == played5(seed, Slow5)[0]


@pytest.mark.parametrize("protocol", [4, 5])
def test_many_messages_are_written_by_the_core(protocol: int) -> None:
    """Otherwise the other tests would show nothing."""
    n_all = n_short = 0
    for seed in range(1, 40):
        play: Any = played4 if protocol == 4 else played5
        (told, _, _), scheduler = play(seed, BatsimScheduler if protocol == 4 else EdcScheduler)
        n_all += len(told)
        n_short += scheduler.shortcut.n_messages if scheduler.shortcut else 0
    assert n_short > n_all / 5
    assert n_all - n_short > 100
