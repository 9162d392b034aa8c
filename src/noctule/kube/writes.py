"""Creating, changing and deleting objects, with the checks that an API server makes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from noctule.kube.catalog import CRDS, Kind
from noctule.kube.checks import (
    check_name,
    check_spec,
    check_unchanged,
    checked,
    details_of,
    is_of,
    plural_of,
)
from noctule.kube.refusals import Refusal
from noctule.kube.store import NODES, PODS, Object, Resource, Store

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_DEFAULT_GRACE = 30
_LONGEST_GRACE = 1_000_000_000
# what clients cannot change
_OF_THE_SERVER = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How a client wants something deleted."""

    grace: int | None = None
    uid: str | None = None
    revision: str | None = None
    dry_run: bool = False

    @classmethod
    def read(cls, body: Any, query: dict[str, str]) -> DeleteOptions:
        """Read them from the body of a request and the parameters of its path."""
        options = {} if body is None else body
        if not isinstance(options, dict):
            raise Refusal(400, "the body is not an object, expected DeleteOptions")
        grace: Any = options.get("gracePeriodSeconds")
        if grace is None and "gracePeriodSeconds" in query:
            text = query["gracePeriodSeconds"]
            grace = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
        if grace is not None and not _is_grace(grace):
            raise Refusal(400, f"gracePeriodSeconds {grace!r}, expected a number of seconds")
        conditions = options.get("preconditions")
        conditions = conditions if isinstance(conditions, dict) else {}
        return cls(
            grace,
            conditions.get("uid"),
            conditions.get("resourceVersion"),
            bool(options.get("dryRun") or query.get("dryRun")),
        )


