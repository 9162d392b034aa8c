"""Hosts as Nodes: what they have, which labels and taints they bear, in which zone they are.

Properties of hosts, or of the zones around them, say what Kubernetes is told:

- `core` (else the host's cores), `memory`, `gpu` or `gpus`, `pods`, `ephemeral-storage`;
- `resource:NAME` an amount of an extended resource, `label:NAME` a label, `taint:KEY` a taint, as
  `EFFECT` or `VALUE:EFFECT`;
- `region`, `zone` and `rack` take the place of what the platform's zones tell.

Storage hosts, masters and hosts that are left out are no Nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noctule.errors import InputError
from noctule.kube.names import (
    is_label_value,
    is_qualified_name,
    label_value,
    object_uid,
    unique,
)
from noctule.kube.quantities import counted, parse, written
from noctule.network import Zone
from noctule.platform import HostKind, Platform

HOSTNAME = "kubernetes.io/hostname"
REGION = "topology.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
RACK = "topology.kubernetes.io/rack"
#: What keeps whole hosts apart where hosts differ: a Pod that wants one alone asks for all shares.
SHARE = "noctule/share"
#: The label and the taint of Nodes that are kept for some Pods: the value is whose they are.
RESERVATION = "noctule/reservation"

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TOPOLOGY = {"region": REGION, "zone": ZONE, "rack": RACK}
_BINARY = ("memory", "ephemeral-storage")
_RESOURCE, _LABEL, _TAINT = "resource:", "label:", "taint:"


@dataclass(frozen=True, slots=True)
class NodeRules:
    """What Nodes have where the platform does not tell."""

    memory: str = "64Gi"
    ephemeral_storage: str = "1Ti"
    pods: int = 110
    gpu_resource: str = "nvidia.com/gpu"


def node_names(platform: Platform) -> list[str]:
    """Return the name of each host's Node, by id: the host's, as far as Kubernetes allows it."""
    return unique(platform.hosts.names, "host")


def node_objects(
    platform: Platform, created: str, rules: NodeRules | None = None
) -> list[dict[str, Any]]:
    """Return one Node for each compute host, in the order of their ids."""
    rules = rules or NodeRules()
    facts = [_facts(platform, kind, rules) for kind in platform.hosts.kinds]
    differing = len({fact.amounts["cpu"] for fact in facts}) > 1
    shares = {SHARE: max(fact.amounts["pods"] for fact in facts)} if differing else {}
    places = _places(platform)
    objects = []
    for host, (name, place) in enumerate(zip(node_names(platform), places, strict=True)):
        fact = facts[platform.hosts.kind_of[host]]
        labels = {HOSTNAME: name, "kubernetes.io/os": "linux", **place, **fact.labels}
        objects.append(_node(name, labels, fact.taints, fact.amounts | shares, created))
    return objects


def allocatable(node: Mapping[str, Any]) -> dict[str, int]:
    """Return what a scheduler counts of a Node: thousandths of CPUs, units of the rest."""
    amounts: Mapping[str, str] = node["status"]["allocatable"]
    return {name: counted(name, parse(amount)) for name, amount in amounts.items()}


def whole_host(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Fraction]:
    """Return what a Pod asks for that wants a host for itself, whichever it is.

    It is what the smallest host has. Where hosts differ in CPUs that would leave room on others,
    so each Node has shares there: such a Pod takes them all, any other Pod one.
    """
    amounts = [node["status"]["allocatable"] for node in nodes]
    resources = ["cpu", "memory"] + ([SHARE] if SHARE in amounts[0] else [])
    return {name: min(parse(amount[name]) for amount in amounts) for name in resources}


@dataclass(frozen=True, slots=True)
class _Facts:
    amounts: dict[str, Fraction]
    labels: dict[str, str]
    taints: list[dict[str, str]]


def _node(
    name: str,
    labels: dict[str, str],
    taints: list[dict[str, str]],
    amounts: dict[str, Fraction],
    created: str,
) -> dict[str, Any]:
    texts = {key: written(value, binary=key in _BINARY) for key, value in amounts.items()}
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "the simulated host is up",
        "lastHeartbeatTime": created,
        "lastTransitionTime": created,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": object_uid("node", name),
            "creationTimestamp": created,
            "labels": labels,
        },
        "spec": {"taints": [dict(taint) for taint in taints]} if taints else {},
        "status": {
            "capacity": dict(texts),
            "allocatable": texts,
            "conditions": [ready],
            "addresses": [{"type": "Hostname", "address": name}],
        },
    }


def _facts(platform: Platform, kind: HostKind, rules: NodeRules) -> _Facts:
    properties = {**kind.zone_properties, **kind.properties}
    where = f"{platform.source or 'platform'}: host {_first_of(platform, kind)}"
    amounts = {
        "cpu": _amount(properties, "core", where, str(kind.cores)),
        "memory": _memory(kind, where, rules),
        "ephemeral-storage": _amount(
            properties, "ephemeral-storage", where, rules.ephemeral_storage
        ),
        "pods": _amount(properties, "pods", where, str(rules.pods)),
    }
    for name in ("gpu", "gpus"):
        if name in properties:
            amounts[rules.gpu_resource] = _whole(properties, name, where)
    for name in _with_prefix(properties, _RESOURCE):
        _check_resource(name, f"{where}: property {_RESOURCE}{name}")
        amounts[name] = _whole(properties, _RESOURCE + name, where)
    labels = {key: properties[name] for name, key in _TOPOLOGY.items() if name in properties}
    labels |= {name: properties[_LABEL + name] for name in _with_prefix(properties, _LABEL)}
    for name, value in labels.items():
        if not (is_qualified_name(name) and is_label_value(value)):
            raise InputError(f"{where}: label {name}: got {value!r}, expected one of Kubernetes")
    taints = [
        _taint(key, properties[_TAINT + key], where) for key in _with_prefix(properties, _TAINT)
    ]
    return _Facts(amounts, labels, taints)


def _first_of(platform: Platform, kind: HostKind) -> str:
    hosts = platform.hosts
    return next(
        name for name, k in zip(hosts.names, hosts.kind_of, strict=True) if hosts.kinds[k] is kind
    )


def _with_prefix(properties: Mapping[str, str], prefix: str) -> Iterator[str]:
    return (name.removeprefix(prefix) for name in properties if name.startswith(prefix))


def _amount(properties: Mapping[str, str], name: str, where: str, otherwise: str) -> Fraction:
    value = parse(properties.get(name, otherwise), f"{where}: property {name}")
    if value < 0:
        raise InputError(f"{where}: property {name}: got {properties[name]}, expected >= 0")
    return value


def _whole(properties: Mapping[str, str], name: str, where: str) -> Fraction:
    value = _amount(properties, name, where, "0")
    if value.denominator != 1:
        raise InputError(
            f"{where}: property {name}: got {properties[name]}, expected a whole number"
        )
    return value


def _memory(kind: HostKind, where: str, rules: NodeRules) -> Fraction:
    if kind.memory is not None:
        return Fraction(int(kind.memory))
    return _amount({**kind.zone_properties, **kind.properties}, "memory", where, rules.memory)


def _check_resource(name: str, where: str) -> None:
    domain, slash, _ = name.rpartition("/")
    ours = bool(slash) and is_qualified_name(name) and not domain.endswith("kubernetes.io")
    if not (ours or name.startswith("hugepages-")):
        raise InputError(f"{where}: expected a resource with a domain, such as example.com/{name}")


def _taint(key: str, text: str, where: str) -> dict[str, str]:
    value, _, effect = text.rpartition(":")
    if effect not in _EFFECTS or not (is_qualified_name(key) and is_label_value(value)):
        raise InputError(
            f"{where}: property {_TAINT}{key}: got {text!r}, expected EFFECT or VALUE:EFFECT, "
            f"where EFFECT is one of {', '.join(_EFFECTS)}"
        )
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


def _places(platform: Platform) -> list[dict[str, str]]:
    """Return the zone and the rack of each host: outermost and innermost of what tells them apart.

    Zones around all hosts tell nothing, so they are left out, but for the last one where there is
    no other; a cabinet is a zone.
    """
    cabinets = {
        host: cabinet.name
        for zone in platform.network.walk()
        if isinstance(zone, Zone)
        for cabinet in zone.cabinets
        for host in cabinet.hosts
    }
    hosts = platform.hosts
    paths = [
        hosts.kinds[kind].zone + ((cabinets[name],) if name in cabinets else ())
        for name, kind in zip(hosts.names, hosts.kind_of.tolist(), strict=True)
    ]
    n_shared = 0
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        n_shared += 1
    return [_place(path[n_shared:] or path[-1:]) for path in paths]


def _place(path: tuple[str, ...]) -> dict[str, str]:
    return {ZONE: label_value(path[0]), RACK: label_value(path[-1])} if path else {}
