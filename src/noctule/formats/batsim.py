"""Batsim's JSON workloads, of versions 4 and 5.

An object with `nb_res`, `profiles` (by name) and `jobs`. Nothing is lost: unknown fields of jobs
stay in `Job.extra`, profiles as they were read in `Workload.raw_profiles`, all the rest in
`Workload.headers`. Noctule understands some job fields that Batsim does not have: user, group,
queue, dependencies, cancel_time, launch_delay, epilogue_delay.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from noctule.columns import KIND_UNSUPPORTED
from noctule.errors import InputError
from noctule.formats.batsim_profiles import SizedProfile, read_profiles
from noctule.formats.json_object import JsonObject, shown_json
from noctule.parts import RANK_HOSTS
from noctule.platform import MAX_HOSTS
from noctule.profile_facts import kind_of
from noctule.programs import check_rank_hosts
from noctule.workload import (
    Dependency,
    Job,
    Label,
    Profile,
    ReadingRule,
    Request,
    Workload,
)

# Job fields of Batsim that have a place of their own; the others are kept in Job.extra.
_PLACED = frozenset(("id", "subtime", "res", "profile", "walltime"))
_NO_WALLTIME = -1


@dataclass(frozen=True, slots=True)
class BatsimFile:
    """A workload as its file has it.

    Attributes:
        jobs: in Batsim's order: by date, then by id, compared as text.
        profiles: by the names that the jobs use.
        raw_jobs: objects of the jobs, in the order of `jobs`.
        raw_profiles: objects of the profiles, by the names of the file.
        headers: all other fields.
        n_moved: how many jobs stand elsewhere in the file.
    """

    jobs: Sequence[Job]
    profiles: Mapping[str, Profile]
    raw_jobs: Sequence[Mapping[str, Any]]
    raw_profiles: Mapping[str, Mapping[str, Any]]
    headers: Mapping[str, Any]
    n_moved: int = 0


def read_batsim(text: bytes, *, source: str, name: str = "w0") -> Workload:
    """Make a Workload of the text of a Batsim JSON workload.

    Jobs submitted at the same time are in Batsim's order: by their ids, compared as text.
    """
    file = read_batsim_file(text, source=source, name=name)
    return Workload.from_jobs(
        file.jobs,
        name=name,
        profiles=file.profiles,
        raw_profiles=file.raw_profiles,
        headers=file.headers,
        reading=_reading(file),
        source=source,
    )


def read_batsim_file(
    text: bytes, *, source: str, name: str = "w0", full_names: bool = False
) -> BatsimFile:
    """Read the text of a Batsim JSON workload.

    With `full_names`, ids and names of profiles have that of the workload before them: `w0!1`.
    """
    top = JsonObject(source, "", _decoded(text, source))
    top.whole("nb_res", least=1)
    raw_profiles, raw_jobs = top.fields.get("profiles"), top.fields.get("jobs")
    if not isinstance(raw_profiles, dict):
        top.refuse("profiles", "an object")
    if not isinstance(raw_jobs, list):
        top.refuse("jobs", "an array")
    _refuse_duplicate_profiles(text, source)
    prefix = f"{name}!" if full_names else ""
    sized = read_profiles(source, raw_profiles, workload=name)
    jobs = _JobReader(source, name, sized, prefix).read(raw_jobs)
    order = sorted(range(len(jobs)), key=lambda i: (jobs[i].submit_time, jobs[i].id))
    return BatsimFile(
        jobs=[jobs[i] for i in order],
        profiles={prefix + name: entry.profile for name, entry in sized.items()},
        raw_jobs=[raw_jobs[i] for i in order],
        raw_profiles=raw_profiles,
        headers={k: v for k, v in top.fields.items() if k not in ("profiles", "jobs")},
        n_moved=sum(place != i for place, i in enumerate(order)),
    )


def read_batsim_job(
    raw: Mapping[str, Any], *, source: str, workload: str, profiles: Mapping[str, SizedProfile]
) -> Job:
    """Make a Job of one object, of a workload whose profiles are known; its id gets no prefix."""
    return _JobReader(source, workload, profiles).job(JsonObject.of(source, "job", raw))


def _reading(file: BatsimFile) -> list[ReadingRule]:
    jobs = file.jobs
    unsupported = sum(kind_of(job.profile) == KIND_UNSUPPORTED for job in jobs)
    touched = {
        "order: sorted by submit time, then by id as text": file.n_moved,
        "profile: kept, of a type that cannot be simulated": unsupported,
    }
    return [
        ReadingRule("jobs read", len(jobs)),
        *(ReadingRule(rule, n) for rule, n in touched.items() if n),
        ReadingRule("jobs kept", len(jobs)),
    ]


@dataclass(frozen=True, slots=True)
class _JobReader:
    """Reads the jobs of one workload; ids are text until all of them are known."""

    source: str
    name: str
    profiles: Mapping[str, SizedProfile]
    prefix: str = ""

    def read(self, raw_jobs: Sequence[Any]) -> list[Job]:
        """Return the jobs in the order of the file."""
        jobs: list[Job] = []
        position: dict[Any, int] = {}
        for i, raw in enumerate(raw_jobs):
            fields = JsonObject.of(self.source, f"jobs[{i}]", raw)
            job = self.job(fields)
            first = position.setdefault(job.id, i)
            if first != i:
                fields.refuse("id", f"an id that jobs[{first}] does not have already")
            jobs.append(job)
        for i, job in enumerate(jobs):
            for k, dependency in enumerate(job.dependencies):
                if dependency.job_id not in position:
                    raise InputError(
                        f"{self.source}: jobs[{i}].dependencies[{k}].job: "
                        f"got {dependency.job_id!r}, expected the id of a job"
                    )
        return jobs

    def job(self, fields: JsonObject) -> Job:
        """Read one job."""
        submit_time = fields.non_negative("subtime")
        n_hosts = fields.whole("res", least=1)
        if n_hosts > MAX_HOSTS:
            fields.refuse("res", f"a whole number up to {MAX_HOSTS}")
        profile_name = self.profile_name(fields)
        sized = self.profiles[profile_name]
        if sized.size is not None and sized.size != n_hosts:
            fields.refuse("res", f"{sized.size}, the size of profile {profile_name!r}")
        job_id = self.job_id(fields, "id")
        walltime = _walltime(fields)
        profile_name = self.prefix + profile_name
        if fields.fields.keys() <= _PLACED:
            return Job(
                job_id,
                submit_time,
                Request(n_hosts),
                sized.profile,
                walltime,
                profile_name=profile_name,
            )
        return Job(
            id=job_id,
            submit_time=submit_time,
            request=Request(n_hosts),
            profile=sized.profile,
            walltime=walltime,
            dependencies=self.dependencies(fields),
            cancel_time=fields.non_negative("cancel_time", math.inf),
            launch_delay=fields.non_negative("launch_delay", 0.0),
            epilogue_delay=fields.non_negative("epilogue_delay", 0.0),
            user=_label(fields, "user"),
            group=_label(fields, "group"),
            queue=_label(fields, "queue"),
            profile_name=profile_name,
            rank_hosts=_rank_hosts(fields, n_hosts, sized.profile),
            extra={k: v for k, v in fields.fields.items() if k not in _PLACED},
        )

    def job_id(self, fields: JsonObject, key: str) -> str:
        """Return an id; Batsim allows the name of the workload in front of it."""
        value = fields.fields.get(key)
        if type(value) is int:
            return f"{self.prefix}{value}"
        if not isinstance(value, str) or not value:
            fields.refuse(key, "a whole number or a string")
        return self.prefix + self.bare(fields, key, value, "an id")

    def profile_name(self, fields: JsonObject) -> str:
        """Return the name of a profile that exists."""
        value = fields.text("profile")
        if value in self.profiles:
            return value
        bare = self.bare(fields, "profile", value, "a profile")
        if bare not in self.profiles:
            n = len(self.profiles)
            only = f"the only profile, {next(iter(self.profiles))!r}" if n == 1 else ""
            fields.refuse("profile", only or f"one of the {n} profiles")
        return bare

    def bare(self, fields: JsonObject, key: str, value: str, what: str) -> str:
        """Return what stands behind `workload!`; many ! count as one, as in Batsim."""
        if "!" not in value:
            return value
        match = re.fullmatch("([^!]+)!+([^!]+)", value)
        if match is None or match[1] != self.name:
            fields.refuse(key, f"{what} of workload {self.name}")
        return match[2]

    def dependencies(self, fields: JsonObject) -> tuple[Dependency, ...]:
        """Read what a job waits for: [{"job": 3, "think_time": 60}]."""
        raw = fields.fields.get("dependencies", [])
        if not isinstance(raw, list):
            fields.refuse("dependencies", "an array")
        found = []
        for k, value in enumerate(raw):
            entry = JsonObject.of(self.source, f"{fields.path}.dependencies[{k}]", value)
            for key in entry.fields.keys() - {"job", "think_time"}:
                entry.refuse(key, "only job and think_time")
            job_id = self.job_id(entry, "job")
            found.append(Dependency(job_id, entry.non_negative("think_time", 0.0)))
        return tuple(found)


def _walltime(fields: JsonObject) -> float:
    if fields.fields.get("walltime", _NO_WALLTIME) == _NO_WALLTIME:
        return math.inf
    return fields.positive("walltime")


def _rank_hosts(fields: JsonObject, n_hosts: int, profile: Profile) -> tuple[int, ...]:
    """Read on which of the job's hosts each rank of a trace runs."""
    if RANK_HOSTS not in fields:
        return ()
    hosts = fields.fields[RANK_HOSTS]
    if not isinstance(hosts, list):
        fields.refuse(RANK_HOSTS, "an array of whole numbers")
    check_rank_hosts(f"{fields.source}: {fields.path}.{RANK_HOSTS}", hosts, n_hosts, profile)
    return tuple(hosts)


