"""What the commands found, as sentences, tables and data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from noctule.console import Result, Table, number_text, plain_table
from noctule.metrics import (
    ATTEMPTS,
    COUNTS,
    ENERGY,
    FAMILIES,
    FOOTPRINT,
    HELD,
    REPLAY,
    STATISTICS,
    TOTALS,
    Metric,
    summary,
)
from noctule.policies import known_policies
from noctule.policies.native import ALLOCATIONS, NATIVE_POLICIES, NUMBERS
from noctule.policies.orders import NAMED_ORDERS
from noctule.policy import PolicySpec
from noctule.record import JobState
from noctule.run import hosts_told_by

if TYPE_CHECKING:
    from noctule.remote.serving import PolicyServer
    from noctule.run import Execution, Rerun
    from noctule.schedule import Schedule
    from noctule.simgrid.verification import Verification
    from noctule.testing.observed import Violation
    from noctule.workload import Workload

Summary = Mapping[str, float | int]
_LONGEST_POLICY = 60
USUAL_STATISTICS = ("mean", "median", "p95", "max")


def describe_inputs(workload: Workload, *, told: bool) -> Iterator[str]:
    """Say what was made of a workload, and where the number of hosts comes from if it was told."""
    source = workload.source or workload.name
    for rule in workload.reading:
        yield f"{source}: {rule}"
    if told:
        n_hosts, header = hosts_told_by(workload)
        yield f"{source}: {n_hosts} hosts, as its header {header} tells"


def describe_run(execution: Execution) -> Iterator[str]:
    """Say how fast a run was, and which jobs came to nothing."""
    n_jobs, seconds = len(execution.schedule), execution.timing.simulate_s
    speed = f", {n_jobs / seconds:.0f} jobs/s" if seconds > 0 else ""
    yield f"{_jobs(n_jobs)} simulated in {seconds:.3f} s{speed}"
    yield from describe_oddities(execution.schedule)
    if execution.footprint is not None and execution.footprint.n_uneven:
        yield (
            f"{_jobs(execution.footprint.n_uneven)} may have drawn more at one time than at "
            "another: what they emitted and cost is spread evenly"
        )


def describe_oddities(schedule: Schedule) -> Iterator[str]:
    """Say what was odd about a platform and a run, and which jobs came to nothing."""
    platform = schedule.platform
    yield from (f"{platform.source}: {note}" for note in platform.notes)
    yield from schedule.notes
    state = schedule.record.state
    rejected = state == JobState.REJECTED
    oversized = rejected & (schedule.column("n_hosts") > schedule.platform.n_hosts)
    for rows, why in (
        (oversized, "rejected: larger than the platform"),
        (rejected & ~oversized, "rejected by the policy"),
        (state == JobState.CANCELLED, "cancelled before their start"),
        (state == JobState.RUNNING, "still running when the run was stopped"),
        (state == JobState.WAITING, "still waiting when the run was stopped"),
    ):
        n = int(np.count_nonzero(rows))
        if n:
            yield f"{_jobs(n)} {why}"


def run_result(execution: Execution, output: str | None) -> Result:
    """Return the summary of one run."""
    options = execution.manifest.options
    numbers = summary(execution.schedule, rates=execution.rates)
    data = {
        "workload": options.workload,
        "policy": options.policy,
        "n_hosts": options.platform.n_hosts,
        "output": output,
        "metrics": numbers,
    }
    rows = [
        [_label(family), *(number_text(numbers[f"{s}_{family.name}"]) for s in STATISTICS)]
        for family in FAMILIES
    ]
    first, *others = _single_rows([numbers])
    lines = ["", *plain_table(Table(first, others))]
    return Result(data, Table([_short(options.policy), *STATISTICS], rows), lines)


def _short(policy: str) -> str:
    """Name a policy whose parameters would not fit at the head of a table."""
    return policy if len(policy) <= _LONGEST_POLICY else f"{PolicySpec.parse(policy).name}(...)"


def metrics_result(summaries: Sequence[tuple[str, Summary]], *, everything: bool) -> Result:
    """Return the summaries of some runs, side by side; for people, the usual statistics only."""
    data = {"runs": [{"run": name, "metrics": numbers} for name, numbers in summaries]}
    all_numbers = [numbers for _, numbers in summaries]
    rows = _single_rows(all_numbers)
    for family in FAMILIES:
        for statistic in STATISTICS if everything else USUAL_STATISTICS:
            name = f"{statistic}_{family.name}"
            label = _label(Metric(name, family.unit, ""))
            rows.append([label, *(number_text(numbers[name]) for numbers in all_numbers)])
    return Result(data, Table(["metric", *(name for name, _ in summaries)], rows))


def _single_rows(summaries: Sequence[Summary]) -> list[list[str]]:
    """Return a row for each count that is not zero everywhere, and for each total."""
    rows = []
    known = {name for numbers in summaries for name in numbers}
    measured = (*TOTALS, *HELD, *REPLAY, *ATTEMPTS, *ENERGY, *FOOTPRINT)
    totals = [metric for metric in measured if metric.name in known]
    for metric in (*COUNTS, *totals):
        values = [numbers.get(metric.name, math.nan) for numbers in summaries]
        if any(values) or metric in totals:
            rows.append([_label(metric), *map(number_text, values)])
    return rows


def _label(metric: Metric) -> str:
    return f"{metric.name} ({metric.unit})" if metric.unit else metric.name


def rerun_result(manifest: str, again: Rerun) -> Result:
    """Say whether a run that was done again gave the same bytes."""
    files = [file.path for file in again.manifest.outputs]
    data = {
        "manifest": manifest,
        "versions": again.manifest.versions,
        "same": [name for name in files if name not in again.differing],
        "different": list(again.differing),
        "altered": list(again.altered),
    }
    lines = [f"{name}: {'differs' if name in again.differing else 'same'}" for name in files]
    lines += [f"{name}: altered since the run" for name in again.altered]
    if again.differing:
        made_by = ", ".join(f"{name} {v}" for name, v in again.manifest.versions.items())
        lines.append(f"the run was made by {made_by}")
    return Result(data, lines=lines)


def check_result(path: str, n_jobs: int, violations: Sequence[Violation]) -> Result:
    """Say what a schedule breaks, one line each."""
    n = sum(violation.n for violation in violations)
    data = {
        "file": path,
        "n_jobs": n_jobs,
        "n_violations": n,
        "violations": [asdict(violation) for violation in violations],
    }
    lines = [f"{violation.rule}: {violation.message}" for violation in violations]
    lines.append(f"{path}: {_jobs(n_jobs)}, {n or 'no'} violation{'' if n == 1 else 's'}")
    return Result(data, lines=lines)


def verification_result(
    found: Verification, inputs: tuple[str, str, str], tolerance: float
) -> Result:
    """Say how far a run differs from what SimGrid makes of it."""
    version = found.simgrid_version
    compared = {"ends of jobs (s)": found.dates}
    data = dict(zip(("platform", "workload", "policy"), inputs, strict=True)) | {
        "simgrid": version,
        "simgrid_seconds": found.simgrid_seconds,
        "tolerance": tolerance,
        "agrees": found.relative <= tolerance,
        "finish_time": asdict(found.dates),
    }
    if found.joules is not None and found.all_joules is not None:
        compared |= {"joules of hosts": found.joules, "joules in all": found.all_joules}
        data |= {"joules": asdict(found.joules), "all_joules": asdict(found.all_joules)}
    rows = [
        [
            what,
            str(one.n),
            f"{one.absolute:.2e}",
            f"{one.relative:.2e}",
            one.name,
            f"{one.ours:.15g}",
            f"{one.simgrid:.15g}",
        ]
        for what, one in compared.items()
    ]
    headers = ["compared", "number", "largest difference", "relative", "at", "here", "SimGrid"]
    verdict = "no" if found.relative <= tolerance else "a"
    line = f"SimGrid {version}: {verdict} relative difference above {tolerance:g}"
    return Result(data, Table(headers, rows), ["", line])


def policies_result() -> Result:
    """Return the policies that are known by name, and what native ones can be told."""
    policies = known_policies()
    parameters = {"order": [*NAMED_ORDERS, "an expression"], "allocation": list(ALLOCATIONS)}
    own = {name: list(numbers) for name, numbers in NUMBERS.items()}
    data = {
        "policies": policies,
        "native": list(NATIVE_POLICIES),
        "parameters": parameters,
        "own_parameters": own,
    }
    table = Table(["policy", "what it does"], list(policies.items()), of_numbers=False)
    lines = ["", f"parameters of {', '.join(NATIVE_POLICIES)}:"]
    lines += [f"  {name}: {', '.join(values)}" for name, values in parameters.items()]
    lines += [f"  of {name} also: {', '.join(names)}" for name, names in own.items()]
    lines.append("others: FILE.py:CLASS, MODULE:CLASS")
    return Result(data, table, lines)


def served_result(policy: str, server: PolicyServer) -> Result:
    """Say what a policy was asked until the simulation ended."""
    data = {
        "policy": policy,
        "n_requests": server.n_requests,
        "n_jobs": server.n_jobs,
        "end": server.now,
    }
    line = (
        f"{policy}: {server.n_requests} requests, {_jobs(server.n_jobs)}, until {server.now:.15g}"
    )
    return Result(data, lines=[line])


def _jobs(n: int) -> str:
    return f"{n} job" if n == 1 else f"{n} jobs"
