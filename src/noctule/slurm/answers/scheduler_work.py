"""What a run cost and gave besides waits: utilisation, backfilled jobs, work of the schedulers."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noctule.slurm.model.site_run import SiteRun
from noctule.slurm.site.site import SlurmSite


def _told(says: str) -> Any:
    return field(metadata={"says": says})


@dataclass(frozen=True, slots=True)
class Work:
    """Numbers of one run, or their means over phases."""

    utilisation: float = _told("share of hosts in use between the first and the last submission")
    started: float = _told("jobs started")
    backfilled: float = _told("jobs started by backfilling")
    main_passes: float = _told("passes of the main scheduler")
    main_tests: float = _told("jobs it tested")
    backfill_passes: float = _told("backfill passes")
    backfill_tests: float = _told("jobs they tested")
    longest_queue: float = _told("jobs in the longest queue that a pass saw")
    suspended: float = _told("node-hours switched off by power saving")


#: What each number of `Work` is.
WORK: Mapping[str, str] = {f.name: f.metadata["says"] for f in dataclasses.fields(Work)}


def work_of(site: SlurmSite, run: SiteRun) -> Work:
    """Return the numbers of one run."""
    quick, full, backfill = (run.statistics[kind] for kind in ("quick", "full", "backfill"))
    return Work(
        utilisation=_utilisation(site, run),
        started=float(np.isfinite(run.start).sum()),
        backfilled=float(sum(who == "Backfill" for who in run.scheduler)),
        main_passes=float(quick["passes"] + full["passes"]),
        main_tests=float(quick["tested"] + full["tested"]),
        backfill_passes=float(backfill["passes"]),
        backfill_tests=float(backfill["tested"]),
        longest_queue=float(max(one["longest_queue"] for one in (quick, full, backfill))),
        suspended=run.statistics["suspended_node_seconds"] / 3600,
    )


def mean_work(runs: Sequence[Work]) -> Work:
    """Return means over runs."""
    return Work(**{name: statistics.fmean(getattr(one, name) for one in runs) for name in WORK})


def _utilisation(site: SlurmSite, run: SiteRun) -> float:
    """Return the share of hosts in use while jobs came; over the whole run if all came at once."""
    submit = site.workload.submit_time
    begin, end = float(submit.min()), float(submit.max())
    record = run.schedule.record
    ran = np.isfinite(record.start_time) & np.isfinite(record.finish_time)
    if end <= begin:
        end = float(record.finish_time[ran].max(initial=begin))
    if end <= begin:
        return 0.0
    busy = np.clip(record.finish_time[ran], begin, end) - np.clip(
        record.start_time[ran], begin, end
    )
    used = float((busy * record.n_hosts[ran]).sum())
    return used / ((end - begin) * site.platform.n_hosts)
