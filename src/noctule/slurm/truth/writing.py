"""A replay on a live Slurm, written as a set of files: see noctule.slurm.truth.sets."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.output_file import check_file, write_file
from noctule.slurm.conf.lines import read_conf
from noctule.slurm.truth.controller import Controller
from noctule.slurm.truth.controller_log import (
    ControllerLog,
    clock_shift,
    parse_controller_log,
    useful_lines,
)
from noctule.slurm.truth.fidelity import means
from noctule.slurm.truth.live import LiveRun
from noctule.slurm.truth.sets import COLUMNS, TruthJob, read_truth
from noctule.slurm.truth.submissions import Submission, trace_table

SUFFIXES = (".csv", ".trace.csv", ".log.gz", ".slurm.conf", ".metrics.json")
BESIDE = (".topology.conf", ".associations.txt", ".qos.txt")  # which not all sets have


def check_truth(path: str, *, force: bool) -> None:
    """Refuse a set that must not, or cannot, be written."""
    for suffix in (*SUFFIXES, *BESIDE):
        check_file(f"{path}{suffix}", force=force)


def conf_text(path: str) -> str:
    """Return a slurm.conf with the files that it includes in their places."""
    conf = read_conf(path)
    if len(conf.files) == 1:
        return read_bytes(path).decode("utf-8", errors="replace")
    lines = [
        " ".join(f"{key}={_quoted(text)}" for key, text in line.entries) for line in conf.lines
    ]
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    return f'"{text}"' if any(letter.isspace() for letter in text) else text


def beside_conf(conf: str, settings: Mapping[str, str], controller: Controller) -> dict[str, str]:
    """Return what a set needs besides its slurm.conf, by suffix: its switches and accounts."""
    found = {}
    switches = Path(conf).parent / "topology.conf"
    if settings.get("TopologyPlugin") == "topology/tree" and switches.is_file():
        found[".topology.conf"] = switches.read_text(errors="replace")
    if settings.get("AccountingStorageType") == "accounting_storage/slurmdbd":
        found |= controller.accounts(settings.get("ClusterName", ""))
    return found


def write_truth(
    path: str,
    run: LiveRun,
    conf: str,
    *,
    beside: Mapping[str, str] | None = None,
    force: bool = False,
) -> list[str]:
    """Write the set DIR/NAME of a replay; return the names of its files."""
    log = parse_controller_log(run.log, f"{path}.log.gz")
    submits = {
        number: float(record["SubmitTime"])
        for number, record in run.records.items()
        if record.get("SubmitTime", "").isdigit()
    }
    shift = clock_shift(log.submissions, submits)
    log = log.shifted(shift)
    texts = {
        ".csv": _job_table(run, log),
        ".trace.csv": trace_table(job for _, job in run.submissions),
        ".log.gz": "".join(f"{line}\n" for line in useful_lines(run.log.splitlines())),
        ".slurm.conf": conf,
        **(beside or {}),
    }
    for suffix, text in texts.items():
        write_file(f"{path}{suffix}", [text], force=force)
    write_file(f"{path}.metrics.json", [_metrics(path, run)], force=force)
    return [f"{Path(path).name}{suffix}" for suffix in (*SUFFIXES, *(beside or {}))]


def _job_table(run: LiveRun, log: ControllerLog) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for number, job in run.submissions:
        writer.writerow(_row(number, job, run.records.get(number, {}), log))
    return text.getvalue()


def _row(
    number: int, job: Submission, record: Mapping[str, str], log: ControllerLog
) -> dict[str, Any]:
    allocation = log.allocations.get(number)

    def told(*names: str) -> str:
        found = next((record[name] for name in names if name in record), "")
        return "" if found in ("Unknown", "(null)", "None", "N/A") else found

    def milliseconds(dates: Mapping[int, float]) -> str:
        return f"{dates[number]:.3f}" if number in dates else ""

    return {
        "jobid": number,
        "name": job.name,
        "planned_submit": f"{job.date:.3f}",
        "req_nodes": job.n_nodes,
        "req_cpus": job.n_cpus,
        "sleep": f"{job.duration:g}",
        "limit_min": job.limit_minutes or 0,
        "partition": told("Partition") or job.partition,
        "submit": told("SubmitTime"),
        "eligible": told("EligibleTime"),
        "start": told("StartTime") if told("NodeList") else "",
        "end": told("EndTime"),
        "state": told("JobState"),
        "nodes": told("NumNodes", "NodeCnt"),
        "cpus": told("NumCPUs", "ProcCnt"),
        "nodelist": told("NodeList"),
        "scheduler": told("Scheduler") or (allocation.scheduler if allocation else ""),
        "priority": told("Priority"),
        "last_eval": told("LastSchedEval"),
        "submit_ms": milliseconds(log.submissions),
        "start_ms": f"{allocation.date:.3f}" if allocation else "",
        "end_ms": milliseconds(log.ends),
        "timelimit_ms": milliseconds(log.time_limits),
        "user": told("UserId").partition("(")[0],
        "account": told("Account"),
        "qos": told("QOS"),
    }


def _metrics(path: str, run: LiveRun) -> str:
    """Return the means of the set as it was written."""
    try:
        jobs: tuple[TruthJob, ...] = read_truth(path).jobs
    except InputError:
        jobs = ()
    numbers: dict[str, Any] = {"jobs": len(jobs), "submitted": len(run.submissions)}
    if jobs:
        numbers["span_s"] = max(job.end for job in jobs) - min(job.submit for job in jobs)
        found = means([(job.submit, job.start, job.end) for job in jobs])
        numbers |= {f"mean_{name}": value for name, value in asdict(found).items()}
        numbers["max_wait"] = max(job.wait for job in jobs)
        numbers["scheduler"] = dict(Counter(job.scheduler for job in jobs))
        numbers["states"] = dict(Counter(job.state for job in jobs))
    numbers["max_submit_lag"] = round(run.largest_lag, 6)
    return f"{json.dumps(numbers, indent=1)}\n"
