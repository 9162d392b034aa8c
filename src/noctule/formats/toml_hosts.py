"""A group of hosts in Noctule's short form of a platform.

Power is written the way people think of it, and becomes the properties in which SimGrid and Batsim
have it, so that a platform means the same in either form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from noctule.errors import InputError
from noctule.formats.host_choice import role_of
from noctule.formats.host_kinds import MEMORY, ROLE, KindWords, made_kind
from noctule.formats.platform_draft import MAX_LISTED_HOSTS, ZoneDraft
from noctule.formats.power_properties import OFF, PER_STATE, SLEEP
from noctule.formats.ranges import read_ranges
from noctule.formats.toml_table import Table
from noctule.network import NumberedNames, Routing
from noctule.platform import Disk, HostKind
from noctule.units import BANDWIDTH, DURATION, POWER, SIZE, SPEED

# What Batsim's platforms give to hosts that sleep: they are off, but 0 is not a speed there.
SLEEPING_SPEED = 1e-3
_TINY = math.ulp(0.0)
_SHORTEST = 1e-300  # 1 / it is a number


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Hosts that are described together.

    Attributes:
        link: bandwidth and latency of the link of each, in a star zone.
        up: name of the link to send on, in a star zone; `down` that to receive on.
        peer: bandwidths in and out and the latency of each, in a Vivaldi zone.
    """

    where: str
    names: NumberedNames
    words: KindWords
    properties: Mapping[str, str]
    disks: tuple[Disk, ...]
    cabinet: str
    link: tuple[float, float] | None
    up: str
    down: str
    peer: tuple[float, float, float] | None

    def kind(
        self,
        path: tuple[str, ...],
        zone_properties: Mapping[str, str],
        inherited: Mapping[str, str],
    ) -> HostKind:
        """Return what the hosts have in common, with properties that they inherit."""
        return made_kind(
            {**inherited, **self.properties},
            self.where,
            zone=path,
            zone_properties=zone_properties,
            disks=self.disks,
            **self.words,
        )

    def require(self, zone: ZoneDraft, key: str, routing: Routing) -> None:
        """Refuse a key that only hosts of another kind of zone can have."""
        if zone.routing != routing:
            raise InputError(
                f"{self.where}.{key}: zone {zone.name!r} has routing "
                f"{zone.routing.name.lower()}, expected {routing.name.lower()}"
            )

    def refuse_links(self) -> None:
        """Refuse links of the hosts' own, which a topology gives them."""
        for key, value in (("link", self.link), ("up", self.up), ("peer", self.peer)):
            if value:
                raise InputError(f"{self.where}.{key}: expected none: the topology has the links")


def read_host_group(table: Table) -> HostGroup:
    """Read an entry of `hosts`; its zone has been taken already."""
    names = _names(table)
    properties = table.mapping("properties")
    speeds = _with_power(table, table.quantities("speed", SPEED, 1.0), properties)
    state = table.whole("state", least=0, default=0)
    if state >= len(speeds):
        table.refuse("state", f"one of the {len(speeds)} power states, counted from 0")
    if "role" in table:
        role_of(table.text("role"), table.place("role"))
        _add_property(table, properties, "role", ROLE, table.text("role"))
    if "memory" in table:
        memory = table.quantity("memory", SIZE)
        _add_property(table, properties, "memory", MEMORY, SIZE.text(memory))
    link = table.table("link")
    peer = table.table("peer")
    group = HostGroup(
        where=table.where,
        names=names,
        words={
            "speeds": speeds,
            "initial_state": state,
            "cores": table.whole("cores", least=1, most=MAX_LISTED_HOSTS, default=1),
            "coordinates": table.numbers("coordinates"),
            "profiles": table.mapping("profiles"),
        },
        properties=properties,
        disks=tuple(_disk(entry) for entry in table.tables("disks")),
        cabinet=link.text("name", "cabinet") if link else "",
        link=_own_link(link) if link else None,
        up=table.text("up", ""),
        down=table.text("down", table.text("up", "")),
        peer=_peer_links(peer) if peer else None,
    )
    table.end()
    return group


def _names(table: Table) -> NumberedNames:
    name = table.text("name", "host{}")
    prefix, braces, suffix = name.partition("{}")
    numbers = _numbers(table)
    if numbers is None:
        return NumberedNames(prefix, (range(1),), suffix) if braces else NumberedNames(name)
    if not braces:
        table.refuse("name", "{} where the number of each host goes")
    if sum(map(len, numbers)) > MAX_LISTED_HOSTS:
        table.refuse("numbers", f"{MAX_LISTED_HOSTS} at most")
    return NumberedNames(prefix, numbers, suffix)


