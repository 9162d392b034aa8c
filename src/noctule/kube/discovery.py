"""What the API offers, as clients ask before they use it: groups, versions, resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from noctule.kube.catalog import Kind, kinds
from noctule.kube.openapi import openapi
from noctule.kube.store import Store

_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_AGGREGATED = "application/json;g=apidiscovery.k8s.io"
_POD_ACTIONS = {"binding": ("", "v1", "Binding"), "eviction": ("policy", "v1", "Eviction")}


def wants_aggregated(accept: str) -> str | None:
    """The content type of the aggregated form that a client prefers, if it knows it."""
    for choice in accept.split(","):
        parts = choice.replace(" ", "").split(";")
        if "as=APIGroupDiscoveryList" in parts and "g=apidiscovery.k8s.io" in parts:
            for version in ("v2", "v2beta1"):
                if f"v={version}" in parts:
                    return f"{_AGGREGATED};v={version};as=APIGroupDiscoveryList"
        elif parts[0] in ("application/json", "*/*", "application/*"):
            return None
    return None


_CORE_VERSIONS = {
    "kind": "APIVersions",
    "versions": ["v1"],
    "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}],
}
_PATHS = ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]


class Discovery:
    """The documents of `/api` and `/apis`, from the kinds that a store knows.

    Args:
        store: whose custom definitions count.
        version: what `/version` says.
    """

    def __init__(self, store: Store, version: str) -> None:
        self._store = store
        self._fixed: dict[tuple[str, ...], dict[str, Any]] = {
            (): {"paths": _PATHS},
            ("api",): _CORE_VERSIONS,
            ("version",): _version(version),
        }

    def document(self, steps: list[str]) -> dict[str, Any] | None:
        """What is at a path that leads to no resource, or None."""
        found = self._fixed.get(tuple(steps))
        match steps:
            case ["apis"]:
                found = self.groups()
            case ["apis", group]:
                found = self.group(group)
            case ["api", version]:
                found = self.resources("", version)
            case ["apis", group, version]:
                found = self.resources(group, version)
            case ["openapi", "v3", *place]:
                found = openapi(place, list(kinds(self._store)))
        return found

    def groups(self) -> dict[str, Any]:
        """`/apis`."""
        return {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [
                self._group(name, versions) for name, versions, _ in self._grouped() if name
            ],
        }

    def group(self, name: str) -> dict[str, Any] | None:
        """`/apis/GROUP`."""
        for known, versions, _ in self._grouped():
            if name and known == name:
                return {"kind": "APIGroup", "apiVersion": "v1", **self._group(name, versions)}
        return None

    def resources(self, group: str, version: str) -> dict[str, Any] | None:
        """`/apis/GROUP/VERSION` and `/api/v1`."""
        for name, versions, members in self._grouped():
            if name == group and version in versions:
                served = [kind for kind in members if version in kind.versions]
                return {
                    "kind": "APIResourceList",
                    "apiVersion": "v1",
                    "groupVersion": f"{group}/{version}" if group else version,
                    "resources": [entry for kind in served for entry in _plain(kind)],
                }
        return None

    def aggregated(self, content_type: str, *, core: bool) -> dict[str, Any]:
        """`/api` and `/apis` in one document each."""
        version = "v2beta1" if ";v=v2beta1;" in content_type else "v2"
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": f"apidiscovery.k8s.io/{version}",
            "metadata": {},
            "items": [
                {
                    "metadata": {"name": name, "creationTimestamp": None} if name else {},
                    "versions": [
                        {
                            "version": each,
                            "freshness": "Current",
                            "resources": [
                                _aggregated(kind, each) for kind in members if each in kind.versions
                            ],
                        }
                        for each in versions
                    ],
                }
                for name, versions, members in self._grouped()
                if core == (not name)
            ],
        }

    def _grouped(self) -> Iterator[tuple[str, list[str], list[Kind]]]:
        groups: dict[str, list[Kind]] = {}
        for kind in kinds(self._store):
            groups.setdefault(kind.group, []).append(kind)
        for name, members in groups.items():
            yield name, list(dict.fromkeys(v for kind in members for v in kind.versions)), members

    def _group(self, name: str, versions: list[str]) -> dict[str, Any]:
        listed = [{"groupVersion": f"{name}/{each}", "version": each} for each in versions]
        return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _plain(kind: Kind) -> list[dict[str, Any]]:
    entry: dict[str, Any] = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": _verbs(kind),
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.plural == "pods" and not kind.group:
        entry["categories"] = ["all"]
    entries = [entry]
    for name, (group, version, what), verbs in _subresources(kind):
        sub = {
            "name": f"{kind.plural}/{name}",
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": what,
            "verbs": verbs,
        }
        if group:
            sub |= {"group": group, "version": version}
        entries.append(sub)
    return entries


def _aggregated(kind: Kind, version: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _verbs(kind),
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.plural == "pods" and not kind.group:
        entry["categories"] = ["all"]
    subresources = [
        {
            "subresource": name,
            "responseKind": {
                "group": group or kind.group,
                "version": version if not group else own_version,
                "kind": what,
            },
            "verbs": verbs,
        }
        for name, (group, own_version, what), verbs in _subresources(kind)
    ]
    if subresources:
        entry["subresources"] = subresources
    return entry


def _verbs(kind: Kind) -> list[str]:
    return ["create"] if kind.kind == "Binding" else _VERBS


def _subresources(kind: Kind) -> Iterator[tuple[str, tuple[str, str, str], list[str]]]:
    if kind.plural == "pods" and not kind.group:
        for name, what in _POD_ACTIONS.items():
            yield name, what, ["create"]
    if kind.status:
        yield "status", ("", "", kind.kind), ["get", "patch", "update"]


def _version(text: str) -> dict[str, str]:
    major, _, rest = text.removeprefix("v").partition(".")
    return {
        "major": major,
        "minor": rest.partition(".")[0],
        "gitVersion": f"{text}+noctule",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    }
