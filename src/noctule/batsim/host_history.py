"""What happened to hosts, change by change, in the order in which Batsim writes it down.

A schedule tells what happened to jobs and to power states. Here that becomes one sequence, and a
walk through it that counts hosts by what they do, and for how long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from noctule._core import HostSet
from noctule.batsim.witness import Availability, Witness
from noctule.platform import HostKind, Hosts
from noctule.record import Floats
from noctule.saved.power_text import SWITCHED_OFF, power_changes
from noctule.schedule import Schedule


class HostState(IntEnum):
    """What a host does."""

    IDLE = 0
    COMPUTING = 1
    SLEEPING = 2
    SWITCHING_ON = 3
    SWITCHING_OFF = 4
    UNAVAILABLE = 5


class ChangeKind(IntEnum):
    """What happens to hosts; at one date mostly in this order."""

    JOB_ENDED = 0
    SWITCHED = 1
    SWITCHES_TOLD = 2
    HOSTS_BACK = 3
    HOSTS_LEFT = 4
    SWITCHING_OFF = 5
    SWITCHING_ON = 6
    JOB_STARTED = 7


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happens to hosts; `row` is that of the job in the record, if it is about one.

    For hosts that have switched, `row` is 1 if they sleep now, else 0. That all hosts of a request
    have switched is told once, when the last of them has; the hosts themselves are done before.
    """

    time: float
    kind: ChangeKind
    hosts: HostSet
    row: int = 0


def host_changes(schedule: Schedule, witness: Witness) -> list[Change]:
    """Return all changes, in order.

    At one date, jobs end before others start, but those that took no time; those that started at
    one date did so in the order of their decisions.
    """
    keyed = [
        *_job_changes(schedule, witness),
        *_power_changes(schedule, witness),
        *_availability_changes(witness.availabilities),
    ]
    ordered = [change for *_, change in sorted(_by_instants(keyed), key=lambda one: one[:4])]
    return list(_in_order(ordered, schedule.record.start_time))


def _by_instants(keyed: list[_Keyed]) -> Iterator[_Keyed]:
    """Replace dates by numbers of instants: roundings must not put an end behind a start."""
    keyed.sort(key=lambda entry: entry[0])
    instant, before = 0, -math.inf
    for time, rank, order, row, change in keyed:
        instant += time - before > _INSTANT
        before = time
        yield instant, rank, order, row, change


def _in_order(changes: Sequence[Change], start_time: Floats) -> Iterator[Change]:
    """Move the end of a job that took no time before the next start on its hosts."""
    brief: dict[int, Change] = {}
    for change in changes:
        if _is_brief_end(change, start_time):
            brief[change.row] = change
    if not brief:
        yield from changes
        return
    running: list[int] = []
    for change in changes:
        if change.kind is ChangeKind.JOB_STARTED:
            for row in [row for row in running if brief[row].hosts & change.hosts]:
                running.remove(row)
                yield brief.pop(row)
            if change.row in brief:
                running.append(change.row)
        elif change.kind is ChangeKind.JOB_ENDED and change.row in running:
            running.remove(change.row)
            del brief[change.row]
        elif _is_brief_end(change, start_time):
            continue
        yield change


def _is_brief_end(change: Change, start_time: Floats) -> bool:
    is_end = change.kind is ChangeKind.JOB_ENDED
    return is_end and change.time - float(start_time[change.row]) <= _INSTANT


# dates that are closer are one for SimGrid
_INSTANT = 1e-9
# what is decided for one date happens in the order of the decisions
_DECIDED = ChangeKind.JOB_STARTED
_Keyed = tuple[float, int, int, int, Change]


def _job_changes(schedule: Schedule, witness: Witness) -> Iterator[_Keyed]:
    record = schedule.record
    starts, ends = record.start_time.tolist(), record.finish_time.tolist()
    unknown = witness.n_decisions
    ids = schedule.column("job_id").tolist()
    last = len(ChangeKind)
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if math.isnan(start):
            continue
        hosts = record.hosts(row)
        if not hosts:  # a job that the scheduler runs elsewhere
            continue
        order = witness.starts.get(ids[row], unknown)
        yield start, _DECIDED, order, row, Change(start, ChangeKind.JOB_STARTED, hosts, row)
        if not math.isnan(end):
            rank = ChangeKind.JOB_ENDED if end - start > _INSTANT else last
            yield end, rank, row, 0, Change(end, ChangeKind.JOB_ENDED, hosts, row)


