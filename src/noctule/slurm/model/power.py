"""Power saving: how long nodes may be idle, and hosts that can be switched off."""

from __future__ import annotations

from dataclasses import replace

from noctule.errors import InputError
from noctule.platform import HostKind, Hosts, Platform, PowerModel
from noctule.simulation_options import OptionValues
from noctule.slurm.conf.settings import SlurmSettings

#: Of a node that is never switched off.
NEVER = -1


def suspend_times(settings: SlurmSettings) -> list[int]:
    """Return for how many seconds each node may be idle; NEVER where it stays on.

    Of several partitions the one that lets it be idle for longest counts.
    """
    power = settings.power
    n_nodes = len(settings.nodes)
    if not (power.suspend_program and power.resume_program):
        return [NEVER] * n_nodes
    times: list[list[int | None]] = [[] for _ in range(n_nodes)]
    exempt = {*_exempt_nodes(settings)}
    for partition in settings.partitions:
        for node in partition.nodes:
            times[node].append(partition.suspend_time)
        if partition.name in power.exempt_partitions:
            exempt.update(partition.nodes)
    found = []
    for node, told in enumerate(times):
        most = _longest(told or [power.suspend_time])
        found.append(NEVER if node in exempt or most is None else most)
    return found


def saves_power(settings: SlurmSettings) -> bool:
    """Whether any node is ever switched off."""
    return any(time != NEVER for time in suspend_times(settings))


def with_power_saving(
    settings: SlurmSettings,
    platform: Platform,
    options: OptionValues,
    boot_seconds: float | None = None,
) -> tuple[Platform, OptionValues]:
    """Return the platform and the options of a run, with what power saving needs."""
    if not saves_power(settings):
        return platform, options
    needed: OptionValues = {"energy": "exact"}
    return sleeping_platform(settings, platform, boot_seconds), options | needed


def _longest(times: list[int | None]) -> int | None:
    """Return the longest of times, of which None is without end."""
    finite = [time for time in times if time is not None]
    return max(finite) if len(finite) == len(times) else None


def _exempt_nodes(settings: SlurmSettings) -> tuple[int, ...]:
    """Return the nodes of SuspendExcNodes; of `n[1-9]:2`, which keeps two of them on, all."""
    text = settings.power.exempt_nodes
    names = ",".join(part.rpartition(":")[0] or part for part in _split(text))
    return tuple(settings.node_table.indices(names, "SuspendExcNodes")) if names else ()


def _split(text: str) -> list[str]:
    """Split at commas that are not within brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def sleeping_platform(
    settings: SlurmSettings, platform: Platform, boot_seconds: float | None = None
) -> Platform:
    """Return a platform whose hosts have a state to sleep in; one that has them stays as it is.

    Switching off takes SuspendTimeout, a boot `boot_seconds`, by default ResumeTimeout: nodes that
    take longer would be set down. Hosts whose watts are not known draw nothing.
    """
    if boot_seconds is not None and not 0 < boot_seconds <= settings.power.resume_timeout:
        raise InputError(
            f"boot: got {boot_seconds:g} s, expected more than 0 and at most ResumeTimeout, "
            f"{settings.power.resume_timeout} s: nodes that take longer are set down"
        )
    hosts = platform.hosts
    if all(kind.sleep_states for kind in hosts.kinds):
        return platform
    boot = boot_seconds or settings.power.resume_timeout or 1
    power = PowerModel(
        idle=0.0,
        computing=0.0,
        off=0.0,
        switch_off_seconds=max(1, settings.power.suspend_timeout),
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
