"""Jobs from Slurm's accounting: attempts put together, and what each job asked for.

Rows that were preempted, requeued or hit by a failing node are attempts of one job, which was
submitted when the first one was. Rows of a job that changed its size are one run. A job that
reached its limit would have run on, so that its time is censored; so is that of jobs which had not
ended when the log was exported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from noctule.errors import InputError
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.sacct_rows import COLUMNS, Attempt, SacctRows

EXPORT_COMMAND = (
    "SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 "
    "--starttime {start} --endtime {end} --format=" + ",".join(COLUMNS)
)
# a job whose time is not known runs as long: no limit lets it end by itself
ENDLESS = 10 * 365 * 86_400
_AGAIN = frozenset(("PREEMPTED", "NODE_FAIL", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"))
_ALIVE = frozenset(
    ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED", "SIGNALING", "RESIZING")
)
_FAILED = frozenset(("FAILED", "OUT_OF_MEMORY", "BOOT_FAIL", "NODE_FAIL"))
_MOST_TASKS = 4_000_001


@dataclass(slots=True)
class SacctJob:
    """A job: what it asked for first, and what became of it.

    Attributes:
        first: the row of the first attempt, which says what was asked for.
        last: the row of the last attempt.
        runtime: seconds that it needs; ENDLESS where it was ended by its limit.
        cancel: when it left the queue without having started; None if it did not.
        is_censored: whether `runtime` was not seen to its end.
    """

    id: str
    first: Attempt
    last: Attempt
    runtime: int
    cancel: int | None
    is_censored: bool
    n_attempts: int
    fails: bool


def export_command(start: str = "2026-01-01", end: str = "now") -> str:
    """Return the command that prints what is read here; dates as `sacct` takes them."""
    return EXPORT_COMMAND.format(start=start, end=end)


def sacct_jobs(rows: Sequence[SacctRows], report: ImportReport) -> list[SacctJob]:
    """Put the attempts of files together as jobs, in order of submission and then of the files."""
    groups: dict[str, list[Attempt]] = {}
    for table in rows:
        for attempt in table.attempts:
            if _is_sound(attempt, table.source, report):
                groups.setdefault(attempt.job_id, []).append(attempt)
    last = max((table.last for table in rows), default=0)
    source = rows[0].source if rows else ""
    jobs = [
        job
        for attempts in groups.values()
        for run in _lives(attempts, source, report)
        for job in _jobs(run, last, source, report)
    ]
    jobs.sort(key=_submission)
    return _with_own_ids(jobs, source, report)


def _is_sound(attempt: Attempt, source: str, report: ImportReport) -> bool:
    """Drop rows that tell of no run here; mend those whose clock jumped."""
    line = attempt.line
    if attempt.state == "REVOKED":
        report.drop("REVOKED: ran on another cluster of a federation", source, line)
        return False
    if attempt.start is not None and attempt.end is not None and attempt.end < attempt.start:
        if attempt.state in ("CANCELLED", "DEADLINE", "PENDING"):
            attempt.start = None
        else:
            report.drop("End: before Start", source, line)
            return False
    if attempt.start is not None and attempt.start < attempt.submit:
        report.apply("Start before Submit: submitted when it started", source, line)
        attempt.submit = attempt.start
    if attempt.end is not None and attempt.end < attempt.submit:
        report.drop("End: before Submit", source, line)
        return False
    return True


def _lives(attempts: list[Attempt], source: str, report: ImportReport) -> Iterator[list[Attempt]]:
    """Yield the attempts of each job that had one id: ids are used again after a while."""
    if len(attempts) == 1:
        yield attempts
        return
    attempts.sort(key=lambda a: (a.submit, a.start or 2**62, a.end or 2**62))
    life: list[Attempt] = []
    for attempt in attempts:
        before = life[-1] if life else None
        if before is None:
            life = [attempt]
        elif _is_same(before, attempt):
            report.drop("there already: the same attempt in another row", source, attempt.line)
            if before.end is None:
                life[-1] = attempt
        elif before.state in _AGAIN or before.state == "RESIZING":
            life.append(attempt)
        else:
            report.apply("JobID used again: another job", source, attempt.line)
            yield life
            life = [attempt]
    yield life


def _is_same(one: Attempt, other: Attempt) -> bool:
    """Whether two rows tell of one attempt, perhaps of different dates."""
    if one.submit != other.submit or one.state == "RESIZING":
        return False
    return one.start == other.start or one.start is None or one.state in _ALIVE


def _jobs(life: list[Attempt], last: int, source: str, report: ImportReport) -> Iterator[SacctJob]:
    first, final = life[0], life[-1]
    if any(attempt.state == "RESIZING" for attempt in life):
        report.apply("RESIZING: rows of one run merged", source, first.line)
        final = _merged_resizes(life)
        life = [attempt for attempt in life if attempt.state != "RESIZING"] or [final]
    if len(life) > 1:
        report.apply("several attempts: one job, which runs as the last", source, first.line)
    runtime, cancel, is_censored = _fate(final, last, source, report)
    fails = final.state in _FAILED or (final.state == "COMPLETED" and final.failed)
    job = SacctJob(first.job_id, first, final, runtime, cancel, is_censored, len(life), fails)
    if not first.tasks:
        yield job
        return
    report.apply("arrays that never started: a job for each task", source, first.line)
    for task in _tasks(first, source):
        attempt = replace(first, job_id=f"{first.array}_{task}", task=task, tasks="")
        yield replace(job, id=attempt.job_id, first=attempt, last=replace(final, task=task))


def _merged_resizes(life: list[Attempt]) -> Attempt:
    """Return the last row, begun when the first piece of its run did."""
    pieces = [life[-1]]
    for attempt in reversed(life[:-1]):
        if attempt.state != "RESIZING":
            break
        pieces.append(attempt)
    return replace(life[-1], start=pieces[-1].start)


def _fate(
    final: Attempt, last: int, source: str, report: ImportReport
) -> tuple[int, int | None, bool]:
    """Return how long the job runs, when it left the queue unstarted, and whether that is known."""
    line = final.line
    limit = None if final.limit is None else final.limit * 60
    never_ran = final.start is None or (
        final.state in ("CANCELLED", "DEADLINE")
        and not final.node_list
        and final.start == final.end
    )
    if final.state in ("CANCELLED", "DEADLINE", "FAILED", "BOOT_FAIL") and never_ran:
        report.apply("ended without a start: leaves the queue then", source, line)
        return _assumed(limit), final.end, True
    if final.start is None:
        report.apply("not started when exported: runs to its limit", source, line)
        return _assumed(limit), None, True
    if final.state == "TIMEOUT" and limit is not None:
        report.apply("TIMEOUT: would run to any limit", source, line)
        return ENDLESS, None, True
    if final.state in _ALIVE or final.end is None:
        report.apply("running when exported: runs to its limit", source, line)
        return max(_assumed(limit), last - final.start), None, True
    if final.state in _AGAIN:
        report.apply(f"{final.state} and not seen again: runs as long as it did", source, line)
    return final.end - final.start, None, final.state in _AGAIN


def _assumed(limit: int | None) -> int:
    """Return how long a job runs of which only the limit is known: at no time without one."""
    return 0 if limit is None or limit > ENDLESS else limit


def _tasks(attempt: Attempt, source: str) -> Iterable[int]:
    """Return the tasks of 12_[0-6:2,9]."""
    where = f"{source}: line {attempt.line}: JobID"
    numbers: list[int] = []
    for word in attempt.tasks.split(","):
        match = re.fullmatch(r"([0-9]{1,9}-[0-9]{1,9}):([0-9]{1,9})", word)
        if match is not None and int(match[2]) > 0:
            numbers += map(int, expand_hosts(f"[{match[1]}]", where)[:: int(match[2])])
        else:
            numbers += map(int, expand_hosts(f"[{word}]", where))
        if len(numbers) > _MOST_TASKS:
            raise InputError(f"{where}: more than {_MOST_TASKS} tasks")
    return numbers


def _submission(job: SacctJob) -> tuple[int, int, int]:
    """Order jobs as they were submitted: by date, then by number, then by task."""
    number, _, rest = job.id.partition("_")
    number, _, component = number.partition("+")
    return job.first.submit, int(number), job.first.task if rest else int(component or 0)


def _with_own_ids(jobs: list[SacctJob], source: str, report: ImportReport) -> list[SacctJob]:
    """Number jobs that share an id: 12, 12@2, 12@3."""
    seen: dict[str, list[int]] = {}
    kept = []
    for job in jobs:
        submits = seen.setdefault(job.id, [])
        if job.first.submit in submits:
            report.drop("there already: a task of an array in two rows", source, job.first.line)
            continue
        submits.append(job.first.submit)
        if len(submits) > 1:
            job.id = f"{job.id}@{len(submits)}"
        kept.append(job)
    return kept
