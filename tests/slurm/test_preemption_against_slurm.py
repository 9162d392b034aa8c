"""Preemption of the model against a real Slurm on loopback, in real time; see make test-slurm."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loopback_slurm import AGAINST_SLURM, LoopbackSlurm, loopback_slurm

import noctule as nt
from noctule.profile import Delay
from noctule.slurm.conf.lines import read_conf
from noctule.slurm.conf.settings import settings_from
from noctule.slurm.jobs.requests import Request, Requests
from noctule.slurm.model.clocks import Clocks, PassKind
from noctule.slurm.model.policy import simulate_slurm
from noctule.slurm.truth.controller import Controller, pairs
from noctule.slurm.truth.controller_log import parse_controller_log
from noctule.workload import Request as WorkloadRequest

pytestmark = AGAINST_SLURM
N_NODES = 3
# a killed job leaves its node within some 30 ms, or when slurmd looks again, up to 4 s later
TOLERANCE = 5.0


@dataclass(frozen=True)
class Job:
    """When it comes, what it asks for, and how many seconds it works."""

    submit: float
    n_nodes: int
    partition: str
    runtime: int


JOBS = [
    Job(0.0, 2, "low", 10),
    Job(0.2, 1, "low", 11),
    Job(4.0, 1, "high", 4),  # the smaller of the two makes way
    Job(5.5, 1, "low", 2),
    Job(8.0, 2, "high", 4),  # and then the larger one
    Job(8.2, 1, "low", 2),
    Job(8.4, 1, "high", 2),  # waits for others of its tier
    Job(8.6, 2, "low", 2),
    Job(8.8, 1, "low", 2),
    Job(9.0, 1, "low", 1),
]


@dataclass(frozen=True)
class Outcome:
    """Of the first attempt: dates from the first submission on, and whether it made way."""

    start: float
    end: float
    preempted: bool


@dataclass(frozen=True)
class RealRun:
    """What a real Slurm did, in the order of submissions, and when it did."""

    outcomes: list[Outcome]
    submissions: list[float]
    passes: list[tuple[float, PassKind]]
    rows: Mapping[int, Mapping[str, str]]
    conf: str


def submit_all(slurm: LoopbackSlurm) -> list[int]:
    """Submit the jobs at their dates; they stop working while they are stopped."""
    environment = os.environ | {"SLURM_CONF": str(slurm.conf)}
    origin, numbers = time.time(), []
    for job in JOBS:
        time.sleep(max(0.0, origin + job.submit - time.time()))
        work = f"for i in $(seq {job.runtime * 5}); do sleep 0.2; done"
        words = ["sbatch", "--parsable", "--output=/dev/null", "--chdir=/", "--time=5"]
        words += [f"--nodes={job.n_nodes}", f"--partition={job.partition}", f"--wrap={work}"]
        said = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        numbers.append(int(said.stdout))
    return numbers


def wait_until_idle(controller: Controller) -> dict[int, Mapping[str, str]]:
    """Return the rows of all jobs once none of them runs or could; requeued ones wait longer."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        rows = controller.jobs()
        waiting = [row for row in rows.values() if row["JobState"] == "PENDING"]
        busy = [row for row in rows.values() if row["JobState"] in ("RUNNING", "SUSPENDED")]
        completing = [row for row in rows.values() if row["JobState"] == "COMPLETING"]
        if not busy and not completing and all(row["Reason"] == "BeginTime" for row in waiting):
            return rows
        time.sleep(0.5)
    raise AssertionError(f"jobs are left after a minute: {rows}")


