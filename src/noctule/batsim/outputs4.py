"""The files that Batsim 4 leaves: same names, columns, rows and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from noctule.batsim.host_history import HostCensus, host_changes
from noctule.batsim.outputs import (
    BatsimOutcome,
    JobRows,
    census_of,
    host_states_text,
    imitated,
    jobs_text,
    totals_of,
)
from noctule.batsim.paje import paje_text
from noctule.saved.power_text import (
    ENERGY_FILE,
    POWER_STATES_FILE,
    energy_text,
    mean_watts_of,
    power_states_text,
    switching_of,
)
from noctule.saved.text import HOST_STATES_FILE, JOBS_FILE, SCHEDULE_FILE, schedule_text

TRACE_FILE = "schedule.trace"
#: All files that Batsim may write; its prefix and an underscore come before.
OUTPUT_FILES = (
    JOBS_FILE,
    SCHEDULE_FILE,
    HOST_STATES_FILE,
    POWER_STATES_FILE,
    ENERGY_FILE,
    TRACE_FILE,
)
_EMULATED_VERSION = "v4.2.1"
_ROWS = JobRows(
    '%s,%s,%s,%f,%d,%f,%d,%s,%f,%f,%f,%f,%f,%f,%s,%f,"%s"\n',
    '%s,%s,%s,%f,%d,%f,%d,%s,,,,,,,,,"%s"\n',
)


def version_text() -> str:
    """Return the version of Batsim that is imitated, and by whom."""
    return imitated(_EMULATED_VERSION)


def output_texts(
    outcome: BatsimOutcome, *, trace_host_states: bool = True, trace_schedule: bool = True
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name, without prefix, and the text, in pieces, of each file."""
    schedule, record = outcome.schedule, outcome.schedule.record
    changes = host_changes(schedule, outcome.witness)
    census = census_of(outcome, changes, has_power=len(record.power_state_time) > 0)
    rows = host_states_text(census, changes)
    yield JOBS_FILE, jobs_text(outcome, _ROWS)
    yield SCHEDULE_FILE, iter([schedule_text(_totals(outcome, census))])
    if trace_host_states:
        yield HOST_STATES_FILE, iter(rows)
    if schedule.counts_energy:
        watts = mean_watts_of(record.energy_time, record.energy_joules)
        yield ENERGY_FILE, energy_text(record, watts)
        yield POWER_STATES_FILE, power_states_text(record, schedule.platform.n_hosts)
    if trace_schedule:
        yield TRACE_FILE, paje_text(schedule, changes)


def _totals(outcome: BatsimOutcome, census: HostCensus) -> Mapping[str, str]:
    totals = totals_of(outcome, census)
    schedule = outcome.schedule
    switching = switching_of(schedule.record, schedule.platform.hosts)
    numbers = {
        **totals.numbers,
        "scheduling_time": outcome.scheduling_seconds,
        "simulation_time": outcome.simulation_seconds,
    }
    counts = {
        **totals.counts,
        "nb_grouped_switches": switching.n_requests,
        "nb_machine_switches": switching.n_switched,
    }
    return (
        {"batsim_version": version_text()}
        | {name: "-nan" if math.isnan(x) else f"{x:f}" for name, x in numbers.items()}
        | {name: str(value) for name, value in counts.items()}
    )
