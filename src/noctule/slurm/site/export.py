"""The way back: what happened in a simulation as Slurm's own programs would have written it.

As rows of `sacct`, which `noctule slurm import` reads, or as the completion log of the plugin
jobcomp/filetxt. Logs in the Standard Workload Format are written by `noctule.formats.saving`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from noctule._core import HostSet
from noctule.errors import InputError
from noctule.record import JobState, attempted_id
from noctule.schedule import Schedule
from noctule.slurm.conf.hostlist import compress_hosts
from noctule.slurm.jobs.requests import NO_LIMIT, Request
from noctule.slurm.jobs.sacct_rows import COLUMNS
from noctule.slurm.site.hosts import first_hosts
from noctule.slurm.site.site import SlurmSite

#: What a result can be written as, with the ending of the file.
FORMATS = {"swf": ".swf", "sacct": ".txt", "completion-log": ".log"}
_STATES = {
    JobState.COMPLETED: "COMPLETED",
    JobState.FAILED: "FAILED",
    JobState.TIMED_OUT: "TIMEOUT",
    JobState.KILLED: "CANCELLED",
    JobState.CANCELLED: "CANCELLED",
    JobState.REJECTED: "CANCELLED",
    JobState.RUNNING: "RUNNING",
    JobState.WAITING: "PENDING",
}
# uid and gid of somebody who is not known
_NOBODY = 4294967294


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of one job; dates in whole seconds of the epoch, as Slurm keeps them."""

    job_id: str
    request: Request
    state: str
    submit: int
    eligible: int
    start: int | None
    end: int | None
    nodes: str
    n_nodes: int
    n_cpus: int
    limit: int | None
    partition: str
    suspended: int


def sacct_text(site: SlurmSite, schedule: Schedule) -> Iterator[str]:
    """Yield the rows of `sacct --parsable2`, in order of submission; times of the epoch."""
    yield "|".join(COLUMNS) + "\n"
    for outcome in _outcomes(site, schedule):
        row = _sacct_row(outcome)
        yield "|".join(row.get(name, "") for name in COLUMNS) + "\n"


def completion_text(site: SlurmSite, schedule: Schedule) -> Iterator[str]:
    """Yield the lines of jobcomp/filetxt, in order of the ends; times are UTC."""
    ended = [outcome for outcome in _outcomes(site, schedule) if outcome.end is not None]
    ended.sort(key=lambda outcome: outcome.end or 0)
    for outcome in ended:
        fields = _completion_fields(outcome, site.settings.cluster_name or "unknown")
        yield " ".join(f"{name}={value}" for name, value in fields) + " \n"


def _outcomes(site: SlurmSite, schedule: Schedule) -> Iterator[_Outcome]:
    rows_of: dict[str, list[int]] = {}
    for row, job_id in enumerate(schedule.column("job_id").tolist()):
        rows_of.setdefault(attempted_id(job_id), []).append(row)
    own = list(map(str, site.workload.job_ids.tolist()))
    if not set(own) & set(rows_of):
        raise InputError("result: none of its jobs is one of the site, expected a run of its jobs")
    places = _Places(site)
    for i, job_id in enumerate(own):
        # attempts of one job end one after the other
        found: Sequence[int | None] = rows_of.get(job_id) or (None,)
        for attempt in found:
            yield _outcome(site, schedule, places, (i, job_id, attempt))


def _outcome(
    site: SlurmSite, schedule: Schedule, places: _Places, which: tuple[int, str, int | None]
) -> _Outcome:
    """Return what became of an attempt of a job: its position, its id and its row, if any."""
    i, job_id, row = which
    record = schedule.record
    request: Request = site.requests[i]
    submit = site.origin + int(site.workload.submit_time[i])
    state, hosts, suspended = "PENDING", HostSet(), 0
    dates: tuple[int | None, int | None] = (None, None)
    if row is not None:
        if int(record.job[row]) != i:  # a further attempt comes when the last one has gone
            submit = site.origin + int(record.submit_time[row])
        dates = (
            _second(site, float(record.start_time[row])),
            _second(site, float(record.finish_time[row])),
        )
        if dates[1] is None and record.state[row] in (JobState.CANCELLED, JobState.REJECTED):
            dates = (dates[0], _left(site, i))
        note = record.metadata[row] if len(record.metadata) else ""
        state = _state(JobState(int(record.state[row])), dates, request.limit, note)
        hosts = record.hosts(row) if dates[0] is not None else hosts
        if len(record.suspended_time):
            suspended = round(float(record.suspended_time[row]))
    names, n_cpus = places.of(hosts)
    return _Outcome(
        job_id=job_id,
        request=request,
        state=state,
        submit=submit,
        eligible=max(submit, site.origin + int(request.begin or 0)),
        start=dates[0],
        end=dates[1],
        nodes=compress_hosts(names),
        n_nodes=len(names),
        n_cpus=n_cpus,
        limit=request.limit,
        partition=site.partition_of(request),
        suspended=suspended,
    )


def _left(site: SlurmSite, index: int) -> int:
    """Return when a job that never started left the queue."""
    cancel = site.workload.table.cancel_time(index)
    submit = float(site.workload.submit_time[index])
    return site.origin + math.floor(cancel if math.isfinite(cancel) else submit)


