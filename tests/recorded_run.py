"""A recorded run of Batsim 4: its command, its inputs, what was decided, what came out."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import noctule as nt
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.formats.batsim import read_batsim
from noctule.remote.batsim_tasks import merged
from noctule.workload import Request

MASTER = "master_host"
VALUED = {
    "-p": "platform",
    "--platform": "platform",
    "-w": "workload",
    "--workload": "workload",
    "-m": "master",
    "--master-host": "master",
    "-r": "role",
    "--add-role-to-hosts": "role",
    "-e": "export",
    "--export": "export",
    "--mmax": "mmax",
    "--events": "events",
    "-s": "socket",
    "--socket-endpoint": "socket",
}

Row = Mapping[str, str]
Message = Mapping[str, Any]


@dataclass(frozen=True)
class Command:
    """What Batsim was told."""

    values: Mapping[str, Sequence[str]]
    flags: frozenset[str]
    words: Sequence[str] = ()

    @classmethod
    def parse(cls, text: str) -> Command:
        lines = [line for line in text.splitlines() if line.startswith("batsim ")]
        if not lines:
            raise InputError("commands.txt: got no line that starts Batsim, expected one")
        values: dict[str, list[str]] = {}
        flags = set()
        given = shlex.split(lines[-1])[1:]
        words = iter(given)
        for word in words:
            name, has_value, value = word.partition("=")
            if name in VALUED:
                value = value if has_value else next(words, "")
                values.setdefault(VALUED[name], []).append(value)
            else:
                flags.add(name)
        return cls(values, frozenset(flags), given)

    def value(self, name: str, default: str = "") -> str:
        return self.values.get(name, [default])[-1]

    @property
    def counts_energy(self) -> bool:
        return bool(self.flags & {"-E", "--energy"})


@dataclass(frozen=True)
class Decided:
    """A decision of the scheduler: the date that it was given, and when it was told."""

    date: float
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Recording:
    """The folder of a recorded run, with the folder of the inputs it names."""

    folder: Path
    inputs: Path
    command: Command = field(init=False)

    def __post_init__(self) -> None:
        text = (self.folder / "commands.txt").read_text()
        object.__setattr__(self, "command", Command.parse(text))

    def text(self, name: str) -> str | None:
        """Return a file of the folder, compressed or not."""
        for path in (self.folder / name, self.folder / f"{name}.xz"):
            if path.exists():
                return read_bytes(path).decode()
        return None

    @property
    def export_name(self) -> str:
        """What the names of the files that were written begin with."""
        return self.command.value("export", "out").split("/")[-1]

    def table(self, name: str) -> list[Row]:
        text = self.text(f"{self.export_name}_{name}.csv")
        return [] if text is None else list(csv.DictReader(io.StringIO(text)))

    @cached_property
    def jobs(self) -> dict[str, Row]:
        """Rows of the jobs, by id with the name of the workload."""
        return {f"{row['workload_name']}!{row['job_id']}": row for row in self.table("jobs")}

    @cached_property
    def messages(self) -> list[Message]:
        """What was said, requests and replies in turn."""
        lines = (self.text("protocol.jsonl") or "").splitlines()
        return [json.loads(json.loads(line)["raw"]) for line in lines]

    @property
    def requests(self) -> list[Message]:
        return self.messages[0::2]

    @property
    def replies(self) -> list[Message]:
        return self.messages[1::2]

    def decisions(self) -> Iterator[Decided]:
        """Yield what the scheduler decided, none before it could know."""
        for request, reply in zip(self.requests, self.replies, strict=False):
            for event in reply["events"]:
                date = max(float(event["timestamp"]), float(request["now"]))
                yield Decided(date, event["type"], event["data"])

    def told(self, kind: str) -> Iterator[Message]:
        """Yield what Batsim told of a kind."""
        for request in self.requests:
            yield from (event for event in request["events"] if event["type"] == kind)

    def find_input(self, name: str) -> Path:
        relative = Path(name)
        tries = [relative, *(Path(*relative.parts[k:]) for k in range(1, len(relative.parts)))]
        for one in tries:
            for path in (self.inputs / one, self.inputs / f"{one}.xz"):
                if path.is_file():
                    return path
        raise InputError(f"{name}: not found in {self.inputs}")

    @cached_property
    def platform(self) -> nt.Platform:
        """The platform, with the hosts numbered as Batsim 4 does."""
        roles = {}
        for given in self.command.values.get("role", ()):
            names, _, role = given.rpartition(":")
            roles.update(dict.fromkeys(names.split(","), role))
        return nt.load_platform(
            self.find_input(self.command.value("platform")),
            host_order="lexicographic",
            master_host=self.command.value("master", MASTER),
            roles=roles,
        )

    @property
    def uses_all_hosts(self) -> bool:
        return "--mmax-workload" not in self.command.flags and "mmax" not in self.command.values

    @cached_property
    def workloads(self) -> list[nt.Workload]:
        paths = [self.find_input(name) for name in self.command.values.get("workload", ())]
        return [nt.load_workload(path, name=f"w{i}") for i, path in enumerate(paths)]

    @cached_property
    def workload(self) -> nt.Workload:
        """All jobs that were known beforehand, by their full ids."""
        jobs = [
            replace(job, id=f"{one.name}!{job.id}", profile_name=f"{one.name}!{job.profile_name}")
            for one in self.workloads
            for job in one
        ]
        jobs = [self._with_io(job) for job in jobs]
        return nt.Workload.from_jobs(sorted(jobs, key=lambda job: (job.submit_time, job.id)))

    @cached_property
    def external_events(self) -> list[ExternalEvents]:
        """What happened from outside, file by file."""
        paths = [self.find_input(name) for name in self.command.values.get("events", ())]
        return [
            ExternalEvents.from_events(map(self._read_event, read_bytes(path).splitlines()))
            for path in paths
        ]

    def _read_event(self, line: bytes) -> ExternalEvent:
        event = json.loads(line)
        kind = event["type"].removeprefix("machine_")
        if kind not in ("available", "unavailable"):
            return ExternalEvent(event["timestamp"], "generic", data=line.decode())
        return ExternalEvent(event["timestamp"], kind, self.hosts(event["resources"]))

    def registered(self) -> dict[str, nt.Job]:
        """Return the jobs that the scheduler registered."""
        return {
            decided.data["job_id"]: self._read_job(decided.data["job_id"], decided.data["job"])
            for decided in self.decisions()
            if decided.kind == "REGISTER_JOB"
        }

    def _with_io(self, job: nt.Job) -> nt.Job:
        """Return a job as it was started: an additional IO job is a part of its task."""
        started = self._io_jobs.get(job.id)
        if started is None:
            return job
        own, extra = self.hosts(started["alloc"]), started["additional_io_job"]
        hosts = self.hosts(extra["alloc"])
        raw = {"id": "io", "subtime": 0, "res": len(hosts), "profile": extra["profile_name"]}
        io = self._read_job(f"{str(job.id).partition('!')[0]}!io", raw).profile
        profile = merged(job.profile, sorted(own), io, sorted(hosts))
        request = Request(len(own | hosts))
        return replace(job, profile=profile, profile_name="", request=request)

    @cached_property
    def _io_jobs(self) -> dict[str, Mapping[str, Any]]:
        started = (one.data for one in self.decisions() if one.kind == "EXECUTE_JOB")
        return {data["job_id"]: data for data in started if "additional_io_job" in data}

    def _read_job(self, job_id: str, raw: Mapping[str, Any]) -> nt.Job:
        name = job_id.partition("!")[0]
        document = {"nb_res": 1, "profiles": self._profiles.get(name, {}), "jobs": [raw]}
        read = read_batsim(json.dumps(document).encode(), source=job_id, name=name)[0]
        return replace(read, id=job_id, profile_name=f"{name}!{read.profile_name}")

    @cached_property
    def _profiles(self) -> dict[str, dict[str, Any]]:
        """All profiles by workload and name: those of the inputs, and those registered."""
        found: dict[str, dict[str, Any]] = {}
        for one in self.workloads:
            raw = one.raw_profiles or {}
            found[one.name] = {k: dict(v) for k, v in raw.items() if "trace" not in v}
        for decided in self.decisions():
            data = decided.data
            if decided.kind == "REGISTER_PROFILE":
                found.setdefault(data["workload_name"], {})[data["profile_name"]] = data["profile"]
            elif "profile" in data.get("additional_io_job", {}):
                name, extra = data["job_id"].partition("!")[0], data["additional_io_job"]
                found.setdefault(name, {})[extra["profile_name"]] = extra["profile"]
        return found

    def hosts(self, text: str) -> nt.HostSet:
        """Return hosts, by our ids."""
        return nt.HostSet(self.host_ids.get(host, host) for host in nt.HostSet.from_str(text))

    @cached_property
    def host_ids(self) -> dict[int, int]:
        """Our ids of the hosts, by those that Batsim told its scheduler."""
        platform = self.platform
        ours = {host.name: i for i, host in enumerate([*platform.hosts, *platform.storages])}
        ids = {}
        for begin in self.told("SIMULATION_BEGINS"):
            for kind in ("compute_resources", "storage_resources"):
                ids.update({host["id"]: ours[host["name"]] for host in begin["data"][kind]})
        return ids
