"""Stretches of time in which hosts were not simply there: asleep, away, or kept for some jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noctule.boxes import Boxes
from noctule.external_events import ExternalEvents
from noctule.metrics import Window
from noctule.plots.texts import plain
from noctule.saved.power_text import SWITCHED_OFF, SWITCHED_ON, power_changes
from noctule.schedule import Schedule
from noctule.windows import Maintenance, Windows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

#: What hosts without jobs did, and the colour of the ground there.
GROUNDS: Mapping[str, str] = {
    "asleep": "#c3c8d4",
    "switching on": "#f3d59b",
    "switching off": "#e3c1d5",
}
_AWAKE, _SWITCHING_OFF, _ASLEEP, _SWITCHING_ON = range(4)
_GROUND_OF = {_ASLEEP: "asleep", _SWITCHING_ON: "switching on", _SWITCHING_OFF: "switching off"}
# hatches and edges, so that jobs below can be seen
_LOOKS: Mapping[str, tuple[str, str]] = {
    "maintenance": ("////", "0.25"),
    "reservation": ("....", "#7a2d00"),
    "unavailable": ("\\\\\\\\", "0.25"),
    "failed": ("xxxx", "#7a2d00"),
}
_LEAVING = {"failed": "restored", "unavailable": "available"}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Hosts from `start` to `end`: what happened to them, and its name if it has one."""

    kind: str
    hosts: Sequence[tuple[int, int]]
    start: float
    end: float
    name: str = ""


def stretches_of(
    windows: Windows | None, events: ExternalEvents | None, n_hosts: int
) -> list[Stretch]:
    """Return maintenances and reservations, and when hosts were away by external events."""
    found = list(_absences(events)) if events is not None else []
    for window in () if windows is None else windows.on(n_hosts):
        kind = "maintenance" if isinstance(window, Maintenance) else "reservation"
        hosts = window.hosts.intervals() if not isinstance(window.hosts, int) else []
        found.append(Stretch(kind, hosts, window.start, window.end, window.name))
    return found


def _absences(events: ExternalEvents) -> Iterator[Stretch]:
    """Follow each host that goes until it comes back; neighbours that do so together are one."""
    since: dict[tuple[str, int], float] = {}
    for event in events:
        if event.hosts is None:
            continue
        leaving = {back: kind for kind, back in _LEAVING.items()}.get(event.kind)
        if leaving is None:
            for host in event.hosts:
                since.setdefault((event.kind, host), event.time)
            continue
        gone = [(host, since.pop((leaving, host), None)) for host in event.hosts]
        yield from _joined(leaving, ((h, s) for h, s in gone if s is not None), event.time)
    for kind in _LEAVING:
        left = sorted((host, start) for (one, host), start in since.items() if one == kind)
        yield from _joined(kind, left, math.inf)


def _joined(kind: str, hosts: Iterable[tuple[int, float]], end: float) -> Iterator[Stretch]:
    run: list[tuple[int, float]] = []
    for host, start in hosts:
        if run and (host != run[-1][0] + 1 or start != run[-1][1]):
            yield Stretch(kind, [(run[0][0], run[-1][0])], run[0][1], end)
            run = []
        run.append((host, start))
    if run:
        yield Stretch(kind, [(run[0][0], run[-1][0])], run[0][1], end)


def draw_stretches(axes: Axes, stretches: Sequence[Stretch], window: Window, unit: float) -> None:
    """Hatch the stretches over what hosts did, and write the names of those that have room."""
    from matplotlib.patches import Rectangle

    for stretch in stretches:
        start, end = max(stretch.start, window.start), min(stretch.end, window.end)
        if start >= end:
            continue
        hatch, edge = _LOOKS[stretch.kind]
        for first, last in stretch.hosts:
            corner, width = (start / unit, first), (end - start) / unit
            patch = Rectangle(corner, width, last + 1 - first, fill=False, hatch=hatch, lw=0.8)
            patch.set_edgecolor(edge)
            axes.add_patch(patch)
        if stretch.name and stretch.hosts and end - start > 0.08 * window.length:
            first, last = stretch.hosts[0]
            axes.text(
                (start + end) / 2 / unit,
                (first + last + 1) / 2,
                plain(stretch.name, longest=20),
                ha="center",
                va="center",
                fontsize=6.5,
                clip_on=True,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85},
            )


