"""Availability profiles: what changes hosts and links over time, in the form of SimGrid.

Lines of a date and a value; PERIODICITY p repeats the pattern every p seconds, LOOPAFTER d restarts
it d seconds after its last line. Text behind # or % is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.network import Network, Sharing, Zone
from noctule.platform import Platform
from noctule.units import shown

__all__ = ["Availability", "Change", "availability_changes", "read_availability"]

_EXPECTED = "a date and a value, PERIODICITY p or LOOPAFTER d"
_KINDS = {
    "SPEED": ("host", "speed"),
    "HOST_AVAIL": ("host", "state"),
    "BANDWIDTH": ("link", "bandwidth"),
    "LATENCY": ("link", "latency"),
    "LINK_AVAIL": ("link", "state"),
}


@dataclass(frozen=True, slots=True)
class Availability:
    """Values from dates on.

    Attributes:
        points: dates in seconds, rising, each with the value from then on.
        period: seconds after which it all happens again, counted from 0; None for once.
    """

    points: tuple[tuple[float, float], ...]
    period: float | None = None

    def events(self) -> Iterator[tuple[float, float]]:
        """Yield dates and values, without end if it repeats."""
        turn = 0
        while True:
            start = turn * (self.period or 0.0)
            for date, value in self.points:
                yield start + date, value
            if self.period is None or not self.points:
                return
            turn += 1


@dataclass(frozen=True, slots=True)
class Change:
    """What changes: the speed or state of a host; the bandwidth, latency or state of a link.

    A speed is multiplied by the values, a bandwidth or a latency is set to them, a state is 0 or 1.
    Both halves of a split link are listed, under their own names.
    """

    element: str
    name: str
    what: str
    availability: Availability


def read_availability(text: str, source: str, period: float | None = None) -> Availability:
    """Read a profile; `period` is one that was given beside the text."""
    points: list[tuple[float, float]] = []
    loop_after: float | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split("%")[0].split()
        where = f"{source}: line {number}"
        if not words:
            continue
        if len(words) != 2:
            raise InputError(f"{where}: got {shown(line.strip())}, expected {_EXPECTED}")
        if words[0] == "PERIODICITY":
            period = _number(words[1], where)
        elif words[0] == "LOOPAFTER":
            loop_after = _number(words[1], where)
        else:
            point = _number(words[0], where), _number(words[1], where)
            if points and point[0] < points[-1][0]:
                raise InputError(
                    f"{where}: got date {point[0]!r}, expected {points[-1][0]!r} or later"
                )
            points.append(point)
    return Availability(tuple(points), _checked_period(points, period, loop_after, source))


def _checked_period(
    points: list[tuple[float, float]],
    period: float | None,
    loop_after: float | None,
    source: str,
) -> float | None:
    last = points[-1][0] if points else 0.0
    if loop_after is not None:
        period = last + loop_after
    if period is None or period == 0:
        # as in SimGrid, where a loop of no length is none
        return None
    if period < last or not points:
        raise InputError(
            f"{source}: got a period of {period!r} s and {len(points)} dates up to {last!r}, "
            "expected dates within the period"
        )
    return period


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{where}: got {shown(text)}, expected {_EXPECTED}; numbers from 0 on")
    return value


def availability_changes(platform: Platform) -> list[Change]:
    """Return all that changes over time, hosts in the order of their ids, then links.

    Files are read relative to the folder of the platform's file.
    """
    return _Reader(platform).changes()


class _Reader:
    """Reads each file once."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._folder = Path(platform.source).parent
        self._read: dict[str, Availability] = {}

    def changes(self) -> list[Change]:
        platform = self._platform
        changes: list[Change] = []
        if _has_profiles(platform):
            for host in platform.all_hosts():
                for what, file in host.kind.profiles.items():
                    where = f"{platform.source}: host {host.name!r}: {what}"
                    changes.append(Change("host", host.name, what, self._of_file(file, where)))
        for zone in platform.network.walk():
            for link in zone.links if isinstance(zone, Zone) else ():
                for what, file in link.profiles.items():
                    where = f"{platform.source}: link {link.name!r}: {what}"
                    found = self._of_file(file, where)
                    split = link.sharing == Sharing.SPLITDUPLEX
                    names = _halves(link.name) if split else [link.name]
                    changes.extend(Change("link", name, what, found) for name in names)
        return [*changes, *self._connected(platform.network)]

    def _connected(self, network: Network) -> Iterator[Change]:
        traces = {trace.name: trace for trace in network.traces}
        split = _split_links(network) if network.connections else set()
        hosts = {host.name for host in self._platform.all_hosts()} if network.connections else set()
        for kind, name, element in network.connections:
            where = f"{self._platform.source}: trace_connect: {name!r}"
            trace = traces.get(name)
            if trace is None:
                raise InputError(f"{where}: no such trace")
            if trace.file:
                found = self._of_file(trace.file, where)
            else:
                text = f"{self._platform.source}: trace {name!r}"
                found = read_availability(trace.text, text, trace.periodicity)
            of, what = _KINDS[kind]
            if of == "host" and element not in hosts:
                raise InputError(f"{where}: host {element!r}: no such host")
            for changed in _halves(element) if of == "link" and element in split else [element]:
                yield Change(of, changed, what, found)

    def _of_file(self, file: str, where: str) -> Availability:
        known = self._read.get(file)
        if known is None:
            path = self._folder / file
            if not path.is_file():
                raise InputError(f"{where}: {path}: no such file")
            try:
                text = read_bytes(path).decode()
            except UnicodeDecodeError:
                raise InputError(
                    f"{path}: got bytes that are no text, expected {_EXPECTED}"
                ) from None
            known = self._read[file] = read_availability(text, str(path))
        return known


def _has_profiles(platform: Platform) -> bool:
    kinds = [*platform.hosts.kinds, *(host.kind for host in platform.others)]
    return any(kind.profiles for kind in kinds)


def _split_links(network: Network) -> set[str]:
    return {
        link.name
        for zone in network.walk()
        if isinstance(zone, Zone)
        for link in zone.links
        if link.sharing == Sharing.SPLITDUPLEX
    }


def _halves(name: str) -> list[str]:
    return [f"{name}_UP", f"{name}_DOWN"]
