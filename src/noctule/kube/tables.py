"""Objects as the tables that kubectl prints."""

from __future__ import annotations

import calendar
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

from noctule.kube.catalog import Kind
from noctule.kube.store import Object

_Row = Callable[[Object, float], list[Any]]


def wants_table(accept: str) -> bool:
    """Whether a client asks for a table first."""
    first = accept.partition(",")[0].replace(" ", "")
    return "as=Table" in first.split(";") and "g=meta.k8s.io" in first.split(";")


def table(
    kind: Kind, objects: Iterable[Object], metadata: Object, now: float, *, whole: bool
) -> Object:
    """A Table of objects; rows carry the object (`whole`) or its metadata."""
    columns, row = _FORMS.get((kind.group, kind.plural)) or _custom_form(kind)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [
            {
                "name": name,
                "type": "string",
                "format": "name" if name == "Name" else "",
                "description": "",
                "priority": priority,
            }
            for name, priority in columns
        ],
        "rows": [
            {
                "cells": _cells(row, obj, now, len(columns)),
                "object": obj if whole else _partial(obj),
            }
            for obj in objects
        ],
    }


def _cells(row: _Row, obj: Object, now: float, number: int) -> list[Any]:
    """The cells of an object; specs and statuses are as clients wrote them, which may be anyhow."""
    try:
        return row(obj, now)
    except (AttributeError, KeyError, TypeError, ValueError):
        return [_name(obj), *["<invalid>"] * (number - 1)]


def _partial(obj: Object) -> Object:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj["metadata"],
    }


def _name(obj: Object) -> str:
    return str(obj["metadata"].get("name", ""))


def age(obj: Object, now: float) -> str:
    """How long an object has been there, as kubectl writes it."""
    created = obj["metadata"].get("creationTimestamp")
    try:
        seconds = now - calendar.timegm(time.strptime(created or "", "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return "<unknown>"
    return duration(max(0, int(seconds)))


_DAY = 86400
_YEAR = 365 * _DAY
# below which length, which unit, and which smaller one for the rest
_UNITS = (
    (120, 1, "s", 0, ""),
    (600, 60, "m", 1, "s"),
    (3 * 3600, 60, "m", 0, ""),
    (8 * 3600, 3600, "h", 60, "m"),
    (2 * _DAY, 3600, "h", 0, ""),
    (8 * _DAY, _DAY, "d", 3600, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def duration(seconds: int) -> str:
    """A stretch of time in one or two units."""
    for below, unit, letter, smaller, smaller_letter in _UNITS:
        if seconds < below:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{letter}" + (f"{rest}{smaller_letter}" if rest else "")
    return f"{seconds // _YEAR}y"


def _pod(obj: Object, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    containers = spec.get("containers") or []
    states = status.get("containerStatuses") or []
    phase = status.get("reason") or status.get("phase") or "Unknown"
    if phase == "Succeeded":
        phase = "Completed"
    if obj["metadata"].get("deletionTimestamp"):
        phase = "Terminating"
    return [
        _name(obj),
        f"{sum(bool(state.get('ready')) for state in states)}/{len(containers)}",
        phase,
        str(sum(int(state.get("restartCount", 0)) for state in states)),
        age(obj, now),
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        "<none>",
    ]


def _node(obj: Object, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    ready = [c for c in status.get("conditions") or () if c.get("type") == "Ready"]
    state = "Unknown" if not ready else "Ready" if ready[0].get("status") == "True" else "NotReady"
    if spec.get("unschedulable"):
        state += ",SchedulingDisabled"
    role = "node-role.kubernetes.io/"
    labels = obj["metadata"].get("labels") or {}
    roles = sorted(label.removeprefix(role) for label in labels if label.startswith(role))
    info = status.get("nodeInfo") or {}
    addresses = {a.get("type"): a.get("address") for a in status.get("addresses") or ()}
    return [
        _name(obj),
        state,
        ",".join(roles) or "<none>",
        age(obj, now),
        info.get("kubeletVersion") or "",
        addresses.get("InternalIP") or "<none>",
        addresses.get("ExternalIP") or "<none>",
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _event(obj: Object, now: float) -> list[Any]:
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    return [
        age(obj, now),
        obj.get("type") or "",
        obj.get("reason") or "",
        f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}",
        str(obj.get("message") or obj.get("note") or "").strip(),
    ]


def _namespace(obj: Object, now: float) -> list[Any]:
    return [_name(obj), (obj.get("status") or {}).get("phase", ""), age(obj, now)]


def _lease(obj: Object, now: float) -> list[Any]:
    return [_name(obj), (obj.get("spec") or {}).get("holderIdentity") or "", age(obj, now)]


def _any(obj: Object, now: float) -> list[Any]:
    return [_name(obj), age(obj, now)]


def _columns(text: str, wide: str = "") -> list[tuple[str, int]]:
    return [(name, 0) for name in text.split("|")] + [(name, 1) for name in wide.split("|") if name]


_FORMS: dict[tuple[str, str], tuple[list[tuple[str, int]], _Row]] = {
    ("", "pods"): (
        _columns("Name|Ready|Status|Restarts|Age", "IP|Node|Nominated Node|Readiness Gates"),
        _pod,
    ),
    ("", "nodes"): (
        _columns(
            "Name|Status|Roles|Age|Version",
            "Internal-IP|External-IP|OS-Image|Kernel-Version|Container-Runtime",
        ),
        _node,
    ),
    ("", "namespaces"): (_columns("Name|Status|Age"), _namespace),
    ("coordination.k8s.io", "leases"): (_columns("Name|Holder|Age"), _lease),
    ("", "events"): (_columns("Last Seen|Type|Reason|Object|Message"), _event),
    ("events.k8s.io", "events"): (_columns("Last Seen|Type|Reason|Object|Message"), _event),
}

_SIMPLE_PATH = re.compile(r"(\.[A-Za-z_][-A-Za-z0-9_]*)+")


def _custom_form(kind: Kind) -> tuple[list[tuple[str, int]], _Row]:
    """The columns that a custom definition asks for, where their paths are simple ones."""
    paths = [column for column in kind.columns if _SIMPLE_PATH.fullmatch(column[2])]
    if not paths:
        return _columns("Name|Age"), _any

    def row(obj: Object, now: float) -> list[Any]:
        cells: list[Any] = [_name(obj)]
        for _, _, path in paths:
            cells.append(age(obj, now) if path == ".metadata.creationTimestamp" else _at(obj, path))
        return cells

    return [("Name", 0), *((name, priority) for name, priority, _ in paths)], row


def _at(value: Any, path: str) -> str:
    for step in path[1:].split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return "" if value is None else str(value)
