"""Why a job waited, put together from a schedule: who held nodes, who stood in front, which passes.

The state of the machine is replayed between submission and start, and every stretch gets the first
cause that applies, in the order of `Cause`: see docs/reference/slurm.md. Where the model tells what
its passes had against a job, limits and passes that did not come to it are taken from there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.parts import Parts
from noctule.slurm.answers.waits.allowed_hosts import AllowedHosts
from noctule.slurm.answers.waits.eligibility import Eligibility
from noctule.slurm.answers.waits.lifetimes import (
    BusyHosts,
    Lifetimes,
    recorded_lifetimes,
    simulated_lifetimes,
)
from noctule.slurm.answers.waits.order import WaitingOrder
from noctule.slurm.model.site_run import Mode, clocks_of, run_site
from noctule.slurm.site.site import SlurmSite
from noctule.waits.causes import Cause, Explanation, Interval, merged

_MOST_NAMED = 3
Positions = npt.NDArray[np.intp]


def explain_waits(
    site: SlurmSite,
    job_ids: Sequence[str],
    *,
    seed: int = 1,
    mode: Mode = "slurm",
    recorded: bool = False,
) -> tuple[list[Explanation], list[str]]:
    """Explain the waits of jobs, and say in sentences what that rests on.

    The schedule is that of one run of the model, with phases of the clocks drawn by `seed`, or with
    `mode` "bsc" the steps of BSC's simulator; or it is the recorded one.
    """
    if recorded:
        lifetimes = recorded_lifetimes(site)
    else:
        (clocks,) = clocks_of(site, n_phases=1, seed=seed, mode=mode)
        lifetimes = simulated_lifetimes(run_site(site, clocks, keep_passes=True, keep_reasons=True))
    explainer = Explainer(site, lifetimes)
    return [explainer.explain_id(job_id) for job_id in job_ids], list(explainer.notes())


class Explainer:
    """Explains waits of one schedule of a site."""

    def __init__(self, site: SlurmSite, lifetimes: Lifetimes) -> None:
        """Take a site and what happened to its jobs."""
        self.site = site
        self.lifetimes = lifetimes
        self.order = WaitingOrder(site, lifetimes.start)
        self.allowed = AllowedHosts(site)
        self.eligibility = Eligibility(site, lifetimes.start, lifetimes.end)
        #: When jobs left the queue.
        self.left = np.fmin(lifetimes.start, Parts.of(site.workload).cancel_time)
        self._position = {str(job_id): i for i, job_id in enumerate(site.workload.job_ids.tolist())}

    def notes(self) -> Iterator[str]:
        """Say what the explanations rest on."""
        if self.lifetimes.main is None:
            yield "passes are not recorded: a scheduler's interval before a start is pass timing"
            if not self.site.settings.select.is_linear:
                yield "which cores jobs had is not recorded: all of their nodes count as taken"
        if not self.order.is_told:
            yield "priorities over time are not told: who started first counts as ahead"
        if self.lifetimes.reasons is None and self.site.extras.associations is not None:
            yield "reasons are not recorded: waits for limits of accounts and QOS show as others"

    def explain_id(self, job_id: str) -> Explanation:
        """Explain the wait of a job by its number."""
        if job_id not in self._position:
            raise InputError(f"JOBID: got {job_id!r}, which is no job of {self.site.workload.name}")
        return self.explain(self._position[job_id])

    def explain(self, job: int) -> Explanation:
        """Explain the wait of a job by its position."""
        submit = float(self.site.workload.submit_time[job])
        start = float(self.lifetimes.start[job])
        end = max(submit, start if math.isfinite(start) else self._left(job))
        given = self.lifetimes.boots.get(job, end)
        wait = _Wait(self, job, submit, given)
        boot = Interval(given, end, Cause.SWITCHING, "its nodes boot")
        return Explanation(
            job_id=str(self.site.workload.job_ids[job]),
            submit=submit,
            start=start if math.isfinite(start) else None,
            end_of_wait=end,
            intervals=merged((*wait.intervals(), boot)),
        )

    def job_name(self, job: int) -> str:
        """Return the number of a job."""
        return str(self.site.workload.job_ids[job])

    def _left(self, job: int) -> float:
        """Return when a job that never started left the queue, or the last date there is."""
        left = float(self.left[job])
        ends = self.lifetimes.end[np.isfinite(self.lifetimes.end)]
        return left if math.isfinite(left) else float(ends.max(initial=0.0))


class _Wait:
    """The state of the machine while one job waits, from one change to the next."""

    def __init__(self, explainer: Explainer, job: int, begin: float, end: float) -> None:
        self.explainer = explainer
        self.job = job
        self.begin, self.end = begin, end
        self.needed = int(explainer.site.workload.n_hosts[job])
        self.allowed = explainer.allowed.of(job)
        self.busy = BusyHosts(explainer.lifetimes, job, begin, end, self.allowed)
        submit = explainer.site.workload.submit_time
        waiting = (submit < end) & (explainer.left > begin)
        waiting[job] = False
        ahead = explainer.order.ahead_of(job, np.flatnonzero(waiting).tolist())
        self.ahead = np.array(ahead, dtype=np.intp)
        self.ahead_from = np.array([explainer.eligibility.date(k) for k in ahead])
        self.ahead_until = explainer.left[self.ahead]
        self.reasons = reasons = explainer.lifetimes.reasons
        held = {k: reasons.holds(k) for k in ahead} if reasons is not None else {}
        self.ahead_held = {k: stretches for k, stretches in held.items() if stretches}

    def intervals(self) -> Iterator[Interval]:
        found = [self._state(begin, end) for begin, end in pairwise(self._dates())]
        timing = self._last_pass(found) if math.isfinite(self._start) else math.inf
        for fits, one in found:
            split = min(max(timing, one.begin), one.end) if fits else one.end
            yield replace(one, end=split)
            yield Interval(split, one.end, Cause.TIMING, f"until a {self._pass} pass")

    @property
    def _start(self) -> float:
        return float(self.explainer.lifetimes.start[self.job])

    @property
    def _pass(self) -> str:
        by = self.explainer.lifetimes.scheduler[self.job]
        return "backfill" if by == "Backfill" else "main"

    def _dates(self) -> list[float]:
        """Return the dates at which anything changes that a cause depends on."""
        dates = {self.begin, self.end, *self.busy.dates()}
        dates |= {
            *self.explainer.eligibility.dates(self.job),
            *self.explainer.allowed.dates(self.job),
        }
        dates |= {*self.ahead_from.tolist(), *self.ahead_until.tolist()}
        if self.reasons is not None:
            dates |= {*self.reasons.dates(self.job)}
            dates |= {d for held in self.ahead_held.values() for stretch in held for d in stretch}
        return sorted(date for date in dates if self.begin <= date <= self.end)

    def _state(self, begin: float, end: float) -> tuple[bool, Interval]:
        """Return whether enough hosts were free for the job, and why it did not start."""
        told = self.explainer.eligibility.cause(self.job, begin)
        if told is not None:
            cause, detail, jobs = told
            return False, Interval(begin, end, cause, detail, self._names(jobs))
        allowed = self.explainer.allowed
        usable = self.allowed & allowed.up(begin) & self.busy.free(begin)
        closed, window = allowed.closed(self.job, begin)
        fits = int((usable & ~closed).sum()) >= self.needed
        hold = None if self.reasons is None else self.reasons.hold(self.job, begin)
        if hold is not None:
            return fits, Interval(begin, end, *hold)
        waiting = self._waiting(begin)
        if fits:
            return True, self._refused(begin, end, waiting)
        if int(usable.sum()) >= self.needed:
            return False, Interval(begin, end, Cause.RESERVATION, window)
        if len(waiting):
            first = self._first(waiting)
            return False, Interval(begin, end, Cause.PRIORITY, "nodes busy", first)
        largest = self.busy.largest(_MOST_NAMED)
        return False, Interval(begin, end, Cause.BUSY, "", self._names(largest))

    def _waiting(self, date: float) -> Positions:
        """Return the jobs that stood in front: not those that were held whatever was free."""
        waiting = self.ahead[(self.ahead_from <= date) & (date < self.ahead_until)]
        held = [
            any(begin <= date < end for begin, end in self.ahead_held.get(job, ()))
            for job in (waiting.tolist() if self.ahead_held else ())
        ]
        return waiting[~np.array(held)] if held else waiting

    def _refused(self, begin: float, end: float, ahead: Positions) -> Interval:
        """Say what a pass would have had against a job for which there were enough hosts."""
        untested = self._untested(begin, len(ahead))
        if untested:
            return Interval(begin, end, Cause.NOT_TESTED, untested)
        if len(ahead):
            return Interval(begin, end, Cause.PRIORITY, "free nodes kept", self._first(ahead))
        return Interval(begin, end, Cause.FRAGMENTED, "enough in number, but not as asked for")

    def _untested(self, date: float, n_ahead: int) -> str | None:
        """Say why no pass came to the job, if that is so."""
        if self.reasons is not None:
            return self.reasons.untested(self.job, date)
        most = self.explainer.site.settings.scheduling.bf_max_job_test
        return f"{n_ahead} jobs ahead, bf_max_job_test={most}" if n_ahead >= most else None

    def _names(self, jobs: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self.explainer.job_name, jobs))

    def _first(self, ahead: Positions) -> tuple[str, ...]:
        rank = self.explainer.order.rank
        return self._names([int(ahead[np.argmin(rank[ahead])])])

    def _last_pass(self, found: Sequence[tuple[bool, Interval]]) -> float:
        """Return from when on the job waited for nothing but the pass that started it."""
        since = alone = self.end
        for fits, one in reversed(found):
            if not fits:
                break
            alone = one.begin if one.cause is Cause.FRAGMENTED and alone == since else alone
            since = one.begin
        last = self._pass_before_start()
        if alone < self.end and last <= alone:
            return alone  # no pass has refused it since nobody stood in front
        # a main pass tests again when hosts come back: it waited for the last that did
        release = self.busy.last_release(self.end) if self._pass == "main" else since
        return max(since, last, release)

    def _pass_before_start(self) -> float:
        """Return the last pass of the kind that started the job which did not."""
        lives, scheduling = self.explainer.lifetimes, self.explainer.site.settings.scheduling
        is_main = self._pass == "main"
        dates = lives.main if is_main else lives.backfill
        if dates is None:
            apart = scheduling.batch_sched_delay if is_main else scheduling.bf_interval
            return self.end - max(0, apart) - 1
        i = int(np.searchsorted(dates, self.end, side="left"))
        return float(dates[i - 1]) if i else -math.inf
