"""Files of windows: TOML, since people write them by hand, with comments, and there are few.

[[maintenance]]
name = "cooling"
hosts = "0-15"
from = "2h"
to = "6h"

[[reservation]]
hosts = 8               # or which, as in "16-23"
from = 86400
to = 90000
users = ["alice"]       # or jobs = [17, 18]
"""

from __future__ import annotations

import os
from typing import Any

from noctule._core import HostSet
from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.toml_table import Table, read_toml
from noctule.units import DURATION
from noctule.windows import Maintenance, Reservation, Windows

__all__ = ["load_windows", "read_windows"]


def load_windows(path: str | os.PathLike[str]) -> Windows:
    """Read a file of windows."""
    return read_windows(read_bytes(path), source=os.fspath(path))


def read_windows(text: bytes, *, source: str) -> Windows:
    """Read the text of a file of windows."""
    document = read_toml(text, source)
    maintenances = [_maintenance(table) for table in document.tables("maintenance")]
    reservations = [_reservation(table) for table in document.tables("reservation")]
    document.end()
    return Windows((*maintenances, *reservations), source=source)


def _maintenance(table: Table) -> Maintenance:
    start = table.quantity("from", DURATION)
    window = Maintenance(
        hosts=_hosts(table, table.take("hosts")),
        start=start,
        end=table.quantity("to", DURATION),
        name=table.text("name", ""),
        announced=table.quantity("announced", DURATION, 0.0),
        kills=table.choice("running", ("drain", "kill"), "drain") == "kill",
    )
    table.end()
    return window


def _reservation(table: Table) -> Reservation:
    hosts = table.take("hosts")
    window = Reservation(
        hosts=hosts if type(hosts) is int else _hosts(table, hosts),
        start=table.quantity("from", DURATION),
        end=table.quantity("to", DURATION),
        jobs=_labels(table, "jobs"),
        users=_labels(table, "users"),
        name=table.text("name", ""),
        announced=table.quantity("announced", DURATION, 0.0),
    )
    table.end()
    return window


def _hosts(table: Table, value: Any) -> HostSet:
    expected = "hosts as in '0-3 7'"
    if not isinstance(value, str):
        table.refuse("hosts", expected)
    try:
        return HostSet.from_str(value)
    except InputError:
        table.refuse("hosts", expected)


def _labels(table: Table, key: str) -> tuple[int | str, ...]:
    values = table.take(key, [])
    if not isinstance(values, list) or not all(type(value) in (int, str) for value in values):
        table.refuse(key, "an array of numbers and texts")
    return tuple(values)
