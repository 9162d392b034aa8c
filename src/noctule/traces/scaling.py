"""Traces under more or less load, with longer jobs, or for a machine of another size.

Recorded waits are those of another workload, then, and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from noctule.columns import Floats, shown
from noctule.errors import InputError
from noctule.formats.headers import noted, recounted
from noctule.parts import Parts
from noctule.traces.quantities import total
from noctule.traces.reading import has_run, knows_size
from noctule.workload import Workload


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def scale_load(workload: Workload, factor: float, *, whole_seconds: bool = False) -> Workload:
    """Return the workload with the times between submissions divided by a factor.

    The first submission stays where it is. A user gives up as long after the submission as before.
    """
    parts = _checked(workload, factor, "load")
    submit = parts.submit_time
    first = float(submit.min(initial=math.inf))
    scaled = first + (submit - first) / factor if len(submit) else submit
    if whole_seconds:
        scaled = np.floor(scaled + 0.5)
    changed = replace(parts, submit_time=scaled, cancel_time=scaled + (parts.cancel_time - submit))
    headers = recounted(parts.about.headers or {}, len(parts))
    return _told(changed, headers, f"load multiplied by {shown(factor)}").workload()


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def at_speed(workload: Workload, speed: float) -> Workload:
    """Return the workload with computations in seconds on hosts of a speed, instead of in work.

    A Batsim workload tells work, so that its runtimes and its load depend on the hosts. What it
    does stays the same; only names and fields of its profiles that Noctule does not use are lost.
    """
    return Parts.of(workload).at_speed(speed).workload()


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def factor_to_load(workload: Workload, load: float, n_hosts: int) -> float:
    """Return by which factor `scale_load` makes a workload have this load on so many hosts.

    The load is the host-seconds of all jobs, of those there are from the first submission to the
    last.
    """
    parts = Parts.of(workload)
    parts.refuse_untimed()
    if not (math.isfinite(load) and load > 0):
        raise InputError(f"{parts.where}: load: got {shown(load)}, expected a positive number")
    span = float(np.ptp(parts.submit_time)) if len(parts) else 0.0
    area = total((parts.n_hosts * parts.runtime)[has_run(parts)])
    if span == 0 or area == 0:
        raise InputError(f"{parts.where}: no load to scale, as nothing runs or time stands still")
    return load * n_hosts * span / area


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def scale_runtimes(workload: Workload, factor: float, *, whole_seconds: bool = False) -> Workload:
    """Return the workload with runtimes and walltimes multiplied by a factor.

    `whole_seconds` rounds them; what lasted longer than 0 s lasts at least 1 s.
    """
    parts = _checked(workload, factor, "runtimes").unnamed()
    amount = _lasting(parts.amount * factor, whole_seconds)
    changes: dict[str, Floats | None] = {}
    for name in ("run_time", "requested_time", "average_cpu_time"):
        column = parts.recorded(name)
        if column is not None:
            scaled = _lasting(column * factor, whole_seconds)
            changes[name] = np.where(column > 0, scaled, column)
    walltime = _lasting(parts.walltime * factor, whole_seconds)
    changed = replace(parts, amount=amount, walltime=walltime).with_extra(changes)
    headers = parts.about.headers or {}
    return _told(changed, headers, f"runtimes multiplied by {shown(factor)}").workload()


@np.errstate(over="ignore", invalid="ignore")  # numbers too large come out as such
def scale_sizes(workload: Workload, factor: float, *, max_size: int | None = None) -> Workload:
    """Return the workload with the numbers of hosts multiplied by a factor.

    They are rounded to the nearest whole number, halves up, to 1 at least and `max_size` at most.
    Runtimes stay as they are, and so does the machine that the headers tell.
    """
    if max_size is not None and max_size < 1:
        raise InputError(f"max_size: got {max_size}, expected a number >= 1")
    parts = _checked(workload, factor, "sizes").unnamed()

    def scaled(counts: Floats) -> Floats:
        sizes = np.maximum(np.floor(counts * factor + 0.5), 1.0)
        return np.minimum(sizes, max_size) if max_size is not None else sizes

    changes: dict[str, Floats | None] = {}
    for name in ("requested_processors", "allocated_processors"):
        column = parts.recorded(name)
        if column is not None:
            changes[name] = np.where(column > 0, scaled(column), column)
    # one host stands for a number that is not known, and stays one
    n_hosts = np.where(knows_size(parts), scaled(parts.n_hosts.astype(float)), parts.n_hosts)
    changed = replace(parts, n_hosts=n_hosts.astype(np.int64)).with_extra(changes)
    headers = parts.about.headers or {}
    return _told(changed, headers, f"sizes multiplied by {shown(factor)}").workload()


def _checked(workload: Workload, factor: float, what: str) -> Parts:
    parts = Parts.of(workload)
    if not (math.isfinite(factor) and factor > 0):
        raise InputError(f"{parts.where}: {what}: got {shown(factor)}, expected a positive factor")
    if what != "load":
        parts.refuse_untimed()
    return parts


def _told(parts: Parts, headers: Mapping[str, Any], note: str) -> Parts:
    without = parts.with_extra({"wait_time": None})
    return without.told(headers=noted(headers, f"{note} by noctule"))


def _lasting(seconds: Floats, whole: bool) -> Floats:
    """Round durations if they are to be whole; what lasts, lasts 1 s at least then."""
    if not whole:
        return seconds
    return np.where(seconds > 0, np.maximum(np.floor(seconds + 0.5), 1.0), seconds)
