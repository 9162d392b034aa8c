"""Outages, reservations and switches of a site whose nodes, and so hosts, have new numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

from noctule._core import HostSet
from noctule.external_events import ExternalEvent, ExternalEvents
from noctule.slurm.conf.settings import SlurmSettings
from noctule.slurm.conf.topology import Switch, Topology
from noctule.slurm.site.hosts import first_hosts, hosts_of_node
from noctule.slurm.site.site import SiteExtras, SlurmSite
from noctule.windows import AnyWindow, Windows


def moved_extras(site: SlurmSite, settings: SlurmSettings, copies: Mapping[str, str]) -> SiteExtras:
    """Return what optional files told, for nodes and hosts that have other numbers now."""
    extras = site.extras
    move = _host_mover(site.settings, settings)
    return dataclasses.replace(
        extras,
        topology=None
        if extras.topology is None
        else _moved_topology(extras.topology, site.settings, settings, copies),
        outages=None if extras.outages is None else _moved_events(extras.outages, move),
        reservations=None
        if extras.reservations is None
        else _moved_windows(extras.reservations, move),
    )


def _host_mover(old: SlurmSettings, new: SlurmSettings) -> Callable[[HostSet], HostSet]:
    """Return what turns hosts of nodes into those of the nodes of the same names."""
    if old.nodes == new.nodes and old.select.is_linear == new.select.is_linear:
        return lambda hosts: hosts
    first = dict(zip((node.name for node in new.nodes), first_hosts(new), strict=True))
    count = {node.name: hosts_of_node(new, node) for node in new.nodes}
    node_of = [node.name for node in old.nodes for _ in range(hosts_of_node(old, node))]

    def move(hosts: HostSet) -> HostSet:
        names = dict.fromkeys(node_of[host] for host in hosts)
        kept = [name for name in names if name in first]
        return HostSet([first[name] + i for name in kept for i in range(count[name])])

    return move


def _moved_events(events: ExternalEvents, move: Callable[[HostSet], HostSet]) -> ExternalEvents:
    moved = [
        ExternalEvent(event.time, event.kind, None if event.hosts is None else move(event.hosts))
        for event in events
    ]
    kept = [event for event in moved if event.hosts is None or len(event.hosts)]
    return ExternalEvents.from_events(kept, source=events.source)


def _moved_windows(windows: Windows, move: Callable[[HostSet], HostSet]) -> Windows:
    def moved() -> Iterable[AnyWindow]:
        for window in windows:
            if isinstance(window.hosts, int):
                yield window
            elif len(hosts := move(window.hosts)):
                yield dataclasses.replace(window, hosts=hosts)

    return Windows(tuple(moved()), source=windows.source)


def _moved_topology(
    topology: Topology, old: SlurmSettings, new: SlurmSettings, copies: Mapping[str, str]
) -> Topology:
    """Return switches with the nodes that are left, and copies beside what they are copies of."""
    likes = [copies.get(node.name, node.name) for node in new.nodes]

    def moved(switch: Switch) -> Switch:
        names = {old.nodes[i].name for i in switch.nodes}
        return dataclasses.replace(
            switch, nodes=tuple(i for i, like in enumerate(likes) if like in names)
        )

    return dataclasses.replace(topology, switches=tuple(map(moved, topology.switches)))
