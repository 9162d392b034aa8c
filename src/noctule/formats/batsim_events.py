"""Batsim's lists of external events: one JSON object a line.

`{"type": "machine_unavailable", "timestamp": 42.5, "resources": "0 3-5"}` takes hosts away,
`machine_available` gives them back; what else happens is only told, if it is to be told at all.
Batsim 5 only has events that are told: `{"type": "generic", "timestamp": 42.5, "data": "text"}`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from noctule._core import HostSet
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, Kind
from noctule.formats.json_object import JsonObject, shown_json

BATSIM_KINDS: dict[str, Kind] = {
    "machine_available": "available",
    "machine_unavailable": "unavailable",
}


def read_batsim_events(
    text: bytes, *, source: str, forward_unknown: bool = False
) -> list[ExternalEvent]:
    """Read the events of a file, in their order there.

    Types that Batsim does not know are refused, or, with `forward_unknown`, kept as they are.
    """
    events = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        if line.strip():
            events.append(_event(line, f"{source}: line {number}", forward_unknown))
    return events


def read_batsim5_events(text: bytes, *, source: str, name: str) -> list[ExternalEvent]:
    """Read the events of a file of Batsim 5; their data are objects with an id and a text."""
    events: list[ExternalEvent] = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{source}: line {number}"
        fields = JsonObject(where, "", decoded(line, where))
        time = fields.non_negative("timestamp")
        if fields.text("type") != "generic":
            fields.refuse("type", "generic, the only type of Batsim 5")
        told = {"id": f"{name}!{len(events)}", "data": fields.text("data")}
        events.append(ExternalEvent(time, "generic", data=msgspec.json.encode(told).decode()))
    return events


def _event(line: bytes, where: str, forward_unknown: bool) -> ExternalEvent:
    fields = JsonObject(where, "", decoded(line, where))
    time = fields.non_negative("timestamp")
    kind = BATSIM_KINDS.get(fields.text("type"))
    if kind is not None:
        return ExternalEvent(time, kind, hosts=hosts_in(fields))
    if not forward_unknown:
        known = " or ".join(BATSIM_KINDS)
        fields.refuse("type", f"{known}; --forward-unknown-events passes all others on")
    return ExternalEvent(time, "generic", data=line.strip().decode())


def hosts_in(fields: JsonObject) -> HostSet:
    """Read a set of hosts, whose parts may overlap and stand in any order."""
    text = fields.text("resources")
    try:
        return HostSet.from_str(" ".join(text.split()))
    except InputError:
        fields.refuse("resources", "hosts as in '0-3 7'")


def decoded(line: bytes, where: str) -> dict[str, Any]:
    """Return the object of a line."""
    try:
        value = msgspec.json.decode(line)
    except UnicodeDecodeError:
        raise InputError(f"{where}: not valid JSON: got bytes that are not UTF-8 text") from None
    except RecursionError:
        raise InputError(f"{where}: not valid JSON: nested too deeply") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{where}: not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: got {shown_json(value)}, expected an object")
    return value
