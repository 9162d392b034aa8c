"""Watches: the changes of a part of a resource as a stream, one JSON object a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from noctule.kube.catalog import Kind
from noctule.kube.refusals import Refusal
from noctule.kube.selectors import Selector
from noctule.kube.store import Change, Entry, Resource, Store

_encode = msgspec.json.Encoder().encode

# A watcher that sees nothing of so many changes is told where they are, so that it does not begin
# again from a revision that is forgotten.
_SILENCE = 1000

Rendering = Callable[[Entry], bytes]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects a list or a watch is about."""

    kind: Kind
    resource: Resource
    namespace: str
    selector: Selector


class Watch:
    """A stream of what happens to the objects of a scope.

    Args:
        store: where they are.
        scope: which ones.
        since: the revision after which changes are told; None begins with all objects there are.
        marks: whether the client understands bookmarks.
        end_of_list: whether a bookmark tells where the objects there are end (`WatchList`).
        render: how an object is written, if not as JSON.
        timeout: seconds after which it ends.
    """

    content_type = "application/json"

    def __init__(
        self,
        store: Store,
        scope: Scope,
        since: int | None,
        *,
        marks: bool = False,
        end_of_list: bool = False,
        render: Rendering | None = None,
        timeout: float | None = None,
    ) -> None:
        self.timeout = timeout
        self._store = store
        self._scope = scope
        self._since = since
        self._marks = marks
        self._end_of_list = end_of_list
        api_version = scope.resource.api_version
        self._render = render or (lambda entry: entry.json(api_version))
        self._unseen = 0
        self._send: Callable[[bytes], None] = _nowhere

    def open(self, send: Callable[[bytes], None], end: Callable[[], None]) -> None:
        """Tell what there is, or what happened since, and go on with what happens."""
        self._send = send
        scope = self._scope
        try:
            if self._since is None:
                self._send_all()
            else:
                for change in self._store.changes(scope.resource, self._since):
                    self.tell(change)
        except Refusal as refusal:
            send(b'{"type":"ERROR","object":%b}\n' % _encode(refusal.status()))
            end()
            return
        self._store.watch(scope.resource, self)

    def tell(self, change: Change) -> None:
        """Send what the client gets to see of a change."""
        seen = change.seen(self._scope.namespace, self._scope.selector)
        if seen is not None:
            self._unseen = 0
            self._send(_line(seen[0], self._render(seen[1])))
            return
        self._unseen += 1
        if self._unseen >= _SILENCE:
            self._unseen = 0
            self._mark()

    def ending(self) -> None:
        """Tell a client that will come back where it was."""
        self._mark()

    def close(self) -> None:
        """Tell nothing any more."""
        self._store.unwatch(self._scope.resource, self)
        self._store.activity += 1
        self._send = _nowhere

    def _send_all(self) -> None:
        scope = self._scope
        for entry in self._store.entries(scope.resource, scope.namespace, scope.selector):
            self._send(_line("ADDED", self._render(entry)))
        if self._end_of_list:
            self._mark({"k8s.io/initial-events-end": "true"})

    def _mark(self, annotations: dict[str, Any] | None = None) -> None:
        if not self._marks:
            return
        metadata: dict[str, Any] = {"resourceVersion": str(self._store.revision)}
        if annotations:
            metadata["annotations"] = annotations
        obj = {
            "kind": self._scope.kind.kind,
            "apiVersion": self._scope.resource.api_version,
            "metadata": {"creationTimestamp": None, **metadata},
        }
        self._send(_line("BOOKMARK", self._render(Entry(obj, self._store.revision))))


def _line(kind: str, obj: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), obj)


def _nowhere(_piece: bytes) -> None:
    """Take what nobody listens to."""
