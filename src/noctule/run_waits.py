"""Waits and lost capacity of a run from its folder, with what its manifest leads to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from noctule.capacity import lost_capacity
from noctule.errors import InputError
from noctule.metrics import window_of
from noctule.run import MANIFEST_FILE, read_manifest, windows_again, workload_again
from noctule.schedule import Schedule
from noctule.waits import Waits
from noctule.windows import Windows
from noctule.workload import Workload


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What a run was given besides hosts, as far as it is still there; what is not, in `notes`."""

    windows: Windows | None = None
    workload: Workload | None = None
    notes: tuple[str, ...] = ()


def load_inputs(directory: str | os.PathLike[str]) -> RunInputs:
    """Read the windows and the workload that the manifest of a run names."""
    folder = Path(directory)
    if not (folder / MANIFEST_FILE).is_file():
        return RunInputs(notes=("no manifest.json: windows and dependencies are not known",))
    manifest = read_manifest(folder / MANIFEST_FILE)
    notes: list[str] = []
    windows = workload = None
    try:
        windows = windows_again(manifest, folder)
    except InputError as error:
        notes.append(f"windows are not known: {error}")
    try:
        workload = workload_again(manifest, folder)
    except InputError as error:
        notes.append(f"dependencies and cancellations are not known: {error}")
    return RunInputs(windows, workload, tuple(notes))


def load_waits(directory: str | os.PathLike[str]) -> tuple[Waits, tuple[str, ...]]:
    """Read a run to explain its waits; return what could not be found, too, in sentences."""
    schedule, inputs = Schedule.load(directory), load_inputs(directory)
    waits = Waits(schedule, windows=inputs.windows, workload=inputs.workload)
    return waits, inputs.notes


def load_lost_capacity(
    directory: str | os.PathLike[str], warm_up: float = 0.0, cool_down: float = 0.0
) -> dict[str, float]:
    """Read a run and return where its host-seconds went."""
    schedule = Schedule.load(directory)
    window = window_of(schedule, warm_up=warm_up, cool_down=cool_down)
    inputs = load_inputs(directory)
    return lost_capacity(schedule, window=window, windows=inputs.windows, workload=inputs.workload)
