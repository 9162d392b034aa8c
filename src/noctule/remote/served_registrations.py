"""Jobs that a served policy adds: their names in messages, and the messages that make them.

In messages a job belongs to a workload, as in `w0!12`. Jobs of a policy whose ids name none belong
to the workload `policy`; the policy knows them by the ids that it gave them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from noctule.errors import DecisionError, InputError
from noctule.formats.batsim_fields import profile_fields
from noctule.messages import Event, JobSubmitted
from noctule.parts import plain
from noctule.profile import BRANCHES, Profile
from noctule.remote.served_requests import Profiles, Rules, is_moldable
from noctule.remote.served_view import Asked, ServedCluster
from noctule.workload import Job, JobId, Workload

_WORKLOAD = "policy"


class ServedRegistrations:
    """The jobs that a policy has added."""

    def __init__(self, rules: Rules, own_ids: dict[str, JobId], known: dict[str, Profiles]) -> None:
        """Begin with none; ids and profiles that are made are added to those that are known."""
        self._rules = rules
        self._own_ids = own_ids
        self._known = known
        self._told_ids: dict[JobId, str] = {}
        self._profiles: dict[str, Profile] = {}
        self._submitted: list[Asked] = []

    @property
    def has_submitted(self) -> bool:
        """Whether there are submissions of which nobody has been told yet."""
        return bool(self._submitted)

    def told_id(self, job_id: JobId) -> str:
        """Return the id that messages give to a job."""
        return self._told_ids.get(job_id) or str(job_id)

    def checked(self, job: object, cluster: ServedCluster) -> Job:
        """Return a job that may be added."""
        if not isinstance(job, Job):
            raise DecisionError(f"t={cluster.now:.15g} RegisterJob: got {job!r}, expected a Job")
        if not self._rules.dynamic:
            _refuse(job, cluster, "the simulator takes no jobs; --enable-dynamic-jobs makes it")
        if job.dependencies:
            _refuse(
                job,
                cluster,
                "a registered job cannot have dependencies; register it when they have ended",
            )
        if job.id in self._told_ids or job.id in cluster.jobs:
            _refuse(job, cluster, "the id is taken")
        try:
            Workload.from_jobs([job], source=f"RegisterJob(job_id={job.id})")
        except InputError as error:
            raise DecisionError(str(error)) from None
        return job

    def register(self, job: Job, cluster: ServedCluster) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the messages that add a job: those of its profiles, then its own."""
        self.checked(job, cluster)  # another one may have taken its id while it was kept
        told = str(job.id) if "!" in str(job.id) else f"{_WORKLOAD}!{job.id}"
        workload, _, name = told.partition("!")
        self._told_ids[job.id] = told
        self._own_ids[told] = job.id
        profile = f"{workload}!{job.profile_name or name}"
        if not (self._rules.reuses_profiles and self._profiles.get(profile) == job.profile):
            profile = self._unused(profile)
            self._profiles[profile] = job.profile
            for part, fields in _named_parts(profile.partition("!")[2], job.profile):
                self._known.setdefault(workload, {})[part] = fields
                yield (
                    "REGISTER_PROFILE",
                    {"workload_name": workload, "profile_name": part, "profile": fields},
                )
        name = profile.partition("!")[2]
        yield "REGISTER_JOB", {"job_id": told, "job": _job_fields(job, told, name)}
        if not self._rules.acknowledged:
            moldable = is_moldable(self._known.get(workload, {}), name)
            self._submitted.append(_asked(job, moldable=moldable))

    def take_submitted(self, cluster: ServedCluster) -> list[Event]:
        """Return the submissions that no message will tell of: the jobs are in the queue."""
        asked, self._submitted = self._submitted, []
        return [JobSubmitted(cluster.now, cluster.submit(one)) for one in asked]  # type: ignore[arg-type]

    def _unused(self, name: str) -> str:
        """Return a name that no profile had: simulators forget profiles, but not their names."""
        found, n = name, 1
        while found in self._profiles:
            n += 1
            found = f"{name}#{n}"
        return found


def _named_parts(name: str, profile: Profile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a profile and all that it is made of, parts first, each under a name of its own."""
    found = profile_fields({name: profile}, {}, speed=1.0, folder=None)
    names = {part: part if part == name else f"{name}/{part}" for part in found}
    for part in reversed(found):
        fields = dict(found[part])
        if "seq" in fields:
            fields["seq"] = [names[one] for one in fields["seq"]]
        for branch in BRANCHES:
            if fields.get(branch) in names:
                fields[branch] = names[fields[branch]]
        yield names[part], fields


def _job_fields(job: Job, told: str, profile: str) -> Mapping[str, Any]:
    fields: dict[str, Any] = {
        **job.extra,
        "id": told,
        "subtime": plain(float(job.submit_time)),
        "res": job.request.n_hosts,
        "profile": profile,
    }
    if math.isfinite(job.walltime):
        fields["walltime"] = plain(float(job.walltime))
    labels = {"user": job.user, "group": job.group, "queue": job.queue}
    return fields | {key: value for key, value in labels.items() if value is not None}


def _asked(job: Job, *, moldable: bool) -> Asked:
    return Asked(
        job.id,
        job.submit_time,
        job.request.n_hosts,
        job.walltime,
        job.user,
        job.group,
        job.queue,
        job.extra,
        moldable,
    )


def _refuse(job: Job, cluster: ServedCluster, why: str) -> NoReturn:
    raise DecisionError(f"t={cluster.now:.15g} RegisterJob(job_id={job.id}): {why}")
