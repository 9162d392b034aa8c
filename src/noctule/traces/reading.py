"""Logs read as they were recorded: every job, dates and requests as the log has them."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from noctule.compression import read_bytes
from noctule.errors import InputError
from noctule.formats.batsim import read_batsim
from noctule.formats.headers import HOST_HEADERS, hosts_told
from noctule.formats.swf import SwfRules, read_swf
from noctule.parts import Parts
from noctule.workload import Workload

AS_RECORDED = SwfRules(walltime_factor=None, keep_all=True, keep_dates=True)


def load_trace(
    path: str | os.PathLike[str],
    *,
    processors: str = "requested",
    rules: SwfRules | None = None,
    name: str = "w0",
) -> Workload:
    """Read a log or a Batsim workload to change it; nothing is dropped and no date is shifted.

    A job that never ran ends at once, and one whose processors are not known has one host; the
    recorded numbers are in `Job.extra`, and `save_workload` writes them again.

    Args:
        path: a plain, gzip, xz or bzip2 file.
        processors: "requested" or "allocated"; the other number is taken where one is missing.
        rules: other reading rules of a log; `processors` is theirs, then.
        name: name of the workload.
    """
    source, text = os.fspath(path), read_bytes(path)
    first = text.lstrip()[:1]
    if not first:
        raise InputError(f"{source}: empty file, expected an SWF log or a Batsim JSON workload")
    if first in b"{[":
        return read_batsim(text, source=source, name=name)
    rules = rules or replace(AS_RECORDED, processors=processors)
    return read_swf(text, rules, source=source, name=name)


def machine_size(workload: Workload, n_hosts: int | None = None) -> int:
    """Return the number of hosts: as given, else as the headers of the file tell."""
    told = hosts_told(workload.headers) if n_hosts is None else n_hosts
    if told is None:
        raise InputError(
            f"{workload.source or workload.name}: no header {', '.join(HOST_HEADERS)} "
            "tells how many hosts there are, expected --hosts"
        )
    return told


def has_run(parts: Parts) -> npt.NDArray[np.bool_]:
    """Tell which jobs a simulation could replay: those that ran, on a known number of hosts."""
    known = knows_size(parts)
    return known & (parts.amount > 0) if parts.recorded("run_time") is not None else known


def knows_size(parts: Parts) -> npt.NDArray[np.bool_]:
    """Tell for which jobs the number of hosts was recorded; for the others one stands in."""
    counts = [parts.recorded(f"{which}_processors") for which in ("requested", "allocated")]
    known = [count > 0 for count in counts if count is not None]
    if not known:
        return np.full(len(parts), True)
    known_by_any: npt.NDArray[np.bool_] = np.logical_or.reduce(known)
    return known_by_any | (parts.n_hosts > 1)
