"""A scheduler that knows nothing but the Kubernetes API: first come, first served, whole jobs.

noctule kube examples/night.swf --hosts 32 -- python examples/kube-scheduler.py

It needs `pip install kubernetes`, and finds the cluster by $KUBECONFIG. A job starts when all of
its Pods fit, on the first nodes that have room; no job passes another.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from kubernetes import client, config, watch
from kubernetes.utils import parse_quantity

NAME = "default-scheduler"
Amounts = dict[str, Decimal]


def amounts(quantities: Mapping[str, str]) -> Amounts:
    """Return quantities as numbers."""
    return {name: parse_quantity(text) for name, text in quantities.items()}


def request(pod: Any) -> Amounts:
    """Return what a Pod asks for; each is a Pod, too."""
    return {"pods": Decimal(1), **amounts(pod.spec.containers[0].resources.requests or {})}


def is_over(pod: Any) -> bool:
    """Tell whether a Pod has left its node."""
    return pod.status.phase in ("Succeeded", "Failed")


class Cluster:
    """The Pods in the order in which they came, and what the nodes have."""

    def __init__(self, api: Any) -> None:
        """Look at what is there."""
        self.api = api
        self.nodes = {n.metadata.name: amounts(n.status.allocatable) for n in api.list_node().items}
        self.pods: dict[str, Any] = {}

    def follow(self) -> Iterator[None]:
        """Take in what happens to Pods, for ever; stop for a thought after each event."""
        there = self.api.list_pod_for_all_namespaces()
        self.pods = {pod.metadata.name: pod for pod in there.items}
        yield
        since = there.metadata.resource_version
        look = self.api.list_pod_for_all_namespaces
        for event in watch.Watch().stream(look, resource_version=since):
            pod = event["object"]
            if event["type"] == "DELETED":
                self.pods.pop(pod.metadata.name, None)
            elif event["type"] in ("ADDED", "MODIFIED"):
                self.pods[pod.metadata.name] = pod
            yield

    def free(self) -> dict[str, Amounts]:
        """Return what is left on each node."""
        left = {name: dict(amounts) for name, amounts in self.nodes.items()}
        for pod in self.pods.values():
            if pod.spec.node_name in left and not is_over(pod):
                take(left[pod.spec.node_name], request(pod))
        return left

    def jobs(self) -> Iterator[list[Any]]:
        """Yield the Pods of each waiting job that are there and not bound, the oldest job first."""
        jobs: dict[str, list[Any]] = {}
        for pod in self.pods.values():
            if not (pod.spec.node_name or is_over(pod)) and pod.spec.scheduler_name == NAME:
                jobs.setdefault(pod.metadata.labels["noctule/job"], []).append(pod)
        yield from jobs.values()

    def bind(self, pod: Any, node: str) -> None:
        """Bind a Pod to a node, and remember it."""
        target = client.V1ObjectReference(api_version="v1", kind="Node", name=node)
        name = client.V1ObjectMeta(name=pod.metadata.name)
        body = client.V1Binding(metadata=name, target=target)
        # the answer is no Binding, whatever the client's own description says
        self.api.create_namespaced_binding(pod.metadata.namespace, body, _preload_content=False)
        pod.spec.node_name = node


def take(left: Amounts, asked: Amounts) -> bool:
    """Take an amount from what is left, if there is enough."""
    if any(left.get(name, 0) < amount for name, amount in asked.items()):
        return False
    for name, amount in asked.items():
        left[name] -= amount
    return True


def places(pods: list[Any], free: dict[str, Amounts]) -> list[str] | None:
    """Return a node for each Pod, or None if not all of them fit."""
    found = []
    for pod in pods:
        node = next((name for name, left in free.items() if take(left, request(pod))), None)
        if node is None:
            return None
        found.append(node)
    return found


def main() -> None:
    """Start jobs as long as somebody submits some."""
    config.load_kube_config()
    cluster = Cluster(client.CoreV1Api())
    for _ in cluster.follow():
        for pods in cluster.jobs():
            whole = len(pods) == int(pods[0].metadata.labels["noctule/size"])
            nodes = places(pods, cluster.free()) if whole else None
            if nodes is None:
                break
            for pod, node in zip(pods, nodes, strict=True):
                cluster.bind(pod, node)


if __name__ == "__main__":
    main()
