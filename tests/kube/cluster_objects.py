"""Nodes and pods as tests put them."""

from __future__ import annotations

from typing import Any

# what libraries want a node to tell
NODE_INFO = dict.fromkeys(
    (
        *("architecture", "bootID", "containerRuntimeVersion", "kernelVersion"),
        *("kubeProxyVersion", "machineID", "operatingSystem", "osImage", "systemUUID"),
    ),
    "",
)


def node(name: str, **labels: str) -> dict[str, Any]:
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {**NODE_INFO, "kubeletVersion": "v1.36.0"},
        },
    }


def pod(
    name: str, phase: str = "Pending", namespace: str = "default", **labels: str
) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "schedulerName": "default-scheduler",
            "priority": 0,
            "containers": [{"name": "c", "image": "job", "resources": {"requests": {"cpu": "1"}}}],
        },
        "status": {"phase": phase},
    }
