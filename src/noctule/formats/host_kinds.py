"""A kind of hosts from the words of a platform file; its properties say what is more special."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypedDict, Unpack

from noctule.formats.host_choice import role_of
from noctule.formats.power_properties import read_power
from noctule.platform import Disk, HostKind, Platform, Role
from noctule.units import SIZE

ROLE, MEMORY = "role", "memory"


class KindWords(TypedDict):
    """What is said about hosts of a kind beside their properties and their zone."""

    speeds: tuple[float, ...]
    initial_state: int
    cores: int
    coordinates: tuple[float, ...]
    profiles: Mapping[str, str]


def made_kind(
    properties: Mapping[str, str],
    where: object,
    *,
    zone: tuple[str, ...],
    zone_properties: Mapping[str, str],
    disks: tuple[Disk, ...],
    **words: Unpack[KindWords],
) -> HostKind:
    """Return the kind; the text of `where` stands in front of a complaint about its role."""
    power = read_power(properties, words["speeds"], words["initial_state"])
    # without a unit the property may be in anything, gigabytes more often than not
    memory = SIZE.split(properties[MEMORY]) if MEMORY in properties else None
    role = role_of(properties[ROLE], f"{where}: {ROLE}") if ROLE in properties else Role.COMPUTE
    return HostKind(
        memory=memory[0] if memory and memory[1] else None,
        role=role,
        zone=zone,
        properties=properties,
        zone_properties=zone_properties,
        powers=power.powers,
        power_off=power.power_off,
        sleep_states=power.sleep_states,
        power_fault=power.power_fault,
        disks=disks,
        **words,
    )


def described_kinds(platform: Platform) -> dict[str, HostKind]:
    """Return the kind of each host by name, as its words say: without a role given by others."""
    plain: dict[int, HostKind] = {}
    kinds = {}
    for host in platform.all_hosts():
        key = id(host.kind)
        if key not in plain:
            plain[key] = replace(host.kind, role=Role.COMPUTE)
        kinds[host.name] = plain[key]
    return kinds
