"""Objects that tell schedulers that Pods belong together, and how Pods name theirs."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from noctule.kube.names import name_of

#: Name of the only group inside a Workload.
_ONLY = "pods"
_TIMEOUT = "scheduleTimeoutSeconds"
#: What Volcano asks for besides, before it begins.
_NODE_GROUP = "nodeinfo.volcano.sh"


#: The Queue of Volcano for jobs that name none.
DEFAULT_QUEUE = "default"


class GroupKind(StrEnum):
    """Which scheduler's objects they are.

    `coscheduling` is the plugin of kubernetes-sigs/scheduler-plugins, `volcano` Volcano,
    `workload` kube-scheduler 1.35 and `pod-group` kube-scheduler 1.36, both with the feature gates
    GenericWorkload and GangScheduling.
    """

    NONE = "none"
    COSCHEDULING = "coscheduling"
    VOLCANO = "volcano"
    WORKLOAD = "workload"
    POD_GROUP = "pod-group"


_API = {
    GroupKind.COSCHEDULING: ("scheduling.x-k8s.io", "v1alpha1", "podgroups"),
    GroupKind.VOLCANO: ("scheduling.volcano.sh", "v1beta1", "podgroups"),
    GroupKind.WORKLOAD: ("scheduling.k8s.io", "v1alpha1", "workloads"),
    GroupKind.POD_GROUP: ("scheduling.k8s.io", "v1alpha2", "podgroups"),
}


def group_resource(kind: GroupKind) -> tuple[str, str, str]:
    """Return the API group, the version and the plural of the objects of a kind."""
    return _API[kind]


def group_definitions(kind: GroupKind) -> list[dict[str, Any]]:
    """Return the CustomResourceDefinitions that a scheduler needs to find such objects.

    Those of Kubernetes itself need none.
    """
    group, version, _ = _API.get(kind, ("", "", ""))
    if kind is GroupKind.COSCHEDULING:
        return [_definition(group, version, "podgroups", "PodGroup")]
    if kind is GroupKind.VOLCANO:
        return [
            _definition(group, version, "podgroups", "PodGroup"),
            _definition(group, version, "queues", "Queue", scope="Cluster"),
            _definition(_NODE_GROUP, "v1alpha1", "numatopologies", "Numatopology", scope="Cluster"),
        ]
    return []


def group_object(
    kind: GroupKind,
    *,
    n_pods: int,
    timeout: int | None = None,
    queue: str | None = None,
    priority_class: str | None = None,
) -> dict[str, Any]:
    """Return the object of a group that only all its Pods together are of use to."""
    group, version, plural = _API[kind]
    spec: dict[str, Any]
    if kind is GroupKind.WORKLOAD:
        spec = {"podGroups": [{"name": _ONLY, "policy": {"gang": {"minCount": n_pods}}}]}
    elif kind is GroupKind.POD_GROUP:
        spec = {"schedulingPolicy": {"gang": {"minCount": n_pods}}}
    else:
        spec = {"minMember": n_pods}
        if kind is GroupKind.COSCHEDULING and timeout is not None:
            spec[_TIMEOUT] = timeout
    if kind is GroupKind.VOLCANO:
        spec["queue"] = name_of(queue, DEFAULT_QUEUE) if queue else DEFAULT_QUEUE
    if priority_class is not None and kind in (GroupKind.VOLCANO, GroupKind.POD_GROUP):
        spec["priorityClassName"] = priority_class
    made = {
        "apiVersion": f"{group}/{version}",
        "kind": "Workload" if plural == "workloads" else "PodGroup",
        "spec": spec,
    }
    if kind is GroupKind.VOLCANO:
        made["status"] = {"phase": "Pending"}
    return made


def queue_object(name: str, created: str) -> dict[str, Any]:
    """Return a Queue of Volcano, all of which count the same."""
    group, version, _ = _API[GroupKind.VOLCANO]
    return {
        "apiVersion": f"{group}/{version}",
        "kind": "Queue",
        "metadata": {"name": name, "creationTimestamp": created},
        "spec": {"weight": 1, "reclaimable": True},
        "status": {"state": "Open"},
    }


def join_group(kind: GroupKind, pod: dict[str, Any], name: str) -> None:
    """Make a Pod name its group."""
    metadata: dict[str, Any] = pod["metadata"]
    if kind is GroupKind.COSCHEDULING:
        metadata.setdefault("labels", {})["scheduling.x-k8s.io/pod-group"] = name
    elif kind is GroupKind.VOLCANO:
        metadata.setdefault("annotations", {})["scheduling.k8s.io/group-name"] = name
    elif kind is GroupKind.WORKLOAD:
        pod["spec"]["workloadRef"] = {"name": name, "podGroup": _ONLY}
    elif kind is GroupKind.POD_GROUP:
        pod["spec"]["schedulingGroup"] = {"podGroupName": name}


def _definition(
    group: str, version: str, plural: str, kind: str, scope: str = "Namespaced"
) -> dict[str, Any]:
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "storage": True, "schema": anything}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": names,
            "versions": [served | {"subresources": {"status": {}}}],
        },
    }
