"""The schedule as a Pajé trace, which ViTE and other tools draw.

A machine is in the state `w`, or in that of the job that it runs: `j` and the job's full id.
Colours are those of a wheel of 64 hues, taken so that jobs after one another differ: the same run
gives the same file.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from noctule.batsim.host_history import Change, ChangeKind
from noctule.record import JobState
from noctule.schedule import Schedule

_N_HUES = 64
# prime to their number, and far from its multiples: neighbours are far apart on the wheel
_HUE_STEP = 25
_COLOURS = [
    " ".join(f"{part:.6f}" for part in colorsys.hsv_to_rgb(hue / _N_HUES, 1.0, 1.0))
    for hue in range(_N_HUES)
]
_EVENTS: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (
    ("PajeDefineContainerType", (("Alias", "string"), ("Type", "string"), ("Name", "string"))),
    (
        "PajeCreateContainer",
        (
            ("Time", "date"),
            ("Alias", "string"),
            ("Type", "string"),
            ("Container", "string"),
            ("Name", "string"),
        ),
    ),
    ("PajeDestroyContainer", (("Time", "date"), ("Name", "string"), ("Type", "string"))),
    ("PajeDefineStateType", (("Alias", "string"), ("Type", "string"), ("Name", "string"))),
    (
        "PajeDefineEntityValue",
        (("Alias", "string"), ("Type", "string"), ("Name", "string"), ("Color", "color")),
    ),
    (
        "PajeSetState",
        (("Time", "date"), ("Type", "string"), ("Container", "string"), ("Value", "string")),
    ),
    (
        "PajeDefineEventType",
        (("Alias", "string"), ("Type", "string"), ("Name", "string"), ("Color", "color")),
    ),
    (
        "PajeNewEvent",
        (("Time", "date"), ("Type", "string"), ("Container", "string"), ("Value", "string")),
    ),
    (
        "PajeDefineVariableType",
        (("Alias", "string"), ("Type", "string"), ("Name", "string"), ("Color", "color")),
    ),
    (
        "PajeSetVariable",
        (("Time", "date"), ("Type", "string"), ("Container", "string"), ("Value", "double")),
    ),
)
(_CONTAINER_TYPE, _CREATE, _DESTROY, _STATE_TYPE, _VALUE, _SET, _EVENT_TYPE, _EVENT, _VARIABLE) = (
    range(1, 10)
)
_ODD = re.compile(r'["\s]')
_BLACK, _GREY, _RED = "0.0 0.0 0.0", "0.3 0.3 0.3", "1.0 0.0 0.0"
_STOPPED = (JobState.KILLED, JobState.TIMED_OUT)


def paje_text(schedule: Schedule, changes: Sequence[Change]) -> Iterator[str]:
    """Yield the trace in pieces."""
    yield from _header()
    platform = schedule.platform
    names = [*platform.hosts.names, *(host.name for host in platform.storages)]
    yield from _beginning(names)
    yield from _Drawing(schedule, len(names)).pieces(changes)
    end = f"{schedule.end:f}"
    for machine in range(len(names)):
        yield f"{_DESTROY} {end} m{machine} machine_ct\n"
    yield f"{_DESTROY} {end} k killer_ct\n"
    yield f"{_DESTROY} {end} sc scheduler_ct\n"
    yield f"{_DESTROY} {end} root root_ct\n"


def _header() -> Iterator[str]:
    for number, (name, fields) in enumerate(_EVENTS, start=1):
        yield f"%EventDef {name} {number}\n"
        for field, kind in fields:
            yield f"% {field} {kind}\n"
        yield "%EndEventDef\n"


def _beginning(names: Sequence[str]) -> Iterator[str]:
    yield f'{_CONTAINER_TYPE} root_ct 0 "Machines"\n'
    yield f'{_CONTAINER_TYPE} machine_ct root_ct "Machine"\n'
    yield f'{_CONTAINER_TYPE} scheduler_ct root_ct "Scheduler"\n'
    yield f'{_CONTAINER_TYPE} killer_ct scheduler_ct "Killer"\n'
    yield f'{_STATE_TYPE} machine_state machine_ct "Machine state"\n'
    yield f'{_EVENT_TYPE} kk killer_ct "Job kill" "{_RED}"\n'
    yield f'{_EVENT_TYPE} km machine_ct "Job kill" "{_RED}"\n'
    yield f'{_VARIABLE} vu_vt machine_ct "Utilization" "{_GREY}"\n'
    yield f'{_VALUE} w machine_state "Waiting" "{_BLACK}"\n'
    yield f'{_VALUE} l machine_state "Launching" "{_GREY}"\n'
    yield f'{_CREATE} 0.000000 root root_ct 0 "root"\n'
    for machine, name in enumerate(names):
        yield f'{_CREATE} 0.000000 m{machine} machine_ct root "{_quoted(name)}"\n'
    yield f'{_CREATE} 0.000000 sc scheduler_ct root "Scheduler"\n'
    yield f'{_CREATE} 0.000000 k killer_ct sc "Killer"\n'
    for machine in range(len(names)):
        yield f"{_SET} 0.000000 machine_state m{machine} w\n"


class _Drawing:
    """Writes down what machines show as jobs come and go."""

    def __init__(self, schedule: Schedule, n_machines: int) -> None:
        record = schedule.record
        self._ids = [str(job_id) for job_id in schedule.column("job_id").tolist()]
        self._is_stopped = [code in _STOPPED for code in record.state.tolist()]
        self._n_machines = n_machines
        self._jobs: list[list[str]] = [[] for _ in range(n_machines)]
        self._values: dict[str, str] = {}

    def pieces(self, changes: Sequence[Change]) -> Iterator[str]:
        for change in changes:
            if change.kind is ChangeKind.JOB_STARTED:
                yield self._start(change)
            elif change.kind is ChangeKind.JOB_ENDED:
                yield self._end(change)

    def _start(self, change: Change) -> str:
        job_id = self._ids[change.row]
        lines = [] if job_id in self._values else [self._define(job_id)]
        beginning, value = f"{_SET} {change.time:f} machine_state m", self._values[job_id]
        for machine in self._machines(change):
            jobs = self._jobs[machine]
            jobs.append(job_id)
            shown = value if len(jobs) == 1 else self._values[min(jobs)]
            lines.append(f"{beginning}{machine} {shown}\n")
        return "".join(lines)

    def _end(self, change: Change) -> str:
        job_id, time = self._ids[change.row], f"{change.time:f}"
        value, is_stopped = self._values[job_id], self._is_stopped[change.row]
        lines = [f"{_EVENT} {time} kk k {value}\n"] if is_stopped else []
        beginning = f"{_SET} {time} machine_state m"
        for machine in self._machines(change):
            if is_stopped:
                lines.append(f"{_EVENT} {time} km m{machine} {value}\n")
            jobs = self._jobs[machine]
            before = min(jobs)
            jobs.remove(job_id)
            if not jobs:
                lines.append(f"{beginning}{machine} w\n")
            elif before != min(jobs):
                lines.append(f"{beginning}{machine} {self._values[min(jobs)]}\n")
        return "".join(lines)

    def _machines(self, change: Change) -> Iterable[int]:
        runs = [
            range(first, min(last + 1, self._n_machines))
            for first, last in change.hosts.intervals()
        ]
        return runs[0] if len(runs) == 1 else chain.from_iterable(runs)

    def _define(self, job_id: str) -> str:
        """Return the line that gives a job its value and colour, at its first use."""
        colour = _COLOURS[len(self._values) * _HUE_STEP % _N_HUES]
        value = self._values[job_id] = _word(f"j{job_id}")
        return f'{_VALUE} {value} machine_state "{_quoted(job_id)}" "{colour}"\n'


def _word(text: str) -> str:
    """Return a name as a field: in quotes where a blank would end it."""
    return text if not _ODD.search(text) else f'"{_quoted(text)}"'


def _quoted(text: str) -> str:
    """Return a text for between quotes, which nothing can bring into a Pajé field."""
    return _ODD.sub(lambda odd: "'" if odd[0] == '"' else " ", text)