def real_run(mode: str, share: str) -> RealRun:
    """Run the jobs on a real Slurm."""
    more = f"{LINEAR}\nPreemptType=preempt/partition_prio\nPreemptMode={mode}"
    partitions = "\n".join(
        f"PartitionName={name} Nodes=ALL Default={default} PriorityTier={tier} "
        f"OverSubscribe={share} MaxTime=INFINITE State=UP"
        for name, tier, default in (("low", 1, "YES"), ("high", 10, "NO"))
    )
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        loopback_slurm(Path(folder), n_nodes=N_NODES, more=more, partitions=partitions) as slurm,
    ):
        numbers = submit_all(slurm)
        rows = wait_until_idle(Controller(str(slurm.conf)))
        conf = slurm.conf.read_text()
        log = parse_controller_log((slurm.folder / "slurmctld.log").read_text(), "slurmctld.log")
        ended = [pairs(line) for line in (slurm.folder / "jobcomp.txt").read_text().splitlines()]
    begin = log.submissions[numbers[0]]
    first_rows = {int(row["JobId"]): row for row in reversed(ended)}
    passes: list[tuple[float, PassKind]] = [
        (one.date - begin, "full" if one.is_full else "quick") for one in log.passes
    ]
    passes += [(date - begin, "backfill") for date in log.cycles]
    outcomes = []
    for number in numbers:
        row = first_rows[number]
        start = log.allocations[number].date - begin
        seconds = _seconds(row["EndTime"]) - _seconds(row["StartTime"])
        outcomes.append(Outcome(start, start + seconds, row["JobState"] == "PREEMPTED"))
    dates = [log.submissions[number] - begin for number in numbers]
    return RealRun(outcomes, dates, sorted(one for one in passes if one[0] >= 0), rows, conf)


def _seconds(stamp: str) -> float:
    return time.mktime(time.strptime(stamp, "%Y-%m-%dT%H:%M:%S"))


def simulated(real: RealRun, tmp_path: Path) -> nt.Schedule:
    """Run the same jobs in the model, at the dates of the real passes, and at others after them."""
    path = tmp_path / "slurm.conf"
    path.write_text(real.conf)
    workload = nt.Workload.from_jobs(
        nt.Job(
            id=i,
            submit_time=submit,
            request=WorkloadRequest(job.n_nodes),
            profile=Delay(job.runtime),
        )
        for i, (job, submit) in enumerate(zip(JOBS, real.submissions, strict=True))
    )
    requests = Requests.of(
        Request(partitions=(job.partition,), min_nodes=job.n_nodes, limit=5) for job in JOBS
    )
    last = real.passes[-1][0]
    after: list[tuple[float, PassKind]] = [(last + 3.0 * i, "full") for i in range(1, 200)]
    return simulate_slurm(
        workload,
        settings_from(read_conf(path)),
        requests,
        clocks=Clocks.given([*real.passes, *after]),
    )[0]


def check(real: RealRun, schedule: nt.Schedule) -> list[Outcome]:
    """Compare who made way, and when jobs started; return the outcomes of the model."""
    rows = {str(row.job_id): row for row in schedule.jobs.itertuples()}
    found = []
    for i in range(len(JOBS)):
        row = rows[str(i)]
        preempted = getattr(row, "metadata", "") == "preempted"
        found.append(Outcome(row.start_time, row.finish_time, preempted))
    assert [one.preempted for one in real.outcomes] == [one.preempted for one in found]
    off = [round(a.start - b.start, 2) for a, b in zip(real.outcomes, found, strict=True)]
    assert max(map(abs, off)) < TOLERANCE, off
    return found


LINEAR = "SelectType=select/linear\nSchedulerParameters=bf_interval=10"


def test_requeued_jobs_are_those_of_the_model_and_wait_as_long(tmp_path):
    real = real_run("REQUEUE", "NO")
    schedule = simulated(real, tmp_path)
    found = check(real, schedule)
    again = [row for row in real.rows.values() if row["JobState"] == "PENDING"]
    assert len(again) == sum(one.preempted for one in real.outcomes) == 2
    for row in again:
        # submitted anew when the nodes were free, and not before two minutes have passed
        assert int(row["EligibleTime"]) - int(row["SubmitTime"]) in (120, 121)
    second = {str(row.job_id): row for row in schedule.jobs.itertuples()}
    for i in (0, 1):
        assert second[f"{i}#2"].start_time > found[i].end + 120


def test_cancelled_jobs_are_those_of_the_model(tmp_path):
    real = real_run("CANCEL", "NO")
    check(real, simulated(real, tmp_path))
    assert [one.preempted for one in real.outcomes[:2]] == [True, True]


def test_suspended_jobs_are_those_of_the_model_and_go_on_as_long(tmp_path):
    real = real_run("SUSPEND,GANG", "FORCE:1")
    schedule = simulated(real, tmp_path)
    found = check(real, schedule)
    assert not any(one.preempted for one in real.outcomes)
    suspended = {str(row.job_id): row.suspended_time for row in schedule.jobs.itertuples()}
    assert {job for job, seconds in suspended.items() if seconds > 0} == {"0", "1"}
    for a, b in zip(real.outcomes, found, strict=True):
        assert abs((a.end - a.start) - (b.end - b.start)) < TOLERANCE
