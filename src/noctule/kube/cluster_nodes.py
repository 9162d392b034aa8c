"""The Nodes of a simulated cluster, and what becomes of them: ready, cordoned, reserved, lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noctule.kube.names import label_value, timestamp
from noctule.kube.nodes import RESERVATION, node_names, node_objects
from noctule.kube.store import NODES, Store
from noctule.platform import Platform

#: Why a host may be away: it has failed, or is kept from new Pods.
FAILED, UNAVAILABLE = "failed", "unavailable"
_TAINTS: Mapping[str, Sequence[tuple[str, str]]] = {
    FAILED: (
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    ),
    UNAVAILABLE: (("node.kubernetes.io/unschedulable", "NoSchedule"),),
}


class ClusterNodes:
    """One Node for each host, kept as the host is.

    Attributes:
        names: of the Nodes, by host.
        objects: as they are while nothing is wrong.
    """

    def __init__(self, platform: Platform, store: Store) -> None:
        """Write all Nodes."""
        self.names = node_names(platform)
        self.objects = node_objects(platform, timestamp(store.now()))
        self._host_of = {name: host for host, name in enumerate(self.names)}
        self._store = store
        self._away: dict[int, set[str]] = {}
        self._reserved: dict[int, str] = {}
        for node in self.objects:
            store.put(NODES, node)

    def host(self, name: str) -> int:
        """Return the host behind a Node."""
        return self._host_of[name]

    def is_away(self, host: int) -> bool:
        """Tell whether no Pod may be bound to a host now."""
        return bool(self._away.get(host))

    def take(self, host: int, why: str) -> None:
        """Note that a host has failed or is unavailable."""
        self._away.setdefault(host, set()).add(why)
        self._write(host)

    def give_back(self, host: int, why: str) -> None:
        """Note that this is over; it may be away for the other reason."""
        self._away.get(host, set()).discard(why)
        self._write(host)

    def reserve(self, host: int, name: str | None) -> None:
        """Keep a host for the Pods of a reservation; without a name, for everybody again."""
        if name is None:
            self._reserved.pop(host, None)
        else:
            self._reserved[host] = label_value(name)
        self._write(host)

    def _write(self, host: int) -> None:
        reasons = self._away.get(host, set())
        node = self.objects[host]
        spec: dict[str, Any] = dict(node["spec"])
        date = timestamp(self._store.now())
        taints = list(spec.get("taints", ()))
        for reason in (FAILED, UNAVAILABLE):
            if reason in reasons:
                taints += [
                    {"key": key, "effect": effect, "timeAdded": date}
                    for key, effect in _TAINTS[reason]
                ]
        metadata: dict[str, Any] = dict(node["metadata"])
        if host in self._reserved:
            name = self._reserved[host]
            metadata["labels"] = {**metadata["labels"], RESERVATION: name}
            taints.append({"key": RESERVATION, "value": name, "effect": "NoSchedule"})
        if taints:
            spec["taints"] = taints
        if UNAVAILABLE in reasons:
            spec["unschedulable"] = True
        status = dict(node["status"])
        if FAILED in reasons:
            lost = {
                "type": "Ready",
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "the simulated host has failed",
                "lastTransitionTime": date,
            }
            status["conditions"] = [lost]
        self._store.put(NODES, {**node, "metadata": metadata, "spec": spec, "status": status})