def _label(fields: JsonObject, key: str) -> Label:
    value = fields.fields.get(key)
    if not (value is None or isinstance(value, str) or type(value) is int):
        fields.refuse(key, "a string or a whole number")
    return value


def _decoded(text: bytes, source: str) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(text)
    except UnicodeDecodeError:
        raise InputError(f"{source}: not valid JSON: got bytes that are not UTF-8 text") from None
    except RecursionError:
        raise InputError(f"{source}: not valid JSON: nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{source}: {_malformed(text, str(error))}") from None
    if not isinstance(document, dict):
        raise InputError(f"{source}: got {shown_json(document)}, expected an object")
    return document


def _malformed(text: bytes, message: str) -> str:
    """Turn the decoder's message, which counts bytes, into one that counts lines."""
    match = re.fullmatch(r"JSON is malformed: (.*) \(byte (\d+)\)", message)
    if match is None:
        reason = message.partition(" - at ")[0]
        return f"not valid JSON: {reason[:1].lower()}{reason[1:]}"
    before = text[: int(match[2])]
    line = before.count(b"\n") + 1
    column = len(before) - before.rfind(b"\n")
    return f"line {line}, column {column}: not valid JSON: {match[1]}"


def _refuse_duplicate_profiles(text: bytes, source: str) -> None:
    """Refuse a name given twice: the decoder would silently take the second profile."""

    def refuse(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f"{source}: profiles: got {key!r} twice, expected it once")
            seen.add(key)

    raw = msgspec.json.decode(text, type=_RawProfiles)
    json.loads(bytes(raw.profiles), object_pairs_hook=refuse)


class _RawProfiles(msgspec.Struct):
    profiles: msgspec.Raw
