"""The objects of a simulated cluster: any resource, one revision counter, watchers.

Objects are plain dicts as JSON has them. What is stored is never changed in place: a write stores a
new dict that shares what did not change with the old one, so nobody copies, and each revision is
turned into JSON once for all who watch. Callers keep to that too: what they put or got they leave
as it is.

Versions of a resource share their objects (`policy/v1` and `policy/v1beta1` are one collection),
and so do the two groups that have events.
Nothing here knows HTTP, and there are no locks: a store and the server in front of it live in one
thread.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from noctule.kube.names import object_uid, timestamp
from noctule.kube.refusals import Refusal
from noctule.kube.selectors import EVERYTHING, Selector

Object = dict[str, Any]
Key = tuple[str, str]

_encode = msgspec.json.Encoder().encode

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the API, such as `pods` of the core group (whose name is empty)."""

    group: str
    version: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version


PODS = Resource("", "v1", "pods")
NODES = Resource("", "v1", "nodes", namespaced=False)
NAMESPACES = Resource("", "v1", "namespaces", namespaced=False)
EVENTS = Resource("", "v1", "events")
LEASES = Resource("coordination.k8s.io", "v1", "leases")


class Entry:
    """One revision of an object, and its JSON once somebody asked for it."""

    __slots__ = ("_json", "object", "revision")

    def __init__(self, obj: Object, revision: int) -> None:
        self.object = obj
        self.revision = revision
        self._json: dict[str, bytes] = {}

    def json(self, api_version: str) -> bytes:
        """The object as JSON, in one of the versions of its resource."""
        written = self._json.get(api_version)
        if written is None:
            written = self._json[api_version] = _encode(in_version(self.object, api_version))
        return written


# what the two API groups of events call the same
_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_OTHER_EVENTS = ("events.k8s.io", "events")
_CORE_EVENT_FIELDS = {theirs: ours for ours, theirs in _EVENT_FIELDS.items()}


def in_version(obj: Object, api_version: str) -> Object:
    """The object as a version of its resource has it: versions differ in their names only.

    Events are in two groups, which have other names for some fields.
    """
    said = obj.get("apiVersion", "")
    if said == api_version:
        return obj
    if obj.get("kind") == "Event" and ("/" in said) != ("/" in api_version):
        names = _EVENT_FIELDS if "/" in api_version else _CORE_EVENT_FIELDS
        obj = {names.get(name, name): value for name, value in obj.items()}
    return {**obj, "apiVersion": api_version}


@dataclass(frozen=True, slots=True)
class Change:
    """One write: an object before and after it; one of both is there."""

    revision: int
    key: Key
    before: Entry | None
    after: Entry | None
    _left: list[Entry] = field(default_factory=list)

    def seen(self, namespace: str, selector: Selector) -> tuple[str, Entry] | None:
        """What a watcher of a part of the objects gets to see of the change.

        An object that comes to be selected is added for that watcher, and one that no longer is
        has gone; then the watcher gets the last state that it knew, with the new revision.
        """
        if namespace and self.key[0] != namespace:
            return None
        before, after = self.before, self.after
        was = before is not None and selector.matches(before.object)
        if after is not None and selector.matches(after.object):
            return (MODIFIED if was else ADDED), after
        return (DELETED, self._last()) if was else None

    def _last(self) -> Entry:
        if not self._left:
            assert self.before is not None
            self._left.append(Entry(_stamped(self.before.object, self.revision), self.revision))
        return self._left[0]


class Watcher(Protocol):
    """Somebody who is told of changes as they are made."""

    def tell(self, change: Change) -> None:
        """Take a change in; must not write to the store."""
        ...


@dataclass(slots=True)
class _Collection:
    entries: dict[Key, Entry] = field(default_factory=dict)
    watchers: list[Watcher] = field(default_factory=list)
    history: deque[Change] = field(default_factory=deque)
    # what happened up to this revision is no longer in the history
    forgotten: int = 0


BindHook = Callable[[Object, str], Refusal | None]
DeleteHook = Callable[[Object, float], Refusal | None]
ObjectHook = Callable[[Object], None]