def _power_changes(schedule: Schedule, witness: Witness) -> Iterator[_Keyed]:
    """Yield what hosts were asked for and when they had it; how they began is no change."""
    asked: dict[str, tuple[float, int]] = {}
    switches = _Switches(schedule.platform.hosts)
    orders = iter(witness.power_requests)
    unknown = witness.n_decisions
    for number, change in enumerate(power_changes(schedule.record, schedule.platform.n_hosts)):
        hosts, time = change.hosts, change.time
        if change.value < 0:
            asked[str(hosts)] = time, change.value
            is_off = change.value == SWITCHED_OFF
            kind = ChangeKind.SWITCHING_OFF if is_off else ChangeKind.SWITCHING_ON
            yield time, _DECIDED, next(orders, unknown), number, Change(time, kind, hosts)
        elif str(hosts) in asked:
            since, why = asked.pop(str(hosts))
            for end, some in switches.ends(hosts, why, change.value):
                done = Change(
                    min(since + end, time), ChangeKind.SWITCHED, some, why == SWITCHED_OFF
                )
                yield done.time, done.kind, number, 0, done
            if switches.last_seconds > 0:
                told = Change(time, ChangeKind.SWITCHES_TOLD, hosts)
                yield time, told.kind, number, 0, told
        else:
            switches.begin(hosts, change.value)


