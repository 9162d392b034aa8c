"""What replies of either protocol of Batsim may name: jobs and hosts; and how ends are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noctule._core import HostSet, ViewJob
from noctule.errors import InputError
from noctule.formats.json_object import shown_json
from noctule.messages import Decision, JobFinished, KillJobs, RejectJob
from noctule.platform import Platform
from noctule.remote.batsim_registry import Registry
from noctule.remote.batsim_workload import Level, named_levels

_OUTCOMES = {
    "completed": ("COMPLETED_SUCCESSFULLY", 0),
    "timed_out": ("COMPLETED_WALLTIME_REACHED", -1),
    "killed": ("COMPLETED_KILLED", -1),
    "failed": ("COMPLETED_FAILED", 1),
}
# Killed within one of these, a job returns another code.
_TASKS = ("parallel", "Parallel", "msg_par", "data_staging")
_KILLED_IN_TASK = -2


class NamesInReplies:
    """Finds the jobs and hosts that replies name.

    Attributes:
        jobs: those that the scheduler has been told of or has registered, and that have not ended
            as far as it knows; an id where nothing has shown the job yet.
        dropped: ids of jobs that a reply has ended, until somebody has heard of it.
        n_resources: hosts and storages, whose ids are below.
    """

    def __init__(self, platform: Platform, registry: Registry) -> None:
        """Take what there is to be named."""
        self.jobs: dict[str, ViewJob | str] = {}
        self.dropped: list[str] = []
        self._registry = registry
        self.n_resources = platform.n_hosts + len(platform.storages)

    def _job(self, job_id: str) -> ViewJob | str:
        job = self.jobs.get(job_id)
        if job is None:
            what = "which has ended" if self._registry.knows(job_id) else "which nobody knows"
            what = "which has not been submitted" if self._registry.is_to_come(job_id) else what
            raise InputError(
                f"job_id: got {shown_json(job_id)}, {what}, expected a job that waits or runs"
            )
        return job

    def _hosts(self, key: str, text: str) -> HostSet:
        """Read hosts, of which there must be one, and all on the platform."""
        try:
            hosts = HostSet.from_str(text)
        except InputError as error:
            raise InputError(f"{key}: {str(error).removeprefix('hosts: ')}") from None
        intervals = hosts.intervals()
        if not intervals:
            raise InputError(f"{key}: got {shown_json(text)}, expected at least one host")
        if intervals[-1][1] >= self.n_resources:
            raise InputError(
                f"{key}: got {shown_json(text)}, expected ids below {self.n_resources}"
            )
        return hosts

    def _rejection(self, job_id: str, date: float | None) -> tuple[Decision, ...]:
        job = self._job(job_id)
        self._drop(job_id)
        return (RejectJob(job, date),)

    def end(self, job_id: str) -> None:
        """Hear that a job has ended."""
        self.jobs.pop(job_id, None)

    def _drop(self, job_id: str) -> None:
        """Take a job for ended."""
        del self.jobs[job_id]
        self.dropped.append(job_id)

    def _kills(self, job_ids: Sequence[str], date: float | None) -> tuple[Decision, ...]:
        if not job_ids:
            raise InputError("job_ids: got [], expected at least one")
        return (KillJobs([self._job(one) for one in job_ids], date),)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job has ended.

    Attributes:
        state: by Batsim's name.
        code: what it returned.
        levels: how far it had come in its profile, its part and so on, if it was killed.
    """

    state: str
    code: int
    levels: Sequence[Level] = ()


def outcome_of(event: JobFinished, registry: Registry) -> Outcome:
    """Return how a job has ended, which the registry still knows."""
    job_id = str(event.job.id)
    state, code = _OUTCOMES[event.state]
    if event.state == "failed":
        return Outcome(state, registry.return_code(job_id))
    if event.state != "killed":
        return Outcome(state, code)
    profiles = registry.profiles_of(job_id)
    levels = list(named_levels(event.job.progress, registry.profile_of(job_id)[1], profiles))
    kind = str(profiles.get(levels[-1][0], {}).get("type", ""))
    return Outcome(state, _KILLED_IN_TASK if kind.startswith(_TASKS) else code, levels)
