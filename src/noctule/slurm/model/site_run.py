"""Runs of a site's jobs under the model: columns in the order of the workload, by phases.

The clocks of a real Slurm begin anywhere, so that one run is one sample: an ensemble of phases
tells how much of a wait is chance. The same seed draws the same phases for every configuration, so
that changes are compared in pairs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np

from noctule.columns import Floats
from noctule.policy import Policy
from noctule.record import STATE_WORDS, attempted_id
from noctule.schedule import Schedule
from noctule.simulation import simulate
from noctule.slurm.conf.associations import Associations, Qos
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import ReasonChange, SlurmModel, run_options
from noctule.slurm.model.power import with_power_saving
from noctule.slurm.site.site import SlurmSite

#: Whose clocks run: those of Slurm's daemons, or the steps of BSC's simulator.
Mode = Literal["slurm", "bsc"]


@dataclass(frozen=True, slots=True)
class SiteRun:
    """What the model made of a site's jobs.

    Attributes:
        start: dates, in the order of the workload; not a number where a job never started. Of a
            job that was requeued these are those of its last attempt, as are all other columns.
        end: likewise.
        state: how far each job came, as schedules say it.
        scheduler: Main, Backfill, or "" by job.
        rows: the row of each job in the schedule, -1 for none.
        schedule: the whole of it, with the hosts of each job.
        statistics: of the schedulers, as sdiag tells them.
        notes: what the model does not do of what was asked, and what was odd, in sentences.
        main_passes: dates, where they were kept; so are `backfill_passes`.
        reasons: why passes did not start a job, where that was kept.
        boots: when jobs that had to wait for nodes to boot were given them.
    """

    start: Floats
    end: Floats
    state: list[str]
    scheduler: list[str]
    rows: list[int]
    schedule: Schedule
    statistics: Mapping[str, Any]
    notes: tuple[str, ...]
    main_passes: Floats
    backfill_passes: Floats
    reasons: Callable[[int], Sequence[ReasonChange]] | None = None
    boots: Mapping[int, float] = field(default_factory=dict)

    def hosts(self, job: int) -> list[tuple[int, int]]:
        """Return the hosts of a job as intervals."""
        row = self.rows[job]
        return [] if row < 0 else self.schedule.record.hosts(row).intervals()


def run_site(
    site: SlurmSite, clocks: Clocks, *, keep_passes: bool = False, keep_reasons: bool = False
) -> SiteRun:
    """Run the jobs of a site under its configuration."""
    n_jobs = len(site.workload)
    associations, odd = known_associations(site)
    model = SlurmModel(
        site.settings,
        site.requests,
        clocks=clocks,
        epoch=site.origin,
        job_ids=site.workload.job_ids.tolist(),
        associations=associations,
        usage=site.extras.usage or (),
        topology=site.extras.topology,
        boots=site.extras.boots,
        keep_passes=keep_passes,
        keep_reasons=keep_reasons,
    )
    usual = run_options(site.settings, clocks, loses_nodes=site.extras.outages is not None)
    platform, options = with_power_saving(site.settings, site.platform, usual, site.extras.boots)
    schedule = simulate(
        platform,
        site.workload,
        cast("Policy", model.policy),  # which the run takes as it is
        site.extras.outages,
        windows=site.extras.reservations,
        **options,
    )
    record = schedule.record
    start, end = np.full(n_jobs, np.nan), np.full(n_jobs, np.nan)
    state, rows = ["waiting"] * n_jobs, [-1] * n_jobs
    schedulers = model.schedulers()
    started_by = schedulers[:n_jobs]
    given, boots = model.boots(), dict[int, float]()
    for row, index, job in _attempts(site, schedule):
        boots.pop(job, None)
        if index in given:
            boots[job] = given[index]
        start[job], end[job] = record.start_time[row], record.finish_time[row]
        state[job], rows[job] = STATE_WORDS[record.state[row]], row
        started_by[job] = schedulers[index]
    passes = model.passes() if keep_passes else []
    return SiteRun(
        start=start,
        end=end,
        state=state,
        scheduler=started_by,
        rows=rows,
        schedule=schedule,
        statistics=model.statistics(),
        notes=(*dict.fromkeys((*odd, *model.notes, *schedule.notes)),),
        main_passes=np.array([p.date for p in passes if p.kind != "backfill"]),
        backfill_passes=np.array([p.date for p in passes if p.kind == "backfill"]),
        reasons=model.reasons if keep_reasons else None,
        boots=boots,
    )


def _attempts(site: SlurmSite, schedule: Schedule) -> Iterator[tuple[int, int, int]]:
    """Yield rows with their jobs, and the jobs of the workload that those stand for, in order."""
    n_jobs = len(site.workload)
    jobs = schedule.record.job.tolist()
    again = [row for row, job in enumerate(jobs) if job >= n_jobs]
    yield from ((row, job, job) for row, job in enumerate(jobs) if job < n_jobs)
    if again:
        positions = {str(name): i for i, name in enumerate(site.workload.job_ids.tolist())}
        ids = schedule.column("job_id")
        for row in sorted(again, key=jobs.__getitem__):
            yield row, jobs[row], positions[attempted_id(ids[row])]


def known_associations(site: SlurmSite) -> tuple[Associations | None, tuple[str, ...]]:
    """Return accounts in which every QOS that is named exists, and what had to be assumed.

    A dump of accounts names QOS, but only the table of QOS says what they are.
    """
    told = site.extras.associations
    if told is None:
        return None, ()
    named = {*site.requests.column("qos")}
    named |= {one.default_qos for one in (*told.accounts, *told.users)}
    unknown = sorted(named - {qos.name for qos in told.qos} - {"", None})
    if not unknown:
        return told, ()
    notes = (f"QOS {', '.join(unknown)}: not told (--qos), taken as without limits or priority",)
    return told.with_qos((*told.qos, *map(Qos, unknown))), notes


def phase_seeds(n_phases: int, seed: int) -> list[int]:
    """Return the seed of each phase of an ensemble."""
    rng = random.Random(seed)
    return [rng.getrandbits(32) for _ in range(n_phases)]


def run_phases(
    site: SlurmSite,
    *,
    n_phases: int,
    seed: int,
    mode: Mode = "slurm",
    keep_passes: bool = False,
    keep_reasons: bool = False,
) -> Iterator[SiteRun]:
    """Run a site once for each phase of the clocks; in the mode of BSC's simulator just once."""
    for clocks in clocks_of(site, n_phases=n_phases, seed=seed, mode=mode):
        yield run_site(site, clocks, keep_passes=keep_passes, keep_reasons=keep_reasons)


def clocks_of(site: SlurmSite, *, n_phases: int, seed: int, mode: Mode = "slurm") -> list[Clocks]:
    """Return the clocks of an ensemble; those of BSC's simulator have no phases."""
    if mode == "bsc":
        return [Clocks.bsc()]
    return [Clocks.drawn(phase, site.settings) for phase in phase_seeds(n_phases, seed)]
