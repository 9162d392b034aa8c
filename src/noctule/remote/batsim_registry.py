"""The jobs and profiles that a scheduler of Batsim may name: those of files, and its own.

As in Batsim, the name of a profile is forgotten once the first of its jobs has ended, and so are
those of a sequence's parts, unless profiles are to be reused; no name and no id is given twice.
"""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from noctule.errors import DecisionError, InputError
from noctule.formats.batsim import read_batsim_job
from noctule.formats.batsim_profiles import SizedProfile, read_profiles
from noctule.formats.json_object import shown_json
from noctule.parts import RANK_HOSTS
from noctule.record import is_attempt
from noctule.remote.batsim_tasks import merged
from noctule.remote.batsim_workload import BatsimWorkload, parts_of
from noctule.workload import Compute, HomogeneousTask, Job, Profile, Sequence

_FULL_ID = re.compile("([^!]+)!+([^!]+)")
# Fields of a job that mean something; all others are only forwarded.
_JOB_FIELDS = ("id", "subtime", "res", "profile", "walltime", RANK_HOSTS)
_TRACES = ("smpi", "usage_trace", "TraceReplayProfile")


@dataclass(slots=True)
class _Profiles:
    """The profiles of a workload by name, as they are told and, once somebody needs it, as read."""

    workload: str
    source: str
    raw: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    read: dict[str, SizedProfile] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)

    def sized(self, name: str) -> SizedProfile:
        """Return a profile, read with all that it is made of."""
        if name not in self.read:
            needed = {one: self.raw[one] for one in self._closure(name)}
            self.read.update(read_profiles(self.source, needed, workload=self.workload))
        return self.read[name]

    def _closure(self, name: str) -> dict[str, None]:
        found: dict[str, None] = {}
        waiting = [name]
        while waiting:
            one = waiting.pop()
            if one not in found and one in self.raw:
                found[one] = None
                raw = self.raw[one]
                branches = (raw.get(key, "") for key in ("success", "failure", "timeout"))
                parts = [part for part in (*parts_of(raw), *branches) if isinstance(part, str)]
                waiting += [self._own_name(part) for part in parts]
        return found

    def _own_name(self, name: str) -> str:
        """Return a name without that of the workload, if it is of this one."""
        workload, _, bare = name.partition("!")
        return bare.lstrip("!") if workload == self.workload and bare else name


