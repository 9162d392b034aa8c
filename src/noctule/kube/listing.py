"""Reading: one object, lists, pages of lists, watches; as JSON or as tables."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import msgspec

from noctule.kube.catalog import Kind
from noctule.kube.http import Answer, Stream
from noctule.kube.http_reading import Request
from noctule.kube.refusals import Refusal
from noctule.kube.selectors import parse_selector
from noctule.kube.store import Entry, Key, Resource, Store, in_version
from noctule.kube.tables import table, wants_table
from noctule.kube.watching import Rendering, Scope, Watch

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Lister:
    """Reads from a store what requests ask for."""

    store: Store
    watch_timeouts: bool
    watch_lists: bool

    def scope(self, kind: Kind, resource: Resource, namespace: str, request: Request) -> Scope:
        """Which objects a request on a collection is about."""
        query = request.query
        selector = parse_selector(query.get("fieldSelector", ""), query.get("labelSelector", ""))
        return Scope(kind, resource, namespace, selector)

    def one(self, kind: Kind, resource: Resource, entry: Entry, request: Request) -> Answer:
        """Answer with one object."""
        if wants_table(request.headers.get("accept", "")):
            return Answer(self._rendering(kind, request)(entry))
        return Answer(entry.json(resource.api_version))

    def read(self, scope: Scope, request: Request) -> Answer | Stream:
        """Answer with a list, or begin a watch."""
        if request.method == "GET" and request.query.get("watch", "") in ("true", "1"):
            return self._watch(scope, request)
        return self._list(scope, request)

    def _watch(self, scope: Scope, request: Request) -> Watch:
        query = request.query
        since: int | None = _number(query, "resourceVersion")
        initial = query.get("sendInitialEvents")
        if initial is not None and not self.watch_lists:
            raise Refusal(
                422, "sendInitialEvents: this server lists and watches one after the other"
            )
        if initial == "true":
            if query.get("resourceVersionMatch") != "NotOlderThan":
                raise Refusal(
                    422, "sendInitialEvents: expected resourceVersionMatch=NotOlderThan with it"
                )
            if since is not None and since > self.store.revision:
                self.store.changes(scope.resource, since)
            since = None
        elif initial == "false" and not since:
            since = self.store.revision
        elif since == 0:
            since = None
        timeout = _number(query, "timeoutSeconds") if self.watch_timeouts else None
        as_table = wants_table(request.headers.get("accept", ""))
        return Watch(
            self.store,
            scope,
            since,
            marks=query.get("allowWatchBookmarks") in ("true", "1"),
            end_of_list=initial == "true",
            render=self._rendering(scope.kind, request) if as_table else None,
            timeout=timeout or None,
        )

    def _rendering(self, kind: Kind, request: Request) -> Rendering:
        whole = request.query.get("includeObject") == "Object"

        def render(entry: Entry) -> bytes:
            metadata = {"resourceVersion": str(entry.revision)}
            return _encode(table(kind, [entry.object], metadata, self.store.now(), whole=whole))

        return render

    def _list(self, scope: Scope, request: Request) -> Answer:
        query = request.query
        limit = _number(query, "limit") or 0
        revision, after = self._version(scope, query)
        entries = self.store.entries(
            scope.resource, scope.namespace, scope.selector, revision=revision, after=after
        )
        page: list[Entry] = []
        metadata: dict[str, object] = {"resourceVersion": str(revision)}
        for entry in entries:
            if limit and len(page) == limit:
                metadata["continue"] = _token(revision, page[-1])
                break
            page.append(entry)
        if wants_table(request.headers.get("accept", "")):
            whole = query.get("includeObject") == "Object"
            objects = [in_version(entry.object, scope.resource.api_version) for entry in page]
            return Answer(
                _encode(table(scope.kind, objects, metadata, self.store.now(), whole=whole))
            )
        api_version = scope.resource.api_version
        return Answer(
            b'{"kind":%b,"apiVersion":%b,"metadata":%b,"items":[%b]}'
            % (
                _encode(scope.kind.list_kind),
                _encode(api_version),
                _encode(metadata),
                b",".join([entry.json(api_version) for entry in page]),
            )
        )

    def _version(self, scope: Scope, query: dict[str, str]) -> tuple[int, Key | None]:
        """The revision that a list is of, and after which name it begins."""
        if query.get("continue"):
            return _read_token(query["continue"])
        wanted = _number(query, "resourceVersion") or 0
        match = query.get("resourceVersionMatch", "")
        if match not in ("", "Exact", "NotOlderThan"):
            raise Refusal(422, f"resourceVersionMatch {match!r}, expected Exact or NotOlderThan")
        if match == "Exact" and not wanted:
            raise Refusal(422, "resourceVersionMatch Exact: expected a resourceVersion with it")
        if wanted > self.store.revision:
            self.store.changes(scope.resource, wanted)
        return (wanted if match == "Exact" else self.store.revision), None


def _number(query: dict[str, str], name: str) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Refusal(400, f"{name} {text[:40]!r}, expected a number")
    return int(text)


def _token(revision: int, last: Entry) -> str:
    metadata = last.object["metadata"]
    text = f"{revision}\n{metadata.get('namespace', '')}\n{metadata['name']}"
    return base64.urlsafe_b64encode(text.encode()).decode()


def _read_token(text: str) -> tuple[int, Key]:
    try:
        revision, namespace, name = base64.urlsafe_b64decode(text.encode()).decode().split("\n")
        return int(revision), (namespace, name)
    except (ValueError, binascii.Error):
        raise Refusal(400, f"continue {text[:80]!r} was not given by this server") from None
