"""Binding pods to nodes, and evicting them: what schedulers decide."""

from __future__ import annotations

from typing import Any

from noctule.kube.catalog import BUILT_IN
from noctule.kube.refusals import Refusal
from noctule.kube.store import PODS, Object, Store
from noctule.kube.writes import DeleteOptions, Writer

_POD = BUILT_IN["", "pods"]


def bind(store: Store, pod: Object, body: Any) -> None:
    """Put a pod on the node that a Binding names, if the hook of the store allows it."""
    node = _target(pod, body)
    _check(pod, body["metadata"] if isinstance(body.get("metadata"), dict) else {})
    if store.on_bind is not None:
        refusal = store.on_bind(pod, node)
        if refusal is not None:
            raise refusal
        current = store.get(PODS, pod["metadata"]["name"], pod["metadata"]["namespace"])
        if current is None:
            raise Refusal(404, f'pods "{pod["metadata"]["name"]}" not found')
        pod = current
    store.put(PODS, bound(pod, node, store.timestamp()))


def bound(pod: Object, node: str, now: str) -> Object:
    """The pod with its node, and the condition that says so."""
    status = pod.get("status") or {}
    said = status.get("conditions")
    conditions = [each for each in (said if isinstance(said, list) else ()) if not _is_ours(each)]
    conditions.append(
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": now,
        }
    )
    return {
        **pod,
        "spec": {**pod.get("spec", {}), "nodeName": node},
        "status": {**status, "conditions": conditions},
    }


def _is_ours(condition: Any) -> bool:
    return isinstance(condition, dict) and condition.get("type") == "PodScheduled"


def evict(writer: Writer, pod: Object, body: Any) -> None:
    """Delete a pod as an Eviction asks; no disruption budget stands in the way."""
    options = body.get("deleteOptions") if isinstance(body, dict) else None
    writer.delete(_POD, PODS, pod, DeleteOptions.read(options, {}))


def _target(pod: Object, body: Any) -> str:
    if not isinstance(body, dict) or body.get("kind", "Binding") != "Binding":
        raise Refusal(400, "the body is not a Binding")
    target = body.get("target")
    if not isinstance(target, dict) or target.get("kind", "Node") not in ("", "Node"):
        raise Refusal(422, "Binding: target: expected an object with kind Node and a name")
    node = target.get("name")
    if not isinstance(node, str) or not node:
        raise Refusal(422, "Binding: target.name: Required value")
    metadata = body.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if name and name != pod["metadata"]["name"]:
        raise Refusal(400, f"the Binding is for {name!r}, the path for {pod['metadata']['name']!r}")
    return node


def _check(pod: Object, wanted: dict[str, Any]) -> None:
    metadata = pod["metadata"]
    name = metadata["name"]
    problem = None
    if wanted.get("uid") and wanted["uid"] != metadata["uid"]:
        problem = (
            f"Precondition failed: UID in precondition: {wanted['uid']}, "
            f"UID in object meta: {metadata['uid']}"
        )
    elif wanted.get("resourceVersion") not in (None, "", metadata["resourceVersion"]):
        problem = "the object has been modified"
    elif metadata.get("deletionTimestamp"):
        problem = f"pod {name} is being deleted, cannot be assigned to a host"
    elif pod["spec"].get("nodeName"):
        problem = f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
    elif pod["spec"].get("schedulingGates"):
        problem = f"pod {name} has non-empty .spec.schedulingGates"
    if problem is not None:
        raise Refusal(
            409,
            f'Operation cannot be fulfilled on pods/binding "{name}": {problem}',
            details={"name": name, "kind": "pods/binding"},
        )
