"""The checks that an API server makes before it stores what a client sent."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from noctule.kube.catalog import CRDS, Definition, Kind
from noctule.kube.names import is_label_value, is_qualified_name
from noctule.kube.refusals import Refusal
from noctule.kube.store import PODS, Object, Resource

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_PATH_NAME = re.compile(r"[^/%\0-\x1f]{1,253}")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# groups whose names may hold colons and capital letters
_FREE_NAMES = frozenset({"rbac.authorization.k8s.io"})

_WORDS = {str: "a text", int: "a number", dict: "an object", list: "a list"}
_METADATA: dict[str, type] = {
    "name": str,
    "generateName": str,
    "namespace": str,
    "uid": str,
    "resourceVersion": str,
    "creationTimestamp": str,
    "deletionTimestamp": str,
    "deletionGracePeriodSeconds": int,
    "generation": int,
    "labels": dict,
    "annotations": dict,
    "finalizers": list,
    "ownerReferences": list,
}


def checked(kind: Kind, resource: Resource, namespace: str, obj: Any) -> Object:
    """A copy of what a client sent, the upper levels of which may be changed."""
    if not isinstance(obj, dict):
        raise Refusal(400, f"the body is not an object, expected a {kind.kind}")
    said = obj.get("kind", kind.kind), obj.get("apiVersion", resource.api_version)
    if said != (kind.kind, resource.api_version):
        raise Refusal(
            400,
            f"the body is {_shown(said[1])} {_shown(said[0])}, expected "
            f"{resource.api_version} {kind.kind}",
        )
    for part in ("spec", "status"):
        if obj.get(part) is not None and not isinstance(obj[part], dict):
            raise Refusal(422, f"{kind.kind}: {part}: expected an object")
    if is_of(kind, PODS) and obj.get("spec") is None:
        raise Refusal(422, "Pod: spec: Required value")
    metadata = _checked_metadata(kind, obj.get("metadata"))
    if not resource.namespaced:
        metadata.pop("namespace", None)
    elif metadata.get("namespace", namespace) != namespace:
        raise Refusal(
            400,
            f"the namespace of the object ({_shown(metadata['namespace'])}) does not match the "
            f"namespace of the path ({namespace})",
        )
    else:
        metadata["namespace"] = namespace
    if is_of(kind, CRDS):
        _check_definition(obj)
    return {**obj, "kind": kind.kind, "apiVersion": resource.api_version, "metadata": metadata}


def _checked_metadata(kind: Kind, metadata: Any) -> Object:
    if not isinstance(metadata, dict):
        raise Refusal(422, f"{kind.kind}: metadata: expected an object with a name")
    copy: Object = dict(metadata)
    for name, expected in _METADATA.items():
        value = copy.get(name)
        if value is None:
            copy.pop(name, None)
        elif not isinstance(value, expected):
            raise Refusal(
                422, f"{kind.kind}: metadata.{name}: {_shown(value)}, expected {_WORDS[expected]}"
            )
    _check_texts(kind, copy)
    return copy


def _check_texts(kind: Kind, metadata: Object) -> None:
    labels = metadata.get("labels", {})
    for name, value in labels.items():
        if not (is_qualified_name(name) and isinstance(value, str) and is_label_value(value)):
            raise Refusal(
                422,
                f"{kind.kind}: metadata.labels: {_shown(name)}: {_shown(value)}, expected a name "
                f"and a value of at most 63 letters, digits, '-', '_' and '.'",
            )
    texts = [*metadata.get("annotations", {}).values(), *metadata.get("finalizers", [])]
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(422, f"{kind.kind}: metadata: annotations and finalizers are texts")


def check_unchanged(kind: Kind, known: Object, metadata: Object) -> None:
    """Refuse another name, and changes that were made without knowing the latest state."""
    name = known["name"]
    if metadata.get("name", name) != name:
        raise Refusal(
            400,
            f"the name of the object ({_shown(metadata['name'])}) does not match that of the path "
            f"({name})",
        )
    metadata["name"] = name
    said = metadata.get("resourceVersion")
    if said and said != known["resourceVersion"]:
        raise Refusal(
            409,
            f'Operation cannot be fulfilled on {plural_of(kind)} "{name}": the object has been '
            f"modified; please apply your changes to the latest version and try again",
            details=details_of(kind, name),
        )
    if metadata.get("uid") and metadata["uid"] != known["uid"]:
        raise Refusal(
            409,
            f'Operation cannot be fulfilled on {plural_of(kind)} "{name}": Precondition failed: '
            f"UID in precondition: {metadata['uid']}, UID in object meta: {known['uid']}",
            details=details_of(kind, name),
        )


def check_spec(kind: Kind, old: Object, obj: Object) -> None:
    """Refuse to move a pod to a node other than by a binding."""
    if not is_of(kind, PODS):
        return
    nodes = [(side.get("spec") or {}).get("nodeName") for side in (old, obj)]
    if nodes[0] != nodes[1]:
        name = obj["metadata"]["name"]
        raise Refusal(
            422,
            f'Pod "{name}" is invalid: spec.nodeName: Forbidden: a pod gets its node by a binding '
            f"only (POST pods/{name}/binding)",
            details=details_of(kind, name),
        )


def _check_definition(obj: Object) -> None:
    try:
        spec = msgspec.convert(obj.get("spec"), Definition)
    except msgspec.ValidationError as problem:
        raise Refusal(422, f"CustomResourceDefinition: spec: {problem}") from None
    expected = f"{spec.names.plural}.{spec.group}"
    if obj["metadata"].get("name") != expected:
        raise Refusal(422, f"CustomResourceDefinition: metadata.name: expected {expected}")


def check_name(kind: Kind, name: str) -> None:
    """Refuse a name that could not be part of a path, or of a host."""
    if kind.group in _FREE_NAMES:
        pattern = _PATH_NAME
    else:
        pattern = _NAMESPACE if kind.kind == "Namespace" and not kind.group else _NAME
    if not pattern.fullmatch(name) or name in (".", ".."):
        raise Refusal(
            422,
            f"{kind.kind} {_shown(name)} is invalid: metadata.name: expected small letters, "
            f"digits, '-' and '.', with a letter or a digit at both ends",
        )


def is_of(kind: Kind, resource: Resource) -> bool:
    """Whether a kind is that of a resource, in whichever version."""
    return kind.group == resource.group and kind.plural == resource.plural


def plural_of(kind: Kind) -> str:
    """The name of a resource with its group, as messages have it."""
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural


def details_of(kind: Kind, name: str) -> dict[str, Any]:
    """What a Status says of the object it is about."""
    return {"name": name, "group": kind.group, "kind": kind.plural}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
