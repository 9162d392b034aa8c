"""As much of OpenAPI as kubectl looks at before it sends an object.

It wants to know whether the server checks fields itself, else it needs the schemas of all types.
"""

from __future__ import annotations

from typing import Any

from noctule.kube.catalog import Kind

_PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]


def openapi(place: list[str], known: list[Kind]) -> dict[str, Any] | None:
    """What is at a path below `/openapi/v3`, or None."""
    match place:
        case []:
            return _index(known)
        case ["api", version]:
            return _document(known, "", version)
        case ["apis", group, version]:
            return _document(known, group, version)
    return None


def _index(known: list[Kind]) -> dict[str, Any]:
    """Where the documents of the versions are."""
    places = {_place(kind.group, version) for kind in known for version in kind.versions}
    return {
        "paths": {place: {"serverRelativeURL": f"/openapi/v3/{place}"} for place in sorted(places)}
    }


def _document(known: list[Kind], group: str, version: str) -> dict[str, Any] | None:
    """The document of one version: how its objects are patched, without their schemas."""
    members = [kind for kind in known if kind.group == group and version in kind.versions]
    if not members:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Noctule", "version": "unversioned"},
        "paths": {_path(kind, version): _operations(kind, version) for kind in members},
        "components": {"schemas": {}},
    }


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _path(kind: Kind, version: str) -> str:
    space = "namespaces/{namespace}/" if kind.namespaced else ""
    return f"/{_place(kind.group, version)}/{space}{kind.plural}/{{name}}"


def _operations(kind: Kind, version: str) -> dict[str, Any]:
    return {
        "patch": {
            "parameters": _PARAMETERS,
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": "patch",
            "x-kubernetes-group-version-kind": {
                "group": kind.group,
                "kind": kind.kind,
                "version": version,
            },
        }
    }