class _Switches:
    """Knows how long hosts take to switch: that depends on the state in which they sleep."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        of_kinds = np.array([kind.initial_state for kind in hosts.kinds], dtype=np.int64)
        self._states = of_kinds[hosts.kind_of]
        self.last_seconds = 0.0

    def begin(self, hosts: HostSet, state: int) -> None:
        """Note in which state hosts begin."""
        self._states[list(hosts)] = state

    def ends(self, hosts: HostSet, why: int, state: int) -> Iterator[tuple[float, HostSet]]:
        """Yield after how many seconds which hosts have reached a state."""
        ids = np.array(list(hosts), dtype=np.int64)
        groups: dict[float, list[int]] = {}
        for host, kind, before in zip(
            ids.tolist(), self._hosts.kind_of[ids].tolist(), self._states[ids].tolist(), strict=True
        ):
            sleep = state if why == SWITCHED_OFF else before
            seconds = _switch_seconds(self._hosts.kinds[kind], sleep, is_off=why == SWITCHED_OFF)
            groups.setdefault(seconds, []).append(host)
        self._states[ids] = state
        self.last_seconds = max(groups, default=0.0)
        for seconds, some in groups.items():
            if seconds > 0:
                yield seconds, HostSet(some)


def _switch_seconds(kind: HostKind, sleep: int, *, is_off: bool) -> float:
    """Return how long hosts switch to a state to sleep in, or from it; 0 if they do not."""
    for entry in kind.sleep_states:
        if entry.sleep == sleep:
            return 1.0 / kind.speeds[entry.switching_off if is_off else entry.switching_on]
    return 0.0


def _availability_changes(availabilities: Sequence[Availability]) -> Iterator[_Keyed]:
    for number, one in enumerate(availabilities):
        kind = ChangeKind.HOSTS_BACK if one.is_back else ChangeKind.HOSTS_LEFT
        yield one.time, ChangeKind.HOSTS_BACK, number, 0, Change(one.time, kind, one.hosts)


_Bytes = npt.NDArray[np.int8]


@dataclass(slots=True)
class HostCensus:
    """Follows hosts through their changes.

    Attributes:
        n_hosts: hosts, storages included.
        n_counted: those that `counts` begin with.
        asleep: hosts that begin asleep.
        only_jobs: whether all that happens is that jobs start and end, at most one on a host.
        counts: how many hosts are in each HostState; as in Batsim, idle storages are not counted
            before they are used.
        seconds: host-seconds in each, up to each host's last change.
    """

    n_hosts: int
    n_counted: int
    asleep: Sequence[int] = ()
    only_jobs: bool = False
    counts: list[int] = field(init=False)
    seconds: npt.NDArray[np.float64] = field(init=False)
    _since: npt.NDArray[np.float64] = field(init=False)
    _state: _Bytes = field(init=False)
    _power: _Bytes = field(init=False)
    _n_jobs: npt.NDArray[np.int32] = field(init=False)
    _is_gone: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with idle hosts, but for those that sleep."""
        self.counts = [0] * len(HostState)
        self.counts[HostState.IDLE] = self.n_counted - len(self.asleep)
        self.counts[HostState.SLEEPING] = len(self.asleep)
        self.seconds = np.zeros(len(HostState))
        self._since = np.zeros(self.n_hosts)
        self._power = np.zeros(self.n_hosts, dtype=np.int8)
        self._power[list(self.asleep)] = HostState.SLEEPING
        self._state = self._power.copy()
        self._n_jobs = np.zeros(self.n_hosts, dtype=np.int32)
        self._is_gone = np.zeros(self.n_hosts, dtype=np.bool_)

    def follow(self, change: Change) -> None:
        """Take the next change into account."""
        if change.kind is ChangeKind.SWITCHES_TOLD:
            return
        for first, last in change.hosts.intervals():
            if first < self.n_hosts:
                hosts = slice(first, min(last + 1, self.n_hosts))
                if self.only_jobs:
                    self._begin_or_end(change, hosts)
                else:
                    self._change(change, hosts)

    def _begin_or_end(self, change: Change, hosts: slice) -> None:
        """Do what `_change` does where nothing but jobs matters, in a fraction of the time."""
        is_end = change.kind is ChangeKind.JOB_ENDED
        before = HostState.COMPUTING if is_end else HostState.IDLE
        since = self._since[hosts]
        self.seconds[before] += float((change.time - since).sum())
        since[:] = change.time
        self.counts[before] -= len(since)
        self.counts[1 - before] += len(since)

    def _change(self, change: Change, hosts: slice) -> None:
        match change.kind:
            case ChangeKind.JOB_STARTED:
                self._n_jobs[hosts] += 1
            case ChangeKind.JOB_ENDED:
                self._n_jobs[hosts] -= 1
            case ChangeKind.HOSTS_LEFT:
                self._is_gone[hosts] = True
            case ChangeKind.HOSTS_BACK:
                self._is_gone[hosts] = False
            case ChangeKind.SWITCHING_OFF | ChangeKind.SWITCHING_ON:
                self._begin_switch(change.kind, hosts)
            case ChangeKind.SWITCHED:
                self._power[hosts] = HostState.SLEEPING if change.row else HostState.IDLE
        self._settle(hosts, change.time)

    def _begin_switch(self, kind: ChangeKind, hosts: slice) -> None:
        """Hosts that are awake already, and are asked to be so, do not switch."""
        power = self._power[hosts]
        if kind is ChangeKind.SWITCHING_OFF:
            power[power == HostState.IDLE] = HostState.SWITCHING_OFF
        else:
            power[power == HostState.SLEEPING] = HostState.SWITCHING_ON

    def _settle(self, hosts: slice, time: float) -> None:
        """Give hosts the states that follow from what is known of them."""
        before = self._state[hosts]
        after = np.where(self._n_jobs[hosts] > 0, HostState.COMPUTING, self._power[hosts])
        after = np.where(self._is_gone[hosts], HostState.UNAVAILABLE, after).astype(np.int8)
        n = len(HostState)
        spans = time - self._since[hosts]
        self.seconds += np.bincount(before, weights=spans, minlength=n)
        more = (np.bincount(after, minlength=n) - np.bincount(before, minlength=n)).tolist()
        self.counts = [count + change for count, change in zip(self.counts, more, strict=True)]
        self._since[hosts] = time
        self._state[hosts] = after
