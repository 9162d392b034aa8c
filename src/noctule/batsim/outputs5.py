"""The files that Batsim 5 leaves: same names, columns, rows and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from noctule.batsim.host_history import host_changes
from noctule.batsim.outputs import (
    BatsimOutcome,
    JobRows,
    Totals,
    census_of,
    host_states_text,
    imitated,
    jobs_text,
    totals_of,
)
from noctule.saved.power_text import (
    ENERGY_FILE,
    POWER_STATES_COLUMNS,
    POWER_STATES_FILE,
    energy_text,
    mean_watts_of,
)
from noctule.saved.text import HOST_STATES_FILE, JOBS_FILE
from noctule.schedule import Schedule

SUMMARY_FILE, EXECUTION_FILE = "schedule.json", "real_exec_info.json"
#: All files that Batsim may write; its prefix comes directly before.
OUTPUT_FILES5 = (
    JOBS_FILE,
    SUMMARY_FILE,
    EXECUTION_FILE,
    HOST_STATES_FILE,
    POWER_STATES_FILE,
    ENERGY_FILE,
)
_EMULATED_VERSION = "v5.0.0-rc2"
# the last column, metadata, is empty
_ROWS = JobRows(
    "%s,%s,%s,%f,%d,%f,%d,%s,%f,%f,%f,%f,%f,%f,%s,%f,%s\n",
    "%s,%s,%s,%f,%d,%f,%d,%s,,,,,,,,,%s\n",
    full_names=True,
)


def version_text5() -> str:
    """Return the version of Batsim that is imitated, and by whom."""
    return imitated(_EMULATED_VERSION)


def output_texts5(
    outcome: BatsimOutcome, *, trace_host_states: bool = False, trace_power_states: bool = False
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name, without prefix, and the text, in pieces, of each file."""
    schedule, record = outcome.schedule, outcome.schedule.record
    changes = host_changes(schedule, outcome.witness)
    census = census_of(outcome, changes, has_power=True)
    rows = host_states_text(census, changes)
    yield JOBS_FILE, jobs_text(outcome, _ROWS)
    yield SUMMARY_FILE, iter([_summary(schedule, totals_of(outcome, census))])
    yield EXECUTION_FILE, iter([_execution(outcome)])
    if trace_host_states:
        yield HOST_STATES_FILE, iter(rows)
    if trace_power_states:
        yield POWER_STATES_FILE, _power_states(schedule)
    if schedule.counts_energy:
        watts = mean_watts_of(record.energy_time, record.energy_joules)
        yield ENERGY_FILE, energy_text(record, watts)


def _summary(schedule: Schedule, totals: Totals) -> str:
    record = schedule.record
    switched = [
        len(hosts)
        for value, hosts in zip(
            record.power_state_value.tolist(), record.power_state_hosts, strict=True
        )
        if value < 0
    ]
    counts = {
        **totals.counts,
        "nb_grouped_switches": len(switched),
        "nb_machine_switches": sum(switched),
    }
    fields = (
        {"batsim_version": json.dumps(version_text5())}
        # NaN is no JSON, although Batsim writes it
        | {name: "null" if math.isnan(x) else f"{x:f}" for name, x in totals.numbers.items()}
        | {name: str(value) for name, value in counts.items()}
    )
    lines = ",\n".join(f'  "{name}": {fields[name]}' for name in sorted(fields))
    return f"{{\n{lines}\n}}\n"


def _execution(outcome: BatsimOutcome) -> str:
    fields = {
        "memory_VmHWM_kB": _status("VmHWM"),
        "memory_VmPeak_kB": _status("VmPeak"),
        "time_in_edc_seconds": outcome.scheduling_seconds,
        "time_in_simu_seconds": outcome.simulation_seconds - outcome.scheduling_seconds,
    }
    return json.dumps(fields, indent=2) + "\n"


def _status(name: str) -> int:
    """Return kilobytes that the system tells about this process; 0 where it does not."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in lines.splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0


def _power_states(schedule: Schedule) -> Iterator[str]:
    """Yield pstate_changes.csv: how hosts begin, then what changes, and what is being switched."""
    yield ",".join(POWER_STATES_COLUMNS) + "\n"
    record = schedule.record
    if not schedule.counts_energy:  # else the record begins with these
        by_state: dict[int, list[int]] = {}
        for i, host in enumerate(schedule.platform.hosts):
            by_state.setdefault(host.kind.initial_state, []).append(i)
        for state in sorted(by_state):
            yield f"0,{_intervals(by_state[state])},{state}\n"
    columns = (
        record.power_state_time.tolist(),
        record.power_state_hosts,
        record.power_state_value.tolist(),
    )
    for time, hosts, value in zip(*columns, strict=True):
        yield f"{time:g},{hosts},{value}\n"


def _intervals(hosts: list[int]) -> str:
    """Write ascending ids as Batsim writes sets of hosts."""
    parts: list[list[int]] = []
    for host in hosts:
        if parts and parts[-1][1] == host - 1:
            parts[-1][1] = host
        else:
            parts.append([host, host])
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)
