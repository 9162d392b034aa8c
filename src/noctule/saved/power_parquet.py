"""Energy and power states of a run as Parquet files, beside those of its schedule."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noctule.errors import InputError
from noctule.record import Floats, RecordLike
from noctule.saved.parquet import ParquetTable, ParseHosts, require_pyarrow
from noctule.schedule_energy import SPENDINGS

PARQUET_ENERGY_FILE = "energy.parquet"
PARQUET_POWER_FILE = "power.parquet"
PARQUET_POWER_STATES_FILE = "power_states.parquet"
PARQUET_HOST_ENERGY_FILE = "host_energy.parquet"
PARQUET_POWER_FILES = (
    PARQUET_ENERGY_FILE,
    PARQUET_POWER_FILE,
    PARQUET_POWER_STATES_FILE,
    PARQUET_HOST_ENERGY_FILE,
)
_KEY = b"noctule"
_EVENTS = ("s", "e", "p")


@dataclass(frozen=True, slots=True)
class ParquetPower:
    """Columns of a record, and what a Schedule knows besides of energy."""

    columns: Mapping[str, Any]
    mean_watts: Floats
    spent: Floats
    end: float


def write_power_parquet(
    folder: Path, record: RecordLike, mean_watts: Floats, spent: Floats, end: float
) -> None:
    """Write all files into a folder that is there."""
    pa, parquet = require_pyarrow()
    tables = {
        PARQUET_ENERGY_FILE: {
            "time": pa.array(record.energy_time),
            "joules": pa.array(record.energy_joules),
            "event": pa.array(map(chr, record.energy_why.tolist()), pa.string()),
            "least_watts": pa.array(record.energy_least_watts),
            "mean_watts": pa.array(mean_watts, mask=np.isnan(mean_watts)),
        },
        PARQUET_POWER_FILE: {
            "time": pa.array(record.power_time),
            "watts": pa.array(record.power_watts),
        },
        PARQUET_POWER_STATES_FILE: {
            "time": pa.array(record.power_state_time),
            "hosts": pa.array(map(str, record.power_state_hosts), pa.string()),
            "state": pa.array(record.power_state_value),
        },
        PARQUET_HOST_ENERGY_FILE: {
            name: pa.array(np.ascontiguousarray(spent[:, i])) for i, name in enumerate(SPENDINGS)
        },
    }
    about = {_KEY: json.dumps({"end": end})}
    for name, columns in tables.items():
        table = pa.table(columns).replace_schema_metadata(about)
        parquet.write_table(table, folder / name, compression="zstd")


def read_power_parquet(folder: Path, parse: ParseHosts) -> ParquetPower | None:
    """Read what `write_power_parquet` wrote, if it did; `parse` makes hosts of a text."""
    there = [name for name in PARQUET_POWER_FILES if (folder / name).is_file()]
    if not there:
        return None
    missing = [name for name in PARQUET_POWER_FILES if name not in there]
    if missing:
        raise InputError(f"{folder}: no file {missing[0]}, expected it with {there[0]}")
    energy = ParquetTable(folder / PARQUET_ENERGY_FILE)
    power = ParquetTable(folder / PARQUET_POWER_FILE)
    states = ParquetTable(folder / PARQUET_POWER_STATES_FILE)
    hosts = ParquetTable(folder / PARQUET_HOST_ENERGY_FILE)
    columns = {
        "energy_time": _dates(energy),
        "energy_joules": energy.numbers("joules"),
        "energy_least_watts": energy.numbers("least_watts"),
        "energy_why": _events(energy),
        "power_time": _dates(power),
        "power_watts": power.numbers("watts"),
        "power_state_time": _dates(states),
        "power_state_hosts": _host_sets(states, parse),
        "power_state_value": states.signed("state"),
    }
    spent = np.stack([hosts.numbers(name) for name in SPENDINGS], axis=1)
    return ParquetPower(columns, energy.numbers("mean_watts"), spent, _end(energy))


def _dates(table: ParquetTable) -> Floats:
    dates = table.numbers("time")
    if not (np.diff(dates, prepend=0.0) >= 0).all():
        raise InputError(f"{table.path}: time: got dates that fall, expected dates from 0 on")
    return dates


def _events(table: ParquetTable) -> Any:
    words = table.texts("event")
    unknown = next((word for word in words if word not in _EVENTS), None)
    if unknown is not None:
        expected = ", ".join(_EVENTS)
        raise InputError(f"{table.path}: event: got {unknown!r}, expected one of {expected}")
    return np.array([ord(word) for word in words], dtype=np.uint8)


def _host_sets(table: ParquetTable, parse: ParseHosts) -> list[Any]:
    found = []
    for row, text in enumerate(table.texts("hosts")):
        try:
            found.append(parse(text))
        except (InputError, ValueError):
            raise InputError(
                f"{table.path}: row {row}: hosts: got {text!r}, expected hosts such as 0-3 7"
            ) from None
    return found


def _end(table: ParquetTable) -> float:
    """Return the date at which the run ended."""
    text = table.metadata()
    try:
        end = float(json.loads(text or "")["end"])
    except (ValueError, KeyError, TypeError):
        end = math.nan
    if not (math.isfinite(end) and end >= 0):
        raise InputError(f"{table.path}: metadata: got {text!r}, expected the end of a run")
    return end
