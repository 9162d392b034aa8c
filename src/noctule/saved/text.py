"""The text of Batsim 4's output files: jobs.csv, schedule.csv and machine_states.csv.

Columns, their order and the number formats are Batsim's, so that scripts written for its files
read ours. Three states that Batsim has no word for get one: CANCELLED, RUNNING and WAITING.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from noctule.record import Counts, Floats, JobState, RecordLike, has_ended
from noctule.saved.power_text import NO_SWITCHING, Switching

JOBS_FILE = "jobs.csv"
SCHEDULE_FILE = "schedule.csv"
HOST_STATES_FILE = "machine_states.csv"
FILE_NAMES = (JOBS_FILE, SCHEDULE_FILE, HOST_STATES_FILE)

JOBS_COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)
#: Further columns: where jobs may be interrupted, where some were suspended, where users have
#: moved their submissions, and where jobs held hosts before they started.
USEFUL_TIME = "useful_time"
SUSPENDED_TIME = "suspended_time"
RECORDED_SUBMIT_TIME = "recorded_submit_time"
HELD_NODE_SECONDS = "held_node_seconds"
USER = "user"
HOST_STATES_COLUMNS = (
    "time",
    "nb_sleeping",
    "nb_switching_on",
    "nb_switching_off",
    "nb_idle",
    "nb_computing",
)

# what schedule.csv tells and Noctule does not model, or keeps elsewhere
_ZEROS = ("scheduling_time", "simulation_time", "time_unavailable")

FINAL_STATES: Mapping[JobState, str] = {
    JobState.COMPLETED: "COMPLETED_SUCCESSFULLY",
    JobState.FAILED: "COMPLETED_FAILED",
    JobState.TIMED_OUT: "COMPLETED_WALLTIME_REACHED",
    JobState.KILLED: "COMPLETED_KILLED",
    JobState.REJECTED: "REJECTED",
    JobState.CANCELLED: "CANCELLED",
    JobState.RUNNING: "RUNNING",
    JobState.WAITING: "WAITING",
}

# percent signs and not f-strings: a whole row at once, which is what C's printf does in Batsim
_ENDED_ROW = '%s,%s,%s,%f,%d,%f,%d,%s,%f,%f,%f,%f,%f,%f,%s,%f,""\n'
_RUNNING_ROW = '%s,%s,%s,%f,%d,%f,%d,%s,%f,,,%f,,,%s,,""\n'
_NEVER_STARTED_ROW = '%s,%s,%s,%f,%d,%f,%d,%s,,,,,,,,,""\n'
_HOST_STATES_ROW = "%g,%d,%d,%d,%d,%d\n"

_ROWS_AT_ONCE = 1 << 15


@dataclass(frozen=True, slots=True)
class JobColumns:
    """The columns of jobs.csv but for the hosts; dates are NaN where nothing happened."""

    job_id: npt.NDArray[Any]
    workload: Sequence[str]
    profile: Sequence[str]
    submit_time: Floats
    n_hosts: Counts
    walltime: Floats
    state: npt.NDArray[np.uint8]
    start_time: Floats
    finish_time: Floats
    runtime: Floats
    waiting_time: Floats
    turnaround_time: Floats
    stretch: Floats
    consumed_energy: Floats | None = None
    metadata: Sequence[str] = ()
    useful_time: Floats | None = None
    suspended_time: Floats | None = None
    recorded_submit_time: Floats | None = None
    held_node_seconds: Floats | None = None
    user: Sequence[Any] | npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.job_id)


HostTexts = Callable[[int, int], Sequence[str]]


def known_energy(columns: JobColumns) -> Floats:
    """Return the joules of jobs in a file; Batsim writes -1 where it did not count them."""
    energy = columns.consumed_energy
    if energy is None or not (energy >= 0).any():
        return np.empty(0)
    return np.where(energy >= 0, energy, np.nan) if (energy < 0).any() else energy


def jobs_text(columns: JobColumns, hosts_text: HostTexts) -> Iterator[str]:
    """Yield jobs.csv in pieces; `hosts_text(first, last)` gives the hosts of some rows."""
    given = {
        USEFUL_TIME: columns.useful_time,
        SUSPENDED_TIME: columns.suspended_time,
        RECORDED_SUBMIT_TIME: columns.recorded_submit_time,
        HELD_NODE_SECONDS: columns.held_node_seconds,
    }
    others = {name: values for name, values in given.items() if values is not None}
    users = None if columns.user is None else list(columns.user)
    yield ",".join((*JOBS_COLUMNS, *others, *(() if users is None else (USER,)))) + "\n"
    for first in range(0, len(columns), _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, len(columns))
        lines = _job_lines(columns, hosts_text(first, last), slice(first, last))
        lines = _with_metadata(lines, columns.metadata[first:last])
        for values in others.values():
            lines = _with_seconds(lines, values[first:last])
        if users is not None:
            lines = _with_texts(lines, users[first:last])
        yield "".join(lines)


def _job_lines(columns: JobColumns, hosts: Sequence[str], rows: slice) -> Sequence[str]:
    state = columns.state[rows]
    names = ("start_time", "runtime", "finish_time", "waiting_time", "turnaround_time", "stretch")
    dates = [getattr(columns, name)[rows].tolist() for name in names]
    energy = columns.consumed_energy
    energies = [-1.0] * len(state) if energy is None else energy[rows].tolist()
    values = zip(*_asked(columns, rows), *dates, hosts, energies, strict=True)
    ended = has_ended(state)
    if ended.all():
        return [_ENDED_ROW % row for row in values]
    running = (state == JobState.RUNNING).tolist()
    return [
        _ENDED_ROW % row if is_ended else _open_row(row, is_running)
        for row, is_ended, is_running in zip(values, ended.tolist(), running, strict=True)
    ]


def _with_metadata(lines: Sequence[str], metadata: Sequence[str]) -> Sequence[str]:
    """Put texts into the last column of lines, if there are some."""
    if not any(metadata):
        return lines
    return [
        line.removesuffix('""\n') + '"' + text.replace('"', '""') + '"\n'
        for line, text in zip(lines, metadata, strict=True)
    ]


def _with_seconds(lines: Sequence[str], column: Floats) -> Sequence[str]:
    """Add a column that only some runs have."""
    return [
        f"{line.removesuffix(chr(10))},{'' if math.isnan(seconds) else f'{seconds:f}'}\n"
        for line, seconds in zip(lines, column.tolist(), strict=True)
    ]


def _with_texts(lines: Sequence[str], column: Sequence[Any]) -> Sequence[str]:
    """Add a column of labels; None is nothing."""
    fields = csv_fields(["" if label is None else label for label in column])
    return [
        f"{line.removesuffix(chr(10))},{field}\n" for line, field in zip(lines, fields, strict=True)
    ]


def _open_row(row: tuple[Any, ...], is_running: bool) -> str:
    """Format a job that was rejected or cancelled, or has not ended yet."""
    asked = row[:8]
    if not is_running:
        return _NEVER_STARTED_ROW % asked
    start, waiting, hosts = row[8], row[11], row[14]
    return _RUNNING_ROW % (*asked, start, waiting, hosts)


def _asked(columns: JobColumns, rows: slice) -> list[Sequence[Any]]:
    """Return the columns that every job has, up to its final state."""
    state = columns.state[rows].tolist()
    words = [FINAL_STATES[JobState(code)] for code in range(len(JobState))]
    walltime = columns.walltime[rows]
    return [
        csv_fields(columns.job_id[rows].tolist()),
        csv_fields(columns.workload[rows]),
        csv_fields(columns.profile[rows]),
        columns.submit_time[rows].tolist(),
        columns.n_hosts[rows].tolist(),
        np.where(np.isinf(walltime), -1.0, walltime).tolist(),
        [code == JobState.COMPLETED for code in state],
        [words[code] for code in state],
    ]


def csv_fields(values: Sequence[Any]) -> Sequence[Any]:
    """Quote names that would break a line; Batsim, which never quotes, cannot write those."""
    if all(isinstance(value, int) for value in values):
        return values
    values = [str(value) for value in values]
    everything = "".join(values)
    if not any(mark in everything for mark in ',"\r\n'):
        return values
    return [
        f'"{v.replace(chr(34), chr(34) * 2)}"' if any(m in v for m in ',"\r\n') else v
        for v in values
    ]


def host_states_text(record: RecordLike) -> Iterator[str]:
    """Yield machine_states.csv in pieces; dates have six significant digits, as in Batsim."""
    yield ",".join(HOST_STATES_COLUMNS) + "\n"
    time = record.host_state_time
    others = (
        record.host_state_sleeping,
        record.host_state_switching_on,
        record.host_state_switching_off,
    )
    for first in range(0, len(time), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        dates = time[rows].tolist()
        columns = (
            dates,
            *(column[rows].tolist() if len(column) else [0] * len(dates) for column in others),
            record.host_state_idle[rows].tolist(),
            record.host_state_computing[rows].tolist(),
        )
        yield "".join([_HOST_STATES_ROW % row for row in zip(*columns, strict=True)])


Totals = Mapping[str, str]


def schedule_text(totals: Totals) -> str:
    """Return schedule.csv: one line of names in byte order, one of values."""
    names = sorted(totals)
    return ",".join(names) + "\n" + ",".join(totals[name] for name in names) + "\n"


@dataclass(frozen=True, slots=True)
class HostTotals:
    """What schedule.csv tells of hosts: their number, their switching and their joules."""

    n_hosts: int
    switching: Switching = NO_SWITCHING
    joules: float = 0.0


def totals_of(
    columns: JobColumns, held: Counts, hosts_text: HostTexts, hosts: HostTotals, version: str
) -> Totals:
    """Work out the values of schedule.csv as Batsim 4 defines them, its oddities included.

    `held` is the number of hosts that each job got. `makespan` is the latest finish; means are sums
    over ended jobs divided by ended and rejected ones; host-seconds are counted up to each host's
    last start or end of a job, or of switching. What Noctule keeps elsewhere (wall-clock times) is
    zero. Cancelled, running and waiting jobs, which Batsim does not know, count nowhere.
    """
    n_hosts, switching = hosts.n_hosts, hosts.switching
    ended = has_ended(columns.state)
    n_ended = int(np.count_nonzero(ended))
    n_success = int(np.count_nonzero(columns.state == JobState.COMPLETED))
    n_rejected = int(np.count_nonzero(columns.state == JobState.REJECTED))
    n_jobs = n_ended + n_rejected
    computing = _total(held[ended] * columns.runtime[ended])
    changes = _last_changes(columns, n_hosts, hosts_text)
    if len(switching.last_change):
        changes = np.maximum(changes, switching.last_change)
    asleep, switching_off, switching_on = switching.seconds
    busy = computing + asleep + switching_off + switching_on
    numbers = {
        "consumed_joules": hosts.joules,
        "makespan": _largest(columns.finish_time[ended]),
        "max_slowdown": _largest(columns.stretch[ended]),
        "max_turnaround_time": _largest(columns.turnaround_time[ended]),
        "max_waiting_time": _largest(columns.waiting_time[ended]),
        "mean_slowdown": _ratio(_total(columns.stretch[ended]), n_jobs),
        "mean_turnaround_time": _ratio(_total(columns.turnaround_time[ended]), n_jobs),
        "mean_waiting_time": _ratio(_total(columns.waiting_time[ended]), n_jobs),
        "success_rate": _ratio(n_success, n_jobs),
        "time_computing": computing,
        "time_idle": max(0.0, _total(changes) - busy),
        "time_sleeping": asleep,
        "time_switching_off": switching_off,
        "time_switching_on": switching_on,
    }
    counts = {
        "nb_computing_machines": n_hosts,
        "nb_grouped_switches": switching.n_requests,
        "nb_jobs": n_jobs,
        "nb_jobs_finished": n_ended,
        "nb_jobs_killed": n_ended - n_success,
        "nb_jobs_rejected": n_rejected,
        "nb_jobs_success": n_success,
        "nb_machine_switches": switching.n_switched,
    }
    return (
        {"batsim_version": version}
        | {name: f"{value:f}" for name, value in numbers.items()}
        | {name: str(value) for name, value in counts.items()}
        | dict.fromkeys(_ZEROS, "0.000000")
    )


def _largest(values: Floats) -> float:
    return float(np.fmax.reduce(values, initial=0.0))


def _total(values: Floats) -> float:
    """Add up exactly; not a number if a zero runtime made one of the values so."""
    try:
        return math.fsum(values.tolist()) if np.isfinite(values).all() else float(values.sum())
    except OverflowError:
        return math.inf


def _ratio(total: float, n: int) -> float:
    return total / n if n else math.nan


def _last_changes(columns: JobColumns, n_hosts: int, hosts_text: HostTexts) -> Floats:
    """Return each host's last start or end of a job; 0 for hosts that were never used."""
    running = columns.state == JobState.RUNNING
    change = np.where(running, columns.start_time, columns.finish_time)
    # level k holds the latest change of hosts i to i + 2**k - 1: a run of hosts, however long, is
    # covered by two entries, and all levels are folded down once at the end
    levels = [np.zeros(n_hosts) for _ in range(n_hosts.bit_length())]
    for first in range(0, len(columns), _ROWS_AT_ONCE):
        texts = hosts_text(first, first + _ROWS_AT_ONCE)
        row, start, stop = _runs(texts, n_hosts)
        level = np.frexp((stop - start).astype(np.float64))[1] - 1
        for k in np.unique(level).tolist():
            here = level == k
            time = change[first + row[here]]
            np.maximum.at(levels[k], start[here], time)
            np.maximum.at(levels[k], stop[here] - (1 << k), time)
    for k in range(len(levels) - 1, 0, -1):
        half = 1 << (k - 1)
        np.maximum(levels[k - 1], levels[k], out=levels[k - 1])
        np.maximum(levels[k - 1][half:], levels[k][:-half], out=levels[k - 1][half:])
    return levels[0]


def _runs(
    texts: Sequence[str], n_hosts: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (row, first host, last host + 1) of every run of hosts in texts like "0-3 7".

    Hosts that do not exist, which a file of others may name, are left out.
    """
    n_runs = [text.count(" ") + 1 if text else 0 for text in texts]
    # a minus before the last host of a run tells it from the first host of the next one
    joined = " ".join([text for text in texts if text]).replace("-", " -")
    numbers = np.fromstring(joined, dtype=np.int64, sep=" ")
    begins = numbers >= 0
    start = numbers[begins]
    stop = start.copy()
    is_end = np.flatnonzero(~begins)
    stop[np.cumsum(begins)[is_end] - 1] = -numbers[is_end]
    real = start < n_hosts
    row = np.repeat(np.arange(len(texts)), n_runs)
    return row[real], start[real], np.minimum(stop[real] + 1, n_hosts)


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files that another schedule, with energy, has left in a folder."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
