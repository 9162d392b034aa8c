"""Says what a schedule breaks, whoever made it.

Some rules hold for every schedule: hosts are used once at a time, jobs start after their
submission and respect their walltimes. Others are those of a policy, and are checked by replaying
the recorded history, instant by instant, and asking at each of them what the textbook would have
started. Nothing is simulated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.testing.absence_rules import broken_by_events, broken_by_windows
from noctule.testing.observed import Delays, Floats, Observed, Violation, seconds
from noctule.testing.plan_replay import replay_conservative, replay_replanning
from noctule.testing.queue_replay import replay_easy, replay_fcfs

if TYPE_CHECKING:
    from noctule.external_events import ExternalEvents
    from noctule.schedule import Schedule
    from noctule.windows import Windows

_REPLAYS: dict[str, Callable[[Observed, float], Iterator[Violation]]] = {
    "conservative": replay_conservative,
    "easy": replay_easy,
    "fcfs": replay_fcfs,
    "replanning": replay_replanning,
}

# Two dates of a file with six decimals may each be half a microsecond off.
SIX_DECIMALS = 2e-6

# The policies that keep a plan; how delays change it is up to the policy.
_PLANNED = ("conservative", "replanning")
_ENDED = ("completed", "timed_out", "killed", "failed")
_PAIRS_AT_ONCE = 4_000_000


def check_schedule(
    schedule: Schedule,
    *,
    policy: str | None = None,
    tolerance: float = 0.0,
    max_per_rule: int | None = 20,
    launch_delay: float = 0.0,
    epilogue_delay: float = 0.0,
    windows: Windows | None = None,
    events: ExternalEvents | None = None,
) -> list[Violation]:
    """Return what a schedule breaks, in order of rules and time; nothing if all is well.

    Events closer than `tolerance` seconds are taken for one instant, and nothing is said of what
    would be right with other dates within it. `launch_delay` and `epilogue_delay` are those of the
    run. Jobs submitted together are in the order of their workload or, from a file, of their ids.
    `windows` and `events` are those of the run: jobs must keep off hosts that are away.
    """
    if policy is not None and policy not in _REPLAYS:
        raise InputError(f"policy {policy}: has no rules to check; {', '.join(_REPLAYS)} have")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise InputError(f"tolerance: got {tolerance}, expected a number >= 0")
    if policy in _PLANNED and (launch_delay > 0 or epilogue_delay > 0):
        raise InputError(
            f"policy {policy}: its plan with launch and epilogue delays is not laid down anywhere; "
            "check such a run without --policy"
        )
    jobs = Observed.of(schedule, Delays(launch_delay, epilogue_delay))
    found = list(_broken_by_jobs(jobs, tolerance))
    found += _broken_by_hosts(schedule, jobs, tolerance)
    if events is not None:
        found += broken_by_events(schedule, jobs, events)
    if windows is not None:
        found += broken_by_windows(schedule, jobs, windows.on(schedule.platform.n_hosts))
    if policy is not None:
        found += _REPLAYS[policy](jobs, tolerance)
    return found if max_per_rule is None else _shortened(found, max_per_rule)


def has_whole_dates(schedule: Schedule) -> bool:
    """Tell whether all dates are whole seconds, so that a file cannot have rounded them."""
    names = ("submit_time", "start_time", "finish_time")
    columns = [schedule.column(name) for name in names]
    return all(bool(np.all((c == np.floor(c)) | ~np.isfinite(c))) for c in columns)


def _broken_by_jobs(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    """Check each job alone."""
    started = np.isfinite(jobs.start_time)
    early = started & (jobs.start_time < jobs.submit_time - tolerance)
    for i in np.flatnonzero(early).tolist():
        start, submit = jobs.start_time[i], jobs.submit_time[i]
        message = f"started at {seconds(start)}, submitted at {seconds(submit)}"
        yield _violation("started before submission", jobs, i, start, message)
    for i in np.flatnonzero(started & (jobs.finish_time < jobs.start_time)).tolist():
        start, finish = jobs.start_time[i], jobs.finish_time[i]
        message = f"finished at {seconds(finish)}, started at {seconds(start)}"
        yield _violation("finished before its start", jobs, i, finish, message)
    yield from _overruns(jobs, tolerance)
    yield from _wrong_states(jobs, tolerance)


def _overruns(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    ended = np.isfinite(jobs.finish_time) & np.isfinite(jobs.start_time)
    limit = jobs.walltime + tolerance + _last_digits(jobs.finish_time)
    for i in np.flatnonzero(ended & (jobs.runtime > limit)).tolist():
        message = f"ran for {seconds(jobs.runtime[i])} s of {seconds(jobs.walltime[i])} s"
        yield _violation("overran its walltime", jobs, i, jobs.finish_time[i], message)


def _last_digits(time: Floats) -> Floats:
    """Return how far from exact a difference of such dates can be."""
    return 2 * np.spacing(np.where(np.isfinite(time), time, 0.0))


def _wrong_states(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    slack = tolerance + _last_digits(jobs.finish_time)
    for i, state in enumerate(jobs.state):
        start, finish = float(jobs.start_time[i]), float(jobs.finish_time[i])
        if state in _ENDED:
            good = math.isfinite(start) and math.isfinite(finish)
            expected = "a start and a finish"
        elif state == "running":
            good, expected = math.isfinite(start) and finish == math.inf, "a start and no finish"
        else:
            good, expected = start == finish == math.inf, "neither start nor finish"
        if not good:
            found = f"{state}, start {seconds(start)}, finish {seconds(finish)}"
            message = f"{found}; expected {expected}"
            yield _violation("inconsistent state", jobs, i, None, message)
        elif state == "timed_out":
            runtime, walltime = jobs.runtime[i], jobs.walltime[i]
            if runtime < walltime - slack[i]:
                message = f"timed out after {seconds(runtime)} s of {seconds(walltime)} s"
                yield _violation("inconsistent state", jobs, i, finish, message)


def _broken_by_hosts(schedule: Schedule, jobs: Observed, tolerance: float) -> Iterator[Violation]:
    """Check who holds which hosts; how many are held together where nobody says which."""
    host_sets = schedule.column("hosts")[jobs.row]
    started = np.flatnonzero(np.isfinite(jobs.start_time))
    held = np.fromiter(map(len, host_sets[started]), dtype=np.int64, count=len(started))
    if not held.any():
        yield from _overfull(jobs, tolerance)
        return
    for i, n_held in zip(started.tolist(), held.tolist(), strict=True):
        if n_held != jobs.size[i]:
            message = f"holds {n_held} host{'' if n_held == 1 else 's'} of {jobs.size[i]}"
            yield _violation("wrong number of hosts", jobs, i, jobs.start_time[i], message)
    if not held.all():
        yield from _overfull(jobs, tolerance)
    runs = [(i, *run) for i in started.tolist() for run in host_sets[i].intervals()]
    job, low, high = np.array(runs, dtype=np.int64).reshape(-1, 3).T
    for k in np.flatnonzero(high >= jobs.n_hosts).tolist():
        i = int(job[k])
        message = f"holds host {high[k]} of 0 to {jobs.n_hosts - 1}"
        yield _violation("host does not exist", jobs, i, jobs.start_time[i], message)
    real = low < jobs.n_hosts  # the others have been told, and there may be billions of them
    high = np.minimum(high, jobs.n_hosts - 1)
    yield from _used_twice(jobs, job[real], low[real], high[real], tolerance)


def _overfull(jobs: Observed, tolerance: float) -> Iterator[Violation]:
    started = np.flatnonzero(np.isfinite(jobs.start_time))
    start = jobs.start_time[started]
    # hosts come free a little early rather than late: what happens within tolerance is one instant
    free = np.maximum(jobs.free_time[started] - tolerance, start)
    time = np.concatenate([free, start])
    change = np.concatenate([-jobs.size[started], jobs.size[started]])
    order = np.lexsort((np.repeat([0, 1], len(started)), time))
    used = np.cumsum(change[order])
    for k in np.flatnonzero((used > jobs.n_hosts) & (change[order] > 0)).tolist():
        i = int(started[order[k] - len(started)])
        message = f"starts on {jobs.size[i]} hosts, which makes {used[k]} of {jobs.n_hosts} in use"
        yield _violation("more hosts used than there are", jobs, i, float(time[order[k]]), message)


def _used_twice(
    jobs: Observed,
    job: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
    high: npt.NDArray[np.int64],
    tolerance: float,
) -> Iterator[Violation]:
    n_pairs = int((high - low + 1).sum())
    last = int(high.max(initial=0))
    width = max(1, (last + 1) * _PAIRS_AT_ONCE // max(n_pairs, 1))
    conflicts: dict[tuple[int, int], tuple[int, int]] = {}  # (holder, intruder): (host, how many)
    for first in range(0, last + 1, width):
        inside = (low < first + width) & (high >= first)
        some_low = np.maximum(low[inside], first)
        some_high = np.minimum(high[inside], first + width - 1)
        for host, holder, intruder in _overlaps(jobs, job[inside], some_low, some_high, tolerance):
            known, n = conflicts.get((holder, intruder), (host, 0))
            conflicts[holder, intruder] = (known, n + 1)
    for (holder, i), (host, n) in sorted(conflicts.items(), key=lambda c: jobs.start_time[c[0][1]]):
        more = f" and {n - 1} more" if n > 1 else ""
        until = seconds(jobs.free_time[holder])
        message = (
            f"started at {seconds(jobs.start_time[i])} on host {host}{more}, "
            f"which job {jobs.job_id[holder]} holds until {until}"
        )
        yield _violation("host used twice", jobs, i, jobs.start_time[i], message)


def _overlaps(
    jobs: Observed,
    job: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
    high: npt.NDArray[np.int64],
    tolerance: float,
) -> Iterable[tuple[int, int, int]]:
    """Yield (host, job that holds it, job that starts meanwhile)."""
    counts = high - low + 1
    which = np.repeat(np.arange(len(job)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    host = low[which] + np.arange(len(which)) - first
    holder = job[which]
    order = np.lexsort((jobs.free_time[holder], jobs.start_time[holder], host))
    host, holder = host[order], holder[order]
    meets = host[1:] == host[:-1]
    early = jobs.start_time[holder[1:]] < jobs.free_time[holder[:-1]] - tolerance
    for conflicting in np.unique(host[1:][meets & early]).tolist():
        yield from _conflicts(jobs, conflicting, holder[host == conflicting].tolist(), tolerance)


def _conflicts(
    jobs: Observed, host: int, holders: Sequence[int], tolerance: float
) -> Iterator[tuple[int, int, int]]:
    """Walk over the jobs on one host, in order of start, with the one that holds it longest."""
    longest = holders[0]
    for job in holders[1:]:
        if jobs.start_time[job] < jobs.free_time[longest] - tolerance:
            yield host, longest, job
        if jobs.free_time[job] > jobs.free_time[longest]:
            longest = job


def _violation(rule: str, jobs: Observed, i: int, time: float | None, message: str) -> Violation:
    when = None if time is None else float(time)
    return Violation(rule, jobs.job_id[i], when, f"job {jobs.job_id[i]}: {message}")


def _shortened(found: list[Violation], max_per_rule: int) -> list[Violation]:
    """Keep the first violations of each rule, and count the rest."""
    totals = Counter(violation.rule for violation in found)
    kept: list[Violation] = []
    for rule, total in totals.items():
        kept += [violation for violation in found if violation.rule == rule][:max_per_rule]
        rest = total - max_per_rule
        if rest > 0:
            kept.append(Violation(rule, None, None, f"and {rest} more, {total} in all", rest))
    return kept