class Store:
    """Objects by resource, namespace and name.

    Args:
        now: the date, in seconds since 1970; that of a simulation, so that objects tell simulated
            time.
        history: how many changes of each resource are kept for watches that begin in the past.
        most_events: how many Event objects are kept; older ones are deleted.
        most_objects: how many objects of one resource clients may create.

    Attributes:
        revision: counts writes; the `resourceVersion` of the latest.
        activity: counts requests and answers: while it stands still, nobody talks to the API.
        on_bind: asked before a pod is bound; a `Refusal` keeps it from being bound.
        on_delete: asked before a client deletes a pod, with the grace it is given in seconds. With
            0 the pod goes at once; else it is only marked, and whoever set the hook deletes it.
        on_status: told of pods whose status a client wrote.
        on_event: told of Event objects as clients send them.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.time,
        history: int = 4096,
        most_events: int = 1000,
        most_objects: int = 500_000,
    ) -> None:
        self.now = now
        self.revision = 1
        self.activity = 0
        self.most_objects = most_objects
        self.on_bind: BindHook | None = None
        self.on_delete: DeleteHook | None = None
        self.on_status: ObjectHook | None = None
        self.on_event: ObjectHook | None = None
        self._history = history
        self._most_events = most_events
        self._second = (0, timestamp(0))
        self._collections: dict[tuple[str, str], _Collection] = {}

    def put(self, resource: Resource, obj: Object) -> Object:
        """Store an object under the name in its metadata, new or in place of the one there.

        Gives the object as stored: with a revision, and where it had none, with the `apiVersion`,
        a `uid` and a `creationTimestamp`.
        """
        collection = self._collection(resource)
        metadata = obj["metadata"]
        key = (metadata.get("namespace", "") if resource.namespaced else "", metadata["name"])
        before = collection.entries.get(key)
        self.revision += 1
        stored = _stamped(obj, self.revision)
        if before is None or "uid" not in metadata:
            self._complete(stored, resource, before)
        after = Entry(stored, self.revision)
        collection.entries[key] = after
        self._publish(collection, Change(self.revision, key, before, after))
        if resource.plural == "events" and len(collection.entries) > self._most_events:
            self.delete(resource, *reversed(next(iter(collection.entries))))
        return stored

    def get(self, resource: Resource, name: str, namespace: str = "") -> Object | None:
        """The object of that name, or None."""
        entry = self.entry(resource, name, namespace)
        return None if entry is None else entry.object

    def entry(self, resource: Resource, name: str, namespace: str = "") -> Entry | None:
        """The object of that name with its JSON, or None."""
        return self._collection(resource).entries.get((namespace, name))

    def delete(self, resource: Resource, name: str, namespace: str = "") -> Object | None:
        """Remove an object; gives its last state, or None where there is none."""
        collection = self._collection(resource)
        key = (namespace, name)
        before = collection.entries.pop(key, None)
        if before is None:
            return None
        self.revision += 1
        self._publish(collection, Change(self.revision, key, before, None))
        return before.object

    def list(
        self, resource: Resource, namespace: str = "", selector: Selector = EVERYTHING
    ) -> list[Object]:
        """The selected objects, of one namespace or of all, in the order of their names."""
        return [entry.object for entry in self.entries(resource, namespace, selector)]

    def entries(
        self,
        resource: Resource,
        namespace: str = "",
        selector: Selector = EVERYTHING,
        *,
        revision: int | None = None,
        after: Key | None = None,
    ) -> Iterator[Entry]:
        """The selected objects with their JSON, in the order of their names.

        Args:
            resource: of what.
            namespace: of one namespace only.
            selector: only these.
            revision: as they were then; a `Refusal` if that is forgotten.
            after: only those whose names come after this one.
        """
        entries = self._collection(resource).entries
        if revision is not None and revision != self.revision:
            entries = self._as_of(resource, revision)
        for key in sorted(entries):
            if (namespace and key[0] != namespace) or (after is not None and key <= after):
                continue
            entry = entries[key]
            if selector.matches(entry.object):
                yield entry

    def count(self, resource: Resource) -> int:
        """How many objects of a resource there are."""
        return len(self._collection(resource).entries)

    def changes(self, resource: Resource, since: int) -> Iterator[Change]:
        """What was written after a revision; a `Refusal` if that is no longer known."""
        collection = self._remembered(resource, since)
        return (change for change in collection.history if change.revision > since)

    def watch(self, resource: Resource, watcher: Watcher) -> None:
        """Tell a watcher of every change from now on."""
        self._collection(resource).watchers.append(watcher)

    def unwatch(self, resource: Resource, watcher: Watcher) -> None:
        """Tell a watcher nothing any more."""
        watchers = self._collection(resource).watchers
        if watcher in watchers:
            watchers.remove(watcher)

    def watchers(self, resource: Resource) -> int:
        """How many watch a resource."""
        return len(self._collection(resource).watchers)

    def timestamp(self, later: float = 0.0) -> str:
        """The date as objects have it, or one that much later."""
        second = int(self.now() + later)
        if second != self._second[0]:
            self._second = (second, timestamp(second))
        return self._second[1]

    def _collection(self, resource: Resource) -> _Collection:
        place = (resource.group, resource.plural)
        if place == _OTHER_EVENTS:
            place = ("", "events")
        collection = self._collections.get(place)
        if collection is None:
            collection = self._collections[place] = _Collection()
        return collection

    def _publish(self, collection: _Collection, change: Change) -> None:
        history = collection.history
        history.append(change)
        if len(history) > self._history:
            collection.forgotten = history.popleft().revision
        for watcher in tuple(collection.watchers):
            watcher.tell(change)

    def _remembered(self, resource: Resource, since: int) -> _Collection:
        collection = self._collection(resource)
        if since > self.revision:
            raise Refusal(
                504,
                f"Too large resource version: {since}, current: {self.revision}",
                details={
                    "causes": [
                        {
                            "reason": "ResourceVersionTooLarge",
                            "message": "Too large resource version",
                        }
                    ],
                    "retryAfterSeconds": 1,
                },
            )
        if since < collection.forgotten:
            raise Refusal(410, f"too old resource version: {since} ({collection.forgotten})")
        return collection

    def _as_of(self, resource: Resource, revision: int) -> dict[Key, Entry]:
        collection = self._remembered(resource, revision)
        entries = dict(collection.entries)
        for change in reversed(collection.history):
            if change.revision <= revision:
                break
            if change.before is None:
                entries.pop(change.key, None)
            else:
                entries[change.key] = change.before
        return entries

    def _complete(self, stored: Object, resource: Resource, before: Entry | None) -> None:
        metadata = stored["metadata"]
        stored.setdefault("apiVersion", resource.api_version)
        if before is not None:
            known = before.object["metadata"]
            metadata.setdefault("uid", known["uid"])
            metadata.setdefault("creationTimestamp", known["creationTimestamp"])
            return
        if not metadata.get("uid"):
            metadata["uid"] = object_uid(resource.group, resource.plural, self.revision)
        if not metadata.get("creationTimestamp"):
            metadata["creationTimestamp"] = self.timestamp()


def _stamped(obj: Object, revision: int) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}