@dataclass(slots=True)
class Writer:
    """Writes to a store on behalf of clients."""

    store: Store
    _suffixes: int = field(default=0)

    def create(
        self, kind: Kind, resource: Resource, namespace: str, obj: Object, *, dry_run: bool = False
    ) -> Object:
        """Store an object that must not be there yet."""
        obj = checked(kind, resource, namespace, obj)
        metadata = obj["metadata"]
        if not metadata.get("name"):
            metadata["name"] = self._generated(resource, namespace, metadata)
        name = metadata["name"]
        check_name(kind, name)
        if self.store.entry(resource, name, namespace) is not None:
            raise Refusal(
                409,
                f'{plural_of(kind)} "{name}" already exists',
                reason="AlreadyExists",
                details=details_of(kind, name),
            )
        if self.store.count(resource) >= self.store.most_objects and kind.plural != "events":
            raise Refusal(
                429,
                f"there are {self.store.most_objects} {kind.plural} already, and no room for more",
            )
        for given in (*_OF_THE_SERVER, "resourceVersion"):
            metadata.pop(given, None)
        if kind.status and not is_of(kind, NODES):
            obj.pop("status", None)
        _start(kind, obj, self.store.timestamp())
        return obj if dry_run else self.store.put(resource, obj)

    def update(
        self,
        kind: Kind,
        resource: Resource,
        old: Object,
        obj: Object,
        *,
        status: bool = False,
        dry_run: bool = False,
    ) -> Object:
        """Store an object in place of one that is there; `status` changes its status only."""
        known = old["metadata"]
        namespace = known.get("namespace", "") if resource.namespaced else ""
        obj = checked(kind, resource, namespace, obj)
        metadata = obj["metadata"]
        check_unchanged(kind, known, metadata)
        if status:
            obj = {**old, "status": obj.get("status") or {}}
            obj["metadata"] = metadata = {**known}
        else:
            for given in _OF_THE_SERVER:
                metadata.pop(given, None)
                if given in known:
                    metadata[given] = known[given]
            if kind.status:
                obj.pop("status", None)
                if "status" in old:
                    obj["status"] = old["status"]
            check_spec(kind, old, obj)
            if kind.status and obj.get("spec") != old.get("spec"):
                metadata["generation"] = known.get("generation", 1) + 1
        metadata["resourceVersion"] = known["resourceVersion"]
        if obj == old or dry_run:
            return obj
        stored = self.store.put(resource, obj)
        if "deletionTimestamp" in metadata and not _held(metadata):
            self.store.delete(resource, known["name"], namespace)
        return stored

    def delete(
        self, kind: Kind, resource: Resource, obj: Object, options: DeleteOptions
    ) -> tuple[Object, bool]:
        """Delete an object, or mark it for deletion; gives it, and whether it has gone."""
        metadata = obj["metadata"]
        for wanted, field_name in ((options.uid, "uid"), (options.revision, "resourceVersion")):
            if wanted is not None and wanted != metadata[field_name]:
                raise Refusal(
                    409,
                    f'Operation cannot be fulfilled on {plural_of(kind)} "{metadata["name"]}": the '
                    f"precondition is {field_name} {wanted}, the object has {metadata[field_name]}",
                    details=details_of(kind, metadata["name"]),
                )
        namespace = metadata.get("namespace", "") if resource.namespaced else ""
        grace = self._grace(kind, obj, options.grace)
        left = metadata.get("deletionGracePeriodSeconds")
        is_marked = left is not None and grace >= left
        if options.dry_run or is_marked:
            return obj, grace == 0 and not is_marked
        if is_of(kind, PODS) and self.store.on_delete is not None:
            refusal = self.store.on_delete(obj, grace)
            if refusal is not None:
                raise refusal
            left_by_hook = self.store.get(resource, metadata["name"], namespace)
            if left_by_hook is None:
                return obj, True
            obj, metadata = left_by_hook, left_by_hook["metadata"]
        if grace == 0 and not metadata.get("finalizers"):
            self.store.delete(resource, metadata["name"], namespace)
            if is_of(kind, CRDS):
                self._delete_custom(obj)
            return obj, True
        marked = {
            **metadata,
            "deletionTimestamp": self.store.timestamp(grace),
            "deletionGracePeriodSeconds": grace,
        }
        return self.store.put(resource, {**obj, "metadata": marked}), False

    def _grace(self, kind: Kind, obj: Object, asked: int | None) -> int:
        """How long a pod has to end: only one that runs somewhere ends slowly."""
        spec = obj.get("spec")
        if not is_of(kind, PODS) or self.store.on_delete is None or not isinstance(spec, dict):
            return 0
        phase = (obj.get("status") or {}).get("phase")
        if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
            return 0
        if asked is None:
            asked = spec.get("terminationGracePeriodSeconds")
        return asked if _is_grace(asked) else _DEFAULT_GRACE

    def _delete_custom(self, definition: Object) -> None:
        spec = definition["spec"]
        resource = Resource(spec["group"], "", spec["names"]["plural"])
        for obj in self.store.list(resource):
            metadata = obj["metadata"]
            self.store.delete(resource, metadata["name"], metadata.get("namespace", ""))

    def _generated(self, resource: Resource, namespace: str, metadata: Object) -> str:
        start = metadata.get("generateName")
        if not start:
            raise Refusal(422, "metadata.name: Required value: name or generateName is required")
        while True:
            self._suffixes += 1
            digest = hashlib.sha256(f"{start}/{self._suffixes}".encode()).digest()
            letters = (_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in digest[:5])
            name = f"{start[:248]}{''.join(letters)}"
            if self.store.entry(resource, name, namespace) is None:
                return name


def _start(kind: Kind, obj: Object, now: str) -> None:
    """Complete a new object as an API server does, where others rely on it."""
    if kind.status:
        obj["metadata"]["generation"] = 1
    if is_of(kind, PODS):
        obj["status"] = {"phase": "Pending"}
    elif kind.kind == "Namespace" and not kind.group:
        obj["status"] = {"phase": "Active"}
    elif is_of(kind, CRDS):
        accepted = {
            "status": "True",
            "lastTransitionTime": now,
            "reason": "Accepted",
            "message": "",
        }
        obj["status"] = {
            "acceptedNames": obj["spec"]["names"],
            "storedVersions": [version["name"] for version in obj["spec"]["versions"]],
            "conditions": [{"type": name, **accepted} for name in ("NamesAccepted", "Established")],
        }


def _is_grace(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LONGEST_GRACE


def _held(metadata: Object) -> bool:
    """Whether something keeps a deleted object: a finalizer, or time to end."""
    return bool(metadata.get("finalizers")) or bool(metadata.get("deletionGracePeriodSeconds"))