class Registry:
    """What can be named, and what has been."""

    def __init__(self, workloads: abc.Sequence[BatsimWorkload], *, keeps_names: bool) -> None:
        """Take what the files have, and whether profiles keep their names when jobs have ended."""
        self._keeps_names = keeps_names
        self._jobs: dict[str, Mapping[str, Any]] = {}
        self._told: set[str] = set()
        self._profiles: dict[str, _Profiles] = {}
        for one in workloads:
            self._jobs.update(one.jobs)
            self._profiles[one.name] = _Profiles(one.name, one.path, dict(one.profiles))

    @property
    def objects(self) -> dict[str, Mapping[str, Any]]:
        """The objects of all jobs, by id."""
        return self._jobs

    def knows(self, job_id: str) -> bool:
        """Say whether there has ever been such a job, as far as the scheduler was told."""
        return job_id in self._told

    def is_to_come(self, job_id: str) -> bool:
        """Say whether a job is known but has not been submitted."""
        return job_id in self._jobs and job_id not in self._told

    def tell(self, job_id: str) -> Mapping[str, Any]:
        """Return the object of a job, which from now on its scheduler knows."""
        if is_attempt(job_id) and job_id not in self._jobs:
            raise DecisionError(
                f"job {job_id}: Batsim's protocol has no word for a further attempt of a job, "
                "expected on_failure='end'"
            )
        self._told.add(job_id)
        return self._jobs[job_id]

    def profile_text(self, job_id: str, write: Callable[[Mapping[str, Any]], str]) -> str:
        """Return the profile of a job, written once by a function that is always the same."""
        workload, name = self.profile_of(job_id)
        texts = self._profiles[workload].texts
        if name not in texts:
            texts[name] = write(self._profiles[workload].raw[name])
        return texts[name]

    def profile_of(self, job_id: str) -> tuple[str, str]:
        """Return the workload of a job's profile and the name of it."""
        profile = self._jobs[job_id]["profile"]
        if "!" not in profile:
            return job_id.partition("!")[0], profile
        return profile.partition("!")[0], profile.rpartition("!")[2]

    def n_hosts(self, job_id: str) -> int:
        """Return how many hosts a job asks for."""
        return int(self._jobs[job_id]["res"])

    def profile(self, job_id: str) -> Profile:
        """Return what a job does."""
        return self.sized_profile(*self.profile_of(job_id)).profile

    def sized_profile(self, workload: str, name: str) -> SizedProfile:
        """Return a profile that there is."""
        return self._profiles[workload].sized(name)

    def is_spread(self, job_id: str, n_executors: int) -> bool:
        """Say whether a job computes a total, which more or fewer executors share than it asks for.

        The engine was told of the share of each as if there were as many as the job asks for.
        """
        if self._jobs[job_id]["res"] == n_executors:
            return False
        profile = self.profile(job_id)
        return isinstance(profile, Compute) and profile.spread

    def profiles_of(self, job_id: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the profiles of the workload that a job's own is of, as they are told."""
        return self._profiles[self.profile_of(job_id)[0]].raw

    def return_code(self, job_id: str) -> int:
        """Return what a job gives back that ends by itself and has failed."""
        workload, name = self.profile_of(job_id)
        return _return_code(self._profiles[workload].raw, name)

    def forget(self, job_id: str) -> None:
        """Forget the names of an ended job's profiles, where that is the custom."""
        if self._keeps_names:
            return
        workload, name = self.profile_of(job_id)
        profiles = self._profiles[workload]
        profiles.forgotten.update(_with_parts(profiles.raw, name))

    def add_workload(self, name: str) -> None:
        """Enter a workload, unless there is one of that name."""
        self._profiles.setdefault(name, _Profiles(name, "profile"))

    def enter(self, job_id: str, raw: Mapping[str, Any], profile: Mapping[str, Any]) -> None:
        """Enter a job and its profile, which come from elsewhere."""
        workload = job_id.partition("!")[0]
        self._jobs[job_id] = raw
        profiles = self._profiles.setdefault(workload, _Profiles(workload, workload))
        profiles.raw[self.profile_of(job_id)[1]] = profile

    def add_profile(self, workload: str, name: str, raw: Mapping[str, Any]) -> None:
        """Enter a profile, in a workload that may be new."""
        for what, word in (("workload_name", workload), ("profile_name", name)):
            if not word or "!" in word:
                raise InputError(f"{what}: got {shown_json(word)}, expected a name without '!'")
        profiles = self._profiles.setdefault(workload, _Profiles(workload, "profile"))
        if name in profiles.raw:
            raise InputError(
                f"profile_name: got {shown_json(name)}, which is taken, expected another"
            )
        if raw.get("type") in _TRACES:
            raise InputError(
                f"profile: got a {raw['type']}, expected one that needs no files: "
                "traces cannot be registered"
            )
        for part in parts_of(raw):
            self._refuse_forgotten(profiles, part)
        profiles.raw[name] = raw
        try:
            profiles.sized(name)
        except InputError:
            del profiles.raw[name]
            raise

    def add_job(
        self, job_id: str, raw: Mapping[str, Any], *, profile_workload: str | None = None
    ) -> Job:
        """Enter a job, and return it; its profile is one of its own workload if nothing is said."""
        match = _FULL_ID.fullmatch(job_id)
        if match is None or match[1] not in self._profiles:
            known = ", ".join(self._profiles) or "none yet"
            raise InputError(
                f"job_id: got {shown_json(job_id)}, expected workload!name "
                f"of a workload that exists ({known})"
            )
        workload = match[1]
        full_id = f"{workload}!{match[2]}"
        if full_id in self._jobs:
            raise InputError(f"job_id: got {shown_json(job_id)}, which is taken, expected another")
        owner = workload if profile_workload is None else profile_workload
        profiles = self._profiles[owner]
        name = raw.get("profile")
        if isinstance(name, str):
            name = name.rpartition("!")[2]
            self._refuse_forgotten(profiles, name)
        known_profiles = dict(profiles.read)
        if isinstance(name, str) and name in profiles.raw:
            known_profiles = {name: profiles.sized(name)}
        fields = {key: raw[key] for key in _JOB_FIELDS if key in raw}
        job = read_batsim_job(fields, source=full_id, workload=owner, profiles=known_profiles)
        if str(job.id) != match[2]:
            raise InputError(
                f"job.id: got {shown_json(raw.get('id'))}, expected that of job_id, "
                f"{shown_json(job_id)}"
            )
        self._jobs[full_id] = raw if owner == workload else {**raw, "profile": f"{owner}!{name}"}
        self._told.add(full_id)
        return replace(job, id=full_id, profile_name=f"{owner}!{name}")

    def with_io(
        self, job_id: str, hosts: abc.Sequence[int], io_name: str, io_hosts: abc.Sequence[int]
    ) -> Profile:
        """Return what a job does together with an IO job, on the hosts of its executors."""
        workload, name = self.profile_of(job_id)
        profiles = self._profiles[workload]
        io_name = io_name.rpartition("!")[2]
        if io_name not in profiles.raw:
            raise InputError(
                f"profile_name: got {shown_json(io_name)}, "
                f"expected a profile of workload {workload}"
            )
        own, extra = profiles.sized(name).profile, profiles.sized(io_name).profile
        n_wanted = self._jobs[job_id]["res"]
        if len(hosts) != n_wanted and not _is_moldable(own):
            raise InputError(
                f"got {len(hosts)} executors, expected {n_wanted}, for which the job asks"
            )
        return merged(own, hosts, extra, io_hosts)

    def _refuse_forgotten(self, profiles: _Profiles, name: object) -> None:
        if name in profiles.forgotten:
            raise InputError(
                f"profile: got {shown_json(name)}, which used to exist and was forgotten when a "
                "job of it had ended, expected another; --enable-profile-reuse keeps them"
            )


def _is_moldable(profile: Profile) -> bool:
    """Say whether a profile is a total, or a sequence of totals."""
    match profile:
        case Compute(spread=spread):
            return spread
        case HomogeneousTask(amounts=amounts):
            return amounts != "each"
        case Sequence(parts=parts):
            return all(_is_moldable(part) for part in parts)
        case _:
            return False


def _with_parts(profiles: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, None]:
    """Return a profile and all that it is made of, in the order in which they first run."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            parts = [part.rpartition("!")[2] for part in parts_of(profiles.get(one, {}))]
            waiting += reversed(parts)
    return found


def _return_code(profiles: Mapping[str, Mapping[str, Any]], name: str) -> int:
    """Return the code of a profile that has failed: of a sequence, that of a part, or its own."""
    codes = [profiles.get(one, {}).get("ret", 0) for one in _with_parts(profiles, name)]
    failed = [code for code in (*codes[1:], *codes[:1]) if code]
    return int(failed[0]) if failed else 1
