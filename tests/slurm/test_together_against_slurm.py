"""Licences in backfilling and heterogeneous jobs: the model against a real Slurm, given its passes.

`make test-slurm` runs them.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from loopback_slurm import AGAINST_SLURM, loopback_slurm

from noctule.profile import Delay
from noctule.slurm.conf.hostlist import expand_hosts
from noctule.slurm.conf.settings import read_settings
from noctule.slurm.jobs.requests import Request, Requests
from noctule.slurm.model.clocks import Clocks
from noctule.slurm.model.policy import simulate_slurm
from noctule.slurm.truth.controller import Controller
from noctule.slurm.truth.controller_log import clock_shift, read_controller_log
from noctule.workload import Job, Workload
from noctule.workload import Request as HostRequest

pytestmark = AGAINST_SLURM
LINEAR = "SelectType=select/linear\nSchedulerParameters=bf_interval=5"


def real_jobs(conf, lines, *, patience=90):
    """Submit lines one after the other; return jobs by number and their dates of submission."""
    environment = os.environ | {"SLURM_CONF": str(conf)}
    dates = {}
    for line in lines:
        words = ["sbatch", "--parsable", "--output=/dev/null", *line]
        told = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        dates[int(told.stdout)] = time.time()
    controller = Controller(str(conf))
    ends = time.monotonic() + patience
    while True:
        jobs = controller.jobs()
        if all(job["JobState"] == "COMPLETED" for job in jobs.values()):
            return jobs, dates
        assert time.monotonic() < ends, jobs
        time.sleep(0.5)


def check_decisions(conf, jobs, dates, asked):
    """Check that the model starts the same jobs in the same passes on the same nodes."""
    log = read_controller_log(str(conf.parent / "slurmctld.log"))
    log = log.shifted(clock_shift(log.submissions, dates))
    epoch = int(min(dates.values())) // 60 * 60
    passes = [(p.date - epoch, "full" if p.is_full else "quick") for p in log.passes]
    passes += [(date - epoch, "backfill") for date in log.cycles]
    numbers = sorted(jobs)
    first = {n: min(i for i in dates if jobs[n].get("HetJobId", str(n)) == str(i)) for n in numbers}
    workload = Workload.from_jobs(
        Job(
            id=n,
            submit_time=dates[first[n]] - epoch,
            request=HostRequest(asked[i].min_nodes),
            profile=Delay(int(jobs[n]["EndTime"]) - int(jobs[n]["StartTime"])),
        )
        for i, n in enumerate(numbers)
    )
    settings = read_settings(str(conf))
    schedule, model = simulate_slurm(
        workload, settings, Requests.of(asked), clocks=Clocks.given(sorted(passes)), epoch=epoch
    )
    rows = {row.job_id: row for row in schedule.jobs.itertuples()}
    for i, n in enumerate(numbers):
        real = jobs[n]
        nodes = [settings.nodes[host].name for host in rows[n].hosts]
        assert (int(rows[n].start_time) + epoch, nodes) == (
            int(real["StartTime"]),
            expand_hosts(real["NodeList"]),
        ), (n, model.schedulers()[i])


def test_components_start_when_and_where_a_real_slurm_starts_them():
    # five of six nodes are taken; the first component would fit at once, the second does not, and
    # a small job comes after both
    lines = [
        ["-N5", "-t2", "--wrap", "sleep 14"],
        ["-N1", "-t1", ":", "-N2", "-t1", "--wrap", "sleep 3"],
        ["-N1", "-t1", "--wrap", "sleep 2"],
    ]
    asked = [
        Request(min_nodes=5, limit=2),
        Request(min_nodes=1, limit=1, het_group="2"),
        Request(min_nodes=2, limit=1, het_group="2"),
        Request(min_nodes=1, limit=1),
    ]
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        loopback_slurm(Path(folder), n_nodes=6, more=LINEAR) as slurm,
    ):
        jobs, dates = real_jobs(slurm.conf, lines)
        check_decisions(slurm.conf, jobs, dates, asked)


def test_licences_are_planned_as_a_real_slurm_plans_them():
    # the second needs both licences, of which one is taken; the third would take the other for long
    lines = [
        ["-N1", "-t1", "-L", "matlab:1", "--wrap", "sleep 14"],
        ["-N1", "-t1", "-L", "matlab:2", "--wrap", "sleep 2"],
        ["-N1", "-t9", "-L", "matlab:1", "--wrap", "sleep 2"],
        ["-N1", "-t1", "--wrap", "sleep 2"],
    ]
    asked = [
        Request(min_nodes=1, limit=1, licenses=(("matlab", 1),)),
        Request(min_nodes=1, limit=1, licenses=(("matlab", 2),)),
        Request(min_nodes=1, limit=9, licenses=(("matlab", 1),)),
        Request(min_nodes=1, limit=1),
    ]
    more = LINEAR + ",bf_licenses\nLicenses=matlab:2"
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        loopback_slurm(Path(folder), n_nodes=3, more=more) as slurm,
    ):
        jobs, dates = real_jobs(slurm.conf, lines)
        check_decisions(slurm.conf, jobs, dates, asked)
