"""Files of external events: Batsim's format, one JSON object a line, with hosts that fail.

`{"type": "machine_failed", "timestamp": 42.5, "resources": "0 3-5"}` lets hosts fail, and
`machine_restored` brings them back; `machine_unavailable` and `machine_available` are Batsim's.
A line of type `generic` is passed on to the policy as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.external_events import ExternalEvent, ExternalEvents, Kind
from noctule.formats.batsim_events import BATSIM_KINDS, decoded, hosts_in
from noctule.formats.json_object import JsonObject
from noctule.output_file import write_file

__all__ = ["load_events", "read_events", "save_events"]

TYPES: dict[str, Kind] = {
    "machine_restored": "restored",
    "machine_failed": "failed",
    **BATSIM_KINDS,
}
_TYPE_OF = {kind: name for name, kind in TYPES.items()}
_FIELDS = ("type", "timestamp", "resources")


def load_events(path: str | os.PathLike[str]) -> ExternalEvents:
    """Read a file of external events, which may be compressed."""
    return read_events(read_bytes(path), source=os.fspath(path))


def read_events(text: bytes, *, source: str) -> ExternalEvents:
    """Read the text of a file of external events."""
    events = [
        _event(line, f"{source}: line {number}")
        for number, line in enumerate(text.split(b"\n"), start=1)
        if line.strip()
    ]
    return ExternalEvents.from_events(events, source=source)


def _event(line: bytes, where: str) -> ExternalEvent:
    fields = JsonObject(where, "", decoded(line, where))
    time = fields.non_negative("timestamp")
    name = fields.text("type")
    if name == "generic":
        return ExternalEvent(time, "generic", data=line.strip().decode())
    if name not in TYPES:
        fields.refuse("type", " or ".join((*TYPES, "generic")))
    for key in fields.fields:
        if key not in _FIELDS:
            raise InputError(f"{where}: {key}: unknown key, expected {', '.join(_FIELDS)}")
    hosts = hosts_in(fields)
    if not len(hosts):
        fields.refuse("resources", "at least one host")
    return ExternalEvent(time, TYPES[name], hosts=hosts)


def event_lines(events: ExternalEvents) -> Iterator[str]:
    """Yield the lines of a file of these events."""
    for event in events:
        if event.kind == "generic":
            yield f"{event.data}\n"
        else:
            head = f'{{"timestamp": {event.time!r}, "type": "{_TYPE_OF[event.kind]}"'
            yield f'{head}, "resources": "{event.hosts}"}}\n'


def save_events(
    events: ExternalEvents, path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write a file of external events, whole or not at all."""
    write_file(path, event_lines(events), force=force)