def _numbers(table: Table) -> tuple[range, ...] | None:
    """Return the numbers of the hosts, or None where nothing is said about them."""
    if "numbers" in table:
        numbers = read_ranges(table.text("numbers"))
        if numbers is None:
            table.refuse("numbers", "numbers as in 0-7,12")
        for key in ("count", "first"):
            if key in table:
                table.refuse(key, "either numbers, or count and first")
        return numbers
    if "count" not in table and "first" not in table:
        return None
    first = table.whole("first", least=0, default=0)
    count = table.whole("count", least=1, most=MAX_LISTED_HOSTS, default=1)
    return (range(first, first + count),)


def _with_power(
    table: Table, speeds: tuple[float, ...], properties: dict[str, str]
) -> tuple[float, ...]:
    """Add what is said about power to the properties; sleeping and switching get speeds, too."""
    sleeps = table.tables("sleep")
    power = table.table("power")
    ranges = _power_ranges(power, len(speeds)) if power else []
    has_watts = bool(ranges)
    triplets = []
    for sleep in sleeps:
        state = len(speeds)
        triplets.append(f"{state}:{state + 1}:{state + 2}")
        speeds += (sleep.quantity("speed", SPEED, SLEEPING_SPEED),)
        ranges += _steady_watts(sleep, has_watts)
        for key in ("off", "on"):
            switch = sleep.table(key)
            if switch is None:
                sleep.refuse(key, "a table with time and power")
            speeds += (_switching_speed(switch),)
            ranges += _steady_watts(switch, has_watts)
            switch.end()
        sleep.end()
    if ranges:
        _add_property(table, properties, "power", PER_STATE, ", ".join(ranges))
    if power:
        if "off" in power:
            off = number_text(power.quantity("off", POWER))
            _add_property(table, properties, "power", OFF, off)
        power.end()
    if triplets:
        _add_property(table, properties, "sleep", SLEEP, ", ".join(triplets))
    return speeds


def _power_ranges(power: Table, n_states: int) -> list[str]:
    """Return the watts of each power state in which jobs run; one number is for all of them."""
    if "idle" not in power and "computing" not in power and "off" in power:
        return []
    columns = []
    for key in ("idle", "epsilon", "computing"):
        if key == "epsilon" and key not in power:
            continue
        watts = power.quantities(key, POWER)
        if len(watts) not in (1, n_states):
            power.refuse(key, f"one power, or {n_states} as there are speeds")
        columns.append([number_text(value) for value in watts] * (n_states // len(watts)))
    return [":".join(row) for row in zip(*columns, strict=True)]


def _switching_speed(switch: Table) -> float:
    """Return the speed that stands for a duration: 1 flop is computed while switching."""
    if "speed" not in switch:
        return 1 / switch.quantity("time", DURATION, least=_SHORTEST)
    if "time" in switch:
        switch.refuse("speed", "either it or time")
    return switch.quantity("speed", SPEED, least=_TINY)


def _steady_watts(state: Table, has_watts: bool) -> list[str]:
    """Return the watts of a state in which hosts sleep or switch, if those of others are told."""
    if has_watts:
        watts = number_text(state.quantity("power", POWER))
        return [f"{watts}:{watts}"]
    if "power" in state:
        state.refuse("power", "none, or power with idle and computing as well")
    return []


def number_text(value: float) -> str:
    """Return the shortest text of a number."""
    return repr(value).removesuffix(".0")


def _add_property(
    table: Table, properties: dict[str, str], key: str, name: str, value: str
) -> None:
    if name in properties:
        table.refuse(key, f"either it or the property {name}")
    properties[name] = value


def _disk(table: Table) -> Disk:
    disk = Disk(
        table.text("name", "/"),
        table.quantity("read", BANDWIDTH),
        table.quantity("write", BANDWIDTH),
        table.mapping("properties"),
    )
    table.end()
    return disk


def _own_link(table: Table) -> tuple[float, float]:
    bandwidth = table.quantity("bandwidth", BANDWIDTH, least=_TINY)
    latency = table.quantity("latency", DURATION, 0.0)
    table.end()
    return bandwidth, latency


def _peer_links(table: Table) -> tuple[float, float, float]:
    links = (
        table.quantity("in", BANDWIDTH, least=_TINY),
        table.quantity("out", BANDWIDTH, least=_TINY),
        table.quantity("latency", DURATION, 0.0),
    )
    table.end()
    return links
