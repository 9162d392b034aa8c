"""Which hosts lie close together: under one switch, as the zones of a platform tell it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from noctule.network import Zone
from noctule.platform import Platform

__all__ = ["groups_of"]


def groups_of(platform: Platform) -> npt.NDArray[np.uint32]:
    """Return the group of each compute host; no groups at all if there is only one.

    A group is a cabinet, or else the innermost zone around a host. They are numbered by their
    lowest hosts.
    """
    numbers: dict[object, int] = {}
    of_kinds = [numbers.setdefault(kind.zone, len(numbers)) for kind in platform.hosts.kinds]
    cabinets = [
        cabinet
        for zone in platform.network.walk()
        if isinstance(zone, Zone)
        for cabinet in zone.cabinets
    ]
    if not cabinets and len(numbers) == 1:
        return np.empty(0, dtype=np.uint32)
    groups = np.array(of_kinds, dtype=np.uint32)[platform.hosts.kind_of]
    if cabinets:
        of_hosts = {
            name: number
            for number, cabinet in enumerate(cabinets, start=len(numbers))
            for name in cabinet.hosts
        }
        pairs = zip(platform.hosts.names, groups.tolist(), strict=True)
        groups = np.array([of_hosts.get(name, group) for name, group in pairs], dtype=np.uint32)
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    if len(first) == 1:
        return np.empty(0, dtype=np.uint32)
    renumbered = np.argsort(np.argsort(first)).astype(np.uint32)
    return renumbered[inverse.reshape(-1)]
