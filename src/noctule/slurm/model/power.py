"""Power saving: how long nodes may be idle, and hosts that can be switched off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from noctule.errors import InputError
from noctule.platform import HostKind, Hosts, Platform, PowerModel
from noctule.simulation_options import OptionValues
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.site.boots import USUAL_BOOTS, Boots

#: Of a node that is never switched off.
NEVER = -1


def suspend_times(settings: SlurmSettings) -> list[int]:
    """Return for how many seconds each node may be idle; NEVER where it stays on."""
    power = settings.power
    if not (power.suspend_program and power.resume_program):
        return [NEVER] * len(settings.nodes)
    lists = [kept.nodes for kept in _lists_of_kept(settings) if kept.n == len(kept.nodes)]
    exempt = {node for nodes in lists for node in nodes}
    for partition in settings.partitions:
        if partition.name in power.exempt_partitions:
            exempt.update(partition.nodes)
    times = _longest_told(settings, "suspend_time")
    return [NEVER if n in exempt or time is None else time for n, time in enumerate(times)]


def switching_timeouts(settings: SlurmSettings) -> list[tuple[int, int]]:
    """Return SuspendTimeout and ResumeTimeout of each node."""
    off, on = (_longest_told(settings, name) for name in ("suspend_timeout", "resume_timeout"))
    return [(first or 0, second or 0) for first, second in zip(off, on, strict=True)]


def _longest_told(settings: SlurmSettings, name: str) -> list[int | None]:
    """Return the longest of what the partitions of each node say, or what the cluster does.

    None is without end.
    """
    told: list[list[int | None]] = [[] for _ in settings.nodes]
    for partition in settings.partitions:
        for node in partition.nodes if name in partition.is_told else ():
            told[node].append(getattr(partition, name))
    return [_longest(times or [getattr(settings.power, name)]) for times in told]


def saves_power(settings: SlurmSettings) -> bool:
    """Whether any node is ever switched off."""
    return any(time != NEVER for time in suspend_times(settings))


def with_power_saving(
    settings: SlurmSettings,
    platform: Platform,
    options: OptionValues,
    boots: Boots = USUAL_BOOTS,
) -> tuple[Platform, OptionValues]:
    """Return the platform and the options of a run, with what power saving needs."""
    if not saves_power(settings):
        return platform, options
    needed: OptionValues = {"energy": "exact"}
    return sleeping_platform(settings, platform, boots.seconds), options | needed


def _longest(times: list[int | None]) -> int | None:
    """Return the longest of times, of which None is without end."""
    finite = [time for time in times if time is not None]
    return max(finite) if len(finite) == len(times) else None


@dataclass(frozen=True, slots=True)
class KeptNodes:
    """Nodes of SuspendExcNodes: so many idle ones of them stay on, the first."""

    nodes: tuple[int, ...]
    n: int


def kept_nodes(settings: SlurmSettings) -> list[KeptNodes]:
    """Return the lists of SuspendExcNodes of which not all nodes stay on."""
    return [kept for kept in _lists_of_kept(settings) if kept.n < len(kept.nodes)]


def _lists_of_kept(settings: SlurmSettings) -> Iterator[KeptNodes]:
    """Yield the lists of `n[1-9]:2,n[10-20]:3`; one without a number is kept on as a whole."""
    rest = settings.power.exempt_nodes
    while rest:
        names, _, rest = rest.partition(":")
        count, _, rest = rest.partition(",")
        nodes = settings.node_table.indices(names, "SuspendExcNodes")
        if count and not (count.isdecimal() and 0 < int(count) <= len(nodes)):
            raise InputError(
                f"SuspendExcNodes: {names}: got {count!r}, expected how many of these nodes stay "
                f"on, from 1 to {len(nodes)}"
            )
        yield KeptNodes(nodes, int(count or len(nodes)))


def sleeping_platform(
    settings: SlurmSettings, platform: Platform, boot_seconds: float | None = None
) -> Platform:
    """Return a platform whose hosts have a state to sleep in; one that has them stays as it is.

    Switching off takes SuspendTimeout, a boot `boot_seconds`, by default the shortest
    ResumeTimeout. Hosts whose watts are not known draw nothing.
    """
    hosts = platform.hosts
    if all(kind.sleep_states for kind in hosts.kinds):
        return platform
    timeouts = switching_timeouts(settings)
    boot = boot_seconds or min(on for _, on in timeouts) or 1
    power = PowerModel(
        idle=0.0,
        computing=0.0,
        off=0.0,
        switch_off_seconds=max(1, *(off for off, _ in timeouts)),
        switch_off_watts=0.0,
        switch_on_seconds=boot,
        switch_on_watts=0.0,
    )
    kinds = [_sleeping(kind, power.host_kind(kind.speed)) for kind in hosts.kinds]
    return Platform(Hosts(hosts.names, kinds, hosts.kind_of), source=platform.source)


def _sleeping(kind: HostKind, powered: HostKind) -> HostKind:
    return replace(
        kind,
        speeds=powered.speeds,
        powers=powered.powers,
        sleep_states=powered.sleep_states,
        power_off=powered.power_off,
    )
