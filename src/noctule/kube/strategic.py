"""Strategic merge patches: merge patches that know which lists are sets of named things.

A condition has a type, a container a name: a patch that sends one of them changes that one and
leaves the others. Which lists these are is written in Kubernetes' types, by the field that names
their elements; all other lists are replaced as a whole.
"""

from __future__ import annotations

from typing import Any

from noctule.kube.refusals import Refusal

# by the name of the list, the field that tells its elements apart
_NAMED_BY = {
    "addresses": "type",
    "allocatedResourcesStatus": "name",
    "conditions": "type",
    "containers": "name",
    "drivers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "matchConditions": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "ports": "containerPort",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "variables": "name",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
    "webhooks": "name",
}
# where a kind means something else by the same name; an empty text is a list like any other
_OTHERWISE = {"EndpointSlice": {"ports": ""}, "Service": {"ports": "port"}}
# lists of texts that are sets
_SETS = frozenset({"finalizers", "podCIDRs"})

_ORDER, _DELETED, _PATCH, _RETAINED = (
    "$setElementOrder/",
    "$deleteFromPrimitiveList/",
    "$patch",
    "$retainKeys",
)


def strategic_merge(obj: dict[str, Any], patch: Any) -> dict[str, Any]:
    """Put a strategic merge patch onto an object of one of Kubernetes' own types."""
    if not isinstance(patch, dict):
        raise Refusal(400, "strategic merge patch: expected an object")
    named_by = {**_NAMED_BY, **_OTHERWISE.get(obj.get("kind", ""), {})}
    return _merge_objects(obj, patch, named_by)


def _merge_objects(
    value: dict[str, Any], patch: dict[str, Any], named_by: dict[str, str]
) -> dict[str, Any]:
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {name: part for name, part in patch.items() if name != _PATCH}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise Refusal(400, f"$patch: {directive!r}, expected merge, replace or delete")
    merged = dict(value)
    for name, part in patch.items():
        if name in (_PATCH, _RETAINED):
            continue
        if name.startswith(_DELETED):
            _remove_texts(merged, name.removeprefix(_DELETED), part)
        elif not name.startswith(_ORDER):
            _merge_field(merged, name, part, named_by)
    _put_in_order(merged, value, patch, named_by)
    retained = patch.get(_RETAINED)
    if isinstance(retained, list):
        return {name: part for name, part in merged.items() if name in retained}
    return merged


def _merge_field(merged: dict[str, Any], name: str, part: Any, named_by: dict[str, str]) -> None:
    old = merged.get(name)
    if part is None:
        merged.pop(name, None)
    elif isinstance(part, dict):
        merged[name] = _merge_objects(old if isinstance(old, dict) else {}, part, named_by)
    elif isinstance(part, list) and name in _SETS:
        known = old if isinstance(old, list) else []
        both = known + [text for text in part if text not in known]
        merged[name] = _in_order(both, part, known, None)
    elif isinstance(part, list) and named_by.get(name):
        known = old if isinstance(old, list) else []
        merged[name] = _merge_lists(known, part, name, named_by)
    else:
        merged[name] = part


def _merge_lists(
    old: list[Any], patch: list[Any], name: str, named_by: dict[str, str]
) -> list[Any]:
    key = named_by[name]
    if any(isinstance(part, dict) and part.get(_PATCH) == "replace" for part in patch):
        plain = [part for part in patch if isinstance(part, dict) and _PATCH not in part]
        return [_merge_objects({}, part, named_by) for part in plain]
    merged = list(old)
    places = {_name_of(element, key): place for place, element in enumerate(merged)}
    gone = set()
    for part in patch:
        if not isinstance(part, dict) or key not in part:
            raise Refusal(400, f"strategic merge patch: an element of {name} without {key}")
        place = places.get(_name_of(part, key))
        if part.get(_PATCH) == "delete":
            gone.add(place)
        elif place is None:
            places[_name_of(part, key)] = len(merged)
            merged.append(_merge_objects({}, part, named_by))
        else:
            merged[place] = _merge_objects(merged[place], part, named_by)
    left = [element for place, element in enumerate(merged) if place not in gone]
    return _in_order(left, [part for part in patch if _PATCH not in part], old, key)


def _name_of(element: Any, key: str) -> str | None:
    return repr(element[key]) if isinstance(element, dict) and key in element else None


def _remove_texts(merged: dict[str, Any], name: str, texts: Any) -> None:
    old = merged.get(name)
    if isinstance(old, list) and isinstance(texts, list):
        merged[name] = [text for text in old if text not in texts]


def _put_in_order(
    merged: dict[str, Any], old: dict[str, Any], patch: dict[str, Any], named_by: dict[str, str]
) -> None:
    """Order lists as the patch says; what it does not mention keeps its place among the others."""
    for directive, wanted in patch.items():
        name = directive.removeprefix(_ORDER)
        if name == directive or not isinstance(wanted, list):
            continue
        elements = merged.get(name)
        if not isinstance(elements, list):
            continue
        was = old.get(name)
        merged[name] = _in_order(
            elements, wanted, was if isinstance(was, list) else [], named_by.get(name) or None
        )


def _in_order(elements: list[Any], wanted: list[Any], old: list[Any], key: str | None) -> list[Any]:
    """The elements, those that are wanted in that order.

    The others go before the first of these that they preceded in the old list, and after it
    otherwise.
    """
    order = {_label(mention, key): rank for rank, mention in enumerate(wanted)}
    before = {_label(element, key): rank for rank, element in enumerate(old)}
    mentioned = [element for element in elements if _label(element, key) in order]
    mentioned.sort(key=lambda element: order[_label(element, key)])
    others = [element for element in elements if _label(element, key) not in order]
    ordered: list[Any] = []
    while mentioned and others:
        place = before.get(_label(mentioned[0], key), -1)
        goes_first = before.get(_label(others[0], key), place) < place
        ordered.append((others if goes_first else mentioned).pop(0))
    return ordered + mentioned + others


def _label(element: Any, key: str | None) -> str:
    if key is not None and isinstance(element, dict):
        return repr(element.get(key))
    return repr(element)