def stretch_handles(stretches: Iterable[Stretch]) -> list[Patch]:
    """Return what explains the hatches, for a legend."""
    from matplotlib.patches import Patch

    kinds = {stretch.kind for stretch in stretches}
    return [
        Patch(fill=False, hatch=hatch * 2, edgecolor=edge, label=kind)
        for kind, (hatch, edge) in _LOOKS.items()
        if kind in kinds
    ]


def power_boxes(schedule: Schedule, window: Window) -> dict[str, Boxes]:
    """Return where hosts were asleep or being switched, by GROUNDS, within a stretch of time."""
    n_hosts = schedule.platform.n_hosts
    hosts = _Hosts(np.zeros(n_hosts, dtype=np.int8), np.full(n_hosts, -math.inf))
    sleeping = _sleeping_states(schedule)
    for change in power_changes(schedule.record, n_hosts):
        if change.value in (SWITCHED_ON, SWITCHED_OFF):
            after = _SWITCHING_ON if change.value == SWITCHED_ON else _SWITCHING_OFF
        else:
            after = _ASLEEP if change.value in sleeping else _AWAKE
        for first, last in change.hosts.intervals():
            hosts.change(first, min(last + 1, n_hosts), change.time, after)
    hosts.change(0, n_hosts, max(window.end, schedule.end), _AWAKE)
    found = {name: _cut(hosts.rows[phase], window) for phase, name in _GROUND_OF.items()}
    return {name: boxes for name, boxes in found.items() if len(boxes)}


@dataclass(slots=True)
class _Hosts:
    """What each host does and since when; and as rows what runs of them did, by phase."""

    phase: npt.NDArray[np.int8]
    since: npt.NDArray[np.float64]
    rows: dict[int, list[tuple[float, float, int, int]]] = field(
        default_factory=lambda: {phase: [] for phase in _GROUND_OF}
    )

    def change(self, first: int, behind: int, time: float, after: int) -> None:
        """Let hosts do something else from now on; note what they did until now."""
        phase, since = self.phase[first:behind], self.since[first:behind]
        differ = np.flatnonzero((phase[1:] != phase[:-1]) | (since[1:] != since[:-1])) + 1
        for begin, end in pairwise([0, *differ.tolist(), len(phase)]):
            before = int(phase[begin]) if end > begin else _AWAKE
            if before in self.rows:
                row = (float(since[begin]), time, first + begin, first + end)
                self.rows[before].append(row)
        since[phase != after] = time
        phase[:] = after


def _sleeping_states(schedule: Schedule) -> set[int]:
    """Return the power states to sleep in: the platform's, and those that switching off led to."""
    kinds = schedule.platform.hosts.kinds
    known = {state.sleep for kind in kinds for state in kind.sleep_states}
    off: set[str] = set()
    for change in power_changes(schedule.record, schedule.platform.n_hosts):
        hosts = str(change.hosts)
        if change.value == SWITCHED_OFF:
            off.add(hosts)
        elif change.value == SWITCHED_ON:
            off.discard(hosts)
        elif hosts in off:
            known.add(change.value)
    return known


def _cut(rows: Sequence[tuple[float, float, int, int]], window: Window) -> Boxes:
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    left = np.maximum(table[:, 0], window.start)
    right = np.minimum(table[:, 1], window.end)
    kept = left < right
    row = np.full(np.count_nonzero(kept), -1, dtype=np.intp)
    return Boxes(left[kept], right[kept], table[kept, 2], table[kept, 3], row)
