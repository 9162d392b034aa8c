"""Workloads written to files, in the format and the compression that their names ask for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from noctule.errors import InputError
from noctule.formats.batsim_writing import batsim_text, lost_in_batsim
from noctule.formats.schedule_swf import schedule_swf_text
from noctule.formats.swf_writing import lost_in_swf, swf_text
from noctule.output_file import COMPRESSIONS, write_file
from noctule.workload import ReadingRule, Workload

if TYPE_CHECKING:
    from noctule.schedule import Schedule

__all__ = ["FORMATS", "format_of", "lost_in", "save_schedule", "save_workload"]

#: What workloads can be written as.
FORMATS = ("swf", "json")


def format_of(path: str | os.PathLike[str]) -> str:
    """Return "swf" or "json", whichever the name of a file asks for."""
    name = PurePath(path).name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    suffix = PurePath(name).suffix.removeprefix(".")
    if suffix not in FORMATS:
        raise InputError(
            f"{os.fspath(path)}: got no known ending, "
            "expected .swf or .json, and .gz, .xz or .bz2 behind it if it is to be compressed"
        )
    return suffix


def save_workload(
    workload: Workload,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    speed: float | None = None,
    n_hosts: int | None = None,
) -> None:
    """Write a workload as a log (.swf) or a Batsim workload (.json), whole or not at all.

    Args:
        workload: the jobs.
        path: ends in .swf or .json, and .gz, .xz or .bz2 behind it to compress it.
        force: replace a file that is there already.
        speed: of a log: speed of the hosts on which computations take their time; by default
            that for which the workload was made.
        n_hosts: of a Batsim workload: its `nb_res`; by default what the headers tell.
    """
    if format_of(path) == "swf":
        pieces: Iterator[str] = swf_text(workload, speed=speed)
    else:
        pieces = batsim_text(workload, n_hosts=n_hosts, folder=str(Path(path).parent))
    write_file(path, pieces, force=force)


def lost_in(workload: Workload, path: str | os.PathLike[str]) -> list[ReadingRule]:
    """Return what a workload would lose in the format of a file."""
    return lost_in_swf(workload) if format_of(path) == "swf" else lost_in_batsim(workload)


def save_schedule(schedule: Schedule, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write what happened in a run as a log (.swf), whole or not at all."""
    if format_of(path) != "swf":
        raise InputError(f"{os.fspath(path)}: got a JSON file, expected .swf for a schedule")
    write_file(path, schedule_swf_text(schedule), force=force)
