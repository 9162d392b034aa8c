"""Reads what files tell of energy, power and power states, where there are such files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from noctule.errors import InputError
from noctule.record import Floats
from noctule.saved.power_text import (
    ENERGY_COLUMNS,
    ENERGY_FILE,
    POWER_COLUMNS,
    POWER_FILE,
    POWER_STATES_COLUMNS,
    POWER_STATES_FILE,
    SWITCHED_OFF,
)
from noctule.saved.reading import CsvTable, non_negative

if TYPE_CHECKING:
    from noctule._core import HostSet

_EVENTS = ("s", "e", "p")
_NOT_KNOWN = "NA"
_MOST_STATES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PowerContent:
    """Columns of a record, and the mean power before each row of the energy, as printed."""

    columns: Mapping[str, Any] = field(default_factory=dict)
    mean_watts: Floats | None = None

    @property
    def is_known(self) -> bool:
        """Whether there were files to read."""
        return bool(self.columns)


def read_power(folder: Path, parse: Callable[[str], HostSet]) -> PowerContent:
    """Read consumed_energy.csv, power.csv and pstate_changes.csv of a folder, as they are there."""
    columns: dict[str, Any] = {}
    mean_watts = None
    if (folder / ENERGY_FILE).is_file():
        columns, mean_watts = _read_energy(folder / ENERGY_FILE)
        if (folder / POWER_FILE).is_file():
            columns |= _read_watts(folder / POWER_FILE)
    if (folder / POWER_STATES_FILE).is_file():
        columns |= _read_power_states(folder / POWER_STATES_FILE, parse)
    return PowerContent(columns, mean_watts)


def _read_energy(path: Path) -> tuple[dict[str, Any], Floats]:
    table = CsvTable(path)
    time_name, joules_name, why_name, least_name, mean_name = ENERGY_COLUMNS
    title, events = table.required((why_name,))
    for row, text in enumerate(events):
        if text not in _EVENTS:
            raise table.error(row, title, repr(text), f"one of {', '.join(_EVENTS)}")
    columns = {
        "energy_time": _rising(table, time_name),
        "energy_joules": non_negative(table, joules_name),
        "energy_least_watts": non_negative(table, least_name),
        "energy_why": np.array([ord(text) for text in events], dtype=np.uint8),
    }
    title, texts = table.required((mean_name,))
    known = [text if text != _NOT_KNOWN else "" for text in texts]
    return columns, table.numbers(title, known, "a number, or NA")


def _read_watts(path: Path) -> dict[str, Any]:
    table = CsvTable(path)
    time_name, watts_name = POWER_COLUMNS
    return {
        "power_time": _rising(table, time_name),
        "power_watts": non_negative(table, watts_name),
    }


def _read_power_states(path: Path, parse: Callable[[str], HostSet]) -> dict[str, Any]:
    table = CsvTable(path)
    time_name, hosts_name, state_name = POWER_STATES_COLUMNS
    time = _rising(table, time_name)
    title, texts = table.required((hosts_name,))
    hosts = []
    for row, text in enumerate(texts):
        try:
            hosts.append(parse(text))
        except (InputError, ValueError):
            raise table.error(row, title, repr(text), "hosts such as 0-3 7") from None
    return {
        "power_state_time": time,
        "power_state_hosts": hosts,
        "power_state_value": _states(table, state_name),
    }


def _rising(table: CsvTable, name: str) -> Floats:
    dates = non_negative(table, name)
    title, texts = table.required((name,))
    table.demand(np.diff(dates, prepend=0.0) >= 0, title, texts, "a date from the one before on")
    return dates


def _states(table: CsvTable, name: str) -> npt.NDArray[np.int32]:
    title, texts = table.required((name,))
    expected = f"a power state, or -1 or {SWITCHED_OFF} while hosts switch"
    numbers = table.numbers(title, texts, expected)
    with np.errstate(invalid="ignore"):
        good = (numbers >= SWITCHED_OFF) & (numbers <= _MOST_STATES)
        good &= numbers == np.floor(numbers)
    table.demand(good & (numbers < math.inf), title, texts, expected)
    return numbers.astype(np.int32)
