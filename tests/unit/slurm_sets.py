"""Tiny sets of files of a real Slurm, written by hand."""

from __future__ import annotations

import gzip
from pathlib import Path

# 1794700800 is 2026-11-15T00:00:00Z
EPOCH = 1794700800
HEADER = (
    "jobid,name,planned_submit,req_nodes,req_cpus,sleep,limit_min,partition,submit,eligible,start,"
    "end,state,nodes,cpus,nodelist,scheduler,priority,last_eval,submit_ms,start_ms,end_ms,"
    "timelimit_ms"
)
CONF = """\
ClusterName=tiny
SelectType=select/linear
SchedulerParameters=bf_interval=30
NodeName=n[1-4] CPUs=8 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def row(job_id: int, n_nodes: int, seconds: tuple[float, float, float], nodes: str) -> str:
    """Return a row; seconds after EPOCH are those of submission, start and end."""
    submit, start, end = seconds
    dates = [EPOCH + date for date in seconds]
    whole = [int(date) for date in dates]
    return (
        f"{job_id},j{job_id},{submit:.3f},{n_nodes},0,{end - start:g},2,main,{whole[0]},{whole[0]},"
        f'{whole[1]},{whole[2]},COMPLETED,{n_nodes},{8 * n_nodes},"{nodes}",Main,0,{whole[1]},'
        f"{dates[0]:.3f},{dates[1]:.3f},{dates[2]:.3f},"
    )


def stamp(seconds: float) -> str:
    """Return the time of day in a log, seconds after EPOCH."""
    milliseconds = round(seconds * 1000)
    minutes, ms = divmod(milliseconds, 60_000)
    return f"[2026-11-15T{minutes // 60:02}:{minutes % 60:02}:{ms // 1000:02}.{ms % 1000:03}]"


def quick(seconds: float) -> str:
    return f"{stamp(seconds)} debug:  sched: Running job scheduler for default depth."


def full(seconds: float) -> str:
    return f"{stamp(seconds)} debug:  sched: Running job scheduler for full queue."


def cycle(seconds: float) -> str:
    return f"{stamp(seconds)} sched/backfill: _attempt_backfill: beginning"


# Four nodes. 1 takes three of them at the tick of 5.5 s; 2 wants two and waits for its end at 40.6;
# the tick of 43.7 has it; 3 wants one, for as long as 2 would wait: backfill starts it.
ROWS = (
    row(1, 3, (2.100, 5.500, 40.600), "n[1-3]"),
    row(2, 2, (6.200, 43.700, 63.800), "n[1-2]"),
    row(3, 1, (7.300, 31.250, 50.350), "n4"),
)
LOG = (
    quick(2.02),
    f"{stamp(2.1)} _slurm_rpc_submit_batch_job: JobId=1 InitPrio=4294901759 usec=252",
    quick(5.5),
    f"{stamp(5.5)} sched: Allocate JobId=1 NodeList=n[1-3] #CPUs=24 Partition=main",
    f"{stamp(6.2)} _slurm_rpc_submit_batch_job: JobId=2 InitPrio=4294901758 usec=268",
    f"{stamp(7.3)} _slurm_rpc_submit_batch_job: JobId=3 InitPrio=4294901757 usec=268",
    quick(8.5),
    f"{stamp(9.0)} slurmctld: something else",
    cycle(31.25),
    f"{stamp(31.25)} sched/backfill: _start_job: Started JobId=3 in main on n4",
    f"{stamp(31.252)} sched/backfill: _attempt_backfill: completed testing 2(2) jobs, usec=2064",
    f"{stamp(40.6)} _job_complete: JobId=1 done",
    full(43.7),
    f"{stamp(43.7)} sched: Allocate JobId=2 NodeList=n[1-2] #CPUs=16 Partition=main",
    f"{stamp(50.35)} _job_complete: JobId=3 done",
    quick(53.8),
    f"{stamp(63.8)} _job_complete: JobId=2 done",
)


def write_set(
    folder: Path,
    *,
    rows: tuple[str, ...] = ROWS,
    log: tuple[str, ...] = LOG,
    header: str = HEADER,
    conf: str = CONF,
) -> str:
    """Write a set and return DIR/NAME."""
    base = folder / "tiny"
    Path(f"{base}.csv").write_text("".join(f"{line}\n" for line in (header, *rows)))
    Path(f"{base}.log.gz").write_bytes(gzip.compress("".join(f"{x}\n" for x in log).encode()))
    Path(f"{base}.slurm.conf").write_text(conf)
    return str(base)
