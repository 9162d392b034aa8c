"""The API: what requests mean for the objects of a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from noctule.kube.binding import bind, evict
from noctule.kube.catalog import Kind, find_kind
from noctule.kube.discovery import Discovery, wants_aggregated
from noctule.kube.http import Answer, Stream
from noctule.kube.http_reading import Request
from noctule.kube.listing import Lister
from noctule.kube.patches import check_depth, json_patch, merge_patch
from noctule.kube.refusals import Refusal, success
from noctule.kube.store import NAMESPACES, PODS, Entry, Object, Resource, Store, in_version
from noctule.kube.strategic import strategic_merge
from noctule.kube.writes import DeleteOptions, Writer

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

_JSON = frozenset({"application/json", "application/*", "*/*"})
_APPLY = "application/apply-patch+yaml"
_PATCHES = {
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    _APPLY,
}


@dataclass(frozen=True, slots=True)
class _Target:
    """What the path of a request points at."""

    kind: Kind
    resource: Resource
    namespace: str
    name: str
    part: str


_Method = Callable[[Request, _Target], Answer | Stream]


class Api:
    """Answers the requests of schedulers, kubectl and other clients from a store.

    Args:
        store: the objects.
        version: what `/version` says, as Kubernetes writes versions.
        watch_timeouts: whether watches end when clients ask for it (in real seconds); without,
            they last until the client leaves.
        watch_lists: whether watches can begin with a list, in any order; without, clients list
            objects by their names before they watch.
    """

    def __init__(
        self,
        store: Store,
        *,
        version: str = "v1.36.0",
        watch_timeouts: bool = True,
        watch_lists: bool = True,
    ) -> None:
        self.store = store
        self._writer = Writer(store)
        self._lister = Lister(store, watch_timeouts, watch_lists)
        self._discovery = Discovery(store, version)
        self._methods_of_all: dict[str, _Method] = {
            "GET": self._read_all,
            "HEAD": self._read_all,
            "POST": self._create,
            "DELETE": self._delete_all,
        }
        self._methods_of_one: dict[str, _Method] = {
            "GET": self._read,
            "HEAD": self._read,
            "PUT": self._replace,
            "PATCH": self._patch,
            "DELETE": self._delete,
        }
        for name in ("default", "kube-system"):
            if store.get(NAMESPACES, name) is None:
                store.put(
                    NAMESPACES,
                    {
                        "kind": "Namespace",
                        "metadata": {"name": name},
                        "status": {"phase": "Active"},
                    },
                )

    def handle(self, request: Request) -> Answer | Stream:
        """Carry a request out."""
        self.store.activity += 1
        _check_acceptable(request)
        steps = request.steps
        if len(steps) > 1 and steps[0] == "api" and steps[1] == "v1":
            rest = steps[2:]
            group, version = "", "v1"
        elif len(steps) > 2 and steps[0] == "apis":
            group, version, *rest = steps[1:]
        else:
            return self._document(request, steps)
        if not rest:
            return self._document(request, steps)
        return self._resource(request, self._target(group, version, rest))

    def _target(self, group: str, version: str, steps: list[str]) -> _Target:
        namespace = ""
        if steps[0] == "namespaces" and len(steps) > 2 and steps[2] not in ("status", "finalize"):
            namespace, steps = steps[1], steps[2:]
        if len(steps) > 3:
            raise Refusal(404, "the server could not find the requested resource")
        kind = find_kind(self.store, group, version, steps[0])
        if namespace and not kind.namespaced:
            raise Refusal(404, f"{kind.plural} are not in a namespace")
        _, name, part = (*steps, "", "")[:3]
        return _Target(kind, kind.resource(version), namespace, name, part)

    def _resource(self, request: Request, target: _Target) -> Answer | Stream:
        if (
            target.kind.namespaced
            and not target.namespace
            and (target.name or request.method == "POST")
        ):
            raise Refusal(404, f"{target.kind.plural} are in a namespace, the path names none")
        if target.part:
            return self._part(request, target)
        methods = self._methods_of_one if target.name else self._methods_of_all
        method = methods.get(request.method)
        if method is None:
            raise Refusal(405, f"{request.method} is not possible here")
        return method(request, target)

    def _read_all(self, request: Request, target: _Target) -> Answer | Stream:
        scope = self._lister.scope(target.kind, target.resource, target.namespace, request)
        return self._lister.read(scope, request)

    def _read(self, request: Request, target: _Target) -> Answer:
        return self._lister.one(target.kind, target.resource, self._entry(target), request)

    def _part(self, request: Request, target: _Target) -> Answer | Stream:
        if target.part == "status" and target.kind.status:
            methods = {name: self._methods_of_one[name] for name in ("GET", "PUT", "PATCH")}
        elif target.part in ("binding", "eviction") and target.resource == PODS:
            methods = {"POST": self._decide}
        else:
            raise Refusal(404, f"the server could not find {target.part} of {target.kind.plural}")
        method = methods.get(request.method)
        if method is None:
            raise Refusal(405, f"{request.method} is not possible here")
        return method(request, target)

    def _decide(self, request: Request, target: _Target) -> Answer:
        body = _body(request)
        pod = self._entry(target).object
        if target.part == "binding":
            bind(self.store, pod, body)
        else:
            evict(self._writer, pod, body)
        return Answer(_encode(success(201)), 201)

    def _entry(self, target: _Target) -> Entry:
        entry = self.store.entry(target.resource, target.name, target.namespace)
        if entry is None:
            raise _missing(target)
        return entry

    def _create(self, request: Request, target: _Target) -> Answer:
        body = _body(request)
        if target.kind.kind == "Binding" and not target.kind.group:
            named = body.get("metadata") if isinstance(body, dict) else None
            name = named.get("name") if isinstance(named, dict) else None
            pods = find_kind(self.store, "", "v1", "pods")
            pod = _Target(pods, PODS, target.namespace, str(name or ""), "binding")
            return self._decide(request, pod)
        made = self._writer.create(
            target.kind, target.resource, target.namespace, body, dry_run=_dry(request)
        )
        self._tell(request, target, made)
        return self._shown(target, made, 201)

    def _replace(self, request: Request, target: _Target) -> Answer:
        old = self._entry(target).object
        new = self._writer.update(
            target.kind,
            target.resource,
            old,
            _body(request),
            status=bool(target.part),
            dry_run=_dry(request),
        )
        self._tell(request, target, new)
        return self._shown(target, new)

    def _patch(self, request: Request, target: _Target) -> Answer:
        form = _media_type(request.headers.get("content-type", ""))
        if form not in _PATCHES:
            raise Refusal(
                415, f"content-type {form!r}: expected one of {', '.join(sorted(_PATCHES))}"
            )
        patch = _body(request)
        entry = self.store.entry(target.resource, target.name, target.namespace)
        if entry is None:
            if form != _APPLY or target.part:
                raise _missing(target)
            return self._create_applied(request, target, patch)
        new = self._writer.update(
            target.kind,
            target.resource,
            entry.object,
            _patched(
                target.kind, in_version(entry.object, target.resource.api_version), form, patch
            ),
            status=bool(target.part),
            dry_run=_dry(request),
        )
        self._tell(request, target, new)
        return self._shown(target, new)

    def _create_applied(self, request: Request, target: _Target, body: Any) -> Answer:
        if isinstance(body, dict) and isinstance(body.get("metadata"), dict):
            if body["metadata"].get("name", target.name) != target.name:
                raise Refusal(400, "the name of the object does not match the path")
            body = {**body, "metadata": {**body["metadata"], "name": target.name}}
        made = self._writer.create(
            target.kind, target.resource, target.namespace, body, dry_run=_dry(request)
        )
        return self._shown(target, made, 201)

    def _delete(self, request: Request, target: _Target) -> Answer:
        options = DeleteOptions.read(_body(request, optional=True), request.query)
        obj, gone = self._writer.delete(
            target.kind, target.resource, self._entry(target).object, options
        )
        if not gone or target.resource == PODS:
            return self._shown(target, obj)
        details = {
            "name": target.name,
            "group": target.kind.group,
            "kind": target.kind.plural,
            "uid": obj["metadata"]["uid"],
        }
        return Answer(_encode(success(details=details)))

    def _delete_all(self, request: Request, target: _Target) -> Answer:
        scope = self._lister.scope(target.kind, target.resource, target.namespace, request)
        options = DeleteOptions.read(_body(request, optional=True), request.query)
        selected = self.store.list(scope.resource, scope.namespace, scope.selector)
        deleted = [
            self._writer.delete(target.kind, target.resource, obj, options)[0] for obj in selected
        ]
        return Answer(
            _encode(
                {
                    "kind": target.kind.list_kind,
                    "apiVersion": target.resource.api_version,
                    "metadata": {"resourceVersion": str(self.store.revision)},
                    "items": [in_version(obj, target.resource.api_version) for obj in deleted],
                }
            )
        )

    def _tell(self, request: Request, target: _Target, obj: Object) -> None:
        if _dry(request):
            return
        if target.kind.kind == "Event" and self.store.on_event is not None:
            self.store.on_event(obj)
        if target.part == "status" and target.resource == PODS and self.store.on_status is not None:
            self.store.on_status(obj)

    def _shown(self, target: _Target, obj: Object, code: int = 200) -> Answer:
        entry = self.store.entry(target.resource, obj["metadata"]["name"], target.namespace)
        api_version = target.resource.api_version
        if entry is not None and entry.object is obj:
            return Answer(entry.json(api_version), code)
        return Answer(_encode(in_version(obj, api_version)), code)

    def _document(self, request: Request, steps: list[str]) -> Answer:
        if request.method not in ("GET", "HEAD"):
            raise Refusal(405, f"{request.method} is not possible here")
        if steps in (["healthz"], ["livez"], ["readyz"]):
            return Answer(b"ok", content_type="text/plain")
        form = wants_aggregated(request.headers.get("accept", ""))
        if form is not None and steps in (["api"], ["apis"]):
            found = self._discovery.aggregated(form, core=steps == ["api"])
            return Answer(_encode(found), content_type=form)
        document = self._discovery.document(steps)
        if document is None:
            raise Refusal(404, "the server could not find the requested resource")
        return Answer(_encode(document))


def _patched(kind: Kind, obj: Object, form: str, patch: Any) -> Object:
    if form == "application/json-patch+json":
        new: Any = json_patch(obj, patch)
    elif form == "application/merge-patch+json" or kind.custom:
        if form == "application/strategic-merge-patch+json":
            raise Refusal(
                415,
                "strategic merge patches are for Kubernetes' own types; send a merge patch or a "
                "JSON patch for a custom one",
            )
        new = merge_patch(obj, patch)
    else:
        new = strategic_merge(obj, patch)
    if not isinstance(new, dict) or not isinstance(new.get("metadata"), dict):
        raise Refusal(422, f"the patch leaves no {kind.kind}")
    return new


def _body(request: Request, *, optional: bool = False) -> Any:
    if not request.body.strip():
        if optional:
            return None
        raise Refusal(400, "the request has no body")
    form = _media_type(request.headers.get("content-type", "application/json"))
    if form not in _PATCHES and form not in ("application/json", ""):
        raise Refusal(415, f"content-type {form!r}: expected application/json")
    try:
        return check_depth(_decode(request.body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        if form == _APPLY:
            raise Refusal(415, "server-side apply: only bodies that are JSON are read") from None
        raise Refusal(400, f"the body is not JSON: {problem}") from None


def _check_acceptable(request: Request) -> None:
    accept = request.headers.get("accept", "")
    if accept and not any(
        _media_type(part) in _JSON and "as=PartialObjectMetadata" not in part
        for part in accept.split(",")
    ):
        raise Refusal(
            406, f"this server writes application/json only, the client accepts {accept[:200]!r}"
        )


def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()


def _dry(request: Request) -> bool:
    return request.query.get("dryRun", "") != ""


def _missing(target: _Target) -> Refusal:
    kind = target.kind
    plural = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
    return Refusal(
        404,
        f'{plural} "{target.name}" not found',
        details={"name": target.name, "group": kind.group, "kind": kind.plural},
    )
