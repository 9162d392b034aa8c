"""The text of the files about energy: consumed_energy.csv, pstate_changes.csv and power.csv.

They exist where a run counted energy. The first two are Batsim 4's; what schedule.csv tells of
switching follows from the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noctule.platform import Hosts
from noctule.record import Floats, RecordLike

if TYPE_CHECKING:
    from noctule._core import HostSet

ENERGY_FILE = "consumed_energy.csv"
POWER_STATES_FILE = "pstate_changes.csv"
POWER_FILE = "power.csv"
POWER_FILE_NAMES = (ENERGY_FILE, POWER_STATES_FILE, POWER_FILE)

ENERGY_COLUMNS = ("time", "energy", "event_type", "wattmin", "epower")
POWER_STATES_COLUMNS = ("time", "machine_id", "new_pstate")
POWER_COLUMNS = ("time", "watts")
#: What Batsim writes instead of a power state while hosts are switched on, and off.
SWITCHED_ON, SWITCHED_OFF = -1, -2

_ROWS_AT_ONCE = 1 << 15
_ENERGY_ROW = "%f,%f,%s,%f,%s\n"
_AWAKE, _SWITCHING_OFF, _ASLEEP, _SWITCHING_ON = range(4)


def mean_watts_of(time: Floats, joules: Floats) -> Floats:
    """Return the mean power since the row before, or since 0; NaN where no time has passed."""
    spans = np.diff(time, prepend=0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(spans > 0, np.diff(joules, prepend=0.0) / spans, np.nan)


def energy_text(record: RecordLike, mean_watts: Floats) -> Iterator[str]:
    """Yield consumed_energy.csv in pieces."""
    yield ",".join(ENERGY_COLUMNS) + "\n"
    for first in range(0, len(record.energy_time), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        columns = (
            record.energy_time[rows].tolist(),
            record.energy_joules[rows].tolist(),
            map(chr, record.energy_why[rows].tolist()),
            record.energy_least_watts[rows].tolist(),
            ("NA" if np.isnan(watts) else f"{watts:f}" for watts in mean_watts[rows].tolist()),
        )
        yield "".join([_ENERGY_ROW % row for row in zip(*columns, strict=True)])


def power_text(time: Floats, watts: Floats, end: float) -> Iterator[str]:
    """Yield power.csv in pieces, without rounding; the last line says up to when it was counted."""
    yield ",".join(POWER_COLUMNS) + "\n"
    if len(time) and time[-1] < end:
        time, watts = np.append(time, end), np.append(watts, watts[-1])
    for first in range(0, len(time), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        columns = time[rows].tolist(), watts[rows].tolist()
        yield "".join([f"{date!r},{power!r}\n" for date, power in zip(*columns, strict=True)])


@dataclass(frozen=True, slots=True)
class PowerChange:
    """A row of pstate_changes.csv."""

    time: float
    hosts: HostSet
    value: int


def power_changes(record: RecordLike, n_hosts: int) -> Iterator[PowerChange]:
    """Yield what a run recorded as Batsim tells it: what is done at once is asked for before.

    The first rows, at 0, say how the hosts began; nobody asked for that.
    """
    asked: set[HostSet] = set()
    n_begun = 0
    time, value = record.power_state_time.tolist(), record.power_state_value.tolist()
    for row, hosts in enumerate(record.power_state_hosts):
        if value[row] < 0:
            asked.add(hosts)
        elif hosts in asked:
            asked.discard(hosts)
        elif time[row] == 0 and n_begun < n_hosts:
            n_begun += len(hosts)
        else:
            yield PowerChange(time[row], hosts, SWITCHED_ON)
        yield PowerChange(time[row], hosts, value[row])


def power_states_text(record: RecordLike, n_hosts: int) -> Iterator[str]:
    """Yield pstate_changes.csv in pieces; dates have six significant digits, as in Batsim."""
    yield ",".join(POWER_STATES_COLUMNS) + "\n"
    for change in power_changes(record, n_hosts):
        yield f"{change.time:g},{change.hosts},{change.value}\n"


def switches_between(
    record: RecordLike, n_hosts: int, first: float, last: float
) -> tuple[int, int]:
    """Return how often power states were asked for between two dates, and for how many hosts."""
    asked = [
        len(change.hosts)
        for change in power_changes(record, n_hosts)
        if change.value < 0 and first <= change.time <= last
    ]
    return len(asked), sum(asked)


def switching_dates(record: RecordLike, n_hosts: int) -> list[float]:
    """Return when hosts began to switch on or off, and when they were there.

    Power states that are reached at once are left out: hosts go on with what they do.
    """
    asked: dict[HostSet, float] = {}
    dates = []
    for change in power_changes(record, n_hosts):
        if change.value < 0:
            asked[change.hosts] = change.time
        elif change.hosts in asked:
            began = asked.pop(change.hosts)
            dates += [began, change.time] if began < change.time else []
    return [*dates, *asked.values()]


@dataclass(frozen=True, slots=True)
class Switching:
    """What a run's changes of power states come to.

    Attributes:
        n_requests: how often the policy asked for power states.
        n_switched: hosts that it asked for, counted once a request.
        last_change: when each host last went to sleep, awoke, or began to; 0 if it never did.
        seconds: host-seconds asleep, switching off and on, up to these dates as in Batsim.
    """

    n_requests: int = 0
    n_switched: int = 0
    last_change: Floats = field(default_factory=lambda: np.empty(0))
    seconds: Sequence[float] = (0.0, 0.0, 0.0)


NO_SWITCHING = Switching()


def switching_of(record: RecordLike, all_hosts: Hosts) -> Switching:
    """Follow hosts through their power states."""
    n_hosts = len(all_hosts)
    first = [
        any(kind.initial_state == state.sleep for state in kind.sleep_states)
        for kind in all_hosts.kinds
    ]
    phase = np.where(np.array(first)[all_hosts.kind_of], _ASLEEP, _AWAKE).astype(np.int8)
    since = np.zeros(n_hosts)
    seconds = [0.0] * 4
    n_requests = n_switched = 0
    for change in power_changes(record, n_hosts):
        if change.value < 0:
            n_requests += 1
            n_switched += len(change.hosts)
        hosts = _known_hosts(change.hosts, n_hosts)
        before = phase[hosts]
        after = _NEXT_PHASE[change.value if change.value < 0 else 0][before]
        moved = before != after
        for one in np.unique(before[moved]).tolist():
            spans = change.time - since[hosts[moved & (before == one)]]
            seconds[one] += float(spans.sum())
        since[hosts[moved]] = change.time
        phase[hosts] = after
    parts = [seconds[one] for one in (_ASLEEP, _SWITCHING_OFF, _SWITCHING_ON)]
    return Switching(n_requests, n_switched, since, parts)


def _known_hosts(hosts: HostSet, n_hosts: int) -> npt.NDArray[np.intp]:
    """Return the hosts that there are: a file of others may name any."""
    runs = [np.arange(first, min(last + 1, n_hosts)) for first, last in hosts.intervals()]
    return np.concatenate([np.empty(0, dtype=np.intp), *runs])


# by the value of a row (0 for all power states): the phase after it, by the one before
_NEXT_PHASE = {
    SWITCHED_OFF: np.array([_SWITCHING_OFF, _SWITCHING_OFF, _ASLEEP, _SWITCHING_ON], dtype=np.int8),
    SWITCHED_ON: np.array([_AWAKE, _SWITCHING_OFF, _SWITCHING_ON, _SWITCHING_ON], dtype=np.int8),
    0: np.array([_AWAKE, _ASLEEP, _ASLEEP, _AWAKE], dtype=np.int8),
}