def _state(
    state: JobState, dates: tuple[int | None, int | None], limit: int | None, note: str
) -> str:
    """Name a state as Slurm does; a job that was killed after its limit was killed for it.

    What a run notes about a job says whether it made way for another, or lost a node.
    """
    start, end = dates
    if state == JobState.KILLED and note.startswith("preempted"):
        return "PREEMPTED"
    if state == JobState.FAILED and note.startswith("host "):
        return "NODE_FAIL"
    if state == JobState.KILLED and None not in (start, end, limit):
        assert start is not None
        assert end is not None
        assert limit is not None
        if end - start >= limit * 60:
            return "TIMEOUT"
    return _STATES[state]


def _second(site: SlurmSite, time: float) -> int | None:
    return None if math.isnan(time) else site.origin + math.floor(time)


class _Places:
    """Nodes of hosts."""

    def __init__(self, site: SlurmSite) -> None:
        self.nodes = site.settings.nodes
        self.first = first_hosts(site.settings)
        self.is_linear = site.settings.select.is_linear

    def of(self, hosts: HostSet) -> tuple[list[str], int]:
        """Return the names of the nodes of hosts, in their order, and how many CPUs they are."""
        found: list[int] = []
        n_cpus = 0
        for begin, end in hosts.intervals():
            low, high = bisect_right(self.first, begin) - 1, bisect_right(self.first, end) - 1
            found += range(low + (bool(found) and found[-1] == low), high + 1)
        if self.is_linear:
            n_cpus = sum(self.nodes[i].cpus for i in found)
        elif found:
            node = self.nodes[found[0]]
            n_cpus = len(hosts) * max(1, node.cpus // node.cores)
        return [self.nodes[i].name for i in found], n_cpus


def _sacct_row(outcome: _Outcome) -> dict[str, str]:
    request = outcome.request
    asked = [f"cpu={max(1, request.cpus)}", f"node={request.min_nodes}"]
    if request.memory_mb and not request.memory_is_per_cpu:
        asked.append(f"mem={request.memory_mb * request.min_nodes}M")
    asked += _gres_words(request)
    given = [f"cpu={outcome.n_cpus}", f"node={outcome.n_nodes}"] if outcome.nodes else []
    return {
        "JobIDRaw": outcome.job_id,
        "JobID": outcome.job_id,
        "Submit": str(outcome.submit),
        "Eligible": str(outcome.eligible),
        "Start": "Unknown" if outcome.start is None else str(outcome.start),
        "End": "Unknown" if outcome.end is None else str(outcome.end),
        "Suspended": _clock_text(outcome.suspended),
        "State": outcome.state,
        "ExitCode": "1:0" if outcome.state == "FAILED" else "0:0",
        "Partition": outcome.partition,
        "QOS": request.qos,
        "Account": request.account,
        "User": request.user,
        "ReqCPUS": str(max(1, request.cpus)),
        "ReqNodes": str(request.min_nodes),
        "ReqTRES": ",".join(asked),
        "AllocTRES": ",".join(given),
        "Timelimit": _limit_text(outcome.limit),
        "NodeList": outcome.nodes or "None assigned",
        "Reservation": request.reservation,
        "Constraints": request.features,
        "Reason": "None",
    }


def _gres_words(request: Request) -> list[str]:
    """Write generic resources as sacct does: those of all nodes together."""
    amounts = [(g, g.count * request.min_nodes) for g in request.gres_per_node]
    amounts += [(g, g.count) for g in request.gres_per_job]
    amounts += [(g, g.count * max(1, request.tasks)) for g in request.gres_per_task]
    return [
        f"gres/{':'.join(filter(None, (gres.name, gres.kind)))}={amount}"
        for gres, amount in amounts
    ]


def _clock_text(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def _limit_text(minutes: int | None) -> str:
    if minutes is None:
        return "Partition_Limit"
    if minutes == NO_LIMIT:
        return "UNLIMITED"
    days, rest = divmod(minutes, 1440)
    clock = f"{rest // 60:02d}:{rest % 60:02d}:00"
    return f"{days}-{clock}" if days else clock


def _completion_fields(outcome: _Outcome, cluster: str) -> Sequence[tuple[str, object]]:
    request = outcome.request
    limit = {None: "Partition_Limit", NO_LIMIT: "UNLIMITED"}.get(outcome.limit, outcome.limit)
    tres = f"cpu={max(1, request.cpus)},node={request.min_nodes}"
    code = "1:0" if outcome.state == "FAILED" else "0:0"
    return (
        ("JobId", outcome.job_id.partition("_")[0]),
        ("UserId", f"{request.user or 'nobody'}({_NOBODY})"),
        ("GroupId", f"nobody({_NOBODY})"),
        ("Name", request.name),
        ("JobState", outcome.state),
        ("Partition", outcome.partition),
        ("TimeLimit", limit),
        ("StartTime", _stamp(outcome.start)),
        ("EndTime", _stamp(outcome.end)),
        ("NodeList", outcome.nodes),
        ("NodeCnt", outcome.n_nodes),
        ("ProcCnt", outcome.n_cpus),
        ("WorkDir", ""),
        ("ReservationName", request.reservation),
        ("Tres", tres),
        ("Account", request.account),
        ("QOS", request.qos),
        ("WcKey", ""),
        ("Cluster", cluster),
        ("SubmitTime", _stamp(outcome.submit)),
        ("EligibleTime", _stamp(outcome.eligible)),
        *_array_fields(outcome),
        ("DerivedExitCode", "0:0"),
        ("ExitCode", code),
    )


def _array_fields(outcome: _Outcome) -> Sequence[tuple[str, object]]:
    if not outcome.request.array:
        return ()
    return (("ArrayJobId", outcome.request.array), ("ArrayTaskId", outcome.request.array_task))


def _stamp(time: int | None) -> str:
    if time is None:
        return "Unknown"
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S")
