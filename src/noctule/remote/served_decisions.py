"""What a served policy decides, held to the engine's rules and written as Batsim's protocol 4.

A decision that the simulator would stumble over is refused here, with the sentence that it would
have been refused with in process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from noctule._core import HostSet
from noctule.errors import DecisionError, InputError
from noctule.messages import (
    AskEnergy,
    BusyUntil,
    CallAt,
    CancelCall,
    ChangeJobState,
    ContinueRegistration,
    Decision,
    Event,
    FinishRegistration,
    KillJob,
    KillJobs,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SendMessage,
    SetMetadata,
    SetPowerState,
    StartJob,
)
from noctule.remote.served_calls import ROUNDING, ServedCalls
from noctule.remote.served_registrations import ServedRegistrations
from noctule.remote.served_view import RUNNING, WAITING, ServedCluster, ServedJob

Said = dict[str, Any]
Data = dict[str, Any]

_WHY_NOT_WAITING = {
    RUNNING: "the job is already running",
    "completed": "the job has already completed",
    "timed_out": "the job has already ended, at its walltime",
    "killed": "the job has already ended, killed",
    "failed": "the job has already ended, failed",
    "rejected": "the job was rejected",
}
_JOB_STATES = {
    "running": "RUNNING",
    "rejected": "REJECTED",
    "completed": "COMPLETED_SUCCESSFULLY",
    "failed": "COMPLETED_FAILED",
    "timed_out": "COMPLETED_WALLTIME_REACHED",
    "killed": "COMPLETED_KILLED",
}
_NEXT_STATES = {
    WAITING: ("running", "rejected"),
    RUNNING: ("completed", "failed", "timed_out", "killed"),
}
_LONGEST_MESSAGE = 1 << 20
# A call must lie after the simulator's clock, which may be ahead of the date it told.
_SHORTEST_CALL = 1e-6


class DecisionWriter:
    """Applies decisions to what is known of a cluster, and says them to the simulator."""

    def __init__(
        self, cluster: ServedCluster, calls: ServedCalls, registrations: ServedRegistrations
    ) -> None:
        """Begin with nothing said."""
        self._cluster = cluster
        self._calls = calls
        self._registrations = registrations
        self._said: list[Said] = []
        self._date = cluster.now  # of the decision that is being applied
        self._ahead = False  # whether that lies in the future, in which hosts may become free
        self.busy_until = cluster.now
        self._appliers: Mapping[type, Callable[[Any], None]] = {
            StartJob: self._start,
            RejectJob: self._reject,
            KillJob: lambda decision: self._kill([decision.job], "KillJob"),
            KillJobs: lambda decision: self._kill(decision.jobs, "KillJobs"),
            ChangeJobState: self._change_state,
            SetMetadata: self._set_metadata,
            SetPowerState: self._set_power_state,
            SendMessage: self._send,
            RegisterJob: self._register,
            RegisterProfile: lambda _: None,  # told with the job that needs it
            AskEnergy: lambda _: self._say("QUERY", requests={"consumed_energy": {}}),
            FinishRegistration: lambda _: self._open_registration(is_open=False),
            ContinueRegistration: lambda _: self._open_registration(is_open=True),
        }

    def take(self, decisions: Iterable[object]) -> None:
        """Apply what is to be done now, and keep the rest for its date."""
        now = since = self._cluster.now
        dated: list[tuple[float, Any]] = []
        for decision in decisions:
            match decision:
                case CallAt(time=time, tag=tag):
                    self._calls.ask(self._tag(tag), self._from_now_on(time, decision))
                case CancelCall(tag=tag):
                    self._calls.cancel(self._tag(tag))
                case BusyUntil(time=time):
                    since = max(since, self._from_now_on(time, decision))
                case _ if type(decision) in self._appliers:
                    dated.append((max(since, self._date_of(decision)), decision))
                case _:
                    self._refuse(
                        "decide()",
                        f"gave {decision!r}, expected a decision such as StartJob(job)",
                    )
        self.busy_until = max(self.busy_until, since)
        if self.busy_until > now:  # nobody will be called to say what was kept for meanwhile
            kept = self._calls.due_decisions(self.busy_until)
            dated += [(date, one) for date, one in kept if not self._has_lost_its_job(one)]
        for date, decision in sorted(dated, key=lambda one: one[0]):
            if date <= max(now, self.busy_until):
                self.apply(decision, date)
            else:
                self._calls.keep(date, decision)

    def apply_due(self, decisions: Iterable[tuple[float, Decision]]) -> None:
        """Apply decisions whose date has come, but for those on jobs that have ended."""
        for _, decision in decisions:
            if not self._has_lost_its_job(decision):
                self.apply(decision, self._cluster.now)

    def apply(self, decision: Any, date: float) -> None:
        """Check a decision, change what is known, and say it."""
        self._date, self._ahead = date, date > self._cluster.now
        self._appliers[type(decision)](decision)

    def reject_oversized(self, jobs: Iterable[ServedJob]) -> None:
        """Refuse jobs that no policy could start."""
        for job in jobs:
            self.apply(RejectJob(job), self._cluster.now)  # type: ignore[arg-type]

    def submitted(self) -> list[Event]:
        """Return the submissions of the policy's own jobs that no message will tell of."""
        return self._registrations.take_submitted(self._cluster)

    def take_said(self) -> list[Said]:
        """Return what has been said, in the order of its dates, with calls for what is kept."""
        now = self._cluster.now
        self._date = now
        waits = self._registrations.has_submitted or self._calls.has_due(now)
        # What is due while the policy is busy is told to it afterwards.
        also = [self.busy_until] if waits and self.busy_until > now else []
        for date in self._calls.to_ask(now, with_tags=not self._cluster.may_end, also=also):
            self._say("CALL_ME_LATER", timestamp=max(date, now + _SHORTEST_CALL))
        said, self._said = self._said, []
        return sorted(said, key=lambda one: one["timestamp"])

    def _start(self, decision: StartJob) -> None:
        job = self._waiting(decision.job, "StartJob")
        name = f"StartJob(job_id={job.id})"
        extra: Data = {}
        if decision.profile is not None:
            self._refuse(name, "got a profile, which no message can give to a job that has its own")
        if decision.launch_delay:
            self._refuse(name, "got a launch delay, which no message can tell")
        if decision.hosts is None:
            if decision.mapping is not None or decision.storages is not None:
                self._refuse(
                    name,
                    "got a mapping, storages or a profile without hosts, "
                    "expected hosts beside them",
                )
            hosts = self._first_free(job, name)
        else:
            hosts = self._host_set(decision.hosts, name)
            mapping = self._positions(decision.mapping, name)
            storages = self._storages(decision.storages, name)
            why = self._misfit(job, hosts, mapping, storages) or self._why_unusable(hosts)
            if why:
                self._refuse(f"StartJob(job_id={job.id}, hosts={hosts})", why)
            if mapping:
                extra["mapping"] = {str(i): str(place) for i, place in enumerate(mapping)}
            if storages:
                extra["storage_mapping"] = storages
        self._cluster.start(job, hosts, self._date)
        self._say("EXECUTE_JOB", job_id=self._told(job), alloc=str(hosts), **extra)

    def _first_free(self, job: ServedJob, name: str) -> HostSet:
        n, n_free = job.n_hosts, len(self._cluster.hosts.free)
        if n > n_free:
            self._refuse(
                name,
                f"the job asks for {_counted(n)}, {n_free} {'is' if n_free == 1 else 'are'} free",
            )
        return self._cluster.hosts.first_free(n)

    def _misfit(
        self,
        job: ServedJob,
        hosts: HostSet,
        mapping: Sequence[int],
        storages: Mapping[str, int],
    ) -> str:
        """Tell why a job cannot be laid out so, or nothing."""
        known = self._cluster.hosts
        n = len(mapping) or len(hosts)
        if not hosts or (n != job.n_hosts and not self._cluster.is_moldable(job)):
            return f"the job asks for {_counted(job.n_hosts)}, got {n}"
        last = hosts.intervals()[-1][1]
        if last >= known.n_known:
            return f"host {last} does not exist; hosts are 0-{known.n_known - 1}"
        for place in mapping:
            if not 0 <= place < len(hosts):
                return f"the mapping names host {place} of the allocation, which has {len(hosts)}"
        for label, host in storages.items():
            if not known.n_hosts <= host < known.n_known:
                return f"storage {label!r} is mapped to host {host}, which is no storage"
        return ""

    def _why_unusable(self, hosts: HostSet) -> str:
        if self._ahead or not hosts - self._cluster.hosts.free:
            return ""
        for host in hosts:
            why = self._cluster.hosts.why_unusable(host)
            if why.endswith("busy"):
                others = (job.id for job in self._cluster.running.values() if host in job.hosts)
                return f"{why} with job {next(others)}"
            if why:
                return why
        return ""

    def _reject(self, decision: RejectJob) -> None:
        job = self._waiting(decision.job, "RejectJob")
        self._cluster.end(job, "rejected")
        self._say("REJECT_JOB", job_id=self._told(job))

    def _kill(self, named: object, decision: str) -> None:
        if not isinstance(named, Sequence) or isinstance(named, str):
            self._refuse(decision, f"got {named!r}, expected jobs")
        jobs = [self._find(job, decision) for job in named]
        for job in jobs:
            if self._cluster.state(job) == WAITING:
                self._refuse(
                    f"{decision}(job_id={job.id})",
                    "the job is not running; a waiting job is rejected instead",
                )
        killed = self._cluster.killed
        new = [j for j in jobs if j.id in self._cluster.running and j.id not in killed]
        if new:
            killed.update(job.id for job in new)
            self._say("KILL_JOB", job_ids=[self._told(job) for job in new])

    def _change_state(self, decision: ChangeJobState) -> None:
        job = self._find(decision.job, "ChangeJobState")
        before = self._cluster.state(job)
        possible = _NEXT_STATES.get(before, ())
        name = f"ChangeJobState(job_id={job.id}, state={decision.state!r})"
        if decision.state not in possible:
            expected = " or ".join(possible) or "no change"
            self._refuse(name, f"the job is {before}, expected {expected}")
        if before == RUNNING and job.hosts:
            self._refuse(name, "the job runs on hosts, expected one that was put to running so")
        if decision.state == RUNNING:
            self._cluster.start(job, HostSet(), self._date)
        else:
            self._cluster.end(job, decision.state)
        self._say("CHANGE_JOB_STATE", job_id=self._told(job), job_state=_JOB_STATES[decision.state])

    def _set_metadata(self, decision: SetMetadata) -> None:
        job, text = self._find(decision.job, "SetMetadata"), decision.text
        if not isinstance(text, str) or '"' in text:
            self._refuse(
                f"SetMetadata(job_id={job.id})",
                f"got {text!r}, expected a text without quotation marks, as Batsim takes it",
            )
        self._say("SET_JOB_METADATA", job_id=self._told(job), metadata=text)

    def _set_power_state(self, decision: SetPowerState) -> None:
        known, state = self._cluster.hosts, decision.state
        hosts = self._host_set(decision.hosts, "SetPowerState")
        name = f"SetPowerState(hosts={hosts}, state={state})"
        if type(state) is not int:
            self._refuse(repr(decision), "expected the number of a power state")
        if not hosts or hosts - known.all:
            self._refuse(name, f"expected hosts among {known.all}")
        for host in hosts:
            why = known.obstacle(host, state)
            if why and not (self._ahead and why.endswith("busy, and cannot sleep")):
                self._refuse(name, why)
        known.switch(hosts, state)
        self._say("SET_RESOURCE_STATE", resources=str(hosts), state=str(state))

    def _send(self, decision: SendMessage) -> None:
        job, text = self._find(decision.job, "SendMessage"), decision.message
        name = f"SendMessage(job_id={job.id})"
        if self._cluster.state(job) != RUNNING:
            self._refuse(name, "the job is not running a profile that receives messages")
        if not isinstance(text, str) or len(text) > _LONGEST_MESSAGE:
            self._refuse(name, f"expected a text of at most {_LONGEST_MESSAGE} characters")
        self._say("TO_JOB_MSG", job_id=self._told(job), msg=text)

    def _register(self, decision: RegisterJob) -> None:
        job = self._registrations.checked(decision.job, self._cluster)
        if job.submit_time > max(self._date, self._cluster.now):
            self._calls.keep(job.submit_time, RegisterJob(job))
            return
        for kind, data in self._registrations.register(job, self._cluster):
            self._say(kind, **data)

    def _open_registration(self, *, is_open: bool) -> None:
        self._cluster.registration_open = is_open
        self._say("NOTIFY", type="continue_registration" if is_open else "registration_finished")

    def _say(self, kind: str, /, **data: Any) -> None:
        self._said.append({"timestamp": self._date, "type": kind, "data": data})

    def _told(self, job: ServedJob) -> str:
        return self._registrations.told_id(job.id)

    def _has_lost_its_job(self, decision: Decision) -> bool:
        job = None if isinstance(decision, RegisterJob) else getattr(decision, "job", None)
        known = job if isinstance(job, ServedJob) else self._cluster.jobs.get(job)  # type: ignore[arg-type]
        return known is not None and self._cluster.state(known) not in (WAITING, RUNNING)

    def _find(self, job: object, decision: str) -> ServedJob:
        if isinstance(job, ServedJob):
            if self._cluster.jobs.get(job.id) is not job:
                self._refuse(f"{decision}(job_id={job.id})", "the job is of another simulation")
            return job
        try:
            return self._cluster.jobs[job]  # type: ignore[index]
        except (KeyError, TypeError):
            self._refuse(f"{decision}(job_id={job!r})", "no job has this id")

    def _waiting(self, job: object, decision: str) -> ServedJob:
        found = self._find(job, decision)
        state = self._cluster.state(found)
        if state != WAITING:
            self._refuse(f"{decision}(job_id={found.id})", _WHY_NOT_WAITING[state])
        return found

    def _host_set(self, hosts: object, name: str) -> HostSet:
        if isinstance(hosts, HostSet):
            return hosts
        try:
            return HostSet(hosts)
        except (InputError, TypeError, ValueError, OverflowError):
            self._refuse(
                name,
                f"got the hosts {hosts!r}, expected a HostSet, whole numbers, "
                "or a text such as '0-3 7'",
            )

    def _positions(self, mapping: object, name: str) -> list[int]:
        if mapping is None:
            return []
        places = list(mapping) if isinstance(mapping, Iterable) else [None]
        if not all(type(place) is int for place in places):
            self._refuse(
                name, f"got the mapping {mapping!r}, expected positions among the named hosts"
            )
        return places  # type: ignore[return-value]

    def _storages(self, storages: object, name: str) -> dict[str, int]:
        if storages is None:
            return {}
        if not isinstance(storages, Mapping) or not all(
            isinstance(label, str) and type(host) is int for label, host in storages.items()
        ):
            self._refuse(
                name, f"got the storages {storages!r}, expected ids of storage hosts by label"
            )
        return dict(storages)

    def _date_of(self, decision: Any) -> float:
        if decision.time is None:
            return self._cluster.now
        date = self._number(decision.time, decision)
        if not self._cluster.now - ROUNDING <= date < math.inf:
            job = getattr(decision, "job", None)
            job_id = job.id if isinstance(job, ServedJob) else job
            what = "a decision" if job is None else f"a decision on job {job_id}"
            self._refuse(what, f"dated {date:.15g}, expected a date from now on")
        return date

    def _from_now_on(self, time: object, decision: object) -> float:
        """Return a date; one that rounding has moved into the past is now."""
        now, date = self._cluster.now, self._number(time, decision)
        if not now - ROUNDING <= date < math.inf:
            name = type(decision).__name__
            self._refuse(f"{name}(time={date:.15g})", "expected a date from now on")
        return max(date, now)

    def _number(self, time: object, decision: object) -> float:
        if not isinstance(time, int | float) or isinstance(time, bool):
            self._refuse(repr(decision), "expected a number as the time")
        return float(time)

    def _tag(self, tag: object) -> str:
        if not isinstance(tag, str):
            self._refuse("CallAt", f"got the tag {tag!r}, expected a text")
        return tag

    def _refuse(self, what: str, why: str) -> NoReturn:
        raise DecisionError(f"t={self._cluster.now:.15g} {what}: {why}")


def _counted(n: int) -> str:
    return f"{n} host" if n == 1 else f"{n} hosts"
