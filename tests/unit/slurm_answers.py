"""Small sites for tests of answers about them: a few alike nodes and jobs, made in place."""

from __future__ import annotations

import math

import numpy as np

from noctule.slurm.answers.waits.lifetimes import Lifetimes
from noctule.slurm.conf.lines import parse_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.import_report import ImportReport
from noctule.slurm.jobs.recorded import Recorded
from noctule.slurm.jobs.requests import Request, Requests
from noctule.slurm.jobs.sources import SiteJobs
from noctule.slurm.site.site import SiteExtras, import_site


def conf_of(n_nodes=2, *lines):
    return parse_conf(
        "\n".join(
            [
                "SelectType=select/linear",
                f"NodeName=n[1-{n_nodes}] CPUs=4",
                "PartitionName=main Nodes=ALL Default=YES",
                *lines,
            ]
        )
    )


def job(submit, runtime, nodes=1, limit=10, **request):
    """Return a job: its submission, its run time, and its request."""
    return submit, runtime, Request(min_nodes=nodes, limit=limit, **request)


def site_of(conf, *jobs, recorded=None, extras=None):
    """Return a site whose jobs are numbered from 1 on; `recorded` are starts."""
    n_jobs = len(jobs)
    told = None
    if recorded is not None:
        told = Recorded(
            start=recorded,
            end=[None if s is None else s + j[1] for s, j in zip(recorded, jobs, strict=True)],
            state=["COMPLETED"] * n_jobs,
            nodes=["n1"] * n_jobs,
            scheduler=["Main"] * n_jobs,
            priority=[None] * n_jobs,
            eligible=[j[0] for j in jobs],
            n_attempts=[1] * n_jobs,
        )
    listed = SiteJobs(
        ids=[str(i + 1) for i in range(n_jobs)],
        submit=[float(submit) for submit, _, _ in jobs],
        runtime=[float(runtime) for _, runtime, _ in jobs],
        cancel=[math.inf] * n_jobs,
        fails=[False] * n_jobs,
        requests=Requests.of(request for _, _, request in jobs),
        origin=1_000_000,
        recorded=told,
    )
    extras = extras or SiteExtras()
    return import_site(settings_from(conf), listed, ImportReport(), extras=extras)


def lifetimes(*jobs, main=(), backfill=()):
    """Return lifetimes of (start, end, hosts[, scheduler]); None: never started."""
    rows = [(math.nan, math.nan, ()) if one is None else one for one in jobs]
    return Lifetimes(
        start=np.array([row[0] for row in rows], dtype=float),
        end=np.array([row[1] for row in rows], dtype=float),
        hosts=lambda i: np.array(rows[i][2], dtype=np.intp),
        scheduler=[row[3] if len(row) > 3 else "Main" for row in rows],
        main=np.array(main, dtype=float),
        backfill=np.array(backfill, dtype=float),
    )
